"""Other forms of AEC environments: flat arrays, other dtypes and keys, lists of legal actions, SuperSuit's wrappers."""

import numpy as np
import pytest
from envs.games import GAMES
from gymnasium.spaces import Box
from pettingzoo.test import api_test

import cardenvs
from cardenvs.core.errors import OptionError
from cardenvs.envs.raw_aec import RawEnv


def both(name, seed, **form):
    """The same game in the default form and in another."""
    envs = cardenvs.make(name), cardenvs.make(name, **form)
    for env in envs:
        env.reset(seed=seed)
    return envs


def positions(plain, other, seed):
    """(agent, the plain environment's mask) of each turn of a random game that is played in both."""
    rng = np.random.default_rng(seed)
    while plain.agents:
        agent = plain.agent_selection
        assert other.agent_selection == agent
        mask = plain.infos[agent]["action_mask"]
        yield agent, mask
        out = plain.terminations[agent] or plain.truncations[agent]
        action = None if out else int(rng.choice(np.flatnonzero(mask)))
        plain.step(action)
        other.step(action)
        assert other.rewards == plain.rewards


@pytest.mark.parametrize("name", GAMES)
def test_flat_arrays_with_the_mask_in_infos(name):
    plain, flat = both(name, 3, observation="box")
    for agent, mask in positions(plain, flat, 3):
        assert isinstance(flat.observation_space(agent), Box)
        for each in plain.agents:
            observation = flat.observe(each)
            assert np.array_equal(observation, plain.observe(each)["observation"])
            assert observation in flat.observation_space(each)
        assert flat.infos[agent]["action_mask"].tolist() == mask.tolist()
        assert not any(flat.infos[each]["action_mask"].any() for each in flat.agents if each != agent)
        assert np.array_equal(flat.last()[0], plain.last()[0]["observation"])


def test_another_dtype_and_other_keys():
    plain, other = both("leduc_poker_v0", 1, observation_dtype="float32", observation_key="obs", mask_key="mask")
    for agent, mask in positions(plain, other, 1):
        observation = other.observe(agent)
        assert set(observation) == set(other.observation_space(agent)) == {"obs", "mask"}
        assert observation in other.observation_space(agent)
        assert observation["obs"].dtype == np.float32
        assert np.array_equal(observation["obs"], plain.observe(agent)["observation"])
        assert observation["mask"].tolist() == other.infos[agent]["mask"].tolist() == mask.tolist()


def test_lists_of_legal_actions_on_demand():
    plain, listed = both("leduc_poker_v0", 2, legal_actions=True)
    for agent, mask in positions(plain, listed, 2):
        assert listed.infos[agent]["legal_actions"] == np.flatnonzero(mask).tolist()
        assert "legal_actions" not in plain.infos[agent]
    env = cardenvs.SeatEnv("leduc_poker_v0", legal_actions=True)
    _, info = env.reset(seed=1)
    assert info["legal_actions"] == np.flatnonzero(info["action_mask"]).tolist()


@pytest.mark.parametrize("form", [{"observation": "box"}, {"observation": "box", "observation_dtype": "float32"}])
def test_pettingzoos_checks_pass(form):
    api_test(cardenvs.make("leduc_poker_v0", **form), num_cycles=200)


@pytest.mark.parametrize("name", GAMES)
def test_a_flat_observation_says_nothing_of_what_is_hidden(name):
    env = RawEnv(name, observation="box", observation_dtype="float32")
    env.reset(seed=5)
    player = env.game_state.current_player
    agent = f"player_{player}"
    twin = RawEnv(name, observation="box", observation_dtype="float32")
    twin.reset(seed=0)
    twin._begin(env.game_state.determinize(player, 9))
    assert twin.game_state.record_bytes() != env.game_state.record_bytes()
    assert np.array_equal(twin.observe(agent), env.observe(agent))
    assert twin.infos[agent]["action_mask"].tolist() == env.infos[agent]["action_mask"].tolist()


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"observation": "tuple"}, "observation takes dict or box; got 'tuple'"),
        ({"observation": None}, "observation takes dict or box"),
        ({"observation_dtype": "uint8"}, "holds int8, such as float32; got 'uint8'"),
        ({"observation_dtype": "nonsense"}, "takes a dtype"),
        ({"observation_key": "action_mask"}, "two different texts"),
        ({"mask_key": 3}, "two different texts"),
    ],
)
def test_a_form_that_makes_no_sense_is_refused(form, message):
    with pytest.raises(OptionError, match=message):
        cardenvs.make("leduc_poker_v0", **form)


SUPERSUIT = {
    "clip_reward_v0": (-1, 1),
    "dtype_v0": (np.float32,),
    "flatten_v0": (),
    "frame_stack_v1": (3,),
    "normalize_obs_v0": (0, 1),
    "reshape_v0": ((6, 6),),
    "sticky_actions_v0": (0.0,),
    "pad_observations_v0": (),
    "pad_action_space_v0": (),
    "nan_noop_v0": (0,),
    "nan_random_v0": (),
    "nan_zeros_v0": (),
    "delay_observations_v0": (1,),
    "max_observation_v0": (2,),
    "reward_lambda_v0": (lambda reward: 2 * reward,),
    "observation_lambda_v0": (lambda observation, _: observation * 2,),
}


@pytest.mark.parametrize("wrapper", SUPERSUIT)
def test_supersuits_wrappers_play_whole_games(wrapper):
    supersuit = pytest.importorskip("supersuit")
    plain = cardenvs.make("leduc_poker_v0", observation="box", observation_dtype="float32")
    env = getattr(supersuit, wrapper)(plain, *SUPERSUIT[wrapper])
    rng = np.random.default_rng(0)
    total = 0.0
    for seed in range(10):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            assert observation in env.observation_space(agent)
            total += reward
            legal = np.flatnonzero(info["action_mask"])
            env.step(None if terminated or truncated else int(rng.choice(legal)))
    assert total == 0
