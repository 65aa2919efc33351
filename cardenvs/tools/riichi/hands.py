"""What hands are worth, and what they wait for, from texts such as "123m055p77z"."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.text import count
from cardenvs.games.riichi import yaku
from cardenvs.games.riichi.hands import CHI, CLOSED_KAN, OPEN_KAN, PON, is_complete, shanten, ukeire, waits
from cardenvs.games.riichi.notation import kinds_of_faces, parse_tiles
from cardenvs.games.riichi.scoring import (
    base_points,
    count_dora,
    count_red_fives,
    ron_payment,
    score_win,
    tsumo_payment,
)
from cardenvs.games.riichi.state import MAX_MELDS, STICK, RiichiOptions
from cardenvs.games.riichi.tiles import EAST, HONOURS, LABELS, NUM_FACES, NUM_KINDS, RED, kind_of
from cardenvs.games.riichi.winning import HONBA

WINDS = ("east", "south", "west", "north")
_HAND = 13
_MOST_INDICATORS = 5
_LONGEST = 200  # characters of tiles
_FIVES = (4, 13, 22)  # the plain ones
_CIRCUMSTANCES = {
    "riichi": yaku.RIICHI, "double_riichi": yaku.DOUBLE_RIICHI, "ippatsu": yaku.IPPATSU, "tsumo": yaku.TSUMO,
    "after_kan": yaku.AFTER_KAN, "robbing": yaku.ROBBING_A_KAN, "last_tile": yaku.LAST_TILE,
    "first_draw": yaku.FIRST_DRAW,
}  # fmt: skip


def tiles_of(text: str) -> list[int]:
    """Return the faces of a text. Raises DeckError if it is not one of tiles, or is too long."""
    if len(text) > _LONGEST:
        raise DeckError(f"a text of tiles has at most {_LONGEST} characters; got {len(text):,}")
    return parse_tiles(text)


@dataclass(frozen=True)
class Meld:
    """A meld: its type, CHI, PON, OPEN_KAN or CLOSED_KAN; its lowest kind; its faces."""

    type: int
    kind: int
    faces: tuple[int, ...]


def parse_meld(text: str) -> Meld:
    """Return a chi or pon from a text such as "chi 345m", "pon 777z" or "pon 7z".

    Raises:
        DeckError: the text is not one.
    """
    word, _, rest = text.strip().partition(" ")
    if word not in ("chi", "pon"):
        raise DeckError(f'a meld is written as in "chi 345m" or "pon 7z"; got {text[:_LONGEST]!r}')
    faces = tiles_of(rest)
    if word == "pon":
        return _alike(PON, faces, 3, text)
    kinds = sorted(int(kind_of(face)) for face in faces)
    low = kinds[0] if kinds else 0
    if kinds != [low, low + 1, low + 2] or low >= HONOURS or low % 9 > 6:
        raise DeckError(f"a chi has three tiles in a row, as in chi 345m; got {text!r}")
    return Meld(CHI, low, tuple(faces))


def parse_kan(text: str, red_fives: bool = True) -> Meld:
    """Return a kan from a text such as "open 1z" or "closed 5m", which has the red five if the game has `red_fives`.

    Raises:
        DeckError: the text is not one.
    """
    word, _, rest = text.strip().partition(" ")
    if word not in ("open", "closed"):
        raise DeckError(f'a kan is written as in "open 1z" or "closed 5m"; got {text[:_LONGEST]!r}')
    faces = tiles_of(rest)
    if red_fives and len(faces) == 1 and faces[0] in _FIVES:
        faces = [RED + _FIVES.index(faces[0])]
    return _alike(OPEN_KAN if word == "open" else CLOSED_KAN, faces, 4, text)


def _alike(form: int, faces: list[int], number: int, text: str) -> Meld:
    """Return a meld of tiles of one kind, of which one or all are written."""
    kinds = {int(kind_of(face)) for face in faces}
    if len(kinds) != 1 or len(faces) not in (1, number):
        raise DeckError(f"a meld of {number} tiles of one kind is written as 7z or {number * '7'}z; got {text!r}")
    kind = kinds.pop()
    if len(faces) == 1:
        faces = [*faces, *[kind] * (number - 1)]
    return Meld(form, kind, tuple(faces))


# -- worth ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Win:
    """A hand that wins, as on the table.

    Attributes:
        hand: faces in hand, without the tile that wins.
        win: that tile.
        melds: sets that lie on the table, closed kans too.
        circumstances: names in _CIRCUMSTANCES, such as "tsumo" and "riichi".
        indicators, ura: faces.
        seat, wind: of the player and of the round, 0 east to 3 north.
        honba, sticks: on the table.
    """

    hand: tuple[int, ...]
    win: int
    melds: tuple[Meld, ...] = ()
    circumstances: frozenset[str] = frozenset()
    indicators: tuple[int, ...] = ()
    ura: tuple[int, ...] = ()
    seat: int = 1
    wind: int = 0
    honba: int = 0
    sticks: int = 0

    @property
    def is_open(self) -> bool:
        """Whether there is an open meld."""
        return any(meld.type != CLOSED_KAN for meld in self.melds)

    @property
    def faces(self) -> list[int]:
        """All tiles of the hand."""
        return [*self.hand, self.win, *(face for meld in self.melds for face in meld.faces)]

    def check(self, options: RiichiOptions) -> None:
        """Raise DeckError if tiles do not fit together, and OptionError if circumstances do not."""
        size = _HAND - 3 * len(self.melds)
        if len(self.melds) > MAX_MELDS or len(self.hand) != size:
            raise DeckError(
                f"with {count(len(self.melds), 'meld')} a hand has {max(size, 1)} tiles beside the one that wins; got "
                f"{len(self.hand)}"
            )
        if max(len(self.indicators), len(self.ura)) > _MOST_INDICATORS:
            raise DeckError(f"there are at most {_MOST_INDICATORS} indicators of a sort")
        _check_counts([*self.faces, *self.indicators, *self.ura], options.red_fives)
        self._check_circumstances()

    def _check_circumstances(self) -> None:
        has = self.circumstances.__contains__
        is_riichi = has("riichi") or has("double_riichi")
        has_kan = any(meld.type in (OPEN_KAN, CLOSED_KAN) for meld in self.melds)
        for is_wrong, why in (
            (is_riichi and self.is_open, "riichi needs a closed hand (rules.md 4.1)"),
            (has("ippatsu") and not is_riichi, "ippatsu needs riichi (rules.md 5.2)"),
            (self.ura and not is_riichi, "only riichi counts ura indicators (rules.md 5.5)"),
            (has("after_kan") and not (has("tsumo") and has_kan), "a win after a kan needs a kan and tsumo"),
            (has("robbing") and has("tsumo"), "robbing a kan is a ron, not a tsumo"),
            (has("first_draw") and not has("tsumo"), "a win on the first draw is a tsumo"),
            (has("first_draw") and (self.melds or is_riichi), "a win on the first draw has no melds and no riichi"),
        ):
            if is_wrong:
                raise OptionError(why)


@dataclass(frozen=True)
class Payment:
    """What some players pay each."""

    who: str
    payers: int
    points: int


@dataclass(frozen=True)
class Worth:
    """What a hand is worth.

    Attributes:
        is_complete: whether it is complete in form.
        yaku: (name, han) of each yaku and of dora; empty if the hand does not win.
        han, fu, yakuman: their sums, as `score_win` returns them.
        base: of the payments (rules.md 7.1).
        payments: honba included.
        total: points that the winner gets, riichi sticks included.
    """

    is_complete: bool
    yaku: tuple[tuple[str, int], ...] = ()
    han: int = 0
    fu: int = 0
    yakuman: int = 0
    base: int = 0
    payments: tuple[Payment, ...] = ()
    total: int = 0

    @property
    def name(self) -> str:
        """Such as "3 han 30 fu", "5 han 30 fu, mangan" or "yakuman"."""
        if self.yakuman:
            return "yakuman" if self.yakuman == 1 else f"{self.yakuman} yakuman"
        limit = next((f", {name}" for base, name in _LIMITS if self.base >= base), "")
        return f"{self.han} han {self.fu} fu{limit}"


_LIMITS = ((8_000, "counted yakuman"), (6_000, "sanbaiman"), (4_000, "baiman"), (3_000, "haneman"), (2_000, "mangan"))


def score(win: Win, options: RiichiOptions) -> Worth:
    """Return what a hand is worth.

    Raises:
        DeckError, OptionError: tiles or circumstances do not fit together.
    """
    win.check(options)
    concealed = kinds_of_faces(_counts([*win.hand, win.win]))
    if not is_complete(concealed, len(win.melds)):
        return Worth(False)
    bonus = _bonus(win)
    han, fu, yakuman, found = _score(win, concealed, sum(han for _, han in bonus), options)
    if not found:
        return Worth(True)
    base = int(base_points(han, fu, yakuman, options.kiriage_mangan, options.counted_yakuman))
    named = [(name, _han(k, win.is_open, options)) for k, (name, _) in enumerate(yaku.YAKU_NAMES) if found >> k & 1]
    payments = _payments(win, base)
    total = sum(payment.payers * payment.points for payment in payments) + STICK * win.sticks
    return Worth(True, tuple(named if yakuman else named + bonus), han, fu, yakuman, base, payments, total)


def _score(win: Win, concealed: np.ndarray, bonus: int, options: RiichiOptions) -> tuple[int, int, int, int]:
    """Return han, fu, number of yakuman, and the set of yaku."""
    meld_kinds, meld_types = np.zeros(MAX_MELDS, np.int8), np.zeros(MAX_MELDS, np.int8)
    for m, meld in enumerate(win.melds):
        meld_kinds[m], meld_types[m] = meld.kind, meld.type
    circumstances = sum(int(_CIRCUMSTANCES[name]) for name in win.circumstances)
    han, fu, yakuman, found = score_win(
        concealed, meld_kinds, meld_types, len(win.melds), int(kind_of(win.win)), circumstances, EAST + win.seat,
        EAST + win.wind, bonus, options.open_tanyao, options.kiriage_mangan, options.double_yakuman,
        options.counted_yakuman, options.double_wind_fu,
    )  # fmt: skip
    return int(han), int(fu), int(yakuman), int(found)


def _bonus(win: Win) -> list[tuple[str, int]]:
    """Return the han of dora that are not 0, with their names."""
    counts = _counts(win.faces)
    found = (
        ("dora", count_dora(counts, np.array(win.indicators, np.int8), len(win.indicators))),
        ("red fives", count_red_fives(counts)),
        ("ura dora", count_dora(counts, np.array(win.ura, np.int8), len(win.ura))),
    )
    return [(name, int(han)) for name, han in found if han]


def _han(k: int, is_open: bool, options: RiichiOptions) -> int:
    """Return the han of a yaku; yakuman that count twice have 26."""
    is_double = options.double_yakuman and int(yaku.DOUBLE) >> k & 1
    return yaku.HAN_OF_YAKU[k][is_open] * (2 if is_double else 1)


def _payments(win: Win, base: int) -> tuple[Payment, ...]:
    is_dealer, honba = win.seat == 0, HONBA * win.honba
    if "tsumo" not in win.circumstances:
        return (Payment("discarder", 1, int(ron_payment(base, is_dealer)) + 3 * honba),)
    much, little = (int(tsumo_payment(base, has_dealer)) + honba for has_dealer in (True, False))
    if is_dealer:
        return (Payment("each player", 3, much),)
    return Payment("dealer", 1, much), Payment("each other player", 2, little)


# -- waits ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draws:
    """What tiles do for a hand.

    Attributes:
        discard: the kind to discard before, or None.
        shanten: how many tiles the hand lacks to wait: 0 if it waits.
        tiles: (kind, how many the hand leaves) of each tile that completes a hand that waits, or else lowers its
            shanten.
    """

    discard: int | None
    shanten: int
    tiles: tuple[tuple[int, int], ...]

    @property
    def total(self) -> int:
        """How many tiles there are."""
        return sum(left for _, left in self.tiles)


def draws_of(hand: list[int]) -> tuple[int, list[Draws]]:
    """Return the shanten of a hand, and what it draws for: with 14 tiles, after each of the best discards.

    Args:
        hand: faces; 13 or 14, or 3 less for each meld.

    Raises:
        DeckError: another number of tiles, or more of a kind than there are.
    """
    if len(hand) > _HAND + 1 or len(hand) % 3 == 0:
        raise DeckError(f"a hand has 13 or 14 tiles, and 3 less for each meld: 10 or 11, 7 or 8, ...; got {len(hand)}")
    _check_counts(hand)
    kinds = kinds_of_faces(_counts(hand))
    melds = (_HAND + 1 - len(hand)) // 3
    distance = int(shanten(kinds, melds))
    if len(hand) % 3 == 1:
        return distance, [_draws(kinds, melds, None)]
    found = []
    for kind in range(NUM_KINDS):
        if kinds[kind]:
            left = kinds.copy()
            left[kind] -= 1
            found.append(_draws(left, melds, kind, 4 - kinds))
    best = min(draws.shanten for draws in found)
    return distance, sorted((one for one in found if one.shanten == best), key=lambda one: -one.total)


def _draws(kinds: np.ndarray, melds: int, discard: int | None, unseen: np.ndarray | None = None) -> Draws:
    """Return what a hand of 13 draws for."""
    unseen = 4 - kinds if unseen is None else unseen
    distance = int(shanten(kinds, melds))
    wanted = int(ukeire(kinds, melds, unseen)) if distance else int(waits(kinds, melds))
    return Draws(discard, distance, tuple((kind, int(unseen[kind])) for kind in range(NUM_KINDS) if wanted >> kind & 1))


# -- tiles ----------------------------------------------------------------------------------------------------------


def _counts(faces: list[int]) -> np.ndarray:
    return np.bincount(faces, minlength=NUM_FACES).astype(np.int8)


def _check_counts(faces: list[int], red_fives: bool | None = None) -> None:
    """Raise DeckError if there are more of some tiles than the game has; None: it may have red fives or not."""
    counts = _counts(faces)
    for kind, number in enumerate(kinds_of_faces(counts)):
        if number > 4:
            raise DeckError(f"there are {number} tiles {LABELS[kind]}; there are four of each kind")
    for suit, five in enumerate(_FIVES):
        plain, red = counts[five], counts[RED + suit]
        if red > 1 or (red and red_fives is False):
            has = "has none with red_fives=false" if red_fives is False else "has one red five in each suit"
            raise DeckError(f"there are too many tiles {LABELS[RED + suit]}; the game {has}")
        if plain > 3 and red_fives:
            raise DeckError(f"there are 4 tiles {LABELS[five]}; one of the four is the red five, {LABELS[RED + suit]}")
