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
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.seating import Decision
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import CardenvsError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.state import State
from cardenvs.server.messages import SLOWEST, Message, read_viewer
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.table import PERSON, RefusedError, Table

_log = logging.getLogger("cardenvs.server")
_ANSWERS = AgentLimits(time_limit=120.0, tries=2, on_failure="forced_action", isolation="auto")
_WAITING_HINTS = 8  # for each one that is being worked out


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
        """Send a message that is not a position."""
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

    def __init__(self, table: Table, settings: Settings, threads: "Threads") -> None:
        """Open a room; `start` lets its agents play."""
        self.table, self._settings, self._threads = table, settings, threads
        self.connections: set[Connection] = set()
        self.paused, self.pace = False, settings.pace
        self.problem = ""
        self._left = time.monotonic()  # when somebody was here last
        self._steps = 0  # moves that agents may make although paused
        self._stirred = asyncio.Event()
        self._players: dict[int, AgentProxy] = {}
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
            for proxy in self._players.values():
                proxy.kill()
        if self._call is not None and not self._call.done():  # an agent serves one thread at a time
            with contextlib.suppress(Exception):
                await asyncio.wrap_future(self._call)
        await self._dismiss()

    async def _dismiss(self) -> None:
        """End the agents and their processes."""
        while self._players:
            player, proxy = self._players.popitem()
            await self._in_thread(player, proxy.close)

    def is_idle(self, seconds: float) -> bool:
        """Return whether nobody has been here for so long, and no agent is to act."""
        waits = self.table.agent_to_act == PERSON
        return waits and not self.connections and time.monotonic() - self._left >= seconds

    def leave(self, connection: Connection) -> None:
        """Somebody goes."""
        self.connections.discard(connection)
        self._left = time.monotonic()
        self.tell_all()

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
            "clock": table.record.clock,
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
        if message.do == "plays":
            found = await self._threads.advise((self, seat), table.state.clone().candidates)
            plays = [{"label": one.label, "actions": list(one.actions)} for one in found]
            await connection.say("plays", turn=turn, plays=plays)
        else:
            await self._hint(connection, seat, turn, message.fields["agent"])

    async def _hint(self, connection: Connection, seat: int, turn: int, name: str) -> None:
        spec = agent_specs(self.table.state, self._settings).get(name)
        if spec is None:
            raise RefusedError("there is no such agent")
        started, state = time.monotonic(), self.table.state.clone()
        seed = self.table.agent_seed("hint", next(self._hints))
        limits = replace(_ANSWERS, time_limit=self._settings.limits.advice_seconds, tries=1)
        try:
            decision = await self._threads.advise((self, seat), _ask_once, spec, state, seat, seed, limits)
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

    # -- agents -------------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        try:
            while not self.table.state.is_terminal:
                self._stirred.clear()
                if self.table.agent_to_act == PERSON:
                    await self._wait_for_person()
                elif self.paused and not self._steps:
                    await self._stirred.wait()
                else:
                    await self._let_agent_move()
        except asyncio.CancelledError:
            raise
        except Exception:  # of an agent; what it says may be about hidden cards
            _log.exception("table %s stops", self.table.record.watch)
            self.problem = f"player_{self.table.state.current_player}'s agent failed, so the game cannot go on"
            self.tell_all()
        for player, proxy in self._players.items():
            await self._in_thread(player, proxy.end, self.table.state.clone())
        await self._dismiss()

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
        started, revision = time.monotonic(), self.table.revision
        state = self.table.state.clone()
        player = state.current_player
        proxy = await self._player(player)
        await self._in_thread(player, proxy.observe, state)
        decision = await self._in_thread(player, proxy.decide, state)
        await self._hold(started, self.pace)
        while self.paused and not self._steps:
            self._stirred.clear()
            await self._stirred.wait()
        if self.table.revision != revision:
            return
        self._steps = max(0, self._steps - 1)
        self.table.decide(decision.action, _notes(decision))
        self._moved()

    async def _player(self, player: int) -> AgentProxy:
        """Return the agent of a player; it is made when it is first to act."""
        if player not in self._players:
            state = self.table.state.clone()
            spec = agent_specs(state, self._settings).get(self.table.record.seats[player].agent)
            if spec is None:
                raise CardenvsError(f"this server no longer has the agent of player_{player}")
            seed = self.table.agent_seed("agent", player)
            self._players[player] = await self._in_thread(player, _seated, spec, state, player, seed)
        return self._players[player]

    async def _in_thread(self, player: int, call: Callable, *values: Any) -> Any:
        is_further = self.table.record.seats[player].agent in self._settings.agents
        threads = self._threads.further if is_further else self._threads.own
        self._call = threads.submit(call, *values)
        return await asyncio.wrap_future(self._call)


class Threads:
    """The threads of all rooms. Slow things have their own, so that they do not hold up others.

    Attributes:
        own: for agents that every server has.
        further: for those that its owner has named, which may be slow.
    """

    def __init__(self, limits: Limits) -> None:
        """Start none before they are needed."""
        self.own = ThreadPoolExecutor(limits.thinking, "cardenvs-agent")
        self.further = ThreadPoolExecutor(limits.thinking, "cardenvs-further")
        self._advisers = ThreadPoolExecutor(limits.advice, "cardenvs-advice")
        self._most = limits.advice * (1 + _WAITING_HINTS)
        self._asked: set[Any] = set()

    async def advise(self, player: Any, call: Callable, *values: Any) -> Any:
        """Return what `call` returns; a player gets one hint at a time.

        Args:
            player: anything that tells players apart.
            call, values: what to do.

        Raises:
            RefusedError: the player's last question is still being worked out, or there are too many.
        """
        if player in self._asked:
            raise RefusedError("one thing at a time; the last answer is still being worked out")
        if len(self._asked) >= self._most:
            raise RefusedError("too many hints are being worked out; try again in a moment")
        self._asked.add(player)
        loop = asyncio.get_running_loop()
        future = self._advisers.submit(call, *values)

        def answered(_: Future) -> None:  # even if nobody waits for it any more
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._asked.discard, player)

        future.add_done_callback(answered)
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Begin nothing more."""
        for threads in (self.own, self.further, self._advisers):
            threads.shutdown(wait=False, cancel_futures=True)


def agent_specs(state: State, settings: Settings) -> dict[str, str]:
    """Return the agents that clients may choose for a game, with their specs."""
    return own_agents(state.game) | dict(settings.agents)


def own_agents(game: Any) -> dict[str, str]:
    """Return the agents that every server has for a game."""
    return {name: name for name in game.engine.policy_names()} | {"search": "search"}


def _seated(spec: str, state: State, player: int, seed: int, limits: AgentLimits = _ANSWERS) -> AgentProxy:
    proxy = AgentProxy.of(spec, state.game, state.options, limits)
    proxy.begin(state, player, seed)
    return proxy


def _ask_once(spec: str, state: State, player: int, seed: int, limits: AgentLimits) -> Decision:
    proxy = _seated(spec, state, player, seed, limits)
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
