"""Learning: one update.

The magnet is a reference policy that follows the policy and that the policy is drawn towards. It makes self-play
converge in two-player zero-sum games instead of cycling: S. Sokota et al., "A Unified Approach to Reinforcement
Learning, Quantal Response Equilibria, and Two-Player Zero-Sum Games" (2023) for magnetic mirror descent; J. Perolat et
al., "Mastering the game of Stratego with model-free multiagent reinforcement learning" (2022) for the moving reference.
"""

import copy
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.checkpoint_file import check_model, checked_fields
from cardenvs.agents.network import Network, log_policy
from cardenvs.core.errors import FormatError
from cardenvs.training.ppo import losses
from cardenvs.training.ppo.averaging import WeightAverage
from cardenvs.training.ppo.minibatch import Lesson, Minibatch
from cardenvs.training.ppo.processes import Context
from cardenvs.training.ppo.returns import ReturnScale
from cardenvs.training.ppo.saved import restore_moments
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories

METRIC_NAMES = (
    "loss/policy", "loss/value", "policy/entropy", "policy/kl", "policy/clipped", "policy/kl_to_magnet",
    "loss/gradient_norm",
)  # fmt: skip
_KL = METRIC_NAMES.index("policy/kl")


class Learner:
    """The network's optimiser and the PPO update."""

    metric_names: tuple[str, ...] = METRIC_NAMES  # names of the metrics of an optimiser step

    def __init__(self, network: Network, context: Context) -> None:
        """Create a learner that has learnt nothing yet; the learners of all processes learn the same."""
        config = context.config
        self._network, self._config, self._generator = network, config, context.generator
        self._watch, self._processes = context.watch, context.processes
        self.optimizer = torch.optim.Adam(self._trained(), lr=config.lr, eps=1e-5, fused=True)
        self.returns = ReturnScale(config.reward_scale)  # the scale of rewards
        has_magnet = config.magnet or config.magnet_end or config.magnet_decay
        # the reference policy; None without one
        self.magnet = copy.deepcopy(network).requires_grad_(False) if has_magnet else None
        # the mean of the network's weights; None without `average_share`
        self.average = WeightAverage(network, config.average_share) if config.average_share else None
        self._previous = copy.deepcopy(network).requires_grad_(False) if config.policy_loss == "mirror" else None
        self._gae_lambda = config.gae_lambda

    def _trained(self) -> list[nn.Parameter]:
        return list(self._network.parameters())

    def get_state(self) -> dict[str, Any]:
        """Return everything that the next update depends on except the network and the generator."""
        return {
            "optimizer": self.optimizer.state_dict(),
            "returns": self.returns.get_state(),
            "magnet": None if self.magnet is None else self.magnet.state_dict(),
            "average": None if self.average is None else self.average.get_state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`.

        Raises:
            FormatError: the state does not fit the network and the config.
        """
        fields: dict[str, Any] = {"optimizer": dict, "returns": dict, "magnet": (dict, type(None))}
        state = checked_fields({"average": None, **state}, fields, "learner")
        if (state["magnet"] is None) != (self.magnet is None):
            raise FormatError("learner has a magnet without the setting, or the reverse")
        if (state["average"] is None) != (self.average is None):
            raise FormatError("learner has an average of weights without the setting, or the reverse")
        if self.magnet is not None:
            check_model(state["magnet"], self.magnet.shape)
            self.magnet.load_state_dict(state["magnet"])
        if self.average is not None:
            self.average.set_state(state["average"])
        restore_moments(self.optimizer, self._trained(), state["optimizer"])
        self.returns.set_state(state["returns"])

    def update(
        self, trajectories: Trajectories, store: RolloutBuffer, returns: np.ndarray, weights: dict[str, float]
    ) -> dict[str, float]:
        """Learn from the closed transitions of a rollout, and return metrics.

        `returns`, (M, P) float64, are of the games that ended in it; `weights` as from `scheduled`.
        """
        with self._watch("trajectories"):
            self._rescale(self.returns.update(returns), store, trajectories)
            scale = self.returns.factor
            lesson = Lesson(trajectories, store, self._config, self._gae_lambda, scale, self._processes)
            if self._previous is not None:
                self._previous.load_state_dict(self._network.state_dict())
        for group in self.optimizer.param_groups:
            group["lr"] = weights["lr"]
        history: list[Tensor] = []
        for part in lesson.parts(self._generator):
            history.append(self._step(lesson, part, weights))
            if self._is_too_far(history[-1]):
                break
        averages = torch.stack(history).mean(0).tolist() if history else [math.nan] * len(self.metric_names)
        metrics = dict(zip(self.metric_names, averages, strict=True))
        if self.magnet is None:
            metrics.pop("policy/kl_to_magnet", None)
        return {
            **metrics,
            "value/explained_variance": lesson.explained_variance,
            **{f"schedule/{name}": weight for name, weight in weights.items()},
            "schedule/reward_scale": self.returns.factor,
            "transitions": len(lesson.slots),
            "minibatches": len(history),
        }

    def adopt_scale(self, factor: float) -> None:
        """Take over a network whose values are in reward scaled by `factor`."""
        self._rescale_networks(self.returns.adopt(factor))

    @torch.no_grad()
    def _rescale(self, ratio: float, store: RolloutBuffer, trajectories: Trajectories) -> None:
        """Bring past and future value predictions from the old scale of rewards to the new one."""
        if ratio != 1:
            self._rescale_networks(ratio)
            store.value *= ratio
            trajectories.end_value *= np.float32(ratio)

    @torch.no_grad()
    def _rescale_networks(self, ratio: float) -> None:
        followers = [self.magnet, None if self.average is None else self.average.network]
        for network in (self._network, *filter(None, followers)):
            self._rescale_values(network, ratio)

    def _rescale_values(self, network: Network, ratio: float) -> None:
        network.value.weight.mul_(ratio)
        network.value.bias.mul_(ratio)

    def _is_too_far(self, metrics: Tensor) -> bool:
        """Whether the policy has moved further from that of the rollout than the config allows."""
        return bool(self._config.target_kl and metrics[_KL] > self._config.target_kl)

    @torch.no_grad()
    def move_magnet(self, updates: int) -> None:
        """Let the magnet follow the network after an update, the `updates`th.

        It is a moving average, which moves faster in the first updates, or it becomes the network at intervals.
        """
        config = self._config
        if self.magnet is None:
            return
        if config.magnet_decay:
            decay = min(config.magnet_decay, (1 + updates) / (10 + updates))
            for average, new in zip(self.magnet.parameters(), self._network.parameters(), strict=True):
                average.lerp_(new, 1 - decay)
        elif config.magnet_interval and updates % config.magnet_interval == 0:
            self.magnet.load_state_dict(self._network.state_dict())

    def _step(self, lesson: Lesson, part: Tensor, weights: dict[str, float]) -> Tensor:
        """Take an optimiser step on a part of the turns, some of which may belong to other processes.

        Returns:
            metrics in the order of `metric_names`.
        """
        rows = lesson.slots[part]
        rows = rows[rows >= 0] if self._processes.size > 1 else rows
        self.optimizer.zero_grad()
        if len(rows):
            with self._watch("gather"):
                batch = lesson.minibatch(part, rows, self._network)
            metrics = self._differentiate(batch, weights)
        else:
            metrics = self._no_gradient()
        if self._processes.size > 1:
            with self._watch("reduce"):
                gradients = [parameter.grad for parameter in self._trained() if parameter.grad is not None]
                self._processes.add([*gradients, metrics], len(rows) / len(part))
        with self._watch("optimise"):
            norm = nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_grad_norm)
            self.optimizer.step()
        return torch.cat([metrics, norm.detach().reshape(1)])

    def _no_gradient(self) -> Tensor:
        """Set the gradient to zero. Returns zeros as metrics."""
        for parameter in self._trained():
            parameter.grad = torch.zeros_like(parameter)
        return torch.zeros(len(self.metric_names) - 1, device=self._network.scale.device)

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
        policy_loss, entropy, kl, clipped = losses.policy_loss_and_metrics(
            logits, listed, batch.choice, batch.log_prob, batch.normalised, weight, config.clip
        )
        value_loss = losses.value_loss_of(new_value, batch.value, batch.target, weight, config.value_clip)
        reference, drift = _log_probs(self.magnet, batch), logits.new_zeros(())
        if reference is not None:
            drift = losses.divergence(log_policy(logits, listed), reference, listed, weight)
        previous = _log_probs(self._previous, batch)
        if previous is None:
            policy_loss = policy_loss + weights["magnet"] * drift - weights["entropy"] * entropy
        else:
            policy_loss = losses.mirror_loss(
                logits, listed, batch.choice, batch.normalised / batch.share, weight, previous,
                previous if reference is None else reference,
                weights["mirror_step"], weights["magnet"], weights["entropy"],
            )  # fmt: skip
        loss = policy_loss + config.value_coef * value_loss
        if weights["teacher"]:
            loss = loss + weights["teacher"] * losses.imitation_loss(logits, listed, legal, batch.advice)
        return loss, [policy_loss, value_loss, entropy, kl, clipped, drift]


@torch.no_grad()
def _log_probs(network: Network | None, batch: Minibatch) -> Tensor | None:
    """Return the log-probabilities of a network's policy, if there is a network."""
    return None if network is None else log_policy(network(batch.features, batch.legal, batch.listed)[0], batch.listed)
