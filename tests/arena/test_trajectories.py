"""Trajectories: what is exported, what is not, and how files are read back."""

import contextlib
import itertools
import json
import shutil
import sqlite3

import numpy as np
import pytest
from typer.testing import CliRunner

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from cardenvs.arena import Match, Store, run_match  # noqa: E402
from cardenvs.arena.output import parquet  # noqa: E402
from cardenvs.arena.output.parquet import TrajectoryFile, write_parquet  # noqa: E402
from cardenvs.arena.trajectories import Games, recorded  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.codes import FORFEIT  # noqa: E402
from cardenvs.core.errors import ArenaError, FormatError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402

LEDUC = get_game("leduc_poker_v0")
OPTIONS = LEDUC.make_options()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    return CliRunner().invoke(app, ["trajectories", *words, "--quiet"], env={"COLUMNS": "120"})


def refused(*words):
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A store of 60 deals of Leduc poker."""
    path = tmp_path_factory.mktemp("store") / "games.db"
    match = Match.of("leduc_poker_v0", ["random", "search:simulations=4"], deals=60, seed=5)
    run_match(match, path)
    return path


def rows_of(path):
    return pq.read_table(path).to_pylist()


# -- what is exported -------------------------------------------------------------------------------------------


def test_a_row_is_what_the_player_saw_did_and_got(played, tmp_path):
    assert run(str(played), "--out", "all.parquet").exit_code == 0
    rows = iter(rows_of("all.parquet"))
    with Store(played, read_only=True) as store:
        (match_id,) = store.match_ids()
        match = store.match(match_id)
        for record in store.records(match_id):
            for seat in range(2):
                state, step, gained = LEDUC.new_state(seed=record.seed), 0, 0.0
                for ply, action in enumerate(record.actions):
                    if state.current_player == seat:
                        row = next(rows)
                        assert row["observation"] == state.observation(seat).tolist()
                        assert row["legal_actions"] == state.legal_actions()
                        assert (row["action"], row["step"], row["seat"]) == (action, step, seat)
                        assert (row["deal"], row["lineup"]) == (record.deal, record.lineup)
                        assert row["agent"] == match.names[record.seating[seat]]
                        assert (row["return"], row["forced"]) == (record.returns[seat], False)
                        more = any(mover == seat for mover in movers(record)[ply + 1 :])
                        assert row["done"] == (not more)
                        gained, step = gained + row["reward"], step + 1
                    state.apply(action)
                assert gained == (record.returns[seat] if step else 0)
    assert next(rows, None) is None


def movers(record):
    state, found = LEDUC.new_state(seed=record.seed), []
    for action in record.actions:
        found.append(state.current_player)
        state.apply(action)
    return found


@pytest.mark.parametrize("options", [{}, {"num_players": 3}])
def test_two_worlds_alike_to_a_seat_give_the_same_rows(options):
    """Whatever the others hold and do unseen: up to a decision, the rows depend on the player's information alone."""
    match = Match.of("leduc_poker_v0", ["random"] * (options.get("num_players", 2)), deals=250, seed=1, **options)
    with Store() as store:
        _run_into(match, store)
        known, worlds, met = {}, {}, 0
        records = list(store.records(match.id))
        episodes = {(e.deal, e.lineup, e.seat): e for e in Games(store).episodes()}
    for record in records:
        state, steps = match.game.state_type(match.game, match.options, seed=record.seed), {}
        for action in record.actions:
            seat = state.current_player
            step = steps[seat] = steps.get(seat, -1) + 1
            episode = episodes[record.deal, record.lineup, seat]
            key = seat, state.information_state_key(seat)
            shown = (
                step, episode.observations[: step + 1].tobytes(),
                [legal.tolist() for legal in episode.legal_actions[: step + 1]], episode.actions[:step].tolist(),
                episode.rewards[:step].tolist(),
            )  # fmt: skip
            assert known.setdefault(key, shown) == shown
            met += worlds.setdefault(key, state.record_bytes()) != state.record_bytes()
            state.apply(action)
    assert met > 100, "the worlds should differ"


def _run_into(match, store):
    from cardenvs.arena.run import run as play

    play([match], store)


def test_seeds_are_left_out_unless_asked_for(played):
    with Store(played, read_only=True) as store:
        (match_id,) = store.match_ids()
        seeds = {record.seed for record in store.records(match_id)}
    run(str(played), "--out", "plain.parquet")
    file = pq.ParquetFile("plain.parquet")
    assert "seed" not in file.schema_arrow.names
    said = json.dumps([pq.read_table("plain.parquet").to_pylist(), str(file.schema_arrow.metadata), str(file.metadata)])
    assert match_id not in said  # a hash of a small seed
    assert not any(str(seed) in said for seed in seeds)
    run(str(played), "--out", "open.parquet", "--with-seeds")
    assert set(pq.read_table("open.parquet")["seed"].to_pylist()) == seeds


def test_forfeits_are_nobodys_decision_and_fallbacks_are_marked():
    state = LEDUC.new_state(seed=1)
    first = state.legal_actions()[0]
    seats = recorded(state, (first, FORFEIT + 1), forced={0})
    assert [len(seat.actions) for seat in seats] == [1, 0]
    assert seats[0].forced == [True]
    assert state.is_terminal


def test_files_of_other_dtypes(tmp_path):
    for game in ("texas_holdem_v0", "wingspan_v0"):
        result = run("--game", game, "--games", "1", "--seed", "1", "--out", "one.parquet")
        assert result.exit_code == 0, result.output
        found = get_game(game)
        layout = found.layout(found.make_options())
        kind = pq.read_schema("one.parquet").field("observation").type
        assert kind == pa.list_(pa.from_numpy_dtype(layout.dtype), layout.size)


# -- writing ----------------------------------------------------------------------------------------------------


def test_small_groups_hold_the_same_rows(played, monkeypatch, tmp_path):
    with Store(played, read_only=True) as store:
        write_parquet(tmp_path / "one.parquet", Games(store).episodes(), LEDUC, OPTIONS)
        monkeypatch.setattr(parquet, "_BYTES_TOGETHER", 500)
        rows = write_parquet(tmp_path / "many.parquet", Games(store).episodes(), LEDUC, OPTIONS)
    assert pq.ParquetFile("one.parquet").num_row_groups == 1
    assert pq.ParquetFile("many.parquet").num_row_groups > 20
    assert rows_of("one.parquet") == rows_of("many.parquet")
    assert len(rows_of("many.parquet")) == rows


RUINED = {
    "actions": "[1, 1, 7]", "returns": "[1.0, -1.5]", "seed": "7", "seating": "[1, 1]", "lineup": "9",
}  # fmt: skip


@pytest.mark.parametrize("column", RUINED)
def test_a_store_that_lies_is_refused_and_nothing_is_written(played, tmp_path, column):
    (tmp_path / "bad.db").write_bytes(played.read_bytes())
    with sqlite3.connect("bad.db") as connection:
        connection.execute(f"UPDATE games SET {column} = ? WHERE deal = 30 AND lineup = 1", (RUINED[column],))
    connection.close()
    (tmp_path / "old.parquet").write_text("before")
    assert "deal 30" in refused("bad.db", "--out", "old.parquet")
    assert (tmp_path / "old.parquet").read_text() == "before"
    assert not list(tmp_path.glob(".*.part"))


def test_only_one_game_and_the_agents_wanted(played, tmp_path):
    with Store("both.db") as store:
        for game in ("kuhn_poker_v0", "leduc_poker_v0"):
            _run_into(Match.of(game, ["random", "random"], deals=3, seed=1), store)
        _run_into(Match.of("leduc_poker_v0", ["random"] * 3, deals=1, seed=1, num_players=3), store)
    assert "has several games; pick one with --game: kuhn_poker_v0, leduc_poker_v0" in refused(
        "both.db", "--out", "a.parquet"
    )
    assert "observations of several layouts" in refused("both.db", "--game", "leduc_poker", "--out", "a.parquet")
    assert run("both.db", "--game", "kuhn_poker", "--out", "a.parquet").exit_code == 0
    assert {row["game"] for row in rows_of("a.parquet")} == {"kuhn_poker_v0"}
    assert run(str(played), "--agent", "random", "--out", "a.parquet").exit_code == 0
    assert {row["agent"] for row in rows_of("a.parquet")} == {"random"}
    assert "their agents are random, search" in refused(str(played), "--agent", "nobody", "--out", "a.parquet")
    assert "has no games of gin_rummy_v0" in refused(str(played), "--game", "gin_rummy", "--out", "a.parquet")


def test_what_makes_no_sense_is_refused(played, tmp_path):
    shutil.copy(played, tmp_path / "store.parquet")
    assert "give --out" in refused(str(played))
    assert "name a store, or a game" in refused("--out", "a.parquet")
    assert "leave out the store" in refused(str(played), "--games", "5", "--out", "a.parquet")
    assert "gin.txt should end in .parquet" in refused(str(played), "--out", "gin.txt")
    assert "STORE uses" in refused("store.parquet", "--out", "store.parquet")


# -- reading ----------------------------------------------------------------------------------------------------


def test_batches_hold_all_rows_in_order(played):
    run(str(played), "--out", "all.parquet")
    file, rows = TrajectoryFile("all.parquet"), rows_of("all.parquet")
    file.check_fits(LEDUC, OPTIONS)
    found = list(file.batches(["observation", "legal_actions", "action", "agent"], rows=50))
    assert len(found) > 5
    assert np.concatenate([batch["observation"] for batch in found]).tolist() == [row["observation"] for row in rows]
    legal = [
        values[start:end].tolist()
        for offsets, values in (batch["legal_actions"] for batch in found)
        for start, end in itertools.pairwise(offsets)
    ]
    assert legal == [row["legal_actions"] for row in rows]
    assert [name for batch in found for name in batch["agent"]] == [row["agent"] for row in rows]


def test_files_that_do_not_fit_are_refused(played, tmp_path):
    run(str(played), "--out", "all.parquet")
    file = TrajectoryFile("all.parquet")
    with pytest.raises(FormatError, match="has games of leduc_poker_v0, not of kuhn"):
        file.check_fits(get_game("kuhn_poker_v0"), get_game("kuhn_poker_v0").make_options())
    with pytest.raises(FormatError, match="layout"):
        file.check_fits(LEDUC, LEDUC.make_options(num_players=3))
    table = pq.read_table("all.parquet")
    pq.write_table(table.drop_columns(["action"]), "less.parquet")
    with pytest.raises(FormatError, match="column action should be int32"):
        TrajectoryFile("less.parquet").check_fits(LEDUC, OPTIONS)
    pq.write_table(table.replace_schema_metadata({}), "foreign.parquet")
    with pytest.raises(FormatError, match="does not hold trajectories"):
        TrajectoryFile("foreign.parquet")
    (tmp_path / "text").write_text("no file")
    with pytest.raises(FormatError, match="damaged, or is not a Parquet file"):
        TrajectoryFile("text")


def test_a_damaged_file_is_refused_if_at_all_as_such(played, tmp_path):
    run(str(played), "--out", "all.parquet")
    whole = (tmp_path / "all.parquet").read_bytes()
    generator = np.random.default_rng(0)
    for trial in range(150):
        raw = bytearray(whole if trial % 2 else whole[: generator.integers(len(whole))])
        for place in generator.integers(len(raw), size=3) if raw else []:
            raw[place] ^= int(generator.integers(1, 256))
        (tmp_path / "bad.parquet").write_bytes(raw)
        with contextlib.suppress(FormatError):
            file = TrajectoryFile("bad.parquet")
            file.check_fits(LEDUC, OPTIONS)
            for _ in file.batches(["observation", "legal_actions", "action", "deal", "agent"]):
                pass


# -- Minari -----------------------------------------------------------------------------------------------------


@pytest.fixture
def minari(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    module = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return module


def test_minari_holds_the_same_episodes(played, minari):
    result = run(str(played), "--minari", "leduc/mixed", "--out", "all.parquet")
    assert result.exit_code == 0, result.output
    assert "dataset leduc/mixed/seat-0-v0: 120 episodes" in result.stdout
    rows = rows_of("all.parquet")
    for seat in range(2):
        dataset = minari.load_dataset(f"leduc/mixed/seat-{seat}-v0")
        mine = iter([row for row in rows if row["seat"] == seat])
        for episode in dataset.iterate_episodes():
            masks = episode.observations["action_mask"]
            assert len(masks) == len(episode.actions) + 1
            assert not masks[-1].any()
            assert dataset.observation_space.contains({name: x[0] for name, x in episode.observations.items()})
            for step, action in enumerate(episode.actions):
                row = next(mine)
                assert row["observation"] == episode.observations["observation"][step].tolist()
                assert row["legal_actions"] == np.flatnonzero(masks[step]).tolist()
                assert (row["action"], row["reward"]) == (action, episode.rewards[step])
                assert row["done"] == episode.terminations[step]
        assert next(mine, None) is None
        for metadata in dataset.storage.get_episode_metadata(range(5)):
            assert metadata.get("seed") in (None, "None")
    assert "there is a Minari dataset leduc/mixed/seat-0-v0" in refused(str(played), "--minari", "leduc/mixed")


@pytest.mark.parametrize("name", ["", "../x", "/x", "a//b", "a b", "x-v1", "a" * 300, "a/../b"])
def test_names_of_datasets_are_words(played, minari, name, tmp_path):
    assert "a Minari dataset's name is words" in refused(str(played), "--minari", name)
    assert list(tmp_path.glob("datasets/*")) == []


def test_a_failed_export_leaves_no_dataset(played, minari, tmp_path, monkeypatch):
    from cardenvs.arena.output import minari_datasets

    monkeypatch.setattr(minari_datasets, "_TOGETHER", 10)

    def broken(self, agents=None, on_game=None):
        for number, episode in enumerate(whole(self, agents)):
            if number == 100:
                raise ArenaError("a damaged row")
            yield episode

    whole = Games.episodes
    monkeypatch.setattr(Games, "episodes", broken)
    assert "a damaged row" in refused(str(played), "--minari", "leduc/mixed")
    assert minari.list_local_datasets() == {}
