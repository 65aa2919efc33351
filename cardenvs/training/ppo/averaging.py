"""The mean of a network's weights over the last part of a run.

Updates whose step stays large end in a cloud around the solution, and the mean over the cloud is nearer to it than
any of its points: B. T. Polyak and A. B. Juditsky, "Acceleration of Stochastic Approximation by Averaging" (1992);
for networks P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization" (2018).
"""

import copy
from typing import Any

import torch

from cardenvs.agents.checkpoint_file import check_model, checked_fields
from cardenvs.agents.network import Network
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError


class WeightAverage:
    """A network whose weights are the mean of those that another one had after each update since the averaging began.

    Attributes:
        network: the mean; until the averaging begins, a copy of the other network at its start.
        count: number of updates averaged.
    """

    def __init__(self, network: Network, share: float) -> None:
        """Prepare to average the weights of `network` over the last `share` of a run."""
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.count = 0
        self._share = share

    @torch.no_grad()
    def add(self, network: Network, fraction: float) -> None:
        """Add the weights of the other network after an update, if the last part has begun.

        `fraction` of the run is done.
        """
        if fraction <= 1 - self._share:
            return
        self.count += 1
        for mean, new in zip(self.network.parameters(), network.parameters(), strict=True):
            mean.lerp_(new, 1 / self.count)

    def get_state(self) -> dict[str, Any]:
        """Return what `set_state` takes."""
        return {"model": self.network.state_dict(), "count": self.count}

    def set_state(self, state: Any) -> None:
        """Continue from a state of `get_state`. Raises FormatError if it does not fit the network."""
        state = checked_fields({"average": state}, {"average": dict}, "learner")["average"]
        fields = checked_fields(state, {"model": dict, "count": int}, "average")
        if not 0 <= fields["count"] < 1 << 62:
            raise FormatError(f"the count of averaged updates is {short(fields['count'])}")
        check_model(fields["model"], self.network.shape)
        self.network.load_state_dict(fields["model"])
        self.count = fields["count"]
