"""A room: a table with its agents and its connections.

Everything here runs in the event loop, so two requests never change a table at once. Agents think in threads, each
about a copy of the game; what comes back counts only if the table has not changed since.
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
from typing import Any, Protocol

from starlette.websockets import WebSocketDisconnect

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
from cardenvs.server.settings import SLOWEST, Settings
from cardenvs.server.table import PERSON, RefusedError, Table

NOT_KEPT = "the server cannot write to its disk, so nothing has changed; try again later"
_AGENT_WAITS = "the server cannot write to its disk; the game goes on as soon as it can"
_FORCED = "{agent} gave no valid answer, so the safe action was played for player_{player}"
_RETRY_SECONDS = 2.0
_AWAY_SECONDS = 60.0  # without a connection, until an agent may play for a person

_log = logging.getLogger("cardenvs.server")


class Socket(Protocol):
    """What a connection needs of a web socket."""

    async def send_text(self, data: str) -> None:
        """Send a message."""


class Connection:
    """Somebody who looks at a table.

    A slow client does not hold up others and is not sent every position: it gets the latest one whenever it is ready.

    Attributes:
        link: with which it came.
        seat: the player whose link that is, or None.
        viewer: through whose eyes it looks.
        narrow: whether it wants pictures for a narrow screen.
    """

    def __init__(self, room: "Room", link: str, socket: Socket) -> None:
        """Connect somebody who has come with a link of the room's table."""
        self.room, self.link, self._socket = room, link, socket
        self.seat = room.table.seat_of(link)
        self.viewer = SPECTATOR if self.seat is None else self.seat
        self.narrow = False
        self._changed = asyncio.Event()
        self._changed.set()
        self._shown: tuple[Any, ...] = ()
        self._lines, self._rewinds = 0, 0

    def wake(self) -> None:
        """Something may have changed."""
        self._changed.set()

    def begin_again(self) -> None:
        """Send everything, as to somebody who has just come."""
        self._shown, self._lines = (), 0
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
        """Send a message that is not a position, unless the socket has closed in the meantime."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(json.dumps({"type": kind} | fields))

    def _news(self) -> str | None:
        """Return what is to be sent, or None if the client knows it all."""
        room, table = self.room, self.room.table
        shown = table.show(self.viewer)
        status = room.status(self)
        key = (self.viewer, self.narrow, shown.turn, status)
        if key == self._shown:
            return None
        self._shown = key
        if shown.rewinds != self._rewinds:
            self._lines, self._rewinds = 0, shown.rewinds
        said = {
            "type": "position", "turn": shown.turn, "events": shown.event_ends[-1], "log_at": self._lines,
            "log": shown.lines[self._lines :],
        }  # fmt: skip
        self._lines = len(shown.lines)
        return f"{json.dumps(said)[:-1]},{status},{table.picture(self.viewer, self.narrow)}}}"


@dataclass
class _Round:
    """A pause after a hand or round, in which people read the scores.

    Attributes:
        number: of hands or rounds that have ended.
        until: when agents go on in any case, in monotonic time.
        ready: players who have read them.
    """

    number: int = 0
    until: float = 0.0
    ready: set[int] = field(default_factory=set)


class Room:
    """A table, its agents and its connections.

    Attributes:
        table: the Table.
        connections: who looks at it.
        paused: whether agents wait.
        pace: seconds between the moves of agents.
        problem: what people at the table should know, or "".
        stopped: an agent that could not be asked, if the game waits for a person to let it try again.
    """

    def __init__(self, table: Table, settings: Settings, threads: Threads) -> None:
        """Open a room; `start` lets its agents play."""
        self.table, self._settings, self._threads = table, settings, threads
        self.connections: set[Connection] = set()
        self.paused, self.pace = False, settings.pace
        self.problem = ""
        self.stopped: Stopped | None = None
        self._round = _Round(table.num_rounds)
        self._left = time.monotonic()  # when somebody was here last
        self._left_at: dict[int, float] = {}  # the same by player
        self._steps = 0  # moves that agents may make although paused
        self._stirred = asyncio.Event()
        self._players: dict[int, tuple[str, AgentProxy]] = {}  # with the agents' names
        self._call: Future | None = None  # what an agent is doing
        self._task: asyncio.Task | None = None
        self._hints = itertools.count()
        self._on_clock = (-1, -1, 0.0)  # the person to act, the most moves so far, and when time is up

    def start(self) -> None:
        """Let agents play whenever they are to act."""
        self._task = asyncio.get_running_loop().create_task(self._drive())

    async def stop(self, at_once: bool = False) -> None:
        """Stop the agents. The table can be opened again.

        Args:
            at_once: agents in processes are killed.
        """
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if at_once:
            for _, proxy in self._players.values():
                proxy.kill()
        if self._call is not None and not self._call.done():  # an agent serves one thread at a time
            with contextlib.suppress(Exception):
                await asyncio.wrap_future(self._call)
        await self._dismiss(list(self._players))

    async def _dismiss(self, players: list[int]) -> None:
        """End the agents of some players, and their processes."""
        for player in players:
            name, proxy = self._players.pop(player)
            await self._in_thread(name, proxy.close)

    def is_idle(self, seconds: float) -> bool:
        """Return whether nobody has been here for so long, and no agent can act."""
        return self.waits_for_people and not self.connections and time.monotonic() - self._left >= seconds

    @property
    def waits_for_people(self) -> bool:
        """Whether the game goes on only when a person does something."""
        return self.table.agent_to_act == PERSON or self.stopped is not None

    def leave(self, connection: Connection) -> None:
        """Somebody goes."""
        self.connections.discard(connection)
        self._left = time.monotonic()
        if connection.seat is not None:
            self._left_at[connection.seat] = self._left
        self.tell_all()

    # -- what clients see ---------------------------------------------------------------------------------------

    def status(self, connection: Connection) -> str:
        """Return JSON members about the room, the same for equal rights."""
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
        """Return the players whose people look at the table."""
        return sorted({other.seat for other in self.connections if other.seat is not None})

    def _is_here(self, player: int) -> bool:
        """Return whether a person is here, or was a moment ago: a page that is loaded again is no absence."""
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
        """Return whether a client may pause the agents and set their pace."""
        return connection.link == self.table.record.host or self.table.people == [connection.seat]

    def _may_retry(self, connection: Connection) -> bool:
        return connection.seat is not None or connection.link == self.table.record.host

    def tell_all(self) -> None:
        """Let every connection look again."""
        for connection in self.connections:
            connection.wake()

    # -- requests -----------------------------------------------------------------------------------------------

    async def handle(self, connection: Connection, message: Message) -> None:
        """Do what a client asks for.

        Raises:
            RefusedError, FormatError: it cannot be done; nothing has changed.
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
            self._read_scores(self._seat_of(connection))
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
            raise RefusedError("you may not see that while the game goes on")
        connection.viewer = viewer
        connection.begin_again()

    async def _look_up(self, connection: Connection, message: Message) -> None:
        """Send an earlier position, or what an agent noted."""
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
            raise RefusedError("no agent waits for another try")
        self.stopped = None
        self._steps = max(self._steps, 1)  # also if the agents are paused
        self._moved()

    async def _seat(self, connection: Connection, message: Message) -> None:
        """Change who plays a player."""
        player, name = read_player(message.fields["player"], self.table.state.num_players), message.fields["agent"]
        if name != "person" and name not in agent_specs(self.table.state.game, self._settings):
            raise RefusedError("there is no such agent")
        agent = PERSON if name == "person" else name
        opened = self.table.change_seat(connection.link, player, agent, self._is_here(player), self._settings.think)
        if self.stopped is not None and self.stopped.player == player:
            self.stopped = None
        self.problem = ""
        for other in self.connections:
            if not self.table.may_watch(other.viewer, other.link):  # the table has got its first person
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
                raise RefusedError(f"the pace is 0 to {SLOWEST:g} seconds")
            self.pace = float(seconds)
        else:
            how = message.fields["how"]
            if how not in ("go", "pause", "step"):
                raise RefusedError('"how" is "go", "pause" or "step"')
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
        """Return the player whom a person plays."""
        if connection.seat is None:
            raise RefusedError("you are watching; your link is not that of a player")
        if self.table.record.seats[connection.seat].agent != PERSON:
            raise RefusedError("an agent plays for you; take your seat back first")
        return connection.seat

    def _moved(self) -> None:
        """Let everybody look, and agents go on; or wait, if a round has ended with the last move."""
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
        spec = agent_specs(self.table.state.game, self._settings).get(name)
        if spec is None:
            raise RefusedError("there is no such agent")
        started, state = time.monotonic(), self.table.state.clone()
        seed = self.table.agent_seed("hint", next(self._hints))
        limits = replace(ANSWERS, time_limit=self._settings.limits.advice_seconds, tries=1)
        try:
            decision = await self._threads.hints.do((self, seat), ask_once, spec, state, seat, seed, limits)
        except CardenvsError as error:
            _log.warning("a hint of %s failed: %s", name, error)
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
        """Return the people who read the scores of the last round; agents wait for them."""
        if time.monotonic() >= self._round.until:
            return []
        seats = self.table.record.seats
        return [p for p in self._here() if seats[p].agent == PERSON and p not in self._round.ready]

    def _read_scores(self, seat: int) -> None:
        self._round.ready.add(seat)
        self._moved()

    async def _wait_for_readers(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._round.until - time.monotonic()):
                await self._stirred.wait()

    # -- agents -------------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        try:
            while not self.table.state.is_terminal:
                await self._go_on()
        except asyncio.CancelledError:
            raise
        except Exception:
            _log.exception("table %s stops", self.table.record.watch)
            self.problem = "something went wrong here, so the game cannot go on"
            self.tell_all()
        for name, proxy in self._players.values():
            await self._in_thread(name, proxy.end, self.table.state.clone())
        await self._dismiss(list(self._players))

    async def _go_on(self) -> None:
        """Wait until something happens, or let the agent to act move."""
        self._stirred.clear()
        seats = self.table.record.seats
        await self._dismiss([p for p, (name, _) in self._players.items() if name != seats[p].agent])
        if self.table.agent_to_act == PERSON:
            await self._wait_for_person()
        elif self.stopped is not None or (self.paused and not self._steps):
            await self._stirred.wait()
        elif self._reading():
            await self._wait_for_readers()
        else:
            await self._let_agent_move()

    async def _wait_for_person(self) -> None:
        """Wait until something happens. A person whose time is up forfeits."""
        clock, person, moves = self.table.record.clock, self.table.state.current_player, len(self.table.moves)
        if not clock:
            await self._stirred.wait()
            return
        before, most, due = self._on_clock
        if person != before or moves > most:  # taking moves back wins no time
            due = time.monotonic() + clock
            self._on_clock = (person, moves, due)
        try:
            async with asyncio.timeout(due - time.monotonic()):
                await self._stirred.wait()
        except TimeoutError:
            self.table.decide(FORFEIT + person, {"forfeit": "the time was up"})
            self._moved()

    async def _hold(self, started: float, least: float) -> None:
        """Wait until what an agent has thought of since `started` may be shown, after `least` seconds or later.

        The time says as little as possible about cards: it is a multiple of the least thinking time.
        """
        think, taken = self.table.record.think, time.monotonic() - started
        shown = max(least, think * math.ceil(taken / think)) if think else least
        await asyncio.sleep(max(0.0, shown - taken))

    async def _let_agent_move(self) -> None:
        """Make the move of the agent to act. If it cannot be asked, stop."""
        started, revision = time.monotonic(), self.table.revision
        state, name = self.table.state.clone(), self.table.agent_to_act
        decision = await self._decision(state, name)
        failure = could_not_answer(decision)
        await self._hold(started, self.pace)
        while self.paused and not self._steps and failure is None:
            self._stirred.clear()
            await self._stirred.wait()
        if self.table.revision != revision:
            return
        self._steps = max(0, self._steps - 1)
        if failure is None:
            await self._keep(decision, name, revision)
        else:
            self._stop(decision, name, failure)

    def _stop(self, decision: Decision, name: str, failure: Failure) -> None:
        """Let the game wait until a person lets an agent try again.

        If the agent plays for a person, they play again: nobody stops the clock with an agent that cannot be asked.
        """
        player, reason = decision.player, reason_of(failure.kind)
        _log.warning("%s at table %s failed: %s: %s", name, self.table.record.watch, failure.kind, failure.message)
        self.table.note_try(notes_of(decision))
        link = self.table.record.seats[player].link
        if link:
            self.table.change_seat(link, player, PERSON, True, 0.0)
            self.problem = f"{name} can no longer play for player_{player}: {reason}"
        else:
            self.stopped = Stopped(player, name, reason, failure.message)
        self._moved()

    async def _decision(self, state: State, name: str) -> Decision:
        """Ask the agent to act. If it cannot even be seated, that is its failure."""
        player = state.current_player
        try:
            proxy = await self._player(state, name)
            await self._in_thread(name, proxy.observe, state)
            return await self._in_thread(name, proxy.decide, state)
        except Exception as error:
            _log.warning("%s at table %s cannot play", name, self.table.record.watch, exc_info=True)
            failure = Failure("exception", f"{type(error).__name__}: {error}")
            return Decision(player, state.ply, state.forced_action(), FORCED, 0.0, (failure,))

    async def _keep(self, decision: Decision, name: str, revision: int) -> None:
        """Make an agent's move as soon as it can be written, unless the table changes in the meantime."""
        while self.table.revision == revision:
            try:
                self.table.decide(decision.action, notes_of(decision))
                self.problem = "" if decision.outcome == OK else _FORCED.format(player=decision.player, agent=name)
            except sqlite3.Error as error:
                if self.problem != _AGENT_WAITS:
                    _log.error("a move at table %s cannot be kept: %s", self.table.record.watch, error)
                self.problem = _AGENT_WAITS
                self.tell_all()
                await asyncio.sleep(_RETRY_SECONDS)
        self._moved()

    async def _player(self, state: State, name: str) -> AgentProxy:
        """Return the agent of the player to act; it is made when it is first to act."""
        player = state.current_player
        if player not in self._players:
            spec = agent_specs(state.game, self._settings).get(name)
            if spec is None:
                raise CardenvsError(f"this server no longer has the agent {name}")
            seed = self.table.agent_seed("agent", player)
            fair = bool(self.table.people)
            proxy = await self._in_thread(name, seated, spec, state, player, seed, ANSWERS, fair)
            self._players[player] = name, proxy
        return self._players[player][1]

    async def _in_thread(self, name: str, call: Callable, *values: Any) -> Any:
        threads = self._threads.further if name in self._settings.offered_agents() else self._threads.own
        self._call = threads.submit(call, *values)
        return await asyncio.wrap_future(self._call)
