"""The tables of a page without a server. This module runs in the page's worker, in Pyodide.

One worker plays one table. It takes and sends the messages of a server's socket (cardenvs.server.messages); everything
that changes the table goes through the same `Room`. A browser's Python has no threads, so agents think in the event
loop, and the table does not answer meanwhile.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, cast

from cardenvs.core.errors import CardenvsError
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.server.messages import read_message
from cardenvs.server.opening import new_record
from cardenvs.server.records import Move, Records, SeatRecord, TableRecord
from cardenvs.server.room import Connection, Room
from cardenvs.server.settings import Settings
from cardenvs.server.table import PERSON, RefusedError, Table

_log = logging.getLogger("cardenvs.browser")

# Nobody learns anything from how long an agent thinks: whoever wants to cheat can read the worker's memory.
SETTINGS = Settings(think=0.0, clock=0.0, show_errors=True)


class OpenTable:
    """A table that one page shows."""

    def __init__(
        self, kept: str, keep: Callable[[str], None], send: Callable[[str], None], fail: Callable[[str], None]
    ) -> None:
        """Open a new table or one that was kept.

        Args:
            kept: JSON: {"request": see `new_record`}, or what `keep` got.
            keep: called with JSON whenever the table changes; opening this again continues the game.
            send: called with each message for the page.
            fail: called with a description of an error after which the table cannot continue.

        Raises:
            CardenvsError: the request is invalid.
        """
        data = json.loads(kept)
        if "request" in data:
            record, moves = _record_of(data["request"]), []
        else:
            record, moves = _kept_record(data), [Move(action, notes) for action, notes in data["moves"]]
        records = _Records(record, moves, keep)
        table = Table(record, get_game(record.game), cast(Records, records), moves)
        records.tell = lambda: _summary(table)
        self._room = Room(table, SETTINGS, cast(Any, _Threads()))
        link = next((seat.link for seat in record.seats if seat.link), record.host)
        self._connection = Connection(self._room, link, cast(Any, _Socket(send)))
        self._fail = fail
        self._tasks: set[asyncio.Task[None]] = set()
        records.keep()

    def connect(self, narrow: bool) -> None:
        """Send the position, and every later one, to the page. Agents begin to play."""
        self._connection.narrow = narrow
        self._connection.begin_again()
        if self._room.connections:
            return
        self._room.connections.add(self._connection)
        self._room.start()
        self._run(self._connection.feed())

    def receive(self, text: str) -> None:
        """Handle a message of the page."""
        self._run(self._answer(text))

    async def _answer(self, text: str) -> None:
        try:
            await self._room.handle(self._connection, read_message(text))
        except (RefusedError, CardenvsError) as error:
            await self._connection.say("refused", reason=str(error))

    def _run(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("the table cannot continue", exc_info=task.exception())
            self._fail(f"something went wrong here, so the game cannot continue: {task.exception()}")


def replay_page(text: str, notes: str = "{}") -> str:
    """Return the page that plays back a replay.

    Args:
        text: the replay.
        notes: JSON: {number of an action: its agent's notes}.

    Raises:
        FormatError: the replay cannot be read.
    """
    replay = Replay.parse(text)
    replay.verify()
    return replay.page(notes={int(ply): note for ply, note in json.loads(notes).items()})


class _Socket:
    """The page's end of a connection, as `Connection` uses it."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send

    async def send_text(self, text: str) -> None:
        self._send(text)


class _Threads:
    """What cardenvs.server.agents.Threads offers, without threads: calls run at once."""

    def __init__(self) -> None:
        self.own = self.further = self.hints = self.readers = self

    def submit(self, call: Callable[..., Any], *values: Any) -> Future[Any]:
        made: Future[Any] = Future()
        try:
            made.set_result(call(*values))
        except Exception as error:
            made.set_exception(error)
        return made

    async def do(self, client: Any, call: Callable[..., Any], *values: Any) -> Any:
        await asyncio.sleep(0)  # lets the page draw first
        return call(*values)


class _Records:
    """What cardenvs.server.records.Records offers to a table, for one table that the page keeps."""

    def __init__(self, record: TableRecord, moves: Sequence[Move], keep: Callable[[str], None] | None = None) -> None:
        self._record, self._moves, self._keep = record, list(moves), keep
        self.tell: Callable[[], dict[str, Any]] = dict
        self._is_due = False

    def add_moves(self, watch: str, ply: int, moves: Sequence[Move]) -> None:
        self._moves[ply:] = moves
        self._keep_soon()

    def take_back(self, watch: str, ply: int) -> None:
        del self._moves[ply:]
        self._keep_soon()

    def change_seats(self, table: TableRecord) -> None:
        self._record = table
        self._keep_soon()

    def finish(self, watch: str) -> None:
        self._keep_soon()

    def _keep_soon(self) -> None:
        """Keep the table once the change is complete: the table writes a move before it makes it."""
        if self._keep is not None and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self.keep)

    def keep(self) -> None:
        """Keep the table now."""
        self._is_due = False
        record = self._record
        kept = {
            "watch": record.watch, "host": record.host, "game": record.game, "options": record.options,
            "seed": str(record.seed), "deck": record.deck, "seats": [[seat.agent, seat.link] for seat in record.seats],
            "key": record.key.hex(), "opened": record.opened,
            "moves": [[move.action, move.notes] for move in self._moves],
        }  # fmt: skip
        if self._keep is not None:
            self._keep(json.dumps(kept | self.tell()))


def _record_of(request: dict[str, Any]) -> TableRecord:
    record = new_record(request, SETTINGS)
    if sum(seat.agent == PERSON for seat in record.seats) > 1:
        raise RefusedError("one person plays on a page without a server; give the other seats to agents")
    return record


def _kept_record(data: dict[str, Any]) -> TableRecord:
    return TableRecord(
        data["watch"], data["host"], data["game"], data["options"], int(data["seed"]), data["deck"],
        tuple(SeatRecord(agent, link) for agent, link in data["seats"]), bytes.fromhex(data["key"]), False,
        data["opened"],
    )  # fmt: skip


def _summary(table: Table) -> dict[str, Any]:
    """Return what the lobby lists of a table, and the replay of a finished game."""
    if table.state.is_terminal:
        return {"over": True, "to_act": None, "replay": table.replay().text()}
    return {"over": False, "to_act": table.state.current_player}
