"""Whether a turn can be completed: the initial minimum reached, a card to discard and one to hold, or going out.

A turn that has begun to lay melds ends in one of two ways (rules.md 3.4): the player discards and holds a card, or goes
out. `can_reach` answers the first, `can_go_out` the second; both are exact. Paragraph numbers are those of rules.md.

Which wild cards lie where hardly matters: their points count in any meld, and jokers are worth more than twos. So the
most points come from laying all natural cards that can be laid, opening pairs with one wild card each, the dearest
first, and then laying wild cards while there is room, jokers first. A search over subsets is only needed when this
would use more cards than may be laid, which is when nearly the whole hand can be melded.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.scratch import stack_copy
from cardenvs.games.canasta import state

_NONE = -1
_DIGIT = 4  # bits of a number of cards in a packed integer


@kernel
def can_complete(s, player):
    """Whether `player`, who has laid what is on the table, can complete the turn (3.4)."""
    if s.answer != state.MUST_GO_OUT:
        most = s.hand_sizes[player] + pile_gain(s) - (1 if s.no_discard else 2)
        if can_reach(s, player, s.needed if s.has_laid else 0, most):
            return True
    return can_go_out(s, player)


@kernel(inline=True)
def pile_gain(s):
    """Return the number of cards that the hand will get when the rest of the pile is taken (6.1)."""
    return s.num_pile - s.pile_reds if s.phase == state.TAKE else 0


@kernel(inline=True)
def wild_room(s, naturals):
    """Return the most wild cards in a meld with so many natural ones (4.3)."""
    if s.rules.wilds_fewer_than_naturals:
        return min(s.rules.max_wilds_per_meld, naturals - 1)
    return s.rules.max_wilds_per_meld


@kernel(inline=True)
def _wild_points(s, player, number):
    """Return the points of the `number` dearest wild cards in hand."""
    jokers = min(number, s.kinds[player, state.JOKER])
    return jokers * state.KIND_POINTS[state.JOKER] + (number - jokers) * state.KIND_POINTS[state.TWO]


# ---------------------------------------------------------------------------------------------------------------
# The initial minimum


@kernel
def can_reach(s, player, needed, most):
    """Whether melds of at most `most` cards from the hand of `player` can add `needed` points."""
    if most < 0 or needed <= 0:
        return most >= 0
    points, cards = _most_points(s, player)
    if points < needed:
        return False
    return cards <= most or _some_subset_reaches(s, player, needed, most)


@kernel
def _most_points(s, player):
    """Return the most points that the hand of `player` can add, black threes apart, and how many cards that takes."""
    side = state.side_of(s, player)
    points = cards = room = num_pairs = 0
    pairs = np.int64(0)  # number of pairs by points: 5 in bits 0..7, 10 in 8..15, 20 in 16..23
    for m in range(s.first_meld, state.NUM_RANKS):
        n, old = np.int64(s.kinds[player, m]), np.int64(s.naturals[side, m])
        if old > 0 or n >= 3:
            points += n * state.KIND_POINTS[m]
            cards += n
            room += wild_room(s, old + n) - state.wilds_in(s, side, m)
        elif n == 2 and wild_room(s, n) > 0:
            pairs += np.int64(1) << 8 * (state.KIND_POINTS[m] // 10)
            num_pairs += 1
    wilds = np.int64(s.kinds[player, state.JOKER] + s.kinds[player, state.TWO])
    opened = min(num_pairs, wilds)
    best, best_cards = _points_with_pairs(s, player, points, cards, room, pairs, opened, wilds)
    if s.rules.wild_only_melds:  # fewer pairs may leave enough wild cards for a meld of their own
        for fewer in range(opened):
            other, other_cards = _points_with_pairs(s, player, points, cards, room, pairs, fewer, wilds)
            if other > best:
                best, best_cards = other, other_cards
    return best, best_cards


@kernel
def _points_with_pairs(s, player, points, cards, room, pairs, opened, wilds):
    """Return points and cards if the `opened` dearest pairs are opened with one wild card each."""
    room += opened * wild_room(s, 2)
    cards += 2 * opened
    left = opened
    for value in range(2, -1, -1):
        number = min(left, pairs >> 8 * value & 255)
        points += 2 * number * (10 * value if value else 5)
        left -= number
    used = wilds
    if not _fits_wild_meld(s, player, wilds - opened):
        used = min(used, room)
    return points + _wild_points(s, player, used), cards + used


@kernel(inline=True)
def _fits_wild_meld(s, player, spare):
    """Whether any number of wild cards can be laid, `spare` of which are free for a meld of their own (4.6)."""
    if not s.rules.wild_only_melds or s.first_meld > state.WILD_MELD:
        return False
    return spare >= 3 or state.meld_size(s, state.side_of(s, player), state.WILD_MELD) > 0


@kernel
def _some_subset_reaches(s, player, needed, most):
    """Try all numbers of natural cards of each rank, as the digits of a counter."""
    digits = np.int64(0)
    while True:
        if _numbers_reach(s, player, digits, needed, most):
            return True
        m = np.int64(s.first_meld)
        while m < state.NUM_RANKS:
            digit = _next_number(s, player, m, digits >> _DIGIT * m & 15)
            digits &= ~(np.int64(15) << _DIGIT * m)
            if digit <= s.kinds[player, m]:
                digits |= digit << _DIGIT * m
                break
            m += 1
        if m == state.NUM_RANKS:
            return False


@kernel(inline=True)
def _next_number(s, player, m, number):
    """Return the next number of natural cards that may be laid: a new meld takes none or at least two."""
    if number == 0 and s.naturals[state.side_of(s, player), m] == 0:
        return np.int64(2)
    return number + 1


@kernel
def _numbers_reach(s, player, digits, needed, most):
    side = state.side_of(s, player)
    points = cards = room = least = 0
    for m in range(s.first_meld, state.NUM_RANKS):
        n, old = digits >> _DIGIT * m & 15, np.int64(s.naturals[side, m])
        if n + old == 0:
            continue
        points += n * state.KIND_POINTS[m]
        cards += n
        room += wild_room(s, n + old) - state.wilds_in(s, side, m)
        if old == 0 and n == 2:
            least += 1
            if wild_room(s, n) == 0:
                return False
    used = min(s.kinds[player, state.JOKER] + s.kinds[player, state.TWO], most - cards)
    if used < least:
        return False
    if not _fits_wild_meld(s, player, used - least):
        used = min(used, room)
    return points + _wild_points(s, player, used) >= needed


# ---------------------------------------------------------------------------------------------------------------
# Going out


@kernel
def can_go_out(s, player):
    """Whether `player` can go out in this turn by laying all cards but at most one (7.1)."""
    if s.answer == state.MAY_NOT_GO_OUT or _num_stuck(s, player) > 1:
        return False
    gain = pile_gain(s)
    if gain > 1:
        return False  # after the pile there are two cards to hold, so `can_reach` has decided
    missing = state.canastas_to_go_out(s) - state.num_canastas(s, state.side_of(s, player))
    points = np.int64(0)
    for kind in range(state.NUM_KINDS):
        points += s.kinds[player, kind] * state.KIND_POINTS[kind]
    if s.phase == state.TAKE and gain == 1:
        late = _last_of_pile(s)
        return points >= s.needed and (lays_all(s, player, missing, _NONE) or lays_all(s, player, missing, late))
    if (points >= s.needed or is_exempt(s, player)) and lays_all(s, player, missing, _NONE):
        return True
    return not s.no_discard and _goes_out_with_one_left(s, player, missing, points)


@kernel
def _goes_out_with_one_left(s, player, missing, points):
    """Whether all cards but one can be laid, which is discarded, or laid after the pile has been taken."""
    for kind in range(state.NUM_KINDS):
        if s.kinds[player, kind] == 0:
            continue
        if points - state.KIND_POINTS[kind] < s.needed and not is_exempt(s, player):
            continue
        tried = stack_copy(s)
        tried.kinds[player, kind] -= 1
        if lays_all(tried, player, missing, _NONE) or (
            s.phase == state.TAKE and lays_all(tried, player, missing, kind)
        ):
            return True
    return False


@kernel(inline=True)
def is_exempt(s, player):
    """Whether going out needs no initial minimum now: nothing melded before, and the pile not taken (7.4)."""
    return s.rules.concealed_exempt_from_minimum and s.old_melds == 0 and not s.has_taken


@kernel
def _last_of_pile(s):
    """Return the kind of the only card in the pile that is not a red three."""
    for place in range(s.num_pile):
        if state.KIND_OF[s.pile[place]] != state.RED_THREE:
            return state.KIND_OF[s.pile[place]]
    return np.int64(state.RED_THREE)


@kernel
def _num_stuck(s, player):
    """Return the number of natural cards in hand that certainly cannot be laid in this turn."""
    side = state.side_of(s, player)
    number = 0
    for m in range(state.NUM_RANKS):
        n = s.kinds[player, m]
        if n > 0 and (m < s.first_meld or (n == 1 and s.naturals[side, m] == 0)):
            number += n
    return number


@kernel
def lays_all(s, player, missing, late):
    """Whether all cards in hand can be laid such that `missing` more canastas are completed.

    Args:
        late: kind of one more card that is laid after them, on any meld, or -1 for none.
    """
    side = state.side_of(s, player)
    black = s.kinds[player, state.BLACK_THREE]
    if late in (state.BLACK_THREE, state.RED_THREE):
        return False
    if black > 0 and (black < 3 or s.first_meld > state.BLACK_MELD or s.phase == state.TAKE):
        return False
    least = room = old_room = gained = nearly = 0
    costs = np.int64(0)  # number of canastas that cost 1, 2, 3 wild cards beyond the least, 8 bits each
    for m in range(state.NUM_RANKS):
        n, old = np.int64(s.kinds[player, m]), np.int64(s.naturals[side, m])
        after = 1 if late == m else 0
        if n + old + after == 0:
            continue
        if (m < s.first_meld and n > 0) or (old == 0 and n < 2):
            return False
        first = 1 if old == 0 and n == 2 else 0
        free = wild_room(s, old + n) - state.wilds_in(s, side, m)
        if free < first:
            return False
        size = state.meld_size(s, side, m)
        lacks = state.CANASTA_SIZE - size - n - after
        if m < s.first_meld:
            old_room += free
            if size < state.CANASTA_SIZE:
                gained += 1 if lacks <= 0 else 0
                nearly += 1 if lacks == 1 and free > 0 else 0
            continue
        least += first
        room += free
        if size < state.CANASTA_SIZE and lacks <= free:
            if lacks <= first:
                gained += 1
            else:
                costs += np.int64(1) << 8 * (lacks - first)
    wilds = np.int64(s.kinds[player, state.JOKER] + s.kinds[player, state.TWO])
    return _places_wilds(s, side, wilds, late >= state.NUM_RANKS, least, room, old_room, gained, nearly, costs, missing)


@kernel
def _places_wilds(s, side, wilds, is_late, least, room, old_room, gained, nearly, costs, missing):
    """Whether `wilds` wild cards, and one more if `is_late`, fit and complete enough canastas; see `lays_all`.

    Some of them may form, or join, a meld of wild cards alone (4.6).
    """
    alone = state.meld_size(s, side, state.WILD_MELD)
    for apart in range(wilds + 1):
        if apart > 0 and not (s.rules.wild_only_melds and s.first_meld <= state.WILD_MELD and apart + alone >= 3):
            continue
        spare = wilds - apart - least
        if spare < 0 or spare > room - least:
            continue
        canastas = gained + (1 if alone < state.CANASTA_SIZE <= alone + apart else 0)
        if not is_late:
            if canastas + _bought(costs, spare) >= missing:
                return True
            continue
        if spare < room - least and canastas + _bought(costs, spare + 1) >= missing:
            return True
        if old_room > 0 and canastas + _bought(costs, spare) + (1 if nearly > 0 else 0) >= missing:
            return True
        if s.rules.wild_only_melds and alone + apart > 0:
            late_canasta = 1 if alone + apart == state.CANASTA_SIZE - 1 else 0
            if canastas + _bought(costs, spare) + late_canasta >= missing:
                return True
    return False


@kernel
def _bought(costs, spare):
    """Return the most canastas that `spare` wild cards complete, the cheapest first."""
    number = 0
    for cost in range(1, 4):
        bought = min(costs >> 8 * cost & 255, spare // cost)
        number += bought
        spare -= bought * cost
    return number


# ---------------------------------------------------------------------------------------------------------------
# Trying


@kernel
def lay_on_trial(s, player, m, naturals, jokers, twos):
    """Lay cards on meld `m` in a copy of a state, without events; `first_meld` is left to the caller."""
    side = state.side_of(s, player)
    kind = state.BLACK_THREE if m == state.BLACK_MELD else m
    points = jokers * state.KIND_POINTS[state.JOKER] + twos * state.KIND_POINTS[state.TWO]
    if m != state.WILD_MELD:
        s.kinds[player, kind] -= naturals
        points += naturals * state.KIND_POINTS[kind]
    s.kinds[player, state.JOKER] -= jokers
    s.kinds[player, state.TWO] -= twos
    s.hand_sizes[player] -= naturals + jokers + twos
    s.naturals[side, m] += naturals
    s.jokers[side, m] += jokers
    s.twos[side, m] += twos
    s.needed -= points
