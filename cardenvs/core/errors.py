"""Every error that cardenvs raises on purpose.

Messages say what was wrong, why, and what would be valid. A call that raises one of them changes nothing.
"""

from typing import Any, Self


class CardenvsError(Exception):
    """Base class of all errors below."""


class IllegalActionError(CardenvsError, ValueError):
    """The rules do not allow this action now. Nothing has changed."""


class OptionError(CardenvsError, ValueError):
    """An unknown option, or an invalid value of an option."""


class DeckError(CardenvsError, ValueError):
    """An explicit deck or a card text is invalid."""


class GameNotFoundError(CardenvsError, KeyError):
    """No game with this name is registered."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class PolicyNotFoundError(CardenvsError, LookupError):
    """The game has no policy with this name."""


class FormatError(CardenvsError, ValueError):
    """Saved data (a state, a replay, a checkpoint) is damaged, foreign or from another version."""


class FileError(CardenvsError, OSError):
    """A path cannot be read or written. Raised before the work whose result it would hold."""

    def __str__(self) -> str:  # OSError would show its arguments
        return str(self.args[0])


class HiddenInformationError(CardenvsError, PermissionError):
    """A determinized twin was asked for something that its player cannot know."""


class AgentError(CardenvsError, RuntimeError):
    """An agent cannot be created, or failed while playing: it raised an error or chose an illegal action."""


class AgentFailureError(AgentError):
    """An attempt at a decision failed.

    Attributes:
        kind: kind of failure in one word: "timeout", "crash", "memory", "protocol", ...
        final: whether a retry is pointless, because the agent has used all its attempts.
        forced: whether to play the game's safe action instead of forfeiting.
    """

    def __init__(self, kind: str, message: str, final: bool = False, forced: bool = False) -> None:
        super().__init__(message)
        self.kind, self.final, self.forced = kind, final, forced


class SolvingError(CardenvsError, NotImplementedError):
    """A game cannot be solved by listing it: it has too many deals or positions, or its players forget."""


class StaleTurnError(CardenvsError, RuntimeError):
    """A Turn was used after the game had moved on."""


class ArenaError(CardenvsError, RuntimeError):
    """A match cannot be played, or a store of results cannot be used."""


class ImpossibleStateError(CardenvsError, RuntimeError):
    """A state that the rules cannot lead to, such as chips that do not add up. A bug in a game, not in its caller."""


class FoldError(CardenvsError, RuntimeError):
    """An event does not fit the table to which it is applied. A bug in a game, not in its caller."""


class ConcurrentUseError(CardenvsError, RuntimeError):
    """Two threads used one object at the same time. The call that raises it has changed nothing."""

    @classmethod
    def of(cls, what: str) -> Self:
        """Return the error for a kind of object."""
        return cls(
            f"another thread is using this {what}: use it from one thread at a time, or give each thread a copy of its "
            "own (clone() or copy.deepcopy)"
        )


class MissingExtraError(CardenvsError, ImportError):
    """An optional dependency is not installed, or is installed and cannot be imported."""


def require(module: str, extra: str) -> Any:
    """Import and return `module`.

    Raises:
        MissingExtraError: the module is not installed, and the message names the extra of cardenvs that installs it; or
            it is installed and its import fails, and the message has the reason and the package to reinstall.
    """
    import importlib

    try:
        return importlib.import_module(module)
    except Exception as error:  # a broken package may raise anything: OSError for a library, AttributeError, ...
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise MissingExtraError(
                f"this needs {module!r}, which is not installed; install it with: pip install 'cardenvs[{extra}]'"
            ) from error
        raise MissingExtraError(
            f"this needs {module!r}, which is installed but cannot be imported ({type(error).__name__}: {error}); "
            f"repair it with: pip install --force-reinstall {' '.join(_distributions(module))}"
        ) from error


def _distributions(module: str) -> list[str]:
    """Return the names under which pip knows an installed module, or the module's own if it knows none."""
    from importlib.metadata import packages_distributions

    top = module.partition(".")[0]
    return packages_distributions().get(top, [top])
