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
Decimal amounts are converted to chips with `chips_per_unit`. Other uneven antes, straddles and boards dealt twice are
not supported.

Reading and writing are strict: a hand that PHH cannot express, or that these rules do not allow, raises a FormatError
that names the field or the action. Rules.md 11 lists where PokerKit plays differently.
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
from cardenvs.tools.texas_holdem.phh_reader import VARIANTS, HandReader, cards_text
from cardenvs.tools.texas_holdem.timeline import Timeline, timeline_of

_MOST_TEXT = 64 * 1024 * 1024  # characters of a text; longer ones are rejected
_KEY = re.compile(r"\s*([A-Za-z_]+)\s*=")
_TABLE = re.compile(r"\s*\[\s*([^\[\]\s]+)\s*\]")

# -- writing ------------------------------------------------------------------------------------------------------


def dumps(match: Timeline | Replay | State, hand: int | None = None) -> str:
    """Return one hand of a match in PHH, by its number from 1, which is optional if the match has only one.

    Raises:
        FormatError: there is no such hand, it is not over, or PHH cannot express it.
    """
    timeline = timeline_of(match)
    hands = list(read_hands(timeline))
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
    hands = read_hands(timeline)
    return "\n".join(f"[{hand.number}]\n{_text(hand, timeline)}" for hand in hands if hand.is_over)


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
    fields |= {
        "antes": antes,
        "blinds_or_straddles": blinds + [0] * (len(seats) - len(blinds)),
        **({"min_bet": big} if variant != "FT" else _bet_sizes(timeline, big)),
        "starting_stacks": [hand.stacks_before[seat] for seat in seats],
        "actions": _action_texts(hand),
        "hand": hand.number,
        "seats": [seat + 1 for seat in seats],
        "seat_count": hand.num_seats,
        "players": [timeline.players[seat] for seat in seats],
        "finishing_stacks": [hand.stacks_after[seat] for seat in seats],
    }
    return "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())


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


def _toml(value: Any) -> str:
    """Return a bool, an integer, a text, or a list of these as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, str):  # TOML escapes one character more than JSON
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


# -- reading ------------------------------------------------------------------------------------------------------


def loads(text: str, chips_per_unit: int = 1) -> TexasHoldemState:
    """Play a hand of PHH to its end by these rules and return the state.

    Seats follow `seats`, without gaps; by default p1 is seat 0. Unknown cards are replaced by cards that do not occur
    in the hand, lowest ids first; a player with such cards must not reach a showdown.

    Args:
        text: one hand.
        chips_per_unit: chips per unit in the text, for example 100 if the smallest chip is 0.01.

    Raises:
        FormatError: the text is not PHH or not hold'em, these rules do not allow or offer something in it,
            the hand does not end, or it ends with stacks other than its finishing_stacks.
    """
    return _played(_table(text), text, None, chips_per_unit)


def loads_all(text: str, chips_per_unit: int = 1) -> list[TexasHoldemState]:
    """Play each hand of a text of several hands (.phhs) and return the states; see `loads`."""
    data = _table(text)
    if not data or not all(isinstance(value, dict) for value in data.values()):
        raise FormatError("a text of several hands has a table for each, such as [1], [2], ..., and nothing else")
    return [_played(value, text, name, chips_per_unit) for name, value in data.items()]


def _table(text: str) -> dict[str, Any]:
    if len(text) > _MOST_TEXT:
        raise FormatError(f"the text has {len(text):,} characters; the limit is {_MOST_TEXT:,}")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not PHH: not TOML ({error}); it may have been cut short") from None


def _played(data: dict[str, Any], text: str, table: str | None, chips_per_unit: int) -> TexasHoldemState:
    """Play the hand of a table of the text, or with None the whole text; errors name the hand and the line."""
    try:
        return HandReader(data, chips_per_unit).play()
    except FormatError as error:
        line = _line_of(text, table, str(error).partition(" ")[0].rstrip(":"))
        where = ("" if table is None else f"hand [{table}]: ") + (f"line {line}: " if line else "")
        raise FormatError(f"{where}{error}") from None


def _line_of(text: str, table: str | None, field: str) -> int | None:
    """Return the line number of a field of a table, or None if it is missing."""
    current = None
    for number, line in enumerate(text.splitlines(), 1):
        header, key = _TABLE.match(line), _KEY.match(line)
        if header and "=" not in line:
            current = header[1].strip("\"'")
        elif key and key[1] == field and current == table:
            return number
    return None
