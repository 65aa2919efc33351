"""The Stable-Baselines3 face, and MaskablePPO on it and on SeatEnv."""

import random
from collections import Counter

import gymnasium
import numpy as np
import pytest
from games import ELIMINATION, GAMES
from toys import prize

from cardenvs.core.errors import AgentError, IllegalActionError, OptionError, PolicyNotFoundError
from cardenvs.core.registry import get_game, register_game
from cardenvs.envs.single import SeatEnv

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
sb3_contrib = pytest.importorskip("sb3_contrib")

from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize  # noqa: E402

from cardenvs.envs.sb3 import SeatVecEnv  # noqa: E402

every_game = pytest.mark.parametrize("name", GAMES)

register_game(prize.GAME.name, "toys.prize:GAME")


def first_of_each(observation, action_mask, legal_actions, num_legal):
    return legal_actions[:, 0]


def last_of_each(observation, action_mask, legal_actions, num_legal):
    return legal_actions[np.arange(len(num_legal)), num_legal - 1]


def by_observation(observation, action_mask, legal_actions, num_legal):
    choice = observation.astype(np.int64).sum(1) % num_legal
    return legal_actions[np.arange(len(num_legal)), choice]


def by_turn(turn):
    """`by_observation` for SeatEnv."""
    return turn.legal_actions[int(turn.observation.astype(np.int64).sum()) % len(turn.legal_actions)]


def random_actions(env, rng):
    return np.array([rng.choice(np.flatnonzero(row).tolist()) for row in env.action_masks()])


# -- against SeatEnv --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *[(name, {}) for name in GAMES],
        ("leduc_poker_v0", {"num_players": 3}),
        ("leduc_poker_v0", {"max_plies": 3}),
        (ELIMINATION.name, {"num_players": 4}),
    ],
    ids=str,
)
@pytest.mark.parametrize("seat", [0, 1, "random", "rotate"])
def test_it_gives_what_seat_env_gives(name, options, seat):
    rng = random.Random(1)
    env = SeatVecEnv(name, 5, seat, by_observation, seed=3, **options)
    observations = env.reset()
    twins, counted = [None] * 5, Counter()

    def follow(i):
        """A SeatEnv in the game that environment i has just dealt."""
        twins[i] = SeatEnv(name, int(env.seats[i]), by_turn, **options)
        observation, info = twins[i].reset(seed=env.vec.state(i).seed)
        assert info["skipped_returns"] == []
        assert observation.tolist() == observations[i].tolist()

    for i in range(5):
        follow(i)
    for _ in range(60):
        masks = np.stack(env.env_method("action_masks"))
        assert masks.tolist() == [twin.action_masks().tolist() for twin in twins]
        actions = random_actions(env, rng)
        observations, rewards, dones, infos = env.step(actions)
        assert rewards.dtype == np.float32
        assert dones.dtype == np.bool_
        assert observations.dtype == env.observation_space.dtype
        for i, twin in enumerate(twins):
            observation, reward, terminated, truncated, info = twin.step(actions[i])
            assert rewards[i] == reward
            assert dones[i] == (terminated or truncated)
            assert infos[i]["TimeLimit.truncated"] == truncated
            if dones[i]:
                assert infos[i]["terminal_observation"].tolist() == observation.tolist()
                assert infos[i]["player"] == info["player"]
                assert infos[i]["episode"]["r"] == info["returns"][info["player"]]
                counted["truncated" if truncated else "terminated", info["player"]] += 1
                follow(i)
            else:
                assert observations[i].tolist() == observation.tolist()
                assert "terminal_observation" not in infos[i]
    players = {seat} if isinstance(seat, int) else set(range(env.vec.num_players))
    assert {player for _, player in counted} == players
    assert ("truncated" in {kind for kind, _ in counted}) == ("max_plies" in options)


def test_rotation_begins_at_different_seats_and_takes_each_in_turn():
    env = SeatVecEnv("kuhn_poker_v0", 4, "rotate")
    env.reset()
    assert env.seats.tolist() == [0, 1, 0, 1]
    players = [[] for _ in range(4)]
    for _ in range(30):
        _, _, _, infos = env.step(random_actions(env, random.Random(0)))
        for i, info in enumerate(infos):
            players[i] += [info["player"]] if "player" in info else []
    for i, seats in enumerate(players):
        assert seats == [(i + k) % 2 for k in range(len(seats))]


def test_games_without_a_turn_of_the_seat_count_in_its_returns():
    chooser = np.random.default_rng(0)

    def ends_half_of_the_games(observation, action_mask, legal_actions, num_legal):
        return chooser.integers(2, size=len(observation))

    env = SeatVecEnv(prize.GAME.name, 8, 1, ends_half_of_the_games, seed=1)
    env.reset()
    skipped = [value for info in env.reset_infos for value in info.get("skipped_returns", [])]
    ended = []
    for _ in range(50):
        _, _, dones, infos = env.step(random_actions(env, random.Random(2)))
        for done, info in zip(dones, infos, strict=True):
            skipped += info.get("skipped_returns", [])
            ended += [info["episode"]["r"]] if done else []
    assert len(skipped) > 5
    assert set(skipped) == {-1.0}
    assert len(ended) > 100
    assert sorted(env.take_returns()) == sorted(ended + skipped)
    assert env.take_returns() == []


def test_a_seat_that_never_gets_a_turn_is_reported():
    env = SeatVecEnv(prize.GAME.name, 2, 1, lambda observation, *_: np.ones(len(observation), int))
    with pytest.raises(RuntimeError, match="prize_v0: 1000 deals in a row ended before player_1's turn"):
        env.reset()


# -- opponents, seeds, errors -----------------------------------------------------------------------------------


@every_game
def test_policies_play_by_name(name):
    for policy in get_game(name).engine.policy_names():
        env = SeatVecEnv(name, 16, "rotate", policy, seed=1)
        env.reset()
        rng = random.Random(0)
        for _ in range(30):
            env.step(random_actions(env, rng))
        assert len(set(env.take_returns())) > 1


def test_a_list_seats_opponents_from_the_seats_left_on():
    asked = {0: set(), 1: set()}

    def watched(k):
        def opponent(observation, action_mask, legal_actions, num_legal):
            to_act = env.vec.batch.current_player
            rows = np.flatnonzero((to_act - env.seats) % 3 == k + 1)
            assert env.vec.batch.observation[rows].tolist() == observation.tolist()
            assert env.vec.batch.action_mask[rows].tolist() == action_mask.tolist()
            asked[k] |= set(zip(env.seats[rows].tolist(), to_act[rows].tolist(), strict=True))
            return legal_actions[:, 0]

        return opponent

    env = SeatVecEnv("leduc_poker_v0", 6, "rotate", [watched(0), watched(1)], num_players=3)
    env.reset()
    for _ in range(40):
        env.step(random_actions(env, random.Random(0)))
    assert asked[0] == {(0, 1), (1, 2), (2, 0)}
    assert asked[1] == {(0, 2), (1, 0), (2, 1)}


def test_a_seed_decides_all_that_follows():
    def trace(constructor_seed, seed=None, resets=1):
        env = SeatVecEnv("leduc_poker_v0", 8, "random", "random", seed=constructor_seed)
        if seed is not None:
            env.seed(seed)
        for _ in range(resets):
            observations = env.reset()
        rng = random.Random(0)
        steps = [env.step(random_actions(env, rng))[:2] for _ in range(20)]
        return [observations.tolist(), *[(o.tolist(), r.tolist()) for o, r in steps]]

    assert trace(1) == trace(1)
    assert trace(1) != trace(2)
    assert trace(1, seed=5) == trace(2, seed=5) == trace(5)
    assert trace(1, resets=2) == trace(1, resets=2)
    assert trace(1, resets=2) != trace(1)


def test_an_illegal_action_is_refused_and_changes_nothing():
    env = SeatVecEnv("leduc_poker_v0", 4, 0, last_of_each)
    env.reset()
    before = [env.vec.state(i).record_bytes() for i in range(4)]
    for wrong, message in ((0, "environment 2: .*may not fold"), (3, "environment 2"), (-1, "environment 2.*negative")):
        with pytest.raises(IllegalActionError, match=message):
            env.step(np.array([1, 1, wrong, 1]))
    with pytest.raises(ValueError, match="actions must be 4 integers"):
        env.step(np.array([1.0, 1, 1, 1]))
    assert before == [env.vec.state(i).record_bytes() for i in range(4)]
    env.step(np.array([1, 1, 1, 1]))


@pytest.mark.parametrize("wrong", [0, -1, 7])
def test_an_illegal_choice_of_an_opponent_is_its_error(wrong):
    env = SeatVecEnv("leduc_poker_v0", 4, 1, lambda o, m, legal, n: np.full(len(n), wrong))
    with pytest.raises(AgentError, match="an opponent"):
        env.reset()


def test_arguments_are_checked():
    with pytest.raises(PolicyNotFoundError, match="kuhn_poker_v0"):
        SeatVecEnv("kuhn_poker_v0", 2, opponents="nobody")
    with pytest.raises(AgentError, match="function of arrays; got 3"):
        SeatVecEnv("kuhn_poker_v0", 2, opponents=3)
    with pytest.raises(AgentError, match="needs 1 opponents; got 2"):
        SeatVecEnv("kuhn_poker_v0", 2, opponents=["random", "random"])
    with pytest.raises(OptionError, match=r"kuhn_poker_v0: .*seat"):
        SeatVecEnv("kuhn_poker_v0", 2, "first")
    with pytest.raises(OptionError, match=r"kuhn_poker_v0: .*colour"):
        SeatVecEnv("kuhn_poker_v0", 2, colour=1)


def test_the_interface_of_a_vec_env():
    env = SeatVecEnv("kuhn_poker_v0", 3)
    env.reset()
    assert env.has_attr("action_masks")
    assert not env.has_attr("missing")
    assert env.get_attr("render_mode", [0, 2]) == [None, None]
    assert env.env_is_wrapped(VecMonitor) == [False] * 3
    assert len(env.env_method("action_masks", indices=[1])) == 1
    with pytest.raises(AttributeError, match="single environments"):
        env.env_method("render")
    with pytest.raises(AttributeError, match="not separate objects"):
        env.set_attr("x", 1)
    wrapped = VecNormalize(VecMonitor(env), norm_obs=False)
    wrapped.reset()
    for _ in range(5):
        wrapped.step(random_actions(env, random.Random(0)))
    wrapped.close()


# -- MaskablePPO ------------------------------------------------------------------------------------------------


class Ledger(BaseCallback):
    """Adds up what the learner was given, episode by episode, and compares it with what the deal paid its seat."""

    def __init__(self):
        super().__init__()
        self.episodes = []

    def _on_training_start(self):
        self.sums = np.zeros(self.training_env.num_envs)

    def _on_step(self):
        self.sums += self.locals["rewards"]
        for i in np.flatnonzero(self.locals["dones"]):
            self.episodes.append((self.locals["infos"][i], self.sums[i]))
            self.sums[i] = 0
        return True


def learn(env, steps):
    torch.set_num_threads(1)  # the networks are tiny, and other tests may run beside this one
    ledger = Ledger()
    model = sb3_contrib.MaskablePPO(
        "MlpPolicy", env, n_steps=512 // env.num_envs, batch_size=128, n_epochs=4, learning_rate=3e-3, gamma=1.0,
        seed=0, policy_kwargs={"net_arch": [16]}, device="cpu",
    )  # fmt: skip
    model.learn(steps, callback=ledger)
    return ledger.episodes


def returns_by_player(episodes):
    """What each deal paid, by the seat of the learner."""
    by_player = {0: [], 1: []}
    for info, given in episodes:
        by_player[info["player"]].append(given)
    return by_player


@pytest.mark.parametrize("make", ["SeatEnv", "SeatVecEnv"])
def test_maskable_ppo_learns_from_the_right_seats_reward(make):
    # The opponent never bets and folds to a bet: who always bets wins 1 a deal, who got the other seat's reward would
    # learn not to.
    if make == "SeatEnv":
        env = DummyVecEnv([lambda: SeatEnv("kuhn_poker_v0", "rotate", lambda turn: turn.legal_actions[0])] * 4)
    else:
        env = SeatVecEnv("kuhn_poker_v0", 16, "rotate", first_of_each)
    episodes = learn(env, 3072)
    for info, given in episodes:
        if make == "SeatEnv":
            assert given == info["returns"][info["player"]]
            assert sum(info["returns"]) == 0
        else:
            assert given == info["episode"]["r"]
    late = returns_by_player(episodes[-200:])
    early = returns_by_player(episodes[:200])
    for player in (0, 1):
        assert np.mean(late[player]) > 0.9
        assert np.mean(early[player]) < np.mean(late[player])


def test_maskable_ppo_trains_where_masks_matter():
    env = SeatVecEnv("leduc_poker_v0", 8, "random", "random", num_players=3)
    assert len(learn(env, 512)) > 50  # an action outside the mask would have raised


def test_maskable_ppo_and_dqn_train_alone_at_the_table():
    import gymnasium
    from stable_baselines3 import DQN

    assert len(learn(SeatVecEnv("one_player_poker_v0", 8), 512)) > 20
    model = DQN("MlpPolicy", gymnasium.make("cardenvs/OnePlayerPoker-v0"), learning_starts=64, device="cpu", seed=0)
    model.learn(400)
    assert model.num_timesteps == 400


def test_seeds_are_numbers_whatever_their_type():
    seats = []
    for seed in (5, np.int64(5)):
        env = SeatVecEnv("leduc_poker_v0", 8, seat="random", seed=seed)
        env.reset()
        seats.append(env.seats.tolist())
    assert seats[0] == seats[1]
    env.seed(-1)
    with pytest.raises(ValueError, match="a seed is an integer"):
        env.reset()


def test_steps_and_masks_need_a_reset():
    env = SeatVecEnv("leduc_poker_v0", 2)
    for method in (env.action_masks, lambda: env.step(np.ones(2, np.int64))):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
            method()
    env.reset()
    with pytest.raises(ValueError, match="call step_async"):
        env.step_wait()
