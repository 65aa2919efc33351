"""Stores: two runs at once, digests; and playing everything again."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from test_match_run import contents

from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.records import StoredExperiment
from cardenvs.arena.schedule import Schedule
from cardenvs.arena.verify import replay_of, verify
from cardenvs.core.errors import ArenaError

MATCH = Match.of("leduc_poker_v0", ["random", "search:simulations=3"], deals=6, seed=3, ante=2)


@pytest.fixture
def played(tmp_path):
    """The path of a store with a match in it."""
    run_match(MATCH, tmp_path / "played.db")
    return tmp_path / "played.db"


def edit(path, statement, *values):
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


RUN = """
import sys
from cardenvs.arena import Match, run_match
match = Match.of("leduc_poker_v0", ["random", "python:arena_agents:Slow"], deals=25, seed=3)
if __name__ == "__main__":
    run_match(match, sys.argv[1], resume=True, processes=int(sys.argv[2]))
"""


@pytest.mark.rotating
def test_two_runs_at_once_give_one_whole_store(tmp_path):
    path, script = tmp_path / "shared.db", tmp_path / "run.py"
    script.write_text(RUN)
    environment = {**__import__("os").environ}
    environment["PYTHONPATH"] = f"{Path(__file__).parent}:{environment.get('PYTHONPATH', '')}"
    runs = [
        subprocess.Popen([sys.executable, script, path, processes], env=environment, stderr=subprocess.PIPE, text=True)
        for processes in ("1", "2")
    ]
    for run in runs:
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors
    with Store(path) as shared:
        match = shared.match(shared.match_ids()[0])
    run_match(match, tmp_path / "alone.db")
    assert contents(path) == contents(tmp_path / "alone.db")
    with Store(path) as shared, Store(tmp_path / "alone.db") as alone:
        assert shared.digest() == alone.digest()
        assert verify(shared) == (50, [])
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_who_finishes_a_game_first_enters_it(tmp_path, played):
    with Store(played) as store:
        before = list(store.records(MATCH.id))
        other = Match.of("leduc_poker_v0", ["random", "random"], deals=1).lineups
        assert other
        import dataclasses

        store.add(MATCH, dataclasses.replace(before[0], actions=(0,), seconds=(9.0, 9.0)))
        assert list(store.records(MATCH.id)) == before


def test_the_digest_leaves_out_times_and_the_order_of_entry(tmp_path, played):
    with Store(played) as store, Store() as other:
        records = list(store.records(MATCH.id))
        other.begin(MATCH)
        import dataclasses

        for record in reversed(records):
            other.add(MATCH, dataclasses.replace(record, seconds=(1.0, 2.0)))
        assert other.digest() == store.digest()
        other.begin_experiment(StoredExperiment("x", ((MATCH.id, "t"),), {}, {}))
        assert other.digest() != store.digest()


def test_a_match_comes_back_from_its_store_without_its_agents(tmp_path):
    checkpoint = tmp_path / "policy.pt"
    checkpoint.write_bytes(b"weights")
    game = Match.of("kuhn_poker_v0", ["random"] * 3, 1, num_players=3)
    match = Match.make(
        game.game, game.options, ("random", f"ppo:{checkpoint}", "search"), 5, 7, names=("a", "b", "c"),
        schedule=Schedule("field", "rotations", (1,)),
    )  # fmt: skip
    with Store() as store:
        store.begin(match)
        checkpoint.unlink()
        found = store.match(match.id)
    assert (found.id, found.entries, found.lineups) == (match.id, match.entries, match.lineups)
    assert (found.schedule, found.seed.secret) == (match.schedule, 7)
    assert found.options == match.options
    assert found.changed(deals=9).id == match.id
    assert found.entries[1].fingerprint
    with Store() as store, pytest.raises(ArenaError, match="has no match abc"):
        store.match("abc")


def test_a_match_of_another_version_of_its_game_is_refused(played):
    edit(played, "UPDATE matches SET layout = 'older'")
    with Store(played) as store, pytest.raises(ArenaError, match="was played with another version of leduc_poker_v0"):
        store.match(MATCH.id)


def test_every_row_plays_again_and_is_a_replay(played, tmp_path):
    with Store(played) as store:
        assert verify(store) == (12, [])
        record = store.game(MATCH.id, 5, 1)
        replay = replay_of(store.match(MATCH.id), record)
        with pytest.raises(ArenaError, match=r"has no finished game 9\.0"):
            store.game(MATCH.id, 9, 0)
    assert replay.players == ("search:simulations=3", "random")
    assert (replay.returns, replay.digest) == (record.returns, record.digest)
    replay.save(tmp_path / "game.json")
    type(replay).load(tmp_path / "game.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("returns = '[7.0, -7.0]'", r"it returns \[.*\], but \[7.0, -7.0\] is recorded"),
        ("seed = seed + 1", "its cards are from seed .*, but the deal's seed is"),
        ("seating = '[1, 0]'", r"its seating is \[1, 0\], but the lineup's is \[0, 1\]"),
        ("actions = '[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]'", "the game is over after|is illegal"),
        ("actions = '[99]'", "recorded action 0 is illegal: .*no action 99"),
        ("actions = '[1]'", "the game is not over after its 1 actions"),
        ("digest = 'abc'", "its events differ from the recorded digest"),
        ("decisions = '[50, 1]'", r"decisions, but \[50, 1\] are recorded"),
    ],
)
def test_each_mismatch_is_named(played, change, message):
    import re

    edit(played, f"UPDATE games SET {change} WHERE deal = 2 AND lineup = 0")
    with Store(played) as store:
        done, mismatches = verify(store)
    assert done == 12
    (mismatch,) = mismatches
    assert str(mismatch).startswith(f"match {MATCH.id}, deal 2, lineup 0: ")
    assert re.search(message, mismatch.what)


def test_a_row_that_no_schedule_has_is_named(played):
    edit(played, "UPDATE games SET lineup = 7 WHERE deal = 2 AND lineup = 0")
    with Store(played) as store:
        assert [mismatch.what for mismatch in verify(store)[1]] == ["the match has only lineups 0 to 1"]


def test_a_sample_is_a_sample_and_processes_find_the_same(played):
    edit(played, "UPDATE games SET digest = 'abc'")
    with Store(played) as store:
        done, mismatches = verify(store, sample=5)
        assert (done, len(mismatches)) == (5, 5)
        other = {(m.deal, m.lineup) for m in verify(store, sample=5, seed=1)[1]}
        assert other != {(m.deal, m.lineup) for m in mismatches}
        told = []
        assert verify(store, processes=2, progress=lambda *now: told.append(now))[1] == verify(store)[1]
        assert told[-1] == (12, 12)


def test_forfeits_are_played_again(tmp_path):
    from cardenvs.agents.guarded.limits import AgentLimits

    plain = Match.of("leduc_poker_v0", ["random"] * 3, 4, num_players=3)
    agents = ("random", "python:arena_agents:Illegal", "search:simulations=2")
    match = Match.make(plain.game, plain.options, agents, 4, guard=AgentLimits(isolation="none"))
    run_match(match, tmp_path / "results.db")
    with Store(tmp_path / "results.db") as store:
        assert verify(store) == (24, [])
        for record in store.records(match.id):
            illegal = record.seating.index(1)
            assert (1 << 30) + illegal in record.actions
            assert record.failures[illegal] == {"illegal": 3}
            assert record.outcomes[illegal] == {"forfeit": 1}
            assert [note["outcome"] for note in record.notes if note["outcome"] != "ok"] == ["forfeit"]
            assert sum(record.decisions) == len(record.actions)
        (guard,) = sqlite3.connect(store.path).execute("SELECT guard FROM matches").fetchone()
        assert json.loads(guard)["on_failure"] == "forfeit"
        assert store.match(match.id).guard == match.guard
