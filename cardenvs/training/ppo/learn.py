"""Learning: one update.

The magnet, a reference policy that the policy is drawn to and that follows it in steps, makes self-play converge in
two-player zero-sum games instead of going round in circles: S. Sokota et al., "A Unified Approach to Reinforcement
Learning, Quantal Response Equilibria, and Two-Player Zero-Sum Games" (2023) for magnetic mirror descent; J. Perolat et
al., "Mastering the game of Stratego with model-free multiagent reinforcement learning" (2022) for the moving reference.
"""

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.network import Network, log_policy
from cardenvs.agents.ppo import check_model, checked_fields, checked_tensor
from cardenvs.core.errors import FormatError
from cardenvs.training.config import Config
from cardenvs.training.ppo.collect import is_listed, shortened
from cardenvs.training.ppo.losses import (
    divergence,
    imitation_loss,
    neurd_loss,
    policy_loss_and_metrics,
    value_loss_of,
)
from cardenvs.training.ppo.processes import ALONE, Processes, Turns
from cardenvs.training.ppo.returns import ReturnScale
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories
from cardenvs.training.progress import Stopwatch

METRIC_NAMES = (
    "loss/policy", "loss/value", "policy/entropy", "policy/kl", "policy/clipped", "policy/kl_to_magnet",
    "loss/gradient_norm",
)  # fmt: skip
_KL = METRIC_NAMES.index("policy/kl")


class Learner:
    """The network's optimiser and the PPO update.

    Attributes:
        optimizer: Adam over all parameters.
        returns: the scale of rewards.
        magnet: the reference policy; None without one.
    """

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
        self.optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, eps=1e-5, fused=True)
        self.returns = ReturnScale(config.reward_scale)
        self.magnet = copy.deepcopy(network).requires_grad_(False) if config.magnet or config.magnet_end else None

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
        self._set_moments(state["optimizer"])
        self.returns.set_state(state["returns"])

    def _set_moments(self, state: dict[str, Any]) -> None:
        """Go on with the moments in a state of the optimiser; its other settings are those of this learner.

        Raises:
            FormatError: they are not those of this network.
        """
        moments = checked_fields(state, {"state": dict}, "optimizer")["state"]
        parameters = list(self._network.parameters())
        if moments and set(moments) != set(range(len(parameters))):
            raise FormatError("optimizer has other parameters than the network")
        for number, moment in moments.items():
            shape = parameters[number].shape
            checked_fields(moment, {"step": Tensor, "exp_avg": Tensor, "exp_avg_sq": Tensor}, "optimizer")
            step = checked_tensor(moment["step"], "optimizer step", (), torch.float32)
            checked_tensor(moment["exp_avg"], "exp_avg", shape, torch.float32)
            squares = checked_tensor(moment["exp_avg_sq"], "exp_avg_sq", shape, torch.float32)
            if step < 0 or (squares < 0).any():
                raise FormatError("optimizer has negative squares or steps")
        known = {
            number: {name: moment[name] for name in ("step", "exp_avg", "exp_avg_sq")}
            for number, moment in moments.items()
        }
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": known})

    def update(
        self, trajectories: Trajectories, store: RolloutBuffer, returns: np.ndarray, weights: dict[str, float]
    ) -> dict[str, float]:
        """Learn from the closed transitions of a rollout.

        Args:
            trajectories, store: the rollout.
            returns: (M, P) float64, of the games that ended in it.
            weights: "lr", and the weights of the bonus "entropy" and of the divergence from the "magnet".

        Returns:
            metrics.
        """
        config = self._config
        with self._watch("trajectories"):
            self._rescale(self.returns.update(returns), store, trajectories)
            values = store.value.cpu().numpy()
            advantages = trajectories.advantages(values, config.gamma, config.gae_lambda, self.returns.factor)
            closed = trajectories.closed()
            numbers = trajectories.numbers(closed)
            turns = Turns.of(self._processes, closed, numbers, values[closed], advantages[closed])
            variance = _explained_variance(turns.value, turns.value + turns.advantage)
            advantage = torch.from_numpy(advantages).to(store.value.device)
            slots, every_advantage = (
                torch.from_numpy(array).to(store.value.device) for array in (turns.slot, turns.advantage)
            )
        for group in self.optimizer.param_groups:
            group["lr"] = weights["lr"]
        history: list[Tensor] = []
        for turn in self._minibatches(slots):
            self._measure(every_advantage[turn])
            rows = slots[turn]
            rows = rows[rows >= 0] if self._processes.size > 1 else rows
            history.append(self._step(store, advantage, rows, len(turn), weights))
            if config.target_kl and history[-1][_KL] > config.target_kl:
                break
        means = torch.stack(history).mean(0).tolist() if history else [math.nan] * len(METRIC_NAMES)
        metrics = dict(zip(METRIC_NAMES, means, strict=True))
        if self.magnet is None:
            del metrics["policy/kl_to_magnet"]
        return {
            **metrics,
            "value/explained_variance": variance,
            **{f"schedule/{name}": weight for name, weight in weights.items()},
            "schedule/reward_scale": self.returns.factor,
            "transitions": len(slots),
            "minibatches": len(history),
        }

    @torch.no_grad()
    def _rescale(self, ratio: float, store: RolloutBuffer, trajectories: Trajectories) -> None:
        """Bring predicted values, past and future ones, from the old scale of rewards to the new one."""
        if ratio != 1:
            self._network.value.weight.mul_(ratio)
            self._network.value.bias.mul_(ratio)
            store.value *= ratio
            trajectories.end_value *= np.float32(ratio)

    def move_magnet(self) -> None:
        """Make the present policy the reference."""
        if self.magnet is not None:
            self.magnet.load_state_dict(self._network.state_dict())

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
            its metrics, in the order of METRIC_NAMES.
        """
        self.optimizer.zero_grad()
        metrics = self._differentiate(store, advantage, rows, weights) if len(rows) else self._nothing()
        if self._processes.size > 1:
            with self._watch("reduce"):
                gradients = [parameter.grad for parameter in self._network.parameters() if parameter.grad is not None]
                self._processes.add([*gradients, metrics], len(rows) / count)
        with self._watch("optimise"):
            norm = nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_grad_norm)
            self.optimizer.step()
        return torch.cat([metrics, norm.detach().reshape(1)])

    def _nothing(self) -> Tensor:
        """Gradients and metrics of no turns."""
        for parameter in self._network.parameters():
            parameter.grad = torch.zeros_like(parameter)
        return torch.zeros(len(METRIC_NAMES) - 1, device=self._network.scale.device)

    def _differentiate(
        self, store: RolloutBuffer, advantage: Tensor, rows: Tensor, weights: dict[str, float]
    ) -> Tensor:
        """Compute the gradient of the loss, a mean over `rows`. Returns its metrics, all but the last."""
        with self._watch("gather"):
            features = self._network.features(store.observation.index_select(0, rows))
            num_legal = store.num_legal.index_select(0, rows)
            legal = shortened(store.legal.index_select(0, rows), num_legal)
            listed = is_listed(legal, num_legal)
            choice, log_prob, value, advantage = (
                array.index_select(0, rows) for array in (store.choice, store.log_prob, store.value, advantage)
            )
        with self._watch("learn"):
            logits, new_value = self._network(features, legal)
            policy_loss, entropy, kl, clipped = policy_loss_and_metrics(
                logits, listed, choice, log_prob, self._normalised(advantage), self._config.clip
            )
            value_loss = value_loss_of(new_value, value, value + advantage, self._config.value_clip)
            reference, drift = self._reference(features, legal, listed), logits.new_zeros(())
            if reference is not None:
                drift = divergence(log_policy(logits, listed), reference, listed)
            if self._config.policy_loss == "neurd":
                policy_loss = neurd_loss(
                    logits, listed, choice, log_prob, self._normalised(advantage), weights["magnet"], reference
                )
            else:
                policy_loss = policy_loss + weights["magnet"] * drift
            loss = policy_loss - weights["entropy"] * entropy + self._config.value_coef * value_loss
            if weights["teacher"]:
                advice = store.advice.index_select(0, rows)
                loss = loss + weights["teacher"] * imitation_loss(logits, listed, legal, advice)
            loss.backward()
        return torch.stack([policy_loss, value_loss, entropy, kl, clipped, drift]).detach()

    @torch.no_grad()
    def _reference(self, features: Tensor, legal: Tensor, listed: Tensor) -> Tensor | None:
        """Log-probabilities of the magnet, if there is one."""
        return None if self.magnet is None else log_policy(self.magnet(features, legal)[0], listed)

    def _measure(self, advantage: Tensor) -> None:
        """Note mean and standard deviation of the advantages of a minibatch, in all processes, to normalise them."""
        if self._config.normalise_advantages and len(advantage) > 1:
            self._centre, self._spread = advantage.mean(), advantage.std() + 1e-8
        else:
            self._centre, self._spread = advantage.new_zeros(()), advantage.new_ones(())

    def _normalised(self, advantage: Tensor) -> Tensor:
        return (advantage - self._centre) / self._spread


def _explained_variance(values: np.ndarray, targets: np.ndarray) -> float:
    """1 - Var(target - value) / Var(target): 1 is a perfect prediction, 0 no better than the mean."""
    variance = targets.var() if len(targets) else 0.0
    return float(1 - (targets - values).var() / variance) if variance > 0 else math.nan
