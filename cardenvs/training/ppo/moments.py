"""The moments of an optimiser, from files that may come from anybody."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from cardenvs.agents.ppo import checked_fields, checked_tensor
from cardenvs.core.errors import FormatError


def restore_moments(optimizer: torch.optim.Adam, parameters: Sequence[nn.Parameter], state: dict[str, Any]) -> None:
    """Go on with the moments in a state of the optimiser; its other settings stay.

    Args:
        optimizer: of `parameters`.
        parameters: in their order.
        state: of `state_dict`.

    Raises:
        FormatError: the moments are not those of these parameters.
    """
    moments = checked_fields(state, {"state": dict}, "optimizer")["state"]
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
        number: {name: moment[name] for name in ("step", "exp_avg", "exp_avg_sq")} for number, moment in moments.items()
    }
    optimizer.load_state_dict({**optimizer.state_dict(), "state": known})
