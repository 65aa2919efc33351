"""The commands that Texas hold'em brings: `cardenvs texas_holdem ...`."""

import json

import pytest
from holdem import play, table
from typer.testing import CliRunner

from cardenvs.cli import app
from cardenvs.core.replay import Replay
from cardenvs.tools.texas_holdem import phh
from cardenvs.tools.texas_holdem.timeline import Timeline

COMMANDS = ["play-match", "stats", "exploit", "show", "export-phh", "replay-phh"]


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
    for number, file in enumerate((match / "replay.json", tmp_path / "second.json")):
        if number:
            file.write_bytes((match / "replay.json").read_bytes())
        assert "would overwrite" in refused("stats", match / "replay.json", file, "--json", file)
    assert "VPIP" in text
    figures = json.loads((tmp_path / "f.json").read_text())
    once = json.loads((match / "aggregates.json").read_text())
    assert {name: f["hands"] for name, f in figures.items()} == {name: 2 * f["hands"] for name, f in once.items()}


def test_a_bound_is_printed_and_written(tmp_path):
    file = tmp_path / "bound.json"
    text = call("exploit", "--agent", "random", "--deals", 30, "--json", file, "--quiet").stdout
    assert "big blinds per 100 hands from random (30 deals, each from both seats; 95% interval)" in text
    assert "So a best response wins at least" in text
    found = json.loads(file.read_text())
    assert found["low"] == found["mean"] - found["half"] > 0
    assert (found["game"], found["agent"], found["unit"], found["deals"]) == ("texas_holdem_v0", "random", "bb/100", 30)
    assert "asks what search would do with every hand" in refused("exploit", "--agent", "search")
    assert "plays single hands of two" in refused("exploit", "--agent", "random", "-o", "num_hands=2")


def test_hands_go_out_as_phh_and_come_in(match, tmp_path):
    replay = Replay.load(match / "replay.json")
    call("export-phh", match, "--out", tmp_path / "all.phhs")
    assert (tmp_path / "all.phhs").read_text() == phh.dumps_all(replay)
    call("export-phh", match, "--hand", 1, "--out", tmp_path / "one.phh")
    assert (tmp_path / "one.phh").read_text() == phh.dumps(replay, 1)
    played = call("replay-phh", tmp_path / "one.phh").stdout
    assert "Hand 1 begins." in played
    stacks = phh.loads(phh.dumps(replay, 1)).stacks_on_record()
    assert f"hand 1: {', '.join(' '.join(pair) for pair in stacks)}" in played
    Replay.of(play(table(3 * [100]), "0:fold 1:fold")).save(tmp_path / "short.json")
    call("export-phh", tmp_path / "short.json", "--out", tmp_path / "short.phhs")
    assert call("replay-phh", tmp_path / "short.phhs", "--quiet").stdout == (
        "hand 1: player_1 90, player_2 110, player_0 100\n"
    )


def test_what_is_no_record_is_refused(match, tmp_path):
    (tmp_path / "bad.phh").write_text("variant = 'NT'\n")
    assert "bad.phh: starting_stacks is missing" in refused("replay-phh", tmp_path / "bad.phh")
    assert "is not the folder of a match" in refused("show", tmp_path)
    assert "starting_stacks is missing" in refused("stats", tmp_path / "bad.phh")
    assert "is not a cardenvs replay" in refused("stats", match / "match.json")
    assert "there is no folder" in refused("export-phh", match, "--hand", 1, "--out", tmp_path / "no" / "x.phh")
    assert "this match has hands 1 to" in refused("export-phh", match, "--hand", 99, "--out", tmp_path / "x.phh")


def test_a_hand_that_cannot_be_read_says_why(tmp_path):
    site = tmp_path / "site.phhs"
    site.write_text(HANDS)
    assert "hand [12]: line 21: variant is 'PO'" in refused("show", site, "--hand", 12)
    assert "hand [12]: line 21: variant is 'PO'" in refused(
        "export-phh", site, "--hand", 12, "--out", tmp_path / "a.phh"
    )


HANDS = """\
[4]
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [0.5, 1]
min_bet = 1
starting_stacks = [50, 40]
actions = ["d dh p1 2c7d", "d dh p2 ????", "p2 cc", "p1 cc", "d db KhKdKs", "p1 cbr 1", "p2 f"]
hand = 777
seats = [6, 2]
players = ["Nyla", "[b]Otis"]

[9]
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [50, 40]
actions = ["d dh p1 2c7d", "d dh p2 ????", "p2 cc", "p1 cc", "d db KhKdKs", "p1 cbr 2", "p2 f"]

[12]
variant = "PO"
"""


def test_hands_of_a_site_are_read_one_by_one(tmp_path):
    site = tmp_path / "site.phhs"
    site.write_text(HANDS)
    ended = call("replay-phh", site, code=1)
    assert "Hand 777 begins." in ended.stdout
    assert "[b]Otis posts a small blind of 0.5." in ended.stdout
    assert "hand 777 [4]: Nyla 51.0, [b]Otis 39.0" in ended.stdout
    assert "hand 9: p1 52.0, p2 38.0" in ended.stdout
    assert "Error: " in ended.stderr
    assert "hand [12]: line 21: variant is 'PO'" in ended.stderr
    assert "3 hands: 0 read with notes, 1 not read" in ended.stderr
    assert "hand [12]: line 21: variant is 'PO'" in refused("replay-phh", site, "--strict", "--chips-per-unit", 10)
    site.write_text(HANDS[: HANDS.index("[12]")])
    assert "Nyla" in call("stats", site).stdout
    assert "2 hands that can be read, numbered 777, 9; choose one with --hand" in refused("show", site)
    assert "--hand 1 is none of them" in refused("show", site, "--hand", 1)
    shown = call("show", site, "--hand", 777).stdout
    for text in (
        "Hand 777 begins.", "[b]Otis posts a small blind of 0.5.",
        "[b]Otis may fold, call 0.5, raise to 2.0 up to 40.0",
        "[b]Otis answers: call 0.5", "hand 777, blinds 0.5/1.0", "The hand is over: 1. Nyla (51.0), 2. [b]Otis (39.0).",
        "The deck of 52 cards", "The button is at seat 0.",
    ):  # fmt: skip
        assert text in shown, text
    assert "player_" not in shown
    assert "Hand 777 begins." in call("show", site, "--hand", 4).stdout, "by the name of its table"
    assert "p1 posts a big blind of 2.0." not in shown
    assert "p2 posts a small blind of 1.0." in call("show", site, "--hand", 9).stdout
    assert "chips of 1/10 of their unit" in call("stats", site).stdout
    call("export-phh", site, "--out", tmp_path / "again.phhs")
    assert phh.records((tmp_path / "again.phhs").read_text())[0].hand.source == phh.records(HANDS)[0].hand.source
    call("export-phh", site, "--hand", 9, "--out", tmp_path / "one.phh")
    assert "????" in (tmp_path / "one.phh").read_text()
