"""The wall of a round of a log: its tiles in the order in which they leave it."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from cardenvs.core.errors import FormatError
from cardenvs.games.riichi.state import NUM_PLAYERS, RiichiOptions, deck
from cardenvs.games.riichi.tiles import RED
from cardenvs.tools.riichi.log import Kyoku, Line
from cardenvs.tools.riichi.notation import TILES


@dataclass(frozen=True)
class Fault:
    """A line for which the wall has not the tiles that the rules or the log want."""

    line: Line
    error: FormatError


def wall_of(kyoku: Kyoku, options: RiichiOptions) -> tuple[list[int], Fault | None]:
    """Return the tiles of a round in the order in which they leave the wall, and the first line that does not fit.

    Tiles that stay in the wall are left out. Others are the hands from the dealer on, the first indicator, and then
    draws and indicators as the rules have them: programs write the line "dora" of an open or added kan at once, before
    the next discard or after it. There may be more tiles of a sort than the game has, or not as many indicators as the
    rules turn up; then the wall ends there.

    Raises:
        FormatError: there are too many tiles of a sort in the hands.
    """
    wall = _Wall(options)
    start = kyoku.start
    for k in range(NUM_PLAYERS):
        for face in start.hands[(start.dealer + k) % NUM_PLAYERS]:
            wall.take(face, start.line)
    wall.take(start.indicator, start.line)
    wall.indicators.extend(line for line in kyoku.lines if line.type == "dora")
    for line in kyoku.lines:
        try:
            wall.read(line)
        except FormatError as error:
            return wall.tiles, Fault(line, error)
    if wall.indicators:
        line = wall.indicators[0]
        what = "no indicator is turned up for this by the rules: each kan turns up one (rules.md 2.4)"
        return wall.tiles, Fault(line, line.error(what))
    return wall.tiles, None


class _Wall:
    """A wall while a log is read.

    Attributes:
        tiles: faces that have left it.
        indicators: lines "dora" whose tiles have not left it.
    """

    def __init__(self, options: RiichiOptions) -> None:
        self.tiles: list[int] = []
        self.indicators: deque[Line] = deque()
        self._left = Counter(deck(options).tolist())
        self._options = options
        self._owed = 0
        self._has_ura = False
        self._read: dict[str, Callable[[Line], None]] = {
            "tsumo": self._draw, "dahai": self._turn_up_owed, "ankan": self._close_kan, "kakan": self._open_kan,
            "daiminkan": self._open_kan, "hora": self._turn_up_ura,
        }  # fmt: skip

    def read(self, line: Line) -> None:
        """Take what a line takes from the wall."""
        if line.type in self._read:
            self._read[line.type](line)

    def take(self, face: int, line: Line) -> None:
        """Take a tile from the wall."""
        if not self._left[face]:
            hint = "; -o red_fives=... says whether the game has red fives" if _is_five(face) else ""
            raise line.error(f"there are more tiles {TILES[face]} than the game has{hint}")
        self._left[face] -= 1
        self.tiles.append(face)

    def _draw(self, line: Line) -> None:
        self.take(line.tile(), line)

    def _turn_up(self, line: Line) -> None:
        if not self.indicators:
            which = (
                "this kan turns up an indicator" if line.type == "ankan" else "a kan turns up an indicator before this"
            )
            raise line.error(f"{which} (rules.md 2.4); a line 'dora' is missing")
        dora = self.indicators.popleft()
        self.take(dora.tile("dora_marker"), dora)

    def _turn_up_owed(self, line: Line) -> None:
        while self._owed:
            self._owed -= 1
            self._turn_up(line)

    def _close_kan(self, line: Line) -> None:
        self._turn_up_owed(line)
        if self._options.kan_dora:
            self._turn_up(line)

    def _open_kan(self, line: Line) -> None:
        self._turn_up_owed(line)
        self._owed += self._options.kan_dora

    def _turn_up_ura(self, line: Line) -> None:
        if self._has_ura or not self._options.ura_dora:
            return
        faces = ura_of(line)
        for face in faces or ():
            self.take(face, line)
        self._has_ura = bool(faces)


def ura_of(line: Line) -> list[int] | None:
    """Return the ura indicators in a line "hora"; None if it does not say. Raises FormatError if they are bad."""
    name = next((name for name in ("ura_markers", "uradora_markers") if line.data.get(name) is not None), None)
    return None if name is None else line.tiles(name)


def _is_five(face: int) -> bool:
    return face >= RED or face in (4, 13, 22)


def check_ura(line: Line, number: int) -> FormatError | None:
    """Return an error if a line "hora" of a player in riichi has not as many ura indicators as there are indicators."""
    faces = ura_of(line)
    if faces is not None and len(faces) == number:
        return None
    has = "none" if faces is None else len(faces)
    return line.error(f"a winner in riichi turns up {number} ura indicators; 'ura_markers' has {has} (rules.md 5.5)")
