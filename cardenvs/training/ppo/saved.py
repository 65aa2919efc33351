"""Checks of the state of a run in a checkpoint, which may come from anyone, before a run is made from it."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from cardenvs.agents.checkpoint_file import check_model, checked_fields, checked_tensor
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.training.config import Config

_NUMBER = (int, float)
_MOST_STEPS = 1 << 62
_TRAINING_FIELDS: dict[str, Any] = {
    "total_steps": (*_NUMBER, type(None)), "total_seconds": (*_NUMBER, type(None)), "updates": int,
    "seconds": _NUMBER, "learner": dict, "generator": Tensor, "player": dict,
}  # fmt: skip


def checked_training(checkpoint: dict[str, Any], where: str) -> tuple[Config, dict[str, Any]]:
    """Return the settings and the state of the run in a checkpoint from `where`.

    Raises:
        FormatError: something that a run needs is missing, or the number of games differs from the settings.
        OptionError: a setting is invalid.
    """
    checked_fields(checkpoint, {"training": dict, "config": dict}, "the checkpoint")
    training = checked_fields(checkpoint["training"], _TRAINING_FIELDS, "training")
    config = Config.make(checkpoint["config"], where)
    _check_progress(training)
    _check_unlogged(training.get("unlogged"))
    _check_games(training["player"], config.num_envs)
    _check_ahead(training["player"].get("ahead"), config)
    _check_exploiter(training.get("exploiter"), config)
    check_model(checkpoint["model"], checkpoint["shape"])
    return config, training


def network_state(checkpoint: dict[str, Any], network: Any, config: Config) -> dict[str, Any]:
    """Return the weights of the network: those of the policy, unless the policy is an average."""
    if (network is not None) != config.saves_an_average:
        raise FormatError("training has a network besides the policy without the setting, or the reverse")
    model: dict[str, Any] = checkpoint["model"]
    if network is not None:
        model = checked_fields({"network": network}, {"network": dict}, "training")["network"]
        check_model(model, checkpoint["shape"])
    return model


def _check_progress(training: dict[str, Any]) -> None:
    for name in ("total_steps", "total_seconds", "updates", "seconds"):
        value = training[name]
        if value is not None and not 0 <= value < _MOST_STEPS:  # False for NaN as well
            raise FormatError(f"{name} is {short(value)}")


def _check_unlogged(metrics: Any) -> None:
    if metrics is None:
        return
    numbers = checked_fields({"unlogged": metrics}, {"unlogged": dict}, "training")["unlogged"]
    checked_fields(numbers, dict.fromkeys(("steps", "updates"), int) | dict.fromkeys(numbers, _NUMBER), "unlogged")
    for name, value in numbers.items():
        if isinstance(value, int) and abs(value) >= _MOST_STEPS:
            raise FormatError(f"unlogged.{short(name)} is {short(value)}")


def _check_ahead(state: Any, config: Config) -> None:
    if (state is None) == config.overlap:
        raise FormatError("training has play ahead without the setting, or the reverse")
    if state is not None:
        checked_fields(state, {"network": dict, "generator": Tensor, "factor": float}, "ahead")


def _check_exploiter(state: Any, config: Config) -> None:
    if (state is None) != (config.exploiter_share == 0):
        raise FormatError("training has an exploiter without the setting, or the reverse")
    if state is not None:
        checked_fields(state, {"model": dict, "learner": dict, "player": dict}, "exploiter")
        _check_games(state["player"], config.num_exploiter_games)


def _check_games(player: dict[str, Any], number: int) -> None:
    """Check that the file holds `number` games, before memory is allocated for them."""
    checked_fields(
        player, {"env": dict, "trajectories": dict, "store": dict, "pool": dict, "rule_calls": int}, "player"
    )
    arrays = checked_fields(player["env"], {"arrays": dict}, "env")["arrays"]
    checked_tensor(arrays.get("episodes"), "episodes", (number,), torch.int64)
    for name, array in arrays.items():
        if not isinstance(array, Tensor):
            raise FormatError(f"{short(name)} is not a tensor")
        checked_tensor(array, short(name), array.shape, array.dtype)


def restore_moments(optimizer: torch.optim.Adam, parameters: Sequence[nn.Parameter], state: dict[str, Any]) -> None:
    """Load the moments from a `state_dict` of the optimiser of these parameters, in order; its other settings stay.

    Raises:
        FormatError: the moments do not fit the parameters.
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
