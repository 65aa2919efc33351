"""What an update learns from: the turns of a rollout, and minibatches of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cardenvs.agents.network import Network
from cardenvs.training.config import Config
from cardenvs.training.ppo.collect import is_listed, shortened
from cardenvs.training.ppo.merging import merged
from cardenvs.training.ppo.processes import Processes, Turns
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories


@dataclass
class Minibatch:
    """Turns of one optimiser step: arrays of shape (B,) or, by legal action, (B, L), and features (B, D).

    `normalised` has the advantages as the policy loss takes them.
    """

    features: Tensor
    legal: Tensor
    listed: Tensor
    choice: Tensor
    log_prob: Tensor
    value: Tensor
    advantage: Tensor
    normalised: Tensor
    advice: Tensor
    weight: Tensor
    share: Tensor

    @property
    def target(self) -> Tensor:
        """The returns that the values should predict."""
        return self.value + self.advantage


class Lesson:
    """The closed turns of a rollout, M in all processes.

    Attributes:
        slots: (M,) int64, slots of the turns in this process's buffers; -1: the turn belongs to another process.
        advantages: (M,) float32.
        explained_variance: of the returns by the values, before the update.
    """

    def __init__(
        self, trajectories: Trajectories, store: RolloutBuffer, config: Config, gae_lambda: float, reward_scale: float,
        processes: Processes,
    ) -> None:  # fmt: skip
        """Compute advantages of a rollout, whose values are in reward scaled by `reward_scale`."""
        self._store, self._config = store, config
        values = store.value.cpu().numpy()
        by_slot = trajectories.advantages(values, config.gamma, gae_lambda, reward_scale)
        closed = trajectories.closed()
        turns = Turns.of(processes, closed, trajectories.numbers(closed), values[closed], by_slot[closed])
        self.explained_variance = _explained_variance(turns.value, turns.value + turns.advantage)
        weight, share = np.ones_like(by_slot), torch.exp(store.log_prob)
        if config.merge_turns and len(closed):
            observation = store.observation[torch.from_numpy(closed)].cpu().numpy()
            kinds, count, mean, shares = merged(observation, store.choice.cpu().numpy()[closed], by_slot[closed])
            closed = closed[kinds]
            weight[closed], by_slot[closed] = count, mean
            share[torch.from_numpy(closed)] = torch.from_numpy(shares).to(share.device)
            turns = Turns(closed, values[closed], mean)
        self.slots, self.advantages, self._advantage, self._weight = (
            torch.from_numpy(array).to(store.value.device) for array in (turns.slot, turns.advantage, by_slot, weight)
        )
        self._share = share

    def parts(self, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield the indices of the turns of each minibatch, every turn once per epoch, in random order."""
        for _ in range(self._config.epochs):
            order = torch.randperm(len(self.slots), generator=generator, device=self.slots.device)
            yield from (part for part in order.tensor_split(self._config.minibatches) if len(part))

    def minibatch(self, part: Tensor, rows: Tensor, network: Network) -> Minibatch:
        """Gather `rows`, the slots of this process in a part of the turns, for `network`."""
        store = self._store
        num_legal = store.num_legal.index_select(0, rows)
        legal = shortened(store.legal.index_select(0, rows), num_legal)
        weight = self._weight.index_select(0, rows)
        advantage = self._advantage.index_select(0, rows)
        return Minibatch(
            features=network.features(store.observation.index_select(0, rows)),
            legal=legal,
            listed=is_listed(legal, num_legal),
            choice=store.choice.index_select(0, rows),
            log_prob=store.log_prob.index_select(0, rows),
            value=store.value.index_select(0, rows),
            advantage=advantage,
            normalised=self._normalised(advantage, self.advantages[part]),
            advice=store.advice.index_select(0, rows),
            weight=weight / weight.mean(),
            share=self._share.index_select(0, rows),
        )

    def _normalised(self, advantage: Tensor, every_advantage: Tensor) -> Tensor:
        """Normalise by mean and standard deviation over the minibatch in all processes."""
        if not self._config.normalise_advantages or len(every_advantage) < 2:
            return advantage
        return (advantage - every_advantage.mean()) / (every_advantage.std() + 1e-8)


def _explained_variance(values: np.ndarray, targets: np.ndarray) -> float:
    """Return 1 - Var(target - value) / Var(target): 1 for a perfect prediction, 0 for one no better than the mean."""
    variance = targets.var() if len(targets) else 0.0
    return float(1 - (targets - values).var() / variance) if variance > 0 else math.nan
