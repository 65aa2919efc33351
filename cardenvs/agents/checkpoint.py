"""Agents of the kind `ppo`: a checkpoint or weights file of `cardenvs train`, by path. Importing it needs no torch."""

from pathlib import Path
from typing import TYPE_CHECKING

from cardenvs.agents.base import Agent
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, file_fingerprint, probability, read_parameters, split_file, truth
from cardenvs.core.errors import require
from cardenvs.core.game import Game
from cardenvs.core.options import Options

if TYPE_CHECKING:
    from cardenvs.agents.ppo import PPOAgent

_EXAMPLE = "runs/latest.pt"

PARAMETERS: dict[str, Reader] = {"sample": truth, "threshold": probability}


def load_network(
    path: Path, game: Game, options: Options, *, sample: bool = False, threshold: float = 0.0
) -> "PPOAgent":
    """Return the agent of a checkpoint or weights file; see `cardenvs.agents.ppo.load_agent`.

    Raises:
        MissingExtraError: torch is not installed.
        FormatError, OSError: as for `load_agent`.
    """
    require("torch", "train")
    from cardenvs.agents.ppo import load_agent

    return load_agent(path, game, options, sample=sample, threshold=threshold)


def _make(argument: str, game: Game, options: Options) -> Agent:
    path, parameters = split_file("ppo", argument, _EXAMPLE)
    return load_network(path, game, options, **read_parameters("ppo", parameters, PARAMETERS))


def _fingerprint(argument: str) -> str:
    path, _ = split_file("ppo", argument, _EXAMPLE)
    return file_fingerprint(path)


PPO = AgentKind(
    "ppo",
    "ppo:PATH",
    "a policy trained by `cardenvs train`, its most likely action; `ppo:PATH,sample=true` samples from the policy, "
    "and with `threshold=0.01` leaves out what has a probability below 1%",
    _make,
    _fingerprint,
    guest=False,
    isolation="none",
)
