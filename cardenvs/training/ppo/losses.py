"""The losses of an update, as functions of what a minibatch holds."""

import torch
from torch import Tensor

from cardenvs.agents.network import log_policy

_MOST_FORCE = 20.0  # of one sampled action on its logit
_MOST_LOGIT = 4.0  # further from the mean of the legal actions' no logit is pushed


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


def neurd_loss(
    logits: Tensor,
    mask: Tensor,
    action: Tensor,
    log_prob: Tensor,
    advantage: Tensor,
    magnet: float,
    reference: Tensor | None,
) -> Tensor:
    """The loss of neural replicator dynamics (D. Hennes et al. 2020): each logit moves by its action's advantage.

    A policy gradient moves it by probability times advantage, so an action that is hardly played is hardly learnt about
    and self-play runs into the corners. Here the advantage of a sampled action is divided by its probability. The pull
    of the magnet, its weight times log(reference / policy), acts on all legal actions (magnetic mirror descent).

    Args:
        logits, mask, action, log_prob, advantage: as for `policy_loss_and_metrics`.
        magnet: weight of the pull.
        reference: (B, K) log-probabilities of the magnet, or None.
    """
    with torch.no_grad():
        force = torch.zeros_like(logits)
        weight = (advantage * (-log_prob).exp()).clamp(-_MOST_FORCE, _MOST_FORCE)
        force.scatter_(1, action.unsqueeze(1), weight.unsqueeze(1))
        if reference is not None:
            force += magnet * (reference - log_policy(logits, mask)).masked_fill(~mask, 0)
        count = mask.sum(-1, keepdim=True)
        centre = logits.masked_fill(~mask, 0).sum(-1, keepdim=True) / count
        force -= force.masked_fill(~mask, 0).sum(-1, keepdim=True) / count  # only differences of logits matter
        height = logits - centre
        is_out = ((height > _MOST_LOGIT) & (force > 0)) | ((height < -_MOST_LOGIT) & (force < 0))
        force = force.masked_fill(~mask | is_out, 0)
    return -(logits.masked_fill(~mask, 0) * force).sum(-1).mean()


def imitation_loss(logits: Tensor, mask: Tensor, legal: Tensor, advice: Tensor) -> Tensor:
    """Mean cross-entropy of the policy to advised actions (S. Schmitt et al., "Kickstarting Deep RL", 2018).

    Args:
        logits, mask, legal: (B, K), of the legal actions.
        advice: (B,) int64, ids of legal actions; rows with another number do not count.
    """
    advised = (legal == advice.unsqueeze(1)) & mask
    return -log_policy(logits, mask).masked_fill(~advised, 0).sum(-1).mean()


def divergence(log_probs: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Mean KL(p || q) over rows, from log-probabilities of p and q, (B, K), -inf where mask is false."""
    return (log_probs.exp() * (log_probs - reference).masked_fill(~mask, 0)).sum(-1).mean()


def value_loss_of(value: Tensor, old_value: Tensor, target: Tensor, clip: float) -> Tensor:
    """Half the mean squared error; with clip > 0 a value gains nothing by moving further than that from the old one."""
    error = (value - target).square()
    if clip:
        held = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.max(error, (held - target).square())
    return 0.5 * error.mean()
