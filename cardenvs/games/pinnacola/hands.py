"""Cards that enter and leave hands in Pinnacola. No events are logged here; effects.py does that."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.pinnacola import state


@kernel(inline=True)
def enter_hand(s, player, face):
    """Add a card to a hand."""
    s.hand_sizes[player] += 1
    if face == state.JOKER:
        s.jokers[player] += 1
    else:
        bit = np.int64(1) << face
        s.twice[player] |= s.held[player] & bit
        s.held[player] |= bit


@kernel(inline=True)
def enter_known(s, player, face):
    """Add a card that all have seen to a hand (8.2)."""
    enter_hand(s, player, face)
    if face == state.JOKER:
        s.known_jokers[player] += 1
    else:
        bit = np.int64(1) << face
        s.known_twice[player] |= s.known_held[player] & bit
        s.known_held[player] |= bit


@kernel(inline=True)
def leave_hand(s, player, faces):
    """Remove one card of each face of a bit set from a hand; cards that all know leave first (8.2)."""
    both = s.twice[player] & faces
    s.twice[player] ^= both
    s.held[player] &= ~(faces ^ both)
    both = s.known_twice[player] & faces
    s.known_twice[player] ^= both
    s.known_held[player] &= ~(faces ^ both)


@kernel(inline=True)
def leave_one(s, player, face):
    """Remove a card from a hand."""
    s.hand_sizes[player] -= 1
    if face == state.JOKER:
        s.jokers[player] -= 1
        s.known_jokers[player] = max(s.known_jokers[player] - 1, 0)
    else:
        leave_hand(s, player, np.int64(1) << face)


@kernel(inline=True)
def first_taken(s, place):
    """Return the place from which the row is taken if the card at `place` is chosen (4.2)."""
    return 0 if s.rules.pozzo == state.WHOLE else place


@kernel(inline=True)
def place_in_row(s, face, copy):
    """Return the place of a face in the row, of its copies the last one but `copy`, or -1."""
    for place in range(np.int64(s.num_row) - 1, -1, -1):
        if s.row[place] == face:
            if copy == 0:
                return place
            copy -= 1
    return -1


@kernel
def take_row(s, player, place):
    """Take the card at `place` with all that go with it; it must be used next (4.2)."""
    s.must_use = s.row[place]
    s.phase = state.USE
    first = first_taken(s, place)
    for k in range(first, np.int64(s.num_row)):
        enter_known(s, player, np.int64(s.row[k]))
        s.row[k] = state.NO_CARD
    s.num_row = first
