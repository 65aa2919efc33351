"""All tables of a server."""

import asyncio
import logging
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
from cardenvs.server.agents import Threads
from cardenvs.server.catalogue import game_json
from cardenvs.server.opening import new_record
from cardenvs.server.rate import Rate
from cardenvs.server.records import Move, Records, SeatRecord, TableRecord
from cardenvs.server.room import Kept, Room
from cardenvs.server.settings import Settings
from cardenvs.server.table import PERSON, RefusedError, Table

_log = logging.getLogger("cardenvs.server")
_KEPT_OPEN = 64  # finished tables in memory
_MOST_LISTED = 100
_MOST_LINKS = 50  # that a client may ask about at once
_RETURNING = 2  # loaded tables may be this many times Limits.tables, so that players can return
_OPENING = 4  # threads that load tables
_AT_ONCE = 100  # old tables that are deleted without a break
_STOP_SECONDS = 2.0  # time for rooms to stop when the server ends


class Host:
    """The tables of a server: opens tables, finds them by link, resumes them after a restart."""

    def __init__(self, settings: Settings) -> None:
        """Open the database; `start` resumes its tables."""
        self.settings = settings
        self.records = Records(settings.data)
        self._threads = Threads(settings.limits)
        self._openers = ThreadPoolExecutor(_OPENING, "cardenvs-open")  # agents cannot block them
        self._rooms: OrderedDict[str, Room] = OrderedDict()  # by public link
        self._kept: dict[str, Kept] = {}  # of unloaded tables, by public link
        self._new_tables = Rate(settings.limits.new_tables_per_minute)
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Resume unfinished tables in the background."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._sweep()), loop.create_task(self._resume())]

    async def stop(self) -> None:
        """Stop all agents within seconds and close the database."""
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
            except (CardenvsError, RefusedError) as error:  # the game may have been removed or changed
                _log.error("table %s cannot be resumed: %s", record.watch, error)

    async def _sweep(self) -> None:
        """Unload idle tables and delete old ones, again and again."""
        while True:
            try:
                await self._unload_idle()
                await self._load_overdue()
                await self._delete_old()
            except Exception:  # such as a full disk; the next attempt may succeed
                _log.exception("idle and old tables cannot be removed")
            await asyncio.sleep(self.settings.limits.sweep_seconds)

    async def _unload_idle(self) -> None:
        for watch, room in list(self._rooms.items()):  # others may come and go while one is unloaded
            if self._rooms.get(watch) is room and room.is_idle(self.settings.limits.idle_seconds):
                await self._unload(room)

    async def _unload(self, room: Room) -> None:
        """Stop a room. Following one of its links loads it again, and so does the end of a person's time."""
        watch = room.table.record.watch
        del self._rooms[watch]
        self._kept[watch] = room.kept
        await room.stop()

    async def _load_overdue(self) -> None:
        """Load the tables at which a person's time is up, so that the person forfeits."""
        for watch in [watch for watch, kept in self._kept.items() if kept.due <= time.monotonic()]:
            try:
                await self.find(watch)
            except RefusedError:  # there is no room; the next sweep tries again
                return
            except CardenvsError as error:
                _log.error("table %s, where the time is up, cannot be loaded: %s", watch, error)
                del self._kept[watch]

    async def _delete_old(self) -> None:
        limits, dropped = self.settings.limits, ["first"]
        while dropped:
            self.records.touch(self._visited())  # nothing at which somebody sits is old
            dropped = self.records.drop_old(limits.keep_days, limits.unfinished_days, limits.unused_days, _AT_ONCE)
            for watch in dropped:
                if watch in self._rooms:
                    await self._unload(self._rooms[watch])
                self._kept.pop(watch, None)
            await asyncio.sleep(0)  # lets other tasks run

    def _visited(self) -> list[str]:
        """Return the public links of the tables at which somebody is now."""
        return [watch for watch, room in self._rooms.items() if room.connections]

    # -- tables -------------------------------------------------------------------------------------------------

    async def find(self, link: str) -> Room | None:
        """Return the room of a link, or None if the link is unknown.

        Raises:
            RefusedError: the room is unloaded, and there are too many games in memory to load it.
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
        """Load a table. A thread replays its moves, which may take a while."""
        try:
            game, moves = get_game(record.game), self.records.moves(record.watch)
            table = await self._in_thread(_table, record, game, self.records, moves)
            if not table.state.is_terminal:
                await self._make_room(_RETURNING * self.settings.limits.tables)
            self._add(table)
        finally:
            del self._loading[record.watch]

    def _add(self, table: Table) -> Room:
        watch = table.record.watch
        room = Room(table, self.settings, self._threads, self._kept.pop(watch, None))
        self._rooms[watch] = room
        room.start()
        idle = [
            other_watch
            for other_watch, other in self._rooms.items()
            if other.table.state.is_terminal and not other.connections and other is not room
        ]
        for other_watch in idle[: max(0, len(idle) - _KEPT_OPEN)]:
            del self._rooms[other_watch]
        return room

    async def open_table(self, request: Any, client: str) -> TableRecord:
        """Open a table.

        Args:
            request: see `cardenvs.server.opening.new_record`.
            client: address of the client.

        Raises:
            CardenvsError: the request is invalid.
            RefusedError: the client opens too many tables, or there are too many.
        """
        record = new_record(request, self.settings)
        if not self._new_tables.allows(client):
            most = self.settings.limits.new_tables_per_minute
            raise RefusedError(f"at most {most} tables a minute; wait a moment")
        await self._make_room(self.settings.limits.tables)
        table = await self._in_thread(_table, record, get_game(record.game), self.records, [])
        self.records.add(record)
        self._add(table)
        return record

    async def _make_room(self, most: int) -> None:
        """Make room for one more unfinished game: unload the table with the oldest last visit if there are `most` in
        memory, one that waits for people rather than one at which agents play.

        Raises:
            RefusedError: there are too many games, and somebody is at each.
        """
        unfinished = [room for room in self._rooms.values() if not room.table.state.is_terminal]
        if len(unfinished) < most:
            return
        left = [room for room in unfinished if not room.connections]  # by last visit
        if left:
            await self._unload(min(left, key=lambda room: not room.waits_for_people))
            return
        raise RefusedError(f"this server allows {most} unfinished games and is full; try later")

    async def _in_thread(self, call: Callable[..., Table], *values: Any) -> Table:
        return await asyncio.get_running_loop().run_in_executor(self._openers, call, *values)

    # -- lobby --------------------------------------------------------------------------------------------------

    def games(self) -> list[dict[str, Any]]:
        """Return all games with their options and agents as JSON values."""
        return [game_json(get_game(name), self.settings) for name in list_games()]

    def tables(self) -> list[dict[str, Any]]:
        """Return the tables of the lobby as JSON values: unfinished ones, then finished ones, newest first.

        Unfinished tables without moves or visits for a while are left out, unless somebody is there now.
        """
        since = time.time() - 60 * self.settings.limits.abandoned_minutes
        return [
            {
                "watch": record.watch,
                "game": record.game,
                "seats": [seat.by for seat in record.seats],
                "opened": record.opened,
                "over": is_over,
                "to_act": None if is_over else self._to_act(record),
            }
            for record, is_over in self.records.listed(_MOST_LISTED, since, self._visited())
        ]

    def tables_of(self, request: Any) -> list[dict[str, Any]]:
        """Return the tables of a client's links as JSON values, in the order of the links; none for unknown links.

        Args:
            request: {"links": [link, ...]}.

        Raises:
            FormatError: the request is invalid.
        """
        links = request.get("links") if isinstance(request, dict) and set(request) == {"links"} else None
        if not isinstance(links, list) or len(links) > _MOST_LINKS or not all(isinstance(link, str) for link in links):
            raise FormatError(f'the request must be {{"links": [at most {_MOST_LINKS} texts]}}; got {short(request)}')
        return [
            {
                "link": link,
                "game": record.game,
                "seat": next((p for p, seat in enumerate(record.seats) if seat.link == link), None),
                "seats": [seat.by for seat in record.seats],
                "opened": record.opened,
                "over": is_over,
                "to_act": None if is_over else self._to_act(record),
                "your_turn": not is_over and self._is_to_act(record, link),
            }
            for link, (record, is_over) in self.records.of_links(links).items()
        ]

    def _is_to_act(self, record: TableRecord, link: str) -> bool:
        """Return whether the owner of a link is to act, as far as is known without loading the game."""
        player = self._to_act(record)
        return player is not None and record.seats[player] == SeatRecord(PERSON, link)

    def _to_act(self, record: TableRecord) -> int | None:
        """Return the player to act, or None if that is not known without loading the game."""
        room = self._rooms.get(record.watch)
        if room is not None:
            return None if room.table.state.is_terminal else room.table.state.current_player
        people = [player for player, seat in enumerate(record.seats) if seat.agent == PERSON]
        return people[0] if len(people) == 1 else None  # a game is put away only when it waits for a person


def _table(record: TableRecord, game: Game, records: Records, moves: list[Move]) -> Table:
    _prepare(game, record.options)
    return Table(record, game, records, moves)


def _prepare(game: Game, options: dict[str, Any]) -> None:
    """Compile everything that a table needs, so that the event loop never waits for a compilation."""
    state = game.new_state(seed=0, **options)
    player = state.current_player
    state.view(player)
    state.view(OMNISCIENT)
    state.explain_illegal(-1)
    guessed_events(state, player, state.legal_actions()[0])
    state.apply(state.legal_actions()[0])
    state.event_log()
