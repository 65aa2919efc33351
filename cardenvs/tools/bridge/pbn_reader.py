"""Read PBN files, the text format for bridge boards.

PBN 2.1 (T. Meussen, "Portable Bridge Notation", 2001) is a list of tags, `[Dealer "N"]`; the tags `Auction` and `Play`
are followed by calls and cards. An empty line ends a board. What other programs write otherwise and a person can read
without doubt is read with a note (text_files.Notes); what contradicts itself or the rules is refused.

Why not endplay's reader: it reads a whole file at once, names no line in its errors, takes an unknown result for no
tricks at all, lets notes of one board (and of the play) appear in the auction of another, adds three passes for `AP`
even if some have been made, drops notes on cards, and cannot read comments between calls. Tests compare both where
both can read.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.state import State
from cardenvs.games.bridge import state as bridge
from cardenvs.tools.bridge import boards
from cardenvs.tools.bridge.boards import Board, BoardRecord
from cardenvs.tools.bridge.deals import SUITS, dealt_hands, hand_text, read_card, read_deal, read_hand, remaining
from cardenvs.tools.bridge.pbn_tags import SECTIONS, Tag, TaggedBoard, error_at, tagged_boards
from cardenvs.tools.bridge.text_files import MOST_NOTES, Notes, note_encoding

_T = TypeVar("_T")
Row = list[tuple[int, str, str]]  # (line, card, note) of each card of a trick
_BID = re.compile(r"([1-7])(C|D|H|S|NT?)", re.IGNORECASE)
_SUFFIX = re.compile(r"[!?]+$|\$\d+$")
_CONTRACT = re.compile(r"([1-7])(C|D|H|S|NT?)(|X|XX|\*|\*\*|DBL|RDBL|R)")
_SYMBOLS = str.maketrans("♣♦♥♠", "CDHS")
_VULNERABLE = {"none": 0, "love": 0, "-": 0, "ns": 1, "ew": 2, "all": 3, "both": 3}
_ODD_VULNERABLE = {"n-s": 1, "n/s": 1, "e-w": 2, "e/w": 2, "nil": 0, "o": 0, "n": 1, "e": 2, "b": 3}
_PASSED_OUT = ("pass", "passed out", "passedout", "ap", "all pass", "p")
_SEAT_NAMES = {"north": 0, "east": 1, "south": 2, "west": 3}
_CALLS = {"PASS": bridge.PASS, "P": bridge.PASS, "X": bridge.DOUBLE, "XX": bridge.REDOUBLE}
_ODD_CALLS = {
    "DBL": bridge.DOUBLE, "DOUBLE": bridge.DOUBLE, "D": bridge.DOUBLE, "RDBL": bridge.REDOUBLE,
    "REDOUBLE": bridge.REDOUBLE, "R": bridge.REDOUBLE, "NB": bridge.PASS,
}  # fmt: skip
_SHARED = ("deal", "board", "dealer", "vulnerable")  # of the record before, if a record has no deal of its own
OWN_TAGS = {  # those that a Board has in fields of its own
    "board", *("north", "east", "south", "west"), "dealer", "vulnerable", "deal", "declarer", "contract", "result",
    *SECTIONS, "note",
}  # fmt: skip
DENOMINATIONS = "CDHSN"


def read_pbn(path: Path, strict: bool = False) -> Iterator[BoardRecord]:
    """Yield the boards of a PBN file, one by one; one that cannot be read does not stop the others.

    Raises:
        FileError: the file cannot be read.
    """
    before = dict[str, Tag]()
    last: BoardRecord | None = None  # held back, as text after it may be noted
    over: tuple[str, ...] = ()  # notes on text before a board
    for tagged in tagged_boards(path, strict):
        if not tagged.error and not _is_board(tagged):
            over = (over + tuple(tagged.notes.texts))[:MOST_NOTES]
            if last is not None:
                last, over = replace(last, notes=(last.notes + over)[:MOST_NOTES]), ()
            continue
        if last is not None:
            yield last
        last = _record(path, 1 if last is None else last.place + 1, tagged, before, over)
        over = ()
        if "deal" in tagged.tags:
            before = tagged.tags
    if last is not None:
        yield last


def _record(path: Path, place: int, tagged: TaggedBoard, before: dict[str, Tag], over: tuple[str, ...]) -> BoardRecord:
    notes, board, error = tagged.notes, None, tagged.error
    try:
        if place == 1:
            note_encoding(path, notes)
        if not error:
            _take_from_before(tagged, before)
            board = _Reader(tagged.tags, notes).board()
    except FormatError as reason:
        error = str(reason)
    return BoardRecord(place, board, error, over + tuple(notes.texts))


def _is_board(tagged: TaggedBoard) -> bool:
    """Whether the tags are those of a board. A head of a file, without any deal or play, is passed over."""
    named = ("deal", "board", "contract", *SECTIONS)
    return any(name in tagged.tags for name in named) or (tagged.notes.strict and bool(tagged.tags))


def _take_from_before(tagged: TaggedBoard, before: dict[str, Tag]) -> None:
    """Fill in what a record takes from the one before: the values written # or ##, and a deal that both share."""
    tags, notes = tagged.tags, tagged.notes
    for name, tag in list(tags.items()):
        if tag.value in ("#", "##"):
            if name in before:
                tag.value = before[name].value
            elif name in OWN_TAGS or notes.strict:
                raise error_at(tag, "there is no board before from which to take the value")
            else:
                tag.value = "?"
    first = next(iter(tags.values()))
    if "deal" not in tags and "deal" in before:
        if "board" in tags and tags["board"].value != before.get("board", first).value:
            return  # another board, whose deal is missing
        notes.add(first.line, "", "there is no deal; it is that of the board before")
        for name in _SHARED:
            if name in before:
                tags.setdefault(name, before[name])


# -- one board ----------------------------------------------------------------------------------------------------


class _Reader:
    """Turns the tags of a board into a Board."""

    def __init__(self, tags: dict[str, Tag], notes: Notes) -> None:
        self._tags, self._notes = tags, notes
        self._explanations: dict[int, str] = {}
        self._comments: dict[int, str] = {}
        self._irregular: set[str] = set()  # tags whose values are marked so

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

    def _note(self, name: str, text: object, line: int | None = None) -> None:
        tag = self._tags[name]
        self._notes.add(line or tag.line, tag.name, text)

    def _without_caret(self, name: str) -> str:
        """Return a value without the mark of an irregularity."""
        value = self._value(name)
        if value.startswith("^"):
            self._irregular.add(name)
            self._note(name, f"{short(value)} has the mark of an irregularity, which is left out")
        return value.lstrip("^").strip()

    def board(self) -> Board:
        """Return the board."""
        hands = self._read("deal", self._deal)
        if hands is None:
            first = next(iter(self._tags.values()))
            raise FormatError(f"line {first.line}: the board has no deal")
        number, label = self._number()
        state, has_auction = self._after_auction(hands, number)
        is_cut = self._play(state)
        tricks, is_claimed = self._result(state, is_cut)
        players = tuple(self._value(name) for name in ("north", "east", "south", "west"))
        others = {tag.name: tag.value for name, tag in self._tags.items() if _is_other(name) and tag.value != "?"}
        board = Board(
            state, number, players, tricks, is_claimed, has_auction, self._explanations, self._comments, others, label
        )
        self._check_score(board)
        return board

    def _deal(self, text: str) -> np.ndarray:
        plain = plain_deal(text)
        if plain != text:
            self._note("deal", "suits are written in another way than AKQ2.543.KJ9.T86")
        return _complete_deal(plain)

    def _number(self) -> tuple[int | None, str]:
        """Return the number of the board, or a label if it has none."""
        value = self._value("board")
        plain = value.lstrip("0") if value.isdigit() else value
        try:
            return (_number(plain) if plain else None), ("0" if value and not plain else "")
        except FormatError as error:
            self._note("board", f"{error}; it is kept as a label")
            return None, value

    def _seat_of(self, name: str) -> int | None:
        value = self._without_caret(name)
        if not value:
            return None
        seat = _SEAT_NAMES.get(value.lower())
        if seat is not None:
            self._note(name, f"{value} stands for {bridge.SEATS[seat]}")
            return seat
        try:
            return _seat(value)
        except FormatError as error:
            raise error_at(self._tags[name], error) from None

    def _check_score(self, board: Board) -> None:
        """Note a score that is not that of contract and result, as of a ruling or another form of scoring."""
        found = re.fullmatch(r"(NS|EW|)\s*([+-]?\d{1,5})", self._value("score").upper())
        scoring = self._value("scoring").upper()
        if found is None or board.score is None or "RUBBER" in scoring or "CHICAGO" in scoring:
            return
        s = board.state.record
        side = "EW" if (found[1] or ("EW" if s.declarer >= 0 and s.declarer & 1 else "NS")) == "EW" else "NS"
        stated = -int(found[2]) if side == "EW" else int(found[2])
        if stated != board.score:
            self._note(
                "score", f"{short(self._value('score'))} is not that of contract and result, NS {board.score:+d}"
            )

    # -- auction ------------------------------------------------------------------------------------------------

    def _after_auction(self, hands: np.ndarray, number: int | None) -> tuple[State, bool]:
        dealer, vulnerable = self._dealer(number), self._vulnerable(number)
        contract = self._contract()
        auction = self._tags.get("auction")
        tokens = [] if auction is None else _joined(auction.tokens)
        if auction is not None and any(not _is_blank(token) for _, token in tokens):
            state = boards.new_board_state(hands, number, dealer, vulnerable)
            passes = self._passes_left_out(dealer)
            if contract and "declarer" not in self._irregular:
                passes = self._passes_by_contract(state, auction, tokens, contract, passes)
            elif passes:
                self._note("auction", f"{_passes(passes)} left out before it, as the seat it names shows")
            self._bid(state, auction, tokens, passes)
            self._check_contract(state, contract)
            return state, True
        if contract is None:
            state = boards.new_board_state(hands, number, dealer, vulnerable)
            if self._value("contract").lower() in _PASSED_OUT:
                for _ in range(bridge.NUM_PLAYERS):
                    boards.apply(state, bridge.PASS)
            return state, True
        bid, doubled, declarer = contract
        calls = boards.shortest_auction(dealer, declarer, bid, doubled)
        return boards.new_board_state(hands, number, dealer, vulnerable, phase="play", auction=calls), False

    def _passes_by_contract(
        self, state: State, tag: Tag, tokens: list[tuple[int, str]], contract: tuple[int, int, int], passes: int
    ) -> int:
        """Return the passes to make before an auction so that it leads to the contract on record.

        Some programs leave passes out, whatever seat they name first. That many as the seat says come first; another
        number counts only if it is the only one that fits.
        """

        def leads_there(number: int) -> bool:
            trial = state.clone()
            try:
                _Reader(self._tags, Notes())._bid(trial, tag, tokens, number)
            except FormatError:
                return False
            return _has_contract(trial, contract) or _is_doubled(trial, contract)

        if leads_there(passes):
            return passes
        fitting = [number for number in range(bridge.NUM_PLAYERS) if leads_there(number)]
        if len(fitting) != 1:
            return passes
        self._note("auction", f"{_passes(fitting[0])} left out before it, as the contract shows")
        return fitting[0]

    def _passes_left_out(self, dealer: int) -> int:
        first = self._seat_of("auction")
        return 0 if first is None else (first - dealer) % bridge.NUM_PLAYERS

    def _bid(self, state: State, tag: Tag, tokens: list[tuple[int, str]], passes: int) -> None:
        """Make the calls of an auction, after some passes; passes at its end may be left out."""
        for _ in range(passes):
            boards.apply(state, bridge.PASS)
        for line, token in tokens:
            try:
                self._call(state, tag, token, line)
            except FormatError as error:
                raise error if str(error).startswith("line ") else error_at(tag, error, line) from None
        s = state.record
        goes_on = tokens[-1][1] in ("+", "*") if tokens else False
        is_over = bool(self._tags["play"].tokens) if "play" in self._tags else False
        is_over |= self._value("contract") not in ("", "Pass") and bool(self._value("declarer"))
        if state.phase == "auction" and not state.is_terminal and s.contract >= 0 and is_over and not goes_on:
            self._note("auction", "the passes at its end are left out")
            _pass_out(state)

    def _dealer(self, number: int | None) -> int:
        for name in ("dealer", "auction"):
            found = self._seat_of(name) if name in self._tags else None
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
        value = tag.value.strip().lower()
        if not value:
            return None
        if value in _ODD_VULNERABLE:
            self._note("vulnerable", f"{short(tag.value)} is no usual spelling")
            return _ODD_VULNERABLE[value]
        if value not in _VULNERABLE:
            raise error_at(tag, f"it is None, NS, EW or All; got {short(tag.value)}")
        return _VULNERABLE[value]

    def _contract(self) -> tuple[int, int, int] | None:
        """Return bid, doubled and declarer, or None if they are not given or the deal was passed out."""
        value, declarer = self._without_caret("contract"), self._seat_of("declarer")
        if not value or value.lower() in _PASSED_OUT:
            if value and value.lower() != "pass":
                self._note("contract", f"{short(value)} stands for Pass")
            return None
        plain = "".join(value.upper().translate(_SYMBOLS).split())
        found = _CONTRACT.fullmatch(plain)
        if found is None:
            raise error_at(self._tags["contract"], f"a contract is written 3NT, 4SX or Pass; got {short(value)}")
        if plain != value.upper() or found[3] not in ("", "X", "XX"):
            self._note("contract", f"{short(value)} stands for {found[1]}{found[2]}{'X' * _doubled(found[3])}")
        if declarer is None and "play" in self._tags and self._tags["play"].tokens:
            leader = self._seat_of("play")
            if leader is not None:
                declarer = (leader - 1) % bridge.NUM_PLAYERS
                self._note("contract", f"there is no declarer; by the opening lead it is {bridge.SEATS[declarer]}")
        if declarer is None:
            if "auction" in self._tags and self._tags["auction"].tokens:
                return None
            raise error_at(self._tags["contract"], "the contract needs a declarer")
        return read_bid(found[1], found[2]) - bridge.BID_0, _doubled(found[3]), declarer

    def _check_contract(self, state: State, contract: tuple[int, int, int] | None) -> None:
        if contract is None or _has_contract(state, contract):
            return
        s = state.record
        if _is_doubled(state, contract):
            self._note("contract", "the auction doubles it")
            return
        is_partner = s.declarer >= 0 and contract == (s.contract, s.doubled, s.declarer ^ 2)
        if is_partner and "declarer" in self._irregular:
            self._note("declarer", f"by the auction it is {bridge.SEATS[int(s.declarer)]}; the play is left out")
            self._tags.pop("play", None)
        else:
            raise error_at(self._tags["contract"], "contract and declarer are not those of the auction")

    def _call(self, state: State, tag: Tag, token: str, line: int) -> None:
        """Apply a token of the auction: a call, `AP` for passes to the end, or a note on the last call."""
        made = int(state.record.num_calls)
        if _is_blank(token) or token.startswith("$"):  # the auction continues or ends without the rest being written
            return
        if token.startswith("=") and token.endswith("="):
            if not made:
                raise FormatError("a note refers to the call before it")
            self._explanations[made - 1] = self._text_of_note(tag, token, line)
            return
        if not _SUFFIX.sub("", token):
            if not made:
                raise FormatError(f"{short(token)} is not a call; a mark follows a call")
            self._note("auction", f"{token} stands apart from its call", line)
            if token == "!":
                self._explanations.setdefault(made - 1, "")
            return
        plain = _SUFFIX.sub("", token)
        if plain.upper() in ("AP", "ALLPASS"):
            _pass_out(state)
            return
        call = self._read_call(plain, line)
        if call == bridge.PASS and (state.is_terminal or state.phase != "auction"):
            self._note("auction", "there are more passes than end it", line)
            return
        boards.apply(state, call)
        if token.endswith("!") and not token.endswith("!!"):
            self._explanations.setdefault(made, "")

    def _read_call(self, text: str, line: int) -> int:
        plain = text.upper().translate(_SYMBOLS)
        if plain in _ODD_CALLS or plain != text.upper():
            self._note("auction", f"{short(text)} is no usual spelling of a call", line)
        if plain in _ODD_CALLS:
            return _ODD_CALLS[plain]
        return read_call(text if plain == text.upper() else plain)

    def _text_of_note(self, tag: Tag, token: str, line: int) -> str:
        number = token.strip("=")
        if number not in tag.notes:
            self._notes.add(line, tag.name, f"there is no note {short(number)}")
            return ""
        return tag.notes[number]

    # -- play ---------------------------------------------------------------------------------------------------

    def _play(self, state: State) -> bool:
        """Play the cards; return whether an irregularity cut the play short.

        Rows have the cards of a trick in the order of the seats, whoever led.
        """
        tag = self._tags.get("play")
        if tag is None or all(_is_blank(token) for _, token in tag.tokens):
            return False
        first = self._seat_of("play")
        s = state.record
        if s.declarer < 0:
            raise error_at(tag, "cards are played, but there is no contract")
        if first is None or first != s.leader:
            raise error_at(tag, f"the opening lead is {bridge.SEATS[int(s.leader)]}'s; got {short(tag.value)}")
        rows = list(self._rows(tag))
        if not self._can_play(state, tag, first, rows):
            by_owner = [_by_owner(state, first, row) for row in rows]
            if self._can_play(state, tag, first, by_owner):
                self._note("play", "rows do not have the cards in the order of the seats; each is its owner's")
                rows = by_owner
        for row in rows:
            odd = next((entry for entry in row if entry[1].startswith("^")), None)
            if odd is not None:
                self._notes.add(
                    odd[0], tag.name,
                    f"{short(odd[1])}: leads out of turn and revokes are not supported; the play is read up to here",
                )  # fmt: skip
                return True
            if not self._play_row(state, tag, first, row):
                break
        return False

    def _can_play(self, state: State, tag: Tag, first: int, rows: list[Row]) -> bool:
        """Whether all rows are legal, up to an irregularity."""
        trial = state.clone()
        reader = _Reader(self._tags, Notes())
        try:
            for row in rows:
                if any(token.startswith("^") for _, token, _ in row):
                    break
                if not reader._play_row(trial, tag, first, row):
                    break
        except FormatError:
            return False
        return True

    def _play_row(self, state: State, tag: Tag, first: int, row: Row) -> bool:
        """Play one trick, whose cards are listed from player `first` on; return whether others may follow."""
        leader, trick = int(state.record.leader), int(state.record.trick)
        is_whole = True
        for k in range(bridge.NUM_PLAYERS):
            player = (leader + k) % bridge.NUM_PLAYERS
            place = (player - first) % bridge.NUM_PLAYERS
            line, token, note = row[place] if place < len(row) else (row[-1][0], "-", "")
            if _is_blank(token):
                is_whole = False
                continue
            if not is_whole:
                raise error_at(tag, f"{token} is played after a card that is not on record", line)
            try:
                card = read_card(token.translate(_SYMBOLS))
                boards.apply(state, bridge.CARD_0 + card)
            except FormatError as error:
                raise error_at(tag, error, line) from None
            if note:
                self._comments[bridge.NUM_PLAYERS * trick + k] = note
        return is_whole

    def _rows(self, tag: Tag) -> Iterator[Row]:
        """Yield rows of four (line, token, note) entries; `*` and `+` end the play, the last row may be short."""
        row: Row = []
        for line, token in tag.tokens:
            if token.startswith("=") and token.endswith("="):
                if not row:
                    raise error_at(tag, "a note refers to the card before it", line)
                text = self._text_of_note(tag, token, line)
                row[-1] = (*row[-1][:2], text)
                continue
            if token.startswith("$"):
                continue
            plain = _SUFFIX.sub("", token)
            if not plain:
                self._notes.add(line, tag.name, f"{token} stands apart from its card")
                continue
            if len(row) == bridge.NUM_PLAYERS:
                yield row
                row = []
            if token in ("*", "+") and not row:
                return
            row.append((line, plain, ""))
        if row:
            yield row

    def _result(self, state: State, is_cut: bool) -> tuple[int | None, bool]:
        """Return declarer's tricks, and whether the play ended before the last card."""
        tricks = self._tricks(state)
        if tricks is not None and (is_cut or self._irregular & {"declarer", "result"}) and state.record.declarer >= 0:
            return tricks, True  # tricks may have been transferred after a revoke
        try:
            return boards.checked_tricks(state, tricks)
        except FormatError as error:
            raise error_at(self._tags.get("result") or self._tags["deal"], error) from None

    def _tricks(self, state: State) -> int | None:
        value = self._without_caret("result")
        if not value:
            return None
        s = state.record
        sided = re.fullmatch(r"(NS|EW)\s+(\d{1,2})", value.upper())
        relative = re.fullmatch(r"=|[+-]\d{1,2}", value)
        try:
            if s.declarer >= 0 and sided:
                tricks = _tricks(sided[2])
                tricks = tricks if (sided[1] == "EW") == bool(s.declarer & 1) else bridge.NUM_TRICKS - tricks
            elif s.declarer >= 0 and relative:
                level = int(s.contract) // bridge.NUM_DENOMINATIONS + 1
                tricks = _tricks(str(6 + level + (0 if value == "=" else int(value))))
            else:
                return _tricks(value)
        except FormatError as error:
            raise error_at(self._tags["result"], error) from None
        self._note("result", f"{short(value)} stands for {tricks} tricks of declarer")
        return tricks


def _is_blank(token: str) -> bool:
    """Whether a token stands for no call or card: those that are not on record, or the end."""
    return token in ("*", "+") or not token.strip("-")


def _by_owner(state: State, first: int, row: Row) -> Row:
    """Return the cards of a row in the order of the seats from player `first` on, each with who was dealt it."""
    hands, places = dealt_hands(state), [(row[0][0], "-", "")] * bridge.NUM_PLAYERS
    for entry in row:
        try:
            card = read_card(entry[1].translate(_SYMBOLS))
        except FormatError:
            continue
        owner = next(p for p in range(bridge.NUM_PLAYERS) if int(hands[p]) >> card & 1)
        place = (owner - first) % bridge.NUM_PLAYERS
        if places[place][1] != "-":
            return row  # two cards of one player
        places[place] = entry
    return places


def _joined(tokens: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the tokens of an auction, with "1 NT" and "All Pass" joined."""
    joined: list[tuple[int, str]] = []
    for line, token in tokens:
        before = joined[-1][1].upper() if joined else ""
        pair = before + token.upper().translate(_SYMBOLS)
        if (before in tuple("1234567") and _BID.match(pair)) or pair == "ALLPASS":
            joined[-1] = (joined[-1][0], joined[-1][1] + token)
        else:
            joined.append((line, token))
    return joined


def _passes(number: int) -> str:
    return {0: "no pass is", 1: "1 pass is"}.get(number, f"{number} passes are")


def _pass_out(state: State) -> None:
    while not state.is_terminal and state.phase == "auction":
        boards.apply(state, bridge.PASS)


def _has_contract(state: State, contract: tuple[int, int, int]) -> bool:
    s = state.record
    return s.declarer >= 0 and contract == (s.contract, s.doubled, s.declarer)


def _is_doubled(state: State, contract: tuple[int, int, int]) -> bool:
    """Whether the auction doubles the contract on record, which says nothing of it."""
    s = state.record
    return s.declarer >= 0 and s.doubled > 0 and contract == (s.contract, 0, s.declarer)


def _doubled(mark: str) -> int:
    return {"": 0, "X": 1, "*": 1, "DBL": 1}.get(mark, 2)


def _is_other(name: str) -> bool:
    """Whether a tag is kept as it is: not those that a Board has as fields, nor tables, whose rows are not read."""
    return name not in OWN_TAGS and (name == "table" or not name.endswith("table"))


# -- values -------------------------------------------------------------------------------------------------------


def read_bid(level: str, denomination: str) -> int:
    """Return the action of a bid, from "3" and "NT", "N", "S", ..."""
    return bridge.BID_0 + bridge.NUM_DENOMINATIONS * (int(level) - 1) + DENOMINATIONS.index(denomination[0].upper())


def read_call(text: str) -> int:
    """Return the action of a call: Pass, X, XX, or a bid such as 1NT. Raises FormatError if it is no call."""
    if text.upper() in _CALLS:
        return _CALLS[text.upper()]
    found = _BID.fullmatch(text)
    if found is None:
        raise FormatError(f"{short(text)} is not a call; calls are Pass, X, XX and bids such as 1NT")
    return read_bid(found[1], found[2])


def plain_deal(text: str) -> str:
    """Return a deal without the letters of suits before their cards, and with nothing for a void that is written -."""
    head, colon, rest = text.partition(":")
    hands = []
    for hand in rest.split():
        suits = hand.upper().split(".")
        if len(suits) == len(SUITS):
            named = all(suit[:1] == name for suit, name in zip(suits, SUITS, strict=True))
            suits = [suit[1:] if named else suit for suit in suits]
            hand = ".".join("" if suit == "-" else suit for suit in suits)
        hands.append(hand)
    return f"{head.strip()}{colon}{' '.join(hands)}" if hands != rest.upper().split() else text


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
