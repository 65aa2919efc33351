"""Kinds of agents: what the word before the colon of a spec selects.

A kind is one `AgentKind` object, registered by name in the entry-point group `cardenvs.agents`. A package may add one:

    [project.entry-points."cardenvs.agents"]
    oracle = "my_package.oracle:ORACLE"

A kind is imported when it is first used, so a broken or missing dependency affects only its own agents. A package other
than cardenvs cannot replace a kind of cardenvs.
"""

import functools
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from cardenvs.agents.base import Agent
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

GROUP = "cardenvs.agents"
Isolation = Literal["process", "none", "shared", "own"]
_OURS = "cardenvs"


def _no_fingerprint(argument: str) -> str:
    return ""


def _no_conditions(argument: str, game: Game, options: Options) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class AgentKind:
    """A kind of agents.

    Attributes:
        name: what specs begin with, and the name of its entry point.
        form: how its specs are written, for help texts and errors, as in "ppo:PATH".
        row: what plays, for the table in docs/arena.md: a line of Markdown.
        make: returns the agent of an argument (what follows the colon), a game and options. Raises AgentError if the
            argument is wrong.
        fingerprint: returns a hash of what an argument refers to, such as a file; "" if the spec says it all.
        conditions: returns everything else that may affect results, as JSON values without secrets.
        guest: whether its code is not part of cardenvs; what a guest gets must say nothing about the deal.
        isolation: where its agents run. "process": by default in a process for each game, and "none": in the caller's
            process; a match may choose otherwise. "shared": in the caller's process in any case, because they need its
            keys or connections. "own": they are processes of their own already.
    """

    name: str
    form: str
    row: str
    make: Callable[[str, Game, Options], Agent]
    fingerprint: Callable[[str], str] = _no_fingerprint
    conditions: Callable[[str, Game, Options], dict[str, Any]] = _no_conditions
    guest: bool = True
    isolation: Isolation = "process"


_added: dict[str, AgentKind] = {}  # without an entry point, for tests


@functools.cache
def _installed() -> dict[str, importlib.metadata.EntryPoint]:
    points = importlib.metadata.entry_points(group=GROUP)
    return {point.name: point for point in sorted(points, key=_is_ours)}  # ours come last, and win


def _is_ours(point: importlib.metadata.EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == _OURS


def kind_names(own: bool = False) -> list[str]:
    """Return the sorted names of all kinds, or of those of cardenvs. Installers do not order entry points."""
    if own:
        return sorted(name for name, point in _installed().items() if _is_ours(point))
    return sorted({*_installed(), *_added})


def find_kind(name: str) -> AgentKind | None:
    """Return the kind of that name, or None.

    Raises:
        AgentError: its package cannot be imported, or its entry point is not an AgentKind.
    """
    if name in _added:
        return _added[name]
    return _loaded(name) if name in _installed() else None


@functools.cache
def _loaded(name: str) -> AgentKind:
    point = _installed()[name]
    try:
        kind = point.load()
    except Exception as error:  # a foreign module may raise anything
        raise AgentError(f"cannot load agents of kind {name!r} from {point.value}: {error}") from error
    if not isinstance(kind, AgentKind) or kind.name != name:
        raise AgentError(f"cannot load agents of kind {name!r}: {point.value} is not an AgentKind of that name")
    return kind


def kind_form(name: str) -> str:
    """Return how specs of a kind are written; its name alone if it cannot be loaded."""
    try:
        kind = find_kind(name)
    except AgentError:
        return name
    return name if kind is None else kind.form
