"""Policies as files of weights, and those that come with cardenvs."""

import json
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch
from agents.untrained import untrained
from safetensors.torch import save_file

from cardenvs.agents import ppo
from cardenvs.agents.checkpoint_file import WEIGHTS_FORMAT, read_checkpoint, write_weights
from cardenvs.agents.network import log_policy
from cardenvs.agents.ppo import load_agent
from cardenvs.agents.specs import make_agent
from cardenvs.agents.zoo import weights_file, zoo_names
from cardenvs.cli import app
from cardenvs.core.errors import AgentError, FormatError
from cardenvs.core.registry import get_game

GAME = get_game("kuhn_poker_v0")
OPTIONS = GAME.make_options()
MOST_BYTES = 2_000_000  # compressed, as in a wheel


def checkpoint(width=8):
    return untrained(GAME, hidden=(width,))


def log_probs(agent):
    state = GAME.new_state(seed=3)
    player = state.current_player
    return agent.log_probs(state.observation(player)[None], state.action_mask(player)[None])


def test_weights_play_like_the_checkpoint_they_were_written_from(tmp_path):
    made = checkpoint()
    for precision, tolerance in (("float32", 0), ("float16", 1e-3)):
        path = tmp_path / f"{precision}.safetensors"
        write_weights(made, path, precision)
        read = read_checkpoint(path)
        for name, tensor in made["model"].items():
            np.testing.assert_allclose(read["model"][name], tensor, atol=tolerance)
        agent = load_agent(path, GAME, OPTIONS)
        assert agent.steps == 7
        assert read["reward_scale"] == 0.5
        assert log_probs(agent).shape == (1, 2)


def test_a_policy_is_always_the_same_file(tmp_path):
    files = set()
    for k in range(20):
        write_weights(checkpoint(), tmp_path / f"{k}.safetensors")
        files.add((tmp_path / f"{k}.safetensors").read_bytes())
    assert len(files) == 1


def test_half_precision_halves_the_file(tmp_path):
    sizes = {}
    for precision in ("float16", "float32"):
        path = tmp_path / f"{precision}.safetensors"
        write_weights(checkpoint(256), path, precision)
        sizes[precision] = path.stat().st_size
    assert sizes["float16"] < 0.6 * sizes["float32"]


def test_weights_that_a_precision_cannot_hold_are_refused(tmp_path):
    made = checkpoint()
    made["model"]["value.bias"] += 1e6
    with pytest.raises(FormatError, match="use float32"):
        write_weights(made, tmp_path / "large.safetensors")
    assert not (tmp_path / "large.safetensors").exists()


def described(**changes):
    fields = {name: value for name, value in checkpoint().items() if name != "model"}
    return {"format": WEIGHTS_FORMAT, "policy": json.dumps(fields | changes)}


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({}, "does not hold a policy"),
        ({"format": WEIGHTS_FORMAT}, "its description of the policy cannot be read"),
        ({"format": WEIGHTS_FORMAT, "policy": "{" * 5000}, "its description of the policy cannot be read"),
        ({"format": WEIGHTS_FORMAT, "policy": "[]"}, "its description of the policy cannot be read"),
        (described(steps=-1), "steps is -1"),
        (described(reward_scale=0), "its reward_scale is 0"),
        (described(shape={}), "shape needs observation_size"),
        (described(extra=1), "its description of the policy cannot be read"),
        (described(options={"a": {}}), "options has 'a'"),
    ],
)
def test_files_with_a_wrong_description_are_refused(tmp_path, about, reason):
    path = tmp_path / "wrong.safetensors"
    save_file(checkpoint()["model"], path, about)
    with pytest.raises(FormatError, match=reason):
        read_checkpoint(path)


@pytest.mark.parametrize("broken", ["empty", "cut", "text", "shape"])
def test_damaged_files_are_refused(tmp_path, broken):
    path = tmp_path / "damaged.safetensors"
    made = checkpoint()
    if broken == "shape":
        made["shape"] = {**made["shape"], "hidden": [9]}
    write_weights(made, path)
    data = path.read_bytes()
    path.write_bytes({"empty": b"", "cut": data[:-20], "text": b"weights" * 40, "shape": data}[broken])
    with pytest.raises(FormatError, match="damaged"):
        load_agent(path)


def test_a_policy_of_another_game_is_refused(tmp_path):
    path = tmp_path / "kuhn.safetensors"
    write_weights(checkpoint(), path)
    other = get_game("leduc_poker_v0")
    with pytest.raises(FormatError, match="was trained on kuhn_poker_v0"):
        load_agent(path, other, other.make_options())


def test_packing_from_the_command_line(tmp_path):
    source = tmp_path / "latest.pt"
    torch.save({"format": "cardenvs-ppo-1", **checkpoint()}, source)
    runner = CliRunner()
    done = runner.invoke(app, ["zoo", "pack", str(source), str(tmp_path / "mine.safetensors")])
    assert done.exit_code == 0, done.output
    assert make_agent(f"ppo:{tmp_path / 'mine.safetensors'}", GAME, OPTIONS)
    wrong = runner.invoke(app, ["zoo", "pack", str(source), str(tmp_path / "mine.bin")])
    assert wrong.exit_code != 0
    assert "should end in .safetensors" in wrong.output


@pytest.mark.parametrize(
    "name",
    ["", "../agents/ppo", "kuhn_poker_v0/", "texas_holdem_v0", "kuhn_poker_v0/../../secret", "/etc/passwd", "a/b"],
)
def test_names_never_become_paths(name):
    with pytest.raises(AgentError):
        make_agent(f"zoo:{name}", GAME, OPTIONS)


@pytest.mark.parametrize("name", zoo_names())
def test_policies_are_small(name):
    assert len(zlib.compress(weights_file(name).read_bytes(), 1)) < MOST_BYTES


def test_networks_in_threads_do_not_change_the_number_of_threads_while_another_computes(tmp_path, monkeypatch):
    def slow_policy(*arguments):
        time.sleep(0.05)
        return log_policy(*arguments)

    write_weights(checkpoint(), tmp_path / "one.safetensors")
    set_to = []
    monkeypatch.setattr(ppo, "log_policy", slow_policy)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(log_probs, [load_agent(tmp_path / "one.safetensors") for _ in range(4)]))
    assert set_to == [1, 3] * 4
