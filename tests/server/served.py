"""Helpers for tests of the server."""

import base64
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.testclient import TestClient

from cardenvs.core.registry import get_game
from cardenvs.server.app import make_app
from cardenvs.server.records import Records, SeatRecord, TableRecord
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.table import Table

PERSON = ""


@contextlib.contextmanager
def client(**settings: Any) -> Iterator[TestClient]:
    """A server in this process."""
    limits = replace(Limits(), **settings.pop("limits", {}))
    wanted = Settings(**{"pace": 0.0, "think": 0.0, "host_names": ("testserver",), "limits": limits} | settings)
    with TestClient(make_app(wanted), raise_server_exceptions=False) as made:
        yield made


def open_table(server: TestClient, game: str, seats: list[str], **more: Any) -> dict[str, Any]:
    answer = server.post("/api/tables", json={"game": game, "seats": seats, **more})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def frames(page: str) -> list[dict[str, Any]]:
    """What a page of a recorded game shows."""
    packed = re.search(r"H4sI[A-Za-z0-9+/=]+", page)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[0])))["frames"]


def new_table(game: str, agents: list[str], deck: str = "", records: Records | None = None, **options: Any) -> Table:
    """A table without a server; seat p has the link "seat_p"."""
    played = get_game(game)
    made = played.make_options(num_players=len(agents), **options)
    record = TableRecord(
        "watch", "host", game, made.as_dict(), 7, played.parse_deck(deck, made).tolist() if deck else [],
        tuple(SeatRecord(agent, "" if agent else f"seat_{p}") for p, agent in enumerate(agents)), bytes(32), True, 0.0,
    )  # fmt: skip
    records = records or Records(":memory:")
    records.add(record)
    return Table(record, played, records)


def act(seat: int, table: Table, label: str) -> None:
    """A person chooses a move by its label."""
    table.act(seat, table.show(seat).turn, [{"action": label}])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Served:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, data: object, *arguments: str, program: str = "", env: dict[str, str] | None = None) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        begun = [str(Path(__file__).parent / program)] if program else ["-m", "cardenvs", "serve"]
        self._command = [sys.executable, *begun, "--port", str(self.port), "--data", str(data), *arguments]
        self._env = env or {}
        self.start()

    def start(self) -> None:
        env = os.environ | {"CARDENVS_QUIET": "1"} | self._env
        self.process = subprocess.Popen(self._command, env=env, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(f"{self.url}/healthz")
                return
            assert self.process.poll() is None, "the server has ended"
            time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def until(page: Any, expression: str) -> None:
    """Wait for something on the page. The page's own policy forbids Playwright to look for it there."""
    for _ in range(3000):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"it never came true that {expression}")
