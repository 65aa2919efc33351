"""The tags of PBN files, and the tokens that follow `Auction` and `Play`.

An empty line ends a board, and so does a second `Event` or `Board`. Text that is no tag, as dealing programs write it
before and after the boards, is passed over with a note. What is damaged counts for its board alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.tools.bridge.boards import MOST_TEXT
from cardenvs.tools.bridge.text_files import MOST_LINES, Notes, lines_of

MOST_TAGS = 200  # of a board
MOST_TOKENS = 1500  # of a section
SECTIONS = ("auction", "play")
_BEGINS = ("event", "board")  # tags that begin another board if they are there already
_PIECE = re.compile(r'\s*(?:(\{)|(;)|\[\s*([\w-]+)\s*"((?:[^"\\]|\\.)*)"\s*\]|([^\s{;\[]+))')
_ODD_TAG = re.compile(r'\s*\[\s*([\w-]+)\s*("?)(.*)\2\s*\]\s*')  # quotes or backslashes inside, or no quotes
_ESCAPED = re.compile(r'\\(["\\])')


@dataclass
class Tag:
    """A tag: its name as written, value, line, and what follows it: (line, token) pairs, and notes by number."""

    name: str
    value: str
    line: int
    tokens: list[tuple[int, str]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class TaggedBoard:
    """The tags of a board by name in small letters, what was noted while reading them, and why they are damaged."""

    tags: dict[str, Tag] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)
    error: str = ""


def error_at(tag: Tag, reason: object, line: int | None = None) -> FormatError:
    """Return an error with the line, that of the tag by default, and the name of a tag."""
    return FormatError(f"line {line or tag.line}, {tag.name}: {reason}")


def tagged_boards(path: Path, strict: bool = False) -> Iterator[TaggedBoard]:
    """Yield the boards of a file. Comments and escaped lines are left out."""
    reader = _Reader(strict)
    try:
        for line, text in lines_of(path):
            yield from reader.read(line, text)
    except FormatError as error:  # of a line that is too long: what follows cannot be found
        reader.board.error = str(error).removeprefix(f"{path}, ")
    yield from reader.end()


class _Reader:
    """Collects the tags of a board line by line."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._in_comment = False
        self._comment_line = 0
        self._begin()

    def _begin(self) -> None:
        self.board = TaggedBoard(notes=Notes(self._strict))
        self._last: Tag | None = None  # whose tokens follow
        self._count = 0
        self._passed_over = False

    def _ended(self) -> Iterator[TaggedBoard]:
        """Yield the board that ends here, if there is one, and begin another."""
        board = self.board
        if board.tags or board.error:
            self._begin()
            yield board
        else:  # notes on text before the first board belong to that board
            notes = board.notes
            self._begin()
            self.board.notes = notes

    def read(self, line: int, text: str) -> Iterator[TaggedBoard]:
        """Read a line; yield the boards that it ends."""
        if text.startswith("%"):
            return
        if not text.strip() and not self._in_comment:
            yield from self._ended()
            return
        self._count += 1
        if self._count > MOST_LINES:
            self.board.error = self.board.error or f"line {line}: a board has at most {MOST_LINES:,} lines"
            return
        try:
            yield from self._read_pieces(line, text)
        except FormatError as error:
            self.board.error = self.board.error or str(error)

    def end(self) -> Iterator[TaggedBoard]:
        """Yield the last board."""
        if self._in_comment and not self.board.error:
            self.board.error = f"line {self._comment_line}: a comment that begins with {{ has no end"
        yield self.board

    def _read_pieces(self, line: int, text: str) -> Iterator[TaggedBoard]:
        place = 0
        while place < len(text.rstrip()):
            if self._in_comment:
                end = text.find("}", place)
                self._in_comment, place = end < 0, len(text) if end < 0 else end + 1
                continue
            found = _PIECE.match(text, place)
            if found is None:
                yield from self._read_odd_tag(line, text, place)
                return
            place = found.end()
            opens, rest, name, value, token = found.groups()
            if opens:
                self._in_comment, self._comment_line = True, line
            elif rest:
                return
            elif name:
                yield from self._add_tag(Tag(name, _ESCAPED.sub(r"\1", value), line))
            elif self._last is None or self.board.error:
                self._pass_over(line, text[found.start() :].strip())
            else:
                _add_token(self._last, line, token)

    def _pass_over(self, line: int, text: str) -> None:
        """Note text that is no tag, once for each paragraph."""
        if not self._passed_over:
            self.board.notes.add(line, "", f'expected a tag such as [Board "1"]; got {short(text)}, passed over')
            self._passed_over = True

    def _read_odd_tag(self, line: int, text: str, place: int) -> Iterator[TaggedBoard]:
        odd = _ODD_TAG.fullmatch(text, place)
        if odd is None:
            raise FormatError(f'line {line}: expected a tag such as [Board "1"]; got {short(text)}')
        self.board.notes.add(line, odd[1], f"{short(odd[3])} is not written as a text in quotes")
        yield from self._add_tag(Tag(odd[1], odd[3].strip(), line))

    def _add_tag(self, tag: Tag) -> Iterator[TaggedBoard]:
        """Add a tag, after it has ended the board before if it begins another."""
        key = tag.name.lower()
        if key in _BEGINS and key in self.board.tags:
            self.board.notes.add(tag.line, tag.name, "it is there twice; an empty line ends a board, and so does this")
            yield from self._ended()
            self._count = 1
        if len(tag.value) > MOST_TEXT or not tag.value.isprintable():
            raise FormatError(f"line {tag.line}: the value of {short(tag.name)} is too long or has unprintable letters")
        if key == "note":
            self._add_note(tag)
            return
        before = self.board.tags.get(key)
        if before is not None:
            self._note_twice(before, tag, key)
            return
        if len(self.board.tags) >= MOST_TAGS:
            raise FormatError(f"line {tag.line}: a board has at most {MOST_TAGS} tags")
        self.board.tags[key] = self._last = tag

    def _note_twice(self, before: Tag, tag: Tag, key: str) -> None:
        if key in SECTIONS or (key in DECISIVE and before.value != tag.value):
            raise FormatError(f"line {tag.line}: {short(tag.name)} is there twice; an empty line ends a board")
        self.board.notes.add(tag.line, tag.name, f"it is there twice, and the first counts: {short(before.value)}")

    def _add_note(self, tag: Tag) -> None:
        number, colon, text = tag.value.partition(":")
        if not colon or self._last is None or len(self._last.notes) >= MOST_TAGS:
            raise FormatError(f'line {tag.line}: a note is written [Note "1:text"] and follows the auction or the play')
        self._last.notes[number.strip()] = text.strip()


DECISIVE = ("dealer", "vulnerable", "deal", "declarer", "contract", "result")


def _add_token(tag: Tag, line: int, token: str) -> None:
    if tag.name.lower() not in SECTIONS:
        return  # tables of other tags, such as results at other tables
    if len(tag.tokens) >= MOST_TOKENS:
        raise FormatError(f"line {line}: {tag.name} has more than {MOST_TOKENS:,} entries")
    tag.tokens.append((line, token))
