"""What a player of Euchre cannot know, and worlds that fit what it knows. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.euchre.state import (
    NUM_PLAYERS,
    PACK,
    SUIT_SETS,
    is_taken,
    pack_size,
    upcard_in_hand,
)
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, begin_world
from cardenvs.kits.redeal import add_place, cards_at, deal_to_places, list_cards, new_places
from cardenvs.kits.tricks import add_hands, take_hands

_PRINTED = PACK.suit_sets


@kernel
def hidden_cards(s, player):
    """Return the cards whose places `player` does not know, as a bit set (7.1, 7.2)."""
    seen = s.hands[player] | upcard_in_hand(s, np.int64(s.dealer))
    if player == s.dealer and s.laid_away != NO_CARD:
        seen |= np.int64(1) << s.laid_away
    if not is_taken(s):
        seen |= np.int64(1) << s.upcard
    for p in range(NUM_PLAYERS):
        seen |= s.cards_played[p]
    return ((np.int64(1) << pack_size(s)) - 1) & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see, so that all worlds that fit what it knows are equally likely (7.3)."""
    begin_world(s, seed)
    dealer, size = np.int64(s.dealer), np.int64(pack_size(s))
    known = upcard_in_hand(s, dealer) if player != dealer else np.int64(0)
    hidden = hidden_cards(s, player)
    first = size - count_bits(hidden)
    list_cards(hidden, s.deck, first)
    s.hands[dealer] &= ~known
    places = new_places()
    places.number = 0
    add_hands(s, places, player)
    is_laid_away = player != dealer and s.laid_away != NO_CARD
    if is_laid_away:
        add_place(places, 1, 0)
    add_place(places, size - s.num_dealt, 0)  # last, so that the stock lies where it belongs
    fits = False
    while not fits:
        deal_to_places(s, places, SUIT_SETS[max(s.trump, 0)], s.deck, first, size)
        take_hands(s, places, player, s.deck)
        if is_laid_away:
            s.laid_away = lowest_card(cards_at(places, NUM_PLAYERS - 1, s.deck))
        s.hands[dealer] |= known
        fits = _fits(s)
    for k in range(first, s.num_dealt):
        s.deck[k] = NO_CARD


@kernel(inline=True)
def _fits(s):
    """Return whether the maker could order up, and whether the dealer has, or had, the upcard (3.2, 3.4).

    Only options make this more than what `determinize` deals by, so it is simply tried again.
    """
    if not is_taken(s):
        return True
    upcard = np.int64(1) << s.upcard
    if not cards_held(s, np.int64(s.dealer)) & upcard:
        return False
    return not s.rules.need_suit_to_order or cards_held(s, np.int64(s.maker)) & _PRINTED[s.suit_up] & ~upcard != 0


@kernel(inline=True)
def cards_held(s, player):
    """Return all cards that `player` has had in this hand, as a bit set."""
    cards = s.hands[player] | s.cards_played[player]
    if player == s.dealer and s.laid_away != NO_CARD:
        cards |= np.int64(1) << s.laid_away
    return cards
