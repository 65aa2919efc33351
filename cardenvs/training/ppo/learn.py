"""Learning: one update.

The magnet, a reference policy that the policy is drawn to and that follows it, makes self-play converge in two-player
zero-sum games instead of going round in circles: S. Sokota et al., "A Unified Approach to Reinforcement Learning,
Quantal Response Equilibria, and Two-Player Zero-Sum Games" (2023) for magnetic mirror descent; J. Perolat et al.,
"Mastering the game of Stratego with model-free multiagent reinforcement learning" (2022) for the moving reference.
"""

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.network import Network, log_policy
from cardenvs.agents.ppo import check_model, checked_fields
from cardenvs.core.errors import FormatError
from cardenvs.training.config import Config
from cardenvs.training.ppo.collect import is_listed, shortened
from cardenvs.training.ppo.losses import (
    divergence,
    imitation_loss,
    mirror_loss,
    policy_loss_and_metrics,
    value_loss_of,
)
from cardenvs.training.ppo.merge import merged
from cardenvs.training.ppo.moments import restore_moments
from cardenvs.training.ppo.processes import ALONE, Processes, Turns
from cardenvs.training.ppo.returns import ReturnScale
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories
from cardenvs.training.progress import Stopwatch

METRIC_NAMES = (
    "loss/policy", "loss/value", "policy/entropy", "policy/kl", "policy/clipped", "policy/kl_to_magnet",
    "loss/gradient_norm",
)  # fmt: skip
_KL = METRIC_NAMES.index("policy/kl")


@dataclass
class Minibatch:
    """What is learnt from at once: arrays of (B,) or, by legal action, (B, L), and features (B, D)."""

    features: Tensor
    legal: Tensor
    listed: Tensor
    choice: Tensor
    log_prob: Tensor
    value: Tensor
    advantage: Tensor
    advice: Tensor
    weight: Tensor
    share: Tensor

    @property
    def target(self) -> Tensor:
        """What values should have been."""
        return self.value + self.advantage


class Learner:
    """The network's optimiser and the PPO update.

    Attributes:
        metric_names: of what an optimiser step returns.
        optimizer: Adam.
        returns: the scale of rewards.
        magnet: the reference policy; None without one.
    """

    metric_names: tuple[str, ...] = METRIC_NAMES

    def __init__(
        self,
        network: Network,
        config: Config,
        generator: torch.Generator,
        watch: Stopwatch,
        processes: Processes = ALONE,
    ) -> None:
        """Create a learner that has learnt nothing yet; those of all `processes` learn the same."""
        self._processes = processes
        self._network, self._config, self._generator, self._watch = network, config, generator, watch
        self.optimizer = torch.optim.Adam(self._trained(), lr=config.lr, eps=1e-5, fused=True)
        self.returns = ReturnScale(config.reward_scale)
        has_magnet = config.magnet or config.magnet_end or config.magnet_decay
        self.magnet = copy.deepcopy(network).requires_grad_(False) if has_magnet else None
        self._previous = copy.deepcopy(network).requires_grad_(False) if config.policy_loss == "mirror" else None

    def _trained(self) -> list[nn.Parameter]:
        return list(self._network.parameters())

    def get_state(self) -> dict[str, Any]:
        """Return all that the next update depends on, but for the network and the generator."""
        return {
            "optimizer": self.optimizer.state_dict(),
            "returns": self.returns.get_state(),
            "magnet": None if self.magnet is None else self.magnet.state_dict(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from `get_state`.

        Raises:
            FormatError: it is not what `get_state` gives for this network and config.
        """
        fields: dict[str, Any] = {"optimizer": dict, "returns": dict, "magnet": (dict, type(None))}
        state = checked_fields(state, fields, "learner")
        if (state["magnet"] is None) != (self.magnet is None):
            raise FormatError("learner has a magnet without the setting, or the reverse")
        if self.magnet is not None:
            check_model(state["magnet"], self.magnet.shape)
            self.magnet.load_state_dict(state["magnet"])
        restore_moments(self.optimizer, self._trained(), state["optimizer"])
        self.returns.set_state(state["returns"])

    def update(
        self, trajectories: Trajectories, store: RolloutBuffer, returns: np.ndarray, weights: dict[str, float]
    ) -> dict[str, float]:
        """Learn from the closed transitions of a rollout.

        Args:
            trajectories, store: the rollout.
            returns: (M, P) float64, of the games that ended in it.
            weights: "lr", "mirror_step", and the weights of the bonus "entropy" and of the divergence from the
                "magnet".

        Returns:
            metrics.
        """
        with self._watch("trajectories"):
            self._rescale(self.returns.update(returns), store, trajectories)
            turns, advantage, variance = self._turns(trajectories, store)
            slots, every_advantage = (
                torch.from_numpy(array).to(store.value.device) for array in (turns.slot, turns.advantage)
            )
            if self._previous is not None:
                self._previous.load_state_dict(self._network.state_dict())
        for group in self.optimizer.param_groups:
            group["lr"] = weights["lr"]
        history: list[Tensor] = []
        for turn in self._minibatches(slots):
            self._measure(every_advantage[turn])
            rows = slots[turn]
            rows = rows[rows >= 0] if self._processes.size > 1 else rows
            history.append(self._step(store, advantage, rows, len(turn), weights))
            if self._is_too_far(history[-1]):
                break
        averages = torch.stack(history).mean(0).tolist() if history else [math.nan] * len(self.metric_names)
        metrics = dict(zip(self.metric_names, averages, strict=True))
        if self.magnet is None:
            metrics.pop("policy/kl_to_magnet", None)
        return {
            **metrics,
            "value/explained_variance": variance,
            **{f"schedule/{name}": weight for name, weight in weights.items()},
            "schedule/reward_scale": self.returns.factor,
            "transitions": len(slots),
            "minibatches": len(history),
        }

    def _turns(self, trajectories: Trajectories, store: RolloutBuffer) -> tuple[Turns, Tensor, float]:
        """Return the turns to learn from, of all processes, advantages by slot and the explained variance."""
        config = self._config
        values = store.value.cpu().numpy()
        advantages = trajectories.advantages(values, config.gamma, self._gae_lambda, self.returns.factor)
        closed = trajectories.closed()
        numbers = trajectories.numbers(closed)
        turns = Turns.of(self._processes, closed, numbers, values[closed], advantages[closed])
        variance = _explained_variance(turns.value, turns.value + turns.advantage)
        weight = np.ones_like(advantages)
        share = torch.exp(store.log_prob)
        if config.merge_turns and len(closed):
            observation = store.observation[torch.from_numpy(closed)].cpu().numpy()
            kinds, count, mean, shares = merged(observation, store.choice.cpu().numpy()[closed], advantages[closed])
            closed = closed[kinds]
            weight[closed], advantages[closed] = count, mean
            share[torch.from_numpy(closed)] = torch.from_numpy(shares).to(share.device)
            turns = Turns(closed, values[closed], mean)
        self._weight, self._share = torch.from_numpy(weight).to(store.value.device), share
        return turns, torch.from_numpy(advantages).to(store.value.device), variance

    def adopt_scale(self, factor: float) -> None:
        """Take over a network whose values are in reward scaled by `factor`."""
        self._rescale_networks(self.returns.adopt(factor))

    @torch.no_grad()
    def _rescale(self, ratio: float, store: RolloutBuffer, trajectories: Trajectories) -> None:
        """Bring predicted values, past and future ones, from the old scale of rewards to the new one."""
        if ratio != 1:
            self._rescale_networks(ratio)
            store.value *= ratio
            trajectories.end_value *= np.float32(ratio)

    @torch.no_grad()
    def _rescale_networks(self, ratio: float) -> None:
        for network in (self._network, *([self.magnet] if self.magnet else [])):
            self._rescale_values(network, ratio)

    def _rescale_values(self, network: Network, ratio: float) -> None:
        network.value.weight.mul_(ratio)
        network.value.bias.mul_(ratio)

    @property
    def _gae_lambda(self) -> float:
        return self._config.gae_lambda

    def _is_too_far(self, metrics: Tensor) -> bool:
        """Whether the policy has gone further from that of the rollout than the config allows."""
        return bool(self._config.target_kl and metrics[_KL] > self._config.target_kl)

    def move_magnet(self) -> None:
        """Make the present policy the reference."""
        if self.magnet is not None:
            self.magnet.load_state_dict(self._network.state_dict())

    @torch.no_grad()
    def pull_magnet(self, updates: int) -> None:
        """Let the reference, a moving average of the network, follow it; faster in the first of `updates`."""
        decay = min(self._config.magnet_decay, (1 + updates) / (10 + updates))
        if self.magnet is not None:
            for average, new in zip(self.magnet.parameters(), self._network.parameters(), strict=True):
                average.lerp_(new, 1 - decay)

    def _minibatches(self, slots: Tensor) -> Iterator[Tensor]:
        """Random parts of the turns in `slots`, as indices, each turn once an epoch."""
        for _ in range(self._config.epochs):
            order = torch.randperm(len(slots), generator=self._generator, device=slots.device)
            yield from (part for part in order.tensor_split(self._config.minibatches) if len(part))

    def _step(
        self, store: RolloutBuffer, advantage: Tensor, rows: Tensor, count: int, weights: dict[str, float]
    ) -> Tensor:
        """One step of the optimiser, on `rows` of the `count` turns of a minibatch, the others' being elsewhere.

        Returns:
            its metrics, in the order of `metric_names`.
        """
        self.optimizer.zero_grad()
        if len(rows):
            metrics = self._differentiate(self._minibatch(store, advantage, rows), weights)
        else:
            metrics = self._nothing()
        if self._processes.size > 1:
            with self._watch("reduce"):
                gradients = [parameter.grad for parameter in self._trained() if parameter.grad is not None]
                self._processes.add([*gradients, metrics], len(rows) / count)
        with self._watch("optimise"):
            norm = nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_grad_norm)
            self.optimizer.step()
        return torch.cat([metrics, norm.detach().reshape(1)])

    def _nothing(self) -> Tensor:
        """Gradients and metrics of no turns."""
        for parameter in self._trained():
            parameter.grad = torch.zeros_like(parameter)
        return torch.zeros(len(self.metric_names) - 1, device=self._network.scale.device)

    def _minibatch(self, store: RolloutBuffer, advantage: Tensor, rows: Tensor) -> Minibatch:
        with self._watch("gather"):
            num_legal = store.num_legal.index_select(0, rows)
            legal = shortened(store.legal.index_select(0, rows), num_legal)
            weight = self._weight.index_select(0, rows)
            return Minibatch(
                features=self._network.features(store.observation.index_select(0, rows)),
                legal=legal,
                listed=is_listed(legal, num_legal),
                choice=store.choice.index_select(0, rows),
                log_prob=store.log_prob.index_select(0, rows),
                value=store.value.index_select(0, rows),
                advantage=advantage.index_select(0, rows),
                advice=store.advice.index_select(0, rows),
                weight=weight / weight.mean(),
                share=self._share.index_select(0, rows),
            )

    def _differentiate(self, batch: Minibatch, weights: dict[str, float]) -> Tensor:
        """Compute the gradient of the loss. Returns all but the last of its metrics."""
        with self._watch("learn"):
            loss, metrics = self._loss(batch, weights)
            loss.backward()
        return torch.stack(metrics).detach()

    def _loss(self, batch: Minibatch, weights: dict[str, float]) -> tuple[Tensor, list[Tensor]]:
        """Return the loss, a mean over a minibatch, and all but the last of its metrics."""
        config, legal, listed, weight = self._config, batch.legal, batch.listed, batch.weight
        logits, new_value = self._network(batch.features, legal, listed)
        advantage = self._normalised(batch.advantage)
        policy_loss, entropy, kl, clipped = policy_loss_and_metrics(
            logits, listed, batch.choice, batch.log_prob, advantage, weight, config.clip
        )
        value_loss = value_loss_of(new_value, batch.value, batch.target, weight, config.value_clip)
        reference, drift = _log_probs(self.magnet, batch), logits.new_zeros(())
        if reference is not None:
            drift = divergence(log_policy(logits, listed), reference, listed, weight)
        previous = _log_probs(self._previous, batch)
        if previous is None:
            policy_loss = policy_loss + weights["magnet"] * drift - weights["entropy"] * entropy
        else:
            policy_loss = mirror_loss(
                logits, listed, batch.choice, advantage / batch.share, weight, previous,
                previous if reference is None else reference,
                weights["mirror_step"], weights["magnet"], weights["entropy"],
            )  # fmt: skip
        loss = policy_loss + config.value_coef * value_loss
        if weights["teacher"]:
            loss = loss + weights["teacher"] * imitation_loss(logits, listed, legal, batch.advice)
        return loss, [policy_loss, value_loss, entropy, kl, clipped, drift]

    def _measure(self, advantage: Tensor) -> None:
        """Note mean and standard deviation of the advantages of a minibatch, in all processes, to normalise them."""
        if self._config.normalise_advantages and len(advantage) > 1:
            self._centre, self._spread = advantage.mean(), advantage.std() + 1e-8
        else:
            self._centre, self._spread = advantage.new_zeros(()), advantage.new_ones(())

    def _normalised(self, advantage: Tensor) -> Tensor:
        return (advantage - self._centre) / self._spread


@torch.no_grad()
def _log_probs(network: Network | None, batch: Minibatch) -> Tensor | None:
    """Log-probabilities of a network's policy, if there is one."""
    return None if network is None else log_policy(network(batch.features, batch.legal, batch.listed)[0], batch.listed)


def _explained_variance(values: np.ndarray, targets: np.ndarray) -> float:
    """1 - Var(target - value) / Var(target): 1 is a perfect prediction, 0 no better than the mean."""
    variance = targets.var() if len(targets) else 0.0
    return float(1 - (targets - values).var() / variance) if variance > 0 else math.nan
