"""The solver for Python callers: find the best play of a rack and a table given as texts."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.record import Record
from cardenvs.games.rummikub.catalogue import MELD_NUMBER, MELDS
from cardenvs.games.rummikub.melds import (
    UNASSIGNED,
    Meld,
    Slot,
    Table,
    canonical_table,
    joker,
    split_table,
    table_of,
    table_tiles,
)
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.problem import OPENING_VALUE, POINTS_FIRST, POSITION, TILES_FIRST, WORK
from cardenvs.games.rummikub.ruleset import JOKER_RULES, Ruleset
from cardenvs.games.rummikub.solver import any_best_play, best_play, best_value
from cardenvs.games.rummikub.tiles import (
    EMPTY,
    JOKER,
    NUM_NATURALS,
    Multiset,
    add,
    multiset,
    rack_points,
    sub,
    tile_label,
    tiles_in,
    total,
)

_OBJECTIVES = {"tiles": TILES_FIRST, "points": POINTS_FIRST}
_HOUSE_RULES = {
    "initial_meld_hand_only": True,
    "joker_set_locked": False,
    "retrieved_joker_rack_tiles": 0,
    "manipulate_after_opening": False,
    "max_run": 13,
}


@dataclass(frozen=True)
class Solution:
    """The best play.

    Attributes:
        num_tiles: number of rack tiles put down.
        points: their points, a joker counting 30.
        played: types of the rack tiles put down, ascending.
        melds: the whole new table in canonical form, with runs of at most five tiles.
        kept: the part of `melds` that was on the table before.
        laid: the part that is new.
        opening_points: value of the best opening from the rack alone, 0 if there is none.
        opening_melds: the melds of that opening.
    """

    num_tiles: int
    points: int
    played: tuple[int, ...]
    melds: Table
    kept: Table
    laid: Table
    opening_points: int
    opening_melds: Table


def solve(
    rack: str | Iterable[str | int],
    table: Iterable[str | Iterable[str | Slot] | Meld] = (),
    objective: str = "tiles",
    joker_rule: str = "retrieve",
    opened: bool = True,
    initial_meld_min: int = 30,
) -> Solution:
    """Return the play that puts the most tiles or points on the table; exact.

    The other objective breaks ties, then how much of the table stays in place.

    Args:
        rack: tiles, such as ["R13", "K4", "J"] or "R13 K4 J".
        table: melds, such as [["B3", "B4", "B5"]] or ["B3 B4 B5"]; J(B4) is a joker that represents B4.
        objective: "tiles" or "points".
        joker_rule: "retrieve", "free" or "locked" (rules.md 5).
        opened: whether the player has opened. If not, the play is an opening.
        initial_meld_min: points that an opening must be worth.

    Raises:
        DeckError: a tile is unknown or too frequent, a meld is not a set, or a joker is ambiguous.
        OptionError: unknown objective or joker rule.
    """
    if not isinstance(objective, str) or objective not in _OBJECTIVES:
        raise OptionError(f"an objective is {' or '.join(_OBJECTIVES)}; got {short(objective)}")
    if not isinstance(opened, bool | np.bool_):
        raise OptionError(f"opened is True or False; got {short(opened)}")
    rules = Ruleset.make(joker_rule=joker_rule, initial_meld_min=initial_meld_min)
    try:
        hand = multiset(rack)
        melds = canonical_table(_with_meanings(Meld.of(meld), joker_rule) for meld in table_of(table))
    except TypeError as error:  # for example a number instead of a list
        raise DeckError(f"rack and table must be lists of tiles and of melds, or texts ({error})") from None
    _check_tiles(hand, melds, rules)
    return solve_position(Position(rules, hand, melds, opened), objective)


def solve_position(position: Position, objective: str = "tiles") -> Solution:
    """Solve a position under its rules; see `solve`.

    Raises:
        OptionError: the solver does not support a house rule.
    """
    check_rules(position.rules)
    melds = split_table(position.table)
    p = position_record(position, objective)
    laid = _laid(best_play, p)
    kept = melds
    if position.opened and laid:
        kept = tuple(MELDS[number] for number, stays in zip(p.melds, p.kept, strict=True) if stays)
    played = sub(table_tiles((*kept, *laid)), table_tiles(melds)) if laid else EMPTY
    opening = position_record(Position(position.rules, position.rack, (), False), "opening")
    opening_melds = _laid(any_best_play, opening)
    return Solution(
        num_tiles=total(played), points=rack_points(played, position.rules.joker_value_at_end),
        played=tuple(tiles_in(played)), melds=canonical_table((*kept, *laid)), kept=canonical_table(kept),
        laid=canonical_table(laid), opening_points=sum(meld.points for meld in opening_melds),
        opening_melds=canonical_table(opening_melds),
    )  # fmt: skip


def has_play(position: Position) -> bool:
    """Return whether there is a legal PLAY.

    Raises:
        OptionError: the solver does not support a house rule.
    """
    check_rules(position.rules)
    return bool(best_value(np.zeros(1, WORK)[0], position_record(position, "tiles")) > 0)


def opening_value(rules: Ruleset, tiles: Multiset) -> int:
    """Return the value of the best opening with `tiles` alone, 0 if there is none."""
    p = position_record(Position(rules, tiles, (), False), "opening")
    return max(0, int(best_value(np.zeros(1, WORK)[0], p)))


def check_rules(rules: Ruleset) -> None:
    """Raise OptionError if the solver does not support a house rule."""
    for name, value in _HOUSE_RULES.items():
        if getattr(rules, name) != value:
            raise OptionError(f"the solver does not support {name}={getattr(rules, name)!r}, only {name}={value!r}")


def position_record(position: Position, objective: str) -> Record:
    """Return a record of POSITION, without the table if the player has not opened (4.2)."""
    rules, p = position.rules, np.zeros(1, POSITION)[0]
    p["rack"] = position.rack
    if position.opened:
        numbers = [MELD_NUMBER[meld] for meld in split_table(position.table)]
        p["num_melds"] = len(numbers)
        p["melds"][: len(numbers)] = numbers
    else:
        p["least"] = rules.initial_meld_min if objective != "opening" else 0
        if not rules.initial_meld_allow_joker:
            p["rack"][JOKER] = 0
    p["joker_rule"] = JOKER_RULES.index(rules.joker_rule)
    p["needs_both"] = rules.joker_group3_needs_both
    p["colors"], p["values"] = rules.colors, rules.values
    p["joker_points"] = rules.joker_value_at_end
    p["need"] = 1
    p["objective"] = OPENING_VALUE if objective == "opening" else _OBJECTIVES[objective]
    return p


def _laid(find: Any, p: Record) -> Table:
    """Run a kernel, `best_play` or `any_best_play`, and return the melds it lays."""
    w = np.zeros(1, WORK)[0]
    if find(w, p) <= 0:
        return ()
    return tuple(MELDS[number] for number in w.melds[: int(w.num_melds)])


def _check_tiles(hand: Multiset, table: Table, rules: Ruleset) -> None:
    for meld in table:
        reason = meld.why_invalid()
        if reason:
            raise DeckError(f"the table is invalid: {reason} (rules.md 2)")
    lacking = [
        t for t, n in enumerate(add(hand, table_tiles(table))) if n > (rules.jokers if t == JOKER else rules.copies)
    ]
    if lacking:
        raise DeckError(f"{' '.join(tile_label(tile) for tile in lacking)} occurs more often than in the game")


def _with_meanings(meld: Meld, joker_rule: str) -> Meld:
    """Return the meld with a meaning for each joker that has none: the only possible one, or any if jokers are free.

    Raises:
        DeckError: several meanings are possible.
    """
    unclear = [k for k, slot in enumerate(meld.slots) if slot.colour == UNASSIGNED]
    fitting = []
    for meanings in product(range(NUM_NATURALS), repeat=len(unclear)):
        slots = list(meld.slots)
        for k, meaning in zip(unclear, meanings, strict=True):
            slots[k] = joker(meaning)
        candidate = Meld(tuple(slots))
        if not candidate.why_invalid():
            fitting.append(candidate)
    different = {tuple(sorted(candidate.meanings)) for candidate in fitting}
    if len(different) > 1 and joker_rule != "free":
        raise DeckError(f"say which tile the joker in {meld.label} represents, as in {fitting[0].label}")
    return fitting[0] if fitting else meld
