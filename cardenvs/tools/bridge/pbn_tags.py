"""The tags of PBN files, and the tokens that follow `Auction` and `Play`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.tools.bridge.boards import MOST_TEXT
from cardenvs.tools.bridge.text_files import MOST_LINES, lines_of

MOST_TAGS = 200  # of a board
MOST_TOKENS = 1500  # of a section
SECTIONS = ("auction", "play")
_PIECE = re.compile(r'\s*(?:(\{)|(;)|\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]|([^\s{;\[]+))')


@dataclass
class Tag:
    """A tag: its name as written, value, line, and what follows it: (line, token) pairs, and notes by number."""

    name: str
    value: str
    line: int
    tokens: list[tuple[int, str]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)


def error_at(tag: Tag, reason: object, line: int | None = None) -> FormatError:
    """Return an error with the line, that of the tag by default, and the name of a tag."""
    return FormatError(f"line {line or tag.line}, {tag.name}: {reason}")


def tagged_boards(path: Path) -> Iterator[dict[str, Tag]]:
    """Yield the tags of each board by name in small letters. Comments and escaped lines are left out."""
    tags: dict[str, Tag] = {}
    last: Tag | None = None  # whose tokens follow
    in_comment = False
    count = 0
    for line, text in lines_of(path):
        if text.startswith("%"):
            continue
        if not text.strip() and not in_comment:
            if tags:
                yield tags
            tags, last, count = {}, None, 0
            continue
        count += 1
        if count > MOST_LINES:
            raise FormatError(f"{path}, line {line}: a board has at most {MOST_LINES:,} lines")
        place = 0
        while place < len(text.rstrip()):
            if in_comment:
                end = text.find("}", place)
                in_comment, place = end < 0, len(text) if end < 0 else end + 1
                continue
            found = _PIECE.match(text, place)
            if found is None:
                raise FormatError(f'{path}, line {line}: expected a tag such as [Board "1"]; got {short(text)}')
            place = found.end()
            opens, rest, name, value, token = found.groups()
            if opens:
                in_comment = True
            elif rest:
                break
            elif name:
                last = _add_tag(path, tags, last, Tag(name, re.sub(r"\\(.)", r"\1", value), line))
            elif last is None:
                raise FormatError(f'{path}, line {line}: expected a tag such as [Board "1"]; got {short(token)}')
            else:
                _add_token(path, last, line, token)
    if in_comment:
        raise FormatError(f"{path}: a comment that begins with {{ has no end")
    if tags:
        yield tags


def _add_tag(path: Path, tags: dict[str, Tag], last: Tag | None, tag: Tag) -> Tag:
    """Add a tag; return the one that following tokens and notes belong to."""
    where = f"{path}, line {tag.line}"
    if len(tag.value) > MOST_TEXT or not tag.value.isprintable():
        raise FormatError(f"{where}: the value of {short(tag.name)} is too long or has unprintable characters")
    key = tag.name.lower()
    if key == "note":
        number, colon, text = tag.value.partition(":")
        if not colon or last is None or len(last.notes) >= MOST_TAGS:
            raise FormatError(f'{where}: a note is written [Note "1:text"] and follows the auction or the play')
        last.notes[number.strip()] = text.strip()
        return last
    if key in tags:
        raise FormatError(f"{where}: {short(tag.name)} is there twice; an empty line ends a board")
    if len(tags) >= MOST_TAGS:
        raise FormatError(f"{where}: a board has at most {MOST_TAGS} tags")
    tags[key] = tag
    return tag


def _add_token(path: Path, tag: Tag, line: int, token: str) -> None:
    if tag.name.lower() not in SECTIONS:
        return  # tables of other tags, such as results at other tables
    if len(tag.tokens) >= MOST_TOKENS:
        raise FormatError(f"{path}, line {line}: {tag.name} has more than {MOST_TOKENS:,} entries")
    tag.tokens.append((line, token))
