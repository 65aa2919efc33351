"""What a player of Spades cannot know, and worlds that fit what it knows. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.spades.state import (
    CLUB,
    CLUBS,
    HAND_SIZE,
    LOW_CLUB,
    NUM_PLAYERS,
    PACK,
    known_to_partner,
    partner_of,
    waits,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import NO_CARD, begin_world
from cardenvs.kits.redeal import deal_to_three, draw_cards, list_cards, new_three_hands

_ALL_CARDS, _SUIT_SETS, _suit_of = PACK.all_cards, PACK.suit_sets, PACK.suit_of


@kernel
def known_cards(s, player, other):
    """Return the cards in another hand that `player` has given to it, as a bit set (7.2)."""
    return known_to_partner(s, other) if other == partner_of(player) else np.int64(0)


@kernel
def hidden_cards(s, player):
    """Return the cards of which `player` does not know where they are, as a bit set (7.1, 7.2)."""
    hidden = _ALL_CARDS & ~s.hands[player] & ~known_to_partner(s, partner_of(player))
    for p in range(NUM_PLAYERS):
        hidden &= ~s.cards_played[p]
    return hidden


@kernel
def lacked_cards(s, player):
    """Return the cards that `player` has shown not to hold, as a bit set (7.3)."""
    lacked = np.int64(0)
    for suit in range(4):
        if s.voids[player] >> suit & 1:
            lacked |= _SUIT_SETS[suit]
    first = np.int64(s.played[player, 0])
    if s.rules.first_lead == LOW_CLUB and first != NO_CARD and _suit_of(first) == CLUB:
        lacked |= CLUBS & (np.int64(1) << first) - 1
    return lacked


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not know; all deals that fit are equally likely (7)."""
    begin_world(s, seed)
    _take_from_deck(s)
    if waits(s, player):
        s.hands[player] = draw_cards(s, _ALL_CARDS, HAND_SIZE)
    _deal_others(s, player)
    _return_to_deck(s)
    for p in range(NUM_PLAYERS):
        if s.blind[p] and p != player and partner_of(p) != player:
            _draw_given(s, p)


@kernel(inline=True)
def _take_from_deck(s):
    """Put cards that still lie face down into the hands, for a while."""
    for p in range(NUM_PLAYERS):
        if waits(s, p):
            for k in range(HAND_SIZE * p, HAND_SIZE * (p + 1)):
                s.hands[p] |= np.int64(1) << s.deck[k]


@kernel(inline=True)
def _return_to_deck(s):
    """Undo `_take_from_deck` after the deal."""
    for p in range(NUM_PLAYERS):
        if waits(s, p):
            list_cards(s.hands[p], s.deck, HAND_SIZE * p)
            s.hands[p] = 0


@kernel(inline=True)
def _deal_others(s, player):
    """Deal the hidden cards to the other hands, which keep their sizes and the cards that `player` knows."""
    hands, hidden = new_three_hands(), hidden_cards(s, player)
    for k in range(NUM_PLAYERS - 1):
        p = wrap(player + 1 + k, NUM_PLAYERS)
        hands.room[k] = count_bits(s.hands[p]) - count_bits(known_cards(s, player, p))
        hands.barred[k] = lacked_cards(s, p)
    deal_to_three(s, hands, hidden)
    for k in range(NUM_PLAYERS - 1):
        p = wrap(player + 1 + k, NUM_PLAYERS)
        s.hands[p] = hands.cards[k] | known_cards(s, player, p)


@kernel
def _draw_given(s, giver):
    """Draw again which cards a blind bidder has given and got back, all choices that lead to their hands alike (7.2).

    What came back is any of the bidder's cards; what was given, any of those that the partner had before.
    """
    partner = partner_of(giver)
    num_given, num_returned = count_bits(s.given[giver]), count_bits(s.given[partner])
    s.given[partner] = draw_cards(s, s.hands[giver] | s.cards_played[giver], num_returned)
    before = s.hands[partner] | s.cards_played[partner] | s.given[partner]
    s.given[giver] = draw_cards(s, before, num_given)
