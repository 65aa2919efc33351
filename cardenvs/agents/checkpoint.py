"""Agents of the kind `ppo`: a checkpoint or weights of `cardenvs train`, by path. Imports torch only to make one."""

import hashlib
import importlib

from cardenvs.agents.base import Agent
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters, split_file, truth
from cardenvs.core.errors import require
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_EXAMPLE = "runs/latest.pt"
WEIGHTS_SUFFIX = ".safetensors"  # of files of cardenvs.agents.weights

_PARAMETERS: dict[str, Reader] = {"sample": truth}


def _make(argument: str, game: Game, options: Options) -> Agent:
    path, parameters = split_file("ppo", argument, _EXAMPLE)
    values = read_parameters("ppo", parameters, _PARAMETERS)
    require("torch", "train")
    return importlib.import_module("cardenvs.agents.ppo").load_agent(path, game, options, **values)


def _fingerprint(argument: str) -> str:
    path, _ = split_file("ppo", argument, _EXAMPLE)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


PPO = AgentKind(
    "ppo",
    "ppo:PATH",
    "a policy trained by `cardenvs train`, its most likely action; `ppo:PATH,sample=true` samples from the policy",
    _make,
    _fingerprint,
    guest=False,
    isolation="none",
)
