"""Experiments and submissions are as fair as matches: see test_fair_matches."""

import os
from pathlib import Path

import psutil
import pytest

from cardenvs.arena import Store
from cardenvs.arena.bundle import opened_bundle
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.submit import check_submission
from cardenvs.arena.verify import replay_of, verify
from cardenvs.core.errors import ArenaError

pytest.importorskip("pydantic")

STEALS = "python:unfair_agents:Steals"
VALUES = {
    "name": "the board", "seed": f"3-{'a' * 32}", "deals": 1, "games": ["kuhn_poker_v0"],
    "agents": ["random", {"name": "thief", "spec": STEALS}], "guard": {"isolation": "auto"},
}  # fmt: skip
BOARD = Experiment.of(VALUES)
ANCHORED = Experiment.of({**VALUES, "anchors": {"random": 1000, "thief": 1000}})


@pytest.fixture(autouse=True)
def _agents_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))


@pytest.fixture
def tries(tmp_path, monkeypatch):
    """Returns what the thief says of each of its decisions since the last call."""
    monkeypatch.setenv("CARDENVS_TEST_FOLDER", str(tmp_path))
    file = tmp_path / "steals"

    def new_ones():
        found = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    return new_ones


@pytest.fixture
def replays(tmp_path, tries):
    """A folder with replays of `random` against the anchors, and what the thief among them has found."""
    folder = tmp_path / "replays"
    folder.mkdir()
    with opened_bundle("random", "mine") as bundle, Store() as store:
        assert check_submission(bundle, ANCHORED, store=store).faults == ()
        (match_id,) = store.match_ids()
        for number, record in enumerate(store.records(match_id)):
            replay_of(store.match(match_id), record).save(folder / f"{number}.json")
    return folder, tries()


def test_nothing_is_found_in_an_experiment_and_nobody_is_asked_to_verify_it(tries):
    with Store() as store:
        BOARD.run(store)
        assert set(tries()) == {"False"}
        games, mismatches = verify(store)
        assert (games, mismatches, tries()) == (2, [], [])


def test_a_submitted_agent_finds_nothing(tmp_path):
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "submitted_thief.py").write_text(Path(__file__).with_name("unfair_agents.py").read_text())
    (folder / "submission.yaml").write_text("name: mine\nagent: python:submitted_thief:Steals\n")
    board = Experiment.of({**VALUES, "agents": ["random", "search"], "anchors": {"random": 1000}})
    with opened_bundle(str(folder)) as bundle, Store() as store:
        assert check_submission(bundle, board, store=store).faults == ()
        (match_id,) = store.match_ids()
        notes = [note["notes"] for record in store.records(match_id) for note in record.notes]
    assert len(notes) >= 2
    assert not any(note["found"] for note in notes)


def test_an_anchor_finds_nothing_when_it_plays_and_when_replays_are_checked(replays, tries):
    folder, before = replays
    running = psutil.Process().children()
    with opened_bundle(str(folder), "mine") as bundle:
        result = check_submission(bundle, ANCHORED)
    assert result.faults == ()
    assert set(before) == set(tries()) == {"False"}
    assert set(psutil.Process().children()) <= set(running)


def test_replays_need_a_board_with_a_seed(replays):
    folder, _ = replays
    drawn = Experiment.of({**VALUES, "seed": None, "anchors": {"random": 1000, "thief": 1000}})
    with (
        opened_bundle(str(folder), "mine") as bundle,
        pytest.raises(ArenaError, match="the board has no seed, so its deals differ each time; replays need a board"),
    ):
        check_submission(bundle, drawn)
