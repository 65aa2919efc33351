"""Write boards in PBN (see pbn_reader for the format).

Why not endplay's writer: it does not escape quotes in names, so a name could add tags; it drops notes on cards and
alerts without words; and it writes a result of no tricks where there is none. Tests compare both where both can write.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from cardenvs.core.errors import FormatError
from cardenvs.core.files import write_whole
from cardenvs.games.bridge.state import BID_0, NUM_PLAYERS, NUM_TRICKS, SEATS, call_label
from cardenvs.tools.bridge.boards import Board, checked_text, tricks_of
from cardenvs.tools.bridge.deals import card_text, deal_text, dealt_hands
from cardenvs.tools.bridge.pbn_reader import OWN_TAGS

_HEAD = "% PBN 2.1\n% EXPORT\n"
_CALLS = ("Pass", "X", "XX")
_VULNERABLE = ("None", "NS", "EW", "All")
_FIRST = ("Event", "Site", "Date")


def pbn_text(boards: Iterable[Board]) -> Iterator[str]:
    """Yield a PBN file in parts, one for each board.

    Raises:
        FormatError: a name, tag or note has control characters.
    """
    yield _HEAD
    for board in boards:
        yield "\n".join(_lines(board)) + "\n\n"


def write_pbn(path: Path, boards: Iterable[Board]) -> None:
    """Write a PBN file. An existing one is replaced atomically."""
    write_whole(path, "".join(pbn_text(boards)))


def _lines(board: Board) -> Iterator[str]:
    s = board.state.record
    for name in _FIRST:
        yield _tag(name, board.tags.get(name, "?"))
    yield _tag("Board", board.name or "?")
    for p in (3, 0, 1, 2):
        yield _tag(("North", "East", "South", "West")[p], board.players[p] or "?")
    dealer = int(s.dealer)
    yield _tag("Dealer", SEATS[dealer])
    yield _tag("Vulnerable", _VULNERABLE[int(s.vulnerable)])
    yield _tag("Deal", deal_text(dealt_hands(board.state), dealer))
    yield _tag("Scoring", board.tags.get("Scoring", "?"))
    yield from _outcome(board)
    if board.has_auction and board.calls:
        yield from _auction(board)
    if board.cards or board.is_claimed:
        yield from _play(board)
    for name, value in board.tags.items():
        if name not in (*_FIRST, "Scoring"):
            if not name.isidentifier() or name.lower() in OWN_TAGS:
                raise FormatError(f"{name!r} cannot be the name of a tag")
            yield _tag(name, value)


def _tag(name: str, value: str) -> str:
    escaped = checked_text(value, name).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _outcome(board: Board) -> Iterator[str]:
    """Declarer, contract and result; empty if the deal was passed out, "?" if they are unknown."""
    s = board.state.record
    if s.declarer < 0:
        passed_out = board.contract == "passed out"
        for name, value in (("Declarer", ""), ("Contract", "Pass"), ("Result", "")):
            yield _tag(name, value if passed_out else "?")
        return
    yield _tag("Declarer", SEATS[int(s.declarer)])
    yield _tag("Contract", call_label(BID_0 + int(s.contract)) + "X" * int(s.doubled))
    yield _tag("Result", "?" if board.tricks is None else str(board.tricks))


def _auction(board: Board) -> Iterator[str]:
    yield _tag("Auction", SEATS[int(board.state.record.dealer)])
    notes = _Notes()
    entries = []
    for k, call in enumerate(board.calls):
        text = _CALLS[call] if call < BID_0 else call_label(call)
        if k in board.explanations:
            text += f" {notes.number(board.explanations[k])}" if board.explanations[k] else "!"
        entries.append(text)
    if board.state.record.declarer < 0 and board.contract != "passed out":
        entries.append("+")
    yield from _rows(entries)
    yield from notes.tags()


def _play(board: Board) -> Iterator[str]:
    """Write a row for each trick, in the order of the seats from the opening leader on."""
    first = (int(board.state.record.declarer) + 1) % NUM_PLAYERS
    yield _tag("Play", SEATS[first])
    notes, entries, number = _Notes(), [], 0
    for trick in tricks_of(board.state.record):
        row = ["-"] * NUM_PLAYERS
        for player, card in trick:
            text = card_text(card)
            if board.comments.get(number):
                text += f" {notes.number(board.comments[number])}"
            row[(player - first) % NUM_PLAYERS] = text
            number += 1
        entries += row
    yield from _rows(entries)
    if number < NUM_PLAYERS * NUM_TRICKS:
        yield "*" if board.is_claimed else "+"
    yield from notes.tags()


def _rows(entries: list[str]) -> Iterator[str]:
    for k in range(0, len(entries), NUM_PLAYERS):
        yield " ".join(entries[k : k + NUM_PLAYERS])


class _Notes:
    """Notes of a section, numbered from 1."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def number(self, text: str) -> str:
        """Return the reference to a text."""
        if text not in self._texts:
            self._texts.append(text)
        return f"={self._texts.index(text) + 1}="

    def tags(self) -> Iterator[str]:
        """Yield the tags with the texts."""
        for number, text in enumerate(self._texts, 1):
            yield _tag("Note", f"{number}:{text}")
