"""Agents of the kind `python`: an object, a function, a class or a factory in any module."""

import importlib
import os
import sys
import traceback
from pathlib import Path

from cardenvs.agents.adapt import adapted
from cardenvs.agents.base import Agent
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import file_fingerprint, files_fingerprint
from cardenvs.core.errors import AgentError, CardenvsError
from cardenvs.core.game import Game
from cardenvs.core.options import Options


def load_python(argument: str, game: Game, options: Options) -> Agent:
    """Return the agent of "MODULE:NAME", made in this process; see `cardenvs.agents.adapt` for what NAME may be.

    Raises:
        AgentError: the module or a factory fails, or there is no agent.
    """
    module_name, _, name = argument.partition(":")
    if not module_name or not name:
        raise AgentError(f"python agents are written python:MODULE:NAME; got 'python:{argument}'")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())  # a console script does not look in the folder it is run from
    what = f"'python:{argument}'"
    try:
        return adapted(getattr(importlib.import_module(module_name), name), game, options, what)
    except AgentError:
        raise
    except (ImportError, AttributeError, CardenvsError) as error:
        raise AgentError(f"cannot load agent {what}: {error}") from error
    except (Exception, SystemExit) as error:  # whatever the module or its factory raises
        raise AgentError(f"cannot load agent {what}: {raised_text(error)}") from error


def raised_text(error: BaseException) -> str:
    """Return an exception of an agent and its place in the code as one line."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}".split()) + where


def _fingerprint(argument: str) -> str:
    """Return a hash of the module's file, or of all of a package; "" if neither is found.

    The files are looked for as an import would, but nothing is imported: that would run code of strangers.
    """
    parts = argument.partition(":")[0].split(".")
    if not all(part.isidentifier() for part in parts):
        return ""
    for folder in map(Path, dict.fromkeys([os.getcwd(), *sys.path])):
        place = folder.joinpath(*parts)
        if os.path.isfile(place / "__init__.py"):  # Path.is_file raises if a name is too long
            return files_fingerprint(sorted(place.rglob("*.py")))
        if os.path.isfile(f"{place}.py"):
            return file_fingerprint(place.with_suffix(".py"))
    return ""


PYTHON = AgentKind(
    "python",
    "python:MODULE:NAME",
    "your own: a function of a turn, a class, an object, or a function of `(game, options)` that makes an agent",
    load_python,
    _fingerprint,
)
