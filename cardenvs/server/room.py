"""A room: a table with its agents and its connections.

Everything here runs in the event loop, so two requests never change a table at once. Agents think in threads, each
about a copy of the game; what comes back counts only if the table has not changed since.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Protocol

from starlette.websockets import WebSocketDisconnect

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.seating import Decision
from cardenvs.core.errors import CardenvsError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.state import State
from cardenvs.server.messages import SLOWEST, Message, read_viewer
from cardenvs.server.settings import Settings
from cardenvs.server.table import PERSON, RefusedError, Table

NOT_KEPT = "the server cannot write to its disk, so nothing has changed; try again later"
_AGENT_WAITS = "the server cannot write to its disk; the game goes on as soon as it can"
_RETRY_SECONDS = 2.0

_log = logging.getLogger("cardenvs.server")
_ANSWERS = AgentLimits(time_limit=120.0, tries=2, on_failure="forced_action", isolation="auto")


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
        self.is_busy = False  # with a hint or a list of plays
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
        said = {"type": "position", "turn": shown.turn, "log_at": self._lines, "log": shown.lines[self._lines :]}
        self._lines = len(shown.lines)
        return f"{json.dumps(said)[:-1]},{status},{table.picture(self.viewer, self.narrow)}}}"


class Room:
    """A table, its agents and its connections.

    Attributes:
        table: the Table.
        connections: who looks at it.
        paused: whether agents wait.
        pace: seconds between the moves of agents.
    """

    def __init__(self, table: Table, settings: Settings, threads: Executor) -> None:
        """Open a room; `start` lets its agents play."""
        self.table, self._settings, self._threads = table, settings, threads
        self.connections: set[Connection] = set()
        self.paused, self.pace = False, settings.pace
        self.problem = ""
        self._steps = 0  # moves that agents may make although paused
        self._stirred = asyncio.Event()
        self._players: dict[int, AgentProxy] = {}
        self._task: asyncio.Task | None = None
        self._hints = itertools.count()

    def start(self) -> None:
        """Let agents play whenever they are to act."""
        self._task = asyncio.get_running_loop().create_task(self._drive())

    async def stop(self) -> None:
        """Stop the agents. The table can be opened again."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for proxy in self._players.values():
            await self._in_thread(proxy.close)

    # -- what clients see ---------------------------------------------------------------------------------------

    def status(self, connection: Connection) -> str:
        """Return JSON members about the room, the same for equal rights."""
        table, seat = self.table, connection.seat
        here = sorted({other.seat for other in self.connections if other.seat is not None})
        made = {
            "seat": seat,
            "here": here,
            "controls": self._controls(connection),
            "sees_all": connection.link == table.record.host and not table.has_people,
            "paused": self.paused,
            "pace": self.pace,
            "problem": self.problem,
        }
        return json.dumps(made)[1:-1]

    def _controls(self, connection: Connection) -> bool:
        """Return whether a client may pause the agents and set their pace."""
        people = [player for player, seat in enumerate(self.table.record.seats) if seat.agent == PERSON]
        return connection.link == self.table.record.host or people == [connection.seat]

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
        elif message.do in ("run", "pace"):
            self._control(connection, message)
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
        if connection.seat is None or self.table.record.seats[connection.seat].agent != PERSON:
            raise RefusedError("you are watching; your link is not that of a player")
        seat, turn = connection.seat, message.fields["turn"]
        if message.do == "act":
            self.table.act(seat, turn, message.fields["intents"])
        elif message.do == "undo":
            self.table.take_back(seat, turn)
        else:
            self.table.forfeit(seat, turn)
        self._moved()

    def _moved(self) -> None:
        self._stirred.set()
        self.tell_all()

    # -- advice -------------------------------------------------------------------------------------------------

    async def _advise(self, connection: Connection, message: Message) -> None:
        table, turn = self.table, message.fields["turn"]
        seat = connection.seat
        if seat is None or table.state.current_player != seat or table.show(seat).turn != turn:
            raise RefusedError("it is not your turn, or the table has changed in the meantime")
        if connection.is_busy:
            raise RefusedError("one thing at a time; the last answer is still being worked out")
        connection.is_busy = True
        try:
            if message.do == "plays":
                found = await self._in_thread(table.state.clone().candidates)
                plays = [{"label": one.label, "actions": list(one.actions)} for one in found]
                await connection.say("plays", turn=turn, plays=plays)
            else:
                await self._hint(connection, seat, turn, message.fields["agent"])
        finally:
            connection.is_busy = False

    async def _hint(self, connection: Connection, seat: int, turn: int, name: str) -> None:
        spec = agent_specs(self.table.state, self._settings).get(name)
        if spec is None:
            raise RefusedError("there is no such agent")
        state = self.table.state.clone()
        seed = self.table.agent_seed("hint", next(self._hints))
        try:
            decision = await self._in_thread(_ask_once, spec, state, seat, seed)
        except CardenvsError as error:
            _log.warning("a hint of %s failed: %s", name, error)
            raise RefusedError(f"{name} has no answer") from None
        action = decision.action
        if action not in state.legal_actions():
            raise RefusedError(f"{name} has no answer")
        await connection.say(
            "hint", turn=turn, agent=name, action=action, label=state.action_label(action), notes=decision.notes
        )

    # -- agents -------------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        try:
            while not self.table.state.is_terminal:
                self._stirred.clear()
                if self.table.agent_to_act == PERSON or (self.paused and not self._steps):
                    await self._stirred.wait()
                else:
                    await self._let_agent_move()
        except asyncio.CancelledError:
            raise
        except Exception:  # of an agent; what it says may be about hidden cards
            _log.exception("table %s stops", self.table.record.watch)
            self.problem = f"player_{self.table.state.current_player}'s agent failed, so the game cannot go on"
            self.tell_all()
        for player in self._players.values():
            await self._in_thread(player.end, self.table.state.clone())

    async def _let_agent_move(self) -> None:
        started, revision = time.monotonic(), self.table.revision
        state = self.table.state.clone()
        proxy = await self._player(state.current_player)
        await self._in_thread(proxy.observe, state)
        decision = await self._in_thread(proxy.decide, state)
        await asyncio.sleep(max(0.0, self.pace - (time.monotonic() - started)))
        while self.paused and not self._steps:
            self._stirred.clear()
            await self._stirred.wait()
        if self.table.revision != revision:
            return
        self._steps = max(0, self._steps - 1)
        await self._keep(decision, revision)

    async def _keep(self, decision: Decision, revision: int) -> None:
        """Make an agent's move as soon as it can be written, unless the table changes in the meantime."""
        while self.table.revision == revision:
            try:
                self.table.decide(decision.action, _notes(decision))
                self.problem = ""
            except sqlite3.Error as error:
                if not self.problem:
                    _log.error("a move at table %s cannot be kept: %s", self.table.record.watch, error)
                self.problem = _AGENT_WAITS
                self.tell_all()
                await asyncio.sleep(_RETRY_SECONDS)
        self._moved()

    async def _player(self, player: int) -> AgentProxy:
        """Return the agent of a player; it is made when it is first to act."""
        if player not in self._players:
            state = self.table.state.clone()
            spec = agent_specs(state, self._settings).get(self.table.record.seats[player].agent)
            if spec is None:
                raise CardenvsError(f"this server no longer has the agent of player_{player}")
            seed = self.table.agent_seed("agent", player)
            self._players[player] = await self._in_thread(_seated, spec, state, player, seed)
        return self._players[player]

    async def _in_thread(self, call: Callable, *values: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *values)


def agent_specs(state: State, settings: Settings) -> dict[str, str]:
    """Return the agents that clients may choose for a game, with their specs."""
    return own_agents(state.game) | dict(settings.agents)


def own_agents(game: Any) -> dict[str, str]:
    """Return the agents that every server has for a game."""
    return {name: name for name in game.engine.policy_names()} | {"search": "search"}


def _seated(spec: str, state: State, player: int, seed: int) -> AgentProxy:
    proxy = AgentProxy.of(spec, state.game, state.options, _ANSWERS)
    proxy.begin(state, player, seed)
    return proxy


def _ask_once(spec: str, state: State, player: int, seed: int) -> Decision:
    proxy = _seated(spec, state, player, seed)
    try:
        return proxy.decide(state)
    finally:
        proxy.close()


def _notes(decision: Decision) -> dict[str, Any] | None:
    """Return what is kept of a decision beside the action; None if there is nothing."""
    notes = dict(decision.notes)
    if decision.failures:
        notes["failures"] = [f"{failure.kind}: {failure.message}" for failure in decision.failures]
    return notes or None
