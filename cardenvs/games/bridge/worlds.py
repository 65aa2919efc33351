"""What a player cannot know, dealt again. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.cards import SUIT_SETS, count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.redeal import add_place, cards_at, deal_to_places, new_places
from cardenvs.core.rng import DETERMINIZE, start_stream
from cardenvs.games.bridge.cards import dummy_of
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
    for k in range(NUM_RESULTS):  # whatever the true deal pays, a world does not know
        s.tricks[k] = s.rules.tricks[k] = NOT_KNOWN
    _redeal(s, player)


@kernel
def _redeal(s, player):
    """Deal the hidden hands again, all deals that respect their voids being equally likely."""
    hidden, number = hidden_cards(s, player), 0
    while hidden:
        s.dealt[number] = lowest_card(hidden)
        hidden &= hidden - 1
        number += 1
    places = new_places()
    places.number = 0
    for p in range(NUM_PLAYERS):
        add_place(places, 0 if sees_hand(s, player, p) else count_bits(s.hands[p]), s.voids[p])
    deal_to_places(s, places, SUIT_SETS, s.dealt, 0, number)
    for p in range(NUM_PLAYERS):
        if not sees_hand(s, player, p):
            s.hands[p] = cards_at(places, p, s.dealt)
    for k in range(number):
        s.dealt[k] = NO_CARD
