"""Lines of mjai logs, which may be hostile: bounded, checked one by one, with their numbers."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cardenvs.core.checks import is_integer, parsed, short
from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.text import check_name, did_you_mean, read_text
from cardenvs.games.riichi.state import NUM_PLAYERS
from cardenvs.tools.riichi.notation import FACES, HIDDEN, WINDS, round_name

_LARGEST = 16 << 20  # bytes of a file
_MOST_LINES = 1_000  # of a round, which needs at most 400
_MOST_COUNTERS = 100  # honba, and riichi sticks
_MOST_POINTS = 10_000_000
_HAND = 13
_IGNORED = ("none", "hello")  # answers and greetings of players
_ACTIONS = ("tsumo", "dahai", "reach", "reach_accepted", "chi", "pon", "daiminkan", "ankan", "kakan", "dora", "hora",
            "ryukyoku")  # fmt: skip
_TYPES = ("start_game", "start_kyoku", *_ACTIONS, "end_kyoku", "end_game")


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        number: from 1.
        type: such as "dahai".
        data: its fields.
    """

    number: int
    type: str
    data: dict[str, Any]

    def error(self, text: str) -> FormatError:
        """Return an error that names the line."""
        return FormatError(f"line {self.number} ({self.type}): {text}")

    def value(self, name: str) -> Any:
        """Return a field. Raises FormatError if there is none."""
        if name not in self.data:
            raise self.error(f"{name!r} is missing")
        return self.data[name]

    def integer(self, name: str, low: int, high: int) -> int:
        """Return an integer field. Raises FormatError if it is missing, or not from `low` to `high`."""
        value = self.value(name)
        if not is_integer(value) or not low <= value <= high:
            raise self.error(f"{name!r} should be an integer from {low:,} to {high:,}; got {short(value)}")
        return int(value)

    def player(self, name: str = "actor") -> int:
        """Return a field that names a player, 0 to 3. Raises FormatError if it does not."""
        return self.integer(name, 0, NUM_PLAYERS - 1)

    def flag(self, name: str) -> bool:
        """Return a field that is true or false. Raises FormatError if it is not."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.error(f"{name!r} should be true or false; got {short(value)}")
        return value

    def listed(self, name: str, length: int | None = None) -> list[Any]:
        """Return a field that is a list. Raises FormatError if it is not, or has another length."""
        value = self.value(name)
        if not isinstance(value, list) or length not in (None, len(value)):
            wanted = "a list" if length is None else f"a list of {length}"
            raise self.error(f"{name!r} should be {wanted}; got {short(value)}")
        return value

    def tile(self, name: str = "pai") -> int:
        """Return a field that is a tile, as a face. Raises FormatError if it is not, or is hidden."""
        return self.face(name, self.value(name))

    def tiles(self, name: str, length: int | None = None) -> list[int]:
        """Return a field that is a list of tiles, as faces. Raises FormatError if it is not, or one is hidden."""
        return [self.face(name, tile) for tile in self.listed(name, length)]

    def points(self, name: str) -> list[int]:
        """Return a field with a number for each player. Raises FormatError if it is not one."""
        values = self.listed(name, NUM_PLAYERS)
        if not all(is_integer(value) and abs(value) <= _MOST_POINTS for value in values):
            raise self.error(f"{name!r} should have an integer for each player; got {short(values)}")
        return [int(value) for value in values]

    def face(self, name: str, tile: Any) -> int:
        """Return a value of the field `name` as a face. Raises FormatError if it is not a tile, or is hidden."""
        if tile == HIDDEN:
            raise self.error(f"{name!r} is hidden; this needs a log that shows all hands and draws")
        if not isinstance(tile, str) or tile not in FACES:
            raise self.error(f"{short(tile)} in {name!r} is not a tile; tiles are 1m to 9s, 5mr 5pr 5sr, E S W N P F C")
        return FACES[tile]


@dataclass(frozen=True)
class Start:
    """How a round starts.

    Attributes:
        line: the line "start_kyoku".
        wind: of the round, 0 to 3.
        dealer, honba, sticks: numbers.
        points: by player.
        hands: faces, by player.
        indicator: face.
    """

    line: Line
    wind: int
    dealer: int
    honba: int
    sticks: int
    points: list[int]
    hands: list[list[int]]
    indicator: int

    @classmethod
    def of(cls, line: Line) -> "Start":
        """Read a line. Raises FormatError if a field is missing or bad."""
        wind = line.value("bakaze")
        if not isinstance(wind, str) or len(wind) != 1 or wind not in WINDS:
            raise line.error(f"'bakaze' should be E, S, W or N; got {short(wind)}")
        start = cls(
            line, WINDS.index(wind), line.player("oya"), line.integer("honba", 0, _MOST_COUNTERS),
            line.integer("kyotaku", 0, _MOST_COUNTERS), line.points("scores"), _hands(line), line.tile("dora_marker"),
        )  # fmt: skip
        if line.integer("kyoku", 1, NUM_PLAYERS) != start.dealer + 1:
            raise line.error(
                f"'kyoku' is {line.data['kyoku']} and 'oya' is {start.dealer}; player_0 deals first, so 'kyoku' should "
                f"be {start.dealer + 1}"
            )
        return start

    @property
    def name(self) -> str:
        """Such as "east 1" or "south 3, honba 1"."""
        return round_name(self.wind, self.dealer, self.honba)


def _hands(line: Line) -> list[list[int]]:
    hands = line.listed("tehais", NUM_PLAYERS)
    for player, hand in enumerate(hands):
        if not isinstance(hand, list) or len(hand) != _HAND:
            raise line.error(f"'tehais' should have {_HAND} tiles for player_{player}; got {short(hand)}")
        if HIDDEN in hand:
            raise line.error(f"the hand of player_{player} is hidden; this needs a log that shows all hands and draws")
    return [[line.face("tehais", tile) for tile in hand] for hand in hands]


@dataclass
class Kyoku:
    """A round of a log.

    Attributes:
        start: how it starts.
        lines: what follows, without "end_kyoku".
        is_closed: whether "end_kyoku" or another round follows.
    """

    start: Start
    lines: list[Line] = field(default_factory=list)
    is_closed: bool = False

    @property
    def last(self) -> Line:
        """The last line, perhaps the first."""
        return self.lines[-1] if self.lines else self.start.line


@dataclass
class Log:
    """A log.

    Attributes:
        names: of the players.
        rounds: its rounds, at least one.
        is_over: whether "end_game" ends it.
    """

    names: tuple[str, ...]
    rounds: list[Kyoku]
    is_over: bool = False


def read_log(path: str | os.PathLike[str]) -> Log:
    """Read an mjai log. Whether it follows the rules is not checked here.

    Raises:
        FormatError: the file cannot be read or is too large, a line is not one of mjai, or there is no round.
    """
    return parse_log(read_text(path, "mjai log", FormatError, _LARGEST))


def parse_log(text: str) -> Log:
    """Return the log in a text. Raises FormatError as `read_log`."""
    log = Log(tuple(f"player_{p}" for p in range(NUM_PLAYERS)), [])
    for line in _lines(text):
        if log.is_over:
            raise line.error("nothing may follow after end_game; write one game to a file")
        if line.type == "start_game":
            log.names = _names(line, log.names)
        elif line.type == "start_kyoku":
            _close(log.rounds)
            log.rounds.append(Kyoku(Start.of(line)))
        elif line.type == "end_game":
            _close(log.rounds)
            log.is_over = True
        elif not log.rounds or log.rounds[-1].is_closed:
            raise line.error("no round has begun; a line 'start_kyoku' should come before it")
        elif line.type == "end_kyoku":
            _close(log.rounds)
        else:
            log.rounds[-1].lines.append(line)
            if len(log.rounds[-1].lines) > _MOST_LINES:
                raise line.error(f"a round has at most {_MOST_LINES:,} lines")
    if not log.rounds:
        raise FormatError("there is no round in it: no line of type 'start_kyoku'")
    return log


def _close(rounds: list[Kyoku]) -> None:
    if rounds:
        rounds[-1].is_closed = True


def _lines(text: str) -> list[Line]:
    """Return all lines but empty ones and those that say nothing about the game."""
    found = []
    for number, row in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not row.strip():
            continue
        data = parsed(row, f"line {number}")
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(kind, str):
            raise FormatError(f'line {number} is not one of mjai: it should be an object with a "type", as {{"type": '
                              f'"end_game"}}; got {short(data)}')  # fmt: skip
        if kind in _IGNORED:
            continue
        if kind not in _TYPES:
            raise FormatError(
                f"line {number}: {short(kind)} is not a type of line in mjai; {did_you_mean(kind, _TYPES)}types are "
                f"{', '.join(_TYPES)}"
            )
        found.append(Line(number, kind, data))
    return found


def _names(line: Line, default: Sequence[str]) -> tuple[str, ...]:
    """Return the players' names; where a name is missing, the default."""
    names = line.data.get("names")
    if names is None:
        return tuple(default)
    if not isinstance(names, list) or len(names) != NUM_PLAYERS:
        raise line.error(f"'names' should have the names of {NUM_PLAYERS} players; got {short(names)}")
    return tuple(_name(line, player, name) or default[player] for player, name in enumerate(names))


def _name(line: Line, player: int, name: Any) -> str:
    if not isinstance(name, str):
        raise line.error(f"'names' should have a text for player_{player}; got {short(name)}")
    if not name.strip():
        return ""
    try:
        return check_name(name, f"player_{player}")
    except CardenvsError as error:
        raise line.error(str(error)) from None
