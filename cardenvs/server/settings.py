"""Settings and limits of the server."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardenvs.core.errors import OptionError

SLOWEST = 60.0  # largest pace and least thinking time, in seconds
LONGEST_CLOCK = 604_800.0  # largest time for a move, in seconds
ENVIRONMENT_MODEL = "model"  # name of the agent that `models` adds
_MODEL_KIND = "llm:"
_NO, _YES = ("0", "false", "no", "off"), ("1", "true", "yes", "on")


@dataclass(frozen=True)
class Limits:
    """Bounds on what clients can make a server do.

    Attributes:
        tables: unfinished games in memory.
        new_tables_per_minute: new tables for one client address.
        connections: open sockets in all.
        connections_per_table: open sockets of spectators at one table; players and the host have places of their own.
        connections_per_address: open sockets of one client address.
        requests: HTTP connections. When there are more, a client that keeps the server waiting is disconnected.
        client_seconds: time for a client to send a request, or to read some of the data sent to it.
        messages_per_second: average rate at which messages of a socket are read, in bursts of a few seconds' worth.
            Further messages wait.
        message_bytes: size of a message on a socket.
        body_bytes: size of a request body, except for replays.
        replay_bytes: size of an uploaded replay.
        replay_actions: actions of an uploaded replay.
        drawings: processes that draw pages of recorded games.
        drawings_waiting: pages being drawn or waiting for it.
        drawings_per_minute: pages of recorded games for one client address.
        drawing_seconds: time for drawing a page.
        reviews_per_minute: reviews of finished games for one client address. One process makes them, one by one.
        review_seconds: time for a review.
        review_worlds: worlds in which a review compares two plays.
        thinking: threads for the server's own agents, and again as many for the owner's agents.
        advice: threads for hints. Eight requests per thread may wait.
        readers: threads for earlier positions. Eight requests per thread may wait.
        advice_seconds: time for a hint of an agent in a process.
        idle_seconds: time until an unwatched table in which no agent can move is unloaded. Its links load it again.
        sweep_seconds: interval between searches for idle and old tables.
        abandoned_minutes: minutes without a move or visit after which an unfinished table leaves the lobby's list. Its
            links still work.
        keep_days: days for which finished tables are kept after the last visit.
        unfinished_days: days for which unfinished tables are kept after the last move or visit.
        unused_days: days for which tables without any move are kept.
    """

    tables: int = 500
    new_tables_per_minute: int = 30
    connections: int = 2000
    connections_per_table: int = 200
    connections_per_address: int = 200  # below `tables`, so that nobody alone can sit at all of them
    requests: int = 1000
    client_seconds: float = 20.0
    messages_per_second: float = 50.0
    message_bytes: int = 1 << 14
    body_bytes: int = 1 << 16
    replay_bytes: int = 1 << 20
    replay_actions: int = 5000
    drawings: int = 2
    drawings_waiting: int = 32
    drawings_per_minute: float = 20.0
    drawing_seconds: float = 30.0
    reviews_per_minute: float = 4.0
    review_seconds: float = 180.0
    review_worlds: int = 40
    thinking: int = 32
    advice: int = 8
    readers: int = 4
    advice_seconds: float = 20.0
    idle_seconds: float = 300.0
    sweep_seconds: float = 30.0
    abandoned_minutes: float = 60.0
    keep_days: float = 30
    unfinished_days: float = 30
    unused_days: float = 1


@dataclass(frozen=True)
class Settings:
    """What a server offers.

    Attributes:
        data: SQLite file of the tables, or ":memory:".
        agents: specs of further agents by visible name. Clients choose names, never specs.
        host_names: host names accepted in requests, without ports.
        replays: replay files that anybody may watch.
        stores: match databases whose games anybody may watch.
        pace: seconds between agents' moves at a new table.
        think: least seconds for an agent's decision at a new table with people. Slower decisions are shown at the next
            multiple, so that the time says little about the agent's cards.
        clock: seconds for a person's move at a new table of several people, after which the person forfeits. 0: no
            limit.
        round_pause: most seconds that agents wait after a hand or round for people to read the scores.
        models: whether to offer language models. True adds the one set by environment variables; False offers none,
            even if `agents` has some; None offers those of `agents`.
        show_errors: whether the only person at a table sees the error message of a failed agent, which may quote the
            agent's cards. At tables of several people nobody sees it before the game is over.
        apps: settings of applications by name, see cardenvs.server.apps. Others use their defaults.
        limits: see Limits.
    """

    data: str = ":memory:"
    agents: Mapping[str, str] = field(default_factory=dict)
    host_names: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    replays: tuple[Path, ...] = ()
    stores: tuple[Path, ...] = ()
    pace: float = 0.8
    think: float = 0.5
    clock: float = 600.0
    round_pause: float = 60.0
    models: bool | None = None
    show_errors: bool = False
    apps: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def offered_agents(self) -> dict[str, str]:
        """Return the specs of the owner's agents by name."""
        if self.models is False:
            return {name: spec for name, spec in self.agents.items() if not spec.startswith(_MODEL_KIND)}
        named = {ENVIRONMENT_MODEL: f"{_MODEL_KIND}env"} if self.models else {}
        return named | dict(self.agents)


def settings_of_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of Settings that environment variables set; docs/hosting.md lists the variables.

    Raises:
        OptionError: a value is invalid.
    """
    found: dict[str, Any] = {}
    for field_name, variable, read in (
        ("models", "BACKEND_LLM_ENABLED", _switch),
        ("show_errors", "LLM_SHOW_EXCEPTIONS_IN_FRONTEND", _switch),
        ("think", "LLM_MIN_THINK_TIME_MS", _seconds),
    ):
        text = environ.get(variable, "").strip()
        if text:
            found[field_name] = read(variable, text)
    return found


def _switch(variable: str, text: str) -> bool:
    if text.lower() not in _NO + _YES:
        raise OptionError(f"{variable} must be 1 or 0; got {text!r}")
    return text.lower() in _YES


def _seconds(variable: str, text: str) -> float:
    """Return milliseconds as seconds, at least 0."""
    try:
        seconds = float(text) / 1000
    except ValueError:
        seconds = math.nan
    if not seconds <= SLOWEST:
        raise OptionError(f"{variable} must be a number of milliseconds up to {SLOWEST * 1000:g}; got {text!r}")
    return max(0.0, seconds)
