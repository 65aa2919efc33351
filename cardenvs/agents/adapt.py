"""What people bring as an agent, as an `Agent`: an object, a function, a class, or a function that makes one of these.

    def cautious(turn):                 # a function of a turn
        return turn.legal_actions[0]

    class Bold:                         # a class; `reset(seed)` and `name` are optional
        def act(self, turn):
            return turn.legal_actions[-1]

    def make(game, options):            # a factory
        return Bold()

`Match.of`, `SeatEnv` and specs such as `python:MODULE:NAME` take any of them.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

from cardenvs.agents.base import Agent, Turn
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ONE_OF = (
    "an agent is an object with act(turn), a function of a turn, a class of such objects, "
    "or a function of (game, options) that makes one"
)


class _Adapted(Agent):
    """An agent that lacks `reset` or `name`, or is only a function."""

    def __init__(self, given: Any, act: Callable[[Turn], int], name: str) -> None:
        self.given, self.name = given, name
        self._act = act

    def act(self, turn: Turn) -> int:
        return self._act(turn)

    def reset(self, seed: int) -> None:
        if callable(getattr(self.given, "reset", None)):
            self.given.reset(seed)

    def __getattr__(self, name: str) -> Any:  # observe, end, close, io_bound, ... if the agent has them
        if name == "given" or name.startswith("__"):  # not there yet, as while it is copied
            raise AttributeError(name)
        return getattr(self.given, name)


def adapted(given: Any, game: Game, options: Options, what: str = "") -> Agent:
    """Return the agent that somebody means. Classes and factories are called.

    A function with one required argument is the agent itself and gets a Turn; one with two is a factory and gets game
    and options, as does a class whose objects are made from two. Functions and classes without required arguments get
    both if they take both, and nothing otherwise.

    Args:
        given: an agent, a function, a class or a factory.
        game, options: what the agent plays.
        what: what error messages call it; by default its own name.

    Raises:
        AgentError: it is none of these, or it does not make an agent.
        Exception: whatever a class or a factory raises.
    """
    what = what or name_of(given)
    if _acts(given):
        return _whole(given)
    if not callable(given):
        raise AgentError(f"{what} is not an agent: {_ONE_OF}")
    if not isinstance(given, type) and _num_required(given, what) == 1:
        return _Adapted(given, given, name_of(given))
    made = given(*_arguments(given, game, options, what))
    if _acts(made):
        return _whole(made)
    if callable(made) and not isinstance(made, type) and _num_required(made, what) == 1:
        return _Adapted(made, made, name_of(made))
    raise AgentError(f"{what} made {made!r}, which is not an agent: it lacks act(turn)")


def own_copy(given: Any) -> Any:
    """Return a copy of an agent for one table, so that games do not depend on each other. Classes and functions stay.

    Raises:
        AgentError: it cannot be copied.
    """
    try:
        return copy.deepcopy(given)
    except Exception as error:  # whatever its parts raise
        raise AgentError(
            f"{name_of(given)} cannot be copied for each table ({error}); give its class or a function that makes it"
        ) from error


def name_of(given: Any) -> str:
    """Return the name of an agent, a function or a class."""
    name = getattr(given, "name", None) or getattr(given, "__name__", None) or type(given).__name__
    return str(name)


def _acts(given: Any) -> bool:
    return not isinstance(given, type) and callable(getattr(given, "act", None))


def _whole(agent: Any) -> Agent:
    if callable(getattr(agent, "reset", None)) and isinstance(getattr(agent, "name", None), str):
        return agent  # type: ignore[no-any-return]
    return _Adapted(agent, agent.act, name_of(agent))


def _arguments(maker: Callable[..., Any], game: Game, options: Options, what: str) -> tuple[Any, ...]:
    required = _num_required(maker, what)
    if required not in (0, 2):
        raise AgentError(f"{what} needs {required} argument{'s' * (required != 1)}; {_ONE_OF}")
    takes_both = required == 2 or sum(one.kind in _POSITIONAL for one in _parameters(maker, what)) >= 2
    return (game, options) if takes_both else ()


def _num_required(function: Callable[..., Any], what: str) -> int:
    parameters = _parameters(function, what)
    return sum(
        one.default is inspect.Parameter.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        for one in parameters
    )


def _parameters(function: Callable[..., Any], what: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C
        raise AgentError(f"{what} does not say which arguments it takes; {_ONE_OF}") from None
