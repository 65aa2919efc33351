"""What a checkpoint says of a run, checked before a run is made of it: checkpoints come from anybody."""

from typing import Any

import torch
from torch import Tensor

from cardenvs.agents.ppo import check_model, checked_fields, checked_tensor
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
    """Return the settings and the state of the run in a checkpoint, that came from `where`.

    Raises:
        FormatError: it has not all that a run needs, or more games than it says.
        OptionError: a setting is invalid.
    """
    checked_fields(checkpoint, {"training": dict, "config": dict}, "the checkpoint")
    training = checked_fields(checkpoint["training"], _TRAINING_FIELDS, "training")
    config = Config.make(checkpoint["config"], where)
    _check_progress(training)
    _check_unlogged(training.get("unlogged"))
    _check_games(training["player"], config.num_envs)
    _check_ahead(training.get("ahead"), config)
    _check_exploiter(training.get("exploiter"), config)
    check_model(checkpoint["model"], checkpoint["shape"])
    return config, training


def network_state(checkpoint: dict[str, Any], network: Any, config: Config) -> dict[str, Any]:
    """Return the weights of the network, which are those of the policy unless that is a moving average."""
    if (network is None) != (config.magnet_decay == 0):
        raise FormatError("training has a network besides the policy without the setting, or the reverse")
    if network is None:
        return checkpoint["model"]
    check_model(checked_fields({"network": network}, {"network": dict}, "training")["network"], checkpoint["shape"])
    return network


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
    """Refuse a number of games other than that of the games in the file, before room is made for them."""
    checked_fields(
        player, {"env": dict, "trajectories": dict, "store": dict, "pool": dict, "rule_calls": int}, "player"
    )
    arrays = checked_fields(player["env"], {"arrays": dict}, "env")["arrays"]
    checked_tensor(arrays.get("episodes"), "episodes", (number,), torch.int64)
    for name, array in arrays.items():
        if not isinstance(array, Tensor):
            raise FormatError(f"{short(name)} is not a tensor")
        checked_tensor(array, short(name), array.shape, array.dtype)
