"""What a player cannot know, dealt again. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.cards import count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.redeal import choose_place, packed
from cardenvs.core.rng import DETERMINIZE, shuffle, start_stream
from cardenvs.games.bridge.cards import dummy_of, suit_of
from cardenvs.games.bridge.state import NO_CARD, NOT_KNOWN, NUM_PLAYERS, NUM_RESULTS


@kernel(inline=True)
def sees_hand(s, viewer, player):
    """Whether the hand of `player` is known to `viewer`: the own one, and dummy's once it is faced."""
    return viewer == player or (s.is_faced and player == dummy_of(s))


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see, as a bit set."""
    hidden = np.int64(0)
    for p in range(NUM_PLAYERS):
        if not sees_hand(s, player, p):
            hidden |= s.hands[p]
    return hidden


@kernel
def determinize(s, player, seed):
    """Re-deal the hidden hands; none gets a suit that its owner has shown not to hold. Forget the results (7.4)."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    hidden = hidden_cards(s, player)
    for k in range(NUM_RESULTS):  # whatever the true deal pays, a world does not know
        s.tricks[k] = s.rules.tricks[k] = NOT_KNOWN
    room, voids, left = np.int64(0), np.int64(0), np.int64(0)
    number = 0
    rest = hidden
    while rest:
        card = np.int64(lowest_card(rest))
        rest &= rest - 1
        s.dealt[number] = card
        left += packed(1, suit_of(card))
        number += 1
    for p in range(NUM_PLAYERS):
        if not sees_hand(s, player, p):
            room += packed(count_bits(s.hands[p]), p)
            s.hands[p] = 0
        voids += packed(s.voids[p], p)
    if voids:  # without voids, every order of dealing is as good
        shuffle(s, s.dealt, 0, number)
    for k in range(number):
        card = np.int64(s.dealt[k])
        place = choose_place(s, card, room, left, voids, NUM_PLAYERS)
        room -= packed(1, place)
        left -= packed(1, suit_of(card))
        s.hands[place] |= np.int64(1) << card
        s.dealt[k] = NO_CARD
