"""The agent of a client: it hands turns over to the thread that answers the client, and waits for moves."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.terminal import offered
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.narration import Narrator
from cardenvs.core.options import Options
from cardenvs.core.view import Candidate

_Read = TypeVar("_Read")


@dataclass
class SeatedGame:
    """One game as its player has seen it.

    Attributes:
        number: number of the game in the session, from 1.
        events: all that the player has seen.
        told: number of events already reported to the client.
        returns: the returns of all players when the game is over.
    """

    number: int
    game: Game
    options: Options
    player: int
    events: list[Event] = field(default_factory=list)
    told: int = 0
    returns: tuple[float, ...] | None = None

    def lines(self, first: int = 0) -> list[str]:
        """Return the events from number `first` on, as sentences to the player."""
        return Narrator(self.game, self.player, self.options.num_players, symbols=False).sentences(self.events[first:])


class ClientSeat(Agent):
    """The client of a session, in one game at a time.

    The thread of the match calls the first half of the methods, those that answer the client the second half.
    """

    enforces_time_limit = True

    def __init__(self, seconds: float | None = None) -> None:
        """Create a seat whose client must decide within `seconds`; None: no limit."""
        self.name = "mcp"
        self.is_closed = False
        self.current: SeatedGame | None = None  # the latest game that has begun
        self.finished: list[SeatedGame] = []  # games that are over and not yet reported to the client
        self._seconds = seconds
        self._changed = threading.Condition()
        self._turn: Turn | None = None  # what the client is asked
        self._planned: list[int] = []  # actions that the client has chosen; the first one answers the turn
        self._resigned = False
        self._player = 0
        self._games = 0
        self._place: tuple[Game, Options] | None = None

    # -- called by the match ------------------------------------------------------------------------------------

    def at(self, game: Game, options: Options) -> "ClientSeat":
        """Prepare for a match of this game, and return the seat itself."""
        self._place = game, options
        return self

    def take_seat(self, player: int) -> None:
        """Note the player of the next game."""
        self._player = player

    def reset(self, seed: int) -> None:
        """Begin a game."""
        assert self._place is not None
        with self._changed:
            self._games += 1
            self._planned, self._turn, self._resigned = [], None, False
            self.current = SeatedGame(self._games, *self._place, self._player)

    def observe(self, events: list[Event]) -> None:
        """Note what the player has seen."""
        assert self.current is not None
        with self._changed:
            self.current.events += events

    def act(self, turn: Turn) -> int:
        """Return the client's next action; the only legal one without asking.

        Raises:
            AgentFailureError: the client has resigned, left, or run out of time. The game counts as forfeited.
        """
        if not self._planned and len(turn.legal_actions) == 1:
            return turn.legal_actions[0]
        with self._changed:
            if not self._planned:
                self._turn = turn
                self._changed.notify_all()
                in_time = self._changed.wait_for(
                    lambda: bool(self._planned) or self._resigned or self.is_closed, self._seconds
                )
                self._turn = None
                if self.is_closed:
                    raise AgentFailureError("left", "the client has left", final=True)
                if self._resigned:
                    raise AgentFailureError("resigned", "the client has resigned", final=True)
                if not in_time:
                    raise AgentFailureError("timeout", f"no move came in {self._seconds:g} seconds", final=True)
            return self._planned.pop(0)

    def end(self, returns: list[float]) -> None:
        """Note the results."""
        assert self.current is not None
        with self._changed:
            self.current.returns = tuple(map(float, returns))
            self.finished.append(self.current)
            self._changed.notify_all()

    # -- called for the client ----------------------------------------------------------------------------------

    def wait(self, seconds: float, until: Callable[[], bool]) -> None:
        """Wait until the client is to move or `until` is true, but no longer than `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn is not None or until(), seconds)

    def wake(self) -> None:
        """Let `wait` look at `until` again."""
        with self._changed:
            self._changed.notify_all()

    def asked(self, read: Callable[[Turn], _Read]) -> _Read | None:
        """Return what `read` makes of the client's turn, which stays open meanwhile; None if it is not to move."""
        with self._changed:
            return None if self._turn is None else read(self._turn)

    def choose(self, chosen: Callable[[Turn, list[Candidate]], tuple[int, ...]]) -> bool:
        """Answer the client's turn by what `chosen` makes of it and of the moves on offer.

        Returns:
            False if the client is not to move.
        """
        with self._changed:
            if self._turn is None:
                return False
            self._planned = list(chosen(self._turn, offered(self._turn)))
            self._turn = None
            self._changed.notify_all()
            return True

    def resign(self) -> None:
        """Forfeit the game at the client's next decision."""
        with self._changed:
            self._resigned, self._turn, self._planned = True, None, []
            self._changed.notify_all()

    def leave(self) -> None:
        """Forfeit the game, and all that may begin later."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()


_seats: dict[str, ClientSeat] = {}  # of the sessions of this process, by the argument of their spec


def register(name: str, seat: ClientSeat) -> None:
    """Let matches of this process find a seat as `mcp:NAME`."""
    _seats[name] = seat


def unregister(name: str) -> None:
    """Forget a seat."""
    _seats.pop(name, None)


def _make(argument: str, game: Game, options: Options) -> Agent:
    seat = _seats.get(argument)
    if seat is None:
        raise AgentError(f"mcp:{argument} is a client of `cardenvs mcp`, which has to run its match")
    return seat.at(game, options)


MCP = AgentKind(
    "mcp",
    "mcp:NAME",
    "a client of the Model Context Protocol; [`cardenvs mcp`](mcp.md) runs its matches",
    _make,
    isolation="shared",
)
