"""Write hands of matches in PHH, the open hand-history format that PokerKit reads, and read PHH into states.

PHH (J. Kim, "Recording and Describing Poker Hands", 2024; https://phh.readthedocs.io) is TOML. A no-limit hold'em hand
has these fields:

    variant = "NT"
    antes = [0, 0, 0]                           posted by each player before the blinds
    blinds_or_straddles = [10, 20, 0]
    min_bet = 20
    starting_stacks = [2000, 2000, 2000]        before antes and blinds
    actions = ["d dh p1 AsKs", "d dh p2 ????",  hole cards; ?? is an unknown card
               "p3 cbr 60", "p1 f", "p2 cc",    bet or raise to a total, fold, check or call
               "d db 2c7d9h",                   board
               "p3 sm QdQc", "p2 sm"]           shows ("-": the cards dealt); mucks

Players are p1, p2, ... from the button's left: p1 has the small blind, the last one the button. With two players, p1
has the big blind, and p2 the button and the small blind; `antes` and `blinds_or_straddles` still list the small blind
first. Several hands in one text are TOML tables [1], [2], ... (a .phhs file).

Limit hold'em is the variant "FT", with small_bet and big_bet instead of min_bet, pot limit is "PT". Limit is read by
PokerKit's rules: four raises besides the big blind, and each short all-in counts (rules.md 14.2).

An ante of one player alone is the big blind's ante for the table; here its blind is posted first (rules.md 4.1).
A negative blind of another player is a post: up to the big blind a bet, the rest is dead (rules.md 4.1). Other uneven
antes, straddles and boards dealt twice are not supported.

Decimals become chips (`chips_per_unit`), unknown cards and stacks (`inf`) stay unknown, a rake is taken from the
winners, and all fields of a hand are kept: read and written again, it has the same values. A hand that PHH cannot
express, or that these rules do not allow, raises a FormatError that names the field or the action. Rules.md 11 lists
where PokerKit plays differently.
"""

import datetime
import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from cardenvs.core.errors import FormatError
from cardenvs.core.files import check_input
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.core.text import decoded, one_line
from cardenvs.games.texas_holdem.state import BOARD_CARDS, STREETS
from cardenvs.tools.texas_holdem.hands import Hand, read_hands
from cardenvs.tools.texas_holdem.phh_reader import VARIANTS, HandReader, cards_text, smallest_unit
from cardenvs.tools.texas_holdem.recorded import RecordedHand
from cardenvs.tools.texas_holdem.timeline import Timeline, timeline_of

_MOST_TEXT = 64 * 1024 * 1024  # characters of a text; longer ones are rejected
_KEY = re.compile(r"\s*([A-Za-z_]+)\s*=")
_TABLE = re.compile(r"\s*\[\s*([^\[\]\s,]+)\s*\]\s*(?:#.*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MOST_UNIT = 1_000_000  # chips per unit

# -- writing ------------------------------------------------------------------------------------------------------


def dumps(match: Timeline | Replay | State, hand: int | None = None) -> str:
    """Return one hand of a match in PHH, by its number from 1, which is optional if the match has only one.

    Raises:
        FormatError: there is no such hand, it is not over, or PHH cannot express it.
    """
    timeline = timeline_of(match)
    hands = list(read_hands(timeline))
    if timeline.phh is not None and hand in (None, 1):
        return timeline.phh
    if hand is None and len(hands) != 1:
        raise FormatError(
            f"this match has {len(hands)} hands; give the number of one, or write all of them (dumps_all; a .phhs file)"
        )
    wanted = 1 if hand is None else hand
    if not 1 <= wanted <= len(hands):
        raise FormatError(f"this match has hands 1 to {len(hands)}; got {wanted}")
    return _text(hands[wanted - 1], timeline)


def dumps_all(match: Timeline | Replay | State) -> str:
    """Return all finished hands of a match in one PHH text (.phhs): tables [1], [2], ...

    Raises:
        FormatError: PHH cannot express one of them.
    """
    timeline = timeline_of(match)
    if timeline.phh is not None:
        return f"[1]\n{timeline.phh}"
    hands = read_hands(timeline)
    return "\n".join(f"[{hand.number}]\n{_text(hand, timeline)}" for hand in hands if hand.is_over)


def dumps_records(hands: Iterable[RecordedHand]) -> str:
    """Return hands of files in one PHH text (.phhs), under the titles they had; those without one are numbered."""
    titles = dict[str, str]()
    for number, hand in enumerate(hands, 1):
        title = hand.title or str(number)
        while title in titles:
            title += "_"
        titles[title] = hand.text
    return "\n".join(f"[{_key(title)}]\n{text}" for title, text in titles.items())


def _text(hand: Hand, timeline: Timeline) -> str:
    if hand.forfeited:
        raise FormatError(f"hand {hand.number}: player_{hand.forfeited[0]} forfeits in it, which PHH cannot express")
    if not hand.is_over:
        raise FormatError(f"hand {hand.number} is not over")
    seats, ante = hand.seats, timeline.options["ante"]
    small, big = hand.blinds
    blinds = [small, big] if hand.has_small_blind else [0, big] if len(seats) == 2 else [big]
    betting = timeline.options["betting"]
    (variant, *_) = [name for name, options in VARIANTS.items() if options.get("betting", "full") == betting] or ["NT"]
    fields: dict[str, Any] = {"variant": variant}
    antes = [ante] * len(seats)
    if ante and timeline.options["ante_type"] == "big_blind":
        place = len(blinds) - 1
        payer = seats[0] if len(seats) == 2 else seats[place]
        paid = min(ante, max(0, hand.stacks_before[payer] - big))  # the rest of a short stack (rules.md 4.1)
        antes = [paid if k == place else 0 for k in range(len(seats))]
    elif ante:
        fields["ante_trimming_status"] = True  # a short ante counts as the chips put in (rules.md 10.2)
    blinds += [0] * (len(seats) - len(blinds))
    if hand.number == 1 and timeline.options["posts"]:
        for k, seat in enumerate(seats):
            blinds[k] = blinds[k] or -timeline.options["posts"][seat]
    fields |= {
        "antes": antes,
        "blinds_or_straddles": blinds,
        **({"min_bet": big} if variant != "FT" else _bet_sizes(timeline, big)),
        "starting_stacks": [hand.stacks_before[seat] for seat in seats],
        "actions": _action_texts(hand),
        "hand": hand.number,
        "seats": [seat + 1 for seat in seats],
        "seat_count": hand.num_seats,
        "players": [timeline.players[seat] for seat in seats],
        "finishing_stacks": [hand.stacks_after[seat] for seat in seats],
    }
    return _fields_text(fields)


def _bet_sizes(timeline: Timeline, big_blind: int) -> dict[str, int]:
    """Return the sizes of bets in limit (rules.md 12.1)."""
    small = timeline.options["small_bet"] or big_blind
    return {"small_bet": small, "big_bet": timeline.options["big_bet"] or 2 * small}


def _action_texts(hand: Hand) -> list[str]:
    """Return the actions in order, with the cards where they are dealt and shown."""
    number = {seat: f"p{k}" for k, seat in enumerate(hand.seats, 1)}
    texts = [f"d dh {number[seat]} {cards_text(hand.cards[seat])}" for seat in hand.seats]
    dealt = 0
    for act in hand.acts:
        due = int(BOARD_CARDS[STREETS.index(act.street)])
        texts += _board_texts(hand.board[:due], dealt)
        dealt = due
        word = {"fold": "f", "check": "cc", "call": "cc"}.get(act.kind) or f"cbr {act.total}"
        texts.append(f"{number[act.seat]} {word}")
    if hand.has_showdown:
        texts += _board_texts(hand.board[: hand.board_at_showdown], dealt)
        dealt = hand.board_at_showdown
        texts += [f"{number[seat]} sm {cards_text(hand.cards[seat])}" for seat in hand.shown]
        texts += [f"{number[seat]} sm" for seat in hand.mucked]
    return texts + _board_texts(hand.board, dealt)


def _board_texts(board: list[int], dealt: int) -> list[str]:
    """Return the deals that take a board of `dealt` cards to `board`, one per street."""
    counts = [int(count) for count in BOARD_CARDS if dealt <= count <= len(board)]
    return [f"d db {cards_text(board[start:end])}" for start, end in itertools.pairwise(counts)]


def _fields_text(fields: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_toml(value)}\n" for name, value in fields.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    """Return a value that TOML knows as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_toml(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, str):  # TOML escapes one character more than JSON
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Decimal) and not value.is_finite():
        return str(value).lower().replace("infinity", "inf")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


# -- reading ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandRecord:
    """One hand of a text, whether it could be read or not.

    Attributes:
        title: the name of its table in a text of several hands, or "".
        hand: the hand, played to its end; None if it could not be read.
        error: why it could not be read, with hand and line, or "".
        notes: what was read in another way than it is written, each with hand and line.
    """

    title: str
    hand: RecordedHand | None
    error: str = ""
    notes: tuple[str, ...] = ()


def loads(text: str, chips_per_unit: int | None = None, strict: bool = False) -> RecordedHand:
    """Play a hand of PHH to its end by these rules and return the state.

    Seats follow `seats`, without gaps; by default p1 is seat 0. Unknown cards stay unknown (see `RecordedHand`). At a
    showdown, a player with unknown cards loses if the file has them mucked or shown as ????, and wins if the stacks at
    the end say so.

    Args:
        text: one hand.
        chips_per_unit: chips per unit in the text, for example 100 if the smallest chip is 0.01; by default the least
            power of ten that makes all amounts whole.
        strict: whether to refuse what would otherwise be read with a note, and decimals without `chips_per_unit`.

    Raises:
        FormatError: the text is not PHH or not hold'em, these rules do not allow or offer something in it,
            the hand does not end, or it ends with stacks other than its finishing_stacks.
    """
    data = _table(text)
    return _required(_read(_Place("", 0, text.splitlines()), data, _unit([data], chips_per_unit, strict), strict))


def loads_all(text: str, chips_per_unit: int | None = None, strict: bool = False) -> list[RecordedHand]:
    """Play each hand of a text of several hands (.phhs) and return the states; see `loads`."""
    if not _has_several(_table(text)):
        raise FormatError("a text of several hands has a table for each, such as [1], [2], ..., and nothing else")
    return [_required(record) for record in records(text, chips_per_unit, strict)]


def records(text: str, chips_per_unit: int | None = None, strict: bool = False) -> list[HandRecord]:
    """Read the hands of a text with one hand or several. A hand that cannot be read does not stop the others.

    Raises:
        FormatError: the text is not TOML, and has no tables that could be read one by one.
    """
    lines = text.splitlines()
    places = _places(lines)
    try:
        found = _by_table(_table(text), places, lines)
    except FormatError:
        if len(places) < 2:
            raise
        found = [(place, place.parsed()) for place in places]
    unit = _unit([data for _, data in found if isinstance(data, dict)], chips_per_unit, strict)
    return [_read(place, data, unit, strict) for place, data in found]


def read_file(path: Path, chips_per_unit: int | None = None, strict: bool = False) -> list[HandRecord]:
    """Read the hands of a file with one hand or several (.phh, .phhs); see `records`.

    Raises:
        FormatError: the file is not TOML or too long; with `strict`, a hand cannot be read.
        FileError: the file cannot be read.
    """
    check_input(path)
    if path.stat().st_size > 2 * _MOST_TEXT:
        raise FormatError(f"{path} has more than {2 * _MOST_TEXT:,} bytes")
    try:
        text, encoding = decoded(path.read_bytes())
        if strict and encoding != "utf-8":
            raise FormatError(f"this is not UTF-8 but {encoding.upper()}")
        found = records(text, chips_per_unit, strict)
        if strict:
            for record in found:
                _required(record)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    return found


@dataclass(frozen=True)
class _Place:
    """The lines of a hand in a text, the first of which has number `first`; its header is before them."""

    title: str
    first: int
    lines: list[str]

    def parsed(self) -> dict[str, Any] | FormatError:
        """Return the fields of the hand, read from its own lines, or the reason why they are not TOML."""
        try:
            return _table("\n".join(["", *self.lines]))
        except FormatError as error:
            return error

    def of(self, field: str = "") -> str:
        """Return the hand and the line of a field, for messages."""
        where = f"hand [{one_line(self.title, 60)}]: " if self.title else ""
        for number, line in enumerate(self.lines, self.first + 1):
            key = _KEY.match(line)
            if key and key[1] == field:
                return f"{where}line {number}: "
        return where


def _places(lines: list[str]) -> list[_Place]:
    """Return the tables of a text, by their headers."""
    heads = [(k, found[1].strip("\"'")) for k, line in enumerate(lines) if (found := _TABLE.fullmatch(line))]
    ends = [k for k, _ in heads[1:]] + [len(lines)] * bool(heads)
    return [_Place(title, k + 1, lines[k + 1 : end]) for (k, title), end in zip(heads, ends, strict=True)]


def _by_table(data: dict[str, Any], places: list[_Place], lines: list[str]) -> list[tuple[_Place, Any]]:
    """Return each hand of a text with its place."""
    if not _has_several(data):
        return [(_Place("", 0, lines), data)]
    by_title = {place.title: place for place in reversed(places)}
    return [(by_title.get(title, _Place(title, 0, [])), hand) for title, hand in data.items()]


def _has_several(data: dict[str, Any]) -> bool:
    return bool(data) and all(isinstance(value, dict) for value in data.values())


def _table(text: str) -> dict[str, Any]:
    if len(text) > _MOST_TEXT:
        raise FormatError(f"the text has {len(text):,} characters; the limit is {_MOST_TEXT:,}")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise FormatError(f"this is not PHH: not TOML ({error}); it may have been cut short") from None


def _unit(hands: list[dict[str, Any]], chips_per_unit: int | None, strict: bool) -> int:
    """Return the chips per unit: one number for all hands of a text, so that their chips can be added."""
    if chips_per_unit is None:
        return 1 if strict else max((smallest_unit(hand) for hand in hands), default=1)
    if isinstance(chips_per_unit, bool) or not 1 <= chips_per_unit <= _MOST_UNIT:
        raise FormatError(f"chips_per_unit is 1 to {_MOST_UNIT:,}; got {chips_per_unit}")
    return chips_per_unit


def _read(place: _Place, data: Any, unit: int, strict: bool) -> HandRecord:
    """Play a hand; errors and notes name the hand and the line."""
    notes: list[str] = []

    def note(field: str, what: str) -> None:
        if strict:
            raise FormatError(f"{field}: {what}")
        notes.append(f"{place.of(field)}{field}: {what}")

    try:
        if isinstance(data, FormatError):
            raise data
        state = HandReader(data, unit, note).play()
    except FormatError as error:
        field = str(error).partition(" ")[0].rstrip(":")
        return HandRecord(place.title, None, f"{place.of('actions' if field == 'action' else field)}{error}")
    state.title, state.text, state.notes = place.title, _fields_text(data), tuple(notes)
    return HandRecord(place.title, state, notes=state.notes)


def _required(record: HandRecord) -> RecordedHand:
    if record.hand is None:
        raise FormatError(record.error)
    return record.hand
