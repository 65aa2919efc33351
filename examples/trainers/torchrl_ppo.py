"""TorchRL: PPO with self-play and masked actions on PettingZooWrapper, one network for all seats.

python examples/trainers/torchrl_ppo.py leduc_poker_v0 --steps 40000
"""

import argparse

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import ExplorationType, MarlGroupMapType, set_exploration_type
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss, ValueEstimators

import cardenvs

GROUP = "agents"  # of all seats; TorchRL names it so
OBSERVATION, REWARD = (GROUP, "observation", "observation"), (GROUP, "reward")


def make_env(game, seed=1, **options):
    """Make the environment. Its tensors have an entry for each seat, whether or not it is to act."""
    env = cardenvs.make(game, observation_dtype="float32", **options)
    return PettingZooWrapper(env, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP, seed=seed)


class Logits(nn.Module):
    """Logits of all actions, and which of them count."""

    def __init__(self, size, num_actions):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, num_actions)
        )

    def forward(self, observation, action_mask, to_act):
        """Return logits (..., P, A) and a mask of the same shape.

        A seat that is not to act "chooses" action 0, the only one in its mask. Its log-probability is then
        constant, so such a step trains the critic but not the actor.
        """
        idle = torch.zeros_like(action_mask)
        idle[..., 0] = True
        return self.net(observation), torch.where(to_act.unsqueeze(-1), action_mask, idle)


def make_networks(env):
    """Return the actor and the critic, both shared by all seats."""
    size = env.observation_spec[OBSERVATION].shape[-1]
    num_actions = env.observation_spec[GROUP, "action_mask"].shape[-1]
    logits = TensorDictModule(
        Logits(size, num_actions),
        in_keys=[OBSERVATION, (GROUP, "action_mask"), (GROUP, "mask")],
        out_keys=[(GROUP, "logits"), (GROUP, "legal")],
    )
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "legal")},
        out_keys=[(GROUP, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    value = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    critic = TensorDictModule(value, in_keys=[OBSERVATION], out_keys=[(GROUP, "state_value")])
    return actor, critic


def make_loss(actor, critic):
    """Return PPO's loss with its advantages, which run along all steps of each seat."""
    loss = ClipPPOLoss(
        actor, critic, entropy_coeff=0.02, normalize_advantage=True, normalize_advantage_exclude_dims=(-1,)
    )
    loss.set_keys(
        reward=REWARD,
        action=(GROUP, "action"),
        done=(GROUP, "done"),
        terminated=(GROUP, "terminated"),
        value=(GROUP, "state_value"),
        sample_log_prob=(GROUP, "action_log_prob"),
    )
    loss.make_value_estimator(ValueEstimators.GAE, gamma=1.0, lmbda=0.95)
    return loss


def train(env, steps, frames=500, epochs=4, minibatches=4):
    """Train, printing progress, and return the actor."""
    actor, critic = make_networks(env)
    loss = make_loss(actor, critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    collector = Collector(env, actor, frames_per_batch=frames, total_frames=steps, auto_register_policy_transforms=True)
    for number, data in enumerate(collector, 1):
        with torch.no_grad():
            loss.value_estimator(
                data, params=loss.critic_network_params, target_params=loss.target_critic_network_params
            )
        for _ in range(epochs):
            for part in data[torch.randperm(frames)].split(frames // minibatches):
                losses = loss(part)
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        entropy = losses["entropy"] * len(env.possible_agents)  # that of idle seats is 0
        print(f"{number * frames:>8,} steps   entropy {entropy:.3f}", flush=True)
    collector.shutdown()
    return actor


def choose(actor, observation, mask):
    """Return an action of the actor for one observation (D,) and mask (A,)."""
    seen = {
        "observation": {"observation": torch.from_numpy(observation)[None].float()},
        "action_mask": torch.from_numpy(mask.astype(bool))[None],
        "mask": torch.ones(1, dtype=torch.bool),
    }
    with torch.no_grad(), set_exploration_type(ExplorationType.RANDOM):
        return int(actor(TensorDict({GROUP: seen}))[GROUP, "action"])


def mean_return(actor, game, games=1000, **options):
    """Return the mean return of the actor, in each seat in turn, against random play."""
    env, total = cardenvs.SeatEnv(game, seat="rotate", opponents="random", **options), 0.0
    env.reset(seed=0)
    for _ in range(games):
        observation, _ = env.reset()
        over = False
        while not over:
            action = choose(actor, observation, env.action_masks())
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
    actor = train(make_env(arguments.game), arguments.steps)
    print(f"mean return against random: {mean_return(actor, arguments.game):+.2f}")


if __name__ == "__main__":
    main()
