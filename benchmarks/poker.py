"""How many steps of one-player poker the HTTP API takes: one server process, its clients in another one."""

import asyncio
import json
import random
import socket
import sys
import time
import urllib.request
from subprocess import PIPE, Popen

_CONNECTIONS = 8


def steps(seconds: float) -> tuple[float, list[float]]:
    """Return the requests a second to POST /game/step, hints off, and the seconds that each took.

    Games are begun as needed; only steps count, and only their time.

    Args:
        seconds: how long the clients send.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Popen([sys.executable, "-m", "benchmarks.poker", str(port)], stdin=PIPE)
    try:
        _wait_for(port)
        return asyncio.run(_send(port, seconds))
    finally:
        assert server.stdin is not None
        server.stdin.close()  # which ends it
        server.wait()


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz")
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")


async def _send(port: int, seconds: float) -> tuple[float, list[float]]:
    clients = [_Client(port, number) for number in range(_CONNECTIONS)]
    await asyncio.gather(*(client.begin() for client in clients))
    until = time.perf_counter() + seconds
    await asyncio.gather(*(client.play(until) for client in clients))
    took = [one for client in clients for one in client.took]
    in_steps = sum(took) / _CONNECTIONS  # the rest of the time went into starts
    return len(took) / in_steps, took


class _Client:
    """Plays random games over one connection."""

    def __init__(self, port: int, seed: int) -> None:
        self._port, self._rng = port, random.Random(seed)
        self.took: list[float] = []

    async def begin(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._game = await self._start()

    async def play(self, until: float) -> None:
        while time.perf_counter() < until:
            state = self._game["state"]
            if state["p_remaining"] == 0:
                self._game = await self._start()
                continue
            discards = min(7, state["d_remaining"])
            kind, number = ("DISCARD", self._rng.randint(1, discards)) if discards else ("PLAY", 5)
            action = {"type": kind, "selected_indices": self._rng.sample(range(7), number)}
            begun = time.perf_counter()
            self._game = await self._post(
                "step", {"game_id": self._game["game_id"], "action": action, "hint_request": {"enabled": False}}
            )
            self.took.append(time.perf_counter() - begun)

    async def _start(self) -> dict:
        return await self._post("start", {"mode": "practice", "difficulty_tier": "easy"})

    async def _post(self, path: str, wanted: dict) -> dict:
        body = json.dumps(wanted).encode()
        head = f"POST /game/{path} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\ncontent-type: application/json\r\n"
        self._writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        fields = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        length = next(int(field.split(":")[1]) for field in fields if field.startswith("content-length"))
        answer = await self._reader.readexactly(length)
        if " 200 " not in fields[0]:
            raise RuntimeError(f"{fields[0]}: {answer.decode()}")
        return json.loads(answer)


def _serve(port: int) -> None:
    """Run a server until its input ends."""
    import tempfile
    import threading

    import uvicorn

    from cardenvs.server.app import make_app
    from cardenvs.server.settings import Settings
    from cardenvs.tools.one_player_poker.api.settings import PokerSettings

    with tempfile.TemporaryDirectory() as folder:
        unbounded = PokerSettings(requests_per_second=1e9, new_games_per_minute=10**9)
        app = make_app(Settings(data=f"{folder}/tables.db", apps={"poker": unbounded}))
        server = uvicorn.Server(
            uvicorn.Config(app, port=port, log_level="error", access_log=False, ws="websockets-sansio")
        )

        def end() -> None:
            sys.stdin.read()
            server.should_exit = True

        threading.Thread(target=end, daemon=True).start()
        server.run()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
