"""Evaluations of a run: what is checked before it begins, what is shown meanwhile, and what Ctrl-C leaves."""

import json
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.network import Network  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.errors import OptionError, PolicyNotFoundError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.envs.vector import VectorEnv  # noqa: E402
from cardenvs.training import progress as progress_module  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run, resume, train  # noqa: E402
from cardenvs.training.ppo.evaluate import Evaluation  # noqa: E402
from cardenvs.training.ppo.opponents import PolicyOpponent  # noqa: E402

LEDUC = get_game("leduc_poker_v0")
TINY = Config(
    num_envs=16, rollout_steps=8, hidden=(8,), epochs=1, minibatches=1, eval_interval=2, eval_deals=8, final_deals=8
)
UPDATE = 16 * 8  # steps

pytestmark = pytest.mark.usefixtures("alone")


def call(*words):
    return CliRunner().invoke(app, ["train", *words, "--threads", "1"], env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.mark.parametrize(
    ("game", "options", "why"),
    [
        ("leduc_poker_v0", {"num_players": 6}, "too many deals to list: 463,680"),
        ("leduc_poker_v0", {"num_players": 4}, "more than 1,000,000 histories"),
        ("gin_rummy_v0", {}, "too many deals to list"),
    ],
)
def test_nash_conv_of_a_large_game_is_refused_before_training(game, options, why):
    config = TINY.changed({"nash_conv": True, "options": options})
    with pytest.raises(OptionError, match=rf"{why}.*; leave it out with --set nash_conv=false$"):
        train(game, config, out="run", show=False)
    assert not Path("run").exists()
    Run(get_game(game), config.changed({"nash_conv": False}), Limits(UPDATE))


def test_opponents_that_are_not_there_are_refused_before_training():
    with pytest.raises(PolicyNotFoundError, match="heuristik"):
        Run(LEDUC, TINY.changed({"eval_opponents": ["random", "heuristik"]}), Limits(UPDATE))


def test_a_run_is_saved_before_an_evaluation(monkeypatch):
    def fail(*_):
        raise RuntimeError("no evaluation")

    monkeypatch.setattr(Evaluation, "score", fail)
    with pytest.raises(RuntimeError, match="no evaluation"):
        train(LEDUC, TINY, out="run", total_steps=9 * UPDATE, show=False, threads=1)
    run = Run.restore(Path("run/latest.pt"))
    assert (run.steps, run.updates) == (2 * UPDATE, 2)
    assert run.seconds > 0


@pytest.mark.parametrize(
    ("game", "options", "opponent"),
    [
        ("leduc_poker_v0", {"num_players": 3}, "random"),
        ("leduc_poker_v0", {}, "other"),
        ("one_player_poker_v0", {}, "random"),
        ("one_player_poker_v0", {}, "heuristic"),
        ("oh_hell_v0", {"max_cards": 1, "num_players": 3}, "random"),
    ],
)
def test_all_games_of_a_score_are_counted(game, options, opponent):
    game, ended = get_game(game), []
    network = Network.for_game(game, game.make_options(**options), (8,), "relu")
    opponents = {"other": PolicyOpponent("random")}  # a policy of which nobody knows what random play gets
    evaluation = Evaluation(VectorEnv(game, 5, mask=False, **options), 1, opponents=opponents)
    evaluation.on_games = ended.append
    for _ in range(2):  # what random play gets is computed once
        expected = evaluation.num_games(opponent)
        ended.clear()
        evaluation.score(network, opponent)
        assert sum(ended) == expected
    assert expected == 5 * max(2, options.get("num_players", 2))


def test_where_returns_have_no_known_sum_a_score_is_the_lead_over_the_opponent(monkeypatch):
    evaluation = Evaluation(VectorEnv(get_game("oh_hell_v0"), 20, mask=False, max_cards=1), 1)
    own = evaluation.own_returns("heuristic")
    assert own.mean() > 1  # everybody gets points
    monkeypatch.setattr(evaluation, "returns", lambda network, opponent, sampled: own + 0.5)
    score = evaluation.score(None, "heuristic")
    assert (score.mean, score.half, score.verdict) == (pytest.approx(0.5), pytest.approx(0), "beats")
    assert score.chance < 0


def test_the_final_evaluation_shows_how_far_it_is(monkeypatch):
    monkeypatch.setattr(progress_module, "_LINE_SECONDS", 0.0)
    said = call("one_player_poker_v0", "--out", "run", "--total-steps", "1", *flags(TINY))
    assert said.exit_code == 0, said.output
    lines = [line for line in said.stderr.splitlines() if re.match("final evaluation: |against ", line)]
    total = 8 * 2 + 8 * 4  # against random, and against the rule policy, with what random play gets
    assert lines[0] == f"final evaluation: 0 of {total} games"
    against_random, against_heuristic = (k for k, line in enumerate(lines) if line.startswith("against"))
    assert lines[against_random - 1] == f"final evaluation: 16 of {total} games  left 0:00"
    assert against_heuristic > against_random + 10  # each as it ends
    assert lines[against_heuristic - 1] == f"final evaluation: {total} of {total} games  left 0:00"


def flags(config):
    given = {"num_envs": config.num_envs, "rollout_steps": config.rollout_steps, "hidden": 8, "final_deals": 8}
    return [f"--set={name}={value}" for name, value in given.items()]


def test_ctrl_c_before_the_first_checkpoint_leaves_nothing_to_resume(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("cardenvs.training.ppo.run.Run.advance", stop)
        said = call("leduc_poker_v0", "--out", "run", "--total-steps", str(2 * UPDATE), *flags(TINY))
    assert said.exit_code == 130
    assert "Stopped before the first checkpoint: there is nothing to resume." in said.stderr
    said = call("--resume", "--out", "run")
    assert said.exit_code == 2
    assert "run holds no checkpoint, so there is nothing to resume" in said.stderr


def test_limits_that_a_run_has_reached_are_refused():
    assert call("leduc_poker_v0", "--out", "run", "--total-steps", str(2 * UPDATE), *flags(TINY)).exit_code == 0
    for flag in ("--total-steps", "--seconds"):
        said = call("--resume", "--out", "run", flag, "0.001" if flag == "--seconds" else str(UPDATE))
        assert said.exit_code == 2
        assert f"run has trained for {2 * UPDATE} steps and" in " ".join(said.stderr.split())
    assert call("--resume", "--out", "run", "--total-steps", str(3 * UPDATE)).exit_code == 0
    assert read_checkpoint("run/latest.pt")["steps"] == 3 * UPDATE


def test_ctrl_c_in_the_final_evaluation_keeps_the_checkpoint(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Evaluation, "score", stop)
        said = call("leduc_poker_v0", "--out", "run", "--total-steps", str(2 * UPDATE), *flags(TINY))
    assert said.exit_code == 130
    assert "Stopped. To resume: cardenvs train --out run --resume" in said.stderr
    assert not Path("run/evaluation.json").exists()
    assert read_checkpoint("run/latest.pt")["steps"] == 2 * UPDATE
    assert call("--resume", "--out", "run").exit_code == 0
    assert call("leduc_poker_v0", "--out", "whole", "--total-steps", str(2 * UPDATE), *flags(TINY)).exit_code == 0
    one, other = (json.loads(Path(f"{name}/evaluation.json").read_text()) for name in ("run", "whole"))
    assert one["scores"] == other["scores"]


def test_a_longer_run_loses_the_evaluation_of_the_shorter_one():
    path = train(LEDUC, TINY, out="run", total_steps=UPDATE, show=False, threads=1)

    def stop(metrics):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resume(path, total_steps=9 * UPDATE, show=False, threads=1, on_update=stop)
    assert not Path("run/evaluation.json").exists()
