"""The fold: rebuild the table that a viewer knows from the events that this viewer saw, in any game."""

from collections import Counter as Multiset
from collections.abc import Sequence

import numpy as np

from cardenvs.core.errors import FoldError
from cardenvs.core.events import (
    KIND,
    NO_PLACE,
    SOURCE,
    TARGET,
    TOKEN,
    TOP,
    UNKNOWN,
    VALUE,
    VISIBLE,
    Counter,
    Op,
    Pile,
    Table,
)

_OPS_FROM = (Op.MOVE, Op.REVEAL, Op.SET, Op.SHUFFLE, Op.MOVE_ALL)  # those that need a source
_OPS_TO = (Op.MOVE, Op.CREATE, Op.MOVE_ALL)  # those that need a target


class FoldedTable:
    """The table as one viewer knows it: filled from a state by the game's view, or by folding events.

    Two folded tables are equal when all piles (known tokens, unknown tokens, order where it matters) and all
    counters are.
    """

    def __init__(self, table: Table) -> None:
        self.spec = table
        self.piles: list[list[int]] = [[] for _ in table.pile_of]
        self.counters: list[int | None] = [0] * len(table.counter_of)

    def put(self, pile: str, tokens: Sequence[int] = (), unknown: int = 0, player: int = 0, seen: bool = True) -> None:
        """Fill a pile: `tokens` (UNKNOWN is one whose face is not known), then `unknown` face-down ones.

        Without `seen`, all of them are face down.
        """
        faces = [int(token) if seen else UNKNOWN for token in tokens]
        self.piles[self.spec.pile_ids[pile] + player] = faces + [UNKNOWN] * int(unknown)

    def set(self, counter: str, value: int | None, player: int = 0) -> None:
        """Set a counter; None is a value that the viewer may not see."""
        self.counters[self.spec.counter_ids[counter] + player] = None if value is None else int(value)

    def normal(self) -> tuple:
        """A comparable form, in which the order of an unordered pile does not count."""
        piles = [
            tuple(tokens) if pile.ordered else tuple(sorted(tokens))
            for (pile, _), tokens in zip(self.spec.pile_of, self.piles, strict=True)
        ]
        return tuple(piles), tuple(self.counters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FoldedTable) and self.normal() == other.normal()

    __hash__ = None  # type: ignore[assignment]  # mutable

    def differences(self, other: "FoldedTable") -> list[str]:
        """What differs, in words, for a failed test."""
        mine, theirs = self.normal(), other.normal()
        names = [_place_name(pile, owner) for pile, owner in self.spec.pile_of]
        names += [_place_name(counter, owner) for counter, owner in self.spec.counter_of]
        pairs = zip(names, [*mine[0], *mine[1]], [*theirs[0], *theirs[1]], strict=True)
        return [f"{name}: {a} != {b}" for name, a, b in pairs if a != b]

    def tokens(self) -> Multiset:
        """All tokens on the table, by face; UNKNOWN counts the face-down ones."""
        return Multiset(token for pile in self.piles for token in pile)

    def apply(self, row: np.ndarray) -> None:
        """Fold in one visible row.

        Raises:
            FoldError: the row does not fit this table.
        """
        op = self.spec.kinds[int(row[KIND])].op
        token, source, target, value = (int(row[c]) for c in (TOKEN, SOURCE, TARGET, VALUE))
        self._check_places(op, source, target)
        if op == Op.MOVE:
            self.piles[target].append(self._take(source, token, value))
        elif op == Op.REVEAL:
            self._reveal(source, token, value)
        elif op == Op.SET:
            self.counters[source] = value if int(row[VISIBLE]) else None
        elif op == Op.SHUFFLE:
            self.piles[source] = [UNKNOWN] * len(self.piles[source])
        elif op == Op.CREATE:
            self.piles[target] += [token] * value
        elif op == Op.CLEAR:
            for pile in range(len(self.piles)) if source == NO_PLACE else (source,):
                self.piles[pile] = []
        elif op == Op.MOVE_ALL:
            self.piles[target] += self.piles[source]
            self.piles[source] = []

    def _check_places(self, op: Op, source: int, target: int) -> None:
        needed = [place for place, ops in ((source, _OPS_FROM), (target, _OPS_TO)) if op in ops]
        most = len(self.counters) if op == Op.SET else len(self.piles)
        if not all(0 <= place < most for place in needed):
            raise FoldError(f"{op.name} names places {needed}; there are 0 to {most - 1}")

    def _take(self, pile: int, token: int, place: int) -> int:
        """Take a token out of a pile and return its face as far as the viewer knows it."""
        tokens = self.piles[pile]
        if not tokens:
            raise FoldError(f"token {token} leaves the empty pile {self._pile_name(pile)}")
        if self.spec.pile_of[pile][0].ordered:
            return self._take_ordered(pile, token, place)
        if token == UNKNOWN:
            # Which one went is not known: from now on nobody outside knows what is left.
            if any(other != UNKNOWN for other in tokens):
                self.piles[pile] = [UNKNOWN] * len(tokens)
            self.piles[pile].pop()
            return UNKNOWN
        if token not in tokens and UNKNOWN not in tokens:
            raise FoldError(f"token {token} leaves {self._pile_name(pile)}, which holds {tokens}")
        tokens.remove(token if token in tokens else UNKNOWN)
        return token

    def _take_ordered(self, pile: int, token: int, place: int) -> int:
        self._check_inside(pile, place)
        face = self.piles[pile].pop(place)
        if face not in (token, UNKNOWN) and token != UNKNOWN:
            raise FoldError(f"token {token} leaves {self._pile_name(pile)} where {face} was known to lie")
        return token if face == UNKNOWN else face

    def _reveal(self, pile: int, token: int, value: int) -> None:
        if token == UNKNOWN:
            return
        tokens = self.piles[pile]
        if self.spec.pile_of[pile][0].ordered:
            self._check_inside(pile, value)
            if tokens[value] not in (token, UNKNOWN):
                raise FoldError(f"{self._pile_name(pile)} shows token {token} where {tokens[value]} was known to lie")
            tokens[value] = token
            return
        for _ in range(value - tokens.count(token)):
            if UNKNOWN not in tokens:
                raise FoldError(f"{self._pile_name(pile)} shows token {token}, but is known to hold {tokens}")
            tokens[tokens.index(UNKNOWN)] = token

    def _check_inside(self, pile: int, place: int) -> None:
        size = len(self.piles[pile])
        if (place != TOP and not 0 <= place < size) or size == 0:
            raise FoldError(f"{self._pile_name(pile)} holds {size} tokens; there is no place {place}")

    def _pile_name(self, pile: int) -> str:
        return _place_name(*self.spec.pile_of[pile])


def _place_name(place: Pile | Counter, owner: int | None) -> str:
    return place.name if owner is None else f"{place.name} of player {owner}"


def fold(table: Table, rows: np.ndarray) -> FoldedTable:
    """The table after the `rows` that one viewer sees (`Table.visible`), from an empty one."""
    folded = FoldedTable(table)
    for row in rows:
        folded.apply(row)
    return folded
