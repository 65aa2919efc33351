"""Captures of fishing games: cards on the table that a played card takes because they add up to its value.

A *group* is a set of cards with a given sum. A *capture* is a union of disjoint groups. They are listed in a fixed
order: the groups depth first by their lowest cards, then unions of two and more of them, each in the order in which
extending an earlier capture by a later group finds it first. Different groups can have the same union; it is listed
once.

The number of captures is unbounded for practical purposes if players lay many cards and take none, so a list stops at
MAX_CAPTURES, and says so. `may_take` then lets a player put a capture together card by card.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.kits.cards import count_bits, highest_card, lowest_card

MAX_CAPTURES = 30

# A list of captures: bit sets of cards. `overflows` is 1 if there are more than the list holds.
CAPTURES = packed(
    [
        ("sets", "i8", (MAX_CAPTURES,)),
        ("last_group", "i8", (MAX_CAPTURES,)),  # the last group of each, as an index into `sets`
        ("number", "i8"),
        ("num_groups", "i8"),  # the first of `sets`
        ("overflows", "i8"),
    ]
)
new_captures = stack_record(CAPTURES)


@kernel
def list_captures(table, values, total, alone, found):
    """Fill `found`, a CAPTURES record, with the captures of cards on the table.

    Args:
        table: bit set (int64) of the cards that may be taken.
        values: int array, by card: its value on the table, at least 1.
        total: what each group adds up to.
        alone: bit set (int64) of what else is a group by itself, such as a build.
        found: record from `new_captures`.
    """
    list_groups(table, values, total, found)
    while alone and not found.overflows:
        add_capture(found, alone & -alone, found.number)
        alone &= alone - 1
    if not found.overflows:
        found.num_groups = found.number
        _list_unions(found)


@kernel
def list_groups(table, values, total, found):
    """Fill `found` with single groups; the arguments are as for `list_captures`."""
    found.number = found.num_groups = found.overflows = 0
    chosen, left, rest = np.int64(0), np.int64(total), np.int64(table)
    while rest or chosen:
        if rest:
            bit = rest & -rest
            rest ^= bit
            value = values[lowest_card(bit)]
            if value < left:
                chosen |= bit
                left -= value
            elif value == left:
                add_capture(found, chosen | bit, found.number)
                if found.overflows:
                    return
        else:
            last = highest_card(chosen)
            chosen ^= last
            left += values[lowest_card(last)]
            rest = table & ~(2 * last - 1)
    found.num_groups = found.number


@kernel
def _list_unions(found):
    """Extend each capture by every later group that is disjoint from it."""
    k = 0
    while k < found.number:
        for group in range(found.last_group[k] + 1, found.num_groups):
            if found.sets[k] & found.sets[group] == 0:
                union = found.sets[k] | found.sets[group]
                if not _is_listed(found, union):
                    add_capture(found, union, group)
                    if found.overflows:
                        return
        k += 1


@kernel(inline=True)
def add_capture(found, cards, group):
    """Add a capture to the list, unless that is full."""
    if found.number == MAX_CAPTURES:
        found.overflows = 1
    else:
        found.sets[found.number] = cards
        found.last_group[found.number] = group
        found.number += 1


@kernel(inline=True)
def _is_listed(found, cards):
    is_listed = False
    for k in range(found.number):
        is_listed = is_listed or found.sets[k] == cards
    return is_listed


@kernel
def total_of(cards, values):
    """Return the sum of the values, by card, of a bit set of cards."""
    total = np.int64(0)
    while cards:
        total += values[lowest_card(cards)]
        cards &= cards - 1
    return total


@kernel
def keep_maximal(found):
    """Drop the captures that are part of another one in the list."""
    kept = np.int64(0)
    for k in range(found.number):
        cards, is_maximal = found.sets[k], True
        for other in range(found.number):
            if other != k and found.sets[other] & cards == cards and found.sets[other] != cards:
                is_maximal = False
        if is_maximal:
            found.last_group[kept] = cards  # `sets` is still needed as it is
            kept += 1
    found.number = kept
    for k in range(kept):
        found.sets[k] = found.last_group[k]


@kernel
def keep_largest(found):
    """Keep only the capture of most cards, the first of equal ones."""
    best = 0
    for k in range(1, found.number):
        if count_bits(found.sets[k]) > count_bits(found.sets[best]):
            best = k
    if found.number:
        found.sets[0] = found.sets[best]
        found.number = 1


@kernel
def may_take(cards, values, missing):
    """Return the cards that can be taken next, as a bit set, so that some of `cards` add up to `missing`.

    Args:
        cards: bit set (int64); a group is put together in ascending order, so only cards above the last one.
        values: int array, by card.
        missing: what the group still lacks.
    """
    possible, rest = np.int64(0), cards
    while rest:
        bit = rest & -rest
        rest ^= bit
        value = values[lowest_card(bit)]
        if value <= missing and _adds_up(rest, values, missing - value):
            possible |= bit
    return possible


@kernel
def _adds_up(cards, values, total):
    """Whether some of `cards` add up to `total`, 0 to 62; none add up to 0."""
    sums = np.int64(1)  # bit n: n can be reached
    while cards:
        sums |= sums << values[lowest_card(cards)]
        cards &= cards - 1
    return sums >> total & 1 == 1
