"""`python -m baselines.foreign`: agents that other people wrote against those of the house, and the tables of it."""

import json

import pytest
from typer.testing import CliRunner

from baselines import foreign
from baselines.foreign import RESPONSE, app, meetings
from cardenvs.agents.kinds import find_kind
from cardenvs.agents.specs import split_specs
from cardenvs.core.errors import OptionError
from cardenvs.core.registry import get_game
from docs import foreign_tables


def markdown(head, rows):
    return "\n".join(" | ".join(map(str, row)) for row in (head, *rows))


@pytest.mark.parametrize("meeting", meetings(), ids=lambda one: f"{one.entry.game} {one.agent} {one.foreign}")
def test_a_foreign_agent_has_one_seat_or_a_side_and_the_house_all_others(meeting):
    game = get_game(meeting.entry.game)
    seats = game.make_options(**meeting.entry.options).num_players
    if meeting.foreign == RESPONSE:
        assert meeting.entry.game == "texas_holdem_v0"
        return
    words = meeting.words()
    agents = split_specs(words[words.index("--agents") + 1])
    assert agents.count(meeting.foreign) == (seats // 2 if meeting.entry.pairs else 1)
    assert agents.count(meeting.agent) == seats - agents.count(meeting.foreign)
    kind = find_kind(meeting.foreign.partition(":")[0])
    assert kind.plays(game)
    assert meeting.agent in game.policies or meeting.agent.startswith(f"zoo:{game.name}/")


def test_every_meeting_has_been_played_and_no_other_is_shown():
    assert list(json.loads(foreign.RESULTS.read_text())) == [one.command for one in meetings()]


def test_games_are_chosen_by_name():
    assert {one.entry.game for one in meetings("uno_v0, gin_rummy_v0")} == {"gin_rummy_v0", "uno_v0"}
    with pytest.raises(OptionError, match="did you mean 'uno_v0'"):
        meetings("uno_v1")


def test_meetings_are_played_once_and_shown(tmp_path, monkeypatch):
    file, out, work = tmp_path / "foreign.yaml", tmp_path / "foreign.json", tmp_path / "work"
    entry = {
        "game": "texas_holdem_v0", "options": {"format": "cash", "num_players": 2, "betting": "limit"},
        "agents": ["equity"], "against": ["always:call"], "deals": 20, "responses": 2,
    }  # fmt: skip
    file.write_text(json.dumps([entry]))
    monkeypatch.setattr(foreign, "FILE", file)
    words = ["--work", str(work), "--out", str(out)]
    assert CliRunner().invoke(app, words).exit_code == 0
    first = out.read_text()
    assert CliRunner().invoke(app, words).exit_code == 0
    assert out.read_text() == first
    results = list(json.loads(first).values())
    assert [(one["foreign"], one["won"]["deals"]) for one in results] == [("always:call", 20), (RESPONSE, 2)]
    assert results[0]["won"]["mean"] < 0 < results[0]["won"]["half"]
    assert results[0]["decision_ms"] > 0
    played = len(list(work.glob("*.json")))
    monkeypatch.setattr(foreign, "agent_fingerprint", lambda spec: "other weights")
    assert CliRunner().invoke(app, words).exit_code == 0
    assert len(list(work.glob("*.json"))) == 2 * played
    monkeypatch.setattr(foreign_tables, "FILE", out)
    text = foreign_tables.of_game(get_game("texas_holdem"), markdown)
    assert "agent, bb/100 | against `equity` | deals | ms a decision\n`always:call` | -" in text
    assert f"{RESPONSE} | " in text
    assert "its best response at least" in text


def test_where_nothing_is_lost_to_others_it_is_half_the_difference_that_counts():
    (meeting, _) = meetings("oh_hell_v0")
    names = [meeting.foreign, "heuristic", "heuristic#2", "heuristic#3"]
    specs = [meeting.foreign, *["heuristic"] * 3]
    advantage = {"mean": 30.0, "low": 20.0, "high": 40.0, "deals": 4}
    less = {"mean": -36.0, "low": -40.0, "high": -32.0, "deals": 4}
    summary = {
        "agents": [{"name": name, "spec": spec} for name, spec in zip(names, specs, strict=True)],
        "head_to_head": [
            {"agents": [names[1], names[0]], "advantage": advantage},
            {"agents": [names[0], names[2]], "advantage": less},
            {"agents": [names[1], names[2]], "advantage": advantage},
        ],
    }
    assert foreign._won(meeting, summary) == {"mean": -33.0, "half": 7.0, "deals": 4}


def test_a_wrong_file_is_named(tmp_path, monkeypatch):
    (tmp_path / "foreign.yaml").write_text(json.dumps([{"game": "uno_v0", "agents": [], "against": ["x"], "deals": 2}]))
    monkeypatch.setattr(foreign, "FILE", tmp_path / "foreign.yaml")
    result = CliRunner().invoke(app, ["--list"])
    assert result.exit_code == 2
    assert "agents" in result.output
