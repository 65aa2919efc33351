"""Hands as PHH, the open hand-history format that PokerKit reads: out of matches, and into states.

PHH (J. Kim, "Recording and Describing Poker Hands", 2024; https://phh.readthedocs.io) is TOML. A no-limit hold'em hand
has these fields:

    variant = "NT"
    antes = [0, 0, 0]                           what each player has to post before the blinds
    blinds_or_straddles = [10, 20, 0]
    min_bet = 20
    starting_stacks = [2000, 2000, 2000]        before antes and blinds
    actions = ["d dh p1 AsKs", "d dh p2 ????",  hole cards; ? is a card that is not known
               "p3 cbr 60", "p1 f", "p2 cc",    bet or raise to a total, fold, check or call
               "d db 2c7d9h",                   board
               "p3 sm QdQc", "p2 sm"]           shows ("-": the cards dealt); mucks

Players are p1, p2, ... from the button's left: p1 has the small blind, the last one the button. Of two, p1 has the big
blind and p2 the button and the small blind; `antes` and `blinds_or_straddles` list the small blind first all the same.
Several hands in one text are TOML tables [1], [2], ... (a .phhs file).

The ante of one player alone is that of the big blind for the table, who posts the blind first here (rules.md 4.1).
Decimal amounts are read as chips with `chips_per_unit`. Other uneven antes, straddles and boards that are dealt twice
are not played here.

Reading and writing are strict: what cannot be said in PHH, or played by these rules, is refused with the field or the
action that is meant. See rules.md 11 for the spots in which PokerKit plays otherwise.
"""

import itertools
import json
import re
import tomllib
from decimal import Decimal
from typing import Any

from cardenvs.core.errors import FormatError
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.games.texas_holdem.state import BOARD_CARDS, STREETS
from cardenvs.tools.texas_holdem.hands import Hand, read_hands
from cardenvs.tools.texas_holdem.phh_reader import VARIANT, HandReader, cards_text
from cardenvs.tools.texas_holdem.timeline import Timeline

_MOST_TEXT = 64 * 1024 * 1024  # bytes of a text that is read at all
_KEY = re.compile(r"\s*([A-Za-z_]+)\s*=")
_TABLE = re.compile(r"\s*\[\s*([^\[\]\s]+)\s*\]")

# ---------------------------------------------------------------------------------------------------------------
# Writing


def dumps(match: Timeline | Replay | State, hand: int | None = None) -> str:
    """One hand of a match as PHH.

    Args:
        match: a state, a replay or a timeline of Texas hold'em.
        hand: its number, from 1; may be left out where there is only one.

    Raises:
        FormatError: there is no such hand, it is not over, or PHH has no words for it.
    """
    hands, timeline = _hands(match)
    if hand is None and len(hands) != 1:
        raise FormatError(
            f"this match has {len(hands)} hands: say which, or write all of them (dumps_all; a .phhs file)"
        )
    wanted = 1 if hand is None else hand
    if not 1 <= wanted <= len(hands):
        raise FormatError(f"this match has hands 1 to {len(hands)}; got {wanted}")
    return _text(hands[wanted - 1], timeline)


def dumps_all(match: Timeline | Replay | State) -> str:
    """Return all hands of a match that are over, as one text (.phhs): tables [1], [2], ...

    Raises:
        FormatError: PHH has no words for one of them.
    """
    hands, timeline = _hands(match)
    return "\n".join(f"[{hand.number}]\n{_text(hand, timeline)}" for hand in hands if hand.is_over)


def _hands(match: Timeline | Replay | State) -> tuple[list[Hand], Timeline]:
    if isinstance(match, Replay):
        timeline = Timeline.of(match.state_at(len(match.actions)), list(match.players))
    else:
        timeline = match if isinstance(match, Timeline) else Timeline.of(match)
    return list(read_hands(timeline)), timeline


def _text(hand: Hand, timeline: Timeline) -> str:
    if hand.forfeited:
        raise FormatError(f"hand {hand.number}: player_{hand.forfeited[0]} forfeits in it; PHH has no words for that")
    if not hand.is_over:
        raise FormatError(f"hand {hand.number} is not over")
    seats, ante = hand.seats, timeline.options["ante"]
    small, big = hand.blinds
    blinds = [small, big] if hand.has_small_blind else [0, big] if len(seats) == 2 else [big]
    fields: dict[str, Any] = {"variant": VARIANT}
    antes = [ante] * len(seats)
    if ante and timeline.options["ante_type"] == "big_blind":
        place = len(blinds) - 1
        payer = seats[0] if len(seats) == 2 else seats[place]
        paid = min(ante, max(0, hand.stacks_before[payer] - big))  # what is left of a short stack (rules.md 4.1)
        antes = [paid if k == place else 0 for k in range(len(seats))]
    elif ante:
        fields["ante_trimming_status"] = True  # a short ante counts as what was put in (rules.md 10.2)
    fields |= {
        "antes": antes,
        "blinds_or_straddles": blinds + [0] * (len(seats) - len(blinds)),
        "min_bet": big,
        "starting_stacks": [hand.stacks_before[seat] for seat in seats],
        "actions": _action_texts(hand),
        "hand": hand.number,
        "seats": [seat + 1 for seat in seats],
        "seat_count": hand.num_seats,
        "players": [timeline.players[seat] for seat in seats],
        "finishing_stacks": [hand.stacks_after[seat] for seat in seats],
    }
    return "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())


def _action_texts(hand: Hand) -> list[str]:
    """Return the actions in order, and the cards where they are dealt and shown."""
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
    """Return the deals from a board of `dealt` cards to `board`, a street each."""
    counts = [int(count) for count in BOARD_CARDS if dealt <= count <= len(board)]
    return [f"d db {cards_text(board[start:end])}" for start, end in itertools.pairwise(counts)]


def _toml(value: Any) -> str:
    """Return a bool, an integer, a text, or a list of these, in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, str):  # JSON's escapes are TOML's, but for one
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


# ---------------------------------------------------------------------------------------------------------------
# Reading


def loads(text: str, chips_per_unit: int = 1) -> TexasHoldemState:
    """Return the state after a hand of PHH, played to its end by these rules.

    Seats are those that `seats` gives, without gaps; without it p1 is seat 0. Cards that stay unknown are taken from
    those that nobody was seen to have, the lowest ids first; a player with such cards must not come to a showdown.

    Args:
        text: of one hand.
        chips_per_unit: chips for each 1 in the text, as 100 where it counts 0.01 for the smallest chip.

    Raises:
        FormatError: the text is no PHH, not no-limit hold'em, says what these rules do not allow or do not offer, does
            not come to an end, or ends with other stacks than its finishing_stacks.
    """
    return _played(_table(text), text, None, chips_per_unit)


def loads_all(text: str, chips_per_unit: int = 1) -> list[TexasHoldemState]:
    """Return the states after each hand of a text of several hands (.phhs), in their order; see `loads`."""
    data = _table(text)
    if not data or not all(isinstance(value, dict) for value in data.values()):
        raise FormatError("a text of several hands has a table for each, as [1], [2], ...; this has none, or more")
    return [_played(value, text, name, chips_per_unit) for name, value in data.items()]


def _table(text: str) -> dict[str, Any]:
    if len(text) > _MOST_TEXT:
        raise FormatError(f"the text has {len(text):,} characters; {_MOST_TEXT:,} are the most that is read")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is no PHH: not TOML ({error}); it may have been cut short") from None


def _played(data: dict[str, Any], text: str, table: str | None, chips_per_unit: int) -> TexasHoldemState:
    """Return the hand of a table of the text, None: of the whole text. Errors say which hand, and in which line a field is."""
    try:
        return HandReader(data, chips_per_unit).play()
    except FormatError as error:
        line = _line_of(text, table, str(error).partition(" ")[0].rstrip(":"))
        where = ("" if table is None else f"hand [{table}]: ") + (f"line {line}: " if line else "")
        raise FormatError(f"{where}{error}") from None


def _line_of(text: str, table: str | None, field: str) -> int | None:
    """Return the number of the line in which a field of a table is given."""
    current = None
    for number, line in enumerate(text.splitlines(), 1):
        header, key = _TABLE.match(line), _KEY.match(line)
        if header and "=" not in line:
            current = header[1].strip("\"'")
        elif key and key[1] == field and current == table:
            return number
    return None
