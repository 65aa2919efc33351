"""Kinds of agents: the word before the colon of a spec selects one.

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
    """A kind of agent."""

    name: str  # the word that specs begin with, and the name of its entry point
    form: str  # form of its specs, for help texts and errors, as in "ppo:PATH"
    row: str  # description for the table in docs/arena.md, a line of Markdown
    # returns the agent for an argument (the part after the colon), a game and options. Raises AgentError if the
    # argument is wrong.
    make: Callable[[str, Game, Options], Agent]
    # returns a hash of the file that an argument refers to; "" if it refers to none
    fingerprint: Callable[[str], str] = _no_fingerprint
    # returns everything else that may affect results, as JSON values without secrets
    conditions: Callable[[str, Game, Options], dict[str, Any]] = _no_conditions
    # whether its code comes from outside cardenvs. Nothing that a guest receives may reveal the deal.
    guest: bool = True
    # where its agents run. "process": by default in a separate process for each game; "none": by default in the
    # caller's process; a match may choose otherwise. "shared": always in the caller's process, because they need its
    # keys or connections. "own": they already are separate processes.
    isolation: Isolation = "process"
    games: tuple[str, ...] = ()  # names of the only games that its agents play; (): any

    def plays(self, game: Game) -> bool:
        """Return whether its agents may play a game."""
        return not self.games or game.name in self.games


_added: dict[str, AgentKind] = {}  # kinds without an entry point, for tests


@functools.cache
def _installed() -> dict[str, importlib.metadata.EntryPoint]:
    points = importlib.metadata.entry_points(group=GROUP)
    return {point.name: point for point in sorted(points, key=_is_ours)}  # cardenvs last: its kinds win


def _is_ours(point: importlib.metadata.EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == _OURS


def kind_names(own: bool = False) -> list[str]:
    """Return the sorted names of all kinds, or only of those of cardenvs."""
    if own:
        return sorted(name for name, point in _installed().items() if _is_ours(point))
    return sorted({*_installed(), *_added})


def find_kind(name: str) -> AgentKind | None:
    """Return the kind with that name, or None.

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
    except Exception as error:  # the module of another package may raise anything
        raise AgentError(f"cannot load agents of kind {name!r} from {point.value}: {error}") from error
    if not isinstance(kind, AgentKind) or kind.name != name:
        raise AgentError(f"cannot load agents of kind {name!r}: {point.value} is not an AgentKind of that name")
    return kind


def kind_forms(game: Game) -> dict[str, str]:
    """Return the forms of the specs of the kinds that play a game, by name. One that cannot be loaded is its name."""
    forms = {}
    for name in kind_names():
        try:
            kind = find_kind(name)
        except AgentError:
            kind = None
        if kind is None or kind.plays(game):
            forms[name] = name if kind is None else kind.form
    return forms
