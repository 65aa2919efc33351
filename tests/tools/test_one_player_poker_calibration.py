"""Calibration runs: tiers, targets, pools, files, and that they go on after a stop."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pydantic")

from cardenvs.core.errors import ArenaError, OptionError
from cardenvs.core.registry import get_game
from cardenvs.tools.one_player_poker.api.pools import Pools
from cardenvs.tools.one_player_poker.calibration import pipeline as made
from cardenvs.tools.one_player_poker.calibration.pipeline import Parameters, Pipeline, least_points, tiers_of

PACKAGE = Path(made.__file__).parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline") / "small"
    pipeline = Pipeline(folder, Parameters(0, 240, 8, "heuristic", "small"), workers=1)
    return pipeline, pipeline.run()


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_seed_is_in_a_tier_and_easier_tiers_are_more_generous(run):
    pipeline, summary = run
    found = rows(pipeline.folder / "calibration_results.jsonl")
    assert [row["seed"] for row in found] == list(range(240))
    assert all(row["heuristic"] <= row["optimum"] for row in found)
    mean = {tier: np.mean([row["heuristic"] for row in found if row["tier"] == tier]) for tier in summary["tiers"]}
    assert mean["easy"] > mean["medium"] > mean["hard"]
    assert [tier["seeds"] for tier in summary["tiers"].values()] == [80, 80, 80]


def test_targets_are_the_stated_quantiles(run):
    pipeline, summary = run
    shares = []
    for name, tier in summary["tiers"].items():
        parts = sorted((pipeline.folder / "parts").glob(f"gate-{name}-*.jsonl"))
        points = sorted(row["gate"] for part in parts for row in rows(part))
        place = tier["target_quantile"] * (len(points) - 1)
        assert tier["target_score"] == points[math.ceil(place)]
        shares.append(sum(one >= tier["target_score"] for one in points) / len(points))
        assert tier["pass_rates"]["gate"] == shares[-1]
    assert shares[0] > shares[1] > shares[2]


def test_seeds_near_a_boundary_are_split_by_what_their_order_allows():
    many = [{"seed": k, "heuristic": 1000 - k, "optimum": 2000 if k == 104 else 1500} for k in range(300)]
    tiers = tiers_of(many)
    assert 104 in [row["seed"] for row in tiers["easy"]]
    assert 80 in [row["seed"] for row in tiers["easy"]]
    assert 120 in [row["seed"] for row in tiers["medium"]]


def test_least_points_part_the_seeds_into_thirds():
    assert least_points([{"heuristic": points} for points in range(90)]) == {"easy": 60, "medium": 30, "hard": 0}


def test_pools_are_apart_and_challenges_have_been_passed(run):
    pipeline, _ = run
    pools = Pools.load(pipeline.folder)
    found = {row["seed"]: row for row in rows(pipeline.folder / "calibration_results.jsonl")}
    for name, tier in pools.manifest.tiers.items():
        assert all(seed % 2 == 0 for seed in tier.practice)
        assert all(seed % 2 == 1 and found[seed]["heuristic"] >= tier.target_score for seed in tier.challenge)
        assert {found[seed]["tier"] for seed in (*tier.practice, *tier.challenge)} == {name}


def test_traces_are_games_of_the_rule_agent(run):
    pipeline, _ = run
    game = get_game("one_player_poker_v0")
    passed, failed = (rows(pipeline.folder / name) for name in ("trace_pass.jsonl", "trace_fail.jsonl"))
    assert passed
    assert failed
    for trace in (*passed, *failed):
        state = game.new_state(seed=trace["seed"])
        for step in trace["steps"]:
            kind, positions = step["recommended_action"].values()
            state.apply(made_action(kind, positions))
        assert state.is_terminal
        assert int(state.record.score) == trace["score_total"]
        assert (trace["score_total"] >= trace["target_score"]) == (trace in passed)
        assert trace["info_set"] == "order_unknown"
        assert {"policy", "generated_at", "steps"} <= trace.keys()


def made_action(kind, positions):
    from cardenvs.tools.one_player_poker.api.session import ACTIONS

    return ACTIONS.index((kind, tuple(positions)))


def test_a_stopped_run_goes_on_and_another_is_refused(run, tmp_path):
    pipeline, summary = run
    again = Pipeline(tmp_path / "small", pipeline.parameters, workers=1)

    class StopError(Exception):
        pass

    def stop(done, total, title):
        if "challenges" in title:
            raise StopError

    with pytest.raises(StopError):
        again.run(stop)
    parts = {path.name: path.stat().st_mtime_ns for path in (again.folder / "parts").iterdir()}
    assert parts
    assert Pipeline(again.folder, pipeline.parameters, workers=1).run() == summary
    assert all((again.folder / "parts" / name).stat().st_mtime_ns == at for name, at in parts.items())
    for name in ("calibration_results.jsonl", "seed_manifest.json", "summary.json"):
        assert (again.folder / name).read_bytes() == (pipeline.folder / name).read_bytes()
    with pytest.raises(ArenaError, match="another pool"):
        Pipeline(again.folder, Parameters(0, 240, 9, "heuristic", "small"))


def test_too_few_seeds_are_refused():
    with pytest.raises(OptionError, match="at least 90"):
        Parameters(0, 50, 5, "heuristic", "x")


def test_with_a_key_other_decks_are_calibrated(run, tmp_path):
    pipeline, _ = run
    Pipeline(tmp_path / "keyed", pipeline.parameters, b"a key of sixteen characters", workers=1).run()
    assert rows(tmp_path / "keyed/calibration_results.jsonl") != rows(pipeline.folder / "calibration_results.jsonl")
    with pytest.raises(Exception, match="deck key"):
        Pools.load(tmp_path / "keyed")


def test_the_report_has_a_plot_of_each_kind(run):
    pytest.importorskip("matplotlib")
    from cardenvs.tools.one_player_poker.calibration.report import write_report

    pipeline, summary = run
    text = write_report(pipeline.folder, summary).read_text()
    assert text.count("<svg") == 2
    assert all(name in text for name in summary["tiers"])


def test_nothing_that_knows_the_order_reaches_the_server():
    """No module of the server imports the tools, and what it reads of a run holds no result that knows the order."""
    for path in (PACKAGE / "server").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.startswith("cardenvs.tools") for name in names), path
    manifest = json.loads((PACKAGE / "tools/one_player_poker/api/seed_manifest.json").read_text())
    assert set(manifest) == {"format", "run_id", "engine_version", "deck_key_id", "tiers"}
    assert all(
        set(tier) == {"target_score", "least_points", "practice", "challenge"} for tier in manifest["tiers"].values()
    )


def test_the_command(run, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from cardenvs.cli import app

    monkeypatch.chdir(tmp_path)
    arguments = ["poker", "calibrate", "--run-id", "cli", "--pool", "4", "--gate", "heuristic"]
    done = CliRunner().invoke(app, [*arguments, "--seeds", "0:120", "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "artifacts/pipeline/cli/report.html").exists()
    for wrong in (["--seeds", "9:3"], ["--seeds", "x"], ["--seeds", "0:120", "--run-id", "../x"]):
        refused = CliRunner().invoke(app, [*arguments, *wrong])
        assert refused.exit_code != 0
        assert not isinstance(refused.exception, AssertionError)


def test_scores_of_a_match(tmp_path):
    from typer.testing import CliRunner

    from cardenvs.arena import Store
    from cardenvs.cli import app
    from cardenvs.tools.one_player_poker.scores import scores_of

    store = tmp_path / "games.db"
    played = ["match", "one_player_poker_v0", "--agents", "heuristic,random", "--deals", "40", "--seed", "0"]
    assert CliRunner().invoke(app, [*played, "--store", str(store)]).exit_code == 0
    with Store(store, read_only=True) as opened:
        heuristic, random = scores_of(opened)
        match = opened.match(opened.match_ids()[0])
        points = [
            100 * game.returns[0] for game in opened.results(match.id) if match.names[game.seating[0]] == "heuristic"
        ]
    assert (heuristic.name, random.name, heuristic.deals) == ("heuristic", "random", 40)
    assert heuristic.mean == pytest.approx(np.mean(points))
    assert heuristic.sd == pytest.approx(np.std(points, ddof=1))
    assert heuristic.success == {target: np.mean(np.array(points) >= target - 0.5) for target in sorted(random.success)}
    shown = CliRunner().invoke(app, ["poker", "scores", str(store)])
    assert shown.exit_code == 0
    assert "heuristic" in shown.output
    other = tmp_path / "other.db"
    CliRunner().invoke(
        app, ["match", "kuhn_poker_v0", "--agents", "random,search", "--deals", "2", "--store", str(other)]
    )
    assert CliRunner().invoke(app, ["poker", "scores", str(other)]).exit_code != 0
