"""Bodies of responses: whatever an endpoint sends, and however slowly, little of it is read."""

import contextlib
import socket
import threading
import time
import zlib

import pytest

pytest.importorskip("openai")

from cardenvs.llm import LLMConfig
from cardenvs.llm.client import LONGEST_BODY, ModelClient

CHUNK = b"x" * (1 << 16)
BUFFERS = 16 << 20  # of the sockets of both sides
MESSAGES = [{"role": "user", "content": "Hello"}]


class Endpoint:
    """Answers every request with a head and then chunks, and counts the bytes that the client takes."""

    def __init__(self, head, chunks, pause=0.0):
        self.sent = self.requests = 0
        self._head, self._chunks, self._pause = head, chunks, pause
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=(self._listener.accept()[0],), daemon=True).start()

    def _answer(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            self.requests += 1
            connection.sendall(self._head.replace(b"\n", b"\r\n").replace(b"URL", self.url.encode()) + b"\r\n\r\n")
            for chunk in self._chunks():
                connection.sendall(chunk)
                self.sent += len(chunk)
                time.sleep(self._pause)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):  # else what is unread resets the connection
                pass

    def close(self):
        self._listener.close()


def ask(head, chunks, pause=0.0, seconds=10.0):
    """Send one request; return the call, the bytes that were taken, and the seconds it took."""
    endpoint = Endpoint(head, chunks, pause)
    given = {"base_url": endpoint.url, "model": "m", "request_timeout_ms": int(1000 * seconds), "transport_retries": 0}
    started = time.monotonic()
    calls = ModelClient(LLMConfig.of({"name": "m", **given}, {})).ask(MESSAGES, None).result(timeout=30)
    took = time.monotonic() - started
    endpoint.close()
    return calls[-1], endpoint.sent, took


def endless():
    for _ in range(1 << 14):  # 1 GiB
        yield CHUNK


@pytest.mark.parametrize(
    ("head", "outcome"),
    [
        (b"HTTP/1.1 500 Oh\nConnection: close", "transport"),
        (b"HTTP/1.1 500 Oh\nContent-Length: 1073741824", "transport"),
        (b"HTTP/1.1 500 Oh\nContent-Type: text/html; charset=utf-16\nConnection: close", "transport"),
        (b"HTTP/1.1 401 Who\nConnection: close", "transport"),
        (b"HTTP/1.1 429 Wait\nRetry-After: 9999\nConnection: close", "rate_limited"),
        (b"HTTP/1.1 307 There\nLocation: URL/again\nConnection: close", "transport"),
        (b"HTTP/1.1 302 There\nLocation: URL/again\nConnection: close", "transport"),
        (b"HTTP/1.1 200 OK\nConnection: close", "truncated"),
        (b"HTTP/1.1 200 OK\nContent-Type: text/event-stream\nConnection: close", "truncated"),
    ],
)
def test_a_body_without_end_is_given_up(head, outcome):
    call, taken, _ = ask(head, endless)
    assert call.outcome == outcome
    assert taken < LONGEST_BODY + BUFFERS
    assert len(call.reason) < 1000


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip", "br", "GZIP "])
@pytest.mark.parametrize("status", ["200 OK", "500 Oh", "302 There\nLocation: URL/again"])
def test_a_compressed_body_is_not_unpacked(coding, status, monkeypatch):
    unpacked = []
    plain = zlib.decompressobj

    class Noting:
        def __init__(self, *arguments):
            self._made = plain(*arguments)

        def decompress(self, *data):
            unpacked.append(len(data[0]))
            return self._made.decompress(*data)

        def flush(self):
            return self._made.flush()

    monkeypatch.setattr(zlib, "decompressobj", Noting)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(bytes(64 << 20)) + packer.flush()
    head = f"HTTP/1.1 {status}\nContent-Encoding: {coding}\nConnection: close".encode()
    call, _, _ = ask(head, lambda: [bomb])
    assert call.outcome == "transport"
    assert not unpacked
    assert call.reason.startswith("the response is compressed" if status == "200 OK" else f"HTTP {status[:3]}")


def test_a_redirection_is_not_followed():
    """It would take the messages elsewhere."""
    endpoint = Endpoint(b"HTTP/1.1 307 There\nLocation: URL/again\nContent-Length: 0\nConnection: close", list)
    given = {"name": "m", "base_url": endpoint.url, "model": "m"}
    [call] = ModelClient(LLMConfig.of(given, {})).ask(MESSAGES, None).result(timeout=30)
    endpoint.close()
    assert "base_url" in call.reason
    assert endpoint.requests == 1


@pytest.mark.parametrize("status", ["200 OK", "500 Oh", "404 No"])
def test_a_body_in_drops_has_the_time_of_the_request(status):
    head = f"HTTP/1.1 {status}\nConnection: close".encode()
    call, _, took = ask(head, lambda: iter(lambda: b"x", b""), pause=0.05, seconds=1.0)
    assert call.outcome == "timeout"
    assert took < 10


def test_the_reason_of_a_refusal_is_kept():
    body = b'{"error": {"message": "the model is asleep"}}'
    call, _, _ = ask(b"HTTP/1.1 400 No\nContent-Type: application/json\nConnection: close", lambda: [body])
    assert "HTTP 400" in call.reason
    assert "the model is asleep" in call.reason
