"""A soak of the server: many clients on loopback, some of them hostile, until the time is up.

    python tests/server/soak.py --seconds 600 --clients 200

Honest clients play games of people and agents to their ends. Hostile ones do not read, send half of a request, garbage,
binary frames and floods of replays, or open tables and leave. Prints what the server holds while it goes on, and ends
with exit code 1 if the memory has grown since the first minute (or the first third), a game of an honest client has
not ended, or Ctrl-C takes five seconds.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from served import Served
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay

_HOSTILE = 0.4  # of all clients
_MOST_GROWTH = 0.10  # of the memory, and
_MOST_GROWTH_MB = 40.0
_MOST_END_SECONDS = 5.0
_MOST_GAME_SECONDS = 300.0
_THINKS = (2.0, 6.0)  # seconds that an honest client takes for a move
_GAMES = ("kuhn_poker_v0", "leduc_poker_v0", "liars_dice_v0", "durak_v0", "katko_v0")
_from: ContextVar[tuple[str, int]] = ContextVar("_from")  # the address of a client; all of 127.0.0.0/8 is loopback


class Soak:
    """Clients of one server, and what they have seen."""

    def __init__(self, server: Served, seconds: float, seed: int) -> None:
        self._server, self._random = server, random.Random(seed)
        self._address = ("127.0.0.1", server.port)
        self._until = time.monotonic() + seconds
        self._replay = _long_replay()
        self.counts: Counter[str] = Counter()
        self.unfinished: list[str] = []

    def _goes_on(self) -> bool:
        return time.monotonic() < self._until

    async def run(self, clients: int) -> None:
        """Let so many clients do what they do until the time is up."""
        hostile = [
            self._slow_reader, self._half_sender, self._garbage, self._binary, self._replays, self._leaver, self._hints,
        ]  # fmt: skip
        most = round(_HOSTILE * clients)
        calls = [hostile[k % len(hostile)] for k in range(most)] + [self._honest] * (clients - most)
        # Honest clients have addresses of their own; hostile ones of a kind share one.
        addresses = [hostile.index(call) if call in hostile else len(hostile) + k for k, call in enumerate(calls)]
        await asyncio.gather(*(self._repeat(call, address) for call, address in zip(calls, addresses, strict=True)))

    async def _repeat(self, call: Any, address: int) -> None:
        _from.set((f"127.0.{1 + address // 200}.{1 + address % 200}", 0))
        await asyncio.sleep(self._random.uniform(0, 2))
        while self._goes_on():
            try:
                await call()
            except (OSError, WebSocketException, TimeoutError, asyncio.IncompleteReadError) as error:
                self.counts[f"{call.__name__[1:]}: {type(error).__name__}"] += 1
            await asyncio.sleep(self._random.uniform(0.2, 1.0))

    async def _post(self, path: str, body: str) -> tuple[int, Any]:
        reader, writer = await asyncio.open_connection(*self._address, local_addr=_from.get())
        try:
            writer.write(_request(path, body.encode()))
            answer = await asyncio.wait_for(reader.read(), 60)
        finally:
            writer.close()
        head, _, rest = answer.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        self.counts[f"{path}: {status}"] += 1
        return status, json.loads(rest) if rest else None

    async def _table(self, seats: list[str], game: str) -> dict[str, Any] | None:
        status, table = await self._post("/api/tables", json.dumps({"game": game, "seats": seats, "listed": False}))
        return table if status == 201 else None

    def _url(self, link: str) -> str:
        return f"ws://127.0.0.1:{self._server.port}/ws/{link}"

    # -- honest clients -----------------------------------------------------------------------------------------

    async def _honest(self) -> None:
        """Play a game against an agent to its end, coming back when the connection is lost."""
        game = self._random.choice(_GAMES)
        agent = self._random.choice(["random", "heuristic", "search", "guest"])
        table = await self._table(["person", agent], game)
        if table is None:
            return
        self.counts["games begun"] += 1
        link, deadline = table["seats"][0]["link"], time.monotonic() + _MOST_GAME_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                if await self._play(link):
                    self.counts["games finished"] += 1
                    return
            self.counts["honest: connection lost"] += 1
            await asyncio.sleep(0.5)
        self.unfinished.append(f"{game} against {agent}: {link}")

    async def _play(self, link: str) -> bool:
        async with connect(self._url(link), open_timeout=30, local_addr=_from.get()) as socket:
            while True:
                seen = json.loads(await asyncio.wait_for(socket.recv(), 60))
                if seen["type"] != "position":
                    continue
                if seen["over"]:
                    return True
                if seen["current"] == seen["seat"]:
                    if self._goes_on():
                        await asyncio.sleep(self._random.uniform(*_THINKS))
                    actions = [choice["action"] for choice in seen["choices"] if "action" in choice]
                    intent = {"action": self._random.choice(actions)}
                    await socket.send(json.dumps({"do": "act", "turn": seen["turn"], "intents": [intent]}))

    # -- hostile clients ----------------------------------------------------------------------------------------

    async def _slow_reader(self) -> None:
        """Ask for much and read nothing."""
        table = await self._table(["person", "person"], "canasta_v0")
        if table is None:
            return
        async with _raw(self._address, table["seats"][0]["link"]) as (_, writer):
            writer.transport.pause_reading()
            for _ in range(400):
                writer.write(
                    _frame(1, json.dumps({"do": "look", "narrow": bool(self._random.getrandbits(1))}).encode())
                )
                writer.write(_frame(1, b"x" * 4000))
                writer.write(_frame(9, b"x" * 125))
                await asyncio.wait_for(writer.drain(), 30)
                await asyncio.sleep(0.02)

    async def _half_sender(self) -> None:
        """Send half of many requests."""
        writers = []
        try:
            for _ in range(40):
                _, writer = await asyncio.open_connection(*self._address, local_addr=_from.get())
                writers.append(writer)
                request = _request("/api/tables", b"{}")
                writer.write(request[: self._random.randrange(len(request) - 3)])
            await asyncio.sleep(5)
        finally:
            for writer in writers:
                writer.close()

    async def _garbage(self) -> None:
        reader, writer = await asyncio.open_connection(*self._address, local_addr=_from.get())
        writer.write(self._random.randbytes(2000))
        await asyncio.wait_for(reader.read(), 60)
        writer.close()
        await self._post("/api/tables", self._random.choice(["{", "[]", '{"game": []}', '{"game": "no_such_game"}']))

    async def _binary(self) -> None:
        table = await self._table(["person", "random"], "kuhn_poker_v0")
        if table is None:
            return
        async with _raw(self._address, table["seats"][0]["link"]) as (reader, writer):
            for opcode in (2, 1, 2, 7, 0):
                writer.write(_frame(opcode, self._random.randbytes(300)))
                await asyncio.wait_for(writer.drain(), 30)
            await asyncio.wait_for(reader.read(), 30)

    async def _replays(self) -> None:
        """Bring a long replay, and leave before it is drawn."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._post("/api/replays", self._replay), self._random.uniform(0.1, 3))

    async def _leaver(self) -> None:
        """Open a table with agents in processes, and never look at it."""
        await self._table(["guest", "person"], "leduc_poker_v0")

    async def _hints(self) -> None:
        """Ask for hints and leave."""
        table = await self._table(["person", "person"], "katko_v0")
        if table is None:
            return
        for _ in range(20):
            async with connect(self._url(table["seats"][0]["link"]), open_timeout=30, local_addr=_from.get()) as socket:
                seen = json.loads(await asyncio.wait_for(socket.recv(), 60))
                await socket.send(json.dumps({"do": "hint", "turn": seen["turn"], "agent": "guest"}))


def _long_replay() -> str:
    state, draw = get_game("gin_rummy_v0").new_state(seed=1, match_target=100), random.Random(1)
    while not state.is_terminal and len(state.actions) < 1500:
        state.apply(draw.choice(state.legal_actions()))
    return Replay.of(state).text()


def _request(path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _frame(opcode: int, payload: bytes) -> bytes:
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


@contextlib.asynccontextmanager
async def _raw(address: tuple[str, int], link: str) -> Any:
    """A socket without a library that keeps to the protocol."""
    reader, writer = await asyncio.open_connection(*address, local_addr=_from.get())
    try:
        writer.write(
            f"GET /ws/{link} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        yield reader, writer
    finally:
        writer.transport.abort()


# ---------------------------------------------------------------------------------------------------------------
# What the server holds


def processes(pid: int) -> set[int]:
    """Return a process and all that it has started."""
    lines = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.splitlines()
    parents = {int(line.split()[0]): int(line.split()[1]) for line in lines}
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def megabytes(pid: int) -> float:
    """Return the memory of a process."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def lobby_seconds(server: Served) -> float:
    """Return how long the lobby takes to answer."""
    started = time.monotonic()
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"{server.url}/", timeout=60).read()
    return time.monotonic() - started


async def watched(soak: Soak, server: Served, clients: int, every: float) -> list[float]:
    """Run the clients, print what the server holds now and then, and return its memory at these times."""
    work, started = asyncio.create_task(soak.run(clients)), time.monotonic()
    held: list[float] = []
    print("seconds  server MB  processes  games begun  finished  lobby s", flush=True)
    while not work.done():
        await asyncio.wait({work}, timeout=every)
        pid, counts = server.process.pid, soak.counts
        if server.process.poll() is not None:
            work.cancel()
            raise SystemExit("the server has ended")
        lobby = await asyncio.to_thread(lobby_seconds, server)
        held.append(megabytes(pid))
        print(
            f"{time.monotonic() - started:7.0f}  {held[-1]:9.0f}  {len(processes(pid)):9}  {counts['games begun']:11}"
            f"  {counts['games finished']:8}  {lobby:7.2f}",
            flush=True,
        )
    await work
    return held


def main(arguments: list[str] | None = None) -> int:
    """Run a soak; returns 0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    wanted = parser.parse_args(arguments)
    print(f"seed {wanted.seed}")
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        server = Served(Path(folder) / "tables.db", program="soak_server.py", env={"PYTHONPATH": path})
        try:
            return _soaked(server, wanted)
        finally:
            server.kill()


def _soaked(server: Served, wanted: argparse.Namespace) -> int:
    soak = Soak(server, wanted.seconds, wanted.seed)
    every = min(60.0, wanted.seconds / 3)
    held = asyncio.run(watched(soak, server, wanted.clients, every))
    for name, count in sorted(soak.counts.items()):
        print(f"  {count:7}  {name}")
    started = time.monotonic()
    server.process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.process.wait(60)
    took = time.monotonic() - started
    first, last = held[0], held[-1]
    print(f"memory {first:.0f} MB after {every:.0f} s, {last:.0f} MB at the end; Ctrl-C takes {took:.1f} s")
    wrong = [f"not finished: {one}" for one in soak.unfinished]
    if last > first + max(_MOST_GROWTH * first, _MOST_GROWTH_MB):
        wrong.append(f"memory has grown from {first:.0f} to {last:.0f} MB")
    if took >= _MOST_END_SECONDS:
        wrong.append(f"Ctrl-C takes {took:.1f} s")
    if not soak.counts["games finished"]:
        wrong.append("no game was finished")
    for one in wrong:
        print(one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
