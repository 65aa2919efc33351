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

_OPS_FROM = (Op.MOVE, Op.REVEAL, Op.SET, Op.SHUFFLE, Op.MOVE_ALL)  # operations that need a source
_OPS_TO = (Op.MOVE, Op.CREATE, Op.MOVE_ALL)  # operations that need a target


class FoldedTable:
    """The table as one viewer knows it, filled from a state by the game's view or by folding events.

    Two folded tables are equal if all piles (known tokens, unknown tokens, and order if it matters) and all counters
    are equal.

    Attributes:
        spec: the Table.
        piles: tokens by pile id, UNKNOWN for an unknown face.
        counters: values by counter id, None if hidden.
    """

    def __init__(self, table: Table) -> None:
        self.spec = table
        self.piles: list[list[int]] = [[] for _ in table.pile_of]
        self.counters: list[int | None] = [0] * len(table.counter_of)

    def put(self, pile: str, tokens: Sequence[int] = (), unknown: int = 0, player: int = 0, seen: bool = True) -> None:
        """Fill a pile.

        Args:
            pile: its name.
            tokens: the tokens, UNKNOWN for an unknown face.
            unknown: number of face-down tokens to add after them.
            player: the owner, if each player has such a pile.
            seen: whether the viewer sees the faces; if not, all tokens are face down.
        """
        faces = [int(token) if seen else UNKNOWN for token in tokens]
        self.piles[self.spec.pile_ids[pile] + player] = faces + [UNKNOWN] * int(unknown)

    def set(self, counter: str, value: int | None, player: int = 0) -> None:
        """Set a counter; None means that the viewer may not see its value."""
        self.counters[self.spec.counter_ids[counter] + player] = None if value is None else int(value)

    def normal(self) -> tuple:
        """Return a comparable form that ignores the order in unordered piles."""
        piles = [
            tuple(tokens) if pile.ordered else tuple(sorted(tokens))
            for (pile, _), tokens in zip(self.spec.pile_of, self.piles, strict=True)
        ]
        return tuple(piles), tuple(self.counters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FoldedTable) and self.normal() == other.normal()

    __hash__ = None  # type: ignore[assignment]  # mutable

    def differences(self, other: "FoldedTable") -> list[str]:
        """Return the differences as texts, for a failed test."""
        mine, theirs = self.normal(), other.normal()
        names = [_place_name(pile, owner) for pile, owner in self.spec.pile_of]
        names += [_place_name(counter, owner) for counter, owner in self.spec.counter_of]
        pairs = zip(names, [*mine[0], *mine[1]], [*theirs[0], *theirs[1]], strict=True)
        return [f"{name}: {a} != {b}" for name, a, b in pairs if a != b]

    def tokens(self) -> Multiset:
        """Count the tokens on the table by face; UNKNOWN counts the face-down ones."""
        return Multiset(token for pile in self.piles for token in pile)

    def apply(self, row: np.ndarray) -> None:
        """Apply one row from `Table.visible`.

        Raises:
            FoldError: the event is impossible on this table.
        """
        cells = row.tolist()
        op = self.spec.kinds[cells[KIND]].op
        token, source, target, value = cells[TOKEN], cells[SOURCE], cells[TARGET], cells[VALUE]
        self._check_places(op, source, target)
        if op == Op.MOVE:
            self.piles[target].append(self._take(source, token, value))
        elif op == Op.REVEAL:
            self._reveal(source, token, value)
        elif op == Op.SET:
            self.counters[source] = value if cells[VISIBLE] else None
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
        most = len(self.counters) if op == Op.SET else len(self.piles)
        if (op in _OPS_FROM and not 0 <= source < most) or (op in _OPS_TO and not 0 <= target < most):
            needed = [place for place, ops in ((source, _OPS_FROM), (target, _OPS_TO)) if op in ops]
            raise FoldError(f"{op.name} names places {needed}; there are 0 to {most - 1}")

    def _take(self, pile: int, token: int, place: int) -> int:
        """Remove a token from a pile and return its face, or UNKNOWN if the viewer does not know it."""
        tokens = self.piles[pile]
        if not tokens:
            raise FoldError(f"token {token} leaves the empty pile {self._pile_name(pile)}")
        if self.spec.pile_of[pile][0].ordered:
            return self._take_ordered(pile, token, place)
        if token == UNKNOWN:
            # Any token may have left, so the viewer no longer knows which ones remain.
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
            raise FoldError(f"token {token} leaves {self._pile_name(pile)} from a place known to hold {face}")
        return token if face == UNKNOWN else face

    def _reveal(self, pile: int, token: int, value: int) -> None:
        if token == UNKNOWN:
            return
        tokens = self.piles[pile]
        if self.spec.pile_of[pile][0].ordered:
            self._check_inside(pile, value)
            if tokens[value] not in (token, UNKNOWN):
                raise FoldError(f"{self._pile_name(pile)} shows token {token} in a place known to hold {tokens[value]}")
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
    """Return the table that the events `rows` of one viewer (from `Table.visible`) lead to from an empty table."""
    folded = FoldedTable(table)
    for row in rows:
        folded.apply(row)
    return folded
