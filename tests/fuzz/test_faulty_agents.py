"""Faulty agents: whatever one does, the match ends, the other plays on, and the counts are right."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy, play
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.registry import get_game
from fuzz import LONG
from fuzz.faulty_agents import FACTORIES
from fuzz.faulty_programs import GREETINGS, NAMES

GAME = get_game("kuhn_poker_v0")
GUARD = AgentLimits(time_limit=3.0, tries=2, memory_limit_mb=1024, start_limit=60.0)
HERE = Path(__file__).parent
PROGRAM = shlex.join([sys.executable, str(HERE / "faulty_programs.py")])
SPECS = {
    **{f"program {name}": f"process:{PROGRAM} {name}" for name in NAMES},
    **{f"agent {name}": f"python:faulty_agents:make_{name}" for name in FACTORIES},
}  # fmt: skip
SAMPLE = (
    "program deep", "program id_too_large", "program endless", "program twice", "program failure_long", "agent dies",
    "agent kills_its_parent", "agent answers_nan", "agent counts_failures_of_its_own", "agent spoils_its_turn",
)  # fmt: skip


def names():
    marks = () if LONG else (pytest.mark.slow,)
    return [pytest.param(name, marks=() if name in SAMPLE else marks) for name in SPECS]


def test_there_are_many():
    assert len(SPECS) >= 70
    assert set(SAMPLE) <= set(SPECS)


@pytest.fixture(autouse=True)
def agents_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))


@pytest.mark.parametrize("name", names())
def test_the_match_ends_and_the_counts_are_right(name):
    try:
        proxy = AgentProxy.of(SPECS[name], GAME, GAME.make_options(), GUARD)
    except (AgentError, AgentFailureError) as error:
        assert str(error).isprintable()  # noqa: PT017
        assert "factory" in name or name.removeprefix("program ") in GREETINGS
        return
    with proxy, AgentProxy.of("random", GAME, GAME.make_options(), GUARD) as other:
        decided = []
        for seed in range(2):
            state = GAME.new_state(seed=seed)
            decided += play(state, [proxy, other], seeds=[1, 2])
            assert state.is_terminal
            assert sum(state.returns) == pytest.approx(0)
    mine = [one for one in decided if one.player == 0]
    assert proxy.decisions == len(mine) >= 2
    assert sum(proxy.outcomes.values()) == proxy.decisions
    assert proxy.outcomes["forfeit"] == sum(one.action == FORFEIT for one in mine)
    assert sum(proxy.failures.values()) >= sum(len(one.failures) for one in mine)
    assert len(proxy.failures) <= 33
    assert other.outcomes["ok"] == other.decisions == len(decided) - len(mine)
    assert not other.failures
    for one in mine:
        assert all(failure.kind.isprintable() and len(failure.kind) <= 40 for failure in one.failures)
        assert all(len(failure.message) <= 1100 and failure.message.isprintable() for failure in one.failures)


def test_nothing_that_they_started_is_left():
    left = []
    for process in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if process.isdecimal():
            try:
                with open(f"/proc/{process}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if (b"faulty_programs.py" in line or b"faulty_agents:" in line) and parent == 1:
                left.append(line)
    assert left == []
