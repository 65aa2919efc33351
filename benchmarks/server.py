"""How long a move takes from the table to those who watch it: one server process, its clients in another one."""

import asyncio
import json
import socket
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from websockets.asyncio.client import connect

_GAME, _PACE = "gin_rummy_v0", 1.0  # a move a second at every table


def delays(tables: int, watchers: int, seconds: float) -> list[float]:
    """Return the seconds from each move to each spectator, agents' thinking excluded.

    Args:
        tables: how many random agents play at.
        watchers: spectators of each.
        seconds: how long they watch.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.json"
        server = Popen([sys.executable, "-m", "benchmarks.server", str(port), str(times)], stdin=PIPE)
        try:
            links = list(_opened(port, tables))
            seen = asyncio.run(_watch(port, links * watchers, seconds))
        finally:
            assert server.stdin is not None
            server.stdin.close()  # which ends it
            server.wait()
        made = {(watch, turn): at for watch, turn, at in json.loads(times.read_text())}
    return [at - made[watch, turn] for watch, turn, at in seen if (watch, turn) in made]


def _opened(port: int, tables: int) -> Iterator[str]:
    body = json.dumps({"game": _GAME, "seats": ["random", "random"]}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/tables", body, {"content-type": "application/json"})
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz")
            break
        except OSError:
            time.sleep(0.1)
    for _ in range(tables):
        with urllib.request.urlopen(request) as answer:
            yield json.load(answer)["watch"]


async def _watch(port: int, links: list[str], seconds: float) -> list[tuple[str, int, float]]:
    """Return when each client got each turn of its table."""
    found: list[tuple[str, int, float]] = []

    async def look(link: str) -> None:
        async with connect(f"ws://127.0.0.1:{port}/ws/{link}", compression=None) as connection:
            await connection.recv()  # the position at which it came
            async for text in connection:
                at = time.monotonic()
                found.append((link, json.loads(text)["turn"], at))

    watching = [asyncio.create_task(look(link)) for link in links]
    await asyncio.wait(watching, timeout=seconds)
    for task in watching:
        task.cancel()
    return found


def _serve(port: int, times: Path) -> None:
    """Run a server that notes when it makes each move, until its input ends."""
    import threading

    import uvicorn

    from cardenvs.core.events import SPECTATOR
    from cardenvs.server.app import make_app
    from cardenvs.server.settings import Limits, Settings
    from cardenvs.server.table import Table

    made: list[tuple[str, int, float]] = []
    decide = Table.decide

    def timed(self: Table, action: int, notes: Any = None) -> None:
        at = time.monotonic()
        decide(self, action, notes)
        made.append((self.record.watch, self.show(SPECTATOR).turn, at))

    Table.decide = timed  # type: ignore[method-assign]
    app = make_app(Settings(pace=_PACE, limits=Limits(new_tables_per_minute=10_000)))
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", ws="websockets-sansio"))

    def end() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=end, daemon=True).start()
    server.run()
    times.write_text(json.dumps(made))


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]))
