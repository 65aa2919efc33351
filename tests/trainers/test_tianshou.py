"""The Tianshou example: what its buffer contains, whose return a target is, and that its network learns."""

import numpy as np
import pytest
from worlds import LEDUC3, load, plain, recorded, replay, right_in_kuhn, twins

import cardenvs

torch = pytest.importorskip("torch")
pytest.importorskip("tianshou")
example = load("examples/trainers/tianshou_dqn.py")

from tianshou.data import Collector, VectorReplayBuffer  # noqa: E402
from tianshou.env import DummyVectorEnv  # noqa: E402

HOLDEM = ("texas_holdem_v0", {"num_players": 3, "format": "cash"})


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("name", "options"), [LEDUC3, HOLDEM], ids=["leduc", "holdem"])
def test_each_target_is_the_return_of_the_seat_that_acted(name, options, monkeypatch):
    games = recorded(monkeypatch)
    algorithm = example.make_algorithm(name, exploration=1.0, **options)
    buffer = VectorReplayBuffer(2000, 1)
    collector = Collector(
        algorithm, DummyVectorEnv([lambda: example.make_env(name, **options)]), buffer, exploration_noise=True
    )
    collector.reset()
    with example.policy_within_training_step(algorithm.policy):
        collector.collect(n_episode=30)
    algorithm.policy.policies["player_0"].model.net[-1].bias.data += 1000  # a bootstrapped value would show
    targets = {}
    for agent, part in algorithm._preprocess_batch(buffer[:], buffer, np.arange(len(buffer))).items():
        own = np.flatnonzero(buffer.obs.agent_id[: len(buffer)] == agent)
        targets |= dict(zip(own.tolist(), part.returns.flatten().tolist(), strict=True))
    assert len(games) == 30
    index = 0
    for seed, actions in games:
        returns = replay(name, seed, actions, **options).returns
        state = cardenvs.get_game(name).new_state(seed=seed, **options)
        for action in actions:
            player, row = state.current_player, buffer[index]
            assert row.obs.agent_id == f"player_{player}"
            assert row.obs.obs.tolist() == state.observation(player).tolist()
            assert row.obs.mask.tolist() == state.action_mask().astype(bool).tolist()
            assert row.act == action
            so_far = list(state.returns)
            state.apply(action)
            assert row.rew.tolist() == pytest.approx(state.rewards)
            assert row.terminated == state.is_terminal
            assert targets[index] == pytest.approx(returns[player] - so_far[player])
            index += 1
    assert index == len(buffer)


def test_a_seat_is_given_the_same_in_twin_worlds():
    name, options = LEDUC3
    env = example.make_env(name, **options)

    def given(seed, actions, player):
        seen, info = env.reset(seed=seed)
        received = [plain([seen, info])] if seen["agent_id"] == f"player_{player}" else []
        for action in actions:
            seen, rewards, terminated, truncated, info = env.step(action)
            received.append([rewards[player], terminated, truncated])
            if seen["agent_id"] == f"player_{player}":
                received.append(plain([seen, info]))
        return received

    for pair in twins(name, **options):
        one, two = (given(seed, pair.actions, pair.player) for seed in pair.seeds)
        assert one == two


def test_it_learns_where_the_reward_is():
    torch.manual_seed(0)
    np.random.seed(0)
    policy = example.train("kuhn_poker_v0", steps=2500)
    assert right_in_kuhn(lambda *seen: example.choose(policy, *seen), samples=1) == 1
    assert abs(example.mean_return(policy, "kuhn_poker_v0", games=20)) <= 2
