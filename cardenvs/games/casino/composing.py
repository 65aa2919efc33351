"""Putting a capture or a build together item by item, for a card that has more of them than slots.

Sets are taken one after another, each with its loose cards in ascending order; the played card's set comes first. What
is taken stays where it is until the player is done.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.casino.plays import (
    builds_with,
    can_take_sets,
    capture_value,
    first_missing,
    high_aces,
    is_set_alone,
    loose_numerals,
    may_build,
    place_of,
    top_value,
    value_of,
)
from cardenvs.games.casino.state import (
    BUILD_0,
    HIGH_ACE_0,
    NEW,
    NO_TARGET,
    NUM_TARGETS,
    NUMBERS,
    TABLE_ONLY,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.fishing.captures import list_captures, may_take, new_captures, total_of


@kernel
def can_target(s, target):
    """Whether something can be built for a target with the card being played."""
    card, value, place = np.int64(s.playing), value_of(target), place_of(target)
    if value < 2 or value > top_value(s) or (place != NEW and s.builds[place] == 0) or not may_build(s, card, value):
        return False
    sets = new_captures()
    if target >= TABLE_ONLY:
        if not s.rules.table_only_builds or not can_take_sets(s, target):
            return False
        list_captures(loose_numerals(s), NUMBERS, value, high_aces(s, value), sets)
        most = 0
        for k in range(sets.number):
            most = max(most, count_bits(sets.sets[k]))
        return most > (1 if place == NEW else 0)
    missing = first_missing(s, card, target)
    if missing < 0:
        return False
    if is_set_alone(s, card, target, missing):
        if place != NEW:
            return True
        list_captures(loose_numerals(s), NUMBERS, value, high_aces(s, value), sets)
        if sets.number:
            return True
    return missing > 0 and may_take(loose_numerals(s), NUMBERS, missing) != 0


@kernel
def list_targets(s, out):
    """Write the targets that are possible, and return their number."""
    n = 0
    for target in range(NUM_TARGETS):
        if can_target(s, target):
            out[n] = target
            n += 1
    return n


@kernel
def takeable(s):
    """Return what can be taken next, as a bit set of items."""
    value, missing, is_alone = _sums(s)
    above = s.group  # the bits up to the highest of the group
    for shift in (1, 2, 4, 8, 16, 32):
        above |= above >> shift
    rest = loose_numerals(s) & ~s.taken & ~above
    total = total_of(s.group, NUMBERS)
    items = np.int64(0)
    if missing > 0:
        items |= may_take(rest, NUMBERS, missing - total)
    if missing == 0 or is_alone:
        items |= may_take(rest, NUMBERS, value - total)
        if s.group == 0:
            aces = high_aces(s, value) & ~s.taken
            for suit in range(4):
                items |= (aces >> 13 * suit & 1) << HIGH_ACE_0 + suit
            if s.target == NO_TARGET:
                items |= builds_with(s, value) << BUILD_0 & ~s.taken
    return items


@kernel
def _sums(s):
    """Return the value of a set, what the played card's set lacks (0: it is complete), and whether it may lack that."""
    card, target = np.int64(s.playing), np.int64(s.target)
    if target == NO_TARGET:
        return np.int64(capture_value(s, card)), np.int64(0), True
    if target >= TABLE_ONLY or s.taken != s.group:
        return np.int64(value_of(target)), np.int64(0), True
    missing = np.int64(first_missing(s, card, target))
    return np.int64(value_of(target)), missing, is_set_alone(s, card, target, missing)


@kernel
def take_item(s, item):
    """Take an item; complete the set if its sum is reached."""
    value, missing, is_alone = _sums(s)
    if item >= HIGH_ACE_0:
        s.taken |= np.int64(1) << 13 * (item - HIGH_ACE_0)
        return
    s.taken |= np.int64(1) << item
    if item >= BUILD_0:
        return
    s.group |= np.int64(1) << item
    total = total_of(s.group, NUMBERS)
    if total == missing or (total == value and (missing == 0 or is_alone)):
        s.group = 0


@kernel
def is_complete(s):
    """Whether what has been taken is a capture or a build."""
    _, missing, is_alone = _sums(s)
    if s.group or (missing > 0 and not is_alone):
        return False
    if s.target == NO_TARGET:
        return s.taken != 0
    cards = count_bits(s.taken)
    if s.target >= TABLE_ONLY:
        return cards > (1 if place_of(s.target) == NEW else 0)
    return cards > 0 or place_of(s.target) != NEW
