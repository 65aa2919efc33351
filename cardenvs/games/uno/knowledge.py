"""What the events prove about the kinds of hidden cards, for all players (9.2, 9.3).

Each card in a hand has a *slot* with a bit set of the kinds that it cannot be; slots are in the order in which their
cards came. Playing a Wild Draw Four under the strict rule bars a colour from all slots of the hand, and so on.

Nobody sees which slot a card leaves. What then is certain of the slots left is what holds wherever it came from.

Most rounds prove nothing, and then no slots are kept (`s.is_plain`).
"""

import numpy as np

from cardenvs.core.kernel import kernel


@kernel
def forget(s):
    """Begin a round, in which nothing is known."""
    s.is_plain = 1
    s.num_slots = 0
    s.drawn_barred = 0
    for p in range(s.rules.num_players):
        s.guilty[p] = 0


@kernel
def _keep_slots(s):
    """Begin to keep slots."""
    if s.is_plain:
        s.is_plain = 0
        for p in range(s.rules.num_players):
            for _ in range(s.hand_sizes[p]):
                _append(s, p, np.int64(0))


@kernel
def _append(s, player, barred):
    s.slot_owner[s.num_slots] = player
    s.slot_barred[s.num_slots] = barred
    s.num_slots += 1


@kernel
def bar_from_hand(s, player, kinds):
    """Note that no card in the hand of `player` is one of these kinds, a bit set."""
    _keep_slots(s)
    for k in range(s.num_slots):
        if s.slot_owner[k] == player:
            s.slot_barred[k] |= kinds


@kernel(inline=True)
def note_drawn(s, player, barred):
    """Note that `player` takes a card of no kind in `barred`, which the others do not see.

    Call this before the card is in the hand.
    """
    if barred:
        _keep_slots(s)
    if not s.is_plain:
        _append(s, player, np.int64(barred))


@kernel(inline=True)
def note_played(s, player, kind):
    """Note that a card leaves the hand of `player`."""
    if not s.is_plain:
        s.num_slots = vacate(s.slot_owner, s.slot_barred, s.num_slots, player, kind)


@kernel
def vacate(owners, barred, number, player, kind):
    """Remove a slot of `player` from which a card of `kind` may have come, and return how many slots are left.

    Of those from which it may have come, each passes what it bars to the next one, which keeps what both bar: whichever
    slot the card has left, the others hold cards that fit. If the bars of later slots are among those of earlier ones,
    nothing is lost.
    """
    last = -1
    for k in range(number):
        if owners[k] == player and not barred[k] >> kind & 1:
            if last >= 0:
                barred[last] &= barred[k]
            last = k
    if last < 0:
        return number
    for k in range(last, number - 1):
        owners[k] = owners[k + 1]
        barred[k] = barred[k + 1]
    return number - 1


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
