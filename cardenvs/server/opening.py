"""Requests for new tables: what they may contain, and the table that they describe."""

import secrets
import time
from typing import Any

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import registered_game
from cardenvs.core.rng import SEED_MASK
from cardenvs.server.agents import agent_specs
from cardenvs.server.records import SeatRecord, TableRecord
from cardenvs.server.settings import LONGEST_CLOCK, SLOWEST, Settings
from cardenvs.server.strength import LEVELS, TRAINED, levels, why_not_trained
from cardenvs.server.table import PERSON

_LINK_BYTES = 16
_LEAST_SECONDS = 0.001  # of a time that is not 0


def new_record(request: Any, settings: Settings) -> TableRecord:
    """Return the new table that a request describes.

    Args:
        request: {"game": name, "options": {name: text or value}, "seats": [agent or "person", ...],
            "level": one of LEVELS, "seed": number or None, "deck": text or None, "listed": bool, "think": seconds,
            "clock": seconds}; all but "game" are optional. Without "seats" a person has the first one, and the
            others are agents of that level. See Settings for "think" and "clock".
        settings: what is offered.

    Raises:
        CardenvsError: the request is invalid.
    """
    wanted = _checked_request(request)
    game = registered_game(wanted["game"])
    texts = {name: str(value) for name, value in wanted["options"].items()}
    options = game.options.parse(texts)
    options.check_environment()
    deck = game.parse_deck(wanted["deck"], options).tolist() if wanted["deck"] else []
    seats = _checked_seats(wanted, game, options, settings)
    people = seats.count(PERSON)
    think = (settings.think if people else 0.0) if wanted["think"] is None else wanted["think"]
    clock = (settings.clock if people > 1 else 0.0) if wanted["clock"] is None else wanted["clock"]
    return TableRecord(
        watch=secrets.token_urlsafe(_LINK_BYTES),
        host=secrets.token_urlsafe(_LINK_BYTES),
        game=game.name,
        options=options.as_dict(),
        seed=secrets.randbits(63) if wanted["seed"] is None else wanted["seed"],
        deck=deck,
        seats=tuple(SeatRecord(agent, "" if agent else secrets.token_urlsafe(_LINK_BYTES)) for agent in seats),
        key=secrets.token_bytes(32),
        is_listed=wanted["listed"],
        opened=time.time(),
        think=float(think),
        clock=float(clock),
    )


def _checked_request(request: Any) -> dict[str, Any]:
    kinds: dict[str, tuple[Any, Any]] = {
        "game": (str, ""), "options": (dict, {}), "seats": (list | None, None), "level": (str | None, None),
        "seed": (int | None, None), "deck": (str | None, None), "listed": (bool, True),
        "think": (int | float | None, None), "clock": (int | float | None, None),
    }  # fmt: skip
    if not isinstance(request, dict) or set(request) - set(kinds):
        raise FormatError(f"the request must be an object with only {', '.join(kinds)}; got {short(request)}")
    wanted = {}
    for name, (kind, default) in kinds.items():
        value = request.get(name, default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FormatError(f"{name!r} has the wrong type; got {short(value)}")
        wanted[name] = value
    if wanted["level"] is not None and (wanted["level"] not in LEVELS or wanted["seats"] is not None):
        raise FormatError(f"'level' must be one of {', '.join(LEVELS)}, without 'seats'; got {short(wanted['level'])}")
    if wanted["seed"] is not None and not 0 <= wanted["seed"] <= SEED_MASK:
        raise FormatError("a seed must be a number from 0 to 2**63-1")
    for name, most in (("think", SLOWEST), ("clock", LONGEST_CLOCK)):
        seconds = wanted[name]
        if seconds is not None and seconds != 0 and not _LEAST_SECONDS <= seconds <= most:
            raise FormatError(f"{name!r} must be 0, or {_LEAST_SECONDS:g} to {most:g} seconds; got {short(seconds)}")
    return wanted


def _checked_seats(wanted: dict[str, Any], game: Game, options: Options, settings: Settings) -> list[str]:
    known, seats, num_players = agent_specs(game, settings, options), wanted["seats"], options.num_players
    if seats is None:
        chosen = levels(game, options, settings.offered_agents()) if wanted["level"] else {}
        seats = ["person", *[chosen.get(wanted["level"], game.default_opponent)] * (num_players - 1)]
    if len(seats) != num_players:
        raise FormatError(f"{num_players} players need {num_players} seats; got {len(seats)}")
    for seat in seats:
        if seat == TRAINED and TRAINED not in known:
            raise FormatError(f"{TRAINED} cannot play here: {why_not_trained(game)}")
        if not isinstance(seat, str) or (seat != "person" and seat not in known):
            raise FormatError(f"a seat must be person or one of {', '.join(known)}; got {short(seat)}")
    return [PERSON if seat == "person" else seat for seat in seats]
