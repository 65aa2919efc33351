"""Agents of the kind `python`: made by a function of any module."""

import importlib
import os
import sys
import traceback
from pathlib import Path

from cardenvs.agents.base import Agent
from cardenvs.agents.kinds import AgentKind
from cardenvs.core.errors import AgentError, CardenvsError
from cardenvs.core.game import Game
from cardenvs.core.options import Options


def load_python(argument: str, game: Game, options: Options) -> Agent:
    """Return the agent of "MODULE:FACTORY", made in this process.

    Raises:
        AgentError: the module or the factory fails, or what it returns is not an agent.
    """
    module_name, _, factory_name = argument.partition(":")
    if not module_name or not factory_name:
        raise AgentError(f"python agents are written python:MODULE:FACTORY; got 'python:{argument}'")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())  # a console script does not look in the folder it is run from
    try:
        agent = getattr(importlib.import_module(module_name), factory_name)(game, options)
    except (ImportError, AttributeError, CardenvsError) as error:
        raise AgentError(f"cannot load agent 'python:{argument}': {error}") from error
    except (Exception, SystemExit) as error:  # whatever the module or its factory raises
        raise AgentError(f"cannot load agent 'python:{argument}': {raised_text(error)}") from error
    missing = [method for method in ("act", "reset") if not callable(getattr(agent, method, None))]
    if missing:
        raise AgentError(f"'python:{argument}' gave {agent!r}, which is not an agent: it lacks {' and '.join(missing)}")
    return agent


def raised_text(error: BaseException) -> str:
    """Return what an agent raised, and where, in a line."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}".split()) + where


PYTHON = AgentKind(
    "python", "python:MODULE:FACTORY", "your own: `FACTORY(game, options)` returns an Agent", load_python
)
