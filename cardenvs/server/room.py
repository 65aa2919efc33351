"""A room: a table with its agents and its connections.

Everything here runs in the event loop, so two requests never change a table at the same time. Agents think in threads,
each with a copy of the game; a decision counts only if the table has not changed since.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import math
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from starlette.websockets import WebSocket, WebSocketDisconnect

from cardenvs.agents.base import Failure
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.seating import FORCED, OK, Decision
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import CardenvsError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.state import State
from cardenvs.server.agents import ANSWERS, Threads, agent_specs, ask_once, seated
from cardenvs.server.failures import Stopped, could_not_answer, notes_of, reason_of
from cardenvs.server.history import past
from cardenvs.server.messages import Message, read_player, read_viewer
from cardenvs.server.names import seat_names, with_names
from cardenvs.server.settings import SLOWEST, Settings
from cardenvs.server.strength import label
from cardenvs.server.table import PERSON, Asked, RefusedError, Table

NOT_KEPT = "the server cannot write to its disk, so nothing has changed; try again later"
_WAITS = "the server cannot write to its disk; the game continues as soon as it can"
_FORCED = "{agent} gave no valid answer, so the safe action was played for player_{player}"
_RETRY_SECONDS = 2.0
_MOST_CHANGES = 8  # of who plays a player, before the next move: each may begin an agent's thinking again
_AWAY_SECONDS = 60.0  # time without a connection after which an agent may play for a person

_log = logging.getLogger("cardenvs.server")
_Result = TypeVar("_Result")


class Connection:
    """A client that looks at a table.

    A slow client does not delay others. It may miss positions: it gets the latest one whenever it is ready.
    """

    def __init__(self, room: "Room", link: str, socket: WebSocket) -> None:
        """Connect a client that opened a link of the room's table."""
        self.link = link  # link of the table with which the client connected
        self.room, self._socket = room, socket
        self.seat = room.table.seat_of(link)  # player whose link it is, or None
        self.viewer = SPECTATOR if self.seat is None else self.seat  # whose view the client gets
        self.narrow = False  # whether it wants pictures for a narrow screen
        self._changed = asyncio.Event()
        self._changed.set()
        self._shown: tuple[Any, ...] = ()
        # what the client has got; it needs no old beats
        self._lines, self._folds, self._beats, self._rewinds = 0, 0, -1, 0

    def wake(self) -> None:
        """Send the position if it has changed."""
        self._changed.set()

    def begin_again(self) -> None:
        """Send everything again, as to a new client."""
        self._shown, self._lines, self._folds, self._beats = (), 0, 0, -1
        self.wake()

    async def feed(self) -> None:
        """Send positions as they change, until the socket closes."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            text = self._news()
            if text is not None:
                await self._socket.send_text(text)

    async def say(self, kind: str, **fields: Any) -> None:
        """Send a message that is not a position, unless the socket is closed.

        What agents were asked and answered is sent word by word, everything else with the players' names.
        """
        text = json.dumps({"type": kind} | fields)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(text if kind == "log" else with_names(text, self.room.names))

    def _news(self) -> str | None:
        """Return the next message, or None if the client has the latest position."""
        room, table = self.room, self.room.table
        shown = table.show(self.viewer)
        status = room.status(self)
        key = (self.viewer, self.narrow, shown.turn, status)
        if key == self._shown:
            return None
        self._shown = key
        if shown.rewinds != self._rewinds:
            self._lines, self._folds, self._beats, self._rewinds = 0, 0, -1, shown.rewinds
        beats = [] if self._beats < 0 else shown.beats[self._beats :]
        said = {
            "type": "position", "turn": shown.turn, "events": shown.event_ends[-1], "log_at": self._lines,
            "log": shown.lines[self._lines :], "folds": shown.folds[self._folds :], "beats": beats,
        }  # fmt: skip
        if self._beats < 0:
            said |= {"agents": room.offered, "usual": table.usual_agent}
        self._lines, self._folds, self._beats = len(shown.lines), len(shown.folds), len(shown.beats)
        news = with_names(f"{json.dumps(said)[:-1]},{status}", room.names)
        return f"{news},{room.picture(self.viewer, self.narrow)}}}"


@dataclass
class _Round:
    """A pause after a hand or round for people to read the scores."""

    number: int = 0  # number of hands or rounds that have ended
    until: float = 0.0  # time at which agents continue in any case, of time.monotonic
    ready: set[int] = field(default_factory=set)  # players who have read the scores


@dataclass(frozen=True)
class Kept:
    """What a room hands over to the next one of its table, when it is unloaded and loaded again."""

    paused: bool
    pace: float
    on_clock: tuple[int, int, float]  # the person to act, the number of moves, and the deadline, of time.monotonic
    due: float = math.inf  # when the person to act forfeits, of time.monotonic; infinite if no clock runs


class Room:
    """A table, its agents and its connections."""

    def __init__(self, table: Table, settings: Settings, threads: Threads, kept: Kept | None = None) -> None:
        """Create a room; `start` lets its agents play. It goes on from what an earlier room has kept."""
        kept = kept or Kept(False, settings.pace, (-1, -1, 0.0))
        self.table = table
        self.names = seat_names(table.record.watch, table.state.num_players)  # by which clients know the players
        self._settings, self._threads = settings, threads
        self.offered = [  # the agents that may sit here and give hints, with what people call them
            {"name": name, "label": name if name in settings.offered_agents() else label(name, table.state.game)}
            for name in self._specs()
        ]
        self._pictures: dict[tuple[int, bool], tuple[str, str]] = {}  # without and with names, by viewer and form
        self.connections: set[Connection] = set()
        self.paused = kept.paused  # whether agents are paused
        self.pace = kept.pace  # seconds between agents' moves
        self.problem = ""  # message to everybody at the table, or ""
        # the agent that gave no answer, while the game waits for a person to let it try again
        self.stopped: Stopped | None = None
        self._round = _Round(table.num_rounds)
        self._left = time.monotonic()  # when the last client left
        self._left_at: dict[int, float] = {}  # when each player last left
        self._steps = 0  # moves that paused agents may still make
        self._stirred = asyncio.Event()
        self._players: dict[int, tuple[str, AgentProxy]] = {}  # seated agents and their names
        self._call: Future[Any] | None = None  # the last call of an agent
        self._task: asyncio.Task[None] | None = None
        self._hints = itertools.count()
        self._on_clock = kept.on_clock
        self._changes: dict[int, tuple[int, int]] = {}  # of who plays a player: at how many moves, how many

    def start(self) -> None:
        """Start the task that lets agents play."""
        self._task = asyncio.get_running_loop().create_task(self._drive())

    async def stop(self, at_once: bool = False) -> None:
        """Stop the agents; `at_once` kills their processes. The table can be loaded again."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if at_once:
            for _, proxy in self._players.values():
                proxy.kill()
        if self._call is not None and not self._call.done():  # agents are not thread-safe
            with contextlib.suppress(Exception):
                await asyncio.wrap_future(self._call)
        await self._dismiss(list(self._players))

    async def _dismiss(self, players: list[int]) -> None:
        """Close the agents of some players."""
        for player in players:
            name, proxy = self._players.pop(player)
            await self._in_thread(name, proxy.close)

    def is_idle(self, seconds: float) -> bool:
        """Return whether no client was connected for `seconds`, and no agent can act."""
        return self.waits_for_people and not self.connections and time.monotonic() - self._left >= seconds

    @property
    def waits_for_people(self) -> bool:
        """Whether the game waits for a person."""
        return self.table.agent_to_act == PERSON or self.stopped is not None or self._is_held

    @property
    def _is_held(self) -> bool:
        """Whether agents are paused and may make no more moves."""
        return self.paused and not self._steps

    @property
    def kept(self) -> Kept:
        """What the next room of this table should know."""
        table, (person, _, due) = self.table, self._on_clock
        is_running = table.record.clock and table.agent_to_act == PERSON and table.state.current_player == person
        return Kept(self.paused, self.pace, self._on_clock, due if is_running else math.inf)

    def leave(self, connection: Connection) -> None:
        """Remove a client that disconnected."""
        self.connections.discard(connection)
        self._left = time.monotonic()
        if connection.seat is not None:
            self._left_at[connection.seat] = self._left
        self.tell_all()

    # -- status -------------------------------------------------------------------------------------------------

    def picture(self, viewer: int, narrow: bool) -> str:
        """Return `Table.picture` with the players' names, written once for all who see the same."""
        picture = self.table.picture(viewer, narrow)
        before, named = self._pictures.get((viewer, narrow), ("", ""))
        if picture is not before:
            named = with_names(picture, self.names)
            self._pictures[viewer, narrow] = picture, named
        return named

    def status(self, connection: Connection) -> str:
        """Return the room's status as JSON members without the braces. Clients with equal rights get equal text."""
        table, is_host = self.table, connection.link == self.table.record.host
        made = {
            "seat": connection.seat,
            "host": is_host,
            "here": self._here(),
            "controls": self._controls(connection),
            "sees_all": is_host and not table.people,
            "paused": self.paused,
            "pace": self.pace,
            "clock": table.record.clock,
            "problem": self.problem,
            "stopped": self._stop_json(connection),
            "round": self._round_json(connection),
        }
        return json.dumps(made)[1:-1]

    def _here(self) -> list[int]:
        """Return the players whose owners are connected."""
        return sorted({other.seat for other in self.connections if other.seat is not None})

    def _is_here(self, player: int) -> bool:
        """Return whether a player's owner is connected, or was a moment ago: reloading the page is not leaving."""
        return player in self._here() or time.monotonic() - self._left_at.get(player, -math.inf) < _AWAY_SECONDS

    def _stop_json(self, connection: Connection) -> dict[str, Any] | None:
        if self.stopped is None:
            return None
        stopped, people = self.stopped, self.table.people
        is_alone = people == [connection.seat] or (not people and connection.link == self.table.record.host)
        return {
            "player": stopped.player,
            "agent": stopped.agent,
            "reason": stopped.reason,
            "detail": stopped.detail if self._settings.show_errors and is_alone else "",
            "may_retry": self._may_retry(connection),
        }

    def _round_json(self, connection: Connection) -> dict[str, Any] | None:
        rounds = self.table.show(connection.viewer).rounds
        if not rounds:
            return None
        return {"number": len(rounds), "at": rounds[-1], "waits_for": self._reading()}

    def _controls(self, connection: Connection) -> bool:
        """Return whether a client may pause agents and set their pace."""
        return connection.link == self.table.record.host or self.table.people == [connection.seat]

    def _may_retry(self, connection: Connection) -> bool:
        return connection.seat is not None or connection.link == self.table.record.host

    def tell_all(self) -> None:
        """Send changes to all clients."""
        for connection in self.connections:
            connection.wake()

    # -- requests -----------------------------------------------------------------------------------------------

    async def handle(self, connection: Connection, message: Message) -> None:
        """Handle a message of a client.

        Raises:
            RefusedError, FormatError: the request is refused. Nothing has changed.
        """
        if message.do in ("watch", "look"):
            self._look(connection, message)
        elif message.do in ("past", "log"):
            await self._look_up(connection, message)
        elif message.do in ("run", "pace"):
            self._control(connection, message)
        elif message.do == "retry":
            self._retry(connection)
        elif message.do == "next":
            self._round.ready.add(self._seat_of(connection))
            self._moved()
        elif message.do == "seat":
            await self._seat(connection, message)
        elif message.do in ("hint", "plays"):
            await self._advise(connection, message)
        else:
            self._move(connection, message)

    def _look(self, connection: Connection, message: Message) -> None:
        if message.do == "look":
            connection.narrow = message.fields["narrow"]
            connection.wake()
            return
        viewer = read_viewer(message.fields["viewer"], self.table.state.num_players)
        if not self.table.may_watch(viewer, connection.link):
            raise RefusedError("you may not see that before the game is over")
        connection.viewer = viewer
        connection.begin_again()

    async def _look_up(self, connection: Connection, message: Message) -> None:
        """Send an earlier position or agents' notes."""
        if message.do == "log":
            player = read_player(message.fields["player"], self.table.state.num_players)
            log = self.table.log(player, connection.link, message.fields["before"])
            await connection.say("log", player=player, **log)
            return
        moment = self.table.moment(connection.viewer, message.fields["event"])
        await connection.say("past", **await self._threads.readers.do(connection, past, moment, connection.narrow))

    def _retry(self, connection: Connection) -> None:
        if not self._may_retry(connection):
            raise RefusedError("only a player, or whoever opened the table, can do that")
        if self.stopped is None:
            raise RefusedError("no agent has stopped")
        self.stopped = None
        self._steps = max(self._steps, 1)  # agents may be paused
        self._moved()

    async def _seat(self, connection: Connection, message: Message) -> None:
        """Change who plays a player."""
        player, name = read_player(message.fields["player"], self.table.state.num_players), message.fields["agent"]
        if name != "person" and name not in self._specs():
            raise RefusedError("there is no such agent")
        agent = PERSON if name == "person" else name
        now, (moves, changes) = len(self.table.moves), self._changes.get(player, (0, 0))
        changes = changes + 1 if now == moves else 1
        if changes > _MOST_CHANGES:
            raise RefusedError(f"who plays can change {_MOST_CHANGES} times before the next move")
        has_stopped = self.stopped is not None and self.stopped.player == player
        opened = self.table.change_seat(
            connection.link, player, agent, self._is_here(player), self._settings.think, has_stopped
        )
        self._changes[player] = now, changes
        if has_stopped:
            self.stopped = None
        self.problem = ""
        for other in self.connections:
            if not self.table.may_watch(other.viewer, other.link):  # the first person has joined the table
                other.viewer = SPECTATOR
                other.begin_again()
        self._moved()
        if opened:
            await connection.say("link", player=player, link=opened)

    def _control(self, connection: Connection, message: Message) -> None:
        if not self._controls(connection):
            raise RefusedError("only whoever opened the table, or the only person at it, can do that")
        if message.do == "pace":
            seconds = message.fields["seconds"]
            if not 0 <= seconds <= SLOWEST:
                raise RefusedError(f"the pace must be 0 to {SLOWEST:g} seconds")
            self.pace = float(seconds)
        else:
            how = message.fields["how"]
            if how not in ("go", "pause", "step"):
                raise RefusedError('"how" must be "go", "pause" or "step"')
            if how != "go" and len(self.table.people) > 1:
                raise RefusedError("agents cannot be paused at a table of several people: the others would wait")
            self.paused = how != "go"
            self._steps = 1 if how == "step" else 0
        self._stirred.set()
        self.tell_all()

    def _move(self, connection: Connection, message: Message) -> None:
        seat, turn = self._seat_of(connection), message.fields["turn"]
        if message.do == "act":
            self.table.act(seat, turn, message.fields["intents"])
            self._round.ready.add(seat)
        elif message.do == "undo":
            self.table.take_back(seat, turn)
        else:
            self.table.forfeit(seat, turn)
        self._moved()

    def _seat_of(self, connection: Connection) -> int:
        """Return the player whom a client plays."""
        if connection.seat is None:
            raise RefusedError("you are watching: your link is not a player's")
        if self.table.record.seats[connection.seat].agent != PERSON:
            raise RefusedError("an agent plays for you; take your seat back first")
        return connection.seat

    def _moved(self) -> None:
        """Show a change of the table to clients and agents. Begin a pause if a round has ended."""
        if self.table.num_rounds > self._round.number:
            self._round = _Round(self.table.num_rounds, time.monotonic() + self._settings.round_pause)
        self._stirred.set()
        self.tell_all()

    # -- advice -------------------------------------------------------------------------------------------------

    async def _advise(self, connection: Connection, message: Message) -> None:
        table, turn = self.table, message.fields["turn"]
        seat = connection.seat
        if seat is None or table.state.current_player != seat or table.show(seat).turn != turn:
            raise RefusedError("it is not your turn, or the table has changed in the meantime")
        if message.do == "plays":
            found = await self._threads.hints.do((self, seat), table.state.clone().candidates)
            plays = [{"label": one.label, "actions": list(one.actions)} for one in found]
            await connection.say("plays", turn=turn, plays=plays)
        else:
            await self._hint(connection, seat, turn, message.fields["agent"])

    async def _hint(self, connection: Connection, seat: int, turn: int, name: str) -> None:
        spec = self._specs().get(name)
        if spec is None:
            raise RefusedError("there is no such agent")
        started, state = time.monotonic(), self.table.state.clone()
        seed = self.table.agent_seed("hint", next(self._hints))
        limits = replace(ANSWERS, time_limit=self._settings.limits.advice_seconds, tries=1)
        try:
            decision = await self._threads.hints.do((self, seat), ask_once, spec, state, seat, seed, limits)
        except CardenvsError as error:
            _log.warning("%s failed to give a hint: %s", name, error)
            raise RefusedError(f"{name} has no answer") from None
        await self._hold(started, 0.0)
        action = decision.action
        if action not in state.legal_actions():
            raise RefusedError(f"{name} has no answer")
        await connection.say(
            "hint", turn=turn, agent=name, action=action, label=state.action_label(action), notes=decision.notes
        )

    # -- rounds -------------------------------------------------------------------------------------------------

    def _reading(self) -> list[int]:
        """Return the players who still read the scores of the last round. Agents wait for them."""
        if time.monotonic() >= self._round.until:
            return []
        seats = self.table.record.seats
        return [p for p in self._here() if seats[p].agent == PERSON and p not in self._round.ready]

    async def _wait_for_readers(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._round.until - time.monotonic()):
                await self._stirred.wait()

    # -- agents -------------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        try:
            while not self.table.state.is_terminal:
                await self._advance()
        except asyncio.CancelledError:
            raise
        except Exception:
            _log.exception("table %s has stopped", self.table.record.watch)
            self.problem = "something went wrong here, so the game cannot continue"
            self.tell_all()
        for name, proxy in self._players.values():
            await self._in_thread(name, proxy.end, self.table.state.clone())
        await self._dismiss(list(self._players))

    async def _advance(self) -> None:
        """Let the agent to act make a move, or wait until something changes."""
        self._stirred.clear()
        seats = self.table.record.seats
        await self._dismiss([p for p, (name, _) in self._players.items() if name != seats[p].agent])
        if self.table.agent_to_act == PERSON:
            await self._wait_for_person()
        elif self.stopped is not None or self._is_held:
            await self._stirred.wait()
        elif self._reading():
            await self._wait_for_readers()
        else:
            await self._let_agent_move()

    async def _wait_for_person(self) -> None:
        """Wait until something changes. A person whose time is up forfeits."""
        clock, person, moves = self.table.record.clock, self.table.state.current_player, len(self.table.moves)
        if not clock:
            await self._stirred.wait()
            return
        before, most, due = self._on_clock
        if person != before or moves > most:  # taking moves back gains no time
            due = time.monotonic() + clock
            self._on_clock = (person, moves, due)
        try:
            async with asyncio.timeout(due - time.monotonic()):
                await self._stirred.wait()
        except TimeoutError:
            await self._once_writable(
                self.table.asked, lambda: self.table.decide(FORFEIT + person, {"forfeit": "the time was up"})
            )

    async def _hold(self, started: float, least: float) -> None:
        """Wait until an agent's decision may be shown: at least `least` seconds from `started`, of time.monotonic.

        A multiple of the table's least thinking time hides how long the agent took, which may depend on its cards.
        """
        think, taken = self.table.record.think, time.monotonic() - started
        shown = max(least, think * math.ceil(taken / think)) if think else least
        await asyncio.sleep(max(0.0, shown - taken))

    async def _let_agent_move(self) -> None:
        """Make the move of the agent to act. If the agent gives no answer, stop."""
        started, asked = time.monotonic(), self.table.asked
        state, name = self.table.state.clone(), self.table.agent_to_act
        decision = await self._decision(state, name)
        failure = could_not_answer(decision)
        await self._hold(started, self.pace)
        while self._is_held and failure is None:
            self._stirred.clear()
            await self._stirred.wait()
        if self.table.asked != asked:
            return
        self._steps = max(0, self._steps - 1)
        if failure is None:
            await self._keep(decision, name, asked)
        else:
            await self._stop(decision, name, failure)

    async def _stop(self, decision: Decision, name: str, failure: Failure) -> None:
        """Stop the game until a person lets an agent try again.

        If the agent plays for a person, they get their seat back instead: a failing agent must not stop their clock.
        """
        player, reason = decision.player, reason_of(failure.kind)
        _log.warning("%s at table %s failed: %s: %s", name, self.table.record.watch, failure.kind, failure.message)
        self.table.note_try(notes_of(decision))
        link = self.table.record.seats[player].link
        if link:
            await self._once_writable(self.table.asked, lambda: self.table.change_seat(link, player, PERSON, True, 0.0))
            self.problem = f"{name} can no longer play for player_{player}: {reason}"
        else:
            self.stopped = Stopped(player, name, reason, failure.message)
        self._moved()

    async def _decision(self, state: State, name: str) -> Decision:
        """Return the decision of the agent to act. Failing to start counts as a failed decision."""
        player = state.current_player
        try:
            proxy = await self._player(state, name)
            await self._in_thread(name, proxy.observe, state)
            return await self._in_thread(name, proxy.decide, state)
        except Exception as error:
            _log.warning("%s at table %s cannot play", name, self.table.record.watch, exc_info=True)
            failure = Failure("exception", f"{type(error).__name__}: {error}")
            return Decision(player, state.ply, state.forced_action(), FORCED, 0.0, (failure,))

    async def _keep(self, decision: Decision, name: str, asked: Asked) -> None:
        """Make an agent's move once it can be written, unless the table changes before that."""

        def make() -> None:
            self.table.decide(decision.action, notes_of(decision))
            self.problem = "" if decision.outcome == OK else _FORCED.format(player=decision.player, agent=name)

        await self._once_writable(asked, make)

    async def _once_writable(self, asked: Asked, make: Callable[[], Any]) -> None:
        """Change the table once that can be written, unless it changes before that."""
        while self.table.asked == asked:
            try:
                make()
            except sqlite3.Error as error:
                if self.problem != _WAITS:
                    _log.error("a move at table %s cannot be kept: %s", self.table.record.watch, error)
                self.problem = _WAITS
                self.tell_all()
                await asyncio.sleep(_RETRY_SECONDS)
        if self.problem == _WAITS:
            self.problem = ""
        self._moved()

    async def _player(self, state: State, name: str) -> AgentProxy:
        """Return the agent of the player to act. It is created on its first turn."""
        player = state.current_player
        if player not in self._players:
            spec = self._specs().get(name)
            if spec is None:
                raise CardenvsError(f"this server no longer offers the agent {name}")
            seed = self.table.agent_seed("agent", player)
            fair = bool(self.table.people)
            proxy = await self._in_thread(name, seated, spec, state, player, seed, ANSWERS, fair)
            self._players[player] = name, proxy
        return self._players[player][1]

    def _specs(self) -> dict[str, str]:
        """Return the specs of the agents that may sit at this table, by name."""
        return agent_specs(self.table.state.game, self._settings, self.table.state.options)

    async def _in_thread(self, name: str, call: Callable[..., _Result], *values: Any) -> _Result:
        threads = self._threads.further if name in self._settings.offered_agents() else self._threads.own
        self._call = future = threads.submit(call, *values)
        return await asyncio.wrap_future(future)
