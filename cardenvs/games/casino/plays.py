"""What a card can capture and build in Casino (rules.md 4 and 5)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.casino import state
from cardenvs.games.casino.state import (
    BUILD_0,
    COURTS,
    HIGH_ACE,
    MAX_BUILD_SLOTS,
    MAX_BUILDS,
    NEW,
    NUMBERS,
    TABLE_ONLY,
    TOP_ROYAL,
    TOP_VALUE,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.fishing.captures import list_captures, list_groups, new_captures
from cardenvs.kits.fishing.state import ACES

_IMPOSSIBLE = -1
_FIRST_RANK = sum(1 << 13 * suit for suit in range(4))

# A list of builds: loose cards that are built in, and targets. `overflows` is 1 if there are more than the list holds.
_BUILDS = packed(
    [
        ("cards", "i8", (MAX_BUILD_SLOTS,)),
        ("targets", "i8", (MAX_BUILD_SLOTS,)),
        ("number", "i8"),
        ("overflows", "i8"),
    ]
)
new_builds = stack_record(_BUILDS)


# ---------------------------------------------------------------------------------------------------------------
# Numbers


@kernel(inline=True)
def is_numeral(s, card):
    """Whether a card has a number (1.2, 1.3)."""
    return s.rules.royal != 0 or COURTS >> card & 1 == 0


@kernel(inline=True)
def loose_numerals(s):
    """Return the loose cards that have a number, as a bit set."""
    return s.table if s.rules.royal else s.table & ~COURTS


@kernel(inline=True)
def high_aces(s, value):
    """Return the loose aces, as a bit set, if they make a set with this value by themselves (1.3)."""
    return s.table & ACES if s.rules.royal and value == HIGH_ACE else np.int64(0)


@kernel(inline=True)
def capture_value(s, card):
    """Return what a numeral captures; an ace with `royal` 14, which includes all that it captures as a 1."""
    return HIGH_ACE if s.rules.royal and NUMBERS[card] == 1 else NUMBERS[card]


@kernel(inline=True)
def cards_that_count(value):
    """Return all cards that capture a build with this value, as a bit set."""
    return np.int64(_FIRST_RANK) << (value - 1) % (HIGH_ACE - 1)


@kernel(inline=True)
def top_value(s):
    """Return the highest value of a build (5.1)."""
    return TOP_ROYAL if s.rules.royal else TOP_VALUE


# ---------------------------------------------------------------------------------------------------------------
# Captures


@kernel
def list_card_captures(s, card, found):
    """Fill `found` with what a card can capture: bit sets of loose cards and builds (4.1, 4.2)."""
    if is_numeral(s, card):
        value = capture_value(s, card)
        alone = high_aces(s, value) | builds_with(s, value) << BUILD_0
        list_captures(loose_numerals(s), NUMBERS, value, alone, found)
        return
    like = s.table & cards_that_count(NUMBERS[card])
    every, number = like, count_bits(like)
    found.number = found.overflows = 0
    if s.rules.court_capture != state.COURTS_ALL:
        while like:
            found.sets[found.number] = like & -like
            found.number += 1
            like &= like - 1
    if every and (s.rules.court_capture == state.COURTS_ALL or _takes_three(s, number)):
        found.sets[found.number] = every
        found.number += 1


@kernel(inline=True)
def _takes_three(s, number):
    return s.rules.court_capture == state.COURTS_ONE_OR_THREE and number == 3


@kernel(inline=True)
def builds_with(s, value):
    """Return which builds have a value, as a bit set."""
    found = np.int64(0)
    for k in range(MAX_BUILDS):
        if s.builds[k] and s.build_values[k] == value:
            found |= np.int64(1) << k
    return found


# ---------------------------------------------------------------------------------------------------------------
# Builds


@kernel(inline=True)
def target_of(place, value):
    """Return the target for a build in a place, a build on the table or NEW."""
    return value + 16 * (place + 1)


@kernel(inline=True)
def value_of(target):
    """Return the value that a target builds."""
    return target & 15


@kernel(inline=True)
def place_of(target):
    """Return the build that a target adds to or raises, or NEW."""
    return (target % TABLE_ONLY >> 4) - 1


@kernel
def list_card_builds(s, card, found):
    """Fill `found` with what a card can build (5), by value, then place."""
    found.number = found.overflows = 0
    sets, firsts = new_captures(), new_captures()
    for value in range(2, top_value(s) + 1):
        if may_build(s, card, value):
            _list_builds_of(s, card, value, firsts, sets, found)


@kernel
def can_build(s, card, value):
    """Whether a card could build `value`, if the player held another one to take it."""
    found, sets, firsts = new_builds(), new_captures(), new_captures()
    found.number = found.overflows = 0
    _list_builds_of(s, card, value, firsts, sets, found)
    return found.number > 0


@kernel
def _list_builds_of(s, card, value, firsts, sets, found):
    """Add what a card can build with a value to `found`; `firsts` and `sets` are room to work in."""
    list_captures(loose_numerals(s), NUMBERS, value, high_aces(s, value), sets)
    for place in range(NEW, MAX_BUILDS):
        if place != NEW and s.builds[place] == 0:
            continue
        target = target_of(place, value)
        missing = first_missing(s, card, target)
        if missing != _IMPOSSIBLE:
            _add_builds(s, card, target, missing, firsts, sets, found)
        if s.rules.table_only_builds and can_take_sets(s, target):
            _add_unions(found, 0, TABLE_ONLY + target, sets)


@kernel
def may_build(s, card, value):
    """Whether the player to act can take a build with this value later, after playing `card` (5.1, 5.9)."""
    player = s.current_player
    if s.hands[player] & ~(np.int64(1) << card) & cards_that_count(value):
        return True
    return partner_can_take(s, value)


@kernel
def partner_can_take(s, value):
    """Whether the player to act needs no card for a build of `value`, since the partner owns another one (5.9)."""
    if not s.rules.build_for_partner:
        return False
    partner = (s.current_player + 2) % 4
    for k in range(MAX_BUILDS):
        if s.builds[k] != 0 and s.build_owners[k] == partner and s.build_values[k] == value:
            return True
    return False


@kernel
def first_missing(s, card, target):
    """Return what loose cards must add to the played card in its set, or _IMPOSSIBLE (5.2 to 5.4, 5.7)."""
    value, place = value_of(target), place_of(target)
    if not is_numeral(s, card):
        return np.int64(_IMPOSSIBLE)
    missing = value - NUMBERS[card]
    if can_take_sets(s, target):
        return max(missing, _IMPOSSIBLE)
    if place == NEW or not _can_raise(s, place, value):
        return np.int64(_IMPOSSIBLE)
    missing -= s.build_values[place]
    return max(missing, _IMPOSSIBLE) if missing == 0 or s.rules.raise_with_table_cards else np.int64(_IMPOSSIBLE)


@kernel
def can_take_sets(s, target):
    """Whether a new build can be made, or a build has this value already and can be added to (5.3, 5.7, 10.3)."""
    value, place = value_of(target), place_of(target)
    if place != NEW:
        return s.build_values[place] == value
    is_room = False
    for k in range(MAX_BUILDS):
        is_room = is_room or s.builds[k] == 0
    return is_room and (s.rules.same_value_builds != 0 or builds_with(s, value) == 0)


@kernel
def _can_raise(s, place, value):
    """Whether a build can be raised to this value (5.4, 5.5, 5.7)."""
    if s.build_sets[place] > 1 or s.build_values[place] > value:
        return False
    if s.build_owners[place] == s.current_player and not s.rules.raise_own_build:
        return False
    return s.rules.same_value_builds != 0 or builds_with(s, value) == 0


@kernel(inline=True)
def is_set_alone(s, card, target, missing):
    """Whether the played card makes or completes a set without loose cards; an ace may count 14 (1.3)."""
    is_high_ace = s.rules.royal != 0 and NUMBERS[card] == 1 and missing == HIGH_ACE - 1
    return missing == 0 or is_high_ace


@kernel
def _add_builds(s, card, target, missing, firsts, sets, found):
    """Add the builds with `card` in them: its set, alone or with other sets."""
    if is_set_alone(s, card, target, missing):
        if place_of(target) != NEW:
            _add(found, np.int64(0), target)
        _add_unions(found, 0, target, sets)
    if missing > 0:
        list_groups(loose_numerals(s), NUMBERS, missing, firsts)
        for k in range(firsts.number):
            _add(found, firsts.sets[k], target)
            _add_unions(found, firsts.sets[k], target, sets)
        found.overflows |= firsts.overflows


@kernel
def _add_unions(found, first, target, sets):
    """Add each capture in `sets` that is disjoint from `first`, together with it."""
    for k in range(sets.number):
        cards = first | sets.sets[k]
        is_one_card = target // TABLE_ONLY and place_of(target) == NEW and cards & (cards - 1) == 0
        if first & sets.sets[k] == 0 and not is_one_card:
            _add(found, cards, target)
    found.overflows |= sets.overflows


@kernel
def _add(found, cards, target):
    for k in range(found.number):
        if found.cards[k] == cards and found.targets[k] == target:
            return
    if found.number == MAX_BUILD_SLOTS:
        found.overflows = 1
    else:
        found.cards[found.number] = cards
        found.targets[found.number] = target
        found.number += 1


@kernel
def sets_of(value, total):
    """Return how many sets with a value cards make whose numbers add up to `total`, with aces as 1.

    For 14, each ace that counts 14 adds 13 more; the remainder says how many do.
    """
    if value == HIGH_ACE:
        total += (HIGH_ACE - 1) * (total % HIGH_ACE)
    return total // value
