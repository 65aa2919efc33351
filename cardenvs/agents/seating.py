"""An agent in its seat, and the loop that plays a game.

    seats = [Seat(agent, player, seeds[player]) for player, agent in enumerate(agents)]
    for seat in seats:
        seat.begin(state)
    play_out(state, seats)
    for seat in seats:
        seat.end(state)

A `Seat` calls its agent directly and raises what the agent raises. An `AgentProxy` (cardenvs.agents.guarded.proxy)
has the same methods, limits the agent, and never raises. Matches play many games side by side, so they take the same
steps in an order of their own (cardenvs.arena.play).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.core.errors import AgentFailureError, IllegalActionError
from cardenvs.core.state import State

if TYPE_CHECKING:
    from cardenvs.agents.observers import Watched

OK, FORCED, FORFEITED = "ok", "forced", "forfeit"


@dataclass(frozen=True)
class Decision:
    """The outcome of one decision."""

    player: int  # the player that decided
    ply: int  # number of actions before it
    action: int  # the action to apply: a legal id, or FORFEIT + player
    outcome: str  # "ok", "forced" or "forfeit"
    seconds: float  # time of all tries together
    failures: tuple[Failure, ...] = ()  # the failed tries, oldest first
    notes: dict[str, Any] = field(default_factory=dict)  # the agent's notes, JSON values
    trace: str = ""  # traceback of the last failed try, for debugging the agent; "" if none failed


class Player(Protocol):
    """Decides for one player in a game that has begun: a Seat or an AgentProxy."""

    def decide(self, state: State) -> Decision:
        """Choose an action for the player to act."""

    def observe(self, state: State) -> None:
        """Called after every applied action."""


class Seat:
    """An agent as one player of one game."""

    def __init__(self, agent: Agent, player: int, seed: int, guest: bool = True) -> None:
        """Seat an agent without calling it. Agents and functions given as objects are guests; see `specs.is_guest`."""
        self.agent = agent
        self.player = player
        self.seed = seed  # the agent's seed for this game
        self.guest = guest  # whether its code is from outside cardenvs
        self._decisions, self._last_ply = 0, -2
        # whether the agent wants to see events as they happen
        self.is_observer = callable(getattr(agent, "observe", None))
        self._shown = 0  # number of events shown to the observer

    def begin(self, state: State) -> None:
        """Reset the agent for the game that begins in `state`, and show an observer the deal."""
        take_seat = getattr(self.agent, "take_seat", None)
        if callable(take_seat):  # a process needs to know its player
            take_seat(self.player)
        self.agent.reset(self.seed)
        self.observe(state)

    def turn(self, state: State) -> Turn:
        """Return the turn of the player to act in `state`.

        A guest's turn refers to a twin; only agents of cardenvs get a turn that refers to `state` itself.
        """
        turn = Turn(state, self.seed, self._decisions, goes_on=state.ply == self._last_ply + 1)
        if not self.guest:
            return turn
        return Turn(turn.determinize(turn.seed), self.seed, turn.decision, turn.goes_on)

    def decide(self, state: State) -> Decision:
        """Ask the agent for an action.

        Raises:
            AgentFailureError: the action is not legal.
            Exception: the agent raised it.
        """
        turn = self.turn(state)
        started = time.perf_counter()
        action = self.agent.act(turn)
        seconds = time.perf_counter() - started
        if turn.failures and getattr(self.agent, "is_isolated", False):
            raise AgentFailureError(turn.failures[0].kind, turn.failures[0].message)
        return self.accept(state, turn, action, seconds)

    def accept(self, state: State, turn: Turn, action: Any, seconds: float) -> Decision:
        """Return the decision of an agent that chose `action`, alone or in a batch.

        Raises:
            AgentFailureError: the action is not legal.
        """
        chosen = checked_choice(state, action)
        self.decided(state)
        return Decision(self.player, state.ply, chosen, OK, seconds, tuple(turn.failures), turn.notes)

    def decided(self, state: State) -> None:
        """Note that the player has decided in `state`; its action is about to be applied."""
        self._decisions += 1
        self._last_ply = state.ply

    def observe(self, state: State) -> None:
        """Show an observer the events that it has not seen yet."""
        if not self.is_observer:
            return
        rows = state.event_rows(self.player)
        events = [state.game.table.read(row) for row in rows[self._shown :]]
        self._shown = len(rows)
        if events:
            self.agent.observe(events)  # type: ignore[attr-defined]

    def end(self, state: State) -> None:
        """End the game."""
        ended = getattr(self.agent, "end", None)
        if callable(ended):
            ended(state.returns)


def play_out(
    state: State,
    players: Sequence[Player],
    watch: Callable[[State, Decision], None] | None = None,
    watched: "Watched | None" = None,
) -> list[Decision]:
    """Play a game that has begun to its end, in place, and return all decisions in order.

    All players have begun. `watch` is called after each applied action; `watched` are the observers of the game.
    """
    decisions = []
    while not state.is_terminal:
        if watched is not None:
            watched.asks(state)
        decision = players[state.current_player].decide(state)
        if watched is not None:
            watched.acts(state, decision)
        state.apply(decision.action)
        if watched is not None:
            watched.happened(state)
        for player in players:
            player.observe(state)
        decisions.append(decision)
        if watch is not None:
            watch(state, decision)
    if watched is not None:
        watched.ended(state)
    return decisions


def checked_choice(state: State, action: Any) -> int:
    """Return the action that an agent chose. Raises AgentFailureError if the action is not legal."""
    try:
        state.check_legal(action)
    except IllegalActionError as error:
        raise AgentFailureError("illegal", f"its choice is not legal: {error}") from None
    return int(action)
