"""What the owner of a server allows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardenvs.core.errors import OptionError

SLOWEST = 60.0  # seconds between moves, and that agents take at least

ENVIRONMENT_MODEL = "model"  # name of the agent that is the language model of the environment
_MODEL_KIND = "llm:"


_NO, _YES = ("0", "false", "no", "off"), ("1", "true", "yes", "on")


@dataclass(frozen=True)
class Limits:
    """Bounds on what clients can make a server do.

    Attributes:
        tables: games under way.
        new_tables_per_minute: by one client address.
        games: of one-player poker that are kept. A full server forgets idle games of the addresses with most games.
        games_per_address: of one-player poker that are kept for one client address; then its idlest game makes room.
        open_challenges: unfinished challenges with secret decks that one client address may have.
        unfinished_game_days: how long a game of one-player poker without moves is kept before it is over.
        new_games_per_minute: of one-player poker, by one client address.
        game_requests_per_second: to the API of one-player poker, by one client address, in bursts of four times that.
        connections: open sockets in all.
        connections_per_table: at one table.
        connections_per_address: open sockets of one client address.
        requests: connections for requests. Where there are more, a client that keeps the server waiting is cut off.
        client_seconds: how long a client may take to send a request, or to read anything of what waits for it.
        messages_per_second: read from one connection, on average over a few seconds; more of them wait.
        message_bytes: of one message on a socket.
        body_bytes: of a request that opens a table.
        replay_bytes: of a replay to play.
        replay_actions: of a replay to play.
        drawings: processes that draw the pages of recorded games.
        drawings_waiting: pages that may wait for one of them.
        drawings_per_minute: pages of recorded games that one client address may ask for.
        drawing_seconds: that drawing a page may take.
        thinking: agents that think at the same time, and as many of those that the owner has named; apart from hints.
        advice: hints that are worked out at the same time; eight times as many may wait.
        readers: earlier positions that are looked up at the same time; eight times as many may wait.
        advice_seconds: that an agent in a process may take for a hint.
        idle_seconds: after which a table that nobody looks at is put away, with its agents; its links bring it back.
        sweep_seconds: between two looks for tables that are idle or old.
        keep_days: how long finished tables and games are kept.
        unfinished_days: how long unfinished tables are kept after the last move or visit.
        unused_days: how long tables are kept at which nobody has made a move.
    """

    tables: int = 500
    new_tables_per_minute: int = 30
    games: int = 200_000
    games_per_address: int = 2000
    open_challenges: int = 20
    unfinished_game_days: float = 7
    new_games_per_minute: int = 120
    game_requests_per_second: float = 200.0
    connections: int = 2000
    connections_per_table: int = 200
    connections_per_address: int = 500
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
    thinking: int = 32
    advice: int = 8
    readers: int = 4
    advice_seconds: float = 20.0
    idle_seconds: float = 300.0
    sweep_seconds: float = 30.0
    keep_days: int = 30
    unfinished_days: int = 30
    unused_days: int = 1


@dataclass(frozen=True)
class Settings:
    """What a server offers.

    Attributes:
        data: SQLite file of the tables, or ":memory:".
        agents: further agents by the name that clients see, with their specs. Clients choose a name, never a spec.
        host_names: names under which the server may be addressed, without ports.
        replays: replay files that anybody may play.
        stores: SQLite files of matches whose games anybody may play.
        poker_run: folder of a calibration run of one-player poker; None: the seeds that come with the package.
        deck_key: secret from which the decks of one-player poker are shuffled, challenges from fresh ones; empty: from
            their seeds alone.
        pace: seconds between the moves of agents at a new table.
        think: seconds that an agent takes at least at a new table with people, whatever it holds; longer thoughts are
            shown at multiples of it.
        clock: seconds that a person has for a move at a new table of several people; then they forfeit. 0: no limit.
        round_pause: seconds that agents wait at most, after a hand or round, for people to read the scores.
        models: whether language models play: True also offers the one of the environment; False offers none, not even
            those among the agents; None: those among the agents.
        show_errors: whether an agent's own words about a failure reach the only person at a table. They may quote what
            the agent sees. At tables of several people they reach nobody before the end.
        limits: see Limits.
    """

    data: str = ":memory:"
    agents: Mapping[str, str] = field(default_factory=dict)
    host_names: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    replays: tuple[Path, ...] = ()
    stores: tuple[Path, ...] = ()
    poker_run: Path | None = None
    deck_key: bytes = b""
    pace: float = 0.8
    think: float = 0.5
    clock: float = 600.0
    round_pause: float = 60.0
    models: bool | None = None
    show_errors: bool = False
    limits: Limits = field(default_factory=Limits)

    def offered_agents(self) -> dict[str, str]:
        """Return the agents that clients may choose beside those of every server, with their specs."""
        if self.models is False:
            return {name: spec for name, spec in self.agents.items() if not spec.startswith(_MODEL_KIND)}
        named = {ENVIRONMENT_MODEL: f"{_MODEL_KIND}env"} if self.models else {}
        return named | dict(self.agents)


def settings_of_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of Settings that the environment sets: those of docs/hosting.md.

    Raises:
        OptionError: a value cannot be read.
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
        raise OptionError(f"{variable} is 1 or 0; got {text!r}")
    return text.lower() in _YES


def _seconds(variable: str, text: str) -> float:
    """Return milliseconds in seconds; negative ones are none."""
    try:
        seconds = float(text) / 1000
    except ValueError:
        seconds = math.nan
    if not seconds <= SLOWEST:
        raise OptionError(f"{variable} is a number of milliseconds, up to {SLOWEST * 1000:g}; got {text!r}")
    return max(0.0, seconds)
