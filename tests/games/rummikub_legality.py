"""Whether a whole turn is legal, and if not, which condition fails (rules.md 3 to 5): slow and plain."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, permutations, product

from cardenvs.core.errors import IllegalActionError
from cardenvs.games.rummikub.melds import GROUP, SHORTEST, Meld, Table, canonical_table, table_tiles
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.tiles import (
    EMPTY,
    JOKER,
    NUM_NATURALS,
    Multiset,
    add,
    leq,
    tile_label,
    tile_of,
    tiles_in,
    value_of,
)

# The conditions, by name.
NOT_IN_RACK = "not_in_rack"
INVALID_MELD = "invalid_meld"
CONSERVATION = "conservation"
OPENING = "opening"
NO_RACK_TILE = "no_rack_tile"
JOKER_RULE = "joker_rule"
NOT_NOW = "not_now"  # of moves other than PLAY: the pool, or the end of the game


class IllegalMoveError(IllegalActionError):
    """A move that the rules do not allow.

    Attributes:
        condition: the name of the condition that fails, one of those above.
    """

    def __init__(self, condition: str, message: str) -> None:
        self.condition = condition
        super().__init__(message)


def check_play(position: Position, delta: Multiset, new_table: Table) -> None:
    """Raise IllegalMoveError unless the PLAY is legal (3.2).

    Args:
        position: as it stands.
        delta: the rack tiles used.
        new_table: the whole table after it, in any order.
    """
    rules = position.rules
    if not leq(delta, position.rack):
        lacking = [tile_label(t) for t in range(len(delta)) if delta[t] > position.rack[t]]
        raise IllegalMoveError(NOT_IN_RACK, f"{' '.join(lacking)} is not in the rack so often (rules.md 3.2 a)")
    for meld in new_table:
        reason = meld.why_invalid(rules.max_run)
        if reason:
            raise IllegalMoveError(INVALID_MELD, f"{reason} (rules.md 3.2 b)")
        if any(slot.colour >= rules.colors or slot.value > rules.values for slot in meld.slots):
            raise IllegalMoveError(
                INVALID_MELD, f"{meld.label} stands for a tile that is not in this game (rules.md 2.3)"
            )
    _check_conservation(position, delta, new_table)
    if delta == EMPTY:
        raise IllegalMoveError(
            NO_RACK_TILE, "no rack tile is put down; to rearrange the table alone is no play (rules.md 3.2 d)"
        )
    new_table = canonical_table(new_table)
    if not position.opened:
        _check_opening(position, delta, new_table)
    reason = _joker_fault(position, delta, new_table)
    if reason:
        raise IllegalMoveError(JOKER_RULE, reason)


def _check_conservation(position: Position, delta: Multiset, new_table: Table) -> None:
    wanted, found = add(table_tiles(position.table), delta), table_tiles(new_table)
    if wanted != found:
        lacking = [tile_label(t) for t in range(len(wanted)) if found[t] < wanted[t]]
        extra = [tile_label(t) for t in range(len(wanted)) if found[t] > wanted[t]]
        parts = [f"{' '.join(tiles)} is {what}" for tiles, what in ((lacking, "missing"), (extra, "too many")) if tiles]
        raise IllegalMoveError(
            CONSERVATION, f"the new table is not the old one and the rack tiles: {', '.join(parts)} (rules.md 3.2 c)"
        )


# ---------------------------------------------------------------------------------------------------------------
# The opening


def _check_opening(position: Position, delta: Multiset, new_table: Table) -> None:
    rules, least = position.rules, position.rules.initial_meld_min
    if delta[JOKER] and not rules.initial_meld_allow_joker:
        raise IllegalMoveError(OPENING, "no joker may be part of an opening (rules.md 4.4)")
    if not rules.initial_meld_hand_only:
        points = _laid_points(position, delta, new_table)
    elif rules.manipulate_after_opening:
        points = best_opening_value(rules, delta)
    else:
        new_melds, old_melds = Counter(new_table), Counter(position.table)
        if old_melds - new_melds:
            raise IllegalMoveError(
                OPENING, "a player who has not opened may not touch or add to the sets on the table (rules.md 4.2)"
            )
        points = sum(meld.points for meld in (new_melds - old_melds).elements())
    if points < least:
        raise IllegalMoveError(OPENING, f"the opening is worth {points}, less than {least} (rules.md 4.1)")


def best_opening_value(rules: Ruleset, tiles: Multiset) -> int:
    """The highest value of sets that can be laid from some tiles alone (4.6)."""
    from cardenvs.games.rummikub.solve import opening_value

    return opening_value(rules, tiles)


def _laid_points(position: Position, delta: Multiset, new_table: Table) -> int:
    """What the rack tiles laid count, jokers at the best of the meanings that are new on the table (4.5)."""
    new = meanings(new_table) - meanings(position.table)
    jokers = sorted((value_of(meaning) for meaning in new.elements()), reverse=True)[: delta[JOKER]]
    return sum(value_of(t) * delta[t] for t in range(NUM_NATURALS)) + sum(jokers)


# ---------------------------------------------------------------------------------------------------------------
# Jokers


def meanings(table: Iterable[Meld]) -> Counter:
    """What the jokers on a table stand for."""
    return Counter(meaning for meld in table for meaning in meld.meanings)


def _joker_fault(position: Position, delta: Multiset, new_table: Table) -> str:
    """Why the joker rule is broken, or nothing (5)."""
    rules = position.rules
    lost = meanings(position.table) - meanings(new_table)
    names = " ".join(tile_label(meaning) for meaning in lost.elements())
    if rules.joker_rule == "locked" and lost:
        return f"the joker that stands for {names} may not get another meaning (rules.md 5.7)"
    if lost and not position.opened:
        return "a player who has not opened may give no joker a new meaning (rules.md 5.4, 5.6)"
    if rules.joker_rule == "retrieve" and lost and not _can_retrieve(position, lost, new_table):
        return f"the joker that stands for {names} is not replaced by the tile it stands for (rules.md 5.2, 5.3)"
    if not _enough_rack_tiles(position, delta, new_table, lost.total()):
        return (
            f"the set that takes a retrieved joker needs {rules.retrieved_joker_rack_tiles} rack tiles (rules.md 5.9)"
        )
    if rules.joker_set_locked and not _locked_sets_stand(position.table, new_table, lost):
        return "a set with a joker is taken apart and the joker not retrieved (rules.md 5.8)"
    return ""


def _can_retrieve(position: Position, lost: Counter, new_table: Table) -> bool:
    """Whether there is a natural tile of its own on the new table for each joker with a new meaning (5.2, 5.3)."""
    naturals = Counter(slot.tile for meld in new_table for slot in meld.slots if slot.tile != JOKER)
    jokers = [(meaning, meld) for meld in position.table for meaning in meld.meanings]
    for freed in combinations(jokers, lost.total()):
        if Counter(meaning for meaning, _ in freed) != lost:
            continue
        for needs in product(*(replacements(meaning, meld, position.rules) for meaning, meld in freed)):
            if not Counter(tile for need in needs for tile in need) - naturals:
                return True
    return False


def replacements(meaning: int, meld: Meld, rules: Ruleset) -> list[tuple[int, ...]]:
    """The ways to replace a joker of `meld` that stands for `meaning`: tiles, all of which are needed (5.2, 5.3)."""
    if meld.kind != GROUP or len(meld.slots) != SHORTEST or len(meld.meanings) != 1:
        return [(meaning,)]
    taken = {slot.colour for slot in meld.slots if slot.tile != JOKER}
    value = value_of(meaning)
    missing = [tile_of(colour, value) for colour in range(rules.colors) if colour not in taken]
    return [tuple(missing)] if rules.joker_group3_needs_both else [(tile,) for tile in missing]


def _enough_rack_tiles(position: Position, delta: Multiset, new_table: Table, num_retrieved: int) -> bool:
    """Whether the melds of the retrieved jokers can have so many natural tiles from the rack (5.9)."""
    need = position.rules.retrieved_joker_rack_tiles
    if not need or not num_retrieved:
        return True
    new = meanings(new_table) - meanings(position.table)
    takers = [meld for meld in new_table for meaning in meld.meanings if meaning in new]
    for chosen in combinations(takers, num_retrieved):
        melds = list({id(meld): meld for meld in chosen}.values())
        options = [combinations([s.tile for s in meld.slots if s.tile != JOKER], need) for meld in melds]
        if any(
            not Counter(t for part in parts for t in part) - Counter(tiles_in(delta)) for parts in product(*options)
        ):
            return True
    return False


def _locked_sets_stand(table: Table, new_table: Table, lost: Counter) -> bool:
    """Whether every set with a joker is still part of a set of its own, unless its jokers are retrieved (5.8)."""
    locked = [meld for meld in table if meld.meanings]
    for freed in product((False, True), repeat=len(locked)):
        gone = Counter(m for meld, is_free in zip(locked, freed, strict=True) if is_free for m in meld.meanings)
        if gone - lost or lost - gone:
            continue
        kept = [set(meld.slots) for meld, is_free in zip(locked, freed, strict=True) if not is_free]
        if any(
            all(old <= set(new.slots) for old, new in zip(kept, chosen, strict=True))
            for chosen in permutations(new_table, len(kept))
        ):
            return True
    return False
