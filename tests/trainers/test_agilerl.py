"""The AgileRL example: what its rollout buffer contains, and that its agent learns."""

import numpy as np
import pytest
from worlds import LEDUC3, load, plain, replay, right_in_kuhn, twins

import cardenvs

torch = pytest.importorskip("torch")
pytest.importorskip("agilerl")
example = load("examples/trainers/agilerl_ppo.py")


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("name", "options"),
    [LEDUC3, ("texas_holdem_v0", {"num_players": 3, "starting_stack": 60})],
    ids=["leduc", "holdem"],
)
def test_the_learner_is_given_the_turns_and_rewards_of_its_seat(name, options, monkeypatch):
    games = []

    class Recorded(cardenvs.SeatEnv):
        def step(self, action):
            given = super().step(action)
            if given[2]:
                games.append((self._state.seed, self._state.actions, given[4]["player"]))
            return given

    monkeypatch.setattr(cardenvs, "SeatEnv", Recorded)
    env = example.make_env(name, "random", num_envs=1, **options)
    agent = example.make_agent(env)
    scores, *_ = example.collect_rollouts(agent, env, n_steps=200)
    buffer, row = agent.rollout_buffer.buffer[:200, 0], 0
    assert len(games) == len(scores) > 10
    for (seed, actions, player), score in zip(games, scores, strict=True):
        game = replay(name, seed, actions, **options)
        assert score == pytest.approx(game.returns[player])
        for turn in game.turns[player]:
            assert buffer["observations"][row].double().tolist() == turn.observation
            assert buffer["action_masks"][row].int().tolist() == turn.mask
            assert buffer["actions"][row] == turn.action
            assert float(buffer["rewards"][row]) == pytest.approx(turn.reward)
            row += 1
        assert buffer["dones"][row - 1]
    assert {player for _, _, player in games} == {0, 1, 2}


def test_the_learner_is_given_the_same_in_twin_worlds():
    name, options = LEDUC3

    def given(pair, seed):
        state = cardenvs.get_game(name).new_state(seed=seed, **options)
        own, others = [], []
        for action in pair.actions:
            (own if state.current_player == pair.player else others).append(action)
            state.apply(action)
        played = iter(others)
        env = example.SyncVectorEnv(
            [lambda: cardenvs.SeatEnv(name, pair.player, lambda turn: next(played, turn.legal_actions[0]), **options)]
        )
        received = [env.reset(seed=seed)]
        received += [env.step(np.array([action])) for action in own[:-1]]  # the last may lead beyond `pair.actions`
        return plain(received)

    compared = 0
    for pair in twins(name, **options):
        one, two = (given(pair, seed) for seed in pair.seeds)
        assert one == two
        compared += len(one)
    assert compared > 20


def test_it_learns_where_the_reward_is():
    torch.manual_seed(0)
    agent = example.train("kuhn_poker_v0", steps=5000)
    assert right_in_kuhn(lambda *seen: example.choose(agent, *seen)) > 0.7
    assert abs(example.mean_return(agent, "kuhn_poker_v0", games=20)) <= 2
