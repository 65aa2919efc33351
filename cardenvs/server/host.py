"""All tables of a server."""

import asyncio
import dataclasses
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cardenvs.core.checks import short
from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game import Game
from cardenvs.core.intents import guessed_events
from cardenvs.core.registry import get_game, list_games
from cardenvs.core.rng import SEED_MASK
from cardenvs.server.agents import Threads, agent_specs
from cardenvs.server.rate import Rate
from cardenvs.server.records import Move, Records, SeatRecord, TableRecord
from cardenvs.server.room import Room
from cardenvs.server.settings import SLOWEST, Settings
from cardenvs.server.table import PERSON, RefusedError, Table

_log = logging.getLogger("cardenvs.server")
_LINK_BYTES = 16
_KEPT_OPEN = 64  # finished tables in memory
_MOST_LISTED = 100
_RETURNING = 2  # times as many tables as may be new are under way when players come back to theirs
_OPENING = 4  # tables that are opened at the same time
_AT_ONCE = 100  # old tables that are forgotten before others have their turn
_STOP_SECONDS = 2.0  # that rooms have to stop when the server ends
_LONGEST_CLOCK = 604_800.0


class Host:
    """The tables of a server: opens them, finds them by link, goes on with them after a restart."""

    def __init__(self, settings: Settings) -> None:
        """Open the file of tables; `start` sets them going."""
        self.settings = settings
        self.records = Records(settings.data)
        self._threads = Threads(settings.limits)
        self._openers = ThreadPoolExecutor(_OPENING, "cardenvs-open")  # no agent holds them up
        self._rooms: OrderedDict[str, Room] = OrderedDict()  # by public link
        self._new_tables = Rate(settings.limits.new_tables_per_minute)
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._tasks: list[asyncio.Task] = []

    async def start(self) -> None:
        """Go on with the tables that are kept, in the background."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._sweep()), loop.create_task(self._resume())]

    async def stop(self) -> None:
        """Stop all agents, within seconds, and close the file."""
        for task in (*self._tasks, *self._loading.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._loading.values(), return_exceptions=True)
        stopping = [asyncio.create_task(room.stop(at_once=True)) for room in self._rooms.values()]
        if stopping:
            await asyncio.wait(stopping, timeout=_STOP_SECONDS)
        self._threads.stop()
        self._openers.shutdown(wait=False, cancel_futures=True)
        self.records.close()

    async def _resume(self) -> None:
        for record in self.records.unfinished(self.settings.limits.tables):
            try:
                await self._room_of(record)
            except (CardenvsError, RefusedError) as error:  # it is no longer installed, or has other rules now
                _log.error("table %s cannot go on: %s", record.watch, error)

    async def _sweep(self) -> None:
        """Put away tables that nobody looks at, and forget old ones."""
        while True:
            try:
                await self._put_away_idle()
                await self._forget_old()
            except Exception:  # the next time may be better: a disk may be full
                _log.exception("old tables cannot be put away")
            await asyncio.sleep(self.settings.limits.sweep_seconds)

    async def _put_away_idle(self) -> None:
        for room in list(self._rooms.values()):
            if room.is_idle(self.settings.limits.idle_seconds):
                await self._put_away(room)
        self.records.touch([watch for watch, room in self._rooms.items() if room.connections])

    async def _put_away(self, room: Room) -> None:
        """Stop a room; it comes back when somebody follows one of its links."""
        del self._rooms[room.table.record.watch]
        await room.stop()

    async def _forget_old(self) -> None:
        limits, dropped = self.settings.limits, ["first"]
        while dropped:
            dropped = self.records.drop_old(limits.keep_days, limits.unfinished_days, limits.unused_days, _AT_ONCE)
            for watch in dropped:
                if watch in self._rooms:
                    await self._put_away(self._rooms[watch])
            await asyncio.sleep(0)  # others have their turn

    # -- tables -------------------------------------------------------------------------------------------------

    async def find(self, link: str) -> Room | None:
        """Return the room that a link leads to, or None.

        Raises:
            RefusedError: it is put away, and there are too many games under way to bring it back.
        """
        record = self.records.find(link)
        return None if record is None else await self._room_of(record)

    async def _room_of(self, record: TableRecord) -> Room:
        watch = record.watch
        while watch not in self._rooms:
            if watch not in self._loading:
                self._loading[watch] = asyncio.create_task(self._load(record))
            await asyncio.shield(self._loading[watch])
        self._rooms.move_to_end(watch)
        return self._rooms[watch]

    async def _load(self, record: TableRecord) -> None:
        """Open a table that is put away, in a thread: many moves take a while."""
        try:
            game, moves = get_game(record.game), self.records.moves(record.watch)
            table = await self._in_thread(_table, record, game, self.records, moves)
            if not table.state.is_terminal:
                await self._make_room(_RETURNING * self.settings.limits.tables)
            self._add(table)
        finally:
            del self._loading[record.watch]

    def _add(self, table: Table) -> Room:
        room = Room(table, self.settings, self._threads)
        self._rooms[table.record.watch] = room
        room.start()
        idle = [
            watch
            for watch, other in self._rooms.items()
            if other.table.state.is_terminal and not other.connections and other is not room
        ]
        for watch in idle[: max(0, len(idle) - _KEPT_OPEN)]:
            del self._rooms[watch]
        return room

    async def open_table(self, request: Any, client: str) -> TableRecord:
        """Open a table.

        Args:
            request: {"game": name, "options": {name: text or value}, "seats": [agent or "person", ...],
                "seed": number or None, "deck": text or None, "listed": bool, "think": seconds, "clock": seconds}; all
                but "game" may be left out. "think" and "clock": see Settings.
            client: address of the client, whose tables are counted.

        Raises:
            FormatError, CardenvsError: something in the request is wrong.
            RefusedError: there are too many tables.
        """
        wanted = _checked_request(request)
        game = get_game(wanted["game"])
        texts = {name: str(value) for name, value in wanted["options"].items()}
        options = game.options.parse(texts)
        options.check_environment()
        deck = game.parse_deck(wanted["deck"], options).tolist() if wanted["deck"] else []
        seats = self._checked_seats(wanted["seats"], game, options.num_players)
        self._count_table(client)
        await self._make_room(self.settings.limits.tables)
        people = seats.count(PERSON)
        think = (self.settings.think if people else 0.0) if wanted["think"] is None else wanted["think"]
        clock = (self.settings.clock if people > 1 else 0.0) if wanted["clock"] is None else wanted["clock"]
        record = TableRecord(
            watch=secrets.token_urlsafe(_LINK_BYTES),
            host=secrets.token_urlsafe(_LINK_BYTES),
            game=game.name,
            options=options.as_dict(),
            seed=secrets.randbits(63) if wanted["seed"] is None else wanted["seed"],
            deck=deck,
            seats=tuple(SeatRecord(agent, "" if agent else secrets.token_urlsafe(_LINK_BYTES)) for agent in seats),
            key=secrets.token_bytes(32),
            is_listed=wanted["listed"],
            opened=time.time(),
            think=float(think),
            clock=float(clock),
        )
        table = await self._in_thread(_table, record, game, self.records, [])
        self.records.add(record)
        self._add(table)
        return record

    def _checked_seats(self, seats: list[Any] | None, game: Game, num_players: int) -> list[str]:
        known = agent_specs(game, self.settings)
        if seats is None:
            seats = ["person", *[game.default_opponent] * (num_players - 1)]
        if len(seats) != num_players:
            raise FormatError(f"{num_players} players need {num_players} seats; got {len(seats)}")
        for seat in seats:
            if not isinstance(seat, str) or (seat != "person" and seat not in known):
                raise FormatError(f"a seat is for a person or one of {', '.join(known)}; got {short(seat)}")
        return [PERSON if seat == "person" else seat for seat in seats]

    async def _make_room(self, most: int) -> None:
        """See that one more table may be opened: put away the one that nobody has looked at for longest, if need be.

        A table that is put away comes back when somebody follows one of its links.

        Args:
            most: tables whose games may be under way.
        """
        going_on = [room for room in self._rooms.values() if not room.table.state.is_terminal]
        if len(going_on) < most:
            return
        for room in going_on:  # in the order of their last visits
            if not room.connections and room.waits_for_people:
                await self._put_away(room)
                return
        raise RefusedError(f"this server has {most} games under way, which is all it allows; try later")

    def _count_table(self, client: str) -> None:
        if not self._new_tables.allows(client):
            most = self.settings.limits.new_tables_per_minute
            raise RefusedError(f"at most {most} tables a minute; wait a little")

    async def _in_thread(self, call: Callable, *values: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._openers, call, *values)

    # -- what the lobby shows -----------------------------------------------------------------------------------

    def games(self) -> list[dict[str, Any]]:
        """Return every game with its options and agents, as JSON values."""
        return [_game_json(get_game(name), self.settings) for name in list_games()]

    def tables(self) -> list[dict[str, Any]]:
        """Return the tables that the lobby shows, newest first, as JSON values."""
        found = []
        for record, is_over in self.records.listed(_MOST_LISTED):
            found.append(
                {
                    "watch": record.watch,
                    "game": record.game,
                    "seats": [seat.agent or "person" for seat in record.seats],
                    "opened": record.opened,
                    "over": is_over,
                }
            )
        return found


def _game_json(game: Game, settings: Settings) -> dict[str, Any]:
    fields = []
    for field in dataclasses.fields(game.options):
        meta = {name: value for name, value in field.metadata.items() if value is not None}
        kind = "choice" if "choices" in meta else "flag" if isinstance(field.default, bool) else "number"
        kind = "list" if "length" in meta else kind
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        if "values" in meta:
            kind = "choice"
            meta["choices"] = [str(value) for value in meta["values"]]
        fields.append(meta | {"name": field.name, "kind": kind, "default": default})
    return {
        "name": game.name,
        "title": game.title,
        "options": fields,
        "agents": list(agent_specs(game, settings)),
        "default_opponent": game.default_opponent,
    }


def _checked_request(request: Any) -> dict[str, Any]:
    kinds: dict[str, tuple[Any, Any]] = {
        "game": (str, ""), "options": (dict, {}), "seats": (list | None, None), "seed": (int | None, None),
        "deck": (str | None, None), "listed": (bool, True), "think": (int | float | None, None),
        "clock": (int | float | None, None),
    }  # fmt: skip
    if not isinstance(request, dict) or set(request) - set(kinds):
        raise FormatError(f"a table is opened with an object that has some of {', '.join(kinds)}; got {short(request)}")
    wanted = {}
    for name, (kind, default) in kinds.items():
        value = request.get(name, default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FormatError(f"{name!r} is of the wrong type; got {short(value)}")
        wanted[name] = value
    if wanted["seed"] is not None and not 0 <= wanted["seed"] <= SEED_MASK:
        raise FormatError("a seed is a number from 0 to 2**63-1")
    for name, most in (("think", SLOWEST), ("clock", _LONGEST_CLOCK)):
        if wanted[name] is not None and not 0 <= wanted[name] <= most:
            raise FormatError(f"{name!r} is a number of seconds from 0 to {most:g}; got {short(wanted[name])}")
    return wanted


def _table(record: TableRecord, game: Game, records: Records, moves: list[Move]) -> Table:
    _prepare(game, record.options)
    return Table(record, game, records, moves)


def _prepare(game: Game, options: dict[str, Any]) -> None:
    """Compile what a table needs, so that it does not happen while others wait."""
    state = game.new_state(seed=0, **options)
    player = state.current_player
    state.view(player)
    state.view(OMNISCIENT)
    state.explain_illegal(-1)
    guessed_events(state, player, state.legal_actions()[0])
    state.apply(state.legal_actions()[0])
    state.event_log()
