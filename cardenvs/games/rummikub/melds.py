"""Sets on the table (rules.md 2), called melds in code: slots, validity, canonical order, keys."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from cardenvs.core.checks import is_integer, short
from cardenvs.core.errors import DeckError
from cardenvs.games.rummikub.tiles import (
    JOKER,
    MAX_MELDS,
    NUM_COLOURS,
    NUM_TYPES,
    NUM_VALUES,
    Multiset,
    colour_of,
    multiset,
    parse_tile,
    tile_label,
    tile_of,
    value_of,
)

RUN, GROUP = 0, 1
KINDS = ("run", "group")
SHORTEST = 3
UNASSIGNED = -1
_JOKER_TEXT = re.compile(r"[Jj]\(([^()]*)\)")


class Slot(NamedTuple):
    """One place of a meld.

    Attributes:
        tile: the tile that lies there, 0..52.
        colour, value: what the tile counts as; UNASSIGNED for a joker without a meaning.
    """

    tile: int
    colour: int
    value: int

    @property
    def meaning(self) -> int:
        """The type that the slot counts as."""
        return tile_of(self.colour, self.value)

    @property
    def label(self) -> str:
        """ "R5", or "J(R5)" for a joker."""
        if self.tile != JOKER:
            return tile_label(self.tile)
        return "J" if self.colour == UNASSIGNED else f"J({tile_label(self.meaning)})"


def natural(tile: int) -> Slot:
    """Return the slot of a natural tile."""
    return Slot(tile, colour_of(tile), value_of(tile))


def joker(meaning: int | None) -> Slot:
    """Return the slot of a joker that represents the type `meaning`, or no tile if None."""
    return (
        Slot(JOKER, UNASSIGNED, UNASSIGNED) if meaning is None else Slot(JOKER, colour_of(meaning), value_of(meaning))
    )


def parse_slot(text: str) -> Slot:
    """Parse a slot: "R5", "J(R5)", or "J" for a joker without a meaning.

    Raises:
        DeckError: the text is not a slot.
    """
    match = _JOKER_TEXT.fullmatch(text.strip())
    if not match:
        tile = parse_tile(text)
        return joker(None) if tile == JOKER else natural(tile)
    meaning = parse_tile(match[1])
    if meaning == JOKER:
        raise DeckError(f"{text!r}: a joker represents a tile with a colour and a value")
    return joker(meaning)


@dataclass(frozen=True)
class Meld:
    """A meld as laid, valid or not. `canonical` puts its slots in order."""

    slots: tuple[Slot, ...]

    @classmethod
    def of(cls, slots: "str | Iterable[str | Slot] | Meld") -> "Meld":
        """Make a meld from a text ("R4 J(R5) R6"), from slot texts, or from slots."""
        if isinstance(slots, Meld):
            return slots
        parts = slots.split() if isinstance(slots, str) else list(slots)
        return cls(tuple(parse_slot(part) if isinstance(part, str) else Slot(*part) for part in parts))

    @cached_property
    def kind(self) -> int:
        """RUN if all colours are equal, else GROUP; also for an invalid meld."""
        return RUN if len({slot.colour for slot in self.slots}) == 1 else GROUP

    def why_invalid(self, max_run: int = NUM_VALUES) -> str:
        """Return the reason why the meld is not a set (2.1 to 2.3), or an empty text."""
        if len(self.slots) < SHORTEST:
            return f"{self.label} has fewer than {SHORTEST} tiles"
        if any(slot.colour == UNASSIGNED for slot in self.slots):
            return f"{self.label} has a joker that represents no tile"
        if self.kind == GROUP:
            if len({slot.value for slot in self.slots}) > 1:
                return f"{self.label} has neither one colour nor one value"
            if len({slot.colour for slot in self.slots}) < len(self.slots):
                return f"{self.label} has a colour twice"
            return ""
        values = sorted(slot.value for slot in self.slots)
        if any(b - a != 1 for a, b in pairwise(values)):
            return f"{self.label} has values that do not follow one another"
        if len(values) > max_run:
            return f"{self.label} is a run of more than {max_run} tiles"
        return ""

    @cached_property
    def canonical(self) -> "Meld":
        """The same meld, a run in rising value, a group in rising colour."""
        order = (lambda slot: (slot.value, slot.tile)) if self.kind == RUN else (lambda slot: (slot.colour, slot.tile))
        return Meld(tuple(sorted(self.slots, key=order)))

    @cached_property
    def key(self) -> tuple:
        """The sort key of canonical tables: kind, first colour, lowest value, length, content."""
        slots = self.canonical.slots
        content = tuple((slot.colour, slot.value, slot.tile) for slot in slots)
        return self.kind, slots[0].colour, min(slot.value for slot in slots), len(slots), content

    @cached_property
    def tiles(self) -> Multiset:
        """The tiles of the meld, jokers as JOKER."""
        return multiset([slot.tile for slot in self.slots])

    @property
    def points(self) -> int:
        """The sum of the values that the slots count as (2.5)."""
        return sum(slot.value for slot in self.slots)

    @property
    def meanings(self) -> list[int]:
        """The types that its jokers represent."""
        return [slot.meaning for slot in self.slots if slot.tile == JOKER]

    @property
    def label(self) -> str:
        """The slots as text, as `of` reads it."""
        return " ".join(slot.label for slot in self.slots)

    def to_json(self) -> list:
        """Return a list of slots: a type, or [52, colour, value] for a joker, with -1 for no meaning."""
        return [slot.tile if slot.tile != JOKER else [JOKER, slot.colour, slot.value] for slot in self.slots]

    @classmethod
    def from_json(cls, data: Any) -> "Meld":
        """Make a meld from the list that `to_json` returns.

        Raises:
            DeckError: it is not a list of at most 13 slots, or an entry is not a slot.
        """
        if not isinstance(data, list) or len(data) > NUM_VALUES:
            raise DeckError(f"a meld is a list of at most {NUM_VALUES} slots; got {short(data)}")
        return cls(tuple(_slot_from_json(entry) for entry in data))


def _slot_from_json(entry: Any) -> Slot:
    if is_integer(entry) and 0 <= entry < JOKER:
        return natural(entry)
    if isinstance(entry, list) and len(entry) == 3 and all(map(is_integer, entry)) and entry[0] == JOKER:
        colour, value = entry[1:]
        if (colour, value) == (UNASSIGNED, UNASSIGNED):
            return joker(None)
        if colour in range(NUM_COLOURS) and value in range(1, NUM_VALUES + 1):
            return Slot(JOKER, colour, value)
    raise DeckError(f"{short(entry)} is not a slot; a slot is a type 0 to 51, or [52, colour, value] for a joker")


# ---------------------------------------------------------------------------------------------------------------
# Tables

Table = tuple[Meld, ...]


def table_of(melds: "Iterable[str | Iterable[str | Slot] | Meld]") -> Table:
    """Make a table, in the given order, from melds in any form that `Meld.of` takes."""
    return tuple(Meld.of(meld) for meld in melds)


def canonical_table(table: Iterable[Meld]) -> Table:
    """Return the table in canonical form: valid melds with their slots in order, sorted by `Meld.key`."""
    return tuple(sorted((meld.canonical for meld in table), key=lambda meld: meld.key))


def table_tiles(table: Iterable[Meld]) -> Multiset:
    """Return all tiles on the table."""
    counts = [0] * NUM_TYPES
    for meld in table:
        for slot in meld.slots:
            counts[slot.tile] += 1
    return tuple(counts)


def table_to_json(table: Iterable[Meld]) -> list:
    """Return a list of melds, each a list of slots."""
    return [meld.to_json() for meld in table]


def table_from_json(data: Any) -> Table:
    """Return the table that `table_to_json` made of it.

    Raises:
        DeckError: it is not a list of at most 35 melds, or an entry is not a meld.
    """
    if not isinstance(data, list) or len(data) > MAX_MELDS:
        raise DeckError(f"a table is a list of at most {MAX_MELDS} melds; got {short(data)}")
    return tuple(Meld.from_json(meld) for meld in data)


def split_table(table: Iterable[Meld]) -> Table:
    """Return the table with runs of six or more cut into threes from the low end, the last part of 3 to 5 (2.7)."""
    melds: list[Meld] = []
    for meld in table:
        slots = meld.canonical.slots
        while meld.kind == RUN and len(slots) > 2 * SHORTEST - 1:
            melds.append(Meld(slots[:SHORTEST]))
            slots = slots[SHORTEST:]
        melds.append(Meld(slots))
    return canonical_table(melds)
