"""Kinds of agents, found by entry point."""

import dataclasses

import pytest

from cardenvs import get_game
from cardenvs.agents import kinds
from cardenvs.agents.search import SEARCH
from cardenvs.agents.specs import agent_fingerprint, is_guest
from cardenvs.core.errors import AgentError


@dataclasses.dataclass
class Point:
    """An entry point of another package."""

    name: str
    value: str = "no_such_package.agents:KIND"
    dist: object = None

    def load(self):
        raise ImportError("No module named 'no_such_package'")


def test_kinds_of_other_packages_are_guests_in_processes_of_their_own_by_default():
    kind = kinds.AgentKind("theirs", "theirs:X", "", SEARCH.make)
    assert (kind.guest, kind.isolation) == (True, "process")
    assert [is_guest(spec) for spec in ("random", "search", "ppo:x", "llm:x", "python:a:b", "process:x")] == [
        False, False, False, True, True, True,
    ]  # fmt: skip


def test_a_kind_that_cannot_be_imported_fails_when_it_is_used_and_none_of_ours_is_replaced(monkeypatch):
    real = kinds.importlib.metadata.entry_points(group=kinds.GROUP)
    points = [*real, Point("broken"), Point("search")]
    monkeypatch.setattr(kinds.importlib.metadata, "entry_points", lambda group: points)
    monkeypatch.setattr(kinds, "_installed", kinds._installed.__wrapped__)
    monkeypatch.setattr(kinds, "_loaded", kinds._loaded.__wrapped__)
    assert "broken" in kinds.kind_names()
    assert kinds.find_kind("search") is SEARCH
    with pytest.raises(AgentError, match="cannot load agents of kind 'broken' from no_such_package"):
        kinds.find_kind("broken")
    assert kinds.kind_forms(get_game("leduc_poker"))["broken"] == "broken"


@pytest.mark.parametrize(
    ("game", "there", "missing"),
    [
        ("bridge", "pimc", "always:STYLE"),
        ("texas_holdem", "plain_equity", "pimc"),
        ("hearts", "search", "rlcard:MODEL"),
    ],
)
def test_only_kinds_that_play_a_game_are_offered_for_it(game, there, missing):
    forms = kinds.kind_forms(get_game(game)).values()
    assert there in forms
    assert missing not in forms


def test_what_runs_is_known_by_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("act = None")
    (tmp_path / "bots").mkdir()
    for name in ("__init__", "one"):
        (tmp_path / "bots" / f"{name}.py").write_text("raise SystemExit")  # nothing is imported
    specs = [
        "python:mine:act",
        "python:bots:act",
        "python:bots.one:act",
        "process:python3 mine.py",
        "process:./mine.py",
    ]
    before = [agent_fingerprint(spec) for spec in specs]
    assert all(before)
    (tmp_path / "mine.py").write_text("act = 1")
    (tmp_path / "bots" / "one.py").write_text("")
    assert all(agent_fingerprint(spec) != old for spec, old in zip(specs, before, strict=True))
    long = "python:" + "x" * 300 + ":act"
    for spec in ("python:no_such_module:act", "python:../mine:act", "process:no-such-program", "process:'", long):
        assert agent_fingerprint(spec) == ""
