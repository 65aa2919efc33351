"""`gymnasium.make` and `gymnasium.make_vec`: one seat of every game, alone and in batches."""

import copy
import re
import warnings

import gymnasium
import numpy as np
import pytest
from games import GAMES
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, TransformReward

import cardenvs
from cardenvs.core.errors import AgentError, IllegalActionError, OptionError, PolicyNotFoundError
from cardenvs.core.registry import game_targets
from cardenvs.envs import register_with_gymnasium
from cardenvs.envs.seat_vector import SeatVectorEnv
from cardenvs.envs.single import SeatEnv

NAMES = [name for name in GAMES if game_targets()[name].startswith("cardenvs.")]


def id_of(name):
    return f"cardenvs/{re.sub('_v(?=[0-9]+$)', '-v', name)}"


def choices(infos, rng):
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])


# ---------------------------------------------------------------------------------------------------------------
# One game


def test_every_game_is_registered_once():
    register_with_gymnasium()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_with_gymnasium()
    for name, target in game_targets().items():
        if target.startswith("cardenvs."):
            assert id_of(name) in gymnasium.registry
    assert gymnasium.spec("cardenvs/GinRummy-v0").kwargs == gymnasium.spec("cardenvs/gin_rummy-v0").kwargs
    assert gymnasium.spec("cardenvs/OnePlayerPoker-v0").kwargs == {"game": "one_player_poker_v0"}


@pytest.mark.parametrize("name", NAMES)
def test_make_gives_a_seat_that_passes_gymnasiums_check(name):
    env = gymnasium.make(id_of(name))
    assert type(env.unwrapped) is SeatEnv
    assert env.unwrapped.illegal_reward == env.unwrapped.game.returns(env.unwrapped.options).low
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)


def test_arguments_and_options_are_passed_on():
    env = gymnasium.make("cardenvs/leduc_poker-v0", seat="rotate", opponents="random", num_players=3, ante=2)
    assert env.unwrapped.options.num_players == 3
    assert gymnasium.make("cardenvs/kuhn_poker-v0", illegal_reward=None).unwrapped.illegal_reward is None
    with pytest.raises(OptionError, match="no_such"):
        gymnasium.make("cardenvs/leduc_poker-v0", no_such=1)


def test_masks_pass_through_wrappers():
    env = TransformReward(FlattenObservation(gymnasium.make("cardenvs/leduc_poker-v0")), lambda reward: reward / 13)
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        assert info["action_mask"].tolist() == env.unwrapped.action_masks().tolist()
        observation, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert observation in env.observation_space
        over = terminated or truncated


def test_gymnasiums_own_vector_of_single_games():
    envs = gymnasium.make_vec("cardenvs/leduc_poker-v0", num_envs=3, vectorization_mode="sync", opponents="random")
    assert isinstance(envs, SyncVectorEnv)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=1)
    for _ in range(50):
        legal = [np.flatnonzero(mask) for mask in infos["action_mask"]]
        *_, infos = envs.step(np.array([rng.choice(row) if len(row) else 0 for row in legal]))


# ---------------------------------------------------------------------------------------------------------------
# A batch


def made(name, n=4, **arguments):
    return gymnasium.make_vec(id_of(name), num_envs=n, opponents="random", **arguments)


@pytest.mark.parametrize("name", NAMES)
def test_spaces_of_a_batch(name):
    envs = made(name)
    assert type(envs.unwrapped) is SeatVectorEnv
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    single = SeatEnv(name)
    assert envs.single_observation_space == single.observation_space
    assert envs.single_action_space == single.action_space == Discrete(envs.single_action_space.n)
    assert isinstance(envs.observation_space, Box)
    assert isinstance(envs.action_space, MultiDiscrete)
    observations, infos = envs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert observations in envs.observation_space
        actions = choices(infos, rng)
        assert actions in envs.action_space
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert rewards.shape == terminations.shape == truncations.shape == (4,)
    envs.close()


@pytest.mark.parametrize(
    ("name", "seat"), [("leduc_poker_v0", "rotate"), ("leduc_poker_v0", 1), ("kuhn_poker_v0", "random")]
)
def test_rewards_reach_the_right_seat(name, seat):
    """What the seat gets over an episode is its return in the game, whoever acts and wherever it sits."""
    envs = made(name, 8, seat=seat)
    rng = np.random.default_rng(1)
    _, infos = envs.reset(seed=5)
    sums, seen = np.zeros(8), 0
    for _ in range(200):
        seats = envs.unwrapped.games.seats.copy()
        _, rewards, terminations, _, infos = envs.step(choices(infos, rng))
        sums += rewards
        for env in np.flatnonzero(terminations):
            final = infos["final_info"]
            assert final["returns"][env] == sums[env]
            assert final["player"][env] == seats[env]
            assert not isinstance(seat, int) or seats[env] == seat
            assert infos["final_obs"][env].shape == envs.single_observation_space.shape
            assert infos["_final_obs"][env]
            sums[env] = 0
            seen += 1
    assert seen > 100


def test_a_batch_gives_what_single_games_give():
    """The same deals, seats and actions in a batch and in SeatEnv: the same observations, masks and rewards."""
    envs = made("leduc_poker_v0", 1, seat=0)
    rng = np.random.default_rng(2)
    observations, infos = envs.reset(seed=9)
    games = 0
    while games < 30:
        vec = envs.unwrapped.games.vec
        state = vec.state(0)
        assert np.array_equal(observations[0], state.observation(0))
        assert np.flatnonzero(infos["action_mask"][0]).tolist() == state.legal_actions()
        assert state.current_player == 0
        observations, _, terminations, _, infos = envs.step(choices(infos, rng))
        games += int(terminations[0])


def test_the_same_seed_plays_the_same_and_arrays_are_the_callers():
    runs = []
    for _ in range(2):
        envs = made("gin_rummy_v0", 3, seat="random")
        rng = np.random.default_rng(0)
        observations, infos = envs.reset(seed=4)
        kept = [(observations, observations.copy())]
        trace = []
        for _ in range(60):
            observations, rewards, terminations, _, infos = envs.step(choices(infos, rng))
            kept.append((observations, observations.copy()))
            trace.append(
                (observations.tolist(), rewards.tolist(), terminations.tolist(), infos["action_mask"].tolist())
            )
        assert all(np.array_equal(array, copied) for array, copied in kept)
        runs.append(trace)
    assert runs[0] == runs[1]
    twin = copy.copy(envs.unwrapped)
    actions = choices(infos, rng)
    assert np.array_equal(twin.step(actions)[0], envs.step(actions)[0])


@pytest.mark.parametrize("name", ["leduc_poker_v0", "gin_rummy_v0"])
def test_a_batch_says_nothing_of_what_is_hidden(name):
    """Observation, mask and infos of a batch are functions of what the seat may know."""
    envs = made(name, 2, seat=0)
    rng = np.random.default_rng(3)
    observations, infos = envs.reset(seed=2)
    for ply in range(12):
        for env in range(2):
            state = envs.unwrapped.games.vec.state(env)
            twin = state.determinize(0, ply)
            assert np.array_equal(observations[env], twin.observation(0))
            assert np.flatnonzero(infos["action_mask"][env]).tolist() == twin.legal_actions()
        assert set(infos) <= {
            "action_mask", "player", "final_obs", "final_info", "skipped_returns", "_action_mask", "_player",
            "_final_obs", "_final_info", "_skipped_returns",
        }  # fmt: skip
        observations, *_, infos = envs.step(choices(infos, rng))


def test_wrong_use_of_a_batch_is_said():
    envs = made("leduc_poker_v0", 2)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step"):
        envs.unwrapped.step(np.zeros(2, int))
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before action_masks"):
        envs.unwrapped.action_masks()
    with pytest.raises(ValueError, match="one seed for all environments"):
        envs.reset(seed=[1, 2])
    _, infos = envs.reset(seed=1)
    wrong = np.array([np.argmin(mask) for mask in infos["action_mask"]])
    with pytest.raises(IllegalActionError, match="environment 0"):
        envs.step(wrong)
    with pytest.raises(PolicyNotFoundError, match="nobody"):
        SeatVectorEnv("leduc_poker_v0", 2, opponents="nobody")
    with pytest.raises(AgentError, match="needs 1 opponents"):
        SeatVectorEnv("leduc_poker_v0", 2, opponents=["random", "random"])


def test_ids_are_registered_by_importing_cardenvs():
    assert cardenvs.list_games()
    assert gymnasium.spec("cardenvs/gin_rummy-v0").kwargs == {"game": "gin_rummy_v0"}


@pytest.mark.parametrize("name", ["kuhn_poker_v0", "gin_rummy_v0", "texas_holdem_v0"])
def test_a_batch_has_the_spaces_of_a_gymnasium_vector_environment(name):
    vec = cardenvs.make_vec(name, num_envs=3, seed=1)
    theirs = SeatVectorEnv(name, num_envs=3)
    for space in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(vec, space) == getattr(theirs, space), space
        assert getattr(vec, space) is getattr(vec, space)
    batch = vec.reset()
    for _ in range(20):
        assert vec.observation_space.contains(batch.observation)
        assert vec.single_observation_space.contains(batch.observation[0])
        actions = vec.sample_actions()
        assert all(vec.single_action_space.contains(action) for action in actions)
        assert vec.action_space.sample().shape == actions.shape
        batch = vec.step(actions)
    assert copy.deepcopy(vec).observation_space == vec.observation_space


def test_the_seed_of_the_constructor_is_that_of_the_first_reset():
    def deals(**arguments):
        envs = SeatVectorEnv("leduc_poker_v0", num_envs=3, **arguments)
        found = []
        for _ in range(2):
            envs.reset()
            found.append(envs.games.vec.batch.episode_seed.tolist())
        return found

    first, again, other = deals(seed=5), deals(seed=5), deals()
    assert first == again != other
    assert first[0] != first[1]
    envs = SeatVectorEnv("leduc_poker_v0", num_envs=3, seed=5)
    envs.reset(seed=6)
    assert envs.games.vec.batch.episode_seed.tolist() != first[0]
    with pytest.raises(ValueError, match="a seed is an integer"):
        SeatVectorEnv("leduc_poker_v0", num_envs=3, seed=-1)


def test_nobody_plays_for_a_batched_opponent_who_failed():
    failing = False

    def opponent(observation, mask, legal, number):
        return np.full(len(legal), 99) if failing else legal[:, 0]

    envs = SeatVectorEnv("leduc_poker_v0", num_envs=4, opponents=opponent)
    _, infos = envs.reset(seed=1)
    failing = True
    with pytest.raises(AgentError):
        envs.step(infos["action_mask"].argmax(1))
    records = envs.games.vec.copy_records()
    with pytest.raises(gymnasium.error.ResetNeeded, match="an opponent failed"):
        envs.step(infos["action_mask"].argmax(1))
    assert envs.games.vec.copy_records().tobytes() == records.tobytes()
    failing = False
    _, infos = envs.reset(seed=1)
    envs.step(infos["action_mask"].argmax(1))
