"""The commands that Texas hold'em brings: `cardenvs texas_holdem ...`."""

import json

import pytest
from holdem import play, table
from typer.testing import CliRunner

from cardenvs.cli import app
from cardenvs.core.replay import Replay
from cardenvs.tools.texas_holdem import phh
from cardenvs.tools.texas_holdem.timeline import Timeline

COMMANDS = ["play-match", "stats", "show", "export-phh", "replay-phh"]


def call(*words, typed="", code=0):
    result = CliRunner().invoke(
        app, ["texas_holdem", *map(str, words)], input=typed, env={"COLUMNS": "200", "TERM": "dumb"}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def refused(*words):
    """The one line that a command is refused with."""
    lines = call(*words, code=2).stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    return lines[0]


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    """The folder of a match."""
    folder = tmp_path_factory.mktemp("matches") / "match"
    result = call(
        "play-match", "--agents", "random,random,random", "-o", "starting_stack=200", "--seed", 4, "--out", folder
    )
    assert "random#3" in result.stdout
    assert f"records: {folder}" in result.stdout
    return folder


def test_help_of_every_command_has_an_example():
    listed = call("--help").stdout
    for command in COMMANDS:
        assert command in listed
        text = call(command, "--help").stdout
        assert "Example" in text
        assert f"cardenvs texas_holdem {command}" in text


def test_a_match_is_played_and_written(match):
    written = json.loads((match / "match.json").read_text())
    assert (written["status"], written["seed"], written["options"]["starting_stack"]) == ("finished", 4, 200)
    assert len(written["players"]) == written["options"]["num_players"] == 3


def test_a_match_that_cannot_be_played_is_refused(match, tmp_path):
    agents = ("play-match", "--agents", "random,random", "--out")
    assert "it is there already" in refused(*agents, match)
    assert "there is no folder" in refused(*agents, tmp_path / "no" / "match")
    assert "did you mean 'ante'" in refused(*agents, tmp_path / "m", "-o", "antes=2")
    assert "3 seats need as many agents; got 2" in refused(*agents, tmp_path / "m", "-o", "num_players=3")
    assert list(tmp_path.iterdir()) == []


def test_a_match_that_fails_says_so_and_where_its_records_are(tmp_path, monkeypatch):
    (tmp_path / "failing_agents.py").write_text(
        "class Agent:\n    name = 'x'\n    def reset(self, seed): pass\n    def act(self, turn): return 77\n"
        "def make(game, options): return Agent()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    result = call("play-match", "--agents", "python:failing_agents:make,random", "--out", tmp_path / "m", code=1)
    assert "the match failed" in result.stderr
    assert json.loads((tmp_path / "m" / "match.json").read_text())["status"] == "failed"


def test_a_timeline_is_shown_as_each_viewer_saw_it(match):
    everything = call("show", match, "--hand", 1).stdout
    own = call("show", match / "timeline.jsonl", "--hand", 1, "--player", 1).stdout
    public = call("show", match / "replay.json", "--hand", 1, "--public").stdout
    assert "Hand 1 begins." in everything
    assert "Hand 2 begins." not in everything
    dealt = [sum("is dealt a card." in line for line in text.splitlines()) for text in (everything, own, public)]
    assert dealt == [0, 4, 6]
    assert "--hand 99 is out of range" in refused("show", match, "--hand", 99)
    assert "--player takes a seat from 0 to 2" in refused("show", match, "--player", 3)
    assert "the replay is identical" in call("show", match, "--verify").stdout


def test_a_table_is_shown_at_an_entry_and_step_by_step(match):
    timeline = Timeline.load(match / "timeline.jsonl")
    assert (
        f"before entry 12 of {len(timeline)}: hand 1, blinds 10/20, board -" in call("show", match, "--at", 12).stdout
    )
    assert "--at 99999 is out of range" in refused("show", match, "--at", 99999)
    stepped = call("show", match, "--step", typed="\n\nb\n40\nq\n").stdout
    assert [line.split(" of")[0] for line in stepped.splitlines() if "before entry" in line] == [
        f"{'' if k == 0 else 'Enter: next, b: back, a number: go there, q: quit > '}before entry {i}"
        for k, i in enumerate((0, 1, 2, 1, 40))
    ]


def test_figures_are_shown_and_written(match, tmp_path):
    text = call("stats", match, match / "replay.json", "--json", tmp_path / "f.json").stdout
    assert "VPIP" in text
    figures = json.loads((tmp_path / "f.json").read_text())
    once = json.loads((match / "aggregates.json").read_text())
    assert {name: f["hands"] for name, f in figures.items()} == {name: 2 * f["hands"] for name, f in once.items()}


def test_hands_go_out_as_phh_and_come_in(match, tmp_path):
    replay = Replay.load(match / "replay.json")
    call("export-phh", match, "--out", tmp_path / "all.phhs")
    assert (tmp_path / "all.phhs").read_text() == phh.dumps_all(replay)
    call("export-phh", match, "--hand", 1, "--out", tmp_path / "one.phh")
    assert (tmp_path / "one.phh").read_text() == phh.dumps(replay, 1)
    played = call("replay-phh", tmp_path / "one.phh").stdout
    assert "Hand 1 begins." in played
    assert f"hand 1: stacks {phh.loads(phh.dumps(replay, 1)).stacks}" in played
    Replay.of(play(table(3 * [100]), "0:fold 1:fold")).save(tmp_path / "short.json")
    call("export-phh", tmp_path / "short.json", "--out", tmp_path / "short.phhs")
    assert call("replay-phh", tmp_path / "short.phhs", "--quiet").stdout == "hand 1: stacks [100, 90, 110]\n"


def test_what_is_no_record_is_refused(match, tmp_path):
    (tmp_path / "bad.phh").write_text("variant = 'NT'\n")
    assert "bad.phh: starting_stacks is missing" in refused("replay-phh", tmp_path / "bad.phh")
    assert "is not the folder of a match" in refused("show", tmp_path)
    assert "not a replay" in refused("stats", tmp_path / "bad.phh")
    assert "there is no folder" in refused("export-phh", match, "--hand", 1, "--out", tmp_path / "no" / "x.phh")
    assert "this match has hands 1 to" in refused("export-phh", match, "--hand", 99, "--out", tmp_path / "x.phh")
