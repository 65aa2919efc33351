"""Evaluation on duplicate deals."""

import dataclasses
import math

import numpy as np
import torch

from cardenvs.agents.ppo import (
    Network,
    log_policy,
)
from cardenvs.core.codes import HOLD
from cardenvs.envs.batch import Batch
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.ppo.collect import columns, is_listed, sample

_NO_SEAT = -2  # no player's number


@dataclasses.dataclass(frozen=True)
class Score:
    """Mean return a deal against a policy in all other seats, with half its 95% interval, over duplicate deals.

    In games for one player: how much more the network gets than the policy on the same deals.
    """

    mean: float
    half: float
    deals: int

    @property
    def verdict(self) -> str:
        """What the interval says: "beats", "loses to" or "is level with" the policy."""
        if self.mean > self.half:
            return "beats"
        return "loses to" if self.mean < -self.half else "is level with"

    def __str__(self) -> str:
        """As in "+12.34 ± 0.56"."""
        return f"{self.mean:+.2f} ± {self.half:.2f}"


@torch.inference_mode()
def evaluate(
    network: Network, vec: VectorEnv, opponent: str, seed: int, generator: torch.Generator | None = None
) -> Score:
    """Play each deal once from every seat, a policy of the game in the other seats.

    In games for one player, the policy plays the same deals, and its returns are subtracted.

    Args:
        network: plays its most likely action, or draws one if there is a generator.
        vec: its num_envs is the number of deals.
        opponent: "random", or one of `game.policies`.
        seed: of the deals and the opponent.
        generator: for drawing actions.
    """
    n = vec.num_players
    returns = np.sum([_play(network, vec, seat, opponent, seed, generator) for seat in range(n)], axis=0) / n
    if n == 1:
        returns -= _play(network, vec, _NO_SEAT, opponent, seed, generator)
    return Score(float(returns.mean()), float(1.96 * returns.std(ddof=1) / math.sqrt(len(returns))), len(returns))


def _play(
    network: Network, vec: VectorEnv, seat: int, policy: str, seed: int, generator: torch.Generator | None
) -> np.ndarray:
    """Play a game in each environment, the network in `seat` unless it is _NO_SEAT, `policy` in the others.

    Returns:
        returns of the player in `seat`, player 0 for _NO_SEAT, float64 (N,).
    """
    returns, step = np.zeros(vec.num_envs), 0
    batch = vec.reset(seed)
    running = np.ones(vec.num_envs, np.bool_)
    while running.any():
        actions = np.full(vec.num_envs, HOLD, np.int64)
        is_mine = batch.current_player == seat
        others = np.flatnonzero(running & ~is_mine)
        actions[others] = vec.policy_actions(policy, others, seed, step)
        mine = np.flatnonzero(running & is_mine)
        actions[mine] = _choose(network, batch, mine, generator)
        batch = vec.step(actions)
        ended = running & (batch.terminated | batch.truncated)
        returns[ended] = batch.episode_returns[ended, max(seat, 0)]
        running &= ~ended
        step += 1
    return returns


def _choose(network: Network, batch: Batch, rows: np.ndarray, generator: torch.Generator | None) -> np.ndarray:
    """Return the network's actions in the environments `rows`."""
    device = network.scale.device
    observation, num_legal = (
        torch.from_numpy(array[rows]).to(device) for array in (batch.observation, batch.num_legal)
    )
    legal = columns(batch, rows).to(device)
    logits, _ = network(network.features(observation))
    log_probs = log_policy(logits.gather(1, legal.long()), is_listed(legal, num_legal))
    choice = log_probs.argmax(-1) if generator is None else sample(log_probs, generator)
    return legal.gather(1, choice.unsqueeze(1)).squeeze(1).cpu().numpy()
