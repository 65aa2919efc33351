"""Learning: the clipped loss, and one update."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.ppo import (
    Network,
    checked_fields,
    checked_tensor,
    log_policy,
)
from cardenvs.core.errors import FormatError
from cardenvs.training.config import Config
from cardenvs.training.ppo.collect import is_listed
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories
from cardenvs.training.progress import Stopwatch


class Learner:
    """The network's optimiser and the PPO update.

    Attributes:
        optimizer: Adam over all parameters.
    """

    def __init__(self, network: Network, config: Config, generator: torch.Generator, watch: Stopwatch) -> None:
        """Create a learner that has learnt nothing yet."""
        self._network, self._config, self._generator, self._watch = network, config, generator, watch
        self.optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, eps=1e-5, fused=True)

    def set_state(self, state: dict[str, Any]) -> None:
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
        self, trajectories: Trajectories, store: RolloutBuffer, lr: float, entropy_coef: float
    ) -> dict[str, float]:
        """Learn from the closed transitions of a rollout. Returns metrics."""
        config = self._config
        with self._watch("trajectories"):
            values = store.value.cpu().numpy()
            advantages = trajectories.advantages(values, config.gamma, config.gae_lambda)
            closed = trajectories.closed()
            variance = _explained_variance(values[closed], (values + advantages)[closed])
            advantage = torch.from_numpy(advantages).to(store.value.device)
            slots = torch.from_numpy(closed).to(store.value.device)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        history: list[Tensor] = []
        for rows in self._minibatches(slots):
            history.append(self._step(store, advantage, rows, entropy_coef))
            if config.target_kl and history[-1][3] > config.target_kl:
                break
        means = torch.stack(history).mean(0).tolist() if history else [math.nan] * 6
        names = ("loss/policy", "loss/value", "policy/entropy", "policy/kl", "policy/clipped", "loss/gradient_norm")
        return {
            **dict(zip(names, means, strict=True)),
            "value/explained_variance": variance,
            "schedule/lr": lr,
            "schedule/entropy": entropy_coef,
            "transitions": len(slots),
            "minibatches": len(history),
        }

    def _minibatches(self, slots: Tensor) -> Iterator[Tensor]:
        """Random parts of `slots`, each slot once an epoch."""
        for _ in range(self._config.epochs):
            order = torch.randperm(len(slots), generator=self._generator, device=slots.device)
            yield from (rows for rows in slots[order].tensor_split(self._config.minibatches) if len(rows))

    def _step(self, store: RolloutBuffer, advantage: Tensor, rows: Tensor, entropy_coef: float) -> Tensor:
        """One step of the optimiser. Returns its metrics, (6,)."""
        with self._watch("gather"):
            features = self._network.features(store.observation.index_select(0, rows))
            legal = store.legal.index_select(0, rows)
            listed = is_listed(legal, store.num_legal.index_select(0, rows))
            choice, log_prob, value, advantage = (
                array.index_select(0, rows) for array in (store.choice, store.log_prob, store.value, advantage)
            )
        with self._watch("learn"):
            logits, new_value = self._network(features)
            policy_loss, entropy, kl, clipped = policy_loss_and_metrics(
                logits.gather(1, legal), listed, choice, log_prob, self._normalised(advantage), self._config.clip
            )
            value_loss = value_loss_of(new_value, value, value + advantage, self._config.value_clip)
            loss = policy_loss - entropy_coef * entropy + self._config.value_coef * value_loss
            self.optimizer.zero_grad()
            loss.backward()
        with self._watch("optimise"):
            norm = nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_grad_norm)
            self.optimizer.step()
        return torch.stack([policy_loss, value_loss, entropy, kl, clipped, norm]).detach()

    def _normalised(self, advantage: Tensor) -> Tensor:
        if not self._config.normalise_advantages or len(advantage) < 2:
            return advantage
        return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def policy_loss_and_metrics(
    logits: Tensor, mask: Tensor, action: Tensor, log_prob: Tensor, advantage: Tensor, clip: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the clipped policy loss (Schulman et al. 2017, eq. 7), entropy, KL estimate and share of clipped ratios.

    Args:
        logits: (B, K), those of illegal actions any finite number.
        mask: (B, K) bool, at least one legal action a row.
        action: (B,) int64, columns of legal actions.
        log_prob: (B,), of the actions when they were played.
        advantage: (B,).
        clip: epsilon.

    Returns:
        four scalars; the last two carry no gradient. The KL estimate is mean((r - 1) - log r), which is never negative.
    """
    log_probs = log_policy(logits, mask)
    log_ratio = log_probs.gather(1, action.unsqueeze(1)).squeeze(1) - log_prob
    ratio = log_ratio.exp()
    loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - clip, 1 + clip)).mean()
    # 0 * -inf would be nan: where an action is illegal its log-probability counts as 0, its probability is 0.
    entropy = -(log_probs.exp() * log_probs.masked_fill(~mask, 0)).sum(-1).mean()
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > clip).float().mean()
    return loss, entropy, kl, clipped


def value_loss_of(value: Tensor, old_value: Tensor, target: Tensor, clip: float) -> Tensor:
    """Half the mean squared error; with clip > 0 a value gains nothing by moving further than that from the old one."""
    error = (value - target).square()
    if clip:
        held = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.max(error, (held - target).square())
    return 0.5 * error.mean()


def _explained_variance(values: np.ndarray, targets: np.ndarray) -> float:
    """1 - Var(target - value) / Var(target): 1 is a perfect prediction, 0 no better than the mean."""
    variance = targets.var() if len(targets) else 0.0
    return float(1 - (targets - values).var() / variance) if variance > 0 else math.nan
