"""Complete hands, waits and distances of concealed tiles. Paragraph numbers are those of rules.md.

A hand is int8 (34,), the number of concealed tiles of each kind, and the number of its melds: sets that lie open, and
kans of any sort. Red fives do not matter here. A set of kinds is an int64. Most kernels work on the groups of a hand:
its three suits `m`, `p`, `s`, and its honours.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.riichi.deficits import DEFICITS, HONOUR_START, STEPS, SUIT_START, TOGETHER
from cardenvs.games.riichi.groups import (
    ONES,
    exactly_two,
    held,
    honour_group,
    in_twos,
    is_sets,
    is_sets_and_pair,
    one_of,
    ranks_of,
    strays,
    suit_group,
    sum_modulo_3,
    waits_beside_pair,
    waits_for_sets,
)
from cardenvs.games.riichi.tiles import HONOURS, NUM_KINDS, ORPHANS, bit_of
from cardenvs.kits.cards import count_bits, lowest_card

CHI, PON, OPEN_KAN, CLOSED_KAN = range(4)  # types of melds; an added kan is an OPEN_KAN

_ENDS, _HONOURS = 0o100000001, 0o1111111  # ones of the thirteen orphans, in a suit and in the honours


@kernel(inline=True)
def kinds_of(m, p, s, honours):
    """Return ones of the four groups as a set of kinds."""
    return ranks_of(m) | ranks_of(p) << 9 | ranks_of(s) << 18 | ranks_of(honours) << HONOURS


@kernel(inline=True)
def count_kinds(m, p, s, honours):
    """Return the number of different kinds in a hand."""
    return count_bits(held(m)) + count_bits(held(p)) + count_bits(held(s)) + count_bits(held(honours))


# ---------------------------------------------------------------------------------------------------------------
# Complete hands (5.1)


@kernel(entry=True)
def is_complete(counts, num_melds):
    """Return whether a hand of 14 is complete in form (5.1), with or without a yaku.

    Args:
        counts: int8 (34,), the concealed tiles, 14 - 3 * num_melds of them.
        num_melds: 0..4.
    """
    m, p, s = suit_group(counts, 0), suit_group(counts, 9), suit_group(counts, 18)
    honours = honour_group(counts)
    if num_melds == 0 and (is_seven_pairs(m, p, s, honours) or is_orphans(m, p, s, honours)):
        return True
    # One group has a pair and thus 2 tiles modulo 3, the others 0. Each kind of honours is a group.
    if strays(honours):
        return False
    pairs = count_bits(exactly_two(honours)) + (sum_modulo_3(m) == 2) + (sum_modulo_3(p) == 2) + (sum_modulo_3(s) == 2)
    return pairs == 1 and _is_complete_suit(m) and _is_complete_suit(p) and _is_complete_suit(s)


@kernel
def _is_complete_suit(group):
    """Return whether a suit consists of sets, with or without a pair."""
    rest = sum_modulo_3(group)
    if rest == 2:
        return is_sets_and_pair(group)
    return rest == 0 and is_sets(group)


@kernel(inline=True)
def is_seven_pairs(m, p, s, honours):
    """Return whether a hand of 14 has seven different pairs."""
    return (m | p | s | honours) & 5 * ONES == 0


@kernel(inline=True)
def is_orphans(m, p, s, honours):
    """Return whether a hand of 14 is thirteen orphans, one of them twice."""
    return held(m) & held(p) & held(s) == _ENDS and held(honours) == _HONOURS and _has_ends_only(m, p, s)


@kernel(inline=True)
def _has_ends_only(m, p, s):
    """Return whether all tiles of the suits are terminals."""
    return (m | p | s) & ~(7 * _ENDS) == 0


# ---------------------------------------------------------------------------------------------------------------
# Waits (4.1, 4.3)


@kernel(entry=True)
def waits(counts, num_melds):
    """Return the set of kinds that complete a hand of 13 in form (5.1), with or without a yaku.

    A kind of which the hand conceals all four tiles is not among them (8.1).

    Args:
        counts: int8 (34,), the concealed tiles, 13 - 3 * num_melds of them.
        num_melds: 0..4.
    """
    honours = honour_group(counts)
    # Most hands have stray honours and wait for nothing. With six kinds of honours they may be orphans.
    if count_bits(strays(honours)) > 1 and count_bits(held(honours)) < 6:
        return np.int64(0)
    return waits_of_groups(suit_group(counts, 0), suit_group(counts, 9), suit_group(counts, 18), honours, num_melds)


@kernel
def waits_of_groups(m, p, s, honours, num_melds):
    """Return the waits of a hand of 13, given as its groups."""
    found = _waits_for_sets_and_pair(m, p, s, honours)
    if num_melds == 0:
        found |= _waits_for_seven_pairs(m, p, s, honours) | _waits_for_orphans(m, p, s, honours)
    return found


@kernel(inline=True)
def _waits_for_sets_and_pair(m, p, s, honours):
    """Return the kinds that complete four sets and a pair.

    In a complete hand one group has 2 tiles modulo 3, and the others have 0; each kind of honours is a group. So with
    one tile less, either one group has 1, and all others are complete; or two have 2, and one of them has the pair.
    """
    rest_m, rest_p, rest_s = sum_modulo_3(m), sum_modulo_3(p), sum_modulo_3(s)
    ones = count_bits(strays(honours)) + (rest_m == 1) + (rest_p == 1) + (rest_s == 1)
    twos = count_bits(exactly_two(honours)) + (rest_m == 2) + (rest_p == 2) + (rest_s == 2)
    if not ((ones == 1 and twos == 0) or (ones == 0 and twos == 2)):
        return np.int64(0)
    if not ((rest_m or is_sets(m)) and (rest_p or is_sets(p)) and (rest_s or is_sets(s))):
        return np.int64(0)
    if ones:
        found = ranks_of(strays(honours) & ~(honours >> 2)) << HONOURS
        found |= waits_beside_pair(m) if rest_m else 0
        found |= (waits_beside_pair(p) if rest_p else 0) << 9
        return found | (waits_beside_pair(s) if rest_s else 0) << 18
    has_m, has_p = rest_m == 2 and is_sets_and_pair(m), rest_p == 2 and is_sets_and_pair(p)
    has_s = rest_s == 2 and is_sets_and_pair(s)
    with_pair = count_bits(exactly_two(honours)) + has_m + has_p + has_s
    found = (ranks_of(exactly_two(honours)) if with_pair == 2 else 0) << HONOURS
    found |= waits_for_sets(m) if rest_m and with_pair > has_m else 0
    found |= (waits_for_sets(p) if rest_p and with_pair > has_p else 0) << 9
    return found | (waits_for_sets(s) if rest_s and with_pair > has_s else 0) << 18


@kernel(inline=True)
def _waits_for_seven_pairs(m, p, s, honours):
    """Return the kind that completes seven pairs, as a set: there are six pairs and one single tile."""
    odd = count_bits(m & ONES) + count_bits(p & ONES) + count_bits(s & ONES) + count_bits(honours & ONES)
    if odd != 1 or count_kinds(m, p, s, honours) != 7 or (m | p | s | honours) & 4 * ONES:
        return np.int64(0)
    return kinds_of(m & ONES, p & ONES, s & ONES, honours & ONES)


@kernel(inline=True)
def _waits_for_orphans(m, p, s, honours):
    """Return the kinds that complete thirteen orphans."""
    number = count_kinds(m, p, s, honours)
    if number < 12 or not _has_ends_only(m, p, s):
        return np.int64(0)
    return ORPHANS if number == 13 else ORPHANS & ~kinds_of(held(m), held(p), held(s), held(honours))


@kernel(entry=True)
def riichi_discards(counts, num_melds):
    """Return the set of kinds whose discard leaves a hand of 14 waiting (4.1). All melds are taken for closed kans.

    Args:
        counts: int8 (34,), the concealed tiles, 14 - 3 * num_melds of them.
        num_melds: 0..4.
    """
    m, p, s = suit_group(counts, 0), suit_group(counts, 9), suit_group(counts, 18)
    honours, found = honour_group(counts), np.int64(0)
    if shanten_of_groups(m, p, s, honours, num_melds) > 0:
        return found
    for rank in range(9):
        one = one_of(rank)
        if counts[rank] and waits_of_groups(m - one, p, s, honours, num_melds):
            found |= bit_of(rank)
        if counts[9 + rank] and waits_of_groups(m, p - one, s, honours, num_melds):
            found |= bit_of(9 + rank)
        if counts[18 + rank] and waits_of_groups(m, p, s - one, honours, num_melds):
            found |= bit_of(18 + rank)
        if rank < NUM_KINDS - HONOURS and counts[HONOURS + rank]:
            found |= bit_of(HONOURS + rank) if waits_of_groups(m, p, s, honours - one, num_melds) else 0
    return found


# ---------------------------------------------------------------------------------------------------------------
# Distances


@kernel(entry=True)
def shanten(counts, num_melds):
    """Return how many tiles a hand lacks to wait: 0 if it waits, -1 if it is complete.

    It is the distance to the nearest complete hand, less 1. No kind is concealed more than four times in that hand.

    Args:
        counts: int8 (34,), the concealed tiles of a hand of 13 or 14.
        num_melds: 0..4.
    """
    m, p, s = suit_group(counts, 0), suit_group(counts, 9), suit_group(counts, 18)
    return shanten_of_groups(m, p, s, honour_group(counts), num_melds)


@kernel
def shanten_of_groups(m, p, s, honours, num_melds):
    """Return the shanten of a hand, given as its groups."""
    lacking = _lacking(_suit_profile(m), _suit_profile(p), _suit_profile(s), _honour_profile(honours), num_melds)
    if num_melds == 0:
        lacking = min(lacking, _lacking_for_pairs(m, p, s, honours), _lacking_for_orphans(m, p, s, honours))
    return lacking - 1


@kernel(inline=True)
def _lacking_for_pairs(m, p, s, honours):
    """Return how many tiles a hand lacks for seven different pairs."""
    pairs = count_bits(in_twos(m)) + count_bits(in_twos(p)) + count_bits(in_twos(s)) + count_bits(in_twos(honours))
    return 7 - pairs + max(7 - count_kinds(m, p, s, honours), 0)


@kernel(inline=True)
def _lacking_for_orphans(m, p, s, honours):
    """Return how many tiles a hand lacks for thirteen orphans."""
    kinds = count_kinds(m & 7 * _ENDS, p & 7 * _ENDS, s & 7 * _ENDS, honours)
    has_pair = (in_twos(m) | in_twos(p) | in_twos(s)) & _ENDS | in_twos(honours)
    return 14 - kinds - (has_pair != 0)


@kernel(inline=True)
def _suit_profile(group):
    """Return the profile of a suit, see deficits.py."""
    state = np.int64(SUIT_START)
    for rank in range(9):
        state = np.int64(STEPS[state + (group >> 3 * rank & 7)])
    return state


@kernel(inline=True)
def _honour_profile(honours):
    """Return the profile of the honours."""
    state = np.int64(HONOUR_START)
    for k in range(NUM_KINDS - HONOURS):
        state = np.int64(STEPS[state + (honours >> 3 * k & 7)])
    return state


@kernel
def _lacking(m, p, s, honours, num_melds):
    """Return how many tiles a hand lacks for its sets and a pair, from the profiles of its groups."""
    one, other = np.int64(TOGETHER[m, p]), np.int64(TOGETHER[s, honours])
    sets, best = 4 - num_melds, np.int64(99)
    for k in range(sets + 1):
        best = min(best, np.int64(DEFICITS[one, k, 1]) + DEFICITS[other, sets - k, 0])
        best = min(best, np.int64(DEFICITS[one, k, 0]) + DEFICITS[other, sets - k, 1])
    return best


@kernel(entry=True)
def ukeire(counts, num_melds, unseen):
    """Return the set of kinds that lower the shanten of a hand of 13, if one is drawn.

    Args:
        counts: int8 (34,), the concealed tiles, 13 - 3 * num_melds of them.
        num_melds: 0..4.
        unseen: int8 (34,), how many tiles of each kind can still be drawn. Kinds with none are not in the set.
    """
    m, p, s = suit_group(counts, 0), suit_group(counts, 9), suit_group(counts, 18)
    honours, can_draw, found = honour_group(counts), np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        can_draw |= bit_of(kind) if unseen[kind] > 0 and counts[kind] < 4 else 0
    shanten_before = shanten_of_groups(m, p, s, honours, num_melds)
    if num_melds == 0:
        if _lacking_for_pairs(m, p, s, honours) - 1 == shanten_before:
            found |= _kinds_for_pairs(m, p, s, honours)
        if _lacking_for_orphans(m, p, s, honours) - 1 == shanten_before:
            found |= _kinds_for_orphans(m, p, s, honours)
    return (found | _kinds_for_sets(m, p, s, honours, num_melds, shanten_before + 1, can_draw)) & can_draw


@kernel(inline=True)
def _kinds_for_pairs(m, p, s, honours):
    """Return the kinds with which a hand lacks less for seven pairs: pairs to single tiles, and new kinds if needed."""
    kinds = kinds_of(held(m), held(p), held(s), held(honours))
    singles = kinds & ~kinds_of(in_twos(m), in_twos(p), in_twos(s), in_twos(honours))
    return singles | ~kinds if count_bits(kinds) < 7 else singles


@kernel(inline=True)
def _kinds_for_orphans(m, p, s, honours):
    """Return the kinds with which a hand lacks less for thirteen orphans."""
    if ORPHANS & kinds_of(in_twos(m), in_twos(p), in_twos(s), in_twos(honours)):
        return ORPHANS & ~kinds_of(held(m), held(p), held(s), held(honours))
    return ORPHANS


@kernel
def _kinds_for_sets(m, p, s, honours, num_melds, before, can_draw):
    """Return those kinds of `can_draw` with which a hand lacks less than `before` for its sets and a pair."""
    of_m, of_p, of_s, of_honours = _suit_profile(m), _suit_profile(p), _suit_profile(s), _honour_profile(honours)
    found = np.int64(0)
    if _lacking(of_m, of_p, of_s, of_honours, num_melds) > before:
        return found
    while can_draw:
        kind = lowest_card(can_draw)
        can_draw &= can_draw - 1
        one = one_of(kind % 9)
        if kind < 9:
            lacking = _lacking(_suit_profile(m + one), of_p, of_s, of_honours, num_melds)
        elif kind < 18:
            lacking = _lacking(of_m, _suit_profile(p + one), of_s, of_honours, num_melds)
        elif kind < HONOURS:
            lacking = _lacking(of_m, of_p, _suit_profile(s + one), of_honours, num_melds)
        else:
            lacking = _lacking(of_m, of_p, of_s, _honour_profile(honours + one), num_melds)
        found |= bit_of(kind) if lacking < before else 0
    return found


@kernel(entry=True)
def count_ukeire(counts, num_melds, unseen):
    """Return how many of the unseen tiles, int8 (34,), lower the shanten of a hand of 13."""
    kinds, number = ukeire(counts, num_melds, unseen), np.int64(0)
    while kinds:
        number += unseen[lowest_card(kinds)]
        kinds &= kinds - 1
    return number
