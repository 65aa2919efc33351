"""Read and write LIN files, the format of Bridge Base Online.

A LIN file is a list of pairs `key|value|`. Of a match: `vg` event, segment, form of scoring, first and last board, and
the teams with their scores. Of a board: `pn` names of South, West, North, East (eight in a match: those of the other
table follow), `qx` number and room as in `o7`, `md` dealer (1 South to 4 East) and hands from South on, `sv`
vulnerability (o, n, e, b), `ah` its number or label, `mb` calls (`p`, `d`, `r`, `1N`; `!` is an alert), `an` the
explanation of a call, `pc` cards, `mc` tricks claimed by declarer, `nt` comments of spectators. A comment is kept with
the card before it, and those before the first card in the tag LinNt. Layout is left out.

What PBN has tags for becomes tags (Event, Stage, Scoring, HomeTeam, VisitTeam, Room); a `vg` or `ah` with more than
that is kept whole, in the tags LinVg and LinAh. `losses` says what LIN has no place for.

Why not endplay's reader and writer: it reads a whole file at once, finds boards by `pn` only, so it joins the boards
of a match that follow one another by `qx`, cannot read eight names, attaches comments of spectators to calls, counts
the tricks of a board without a claim as if North led to each, and lets a name with `|` add pairs to the file. Tests
compare both where both can read and write.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.files import write_whole
from cardenvs.core.state import State
from cardenvs.core.text import count
from cardenvs.games.bridge.state import BID_0, CARD_0, DOUBLE, NUM_PLAYERS, PASS, REDOUBLE, call_label
from cardenvs.tools.bridge import boards, deals
from cardenvs.tools.bridge.boards import MOST_TEXT, Board, BoardRecord, checked_text
from cardenvs.tools.bridge.pbn_reader import read_bid
from cardenvs.tools.bridge.text_files import Notes, lines_of, note_encoding

MOST_PAIRS = 3_000  # of a board
_SOUTH = 2  # LIN begins with South
_CALL = re.compile(r"(pass|rdbl|dbl|xx|x|p|d|r|([1-7])([CDHSN])T?)(!?)", re.IGNORECASE)
_CALLS = {"P": PASS, "D": DOUBLE, "R": REDOUBLE}
_ODD_CALLS = {"PASS": PASS, "DBL": DOUBLE, "X": DOUBLE, "RDBL": REDOUBLE, "XX": REDOUBLE}
_CARD = re.compile(r"[SHDC](?:10|[2-9TJQKA])", re.IGNORECASE)
_HAND = re.compile(r"(?:([SHDC])([2-9TJQKA]*))", re.IGNORECASE)
_VULNERABLE = {"o": 0, "0": 0, "n": 1, "e": 2, "b": 3}
_ROOM = re.compile(r"([oc])(\d{1,6})", re.IGNORECASE)
_NUMBER = re.compile(r"\D{0,20}(\d{1,6})")
_VG = ("Event", "Stage", "Scoring", "", "", "HomeTeam", "", "VisitTeam", "")  # tags, by place in `vg`
_SCORING = {"I": "IMP", "P": "MP"}
_TAGS = ("Event", "Stage", "Scoring", "HomeTeam", "VisitTeam", "Room", "LinVg", "LinAh", "LinNt")  # that LIN holds

Pair = tuple[int, str, str]  # line, key, value

# -- reading ------------------------------------------------------------------------------------------------------


def read_lin(path: Path, strict: bool = False) -> Iterator[BoardRecord]:
    """Yield the boards of a LIN file, one by one; one that cannot be read does not stop the others.

    Raises:
        FileError: the file cannot be read.
    """
    names: Pair | None = None  # they hold until there are others
    match: Pair | None = None
    found, place = _boards(path), 0
    while True:
        try:
            pairs = next(found, None)
        except FormatError as error:  # what follows cannot be found
            yield BoardRecord(place + 1, None, str(error).removeprefix(f"{path}, "))
            return
        if pairs is None:
            return
        place += 1
        names = next((pair for pair in pairs if pair[1] == "pn"), names)
        match = next((pair for pair in pairs if pair[1] == "vg"), match)
        notes = Notes(strict)
        try:
            if place == 1:
                note_encoding(path, notes)
            yield BoardRecord(place, _Reader(pairs, names, match, notes).board(), notes=tuple(notes.texts))
        except FormatError as error:
            yield BoardRecord(place, None, str(error), tuple(notes.texts))


def _boards(path: Path) -> Iterator[list[Pair]]:
    """Yield the pairs of each board. A deal, or a name or number after one, begins a board."""
    pairs: list[Pair] = []
    has_deal = False
    for pair in _pairs(path):
        if has_deal and pair[1] in ("md", "pn", "qx", "vg"):
            yield pairs
            pairs, has_deal = [], False
        has_deal |= pair[1] == "md"
        pairs.append(pair)
        if len(pairs) > MOST_PAIRS:
            raise FormatError(f"{path}, line {pair[0]}: a board has at most {MOST_PAIRS:,} entries")
    if has_deal:
        yield pairs


def _pairs(path: Path) -> Iterator[Pair]:
    """Yield (line, key, value). A value may continue in the next line."""
    rest, start = "", 1
    for line, text in lines_of(path):
        rest += text.lstrip() if not rest else text
        *parts, rest = rest.split("|")
        if len(parts) % 2:
            rest = f"{parts.pop()}|{rest}"
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            yield line, key.strip().lower(), value
        if len(rest) > 20 * MOST_TEXT:
            raise FormatError(f"{path}, line {start}: an entry is too long or has no end")
        start = line
    if rest.strip():
        raise FormatError(f"{path}, line {start}: {short(rest)} is incomplete; entries are written key|value|")


class _Reader:
    """Turns the pairs of a board into a Board."""

    def __init__(self, pairs: list[Pair], names: Pair | None, match: Pair | None, notes: Notes) -> None:
        self._pairs, self._names, self._match, self._notes = pairs, names, match, notes
        self._explains_next = False  # whether explanations stand before their calls
        self._next = ""  # what is said about the next call
        self._explanations: dict[int, str] = {}
        self._comments: dict[int, str] = {}
        self._num_cards = 0
        self._opening = ""  # comments before the first card
        self._line, self._key = pairs[0][0], pairs[0][1]

    def board(self) -> Board:
        """Return the board, or raise FormatError with line and key."""
        try:
            return self._board()
        except FormatError as error:
            if str(error).startswith("line "):
                raise
            raise FormatError(f"line {self._line}, {self._key}: {error}") from None

    def _find(self, key: str) -> str | None:
        """Return the first value of a key, which is what errors then refer to."""
        for line, name, value in self._pairs:
            if name == key:
                self._line, self._key = line, key
                return value.strip()
        return None

    def _board(self) -> Board:
        number, room, label = self._number()
        dealer, hands = _deal(self._find("md") or "")
        sides = self._find("sv")
        if sides and sides.lower() not in _VULNERABLE:
            raise FormatError(f"vulnerability is o, n, e or b; got {short(sides)}")
        if not sides and number is None:
            raise FormatError("neither the vulnerability nor the number of the board is given")
        vulnerable = _VULNERABLE[sides.lower()] if sides else None
        state = boards.new_board_state(hands, number, dealer, vulnerable)
        claimed = self._play(state)
        tricks, is_claimed = boards.checked_tricks(state, claimed)
        tags = self._tags(number, label) | ({"Room": room} if room else {})
        return Board(
            state, number, self._players(room), tricks, is_claimed, explanations=self._explanations,
            comments=self._comments, tags=tags | ({"LinNt": self._opening} if self._opening else {}),
            label="" if number is not None else label,
        )  # fmt: skip

    def _number(self) -> tuple[int | None, str, str]:
        """Return the number of the board, the room ("" if it is not a match), and its label, without "Board"."""
        given = self._find("qx") or ""
        label = _ROOM.fullmatch(given)
        if label and int(label[2]):
            return int(label[2]), "Open" if label[1].lower() == "o" else "Closed", ""
        text = checked_text(self._find("ah") or "", "a label")
        found = _NUMBER.fullmatch(text)
        if found and int(found[1]):
            return int(found[1]), "", text
        plain = re.sub(r"^board\s+", "", text, flags=re.IGNORECASE)
        if plain:
            self._notes.add(self._line, self._key, f"{short(plain)} is no number; it is kept as a label")
        return None, "", plain

    def _tags(self, number: int | None, label: str) -> dict[str, str]:
        """Return the tags of the match and of an unusual label."""
        tags = {} if label in ("", f"Board {number}") or number is None else {"LinAh": label}
        if self._match is None:
            return tags
        self._line, self._key, text = self._match
        parts = checked_text(text.strip(), "a title").split(",")
        for name, part in zip(_VG, parts, strict=False):
            if name and part.strip():
                tags[name] = _SCORING.get(part.strip(), part.strip()) if name == "Scoring" else part.strip()
        if text.strip() and _title(tags) != text.strip():
            tags["LinVg"] = text.strip()
        return tags

    def _players(self, room: str) -> tuple[str, ...]:
        """Return the names from North on; of eight those in the board's room."""
        if self._names is None:
            return boards.NOBODY
        self._line, self._key, text = self._names
        names = [checked_text(name.strip(), "a name") for name in text.split(",")]
        if len(names) > 2 * NUM_PLAYERS:
            raise FormatError(f"there are {len(names)} names; a table has {NUM_PLAYERS}, a match twice as many")
        names += [""] * (2 * NUM_PLAYERS - len(names))
        own = names[NUM_PLAYERS:] if room == "Closed" and any(names[NUM_PLAYERS:]) else names[:NUM_PLAYERS]
        return tuple(own[(p - _SOUTH) % NUM_PLAYERS] for p in range(NUM_PLAYERS))

    def _play(self, state: State) -> int | None:
        """Make all calls and play all cards; return the tricks that were claimed."""
        claimed, left_out = None, 0
        first = next((key for _, key, _ in self._pairs if key in ("an", "mb")), "")
        self._explains_next = first == "an"
        for line, key, value in self._pairs:
            self._line, self._key = line, key
            if first == "an" and key == "an":
                self._notes.add(line, key, "explanations stand before their calls")
                first = ""
            if claimed is not None and key in ("mb", "pc", "mc"):
                raise FormatError("the play is over after a claim")
            if key == "mb":
                self._calls(state, value)
            elif key == "an":
                self._explain(state, value)
            elif key == "pc":
                for card in _all(_CARD, value, "cards such as SA"):
                    boards.apply(state, CARD_0 + deals.read_card(card[0]))
                    self._num_cards += 1
            elif key == "nt":
                left_out += not self._comment(value)
            elif key == "mc":
                claimed = _claim(value)
        if left_out:
            self._notes.add(self._line, "nt", f"{count(left_out, 'comment')} too long or not text, left out")
        return claimed

    def _comment(self, text: str) -> bool:
        """Keep a comment with the card before it, or before the first one; return False if it cannot be kept."""
        plain, k = " ".join(text.split()), self._num_cards - 1
        before = self._comments.get(k, "") if k >= 0 else self._opening
        said = " / ".join(part for part in (before, plain) if part)
        if len(said) > MOST_TEXT or not said.isprintable():
            return False
        if k >= 0 and said:
            self._comments[k] = said
        elif said:
            self._opening = said
        return True

    def _calls(self, state: State, text: str) -> None:
        for found in _all(_CALL, text, "calls: p, d, r, or bids such as 1N"):
            if found[4] or self._next:
                self._explanations[int(state.record.num_calls)] = self._next
                self._next = ""
            word = found[1].upper()
            if word in _ODD_CALLS:
                self._notes.add(self._line, self._key, f"{short(found[1])} is no usual spelling of a call")
            boards.apply(state, read_bid(found[2], found[3]) if found[2] else (_CALLS | _ODD_CALLS)[word])

    def _explain(self, state: State, text: str) -> None:
        said = checked_text(text.strip(), "an explanation")
        if self._explains_next:
            self._next = said
        else:
            self._explanations[int(state.record.num_calls) - 1] = said


def _all(pattern: re.Pattern[str], text: str, what: str) -> list[re.Match[str]]:
    """Return the matches of a pattern that make up a text."""
    plain = text.replace(" ", "")
    found = list(pattern.finditer(plain))
    if sum(len(one[0]) for one in found) != len(plain):
        raise FormatError(f"expected {what}; got {short(text)}")
    return found


def _claim(text: str) -> int:
    plain = text.strip()
    if not (plain.isascii() and plain.isdigit() and len(plain) <= 2 and int(plain) <= 13):
        raise FormatError(f"declarer claims 0 to 13 tricks; got {short(text)}")
    return int(plain)


def _deal(text: str) -> tuple[int, np.ndarray]:
    """Return the dealer and the hands of an `md`, of which the last may be left out."""
    plain = re.sub(r"\s", "", text)
    if not plain or plain[0] not in "1234":
        raise FormatError(f"a deal begins with the dealer, 1 for South to 4 for East; got {short(text)}")
    dealer = (_SOUTH + int(plain[0]) - 1) % NUM_PLAYERS
    parts = plain[1:].split(",")
    if len(parts) == NUM_PLAYERS - 1:
        parts.append("")
    if len(parts) != NUM_PLAYERS:
        raise FormatError(f"a deal has four hands, from South on; got {len(parts)}")
    hands = np.zeros(NUM_PLAYERS, np.int64)
    for k, part in enumerate(parts):
        hands[(_SOUTH + k) % NUM_PLAYERS] = _hand(part)
    if not parts[-1]:
        hands[1] = deals.remaining([int(hand) for hand in hands])
    deals.check_hands(hands)
    return dealer, hands


def _hand(text: str) -> int:
    """Return the cards of a hand such as SAKQ2H543DKJ9CT86, suits in any order."""
    suits = dict.fromkeys(deals.SUITS, "")
    for found in _all(_HAND, text.upper().replace("10", "T"), "a hand such as SAKQ2H543DKJ9CT86"):
        suits[found[1]] += found[2]
    return deals.read_hand(".".join(suits[name] for name in deals.SUITS))


# -- writing ------------------------------------------------------------------------------------------------------


def lin_text(boards: Iterable[Board]) -> Iterator[str]:
    """Yield a LIN file line by line, one for each board, and one for a match where it begins.

    Raises:
        FormatError: a text has a | or control characters.
    """
    match = ""
    for board in boards:
        title = board.tags.get("LinVg") or _title(board.tags)
        if title != match:
            match = title
            yield f"vg|{_plain(title, 'a title')}|\n"
        yield "".join(f"{key}|{value}|" for key, value in _written(board)) + "\n"


def _title(tags: Mapping[str, str]) -> str:
    """Return the `vg` that says what the tags say of the match, "" if they say nothing."""
    values = [tags.get(name, "") if name else "" for name in _VG]
    values[2] = next((key for key, name in _SCORING.items() if values[2] == name), values[2])
    if not any(tags.get(name) for name in ("Event", "Stage", "HomeTeam", "VisitTeam")):
        return ""
    return ",".join(" ".join(value.replace(",", " ").split()) for value in values)


def losses(boards: Iterable[Board]) -> list[str]:
    """Return what LIN has no place for in some boards, each kind once, with the number of boards."""
    counts = Counter[str]()
    for board in boards:
        counts["calls, cards and result without the auction"] += not board.has_auction
        counts["commas in names"] += "," in "".join(board.players)
        counts.update({f"the tag {name}" for name, value in board.tags.items() if name not in _TAGS and value})
        counts["| in comments"] += "|" in "".join(board.comments.values())
        counts["the tag Scoring without an event"] += bool(board.tags.get("Scoring")) and not _title(board.tags)
        counts["commas in event and teams"] += "," in "".join(board.tags.get(name, "") for name in _VG if name)
    return [f"{what} ({count(number, 'board')})" for what, number in counts.items() if number]


def write_lin(path: Path, boards: Iterable[Board]) -> None:
    """Write a LIN file. An existing one is replaced atomically."""
    write_whole(path, "".join(lin_text(boards)))


def _written(board: Board) -> Iterator[tuple[str, str]]:
    s = board.state.record
    room = board.tags.get("Room", "").lower()[:1]
    if room in ("o", "c") and board.number is not None:
        yield "qx", f"{room}{board.number}"
    order = [(_SOUTH + k) % NUM_PLAYERS for k in range(NUM_PLAYERS)]
    yield "pn", ",".join(_plain(board.players[p].replace(",", " "), "a name") for p in order)
    yield "st", ""
    hands = deals.dealt_hands(board.state)
    dealer = (int(s.dealer) - _SOUTH) % NUM_PLAYERS + 1
    yield "md", f"{dealer}{','.join(_written_hand(int(hands[p])) for p in order)}"
    yield "rh", ""
    if board.name:
        yield "ah", _plain(board.tags.get("LinAh") or f"Board {board.name}", "a label")
    yield "sv", "oneb"[int(s.vulnerable)]
    if board.tags.get("LinNt"):
        yield "nt", _plain(board.tags["LinNt"], "a comment")
    if not board.has_auction:
        return
    for k, call in enumerate(board.calls):
        text = "pdr"[call] if call < BID_0 else call_label(call)[:2]
        yield "mb", text + "!" * (k in board.explanations)
        if board.explanations.get(k):
            yield "an", _plain(board.explanations[k], "an explanation")
    yield "pg", ""
    for k, card in enumerate(board.cards, 1):
        yield "pc", deals.card_text(card)
        if board.comments.get(k - 1):
            yield "nt", board.comments[k - 1].replace("|", "/")
        if k % NUM_PLAYERS == 0:
            yield "pg", ""
    if board.is_claimed:
        yield "mc", str(board.tricks)


def _written_hand(hand: int) -> str:
    return "".join(name + ranks for name, ranks in zip(deals.SUITS, deals.hand_text(hand).split("."), strict=True))


def _plain(text: str, what: str) -> str:
    """Return a text that ends no value."""
    if "|" in text:
        raise FormatError(f"{what} in LIN has no |; got {short(text)}")
    return checked_text(text, what)
