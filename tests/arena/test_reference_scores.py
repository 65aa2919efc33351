"""`python -m baselines.reference`: the table of scores over the suite, and docs/scores.md made from it."""

import json

import pytest
from typer.testing import CliRunner

from baselines import reference
from baselines.reference import ROWS, Row, add, app, chosen, evaluated
from cardenvs.arena.evaluation import read_protocol
from cardenvs.core.errors import OptionError
from docs import score_tables


def markdown(head, rows):
    return "\n".join(" | ".join(map(str, row)) for row in (head, *rows))


def test_every_row_is_of_the_protocol():
    games = {task.game for task in read_protocol().tasks}
    assert all(set(row.games) <= games and row.size in ("tiny", "full") for row in ROWS)
    assert len({(row.spec, row.size) for row in ROWS}) == len(ROWS)
    assert len({row.spec for row in ROWS}) >= 30


def test_a_score_that_is_called_complete_has_all_games_of_the_protocol():
    protocol = read_protocol()
    for entry in json.loads(reference.SCORES.read_text()).values():
        whole = set(entry["games"]) == {task.game for task in protocol.chosen(entry["size"])}
        assert entry["is_complete"] <= whole, entry["agent"]


def test_rows_are_chosen_by_spec():
    assert {row.size for row in chosen("random, heuristic")} == {"tiny", "full"}
    with pytest.raises(OptionError, match="did you mean 'heuristic'"):
        chosen("heuristics")
    result = CliRunner().invoke(app, ["--agents", "nobody"])
    assert result.exit_code == 2
    assert "--list" in result.output


def test_an_agent_is_evaluated_once_and_its_scores_are_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = Row("random", ("kuhn_poker_v0",), "tiny", name="chance")
    card = evaluated(row, tmp_path, 1)
    written = card.stat().st_mtime_ns
    assert evaluated(row, tmp_path, 1).stat().st_mtime_ns == written
    out = tmp_path / "scores.json"
    add(out, row, json.loads(card.read_text()))
    found = json.loads(out.read_text())["random tiny"]
    assert found["agent"] == "chance"
    assert not found["is_complete"]
    assert abs(found["games"]["kuhn_poker_v0"]["score"]["mean"]) < 60
    monkeypatch.setattr(score_tables, "FILE", out)
    assert "`chance` | [Kuhn poker](games/kuhn_poker_v0.md)" in score_tables.sections(markdown)


def test_a_stub_model_gets_its_server(tmp_path, monkeypatch):
    with reference._ready(Row("llm:stub"), tmp_path) as environment:
        assert json.loads((tmp_path / "llm.yaml").read_text())["models"]["stub"]["base_url"].startswith("http://127.")
        assert environment["CARDENVS_LLM_CONFIG"] == str(tmp_path / "llm.yaml")


def scored(agent, size, *scores, complete=True):
    games = {
        f"game_{number}_v0": {"title": f"Game {number}", "score": score(mean), "decision_ms": 2.0, "failures": {}}
        for number, mean in enumerate(scores)
    }
    return {"agent": agent, "size": size, "is_complete": complete, "score": score(50.0), "games": games}


def score(mean):
    return {"mean": mean, "low": mean - 4, "high": mean + 4, "deals": 10}


def test_agents_of_many_games_get_columns_and_the_others_rows(tmp_path, monkeypatch):
    entries = [
        scored("random", "full", 0, 1, 2),
        scored("part", "full", 7, 8, 9, complete=False),
        scored("one", "full", 3),
    ]
    (tmp_path / "scores.json").write_text(json.dumps(dict(enumerate(entries))))
    monkeypatch.setattr(score_tables, "FILE", tmp_path / "scores.json")
    text = score_tables.sections(markdown)
    assert "game | `random` | `part`" in text
    assert "[Game 1](games/game_1_v0.md) | 1 ± 4 | 8 ± 4" in text
    assert "**mean** | **50 ± 4** | **50 ± 4** *" in text
    assert "`one` | [Game 0](games/game_0_v0.md) | 3 ± 4 | 2" in text
