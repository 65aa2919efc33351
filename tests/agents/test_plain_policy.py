"""Trained policies without torch choose what they choose with it."""

import numpy as np
import pytest

from cardenvs.agents import zoo
from cardenvs.agents.base import Turn
from cardenvs.agents.plain_policy import PlainPolicy, read_weights
from cardenvs.agents.specs import load_agent
from cardenvs.agents.zoo import parameters_of, weights_file, zoo_names
from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game

DECISIONS = 12
BET = 2


@pytest.mark.rotating
@pytest.mark.parametrize("name", zoo_names())
def test_a_policy_of_the_zoo_is_the_same_with_and_without_torch(name):
    pytest.importorskip("torch")
    game = get_game(name.partition("/")[0])
    options = game.make_options(**read_weights(weights_file(name))[0]["options"])
    plain = PlainPolicy(weights_file(name), game, options, **parameters_of(name))
    other = load_agent(f"zoo:{name}", game, options)
    state = game.new_state(seed=3, **options.as_dict())
    for seed in range(DECISIONS):
        if state.is_terminal:
            break
        mine, theirs = Turn(state, seed), Turn(state, seed)
        action = other.act(theirs)
        assert plain.act(mine) == action
        assert mine.notes == theirs.notes
        state.apply(action)


@pytest.mark.parametrize("threshold", [0.0, 0.1])
def test_draws_are_the_same_with_and_without_torch(threshold):
    pytest.importorskip("torch")
    name, game = "leduc_poker_v0/magnet", get_game("leduc_poker_v0")
    options = game.make_options()
    plain = PlainPolicy(weights_file(name), game, options, sample=True, threshold=threshold)
    other = load_agent(f"zoo:{name},sample=true,threshold={threshold}", game, options)
    state = game.new_state(seed=3)
    state.apply(BET)  # fold at 8%, call or raise
    chosen = [(plain.act(Turn(state, seed)), other.act(Turn(state, seed))) for seed in range(200)]
    assert all(mine == theirs for mine, theirs in chosen)
    assert {mine for mine, _ in chosen} == ({0, 1, 2} if threshold == 0 else {1, 2})


def test_without_torch_the_zoo_plays_in_numpy(monkeypatch):
    monkeypatch.setattr(zoo, "find_spec", lambda name: None)
    game = get_game("leduc_poker_v0")
    agent = load_agent("zoo:leduc_poker_v0", game, game.make_options())
    assert isinstance(agent, PlainPolicy)
    state = game.new_state(seed=1)
    assert agent.act(Turn(state, 2)) in state.legal_actions()


def test_a_policy_refuses_options_with_other_observations():
    game = get_game("leduc_poker_v0")
    with pytest.raises(FormatError, match="other options"):
        PlainPolicy(weights_file("leduc_poker_v0/magnet"), game, game.make_options(num_players=3))


def test_weights_are_read_as_they_were_written():
    safetensors = pytest.importorskip("safetensors.numpy")
    path = weights_file("leduc_poker_v0/magnet")
    for name, values in safetensors.load_file(path).items():
        np.testing.assert_array_equal(read_weights(path)[1][name], values.astype(np.float64))
