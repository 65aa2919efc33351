"""Melds on the table of Pinnacola: what they take, what they are worth, and laying them. No events are logged here.

Paragraph numbers are those of rules.md. `lay` changes the record alone, so that legality can be tried on a copy;
effects.py logs what it does.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.pinnacola import actions, state
from cardenvs.games.pinnacola.actions import cards_laid, parts
from cardenvs.games.pinnacola.hands import leave_hand
from cardenvs.games.pinnacola.state import JOKERS, NUM_RANKS, NUM_STEPS, RUN, SET, WILD_JOKER, side_of
from cardenvs.kits.cards import count_bits

NO_ROOM = -1  # instead of a meld
NATURAL_CELLS = np.array([-1, state.TWO, NUM_STEPS + state.TWO], np.int64)
"""For each kind of wild card the cell at which it is natural (1.4)."""

_POINTS_OF_PINNACOLONE, _POINTS_OF_JOKERS, _WILD_VALUE = 600, np.array([75, 600], np.int64), 25


@kernel(inline=True)
def num_wilds(s, m):
    """Return the number of wild cards in a run or set."""
    return s.meld_size[m] - count_bits(np.int64(s.meld_naturals[m]))


# ---------------------------------------------------------------------------------------------------------------
# What a meld takes


@kernel(inline=True)
def may_grow(s, m):
    """Return whether a run may have one card more (3.1)."""
    return s.meld_size[m] < NUM_STEPS - 1 or (s.meld_size[m] == NUM_STEPS - 1 and s.rules.ace_to_ace)


@kernel
def takes(s, m, op, x):
    """Return whether meld `m` takes the card at `x` of an action of kind `op`, whoever plays (3)."""
    kind, key, size = s.meld_kind[m], s.meld_key[m], np.int64(s.meld_size[m])
    jokers, wilds = s.meld_wilds[m, WILD_JOKER], num_wilds(s, m)
    has_room = op < actions.OP_GAP_RUN or wilds < s.rules.wilds_per_meld
    if op == actions.OP_TO_JOKERS:
        return kind == JOKERS and size == 3
    if op == actions.OP_TO_SET or op == actions.OP_SWAP_SET:
        if kind != SET or key != x % NUM_RANKS or s.meld_naturals[m] >> x // NUM_RANKS & 1:
            return False
        return size < state.MAX_SET if op == actions.OP_TO_SET else jokers > 0
    if op == actions.OP_WILD_TO_SET:
        return kind == SET and key == x and size < state.MAX_SET and has_room
    if kind != RUN or key != x // NUM_STEPS:
        return False
    step = x % NUM_STEPS
    if op == actions.OP_SWAP_RUN:
        return (jokers >> step & 1) == 1
    is_above = op == actions.OP_ABOVE or op == actions.OP_WILD_ABOVE
    return step == s.meld_low[m] + (size if is_above else -1) and has_room and may_grow(s, m)


@kernel(inline=True)
def is_swap(op):
    """Return whether an action replaces a joker."""
    return op == actions.OP_SWAP_RUN or op == actions.OP_SWAP_SET


@kernel(inline=True)
def may_touch_others(s, op):
    """Return whether a card may be added to other sides' melds, or a joker taken out of them (4.4, 4.5)."""
    if s.phase == state.USE:
        return False
    return s.rules.joker_replace == state.ANY_SIDE if is_swap(op) else s.rules.attach == state.ATTACH_ANY


@kernel(inline=True)
def _is_same(s, a, b):
    """Return whether two melds differ in nothing, so that it does not matter which one gets a card."""
    return s.meld_shape[a] == s.meld_shape[b]


@kernel
def nth_meld(s, op, x, k):
    """Return the k-th meld that takes a card now, own ones first, or NO_ROOM (4.7)."""
    side = side_of(s.current_player)
    first, second, number = NO_ROOM, NO_ROOM, 0
    for others in range(2 if may_touch_others(s, op) else 1):
        for m in range(np.int64(s.num_melds)):
            if (s.meld_side[m] != side) == others and m != s.not_meld and takes(s, m, op, x):
                if (first >= 0 and _is_same(s, first, m)) or (second >= 0 and _is_same(s, second, m)):
                    continue
                if number == k:
                    return m
                if number == 0:
                    first = m
                else:
                    second = m
                number += 1
    return NO_ROOM


@kernel
def refresh(s, side):
    """Write the fields that follow from the melds of a side."""
    above, below, wild_above, wild_below = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    joker_cells, set_faces, joker_faces, wild_sets = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    takes_joker, pinnacola, poker, pinnacolone = False, False, False, False
    for m in range(np.int64(s.num_melds)):
        if s.meld_side[m] != side:
            continue
        key, size = np.int64(s.meld_key[m]), np.int64(s.meld_size[m])
        wilds = num_wilds(s, m)
        if s.meld_kind[m] == RUN:
            base, low = key * NUM_STEPS, np.int64(s.meld_low[m])
            joker_cells |= np.int64(s.meld_wilds[m, WILD_JOKER]) << base
            if wilds == 0:
                pinnacola = pinnacola or size >= s.rules.pinnacola_length
                pinnacolone = pinnacolone or size >= state.PINNACOLONE
            if may_grow(s, m):
                up = np.int64(low + size < NUM_STEPS) << base + low + size
                down = (np.int64(1) << low >> 1) << base
                above |= up
                below |= down
                if wilds < s.rules.wilds_per_meld:
                    wild_above |= up
                    wild_below |= down
        elif s.meld_kind[m] == SET:
            missing = actions.faces_of_set(key, np.int64(s.meld_naturals[m]) ^ 15)
            if size < state.MAX_SET:
                set_faces |= missing
                if wilds < s.rules.wilds_per_meld:
                    wild_sets |= np.int64(1) << key
            else:
                poker = True
            if s.meld_wilds[m, WILD_JOKER] > 0:
                joker_faces |= missing
        else:
            takes_joker = takes_joker or size == 3
    s.above[side], s.below[side] = above, below
    s.wild_above[side], s.wild_below[side], s.wild_sets[side] = wild_above, wild_below, wild_sets
    s.joker_cells[side], s.joker_faces[side], s.set_faces[side] = joker_cells, joker_faces, set_faces
    s.takes_joker[side], s.has_poker[side] = takes_joker, poker
    s.has_pinnacola[side], s.has_pinnacolone[side] = pinnacola, pinnacolone


@kernel
def fits(s, player, face):
    """Return whether a card could be added to a meld by `player` (5.3)."""
    for side in range(state.NUM_SIDES):
        if side != side_of(player) and s.rules.attach != state.ATTACH_ANY:
            continue
        if face == state.JOKER:
            if s.wild_above[side] | s.wild_below[side] | s.wild_sets[side] or s.takes_joker[side]:
                return True
            continue
        cells = state.cells_of(np.int64(1) << face)
        if (s.above[side] | s.below[side]) & cells or s.set_faces[side] >> face & 1:
            return True
        is_wild = s.rules.pinelle and face % NUM_RANKS == state.TWO
        if is_wild and ((s.wild_above[side] | s.wild_below[side]) & ~cells or s.wild_sets[side]):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# Laying cards


@kernel
def lay(s, player, action):
    """Meld cards from the hand of `player`, or replace a joker, and return the meld (4.3 to 4.5)."""
    op, x, y, wild = parts(action)
    is_new = op < actions.OP_ABOVE or op == actions.OP_GAP_RUN or op == actions.OP_WILD_SET or op == actions.OP_DOUBLE
    m = np.int64(s.num_melds)
    if is_new:
        _begin(s, side_of(player), op, x, y, wild)
    else:
        m = nth_meld(s, op, x, y)
        _extend(s, m, op, x, wild)
    side = np.int64(s.meld_side[m])
    faces, second, jokers, spades, clubs = cards_laid(action)
    _move(s, player, side, faces)
    if second:
        _move(s, player, side, second)
    if spades | clubs:
        for _ in range(spades):
            _move(s, player, side, np.int64(1) << state.TWO_OF_SPADES)
        for _ in range(clubs):
            _move(s, player, side, np.int64(1) << state.TWO_OF_CLUBS)
    if is_swap(op):
        jokers = np.int64(-1)
    s.jokers[player] -= jokers
    s.known_jokers[player] = max(np.int64(s.known_jokers[player]) - jokers, 0)
    s.hand_sizes[player] -= jokers
    s.melded_jokers[side] += jokers
    describe(s, m)
    refresh(s, side)
    return m


@kernel(inline=True)
def describe(s, m):
    """Write the fields that follow from a meld which has changed, but for those of `refresh`."""
    points = points_of(s, m)
    s.points[s.meld_side[m]] += points - s.meld_points[m]
    s.meld_points[m] = points
    s.meld_shape[m] = shape_of(s, m)


@kernel
def _move(s, player, side, faces):
    """Move one card of each face of a bit set from a hand to the melds of a side."""
    leave_hand(s, player, faces)
    s.hand_sizes[player] -= count_bits(faces)
    s.melded_twice[side] |= s.melded[side] & faces
    s.melded[side] |= faces


@kernel(inline=True)
def _begin(s, side, op, x, y, wild):
    """Begin a meld; `op`, `x`, `y` and `wild` are the parts of the action."""
    kind, key, low, size = RUN, x // NUM_STEPS, x % NUM_STEPS, 3
    one, another = np.int64(0), np.int64(0)  # wild cards, of kind `wild` and, in a run with two of them, of kind `y`
    if op == actions.OP_JOKERS:
        kind, key, low, size, one = JOKERS, 0, 0, x, x
    elif op == actions.OP_SET or op == actions.OP_WILD_SET:
        one = np.int64(op == actions.OP_WILD_SET)
        kind, key, low, size = SET, x, 0, count_bits(np.int64(y)) + one
    elif op == actions.OP_RUN:
        size = y
    elif op == actions.OP_GAP_RUN:
        one = 1 << low + y
    else:
        size, one, another = 4, 4 << low, 2 << low
    naturals = ((np.int64(1) << size) - 1 << low) & ~(one | another)
    if kind != RUN:
        naturals = np.int64(y) if kind == SET else 0
    m = np.int64(s.num_melds)
    s.num_melds += 1
    s.meld_side[m], s.meld_kind[m], s.meld_key[m] = side, kind, key
    s.meld_low[m], s.meld_size[m], s.meld_naturals[m] = low, size, naturals
    for k in range(state.NUM_WILD_KINDS):
        s.meld_wilds[m, k] = one * (k == wild) | another * (k == y)
    s.meld_points[m] = 0


@kernel(inline=True)
def _extend(s, m, op, x, wild):
    """Add a card to a meld, or replace a joker in it."""
    natural, change = np.int64(0), 0  # the bit of a natural card, and the change of the wild cards of kind `wild`
    if op == actions.OP_TO_JOKERS or op == actions.OP_WILD_TO_SET:
        change = 1
    elif op == actions.OP_TO_SET or op == actions.OP_SWAP_SET:
        natural, change = np.int64(1) << x // NUM_RANKS, -1 if op == actions.OP_SWAP_SET else 0
    else:
        natural = np.int64(1) << x % NUM_STEPS
        if op == actions.OP_SWAP_RUN:
            change = -natural
        elif op == actions.OP_WILD_ABOVE or op == actions.OP_WILD_BELOW:
            natural, change = np.int64(0), natural
        s.meld_low[m] -= op == actions.OP_BELOW or op == actions.OP_WILD_BELOW
    s.meld_naturals[m] |= natural
    s.meld_wilds[m, wild] += change
    if not is_swap(op):
        s.meld_size[m] += 1


# ---------------------------------------------------------------------------------------------------------------
# What a meld is


@kernel
def points_of(s, m):
    """Return the points of a meld (6.2)."""
    size = np.int64(s.meld_size[m])
    if s.meld_kind[m] == JOKERS:
        return _POINTS_OF_JOKERS[size - 3]
    wilds = num_wilds(s, m)
    points = np.int64(_WILD_VALUE) * wilds
    if s.meld_kind[m] == SET:
        points += (size - wilds) * state.value_of(s, np.int64(s.meld_key[m]))
        return 2 * points if wilds == 0 and size == state.MAX_SET else points
    if wilds == 0 and size >= state.PINNACOLONE:
        return np.int64(_POINTS_OF_PINNACOLONE)
    for step in range(NUM_STEPS):
        if s.meld_naturals[m] >> step & 1:
            points += state.value_of(s, np.int64(step % NUM_RANKS))
    return 2 * points if wilds == 0 and size >= s.rules.pinnacola_length else points


@kernel
def hand_points(s, player):
    """Return the values of the cards in a hand (6.1)."""
    points = np.int64(_WILD_VALUE) * s.jokers[player]
    for face in range(state.JOKER):
        if s.held[player] >> face & 1:
            points += state.value_of(s, face) * (1 + (s.twice[player] >> face & 1))
    return points


@kernel
def shape_of(s, m):
    """Return a number that says all about a meld, and is not 0.

    Its digits are, from the lowest: the kind (4), the side (2), suit or rank (16), lowest step or suits (16), the size
    (16), and two wild cards (64 each): 0 for none, else 1 + 14 * kind + step.
    """
    kind = np.int64(s.meld_kind[m])
    wilds = np.int64(0)
    if kind == RUN:
        for wild in range(state.NUM_WILD_KINDS):
            for step in range(NUM_STEPS):
                if s.meld_wilds[m, wild] >> step & 1:
                    wilds = wilds * 64 + 1 + NUM_STEPS * wild + step
    elif kind == SET:
        for wild in range(state.NUM_WILD_KINDS):
            for _ in range(s.meld_wilds[m, wild]):
                wilds = wilds * 64 + 1 + NUM_STEPS * wild
    place = np.int64(s.meld_naturals[m]) if kind == SET else np.int64(s.meld_low[m])
    return kind + 4 * (s.meld_side[m] + 2 * (s.meld_key[m] + 16 * (place + 16 * (s.meld_size[m] + 16 * wilds))))
