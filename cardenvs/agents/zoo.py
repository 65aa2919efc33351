"""Agents of the kind `zoo`: trained policies that come with cardenvs, by name.

    zoo:GAME/NAME

The folder `cardenvs/zoo` has two files for each: its weights, NAME.safetensors, and its card, NAME.md, which says how
it was trained, how strong it is, and what it does badly.
"""

import hashlib
import importlib
from pathlib import Path

from cardenvs.agents.base import Agent
from cardenvs.agents.checkpoint import WEIGHTS_SUFFIX
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters, truth
from cardenvs.core.errors import AgentError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import did_you_mean

FOLDER = Path(__file__).resolve().parents[1] / "zoo"

_PARAMETERS: dict[str, Reader] = {"sample": truth}


def zoo_names() -> list[str]:
    """Return the names of all policies, sorted, as in "some_game_v0/ppo"."""
    return sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob(f"*/*{WEIGHTS_SUFFIX}"))


def weights_file(name: str) -> Path:
    """Return the file with the weights of a policy.

    Raises:
        AgentError: the zoo has no policy of that name.
    """
    names = zoo_names()
    if name not in names:  # so no name is ever made into a path
        hint = did_you_mean(name, names)
        raise AgentError(f"the zoo has no policy {name!r}; {hint}`cardenvs zoo list` lists all")
    return FOLDER / f"{name}{WEIGHTS_SUFFIX}"


def card(name: str) -> str:
    """Return the card of a policy, Markdown.

    Raises:
        AgentError: the zoo has no policy of that name.
    """
    return weights_file(name).with_suffix(".md").read_text(encoding="utf-8")


def _split(argument: str) -> tuple[str, str]:
    name, _, parameters = argument.partition(",")
    if not name:
        raise AgentError("zoo needs the name of a policy, as in zoo:GAME/ppo; `cardenvs zoo list` lists all")
    return name, parameters


def _make(argument: str, game: Game, options: Options) -> Agent:
    name, parameters = _split(argument)
    path, values = weights_file(name), read_parameters("zoo", parameters, _PARAMETERS)
    require("torch", "train")
    return importlib.import_module("cardenvs.agents.ppo").load_agent(path, game, options, **values)


def _fingerprint(argument: str) -> str:
    return hashlib.sha256(weights_file(_split(argument)[0]).read_bytes()).hexdigest()[:16]


ZOO = AgentKind(
    "zoo",
    "zoo:GAME/NAME",
    "a trained policy that comes with cardenvs; `cardenvs zoo list` lists them, and `sample=true` samples from them",
    _make,
    _fingerprint,
    guest=False,
    isolation="none",
)
