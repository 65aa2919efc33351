"""training/single_file_ppo.py: whose reward is whose, what the policy sees, and that it learns."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from worlds import ROOT, load, replay

import cardenvs
from cardenvs.core.errors import OptionError

torch = pytest.importorskip("torch")
ppo = load("training/single_file_ppo.py")

SMALL = ppo.Settings(num_envs=16, rollout_steps=12, hidden=16, minibatches=2)


@pytest.fixture(autouse=True)
def _one_thread_and_one_seed():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def begin(name, steps, **options):
    """A new policy, games for it, and an empty rollout."""
    vec = cardenvs.make_vec(name, num_envs=SMALL.num_envs, seed=3, **options)
    policy, rollout = ppo.Policy(vec, SMALL.hidden), ppo.Rollout(steps, vec)
    vec.reset()
    return policy, vec, rollout


@pytest.mark.parametrize(
    ("name", "options"),
    [("kuhn_poker_v0", {}), ("leduc_poker_v0", {"num_players": 3}), ("texas_holdem_v0", {"num_players": 4})],
)
def test_each_player_learns_from_its_own_return(name, options):
    policy, vec, rollout = begin(name, 60, **options)
    seeds = {(0, i): vec.state(i).seed for i in range(SMALL.num_envs)}
    one_step, parts = ppo.Rollout(1, vec), []
    for t in range(60):
        ppo.collect(policy, vec, one_step, reward_scale=1)
        parts.append({name: array.copy() for name, array in vars(one_step).items()})
        seeds |= {(t + 1, i): vec.state(i).seed for i in np.flatnonzero(one_step.ended[0])}
    for key in parts[0]:
        setattr(rollout, key, np.concatenate([part[key] for part in parts]))
    rollout.value[:] = 0  # the advantage of a player's first action is then all that it gets
    advantage, known = ppo.advantages(rollout, gamma=1, gae_lambda=1)
    compared = 0
    for (start, i), seed in seeds.items():
        ends = np.flatnonzero(rollout.ended[start:, i])
        if not len(ends):
            continue
        steps = range(start, start + ends[0] + 1)
        returns = replay(name, seed, [int(rollout.action[t, i]) for t in steps], **options).returns
        first = {int(rollout.player[t, i]): t for t in reversed(steps)}
        for player, t in first.items():
            assert known[t, i]
            assert advantage[t, i] == pytest.approx(returns[player])
            compared += 1
    assert compared > 40


def test_advantages_run_along_the_turns_of_a_player():
    rollout = ppo.Rollout(5, cardenvs.make_vec("kuhn_poker_v0", num_envs=1))
    rollout.player[:, 0] = [0, 1, 0, 1, 0]
    rollout.reward[:, 0] = [[0, 9], [1, 0], [0, 2], [3, -3], [0, 0]]
    rollout.value[:, 0] = [10, 20, 30, 40, 50]
    rollout.ended[3] = True  # the last step belongs to another game
    advantage, known = ppo.advantages(rollout, gamma=0.5, gae_lambda=0.5)
    last = [3 - 30, -3 - 40]  # of each player before the end
    expected = [1 + 0.5 * 30 - 10 + 0.25 * last[0], 2 + 0.5 * 40 - 20 + 0.25 * last[1], *last, 0]
    assert advantage[:, 0].tolist() == expected
    assert known[:, 0].tolist() == [True, True, True, True, False]
    rollout.end_value[3] = [[4, 6]]  # cut off by max_plies
    advantage, _ = ppo.advantages(rollout, gamma=0.5, gae_lambda=0.5)
    assert advantage[2:4, 0].tolist() == [last[0] + 2, last[1] + 3]


def test_games_cut_off_go_on_in_the_value():
    policy, vec, rollout = begin("leduc_poker_v0", 10, max_plies=3)
    ppo.collect(policy, vec, rollout, reward_scale=1)
    assert (rollout.end_value != 0).any()
    assert not rollout.end_value[~rollout.ended].any()


def test_the_policy_sees_the_same_in_twin_worlds():
    policy, vec, rollout = begin("leduc_poker_v0", 1)
    hidden_differs = 0
    for step in range(40):
        states = [vec.state(i) for i in range(SMALL.num_envs)]
        ppo.collect(policy, vec, rollout, reward_scale=1)
        for i, state in enumerate(states):
            player = state.current_player
            twin = state.determinize(player, seed=step)
            assert rollout.player[0, i] == player
            assert rollout.observation[0, i].tolist() == twin.observation(player).tolist()
            assert rollout.mask[0, i].tolist() == twin.action_mask().tolist()
            other = 1 - player
            hidden_differs += state.observation(other).tolist() != twin.observation(other).tolist()
    assert hidden_differs > 100


def test_it_comes_close_to_an_equilibrium_of_kuhn_poker():
    from cardenvs.training.cfr import Tree

    settings = dataclasses.replace(
        SMALL, steps=60_000, num_envs=128, rollout_steps=32, hidden=32, entropy=0.2, lr=3e-3, minibatches=4
    )
    policy = ppo.train("kuhn_poker_v0", settings)

    @torch.inference_mode()
    def probabilities(state):
        seen = state.observation(state.current_player)[None], state.action_mask()[None]
        choice, _ = policy(*map(torch.from_numpy, seen))
        return choice.probs[0, state.legal_actions()].double().numpy()

    tree = Tree(cardenvs.get_game("kuhn_poker_v0"))
    assert tree.nash_conv(tree.policy(lambda state: np.full(2, 0.5))) > 0.9
    assert tree.nash_conv(tree.policy(probabilities)) < 0.45


def test_the_command_line():
    def run(*words):
        return subprocess.run(
            [sys.executable, ROOT / "training/single_file_ppo.py", *words], capture_output=True, text=True, check=False
        )

    tiny = ["--steps", "600", "--num-envs", "16", "--rollout-steps", "8", "--hidden", "8", "--games", "20"]
    done = run("kuhn_poker_v0", *tiny)
    assert done.returncode == 0, done.stderr
    assert "against random:" in done.stdout
    for words, message in (
        (["no_poker_v0"], "no_poker_v0"),
        (["kuhn_poker_v0", "--steps", "-1"], "must be an integer of at least 1"),
    ):
        done = run(*words)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_what_it_cannot_train_is_refused():
    with pytest.raises(OptionError, match="this trainer needs every legal action"):
        ppo.train("texas_holdem_v0", SMALL, betting="full")
    with pytest.raises(ValueError, match="raise rollout_steps"):
        ppo.train("gin_rummy_v0", dataclasses.replace(SMALL, rollout_steps=1))
