"""Deep Monte Carlo: action values, learnt from the results of games.

    cardenvs train casino_v0 --set method=dmc --set action_embedding=64 --set action_head=layer

The network predicts the return of each legal action of the player to act. In self-play it takes the best action, or
now and then a random one (`epsilon_greedy`), and learns by least squares from what the player did get. Nothing is
bootstrapped, so the method copes with many actions that are rarely legal, whose probabilities a policy gradient is slow
to raise. Its weakness: always taking the best action is no equilibrium in games that need bluffing.

Turns, opponents, evaluation and checkpoints are those of PPO; only the choice of actions and the loss differ. In a game
that is unfinished when a rollout ends, turns get the value that the network gives the player's latest turn, so
`rollout_steps` should be a few times the length of a game.

Source: D. Zha et al., "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning" (2021).
"""

import torch
from torch import Tensor
from torch.nn import Parameter

from cardenvs.agents.network import Network
from cardenvs.training.ppo.learn import Learner
from cardenvs.training.ppo.losses import value_loss_of
from cardenvs.training.ppo.minibatch import Minibatch
from cardenvs.training.ppo.processes import Context


class MonteCarlo(Learner):
    """The network's optimiser and the update of deep Monte Carlo. The logits of the policy are action values here."""

    metric_names = ("loss/value", "loss/gradient_norm")

    def __init__(self, network: Network, context: Context) -> None:
        """Create a learner whose targets are the returns themselves."""
        super().__init__(network, context)
        self._gae_lambda = 1.0

    def _loss(self, batch: Minibatch, weights: dict[str, float]) -> tuple[Tensor, list[Tensor]]:
        values = self._values_of_choices(batch)
        loss = value_loss_of(values, batch.value, batch.target, batch.weight, self._config.value_clip)
        return loss, [loss]

    def _values_of_choices(self, batch: Minibatch) -> Tensor:
        chosen, network = batch.choice.unsqueeze(1), self._network
        if network.outcomes is None:
            values, _ = network(batch.features, batch.legal.gather(1, chosen))
        else:
            values = network(batch.features, batch.legal, batch.listed)[0].gather(1, chosen)
        return torch.squeeze(values, 1)

    def _trained(self) -> list[Parameter]:
        return [parameter for name, parameter in self._network.named_parameters() if not name.startswith("value.")]

    def _rescale_values(self, network: Network, ratio: float) -> None:
        network.policy.rescale(ratio)

    def _is_too_far(self, metrics: Tensor) -> bool:
        return False
