"""What the events prove about the kinds of hidden cards, for all players (9.2, 9.3), in slots; see kits/shedding.py.

Playing a Wild Draw Four under the strict rule bars a colour from all slots of the hand, and so on.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.kits.shedding import NO_MARKS, add_slot, bar_from_slots, forget_slots, keep_slots, vacate


@kernel
def forget(s):
    """Begin a round, in which nothing is known."""
    forget_slots(s)
    s.drawn_barred = 0
    for p in range(s.rules.num_players):
        s.guilty[p] = 0


@kernel
def bar_from_hand(s, player, kinds):
    """Note that no card in the hand of `player` is one of these kinds, a bit set."""
    keep_slots(s, np.int64(0))
    bar_from_slots(s, player, kinds)


@kernel(inline=True)
def note_drawn(s, player, barred):
    """Note that `player` takes a card of no kind in `barred`, which the others do not see.

    Call this before the card is in the hand.
    """
    if barred:
        keep_slots(s, np.int64(0))
    if not s.is_plain:
        add_slot(s, player, np.int64(barred))


@kernel(inline=True)
def note_played(s, player, kind):
    """Note that a card leaves the hand of `player`."""
    if not s.is_plain:
        s.num_slots = vacate(s.slot_owner, s.slot_barred, s.num_slots, player, kind, NO_MARKS)


@kernel
def swap_slots(s, one, other):
    """Swap the hands of two players."""
    s.guilty[one], s.guilty[other] = s.guilty[other], s.guilty[one]
    for k in range(s.num_slots):
        if s.slot_owner[k] == one:
            s.slot_owner[k] = other
        elif s.slot_owner[k] == other:
            s.slot_owner[k] = one


@kernel
def clear_guilt(s, player, colour):
    """Note that a card of a colour has left the hand of `player`: perhaps the one that made the player guilty."""
    s.guilty[player] &= ~(1 << colour)
