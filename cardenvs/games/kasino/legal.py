"""Legal actions of Kasino (rules.md 3)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.kasino import state
from cardenvs.games.kasino.state import COMPOSE, DONE, FIRST_CAPTURE, HAND_VALUES, SLOTS, TABLE_VALUES, TAKE_0
from cardenvs.kits.cards import NUM_CARDS, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.fishing.captures import (
    keep_largest,
    keep_maximal,
    list_captures,
    may_take,
    new_captures,
    total_of,
)
from cardenvs.kits.fishing.state import ROUND_SIZE
from cardenvs.kits.listing import list_bits


@kernel(inline=True)
def must_capture(s):
    """Whether a card that can capture must (3.3, 6.3)."""
    return not s.rules.capture_optional or s.rules.misere != 0


@kernel(inline=True)
def only_maximal(s):
    """Whether a capture may not be part of a larger one (3.3, 3.4)."""
    return must_capture(s) or s.rules.capture_choice == state.CHOICE_MAXIMAL


@kernel
def offered(s, card, found):
    """Fill `found` with the captures that are offered for a card, in the order of their slots."""
    list_captures(s.table, TABLE_VALUES, HAND_VALUES[card], np.int64(0), found)
    if s.rules.capture_choice == state.CHOICE_AUTO:
        keep_largest(found)
        found.overflows = 0
    elif only_maximal(s) and not found.overflows:
        keep_maximal(found)


@kernel
def num_offered(s, card):
    """Return the number of captures that have slots."""
    found = new_captures()
    offered(s, card, found)
    return found.number


@kernel
def capture(s, card, slot):
    """Return the cards that a slot captures, as a bit set."""
    found = new_captures()
    offered(s, card, found)
    return found.sets[slot - FIRST_CAPTURE]


@kernel
def legal_actions(s, out):
    """For each card in hand: trail, its captures, and composing one if there are more; or how to go on with that."""
    if s.playing != NO_CARD:
        return _list_taking(s, out)
    found = new_captures()
    hand, n = s.hands[s.current_player], 0
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        offered(s, card, found)
        first = card * SLOTS
        if found.number == 0 or not must_capture(s):
            out[n] = first
            n += 1
        for k in range(found.number):
            if not (found.overflows and only_maximal(s)):
                out[n] = first + FIRST_CAPTURE + k
                n += 1
        if found.overflows:
            out[n] = first + COMPOSE
            n += 1
    return n


@kernel
def _list_taking(s, out):
    n = list_bits(takeable(s), TAKE_0, out, 0)
    if is_complete(s):
        out[n] = DONE
        n += 1
    return n


@kernel
def takeable(s):
    """Return the cards that can be taken next with the card being played, as a bit set."""
    missing = HAND_VALUES[s.playing] - total_of(s.group, TABLE_VALUES)
    above = s.group  # the bits up to the highest of the group
    for shift in (1, 2, 4, 8, 16, 32):
        above |= above >> shift
    return may_take(s.table & ~above, TABLE_VALUES, missing)


@kernel
def is_complete(s):
    """Whether the cards taken so far are a capture that is allowed."""
    return s.taken != 0 and s.group == 0 and not (only_maximal(s) and takeable(s))


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if (action >= TAKE_0) != (s.playing != NO_CARD):
        return state.NOT_TAKING if action >= TAKE_0 else state.TAKING
    if action == DONE:
        return 0 if is_complete(s) else state.NOT_COMPLETE
    if action >= TAKE_0:
        return 0 if takeable(s) >> action - TAKE_0 & 1 else state.NOT_POSSIBLE
    card, slot = action // SLOTS, action % SLOTS
    if not s.hands[s.current_player] >> card & 1:
        return state.NOT_HELD
    found = new_captures()
    offered(s, card, found)
    if slot == state.TRAIL:
        return state.MUST_CAPTURE if found.number and must_capture(s) else 0
    if slot == COMPOSE:
        return 0 if found.overflows else state.ALL_LISTED
    listed = 0 if found.overflows and only_maximal(s) else found.number
    return 0 if slot - FIRST_CAPTURE < listed else state.NO_SUCH_CAPTURE


num_actions = DONE + 1  # 32 for each card, one for taking each card, and done
max_legal = max(ROUND_SIZE * SLOTS, NUM_CARDS + 1)  # all outcomes of a hand, or all cards and done
