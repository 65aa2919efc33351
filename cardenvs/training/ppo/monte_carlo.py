"""Deep Monte Carlo: values of actions, learnt from how games went on.

    cardenvs train casino_v0 --set method=dmc --set action_embedding=64 --set action_head=layer

A network predicts what the player to act will get from each legal action. In self-play it takes the best one, or now
and then any (`epsilon_greedy`), and learns by least squares what the player did get. Nothing is bootstrapped, so it
copes with many actions that are rarely legal, whose probabilities a policy gradient is slow to raise. Its weakness is
the reverse: the best action in each position is no equilibrium where one has to bluff.

Turns, opponents, evaluation and checkpoints are those of PPO: only the choice of actions and the loss differ. A game
that goes on when a rollout ends gives its turns the value that the network gives the player's latest turn there, so
`rollout_steps` should be a few times the length of a game.

Source: D. Zha et al., "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning" (2021).
"""

from torch import Tensor
from torch.nn import Parameter

from cardenvs.agents.network import Network
from cardenvs.training.ppo.learn import Learner, Minibatch
from cardenvs.training.ppo.losses import value_loss_of


class MonteCarlo(Learner):
    """The network's optimiser and the update of deep Monte Carlo. What were logits of a policy are values here."""

    metric_names = ("loss/value", "loss/gradient_norm")
    _gae_lambda = 1.0  # the returns themselves

    def _loss(self, batch: Minibatch, weights: dict[str, float]) -> tuple[Tensor, list[Tensor]]:
        values, _ = self._network(batch.features, batch.legal, batch.listed)
        chosen = values.gather(1, batch.choice.unsqueeze(1)).squeeze(1)
        loss = value_loss_of(chosen, batch.value, batch.target, batch.weight, self._config.value_clip)
        return loss, [loss]

    def _trained(self) -> list[Parameter]:
        return [parameter for name, parameter in self._network.named_parameters() if not name.startswith("value.")]

    def _rescale_values(self, network: Network, ratio: float) -> None:
        network.policy.rescale(ratio)

    def _is_too_far(self, metrics: Tensor) -> bool:
        return False
