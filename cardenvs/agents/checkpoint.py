"""Agents of the kind `ppo`: a checkpoint or weights of `cardenvs train`, by path. Imports torch only to make one."""

import hashlib
import importlib
from pathlib import Path

from cardenvs.agents.base import Agent
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import PARAMETER, Reader, read_parameters, truth
from cardenvs.core.errors import AgentError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options

WEIGHTS_SUFFIX = ".safetensors"  # of files of cardenvs.agents.weights

_PARAMETERS: dict[str, Reader] = {"sample": truth}


def _make(argument: str, game: Game, options: Options) -> Agent:
    path, parameters = _checkpoint(argument)
    values = read_parameters("ppo", parameters, _PARAMETERS)
    require("torch", "train")
    return importlib.import_module("cardenvs.agents.ppo").load_agent(path, game, options, **values)


def _fingerprint(argument: str) -> str:
    path, _ = _checkpoint(argument)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def checkpoint_of(argument: str) -> str:
    """Return the path in what follows `ppo:`."""
    return _split_checkpoint(argument)[0]


def _split_checkpoint(argument: str) -> tuple[str, str]:
    name, *rest = argument.split(",")
    while rest and not PARAMETER.match(rest[0]):  # a comma in the path
        name += f",{rest.pop(0)}"
    if not name:
        raise AgentError("ppo needs the path of a checkpoint, as in ppo:runs/latest.pt")
    return name, ",".join(rest)


def _checkpoint(argument: str) -> tuple[Path, str]:
    """Return the file of a ppo agent, and its parameters."""
    name, rest = _split_checkpoint(argument)
    path = Path(name)
    if not path.is_file():
        raise AgentError(f"ppo: there is no file {name!r}")
    return path, rest


PPO = AgentKind(
    "ppo",
    "ppo:PATH",
    "a policy trained by `cardenvs train`, its most likely action; `ppo:PATH,sample=true` samples from the policy",
    _make,
    _fingerprint,
    guest=False,
    isolation="none",
)
