"""The losses of an update, as functions of the tensors of a minibatch."""

import torch
from torch import Tensor

from cardenvs.agents.network import log_policy

_MOST_FORCE = 20.0  # largest estimate of an action value
_MOST_LOGIT = 5.0  # largest distance of a logit from the mean over legal actions


def policy_loss_and_metrics(
    logits: Tensor, mask: Tensor, action: Tensor, log_prob: Tensor, advantage: Tensor, weight: Tensor, clip: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the clipped policy loss (Schulman et al. 2017, eq. 7), entropy, KL estimate and share of clipped ratios.

    Args:
        logits: (B, K); those of illegal actions may be any finite number.
        mask: (B, K) bool, legal actions, at least one per row.
        action: (B,) int64, columns of legal actions.
        log_prob: (B,), log-probabilities of the actions when they were played.
        advantage, weight: (B,); weights have a mean of 1.
        clip: epsilon.

    Returns:
        four scalars; the last two carry no gradient. The KL estimate is mean((r - 1) - log r), which is never negative.
    """
    log_probs = log_policy(logits, mask)
    log_ratio = log_probs.gather(1, action.unsqueeze(1)).squeeze(1) - log_prob
    ratio = log_ratio.exp()
    loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - clip, 1 + clip)).mul(weight).mean()
    # 0 * -inf would be nan, so the log-probability of an illegal action, whose probability is 0, counts as 0.
    entropy = -(log_probs.exp() * log_probs.masked_fill(~mask, 0)).sum(-1).mul(weight).mean()
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > clip).float().mean()
    return loss, entropy, kl, clipped


def mirror_loss(
    logits: Tensor,
    mask: Tensor,
    action: Tensor,
    estimate: Tensor,
    weight: Tensor,
    previous: Tensor,
    reference: Tensor,
    step: float,
    magnet: float,
    entropy: float,
) -> Tensor:
    """Return the loss of magnetic mirror descent (S. Sokota et al. 2023, section 3): distance from its next policy.

    That policy maximises <p, q> - magnet KL(p, reference) + entropy H(p) - KL(p, previous) / step, so its log p is
    (log previous + step (q + magnet log reference)) / (1 + step (magnet + entropy)), up to a constant. A sampled action
    estimates q: its advantage divided by how often it is taken, 0 for the others.

    The distance is measured between logits. A policy gradient moves a logit in proportion to its probability, so an
    action that is hardly played never comes back, however strong magnet and entropy are, and self-play stays far from
    an equilibrium. Here all logits move equally, as in neural replicator dynamics (D. Hennes et al. 2020).

    Args:
        logits, mask, action, weight: as for `policy_loss_and_metrics`.
        estimate: (B,), the advantage of the action divided by its frequency among turns with the same observation.
        previous, reference: (B, K) log-probabilities of the policy before the update and of the magnet.
        step, magnet, entropy: as in the formula.
    """
    with torch.no_grad():
        taken = action.unsqueeze(1)
        force = magnet * reference.masked_fill(~mask, 0)
        force.scatter_add_(1, taken, estimate.unsqueeze(1).clamp(-_MOST_FORCE, _MOST_FORCE))
        target = (previous.masked_fill(~mask, 0) + step * force) / (1 + step * (magnet + entropy))
        target = _centred(target, mask).clamp(-_MOST_LOGIT, _MOST_LOGIT)
    error = (_centred(logits, mask) - target).square().sum(-1)
    return 0.5 / step * (error * weight).mean()  # gradients are then about as large as advantages


def _centred(logits: Tensor, mask: Tensor) -> Tensor:
    """Return logits minus their mean over legal actions, 0 off the mask: only differences matter."""
    kept = logits.masked_fill(~mask, 0)
    return (kept - kept.sum(-1, keepdim=True) / mask.sum(-1, keepdim=True)).masked_fill(~mask, 0)


def imitation_loss(logits: Tensor, mask: Tensor, legal: Tensor, advice: Tensor) -> Tensor:
    """Return the mean cross-entropy of the policy to advised actions (S. Schmitt et al., "Kickstarting Deep RL", 2018).

    Logits, mask and ids of the actions are (B, K). `advice` is (B,) int64, ids of legal actions; rows with any other
    number do not count.
    """
    advised = (legal == advice.unsqueeze(1)) & mask
    return -log_policy(logits, mask).masked_fill(~advised, 0).sum(-1).mean()


def divergence(log_probs: Tensor, reference: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    """Return the mean of KL(p || q), weighted by row, from log-probabilities of p and q, (B, K), -inf off the mask."""
    return (log_probs.exp() * (log_probs - reference).masked_fill(~mask, 0)).sum(-1).mul(weight).mean()


def value_loss_of(value: Tensor, old_value: Tensor, target: Tensor, weight: Tensor, clip: float) -> Tensor:
    """Return half the mean squared error, weighted by row.

    With clip > 0, moving further than that from the old value does not reduce the loss.
    """
    error = (value - target).square()
    if clip:
        held = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.max(error, (held - target).square())
    return 0.5 * (error * weight).mean()
