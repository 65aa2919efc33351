"""`python -m baselines.run`: its plan, and a whole game in its short form."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

from typer.testing import CliRunner

from baselines.plan import Baseline, Beginning, file_name, game_of, read_plan
from baselines.run import _sampling, app, best_seed, exploited, trained
from cardenvs.agents.checkpoint_file import read_checkpoint, write_weights
from cardenvs.core.errors import OptionError
from cardenvs.core.registry import game_targets, get_game
from cardenvs.training.config import CONFIG_FOLDER, Config
from docs import results_tables


def plan_of(tmp_path, text):
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


def test_the_plan_has_every_game_and_is_sound():
    plan = read_plan()
    assert {name for name, target in game_targets().items() if target.startswith("cardenvs.")} == {
        name.partition("/")[0] for name in plan
    }
    assert all((CONFIG_FOLDER / one.config).is_file() for one in plan.values() if one.config)
    assert len(read_plan(small=True)) >= 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("kuhn_poker_v0: {deals: 1}", "deals"),
        ("kuhn_poker_v0: {deals: 5, steps: some}", "steps"),
        ("kuhn_poker_v0: {deals: 5, options: {players: 3}}", "unknown option 'players'"),
        ("kuhn_poker_v0: {deals: 5, config: ../kuhn.yaml}", "config"),
        ("kuhn_poker_v0: {deals: 5, small: {options: {}}}", "small changes"),
    ],
)
def test_a_plan_that_is_wrong_is_refused(tmp_path, text, complaint):
    with pytest.raises(OptionError, match=complaint):
        read_plan(plan_of(tmp_path, text), small="small" in text)


def test_games_that_the_plan_lacks_are_refused():
    with pytest.raises(OptionError, match="kuhn_poker_v0"):
        read_plan(games=["kuhn_poker"])


def test_a_game_is_trained_played_and_drawn_once(tmp_path, monkeypatch):
    import baselines.run

    small = read_plan(small=True)["kuhn_poker_v0"].model_copy(
        update={"steps": 700_000, "response": 4096, "deals": 20, "seeds": 2}
    )
    monkeypatch.setattr(baselines.run, "read_plan", lambda **_: {"kuhn_poker_v0": small})
    arguments = ["--small", "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out"), "--threads", "1"]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    result = json.loads((tmp_path / "out" / "kuhn_poker_v0.json").read_text())
    assert [run["seed"] for run in result["runs"]] == [1, 2]
    assert all(run["curve"] and run["scores"]["random"]["deals"] for run in result["runs"])
    agents = {one["agent"] for one in result["board"]["games"][0]["summary"]["leaderboard"]}
    assert agents == {"random", "search:simulations=50", "ppo"}
    assert "A best response gains" in result["response"]["verdict"]
    assert "<svg" in (tmp_path / "out" / "kuhn_poker_v0.svg").read_text()

    again = tmp_path / "work" / "kuhn_poker_v0" / "seed-1" / "latest.pt"
    before = again.stat().st_mtime_ns
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    assert again.stat().st_mtime_ns == before
    assert json.loads((tmp_path / "out" / "kuhn_poker_v0.json").read_text())["board"] == result["board"]

    monkeypatch.setattr(results_tables, "FOLDER", tmp_path / "out")
    text = results_tables.sections(lambda head, rows: "\n".join(str(row) for row in (head, *rows)))
    assert "`ppo`" in text
    assert "results/kuhn_poker_v0.svg" in text


def duel(first, second, mean, low, high):
    """The board of briscola with two agents, of which only the duel matters here."""
    pair = {"agents": [first, second], "advantage": {"mean": mean, "low": low, "high": high}}
    ratings = [{"agent": "heuristic", "rating": 1000.0}]
    games = [{"ratings": ratings, "summary": {"unit": "wins a deal", "head_to_head": [pair]}}]
    return {"game": "briscola_v0", "board": {"games": games}}


@pytest.mark.parametrize(
    ("board", "shown", "ahead"),
    [
        (duel("heuristic", "search:simulations=5", -0.3, -0.4, -0.1), "**+0.3 (+0.1 to +0.4)**", 1),
        (duel("ppo", "heuristic", 0.3, 0.1, 0.4), "**+0.3 (+0.1 to +0.4)**", 1),
        (duel("heuristic", "ppo", 0.1, -0.2, 0.4), "-0.1 (-0.4 to +0.2)", 0),
    ],
)
def test_the_overview_says_who_beats_the_rule_agent(board, shown, ahead):
    text = results_tables._overview([board], lambda head, rows: "\n".join(str(row) for row in (head, *rows)))
    assert f"'{shown}'" in text
    assert f"{ahead} of 1 games" in text


def run_of(seed, mean, nash_conv=None, opponent="random"):
    return {"seed": seed, "scores": {opponent: {"mean": mean}, "random": {"mean": 0.0}}, "nash_conv": nash_conv}


def test_the_run_that_plays_is_the_least_exploitable_or_best_against_the_rule_agent():
    kuhn, gin = get_game("kuhn_poker_v0"), get_game("gin_rummy_v0")
    assert best_seed(kuhn, [run_of(1, 0.1, 0.2), run_of(2, 0.5, 0.6), run_of(3, 0.2, 0.3)]) == 1
    assert best_seed(gin, [run_of(k, mean, opponent="heuristic") for k, mean in ((1, -1), (2, 3), (3, 2))]) == 2


def test_a_further_policy_of_a_game_has_files_of_its_own(tmp_path):
    entry = "texas_holdem_v0/limit"
    plan = read_plan(games=[entry])
    assert game_of(entry).name == "texas_holdem_v0"
    assert plan[entry].options["betting"] == "limit"
    assert file_name(entry) == "texas_holdem_v0-limit"


def test_results_of_a_cooperative_game_are_its_cross_play():
    def pair(first, second, mean):
        return {"agents": [first, second], "result": {"mean": mean, "low": mean - 0.5, "high": mean + 0.5}}

    summary = {
        "unit": "points a deal",
        "agents": [{"name": "ppo"}, {"name": "random"}],
        "cross_play": [pair("ppo", "ppo", 20.0), pair("ppo", "random", 3.0), pair("random", "random", 0.0)],
    }
    head, *rows = results_tables._cross_play(summary, lambda head, rows: [head, *rows])
    assert head == ("points, together with", "`ppo`", "`random`")
    assert rows == [
        ("`ppo`", "20.00 ± 0.50", "3.00 ± 0.50"),
        ("`random`", "3.00 ± 0.50", "0.00 ± 0.50"),
    ]


def test_runs_of_another_length_or_with_other_settings_are_not_taken_for_those_of_the_plan(tmp_path):
    kuhn = get_game("kuhn_poker_v0")
    small = read_plan(small=True)["kuhn_poker_v0"].model_copy(update={"steps": 2048})
    assert trained(kuhn, small, tmp_path / "seed-1", 1, 1)["steps"] >= 2048
    with pytest.raises(OptionError, match="holds a run for 2,048 steps, not 4,096; choose another --work"):
        trained(kuhn, small.model_copy(update={"steps": 4096}), tmp_path / "seed-1", 1, 1)
    with pytest.raises(OptionError, match="other settings \\(seed\\)"):
        trained(kuhn, small, tmp_path / "seed-1", 2, 1)


def test_a_run_may_begin_with_the_policy_of_another(tmp_path):
    kuhn = get_game("kuhn_poker_v0")
    plain = Baseline(config="kuhn.yaml", steps=2048, deals=4)
    small = plain.model_copy(update={"begin": Beginning(config="kuhn.yaml", steps=200_000)})
    trained(kuhn, small, tmp_path / "seed-1", 1, 1)
    trained(kuhn, plain, tmp_path / "fresh", 1, 1)
    first, second, fresh = (
        read_checkpoint(tmp_path / name / "latest.pt") for name in ("seed-1-begin", "seed-1", "fresh")
    )
    assert [one["training"]["total_steps"] for one in (first, second)] == [200_000, 2048]
    weights = [
        np.concatenate([part.numpy().ravel() for part in one["model"].values()]) for one in (first, second, fresh)
    ]
    assert np.linalg.norm(weights[1] - weights[0]) < 0.5 * np.linalg.norm(weights[1] - weights[2])
    before = (tmp_path / "seed-1-begin" / "latest.pt").stat().st_mtime_ns
    trained(kuhn, small, tmp_path / "seed-1", 1, 1)
    assert (tmp_path / "seed-1-begin" / "latest.pt").stat().st_mtime_ns == before


def test_a_response_begins_anew_when_the_policy_is_another(tmp_path):
    kuhn = get_game("kuhn_poker_v0")
    small = read_plan(small=True)["kuhn_poker_v0"].model_copy(update={"steps": 2048, "response": 2048, "deals": 4})
    weights = tmp_path / "ppo.safetensors"
    for seed in (1, 2):
        trained(kuhn, small, tmp_path / f"seed-{seed}", seed, 1)
        write_weights(read_checkpoint(tmp_path / f"seed-{seed}" / "latest.pt"), weights)
        found = exploited(kuhn, small, f"ppo:{weights},sample=true", weights, tmp_path, 1)
        assert found["reported"]["greedy"]["deals"] >= 100_000
    assert len(list(tmp_path.glob("response-*"))) == 2


def test_training_scores_are_in_the_unit_of_the_board():
    score = {"mean": 2.0, "half": 0.5}
    run = {"seed": 1, "steps": 2_000_000, "seconds": 30, "scores": {"equity": score}, "nash_conv": None, "curve": []}
    result = {"game": "texas_holdem_v0", "options": {"format": "cash", "num_players": 2}, "runs": [run]}
    assert "+10 ± 2.5 against equity" in "\n".join(results_tables._training(result, "bb/100"))
    assert "2 M steps in 30 s" in "\n".join(results_tables._training(result, "bb/100"))


@pytest.mark.parametrize(
    ("value", "shown"), [(0.1234, "+0.123"), (-12.34, "-12.3"), (1074.2, "+1,074"), (-999.7, "-1,000")]
)
def test_large_figures_are_grouped(value, shown):
    assert results_tables._signed(value) == shown


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"eval_threshold": 0.1}, ""),
        ({"eval_sample": True}, ",sample=true"),
        ({"eval_sample": True, "eval_threshold": 0.005}, ",sample=true,threshold=0.005"),
    ],
)
def test_a_policy_plays_as_it_was_evaluated(settings, wanted):
    assert _sampling(Config().changed(settings)) == wanted
