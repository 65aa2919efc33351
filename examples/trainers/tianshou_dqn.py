"""Tianshou: DQN with self-play and masked actions on PettingZooEnv, one network for all seats.

python examples/trainers/tianshou_dqn.py leduc_poker_v0 --steps 40000

Targets are n-step returns with n as long as a game. Tianshou's buffer holds the turns of all seats in one sequence, so
the next observation is usually another seat's. A target that reaches the end of the game never bootstraps from it.
"""

import argparse
import logging

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.torch_utils import policy_within_training_step, torch_train_mode
from torch import nn

import cardenvs

NUM_ENVS = 8
HORIZON = 200  # turns; longer games would bootstrap from another seat's observation
logging.getLogger("tianshou.data.stats").setLevel(logging.ERROR)  # warns that each seat has a reward of its own


class QNetwork(nn.Module):
    """Expected returns of all actions."""

    def __init__(self, size, num_actions):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, num_actions)
        )

    def forward(self, obs, state=None, info=None):
        """Return values (B, A) for observations (B, D), and the state that Tianshou asks for."""
        return self.net(torch.as_tensor(np.asarray(obs), dtype=torch.float32)), state


def make_env(game, **options):
    """Make an environment. Its observations name the agent to act."""
    return PettingZooEnv(cardenvs.make(game, **options))


def make_algorithm(game, exploration=0.1, **options):
    """Return DQN for all seats of a game, which share a network."""
    env = make_env(game, **options)
    space = env.observation_space["observation"]
    policy = DiscreteQLearningPolicy(
        model=QNetwork(space.shape[0], int(env.action_space.n)),
        action_space=env.action_space,
        observation_space=space,
        eps_inference=exploration,  # eps_training has no effect inside a MultiAgentPolicy
    )
    horizon = min(HORIZON, env.env.max_plies)
    seat = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=horizon)
    return MultiAgentOffPolicyAlgorithm(algorithms=[seat] * len(env.agents), env=env)


def train(game, steps, **options):
    """Train, printing progress, and return the policy."""
    algorithm = make_algorithm(game, **options)
    buffer = VectorReplayBuffer(20_000, NUM_ENVS)
    envs = DummyVectorEnv([lambda: make_env(game, **options)] * NUM_ENVS)
    envs.seed(1)
    collector = Collector(algorithm, envs, buffer, exploration_noise=True)
    collector.reset()
    played = 0
    while played < steps:
        with policy_within_training_step(algorithm.policy):
            # Whole games, so that every return in the buffer is known.
            played += collector.collect(n_episode=50).n_collected_steps
            with torch_train_mode(algorithm.policy):
                updates = [algorithm.update(buffer, sample_size=256) for _ in range(20)]
        loss = np.mean([np.mean(list(update.get_loss_stats_dict().values())) for update in updates])
        print(f"{played:>8,} steps   loss {loss:.3f}", flush=True)
    return algorithm.policy.policies["player_0"]


def choose(policy, observation, mask):
    """Return the policy's action for one observation (D,) and mask (A,)."""
    seen = Batch(obs=observation[None], mask=mask[None].astype(bool))
    return int(policy(Batch(obs=seen, info=Batch())).act[0])


def mean_return(policy, game, games=1000, **options):
    """Return the mean return of the policy, in each seat in turn, against random play."""
    env, total = cardenvs.SeatEnv(game, seat="rotate", opponents="random", **options), 0.0
    env.reset(seed=0)
    for _ in range(games):
        observation, _ = env.reset()
        over = False
        while not over:
            action = choose(policy, observation, env.action_masks())
            observation, reward, terminated, truncated, _ = env.step(action)
            total += reward
            over = terminated or truncated
    return total / games


def main():
    """Train, printing progress, and play against random."""
    parser = argparse.ArgumentParser()
    parser.add_argument("game", nargs="?", default="leduc_poker_v0", choices=cardenvs.list_games())
    parser.add_argument("--steps", type=int, default=40_000, help="decisions of all players together")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    np.random.seed(1)
    policy = train(arguments.game, arguments.steps)
    print(f"mean return against random: {mean_return(policy, arguments.game):+.2f}")


if __name__ == "__main__":
    main()
