"""Texas hold'em in batches: with betting="full" raises are amounts, shown by their bounds."""

import numpy as np
import pytest

import cardenvs
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.envs.sb3 import SeatVecEnv

FULL = {"betting": "full", "format": "cash", "num_players": 3}


def test_bounds_stand_for_the_ids_of_raises():
    vec = cardenvs.make_vec("texas_holdem_v0", 200, seed=3, **FULL)
    batch, raised = vec.reset(), 0
    assert batch.action_mask.shape == batch.legal_actions.shape == (200, 2)
    for _ in range(12):
        for env in range(0, 200, 20):
            options = vec.state(env).legal_options()
            low, high = options.min_raise_to, options.max_raise_to
            assert (batch.amount_min[env], batch.amount_max[env]) == ((0, -1) if low is None else (low, high))
        actions = vec.sample_actions()
        raised += int((actions > vec.amount_zero).sum())
        batch = vec.step(actions)
    assert raised > 1000  # one of thousands of amounts is drawn more often than fold or call


def test_amounts_are_drawn_uniformly():
    vec = cardenvs.make_vec("texas_holdem_v0", 20_000, seed=0, **FULL, starting_stack=50)
    batch = vec.reset()
    choices = 2 + batch.amount_max[0] - batch.amount_min[0] + 1
    counts = np.bincount(vec.sample_actions(), minlength=52)
    expected = 20_000 / choices
    assert (np.abs(counts[counts > 0] - expected) < 6 * expected**0.5).all()
    assert (counts > 0).sum() == choices


@pytest.mark.parametrize("beyond", [-1, 1])
def test_an_amount_beyond_the_bounds_is_refused(beyond):
    vec = cardenvs.make_vec("texas_holdem_v0", 4, seed=3, **FULL)
    batch = vec.reset()
    actions = vec.amount_zero + (batch.amount_min if beyond < 0 else batch.amount_max)
    actions[2] += beyond
    with pytest.raises(IllegalActionError, match="environment 2"):
        vec.step(actions)
    actions[2] -= beyond
    vec.step(actions)


def test_policies_and_who_needs_lists():
    vec = cardenvs.make_vec("texas_holdem_v0", 50, seed=3, **FULL)
    vec.reset()
    actions = vec.policy_actions("random", np.arange(50), seed=1, step=0)
    assert (actions > vec.amount_zero).sum() > 25
    assert actions.tolist() == vec.policy_actions("random", np.arange(50), seed=1, step=0).tolist()
    vec.step(actions)
    with pytest.raises(OptionError, match=r"Stable-Baselines3 .* amounts are actions"):
        SeatVecEnv("texas_holdem_v0", 2, **FULL)
