"""Read PBN files, the text format for bridge boards.

PBN 2.1 (T. Meussen, "Portable Bridge Notation", 2001) is a list of tags, `[Dealer "N"]`; the tags `Auction` and `Play`
are followed by calls and cards. An empty line ends a board.

Why not endplay's reader: it reads a whole file at once, names no line in its errors, takes an unknown result for no
tricks at all, lets notes of one board (and of the play) appear in the auction of another, adds three passes for `AP`
even if some have been made, drops notes on cards, and cannot read comments between calls. Tests compare both where
both can read.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.state import State
from cardenvs.games.bridge import state as bridge
from cardenvs.tools.bridge import boards
from cardenvs.tools.bridge.boards import Board
from cardenvs.tools.bridge.deals import hand_text, read_card, read_deal, read_hand, remaining
from cardenvs.tools.bridge.pbn_tags import SECTIONS, Tag, error_at, tagged_boards

_T = TypeVar("_T")
_BID = re.compile(r"([1-7])(C|D|H|S|NT?)", re.IGNORECASE)
_SUFFIX = re.compile(r"[!?]+$|\$\d+$")
_CONTRACT = re.compile(r"([1-7])(C|D|H|S|NT?)(X{0,2})", re.IGNORECASE)
_VULNERABLE = {"none": 0, "love": 0, "-": 0, "ns": 1, "ew": 2, "all": 3, "both": 3}
OWN_TAGS = {  # those that a Board has in fields of its own
    "board", *("north", "east", "south", "west"), "dealer", "vulnerable", "deal", "declarer", "contract", "result",
    *SECTIONS, "note",
}  # fmt: skip
DENOMINATIONS = "CDHSN"


def read_pbn(path: Path) -> Iterator[Board]:
    """Yield the boards of a PBN file, one by one.

    Raises:
        FormatError: a board is damaged or not playable by the rules; names file, board, line and tag.
        FileError: the file cannot be read.
    """
    before = dict[str, Tag]()
    for number, tags in enumerate(tagged_boards(path), 1):
        try:
            for name, tag in tags.items():
                if tag.value in ("#", "##"):
                    if name not in before:
                        raise error_at(tag, "there is no board before from which to take the value")
                    tag.value = before[name].value
            yield _Reader(tags).board()
        except FormatError as error:
            raise FormatError(f"{path}: board {number}, {error}") from None
        before = tags


# -- one board ----------------------------------------------------------------------------------------------------


class _Reader:
    """Turns the tags of a board into a Board."""

    def __init__(self, tags: dict[str, Tag]) -> None:
        self._tags = tags
        self._explanations: dict[int, str] = {}
        self._comments: dict[int, str] = {}

    def _value(self, name: str) -> str:
        """Return the value of a tag, "" if it is missing or unknown."""
        tag = self._tags.get(name)
        return "" if tag is None or tag.value in ("?", "-") else tag.value.strip()

    def _read(self, name: str, read: Callable[[str], _T]) -> _T | None:
        """Return what `read` makes of a tag's value, or raise with its line; None if the tag says nothing."""
        value = self._value(name)
        if not value:
            return None
        try:
            return read(value)
        except FormatError as error:
            raise error_at(self._tags[name], error) from None

    def board(self) -> Board:
        """Return the board."""
        hands = self._read("deal", _complete_deal)
        if hands is None:
            first = next(iter(self._tags.values()))
            raise FormatError(f"line {first.line}: the board has no deal")
        number = self._read("board", _number)
        state, has_auction = self._after_auction(hands, number)
        self._play(state)
        tricks, is_claimed = self._result(state)
        players = tuple(self._value(name) for name in ("north", "east", "south", "west"))
        others = {tag.name: tag.value for name, tag in self._tags.items() if _is_other(name) and tag.value != "?"}
        return Board(
            state, number, players, tricks, is_claimed, has_auction, self._explanations, self._comments, others
        )

    # -- auction ------------------------------------------------------------------------------------------------

    def _after_auction(self, hands: np.ndarray, number: int | None) -> tuple[State, bool]:
        dealer, vulnerable = self._dealer(number), self._vulnerable(number)
        contract = self._contract()
        auction = self._tags.get("auction")
        if auction is not None and auction.tokens:
            state = boards.new_board_state(hands, number, dealer, vulnerable)
            for line, token in auction.tokens:
                try:
                    self._call(state, auction, token)
                except FormatError as error:
                    raise error_at(auction, error, line) from None
            self._check_contract(state, contract)
            return state, True
        if contract is None:
            state = boards.new_board_state(hands, number, dealer, vulnerable)
            if self._value("contract").lower() == "pass":
                for _ in range(bridge.NUM_PLAYERS):
                    boards.apply(state, bridge.PASS)
            return state, True
        bid, doubled, declarer = contract
        calls = boards.shortest_auction(dealer, declarer, bid, doubled)
        return boards.new_board_state(hands, number, dealer, vulnerable, phase="play", auction=calls), False

    def _dealer(self, number: int | None) -> int:
        for name in ("dealer", "auction"):
            found = self._read(name, _seat)
            if found is not None:
                return found
        if number is None:
            raise error_at(self._tags["deal"], "neither the dealer nor the number of the board is given")
        return (number - 1) % bridge.NUM_PLAYERS

    def _vulnerable(self, number: int | None) -> int | None:
        """Return the bit set of sides, or None: that of the board's number."""
        found = None if self._tags.get("vulnerable", Tag("", "?", 0)).value == "?" else self._read_vulnerable()
        if found is not None:
            return found
        if number is None:
            raise error_at(self._tags["deal"], "neither the vulnerability nor the number of the board is given")
        return None

    def _read_vulnerable(self) -> int | None:
        tag = self._tags["vulnerable"]
        if not tag.value.strip():
            return None
        if tag.value.strip().lower() not in _VULNERABLE:
            raise error_at(tag, f"it is None, NS, EW or All; got {short(tag.value)}")
        return _VULNERABLE[tag.value.strip().lower()]

    def _contract(self) -> tuple[int, int, int] | None:
        """Return bid, doubled and declarer, or None if they are not given or the deal was passed out."""
        value, declarer = self._value("contract"), self._read("declarer", _seat)
        if not value or value.lower() == "pass":
            return None
        found = _CONTRACT.fullmatch(value)
        if found is None:
            raise error_at(self._tags["contract"], f"a contract is written 3NT, 4SX or Pass; got {short(value)}")
        if declarer is None:
            raise error_at(self._tags["contract"], "the contract needs a declarer")
        return read_bid(found[1], found[2]) - bridge.BID_0, len(found[3]), declarer

    def _check_contract(self, state: State, contract: tuple[int, int, int] | None) -> None:
        s = state.record
        if contract is not None and (s.declarer < 0 or contract != (s.contract, s.doubled, s.declarer)):
            raise error_at(self._tags["contract"], "contract and declarer are not those of the auction")

    def _call(self, state: State, tag: Tag, token: str) -> None:
        """Apply a token of the auction: a call, `AP` for passes to the end, or a note on the last call."""
        made = int(state.record.num_calls)
        if token in ("*", "+", "-"):  # the auction continues or ends without the rest being written
            return
        if token.startswith("=") and token.endswith("="):
            if not made:
                raise FormatError("a note refers to the call before it")
            self._explanations[made - 1] = _note(tag, token)
            return
        plain = _SUFFIX.sub("", token)
        if token.startswith("$"):
            return
        if plain.upper() == "AP":
            while not state.is_terminal and state.phase == "auction":
                boards.apply(state, bridge.PASS)
            return
        boards.apply(state, read_call(plain))
        if token.endswith("!") and not token.endswith("!!"):
            self._explanations.setdefault(made, "")

    # -- play ---------------------------------------------------------------------------------------------------

    def _play(self, state: State) -> None:
        """Play the cards. Rows have the cards of a trick in the order of the seats, whoever led."""
        tag = self._tags.get("play")
        if tag is None or not tag.tokens:
            return
        first = self._read("play", _seat)
        s = state.record
        if s.declarer < 0:
            raise error_at(tag, "cards are played, but there is no contract")
        if first is None or first != s.leader:
            raise error_at(tag, f"the opening lead is {bridge.SEATS[int(s.leader)]}'s; got {short(tag.value)}")
        for row in _rows(tag):
            if not self._play_row(state, tag, first, row):
                break

    def _play_row(self, state: State, tag: Tag, first: int, row: list[tuple[int, str, str]]) -> bool:
        """Play one trick; return whether others may follow."""
        leader, trick = int(state.record.leader), int(state.record.trick)
        is_whole = True
        for k in range(bridge.NUM_PLAYERS):
            player = (leader + k) % bridge.NUM_PLAYERS
            place = (player - first) % bridge.NUM_PLAYERS
            line, token, note = row[place] if place < len(row) else (row[-1][0], "-", "")
            if token in ("-", "+", "*"):
                is_whole = False
                continue
            if not is_whole:
                raise error_at(tag, f"{token} is played after a card that is not on record", line)
            try:
                card = read_card(token)
                boards.apply(state, bridge.CARD_0 + card)
            except FormatError as error:
                raise error_at(tag, error, line) from None
            if note:
                self._comments[bridge.NUM_PLAYERS * trick + k] = note
        return is_whole

    def _result(self, state: State) -> tuple[int | None, bool]:
        tricks = self._read("result", _tricks)
        try:
            return boards.checked_tricks(state, tricks)
        except FormatError as error:
            raise error_at(self._tags.get("result") or self._tags["deal"], error) from None


def _rows(tag: Tag) -> Iterator[list[tuple[int, str, str]]]:
    """Yield rows of four (line, token, note) entries; `*` and `+` end the play, the last row may be short."""
    row: list[tuple[int, str, str]] = []
    for line, token in tag.tokens:
        if token.startswith("=") and token.endswith("="):
            if not row:
                raise error_at(tag, "a note refers to the card before it", line)
            row[-1] = (*row[-1][:2], _note(tag, token))
            continue
        if token.startswith("$"):
            continue
        if token.startswith("^"):
            raise error_at(tag, f"{short(token)}: leads out of turn and revokes are not supported", line)
        if len(row) == bridge.NUM_PLAYERS:
            yield row
            row = []
        if token in ("*", "+") and not row:
            return
        row.append((line, _SUFFIX.sub("", token), ""))
    if row:
        yield row


def _note(tag: Tag, token: str) -> str:
    number = token.strip("=")
    if number not in tag.notes:
        raise FormatError(f"there is no note {short(number)}")
    return tag.notes[number]


def _is_other(name: str) -> bool:
    """Whether a tag is kept as it is: not those that a Board has as fields, nor tables, whose rows are not read."""
    return name not in OWN_TAGS and (name == "table" or not name.endswith("table"))


# -- values -------------------------------------------------------------------------------------------------------


def read_bid(level: str, denomination: str) -> int:
    """Return the action of a bid, from "3" and "NT", "N", "S", ..."""
    return bridge.BID_0 + bridge.NUM_DENOMINATIONS * (int(level) - 1) + DENOMINATIONS.index(denomination[0].upper())


def read_call(text: str) -> int:
    """Return the action of a call: Pass, X, XX, or a bid such as 1NT. Raises FormatError if it is no call."""
    known = {"PASS": bridge.PASS, "P": bridge.PASS, "X": bridge.DOUBLE, "XX": bridge.REDOUBLE}
    if text.upper() in known:
        return known[text.upper()]
    found = _BID.fullmatch(text)
    if found is None:
        raise FormatError(f"{short(text)} is not a call; calls are Pass, X, XX and bids such as 1NT")
    return read_bid(found[1], found[2])


def _complete_deal(text: str) -> np.ndarray:
    """Return the hands; one that is written "-" has the other cards."""
    head, colon, rest = text.partition(":")
    parts = rest.split()
    if colon and len(parts) == bridge.NUM_PLAYERS and parts.count("-") == 1:
        missing = parts.index("-")
        others = [read_hand(part) for k, part in enumerate(parts) if k != missing]
        parts[missing] = hand_text(remaining(others))
        text = f"{head}:{' '.join(parts)}"
    return read_deal(text)


def _seat(text: str) -> int:
    if text.upper() not in tuple(bridge.SEATS):
        raise FormatError(f"it is N, E, S or W; got {short(text)}")
    return bridge.SEATS.index(text.upper())


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) >= 1 and len(text) <= 8):
        raise FormatError(f"the number of a board is 1 to 99999999; got {short(text)}")
    return int(text)


def _tricks(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= 13):
        raise FormatError(f"the result is the number of declarer's tricks, 0 to 13; got {short(text)}")
    return int(text)
