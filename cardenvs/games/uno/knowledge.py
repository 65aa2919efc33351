"""What the events prove about hidden cards, for all players (9.2 to 9.4).

Each card in a hand has a *slot* with a bit set of the kinds that it cannot be; slots are in the order in which their
cards came. Playing a Wild Draw Four under the strict rule bars a colour from all slots of the hand, and so on.

When the draw pile is made again, it consists of certain cards, and cards that stayed in hands are not among them. Two
more bits of a slot say that: a card that has been in the hand since then is none of the recycled ones, and one drawn
since is one of them, if nothing else was in the pile.

Nobody sees which slot a card leaves. What then is certain of the slots left is what holds wherever it came from.

Most rounds prove nothing, and then no slots are kept (`s.is_plain`).
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.uno.cards import ALL_KINDS, COPIES, NUM_KINDS

NOT_RECYCLED = np.int64(1 << 62)  # of a slot: none of the cards known to be in the draw pile when it was made
ONLY_RECYCLED = np.int64(1 << 61)  # of a slot: one of these


@kernel
def forget(s):
    """Begin a round, in which nothing is known."""
    s.is_plain = 1
    s.has_proofs = 0
    s.num_slots = 0
    s.drawn_barred = s.new_barred = 0
    s.is_rest_known = 0
    for p in range(s.rules.num_players):
        s.guilty[p] = 0
        s.fresh[p] = 0
        for kind in range(NUM_KINDS):
            s.drawn_since[p, kind] = 0
    for kind in range(NUM_KINDS):
        s.recycled[kind] = 0


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
    s.has_proofs = 1
    for k in range(s.num_slots):
        if s.slot_owner[k] == player:
            s.slot_barred[k] |= kinds


@kernel(inline=True)
def note_drawn(s, player, barred):
    """Note that a hidden card of the draw pile, which is none of the kinds in `barred`, goes to the hand of `player`.

    Call this before the card is in the hand.
    """
    if barred:
        _keep_slots(s)
        s.has_proofs = 1
    if not s.is_plain:
        _append(s, player, barred | s.new_barred)


@kernel(inline=True)
def note_kept(s, player):
    """Note that the card just drawn goes to the hand; call this before it does."""
    if s.drawn_barred != s.new_barred:
        _keep_slots(s)
        s.has_proofs = 1
    if not s.is_plain:
        _append(s, player, np.int64(s.drawn_barred))


@kernel(inline=True)
def note_played(s, player, kind):
    """Note that a card leaves the hand of `player`; call this while what others know still counts it."""
    if s.is_plain:
        return
    if s.recycled[kind]:
        origin = _origin(s, player, kind)
        for viewer in range(s.rules.num_players):
            if viewer != player and s.known[viewer, player, kind] == 0:
                _count_seen(s, viewer, player, kind, origin, 1)
    s.num_slots = vacate(s.slot_owner, s.slot_barred, s.num_slots, player, kind)


@kernel
def note_seen(s, viewer, player, kind, number):
    """Note that `viewer` now sees cards of the hand of `player`, which are still there."""
    if not s.is_plain and s.recycled[kind]:
        _count_seen(s, viewer, player, kind, _origin(s, player, kind), number)


@kernel
def _origin(s, player, kind):
    """Return whether a card in the hand of `player` is certainly a recycled one, certainly none, or neither."""
    common = NOT_RECYCLED | (ONLY_RECYCLED if s.is_rest_known else np.int64(0))
    for k in range(s.num_slots):
        if s.slot_owner[k] == player and not s.slot_barred[k] >> kind & 1:
            common &= s.slot_barred[k]
    return common


@kernel(inline=True)
def _count_seen(s, viewer, player, kind, origin, number):
    if origin & ONLY_RECYCLED or s.fresh[player] >> viewer & 1:
        s.drawn_since[viewer, kind] += number
    elif origin & NOT_RECYCLED:
        s.visible_then[viewer, kind] += number


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
    s.fresh[one], s.fresh[other] = s.fresh[other], s.fresh[one]
    for k in range(s.num_slots):
        if s.slot_owner[k] == one:
            s.slot_owner[k] = other
        elif s.slot_owner[k] == other:
            s.slot_owner[k] = one


@kernel
def begin_draw_pile(s, is_rest_known):
    """Note that the cards in `s.recycled` are in the draw pile, and nothing else if `is_rest_known` (9.4)."""
    _keep_slots(s)
    s.is_rest_known = is_rest_known
    old, new = NOT_RECYCLED, np.int64(0)
    if is_rest_known:
        new = ONLY_RECYCLED
        for kind in range(NUM_KINDS):
            number = np.int64(s.recycled[kind])
            if number == 0:
                new |= np.int64(1) << kind
            if number + s.discarded[kind] == COPIES[kind]:
                old |= np.int64(1) << kind
    for k in range(s.num_slots):
        s.slot_barred[k] = s.slot_barred[k] & ALL_KINDS | old
    s.new_barred = new
    for p in range(s.rules.num_players):
        _note_visible(s, p)


@kernel
def _note_visible(s, player):
    """Note which cards in hands `player` sees now that the draw pile has been made."""
    for kind in range(NUM_KINDS):
        s.drawn_since[player, kind] = 0
        s.visible_then[player, kind] = s.hands[player, kind]
    for p in range(s.rules.num_players):
        number = np.int64(0)
        for kind in range(NUM_KINDS):
            s.visible_then[player, kind] += s.known[player, p, kind]
            number += s.known[player, p, kind]
        s.fresh[p] &= ~(1 << player)
        if number == s.hand_sizes[p]:
            s.fresh[p] |= 1 << player


@kernel
def clear_guilt(s, player, colour):
    """Note that a card of a colour has left the hand of `player`: perhaps the one that made the player guilty."""
    s.guilty[player] &= ~(1 << colour)

