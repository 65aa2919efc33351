"""Agents that fail, in matches that go on: through the agent proxy."""

import dataclasses
import sys
import threading
import time

import pytest

from cardenvs.agents import kinds
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.python import PYTHON
from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.play import AgentPool, PlaySettings, play_games
from cardenvs.arena.results.board import board_of
from cardenvs.arena.verify import verify

OWN = "python:arena_agents:"
NEAR = AgentLimits(isolation="none")


def guarded(agents, deals, guard=NEAR, **options):
    return Match.of("leduc_poker_v0", agents, deals, 3, **options).changed(guard=guard)


def played(match, batch=64):
    jobs = [(deal, lineup) for deal in range(match.deals) for lineup in range(len(match.lineups))]
    crew = AgentPool(match, PlaySettings(batch))
    try:
        return sorted(play_games(crew, iter(jobs)), key=lambda record: (record.deal, record.lineup))
    finally:
        crew.close()


def without_times(records):
    return [dataclasses.replace(record, seconds=(), notes=()) for record in records]


@pytest.mark.parametrize("agent", ["Raises", "Illegal", "Forfeits"])
def test_one_of_two_that_fails_forfeits_and_the_match_goes_on(agent):
    match = guarded([f"{OWN}{agent}", "random"], 10)
    records = played(match)
    assert len(records) == 20
    assert all(record.error is None and len(record.returns) == 2 for record in records)
    kind = "exception" if agent == "Raises" else "illegal"
    failing = [record for record in records if record.failures[record.seating.index(0)]]
    assert failing
    for record in failing:
        player = record.seating.index(0)
        assert record.failures[player] == {kind: 3}
        assert record.failures[1 - player] == {}
        assert record.outcomes[player] == {"forfeit": 1}
        assert record.actions[-1] == (1 << 30) + player
        assert record.returns[player] < 0 < record.returns[1 - player]
        assert len(record.notes[-1]["failures"]) == 3


def test_with_forced_actions_nobody_leaves():
    match = guarded([f"{OWN}Illegal", "random"], 10, AgentLimits(isolation="none", on_failure="forced_action", tries=2))
    for record in played(match):
        player = record.seating.index(0)
        assert max(record.actions) < (1 << 30)
        assert record.outcomes[player] == {"forced": record.decisions[player]}
        assert record.failures[player] == {"illegal": 2 * record.decisions[player]}


def test_a_batch_that_fails_is_asked_one_by_one():
    match = guarded([f"{OWN}TooFew", f"{OWN}Together"], 8)
    records = played(match, batch=8)
    assert len(records) == 16
    together = guarded([f"{OWN}Together", f"{OWN}Together"], 8)
    fine = played(together, batch=8)
    assert all(record.failures == ({}, {}) for record in fine)
    assert without_times(fine) == without_times(played(together, batch=1))
    for record in records:  # alone, it answers no turn at all
        assert record.failures[record.seating.index(0)] == {"exception": 3}
        assert record.failures[record.seating.index(1)] == {}


def test_a_guard_changes_nothing_for_agents_that_do_not_fail():
    match = guarded(["random", "search:simulations=4", f"{OWN}Keeper"], 6)
    bare = match.changed(guard=None)
    assert match.id != bare.id
    assert [r.actions for r in played(match)] == [r.actions for r in played(bare)]
    assert [r.digest for r in played(match)] == [r.digest for r in played(bare)]


class Waits:
    """Spends its time waiting."""

    io_bound = True
    name = "waits"
    lock = threading.Lock()
    waiting = most = 0

    def reset(self, seed):
        """Nothing to keep."""

    def act(self, turn):
        """Waits, then draws from the seed."""
        with Waits.lock:
            Waits.waiting += 1
            Waits.most = max(Waits.most, Waits.waiting)
        time.sleep(0.02)
        with Waits.lock:
            Waits.waiting -= 1
        return turn.legal_actions[turn.seed % len(turn.legal_actions)]


def make_waiting(game, options):
    """For python: specs."""
    return Waits()


@pytest.mark.parametrize("guard", [None, NEAR])
def test_agents_that_wait_wait_side_by_side(guard, monkeypatch):
    monkeypatch.setitem(kinds._added, "here", dataclasses.replace(PYTHON, name="here", guest=False, isolation="none"))
    match = dataclasses.replace(guarded(["here:test_guarded:make_waiting", "random"], 12), guard=guard)
    waits = sys.modules.setdefault("test_guarded", sys.modules[__name__]).Waits
    waits.most = 0
    side_by_side = played(match, batch=12)
    assert waits.most > 3
    waits.most = 0
    assert without_times(side_by_side) == without_times(played(match, batch=1))
    assert waits.most == 1


@pytest.mark.rotating
def test_agents_in_processes_of_their_own_give_the_same_store_and_are_ended(tmp_path):
    import os

    match = guarded([f"{OWN}Keeper", "random"], 6, AgentLimits(isolation="process"))
    one = run_match(match, tmp_path / "one.db")
    two = run_match(match, tmp_path / "two.db", processes=2)
    assert [s.mean for s in one.standings] == [s.mean for s in two.standings]
    with Store(tmp_path / "one.db") as first, Store(tmp_path / "two.db") as second:
        assert first.digest() == second.digest()
        assert verify(first) == (12, [])
    near = match.changed(guard=NEAR)
    assert one.standings[0].by_deal.tolist() == run_match(near).standings[0].by_deal.tolist()
    children = [
        entry for entry in os.listdir("/proc") if entry.isdigit() and _parent(entry) == os.getpid()
    ]  # fmt: skip
    assert not [child for child in children if "cardenvs" in _command(child)]


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return -1


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except OSError:
        return ""


@pytest.mark.rotating
@pytest.mark.parametrize("processes", [1, 2])
def test_an_agent_that_kills_its_process_hurts_nobody(tmp_path, processes):
    guard = AgentLimits(isolation="process", tries=1)
    match = guarded([f"{OWN}DiesAlways", "random"], 3, guard)
    run_match(match, tmp_path / "results.db", processes=processes)
    with Store(tmp_path / "results.db") as store:
        board = board_of(store)
        (game,) = board.games
        mine = game.behaviours[0]
        assert mine.outcomes == {"forfeit": 6}
        assert mine.failures == {"crash": 6}
        assert game.behaviours[1].failures == {}
        assert verify(store) == (6, [])
