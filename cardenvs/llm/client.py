"""Requests to models: one pool per endpoint and process, shared by all matches and seats.

Requests run on one event loop in a thread of its own, so agents may be asked from any thread, and from other event
loops. A pool lets through as many requests at a time as its configuration says. The result of one request is a `Call`;
a reply that is too long is given up, so an endless one costs no more than that. Of a refusal only the beginning is
read, nothing is decompressed, redirections are not followed, and the time limit covers all of it.
"""

import asyncio
import base64
import contextlib
import dataclasses
import functools
import hashlib
import json
import math
import os
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlsplit

from cardenvs.core.errors import require
from cardenvs.core.text import one_line
from cardenvs.llm.answers import (
    EMPTY,
    LONGEST_REPLY,
    OK,
    RATE_LIMITED,
    TIMEOUT,
    TRANSPORT,
    TRUNCATED,
    reply_outcome,
    storable,
)

if TYPE_CHECKING:
    from cardenvs.llm.config import LLMConfig  # needs the extra `llm`

LONGEST_BODY = 4 << 20  # bytes of a response
_LONGEST_REFUSAL = 1 << 16  # bytes that are read of a response without a reply
_LONGEST_REASON = 500
_LONGEST_FINISH = 40  # characters
_MOST_TOKENS = 1 << 40
_LONGEST_REQUEST_S = 900.0  # also where no limit of time is set: a reply may come in drops, without end
_TRUSTED_WAITS = 5  # times that an endpoint's word is taken for how long to wait
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.5, 30.0
_HIDDEN = "[key]"
_SHORT = 6  # characters of a secret whose base64 may occur in a reply by chance
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")

Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Call:
    """The result of one request."""

    # "ok" (there is a reply; whether an answer is in it remains to be seen), "empty", "truncated", "timeout",
    # "rate_limited" or "transport"
    outcome: str
    reply: str = ""  # the text, as far as there is one
    reason: str = ""  # what went wrong, for people
    seconds: float = 0.0  # from sending to the end of the reply
    finish_reason: str | None = None  # as the endpoint says
    # as the endpoint counts them: {"prompt": ..., "completion": ...}
    tokens: dict[str, int] = field(default_factory=dict)
    again: bool = False  # whether the same request may get through later
    wait_s: float | None = None  # seconds to wait before that, if the endpoint gives them


class Client(Protocol):
    """Who answers: a model, or a script."""

    def ask(self, messages: Messages, budget_s: float | None) -> "Future[list[Call]]":
        """Send messages; the last call is the result, those before it did not get through.

        `budget_s` is the seconds that the requests may take together, or None.
        """


class ScriptClient:
    """Says what a script says, again and again; asks nobody."""

    def __init__(self, replies: tuple[str, ...]) -> None:
        """Replies, taken in turn."""
        self._replies, self._next = replies, 0

    def ask(self, messages: Messages, budget_s: float | None) -> "Future[list[Call]]":
        """Return the next reply."""
        reply = self._replies[self._next % len(self._replies)]
        self._next += 1
        future: Future[list[Call]] = Future()
        future.set_result([Call(OK if reply.strip() else EMPTY, reply)])
        return future


class Memory(Protocol):
    """What keeps answers, so that a match that is taken up again asks nothing twice."""

    def recall(self, key: str) -> list[dict[str, Any]] | None:
        """Return the calls kept under `key`, as JSON values, each time another; None: there are none."""

    def keep(self, key: str, calls: list[dict[str, Any]]) -> None:
        """Keep calls, JSON values, under `key`."""


class RememberingClient:
    """Asks another client, but nothing that a memory has the answer to."""

    def __init__(self, client: Client, memory: Memory) -> None:
        """Who is asked, and what keeps the answers."""
        self._client, self._memory = client, memory

    def ask(self, messages: Messages, budget_s: float | None) -> "Future[list[Call]]":
        """Return what is remembered, or send the messages and keep the answer before it is returned."""
        key = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        future: Future[list[Call]] = Future()
        kept = self._memory.recall(key)
        if kept is not None:
            future.set_result([Call(**call) for call in kept])
            return future

        def keep(asked: "Future[list[Call]]") -> None:
            try:
                calls = asked.result()
                self._memory.keep(key, [dataclasses.asdict(call) for call in calls])
            except BaseException as error:  # for whoever asked
                future.set_exception(error)
            else:
                future.set_result(calls)

        self._client.ask(messages, budget_s).add_done_callback(keep)
        return future


class ModelClient:
    """Asks the model of a configuration, through the pool of its endpoint."""

    def __init__(self, config: "LLMConfig") -> None:
        """Create a client. Raises MissingExtraError if the extra `llm` is not installed."""
        require("openai", "llm")
        self._config = config
        _pool(config)  # refuses here what it cannot use

    def ask(self, messages: Messages, budget_s: float | None) -> "Future[list[Call]]":
        """Send a request; again, where it did not get through, as often as the configuration says."""
        pool = _pool(self._config)  # each time: a forked process has other pools
        return asyncio.run_coroutine_threadsafe(self._ask(pool, messages, budget_s), _loop())

    async def _ask(self, pool: "_Pool", messages: Messages, budget_s: float | None) -> list[Call]:
        config = self._config
        calls: list[Call] = []
        waited, spent, transport_left = 0.0, 0.0, config.transport_retries
        while True:
            left = None if budget_s is None else max(0.0, budget_s - spent)
            limits = (left, config.request_timeout_s, _LONGEST_REQUEST_S)
            call = await pool.send(config, messages, min(limit for limit in limits if limit is not None))
            calls.append(call)
            spent += call.seconds
            if not call.again or (budget_s is not None and spent >= budget_s):
                return calls
            if call.outcome == TRANSPORT:
                transport_left -= 1
                if transport_left < 0:
                    return calls
            wait = call.wait_s or 0.0
            if call.wait_s is None or len(calls) > _TRUSTED_WAITS:  # an endpoint may say 0 again and again
                wait = max(wait, _backoff(len(calls)))
            if waited + wait > config.rate_limit_wait_s:
                return calls
            waited += wait
            await asyncio.sleep(wait)


class _Pool:
    """The requests to one endpoint. Lives on the loop of this module."""

    def __init__(self, base_url: str, userinfo: str, key: str, size: int) -> None:
        import openai

        self._openai = openai
        self._slots = asyncio.Semaphore(size)
        direct = urlsplit(base_url).hostname in _THIS_MACHINE  # a proxy of the network does not know this machine
        self._client = openai.AsyncOpenAI(
            base_url=base_url.replace("://", f"://{userinfo}@", 1) if userinfo else base_url,
            api_key=key or "none",  # left out, the client would send OPENAI_API_KEY, whatever the endpoint is
            max_retries=0,
            timeout=None,
            http_client=openai.DefaultAsyncHttpxClient(
                trust_env=not direct, event_hooks={"response": [_check_response]}
            ),
        )

    async def send(self, config: "LLMConfig", messages: Messages, limit_s: float | None) -> Call:
        """One request, when there is room for it. Never raises for what the endpoint does."""
        async with self._slots:
            started = time.monotonic()
            try:
                async with asyncio.timeout(limit_s):
                    call = _read_body(await self._body(config, messages))
            except TimeoutError:
                call = Call(TIMEOUT, reason=f"no reply within {limit_s:g} seconds")
            except _TooLongError:
                call = Call(TRUNCATED, reason=f"the response is longer than {LONGEST_BODY >> 20} MiB")
            except self._openai.APITimeoutError:
                call = Call(TIMEOUT, reason="the connection timed out")
            except Exception as error:  # broken connections and broken responses come in many classes
                refused = next((one for one in (error, error.__cause__) if isinstance(one, _RefusedError)), None)
                call = (
                    refused.call if refused else Call(TRANSPORT, reason=f"{type(error).__name__}: {error}", again=True)
                )
        return _cleaned(call, config.secrets, time.monotonic() - started)

    async def _body(self, config: "LLMConfig", messages: Messages) -> bytes:
        request: dict[str, Any] = {"model": config.model, "messages": messages}
        if config.temperature is not None:
            request["temperature"] = config.temperature
        extra = dict(config.extra)
        if config.max_tokens is not None:
            extra.setdefault(config.max_tokens_name, config.max_tokens)
        create = self._client.chat.completions.with_streaming_response.create
        headers = {"Accept-Encoding": "identity"}  # a short response cannot turn out long
        async with create(**request, extra_body=extra, extra_headers=headers) as response:
            body = bytearray()
            async for chunk in response.iter_bytes():
                body += chunk
                if len(body) > LONGEST_BODY:
                    raise _TooLongError
            return bytes(body)


async def _check_response(response: Any) -> None:
    """Raise _RefusedError unless a response has a reply: called before anything else can read its body.

    The client of openai reads the body of a refusal or a redirection as a whole, and decompresses it.
    """
    coding = response.headers.get("content-encoding", "").strip().lower()
    is_compressed, beginning = coding not in ("", "identity"), b""
    if 200 <= response.status_code < 300:
        if is_compressed:
            raise _RefusedError(Call(TRANSPORT, reason=f"the response is compressed ({coding}), against the request"))
        return
    if not is_compressed:
        async for chunk in response.aiter_raw():
            beginning += chunk
            if len(beginning) > _LONGEST_REFUSAL:
                break
    raise _RefusedError(_refused(response.status_code, response.headers, beginning[:_LONGEST_REFUSAL]))


def _refused(status: int, headers: Any, body: bytes) -> Call:
    reason, wait_s = f"HTTP {status}: {body.decode(errors='replace')}", _retry_after(headers)
    if 300 <= status < 400:
        return Call(TRANSPORT, reason=f"HTTP {status}: redirections are not followed; set base_url to where it leads")
    if status == 429:
        return Call(RATE_LIMITED, reason=reason, again=True, wait_s=wait_s)
    return Call(TRANSPORT, reason=reason, again=status >= 500 or status in (408, 409), wait_s=wait_s)


def _cleaned(call: Call, secrets: Sequence[str], seconds: float) -> Call:
    """Return the call as it may be kept: bounded, and without secrets, should the endpoint have repeated them."""

    def clean(text: str, most: int) -> str:
        for secret in secrets:
            for written in _ways_to_write(secret):
                text = text.replace(written, _HIDDEN)
        return storable(text, most)

    finish = None if call.finish_reason is None else one_line(clean(call.finish_reason, _LONGEST_FINISH))
    return dataclasses.replace(
        call,
        reply=clean(call.reply, LONGEST_REPLY),
        reason=one_line(clean(call.reason, 2 * _LONGEST_REASON), _LONGEST_REASON),
        seconds=seconds,
        finish_reason=finish,
    )


@functools.lru_cache(64)
def _ways_to_write(secret: str) -> tuple[str, ...]:
    """Return a secret in plain text, JSON, Python's repr, a URL and base64; longest first."""
    ways = {secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe="")}
    if len(secret) > _SHORT:
        ways.add(base64.b64encode(secret.encode(errors="replace")).decode().rstrip("="))
    return tuple(sorted(ways, key=len, reverse=True))


class _TooLongError(Exception):
    """A response without end."""


class _RefusedError(Exception):
    """A response without a reply, and the call that it makes."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.outcome)
        self.call = call


def _read_body(body: bytes) -> Call:
    """Return the reply in a response of an OpenAI-compatible endpoint."""
    try:
        content = json.loads(body)
        choice = content["choices"][0]
        message = choice["message"]
        text, finish = message.get("content"), choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return Call(TRANSPORT, reason="the response is not a chat completion", again=True)
    finish = finish if isinstance(finish, str) else None
    tokens = _tokens(content.get("usage"))
    if text is not None and not isinstance(text, str):
        return Call(TRANSPORT, reason="the content of the reply is not text", again=True, tokens=tokens)
    text = text or ""
    outcome, reason = reply_outcome(text, finish)
    return Call(outcome, text, reason, 0, finish, tokens)


def _tokens(usage: Any) -> dict[str, int]:
    names = {"prompt": "prompt_tokens", "completion": "completion_tokens"}
    found = {ours: usage.get(theirs) for ours, theirs in names.items()} if isinstance(usage, dict) else {}
    return {
        name: count
        for name, count in found.items()
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS
    }


def _retry_after(headers: Any) -> float | None:
    with contextlib.suppress(TypeError, ValueError):
        seconds = float(headers.get("retry-after"))
        if 0 <= seconds < math.inf:  # False for NaN as well
            return seconds
    return None


def _backoff(attempt: int) -> float:
    """Return seconds before the next request: doubling, with a random part so that not all come back at once."""
    return min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)


# -- the loop, and the pools on it --------------------------------------------------------------------------------

_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None
_pools: dict[tuple[str, str, str, int], _Pool] = {}


def _forget_all() -> None:
    """In a forked process: the loop's thread did not come along, and the connections are the parent's."""
    global _lock, _running, _pools
    _lock, _running, _pools = threading.Lock(), None, {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of all requests of this process, started when it is first needed."""
    global _running
    with _lock:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, daemon=True, name="cardenvs-llm").start()
        return _running


def _pool(config: "LLMConfig") -> _Pool:
    """Return the pool of an endpoint: all that has the same address, key and size shares it."""
    loop = _loop()
    which = (config.base_url, config.credentials.reveal(), config.api_key.reveal(), config.concurrency)

    async def find() -> _Pool:
        if which not in _pools:
            _pools[which] = _Pool(*which)
        return _pools[which]

    return asyncio.run_coroutine_threadsafe(find(), loop).result()
