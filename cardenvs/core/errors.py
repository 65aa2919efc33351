"""Every error that cardenvs raises on purpose.

Each message says what was tried, why it was refused and what would do; nothing is changed by a refused call.
"""


class CardenvsError(Exception):
    """Base class of all errors below."""


class IllegalActionError(CardenvsError, ValueError):
    """An action that the rules do not allow now. Nothing was changed."""


class OptionError(CardenvsError, ValueError):
    """An unknown option, or a value that an option does not take."""


class DeckError(CardenvsError, ValueError):
    """An explicit deck or a card text that cannot be used."""


class GameNotFoundError(CardenvsError, KeyError):
    """No game of that name is registered."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class PolicyNotFoundError(CardenvsError, LookupError):
    """The game has no policy of that name."""


class FormatError(CardenvsError, ValueError):
    """Saved data (a state, a replay, a checkpoint) that is damaged, foreign or of another version."""


class FileError(CardenvsError, OSError):
    """A path that cannot be read or written as asked; said before the work whose result it was to hold."""

    def __str__(self) -> str:  # OSError would show its arguments
        return str(self.args[0])


class HiddenInformationError(CardenvsError, PermissionError):
    """Something was asked of a determinized twin that its player cannot know."""


class AgentError(CardenvsError, RuntimeError):
    """An agent that cannot be made, or that failed while playing: it raised, or chose what is not legal."""


class AgentFailureError(AgentError):
    """A failed try at a decision.

    Attributes:
        kind: the class of the failure, in a word: "timeout", "crash", "memory", "protocol", ...
        final: whether it makes no sense to ask again: the agent has tried as often as it may.
        forced: whether the game's safe action is to be played then, where the player would forfeit otherwise.
    """

    def __init__(self, kind: str, message: str, final: bool = False, forced: bool = False) -> None:
        super().__init__(message)
        self.kind, self.final, self.forced = kind, final, forced


class StaleTurnError(CardenvsError, RuntimeError):
    """A Turn was asked for something after the game had moved on."""


class ArenaError(CardenvsError, RuntimeError):
    """A match that cannot be played, or a store of results that cannot be used, as asked."""


class ImpossibleStateError(CardenvsError, RuntimeError):
    """A state that the rules cannot lead to, such as chips that do not add up: a defect, never of a caller."""


class FoldError(CardenvsError, RuntimeError):
    """An event that does not fit the table it is folded into: a defect of a game, never of a caller."""


class MissingExtraError(CardenvsError, ImportError):
    """An optional dependency is needed that is not installed."""


def require(module: str, extra: str):
    """Import `module`, or say which extra of cardenvs brings it.

    Raises:
        MissingExtraError: the module is not installed.
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs {module!r}, which is not installed; install it with: pip install 'cardenvs[{extra}]'"
        ) from error
