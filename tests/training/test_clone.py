"""Behaviour cloning: decisions out of stores and files, learning, resuming, and going on with PPO."""

import copy
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from cardenvs.agents.base import Turn  # noqa: E402
from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.ppo import load_agent  # noqa: E402
from cardenvs.agents.specs import make_agent  # noqa: E402
from cardenvs.arena import Match, Store  # noqa: E402
from cardenvs.arena.run import run as play  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.errors import ArenaError, FormatError, OptionError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.training.cfr import Solver, Tree  # noqa: E402
from cardenvs.training.cloning import CloneSettings, Cloning, clone  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.decisions import Decisions  # noqa: E402
from cardenvs.training.ppo import Run, resume, train  # noqa: E402

LEDUC, KATKO = get_game("leduc_poker_v0"), get_game("katko_v0")
SMALL = Config(hidden=(32,), num_envs=16, rollout_steps=8, epochs=1, minibatches=2, eval_interval=0, final_deals=0)


pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two matches of Leduc poker on the same deals."""
    path = tmp_path_factory.mktemp("store") / "games.db"
    with Store(path) as opened:
        for agents in (["random", "search:simulations=4"], ["random", "random"]):
            play([Match.of("leduc_poker_v0", agents, deals=60, seed=5)], opened)
    return path


def decisions_of(store, agents=("random",), most=10**5):
    return Decisions.of_store(store, LEDUC, agents, most)


def run(*words):
    return CliRunner().invoke(app, ["clone", *map(str, words)], env={"COLUMNS": "120"})


def refused(*words):
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


# -- decisions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [10**5, 50])
def test_a_store_and_its_export_hold_the_same_decisions(store, most):
    exported = CliRunner().invoke(app, ["trajectories", str(store), "--out", "all.parquet", "--quiet"])
    assert exported.exit_code == 0, exported.output
    one, other = decisions_of(store, most=most), Decisions.of_parquet(Path("all.parquet"), LEDUC, ["random"], most)
    assert one.digest == other.digest
    assert len(one) == len(other)
    assert len(one) == most if most == 50 else len(one) > 300
    assert (one.legal == one.action[:, None]).any(1).all()


def test_fallbacks_for_an_agent_that_failed_are_not_learnt(store, monkeypatch):
    from cardenvs.arena import trajectories

    whole = len(decisions_of(store))
    monkeypatch.setattr(trajectories, "_forced", lambda record: {0})
    assert 0 < len(decisions_of(store)) < whole


def test_unknown_agents_and_too_many_decisions_are_refused(store, monkeypatch):
    with pytest.raises(ArenaError, match="has no decisions of 'nobody'; its agents: 'random"):
        decisions_of(store, ["random", "nobody"])
    monkeypatch.setattr("cardenvs.training.decisions._memory", lambda: 20_000)
    with pytest.raises(OptionError, match="lower --most"):
        decisions_of(store)
    assert len(decisions_of(store, most=20)) == 20


def table_with(column, change):
    """The exported table with one column changed."""
    table = pq.read_table("all.parquet")
    values = table[column].to_pylist()
    changed = pa.array(change(values), table.schema.field(column).type)
    return table.set_column(table.schema.get_field_index(column), table.schema.field(column), changed)


@pytest.mark.parametrize(
    ("column", "change", "said"),
    [
        ("action", lambda v: [99, *v[1:]], "an action is not among the legal ones"),
        ("action", lambda v: [-1, *v[1:]], "an action is"),
        ("legal_actions", lambda v: [[], *v[1:]], "its legal actions are not"),
        ("legal_actions", lambda v: [[0, 1, 2, 2], *v[1:]], "its legal actions are not"),
        ("legal_actions", lambda v: [[2**31 - 1], *v[1:]], "its legal actions are not"),
        ("return", lambda v: [float("nan"), *v[1:]], "a number is not finite"),
    ],
)
def test_a_file_that_lies_is_refused(store, column, change, said):
    CliRunner().invoke(app, ["trajectories", str(store), "--out", "all.parquet", "--quiet"])
    pq.write_table(table_with(column, change), "bad.parquet")
    with pytest.raises(FormatError, match=said):
        Decisions.of_parquet(Path("bad.parquet"), LEDUC, ["random"], 100)


# -- learning ---------------------------------------------------------------------------------------------------


def test_deals_are_held_out_whole_whatever_the_match(store):
    decisions = decisions_of(store)
    rows = Cloning(decisions, SMALL, CloneSettings(held_out=0.2))._data.rows
    deals = {name: set(decisions.deal[part.numpy()].tolist()) for name, part in rows.items()}
    assert {name: len(part) for name, part in deals.items()} == {"stopping": 12, "report": 12, "learning": 36}
    assert len(set().union(*deals.values())) == 60
    assert sum(map(len, rows.values())) == len(decisions)


def test_a_fixed_policy_of_a_small_game_is_cloned_almost_exactly(tmp_path):
    solver = Solver(Tree(LEDUC), "cfr+")
    solver.run(5)
    solver.saved().save("leduc.policy")
    spec = "tabular:leduc.policy,sample=false"
    with Store("games.db") as opened:
        play([Match.of("leduc_poker_v0", [spec, "random"], deals=250, seed=1)], opened)
    decisions = Decisions.of_store(Path("games.db"), LEDUC, [spec], 10**5)
    path, found = clone(decisions, Config(hidden=(64,)), tmp_path / "clone", CloneSettings(epochs=40, batch=64))
    assert found.accuracy > 0.93
    assert found.log_likelihood > -0.25 > -0.7 > found.uniform
    clone_agent, model = (make_agent(name, LEDUC, LEDUC.make_options()) for name in (f"ppo:{path}", spec))
    same = []
    for seed in range(150):
        state = LEDUC.new_state(seed=10**6 + seed)
        while not state.is_terminal:
            if state.current_player == seed % 2:
                action = model.act(Turn(state, 0))
                same.append(clone_agent.act(Turn(state, 0)) == action)
            else:
                action = state.policy_action("random", seed)
            state.apply(action)
    assert np.mean(same) > 0.93


@pytest.mark.slow
def test_a_rule_agent_is_cloned_and_the_clone_plays(tmp_path):
    """The agreement holds in games that nobody has learnt from, and the clone is far better than random play."""
    with Store("katko.db") as opened:
        play([Match.of("katko_v0", ["heuristic", "heuristic"], deals=300, seed=1)], opened)
    decisions = Decisions.of_store(Path("katko.db"), KATKO, ["heuristic", "heuristic#2"], 10**5)
    path, found = clone(decisions, Config(hidden=(64,)), tmp_path / "clone", CloneSettings(epochs=9, batch=128))
    assert found.accuracy > 0.8
    assert found.log_likelihood > -0.5 > -0.9 > found.uniform
    agent, same, asked = load_agent(path), 0, 0
    for seed in range(30):
        state = KATKO.new_state(seed=10**6 + seed)
        while not state.is_terminal:
            right = state.policy_action("heuristic", 0)
            if len(state.legal_actions()) > 1:
                same, asked = same + (agent.act(Turn(state, 0)) == right), asked + 1
            state.apply(right)
    assert same / asked == pytest.approx(found.accuracy, abs=0.06)
    returns = {0: 0.0, 1: 0.0}
    with Store() as opened:
        match = Match.of("katko_v0", [f"ppo:{path}", "random"], deals=60, seed=3)
        play([match], opened)
        for record in opened.records(match.id):
            for number, value in zip(record.seating, record.returns, strict=True):
                returns[number] += value
    assert returns[0] > returns[1] + 30


def test_learning_stops_when_the_likelihood_no_longer_rises(store):
    run_ = Cloning(decisions_of(store), SMALL, CloneSettings(epochs=500, patience=2, lr=0.02, batch=32))
    scores = []
    while not run_.is_over:
        scores.append(run_.advance().stopping.log_likelihood)
    assert len(scores) < 500
    assert np.argmax(scores) == len(scores) - 3
    assert run_.agreement("stopping", best=True).log_likelihood == pytest.approx(max(scores))
    assert run_.agreement("stopping").log_likelihood < max(scores)


def test_a_resumed_run_is_that_of_an_uninterrupted_one(store, tmp_path):
    decisions, settings = decisions_of(store), CloneSettings(epochs=4, patience=9)
    whole, agreement = clone(decisions, SMALL, tmp_path / "whole", settings)
    with pytest.raises(KeyboardInterrupt):
        clone(decisions, SMALL, tmp_path / "parts", settings, on_epoch=lambda progress: progress.epoch < 2)
    parts, again = clone(decisions, SMALL, tmp_path / "parts", settings, resume=True)
    assert again == agreement
    one, other = read_checkpoint(whole), read_checkpoint(parts)
    assert all(torch.equal(one["model"][name], other["model"][name]) for name in one["model"])
    assert one["steps"] == other["steps"]
    lines = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "parts")]
    assert lines[0] == lines[1]
    with pytest.raises(OptionError, match="holds a run"):
        clone(decisions, SMALL, tmp_path / "parts", settings)
    with pytest.raises(OptionError, match="other decisions or with other settings"):
        clone(decisions_of(store, most=100), SMALL, tmp_path / "parts", settings, resume=True)
    with pytest.raises(OptionError, match="another network or seed"):
        clone(decisions, SMALL.changed({"hidden": "8"}), tmp_path / "parts", settings, resume=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("epoch", -1), ("epoch", "x"), ("best", float("nan")), ("model", {}), ("optimizer", {"state": {0: {}}}),
     ("optimizer", {}), ("settings", 5)],
)  # fmt: skip
def test_a_damaged_run_is_not_resumed(store, tmp_path, name, value):
    decisions, settings = decisions_of(store), CloneSettings(epochs=1)
    path, _ = clone(decisions, SMALL, tmp_path / "run", settings)
    checkpoint = copy.deepcopy(read_checkpoint(path))
    checkpoint["cloning"][name] = value
    torch.save(checkpoint, path)
    with pytest.raises((FormatError, OptionError)):
        clone(decisions, SMALL, tmp_path / "run", CloneSettings(epochs=2), resume=True)


def test_too_few_deals_are_refused(store):
    decisions = decisions_of(store)
    few = dataclasses.replace(decisions, deal=decisions.deal % 2)
    with pytest.raises(OptionError, match="needs at least 3 deals"):
        Cloning(few, SMALL, CloneSettings())


# -- going on with PPO ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward_scale", [0.0, 0.25])
def test_ppo_begins_with_the_clones_policy_and_values(store, tmp_path, reward_scale):
    decisions = decisions_of(store)
    path, _ = clone(decisions, SMALL, tmp_path / "clone", CloneSettings(epochs=2))
    config = SMALL.changed({"hidden": "8,8", "reward_scale": reward_scale})
    before = read_checkpoint(path)
    seen = []
    train(LEDUC, config, out=tmp_path / "run", total_steps=128, init=path, show=False, threads=1, on_update=seen.append)
    assert read_checkpoint(tmp_path / "run" / "latest.pt")["shape"] == before["shape"]
    begun = Run(LEDUC, config.changed({"hidden": "32", "activation": before["shape"]["activation"]}), start=before)
    observation = torch.from_numpy(decisions.observation[:50])
    agent = load_agent(path)
    with torch.inference_mode():
        logits, values = begun.network(begun.network.features(observation))
        wanted, expected = agent._network(agent._network.features(observation))
    assert logits.numpy() == pytest.approx(wanted.numpy(), abs=1e-4)
    factor = begun.learner.returns.factor
    assert values.numpy() / factor == pytest.approx(expected.numpy() / before["reward_scale"], abs=1e-3)
    assert factor == (reward_scale or before["reward_scale"])


def test_init_takes_what_fits(store, tmp_path):
    path, _ = clone(decisions_of(store), SMALL, tmp_path / "clone", CloneSettings(epochs=1))
    with pytest.raises(FormatError, match="cannot play kuhn_poker_v0"):
        train("kuhn_poker_v0", SMALL, out=tmp_path / "run", init=path, show=False)
    with pytest.raises(OptionError, match=r"method=ppo, whose outputs mean something else"):
        train("leduc_poker_v0", SMALL.changed({"method": "dmc"}), out=tmp_path / "run", init=path, show=False)
    with pytest.raises(FormatError, match="cannot be resumed"):
        resume(path, show=False)


# -- the command ------------------------------------------------------------------------------------------------


def test_the_command_clones_goes_on_and_starts_ppo(store):
    words = ["leduc_poker", "--store", store, "--agent", "random", "--set", "hidden=16", "--threads", "1", "--out", "c"]
    result = run(*words, "--epochs", "2")
    assert result.exit_code == 0, result.output
    assert "policy: c/latest.pt, which plays as ppo:c/latest.pt" in result.stdout
    assert "decisions on held-out deals: " in result.stdout
    assert "epoch   2" in result.stderr
    assert json.loads(Path("c/clone.json").read_text())["epochs"] == 2
    assert "holds a run" in refused(*words, "--epochs", "3", "--quiet")
    assert run(*words, "--epochs", "3", "--resume").exit_code == 0
    assert json.loads(Path("c/clone.json").read_text())["epochs"] == 3
    curves = CliRunner().invoke(app, ["curves", "c", "--metric", "clone/accuracy", "--out", "c.svg"])
    assert curves.exit_code == 0, curves.output
    settings = [x for n in ("num_envs=8", "rollout_steps=8", "final_deals=0") for x in ("--set", n)]
    trained = CliRunner().invoke(
        app,
        ["train", "leduc_poker", "--init", "c/latest.pt", *settings, "--total-steps", "64", "--out", "t", "--quiet"],
    )
    assert trained.exit_code == 0, trained.output
    assert read_checkpoint("t/latest.pt")["shape"]["hidden"] == [16]


def test_what_makes_no_sense_is_refused(store):
    words = ["--agent", "random", "--store", store, "--set"]
    assert "clone does not take --set lr; give --lr" in refused("leduc_poker", *words, "lr=0.5")
    assert "--set method; its settings are hidden" in refused("leduc_poker", *words, "method=dmc")
    assert "give either --store or --parquet" in refused("leduc_poker", "--agent", "random")
    both = ["--store", store, "--parquet", store]
    assert "give either --store or --parquet" in refused("leduc_poker", "--agent", "random", *both)
    assert "has no games of kuhn_poker_v0" in refused("kuhn_poker", "--agent", "random", "--store", store)
    assert "is not a Parquet file" in refused("leduc_poker", "--agent", "random", "--parquet", store)
    assert "--resume resumes the run" in refused("leduc_poker", "--agent", "random", "--store", store, "--resume")
