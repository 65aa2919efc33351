"""Where hidden cards can be, for each player, once the draw pile has been made again (9.1, 9.4).

Until then a hidden card can be anywhere. A new draw pile consists of known cards; so those that have stayed in hands
are others. `s.sure[kind, v, place]` counts the cards that player v can place, and the bit set `s.may[v, place]` has the
kinds of which other hidden cards may lie there. When an unseen card leaves the draw pile, it may be any card of it.
Places are the hands, the draw pile, and the card just drawn.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.uno import state
from cardenvs.games.uno.cards import COPIES, NUM_KINDS
from cardenvs.games.uno.state import MAX_PLAYERS
from cardenvs.kits.cards import lowest_card

PILE, DRAWN, NUM_PLACES = MAX_PLAYERS, MAX_PLAYERS + 1, MAX_PLAYERS + 2
IN_PILE, AS_DRAWN = 1 << PILE, 1 << DRAWN  # as bit sets of places
_ALL_KINDS = np.int64((1 << NUM_KINDS) - 1)


@kernel
def track(s):
    """Begin to track cards, when the draw pile is about to be made again."""
    if not s.is_tracked:
        s.is_tracked = 1
        for viewer in range(s.rules.num_players):
            forget(s, viewer)
    for viewer in range(s.rules.num_players):
        conclude(s, viewer, True)


@kernel
def forget(s, viewer):
    """Let `viewer` know of hidden cards only what all events since the deal have shown directly."""
    for kind in range(NUM_KINDS):
        s.sure[kind, viewer, PILE] = s.sure[kind, viewer, DRAWN] = 0
    s.num_sure[viewer, PILE] = s.num_sure[viewer, DRAWN] = 0
    s.may[viewer, PILE] = s.may[viewer, DRAWN] = _ALL_KINDS
    for p in range(s.rules.num_players):
        s.may[viewer, p] = 0 if p == viewer else _ALL_KINDS
        number = np.int64(0)
        for kind in range(NUM_KINDS):
            s.sure[kind, viewer, p] = s.known[p, viewer, kind]
            number += s.known[p, viewer, kind]
        s.num_sure[viewer, p] = number


@kernel
def conclude(s, viewer, thorough):
    """Conclude what follows: full places have no other cards, and cards with one possible place are there.

    Args:
        s: record in which cards are tracked.
        viewer: who concludes.
        thorough: whether to note, too, which kinds have no hidden cards; that matters when some come back.
    """
    changed = True
    while changed:
        changed = False
        _clear_full_places(s, viewer)
        once = twice = np.int64(0)  # kinds that may lie in one place or more, in two or more
        for place in range(NUM_PLACES):
            twice |= once & s.may[viewer, place]
            once |= s.may[viewer, place]
        kinds = once if thorough else once & ~twice
        while kinds:
            kind = lowest_card(kinds)
            kinds &= kinds - 1
            number = num_hidden(s, viewer, kind)
            if number and not twice >> kind & 1:
                _place_for_sure(s, viewer, kind, number)
                changed = True
            elif number == 0:
                _rule_out(s, viewer, kind)


@kernel(inline=True)
def _place_for_sure(s, viewer, kind, number):
    """Note that all hidden cards of a kind lie in the only place where they may be."""
    for place in range(NUM_PLACES):
        if s.may[viewer, place] >> kind & 1:
            s.sure[kind, viewer, place] += number
            s.num_sure[viewer, place] += number
    _rule_out(s, viewer, kind)


@kernel(inline=True)
def _rule_out(s, viewer, kind):
    """Note that there are no other cards of a kind than those that `viewer` can place."""
    for place in range(NUM_PLACES):
        s.may[viewer, place] &= ~(np.int64(1) << kind)


@kernel(inline=True)
def _clear_full_places(s, viewer):
    """Note that a place of which `viewer` is sure of all cards has no others."""
    if s.num_sure[viewer, PILE] == s.num_stock:
        s.may[viewer, PILE] = 0
    if s.drawn == state.NO_CARD or s.current_player == viewer or s.num_sure[viewer, DRAWN]:
        s.may[viewer, DRAWN] = 0
    for p in range(s.rules.num_players):
        if s.num_sure[viewer, p] == s.hand_sizes[p]:
            s.may[viewer, p] = 0


@kernel
def places_of(s, viewer, kind):
    """Return the places of the hidden cards of a kind that `viewer` cannot place for sure, as a bit set."""
    places = np.int64(0)
    for place in range(NUM_PLACES):
        places |= (s.may[viewer, place] >> kind & 1) << place
    return places


@kernel
def num_hidden(s, viewer, kind):
    """Return how many cards of a kind `viewer` neither sees nor can place for sure."""
    number = COPIES[kind] - s.discarded[kind] - s.hands[viewer, kind]
    if s.drawn == kind and s.current_player == viewer:
        number -= 1
    if not s.is_tracked:
        for p in range(s.rules.num_players):
            number -= s.known[p, viewer, kind]
        return number
    for p in range(s.rules.num_players):
        number -= s.sure[kind, viewer, p]
    return number - s.sure[kind, viewer, PILE] - s.sure[kind, viewer, DRAWN]


@kernel
def add_to_pile(s, kind, number):
    """Note that all know of cards that are now in the draw pile."""
    for viewer in range(s.rules.num_players):
        s.sure[kind, viewer, PILE] += number
        s.num_sure[viewer, PILE] += number


@kernel
def note_drawn(s, player, kind, place):
    """Note that `player` draws a card, which the others do not see; call this while it is in the draw pile.

    Args:
        s: record in which cards are tracked.
        player: who draws.
        kind: of the card.
        place: the hand of the player, or DRAWN.
    """
    for viewer in range(s.rules.num_players):
        if viewer == player:
            _take_from_pile(s, viewer, kind)
            continue
        conclude(s, viewer, s.num_sure[viewer, PILE] > 0)
        if s.num_stock == 1 and s.num_sure[viewer, PILE]:
            _move_sure(s, viewer, PILE, place)
        else:
            _draw_unseen(s, viewer, place)


@kernel
def _move_sure(s, viewer, source, target):
    """Note that all that lies in a place, which `viewer` is sure of, goes to another."""
    s.num_sure[viewer, target] += s.num_sure[viewer, source]
    s.num_sure[viewer, source] = 0
    for kind in range(NUM_KINDS):
        s.sure[kind, viewer, target] += s.sure[kind, viewer, source]
        s.sure[kind, viewer, source] = 0


@kernel
def _draw_unseen(s, viewer, place):
    """Note that any card of the draw pile may have gone to a place."""
    if s.num_sure[viewer, PILE]:
        s.num_sure[viewer, PILE] = 0
        for kind in range(NUM_KINDS):
            if s.sure[kind, viewer, PILE]:
                s.sure[kind, viewer, PILE] = 0
                s.may[viewer, PILE] |= np.int64(1) << kind
    s.may[viewer, place] |= s.may[viewer, PILE]


@kernel
def note_seen_in_pile(s, kind):
    """Note that all see a card that leaves the draw pile."""
    for viewer in range(s.rules.num_players):
        _take_from_pile(s, viewer, kind)


@kernel(inline=True)
def _take_from_pile(s, viewer, kind):
    if s.sure[kind, viewer, PILE]:
        s.sure[kind, viewer, PILE] -= 1
        s.num_sure[viewer, PILE] -= 1


@kernel
def note_drawn_leaves(s, player, kind, is_kept):
    """Note that the card just drawn is kept in the hand of `player`, or played."""
    for viewer in range(s.rules.num_players):
        if viewer != player:
            if s.num_sure[viewer, DRAWN]:
                if is_kept:
                    _move_sure(s, viewer, DRAWN, player)
                else:
                    s.num_sure[viewer, DRAWN] = 0
                    s.sure[kind, viewer, DRAWN] = 0
            if is_kept:
                s.may[viewer, player] |= s.may[viewer, DRAWN]
            s.may[viewer, DRAWN] = 0


@kernel
def note_played(s, player, kind):
    """Note that a card has left the hand of `player`: one that a viewer could place, if there was any."""
    for viewer in range(s.rules.num_players):
        if viewer == player:
            continue
        if s.sure[kind, viewer, player]:
            s.sure[kind, viewer, player] -= 1
            s.num_sure[viewer, player] -= 1
        elif s.num_sure[viewer, player] == s.hand_sizes[player]:
            s.may[viewer, player] = 0


@kernel
def note_shown(s, player, viewer):
    """Note that `viewer` sees the whole hand of `player`."""
    for kind in range(NUM_KINDS):
        s.sure[kind, viewer, player] = s.hands[player, kind]
    s.num_sure[viewer, player] = s.hand_sizes[player]
    s.may[viewer, player] = 0


@kernel
def swap_hands(s, one, other):
    """Swap what is known of two hands."""
    for viewer in range(s.rules.num_players):
        s.num_sure[viewer, one], s.num_sure[viewer, other] = s.num_sure[viewer, other], s.num_sure[viewer, one]
        s.may[viewer, one], s.may[viewer, other] = s.may[viewer, other], s.may[viewer, one]
        for kind in range(NUM_KINDS):
            mine, theirs = s.sure[kind, viewer, one], s.sure[kind, viewer, other]
            s.sure[kind, viewer, one], s.sure[kind, viewer, other] = theirs, mine


@kernel
def forget_own(s, viewer):
    """Undo `note_shown` of a player's own hand, which is in `hands`."""
    for kind in range(NUM_KINDS):
        s.sure[kind, viewer, viewer] = 0
    s.num_sure[viewer, viewer] = 0
    s.may[viewer, viewer] = 0
