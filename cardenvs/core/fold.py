"""The fold: rebuild the table that a viewer knows from the events that this viewer saw, in any game."""

from collections import Counter as Multiset
from collections.abc import Sequence
from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.errors import FoldError
from cardenvs.core.record import Record

_OPS_FROM = (ev.Op.MOVE, ev.Op.REVEAL, ev.Op.SET, ev.Op.SHUFFLE, ev.Op.MOVE_ALL)  # operations that need a source
_OPS_TO = (ev.Op.MOVE, ev.Op.CREATE, ev.Op.MOVE_ALL)  # operations that need a target


class FoldedTable:
    """The table as one viewer knows it, filled from a state by the game's view or by folding events.

    Two folded tables are equal if all piles (known tokens, unknown tokens, and order if it matters) and all counters
    are equal.

    Attributes:
        spec: the Table.
        piles: tokens by pile id, UNKNOWN for an unknown face.
        counters: values by counter id, None if hidden.
    """

    def __init__(self, table: ev.Table) -> None:
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
        faces = [int(token) if seen else ev.UNKNOWN for token in tokens]
        self.piles[self.spec.pile_ids[pile] + player] = faces + [ev.UNKNOWN] * int(unknown)

    def set(self, counter: str, value: int | None, player: int = 0) -> None:
        """Set a counter; None means that the viewer may not see its value."""
        self.counters[self.spec.counter_ids[counter] + player] = None if value is None else int(value)

    def fill(self, s: Record, viewer: int) -> None:
        """Fill the piles and counters whose declarations give a source, as `viewer` knows them in state `s`."""
        players = int(s.rules.num_players)
        for k, pile, owner in self.spec.sourced_piles:
            found = _given(pile.source, owner, s, players)
            if found is not None:
                tokens = _elements(found) if pile.is_set else [int(token) for token in np.ravel(found) if token >= 0]
                is_seen = (
                    pile.seen == ev.Seen.ALL
                    or viewer == ev.OMNISCIENT
                    or (pile.seen == ev.Seen.OWNER and viewer == owner)
                    or (pile.seen == ev.Seen.OTHERS and viewer >= 0 and viewer != owner)
                )
                shown = tokens if is_seen else _elements(_given(pile.known, owner, s, players) or 0)
                self.piles[k] = shown + [ev.UNKNOWN] * (len(tokens) - len(shown))
        for k, counter, owner in self.spec.sourced_counters:
            found = _given(counter.source, owner, s, players)
            if found is not None:
                self.counters[k] = int(found)

    def normal(self) -> tuple[Any, ...]:
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

    def tokens(self) -> Multiset[int]:
        """Count the tokens on the table by face; UNKNOWN counts the face-down ones."""
        return Multiset(token for pile in self.piles for token in pile)

    def apply(self, row: np.ndarray) -> None:
        """Apply one row from `Table.visible`.

        Raises:
            FoldError: the event is impossible on this table.
        """
        cells = row.tolist()
        op = self.spec.kinds[cells[ev.KIND]].op
        token, source, target, value = cells[ev.TOKEN], cells[ev.SOURCE], cells[ev.TARGET], cells[ev.VALUE]
        self._check_places(op, source, target)
        if op == ev.Op.MOVE:
            self.piles[target].append(self._take(source, token, value))
        elif op == ev.Op.REVEAL:
            self._reveal(source, token, value)
        elif op == ev.Op.SET:
            self.counters[source] = value if cells[ev.VISIBLE] else None
        elif op == ev.Op.SHUFFLE:
            self.piles[source] = [ev.UNKNOWN] * len(self.piles[source])
        elif op == ev.Op.CREATE:
            self.piles[target] += [token] * value
        elif op == ev.Op.CLEAR:
            for pile in range(len(self.piles)) if source == ev.NO_PLACE else (source,):
                self.piles[pile] = []
        elif op == ev.Op.MOVE_ALL:
            self.piles[target] += self.piles[source]
            self.piles[source] = []

    def extend(self, rows: np.ndarray) -> None:
        """Apply rows from `Table.visible` in order.

        Raises:
            FoldError: an event is impossible on this table.
        """
        for row in rows:
            self.apply(row)

    def _check_places(self, op: ev.Op, source: int, target: int) -> None:
        most = len(self.counters) if op == ev.Op.SET else len(self.piles)
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
        if token == ev.UNKNOWN:
            # Any token may have left, so the viewer no longer knows which ones remain.
            if any(other != ev.UNKNOWN for other in tokens):
                self.piles[pile] = [ev.UNKNOWN] * len(tokens)
            self.piles[pile].pop()
            return ev.UNKNOWN
        if token not in tokens and ev.UNKNOWN not in tokens:
            raise FoldError(f"token {token} leaves {self._pile_name(pile)}, which holds {tokens}")
        tokens.remove(token if token in tokens else ev.UNKNOWN)
        return token

    def _take_ordered(self, pile: int, token: int, place: int) -> int:
        self._check_inside(pile, place)
        face = self.piles[pile].pop(place)
        if face not in (token, ev.UNKNOWN) and token != ev.UNKNOWN:
            raise FoldError(f"token {token} leaves {self._pile_name(pile)} from a place known to hold {face}")
        return token if face == ev.UNKNOWN else face

    def _reveal(self, pile: int, token: int, value: int) -> None:
        if token == ev.UNKNOWN:
            return
        tokens = self.piles[pile]
        if self.spec.pile_of[pile][0].ordered:
            self._check_inside(pile, value)
            if tokens[value] not in (token, ev.UNKNOWN):
                raise FoldError(f"{self._pile_name(pile)} shows token {token} in a place known to hold {tokens[value]}")
            tokens[value] = token
            return
        for _ in range(value - tokens.count(token)):
            if ev.UNKNOWN not in tokens:
                raise FoldError(f"{self._pile_name(pile)} shows token {token}, but is known to hold {tokens}")
            tokens[tokens.index(ev.UNKNOWN)] = token

    def _check_inside(self, pile: int, place: int) -> None:
        size = len(self.piles[pile])
        if (place != ev.TOP and not 0 <= place < size) or size == 0:
            raise FoldError(f"{self._pile_name(pile)} holds {size} tokens; there is no place {place}")

    def _pile_name(self, pile: int) -> str:
        return _place_name(*self.spec.pile_of[pile])


def _place_name(place: ev.Pile | ev.Counter, owner: int | None) -> str:
    return place.name if owner is None else f"{place.name} of player {owner}"


def _given(source: ev.Source, owner: int | None, s: Record, num_players: int) -> Any:
    """Return what a record holds for a place; None if its declaration does not say, or it has no such owner."""
    if source is None or (owner is not None and owner >= num_players):
        return None
    if callable(source):
        return source(s) if owner is None else source(s, owner)
    field = s[source]
    if owner is None:
        return field
    return field[owner] if owner < len(field) else None


def _elements(bits: Any) -> list[int]:
    left, found = int(bits) & ~(-1 << int(bits).bit_length()), []
    while left:
        lowest = left & -left
        found.append(lowest.bit_length() - 1)
        left -= lowest
    return found


def fold(table: ev.Table, rows: np.ndarray) -> FoldedTable:
    """Return the table that the events `rows` of one viewer (from `Table.visible`) lead to from an empty table."""
    folded = FoldedTable(table)
    folded.extend(rows)
    return folded
