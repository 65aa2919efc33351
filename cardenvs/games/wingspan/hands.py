"""Hands of bird cards, stored as bit sets."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import state
from cardenvs.games.wingspan.memory import current_batch
from cardenvs.kits.cards import lowest_card


@kernel(inline=True)
def holds(s, player, bird):
    """Return whether a bird is in the hand of `player`."""
    return s.hands[player, bird // state.WORD_BITS] >> bird % state.WORD_BITS & 1


@kernel
def bird_in_hand(s, who, k):
    """Return the k-th bird in the hand of `who` by id, or NO_BIRD; in the setup, the hand is the birds dealt."""
    bird = next_in_hand(s, who, state.NO_BIRD)
    while k > 0 and bird != state.NO_BIRD:
        bird = next_in_hand(s, who, bird)
        k -= 1
    return bird


@kernel
def next_in_hand(s, who, bird):
    """Return the next bird in hand after `bird` (-1 for the first), or NO_BIRD."""
    start = bird + 1
    for word in range(start // state.WORD_BITS, state.NUM_WORDS):
        bits = np.int64(s.hands[who, word])
        if word == start // state.WORD_BITS:
            bits = bits >> start % state.WORD_BITS << start % state.WORD_BITS
        if bits:
            return word * state.WORD_BITS + lowest_card(bits)
    return np.int64(state.NO_BIRD)


@kernel(inline=True)
def _into_hand(s, player, bird, known):
    s.hands[player, bird // state.WORD_BITS] |= 1 << bird % state.WORD_BITS
    s.hand_size[player] += 1
    s.place[bird] = state.IN_HAND + player
    s.known[bird] = known


@kernel
def take_openly(s, player, bird):
    """Add a bird that everybody has seen to the hand of `player`."""
    _into_hand(s, player, bird, state.KNOWN_TO_ALL)
    s.taken[bird] = 1 + s.num_tucks[player]


@kernel
def draw_unseen(s, player, bird):
    """Add a bird that only `player` sees to their hand, and record it as a piece of the current batch."""
    _into_hand(s, player, bird, 1 << player)
    kind = player | current_batch(s) << state.PIECE_OWNER_BITS
    s.pieces[s.num_pieces] = kind | np.int64(s.num_tucks[player]) << state.PIECE_KIND_BITS
    s.num_pieces += 1


@kernel(inline=True)
def take_out(s, player, bird):
    """Remove a bird from the hand of `player`; the caller records where it goes."""
    s.hands[player, bird // state.WORD_BITS] &= ~(1 << bird % state.WORD_BITS)
    s.hand_size[player] -= 1


@kernel
def forget(s, player):
    """Record that a card has left the hand unseen: the others no longer know which cards are still there."""
    bird = next_in_hand(s, player, state.NO_BIRD)
    while bird != state.NO_BIRD:
        s.known[bird] = 1 << player
        bird = next_in_hand(s, player, bird)
