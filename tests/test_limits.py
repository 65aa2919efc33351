"""The C programs beside which the benchmark measures play the same games."""

import numpy as np
import pytest

import cardenvs
from benchmarks import limits
from benchmarks.limits import Limit, NoLimitError

NUM_ENVS = 64
STEPS = {"gin_rummy_v0": 600}  # longer games


@pytest.fixture(params=limits.GAMES)
def pair(request):
    """Our environments and the C program's, in the same positions."""
    try:
        limit = Limit(request.param, NUM_ENVS)
    except NoLimitError as error:
        pytest.skip(str(error))
    vec = cardenvs.make_vec(request.param, num_envs=NUM_ENVS, seed=3, num_threads=1)
    vec.reset()
    for env in range(NUM_ENVS):
        limit.place(env, dealt(vec, env, limit.num_cards))
    return vec, limit


def dealt(vec, env, num_cards):
    """The cards of an environment at its start, in dealing order."""
    record = vec.state(env).record
    cards = record["deck"].reshape(-1)[:num_cards].copy()
    if vec.game.name == "gin_rummy_v0":  # what is dealt has left the deck
        hands = [card for hand in record["hands"] for card in range(52) if int(hand) >> card & 1]
        cards[:21] = [*hands, record["discard_pile"][0]]
    return cards


def assert_same_position(vec, limit):
    for name in ("observation", "action_mask", "current_player"):
        np.testing.assert_array_equal(getattr(vec.batch, name), getattr(limit, name), err_msg=name)


def test_the_limit_plays_the_same_game(pair):
    vec, limit = pair
    assert_same_position(vec, limit)
    episodes, results = 0, set()
    policies = vec.game.engine.policy_names()
    for step in range(STEPS.get(vec.game.name, 60)):
        limit.sample_actions()
        if "heuristic" in policies and step % 4:  # who knocks, as random play hardly does
            limit.actions[::2] = vec.policy_actions("heuristic", np.arange(0, NUM_ENVS, 2), 1, step)
        limit.step()
        batch = vec.step(limit.actions)
        np.testing.assert_array_equal(batch.terminated, limit.terminated)
        np.testing.assert_array_equal(batch.reward, limit.reward)
        for env in np.flatnonzero(batch.terminated):
            limit.place(env, dealt(vec, env, limit.num_cards))
        assert_same_position(vec, limit)
        episodes += int(batch.terminated.sum())
        results.update(batch.reward[batch.terminated, 0].tolist())
    assert episodes > 500
    assert len(results) > (100 if vec.game.name == "gin_rummy_v0" else 2)  # knocks, gins, undercuts, void hands


def test_the_limit_deals_and_samples_uniformly(pair):
    _, limit = pair
    limit.reset()
    own_cards, actions = np.zeros(limit.observation.shape[1]), np.zeros(limit.action_mask.shape[1])
    for _ in range(400):
        limit.sample_actions()
        assert limit.action_mask[np.arange(NUM_ENVS), limit.actions].all()
        np.add.at(actions, limit.actions, 1)
        limit.step()
        own_cards += limit.observation[limit.terminated].sum(axis=0)
    own_cards = own_cards[: limit.num_ranks]  # the observation's first section
    assert np.abs(own_cards / own_cards.sum() - 1 / limit.num_ranks).max() < 0.02
    if actions.size < 10:
        assert actions.min() > 0.1 * actions.sum()
    else:
        assert actions[:55].min() > 0  # discards, both draws and a pass; knocks are rare


def test_without_a_compiler_the_reason_is_given(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    with pytest.raises(NoLimitError, match=r"no C compiler for kuhn\.c"):
        Limit("kuhn_poker_v0", 1)


def test_a_compiler_that_fails_is_quoted(monkeypatch, tmp_path):
    failing = tmp_path / "cc"
    failing.write_text("#!/bin/sh\necho out of cheese >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("CC", str(failing))
    with pytest.raises(NoLimitError, match="failed: out of cheese"):
        Limit("kuhn_poker_v0", 1)
