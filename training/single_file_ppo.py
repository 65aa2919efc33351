"""Masked PPO with self-play in one file, on the batched environment. Copy it and change what you like.

python training/single_file_ppo.py gin_rummy_v0 --steps 2000000
python training/single_file_ppo.py kuhn_poker_v0 --steps 100000 --num-envs 256 --entropy 0.05

One network plays every seat. `cardenvs train` is the same algorithm with checkpoints, past selves and metrics.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

import cardenvs
from cardenvs.core.codes import HOLD
from cardenvs.core.errors import CardenvsError
from cardenvs.envs.vector import VectorEnv


@dataclass(frozen=True)
class Settings:
    """Settings of a run. Each field is also an argument of the command line."""

    steps: int = 1_000_000  # decisions of all players in all games
    num_envs: int = 512
    rollout_steps: int = 32  # steps of each game between two updates
    epochs: int = 2
    minibatches: int = 8
    lr: float = 1e-3  # decays linearly to 0
    gamma: float = 1.0  # from one turn of a player to its next
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.02
    value_coef: float = 0.5
    max_grad_norm: float = 0.5
    hidden: int = 256
    games: int = 2_000  # of each evaluation
    seed: int = 1


class Policy(nn.Module):
    """Logits of all actions, and the value of the player to act, from its observation."""

    bound: Tensor  # (D,) largest absolute value of each entry of the observation

    def __init__(self, vec: VectorEnv, hidden: int) -> None:
        super().__init__()
        bound = np.maximum(np.abs(vec.layout.low.astype(np.float64)), np.abs(vec.layout.high.astype(np.float64)))
        self.register_buffer("bound", torch.tensor(np.maximum(bound, 1), dtype=torch.float32))
        self.trunk = nn.Sequential(nn.Linear(len(bound), hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.actor = nn.Linear(hidden, vec.num_actions)
        self.critic = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[torch.distributions.Categorical, Tensor]:
        """Return the distribution over the legal actions and the values (B,).

        Args:
            observation: (B, D) of any dtype.
            mask: (B, A), nonzero for legal actions, at least one in each row.
        """
        hidden = self.trunk(observation / self.bound)
        logits = self.actor(hidden).masked_fill(mask == 0, torch.finfo(torch.float32).min)
        return torch.distributions.Categorical(logits=logits, validate_args=False), self.critic(hidden).squeeze(-1)


class Rollout:
    """What happened in T steps of N games with P players."""

    def __init__(self, steps: int, vec: VectorEnv) -> None:
        size = (steps, vec.num_envs)
        self.observation = np.zeros((*size, vec.observation_size), vec.layout.dtype)
        self.mask = np.zeros((*size, vec.num_actions), np.int8)
        self.player = np.zeros(size, np.int64)  # who acted
        self.action = np.zeros(size, np.int64)
        self.log_prob = np.zeros(size, np.float32)
        self.value = np.zeros(size, np.float32)
        self.reward = np.zeros((*size, vec.num_players), np.float32)  # of every player, from this step
        self.ended = np.zeros(size, np.bool_)  # whether this step ended the game
        self.end_value = np.zeros((*size, vec.num_players), np.float32)  # still to come; 0 unless truncated


def advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the advantage (T, N) of each action, and a bool (T, N): whether its outcome is known.

    GAE runs along the turns of each player. The follower of an action is the next turn of the same
    player, however many others act in between, and rewards on the way belong to the action. Actions
    without a follower in the rollout whose game goes on are unknown: their advantage is 0.
    """
    steps, num_envs, num_players = rollout.reward.shape
    rows = np.arange(num_envs)
    advantage, known = np.zeros((steps, num_envs), np.float32), np.zeros((steps, num_envs), np.bool_)
    # Of each player's next turn, or of the end of the game, seen from step t; t runs backwards.
    reward_until = np.zeros((num_envs, num_players), np.float32)
    next_value, next_advantage = np.zeros_like(reward_until), np.zeros_like(reward_until)
    has_next = np.zeros((num_envs, num_players), np.bool_)
    for t in reversed(range(steps)):
        ended = rollout.ended[t]
        has_next[ended] = True
        reward_until[ended], next_advantage[ended] = 0, 0
        next_value[ended] = rollout.end_value[t, ended]
        reward_until += rollout.reward[t]
        acted = rows, rollout.player[t]
        known[t] = has_next[acted]
        delta = reward_until[acted] + gamma * next_value[acted] - rollout.value[t]
        advantage[t] = np.where(known[t], delta + gamma * gae_lambda * next_advantage[acted], 0)
        has_next[acted], reward_until[acted] = True, 0
        next_value[acted], next_advantage[acted] = rollout.value[t], advantage[t]
    return advantage, known


@torch.inference_mode()
def collect(policy: Policy, vec: VectorEnv, rollout: Rollout, reward_scale: float) -> None:
    """Play `rollout_steps` steps of every game and write them to `rollout`."""
    batch = vec.batch
    for t in range(len(rollout.action)):
        assert batch.action_mask is not None  # mask=True is the default
        # The next step overwrites the batch, so everything is copied first.
        rollout.observation[t], rollout.mask[t] = batch.observation, batch.action_mask
        rollout.player[t] = batch.current_player
        choice, value = policy(torch.from_numpy(rollout.observation[t]), torch.from_numpy(rollout.mask[t]))
        action = choice.sample()
        rollout.action[t], rollout.value[t] = action.numpy(), value.numpy()
        rollout.log_prob[t] = choice.log_prob(action).numpy()
        batch = vec.step(rollout.action[t])
        rollout.reward[t] = batch.reward * reward_scale
        rollout.ended[t] = batch.terminated | batch.truncated
        rollout.end_value[t] = 0
        if batch.final_observation is not None:
            rollout.end_value[t, batch.truncated] = final_values(policy, batch.final_observation[batch.truncated])


def final_values(policy: Policy, observation: np.ndarray) -> np.ndarray:
    """Return the values (M, P) of all players where M games were cut off, from their observations (M, P, D)."""
    games, players, size = observation.shape
    any_action = torch.ones(games * players, policy.actor.out_features)
    return policy(torch.from_numpy(observation.reshape(-1, size)), any_action)[1].reshape(games, players).numpy()


def learn(policy: Policy, optimizer: torch.optim.Optimizer, rollout: Rollout, settings: Settings) -> float:
    """Update the policy by PPO's clipped loss. Return the mean entropy over legal actions, in nats."""
    advantage, known = advantages(rollout, settings.gamma, settings.gae_lambda)
    if not known.any():
        raise ValueError(f"no player had a second turn within {len(known)} steps; raise rollout_steps")
    observation, mask, action, old_log_prob, target, weight = (
        torch.from_numpy(array[known])
        for array in (
            rollout.observation, rollout.mask, rollout.action, rollout.log_prob, advantage + rollout.value, advantage
        )
    )  # fmt: skip
    entropies = []
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(action)).tensor_split(min(settings.minibatches, len(action))):
            choice, value = policy(observation[rows], mask[rows])
            ratio = (choice.log_prob(action[rows]) - old_log_prob[rows]).exp()
            normal = (weight[rows] - weight[rows].mean()) / (weight[rows].std(correction=0) + 1e-8)
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.min(ratio * normal, clipped * normal).mean()
            value_loss = 0.5 * (value - target[rows]).square().mean()
            entropy = choice.entropy().mean()
            loss = policy_loss + settings.value_coef * value_loss - settings.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), settings.max_grad_norm)
            optimizer.step()
            entropies.append(entropy.item())
    return float(np.mean(entropies))


@torch.inference_mode()
def evaluate(policy: Policy, vec: VectorEnv, opponent: str, seed: int) -> tuple[float, float]:
    """Return the policy's mean return against a policy of the game in all other seats, and half its 95% interval.

    Plays one game in each environment of `vec`. The policy samples its actions and takes each seat in turn.
    """
    batch, seat = vec.reset(seed), np.arange(vec.num_envs) % vec.num_players
    returns, running, step = np.zeros(vec.num_envs), np.ones(vec.num_envs, np.bool_), 0
    while running.any():
        actions = np.full(vec.num_envs, HOLD)
        mine = np.flatnonzero(running & (batch.current_player == seat))
        others = np.flatnonzero(running & (batch.current_player != seat))
        actions[others] = vec.policy_actions(opponent, others, seed, step)
        if len(mine):
            assert batch.action_mask is not None
            seen = torch.from_numpy(batch.observation[mine]), torch.from_numpy(batch.action_mask[mine])
            actions[mine] = policy(*seen)[0].sample().numpy()
        batch = vec.step(actions)
        ended = np.flatnonzero(running & (batch.terminated | batch.truncated))
        returns[ended] = batch.episode_returns[ended, seat[ended]]
        running[ended] = False
        step += 1
    return float(returns.mean()), float(1.96 * returns.std() / len(returns) ** 0.5)


def scale_of_returns(vec: VectorEnv, games: int = 1_000) -> float:
    """Return the standard deviation of the players' returns in random games, at least 1e-6."""
    returns: list[np.ndarray] = []
    batch, played = vec.reset(), 0
    while played < games:
        batch = vec.step(vec.sample_actions())
        ended = batch.terminated | batch.truncated
        returns.append(batch.episode_returns[ended])
        played += int(ended.sum())
    return max(float(np.concatenate(returns).std()), 1e-6)


def train(game: str, settings: Settings, **options: object) -> Policy:
    """Train a policy, print its progress, and return it.

    Raises:
        GameNotFoundError: no game has this name.
        OptionError: unknown or invalid option, or one that makes amounts actions, which have no mask.
    """
    torch.manual_seed(settings.seed)
    vec = cardenvs.make_vec(game, num_envs=settings.num_envs, seed=settings.seed, legal_lists=False, **options)
    vec.require_lists("this trainer")
    reward_scale = 1 / scale_of_returns(vec)
    vec.reset(settings.seed)
    policy = Policy(vec, settings.hidden)
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.lr, eps=1e-5)
    rollout = Rollout(settings.rollout_steps, vec)
    updates = max(1, settings.steps // rollout.action.size)
    started = time.perf_counter()
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = settings.lr * (1 - update / updates)
        collect(policy, vec, rollout, reward_scale)
        entropy = learn(policy, optimizer, rollout, settings)
        if (update + 1) % max(1, updates // 10) == 0:
            steps = (update + 1) * rollout.action.size
            speed = steps / (time.perf_counter() - started)
            print(f"{steps:>12,} steps   {speed:>8,.0f} steps/s   entropy {entropy:.3f}", flush=True)
    return policy


def whole(text: str) -> int:
    """Return the integer of at least 1 that an argument says."""
    if not text.replace("_", "").isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1; got {text!r}")
    return int(text)


def main() -> None:
    """Train and evaluate as the command line says."""
    parser = argparse.ArgumentParser(description="Masked PPO with self-play in one file.")
    parser.add_argument("game", help="such as gin_rummy_v0; `cardenvs games` names them all")
    for name, value in vars(Settings()).items():
        kind = float if isinstance(value, float) else whole
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=value, help=f"default {value}")
    arguments = vars(parser.parse_args())
    name = arguments.pop("game")
    settings = Settings(**arguments)
    try:
        policy = train(name, settings)
    except (CardenvsError, ValueError) as error:
        parser.error(str(error))
    game = cardenvs.get_game(name)
    vec = cardenvs.make_vec(name, num_envs=settings.games)
    for opponent in dict.fromkeys(["random", game.default_opponent]):
        mean, half = evaluate(policy, vec, opponent, seed=settings.seed)
        unit = game.returns(vec.options).unit
        print(f"against {opponent}: {mean:+.2f} ± {half:.2f} {unit} a game, {settings.games} games")


if __name__ == "__main__":
    main()
