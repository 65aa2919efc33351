"""What a player of Hearts cannot know, and worlds that fit what it knows. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, random_unit
from cardenvs.core.seats import wrap
from cardenvs.games.hearts.rules import receiver_of
from cardenvs.games.hearts.state import CARDS, PACK, PASS, QUEEN, SPADE, lowest_club_of
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import NO_CARD, begin_world
from cardenvs.kits.redeal import list_cards, new_places, number_of_deals
from cardenvs.kits.tricks import add_hands, redeal_tricks

_SUIT_SETS = PACK.suit_sets


@kernel
def known_cards(s, player, other):
    """Return the cards that `player` knows to be in another hand: those passed to it, and the club that opens (8.2).

    As a bit set, which does not depend on cards that `player` does not see.
    """
    known = lowest_club_of(s, other)
    if s.distance and s.phase != PASS and receiver_of(s, player) == other:
        known |= s.passed[player] & ~s.cards_played[other]
    return known


@kernel
def hidden_cards(s, player):
    """Return the cards of which `player` does not know where they are, as a bit set."""
    hidden = CARDS[s.rules.num_players] & ~s.hands[player]
    if s.phase == PASS:
        hidden &= ~s.passed[player]
    for p in range(s.rules.num_players):
        hidden &= ~s.cards_played[p]
        if p != player:
            hidden &= ~known_cards(s, player, p)
    return hidden


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not know: the other hands, and what others pass; all worlds are equally likely (8)."""
    begin_world(s, seed)
    if s.phase == PASS:
        _redeal_before_play(s, player)
        return
    for p in range(s.rules.num_players):
        if p != player:
            s.hands[p] &= ~known_cards(s, player, p)
    if s.only_points == ev.NO_PLAYER or s.only_points == player:
        redeal_tricks(s, player, _SUIT_SETS, s.deck)
    else:
        _redeal_with_points_only(s, player, np.int64(s.only_points))
    for p in range(s.rules.num_players):
        if p != player:
            s.hands[p] |= known_cards(s, player, p)
        receiver = receiver_of(s, p)
        if s.passed[p] and p != player and receiver != player:
            s.passed[p] = _some_of(s, s.hands[receiver] | s.cards_played[receiver], count_bits(s.passed[p]))


@kernel
def _redeal_before_play(s, player):
    """Re-deal hands and what others have chosen so far, while cards are passed."""
    for p in range(s.rules.num_players):
        if p != player:
            s.hands[p] |= s.passed[p]
    redeal_tricks(s, player, _SUIT_SETS, s.deck)
    for p in range(s.rules.num_players):
        if p != player:
            s.passed[p] = _some_of(s, s.hands[p], count_bits(s.passed[p]))
            s.hands[p] &= ~s.passed[p]


@kernel
def _some_of(s, cards, number):
    """Draw `number` cards of a bit set, and return them as one."""
    drawn = np.int64(0)
    for _ in range(number):
        left = cards & ~drawn
        for _ in range(random_below(s.rng, count_bits(left))):
            left &= left - 1
        drawn |= left & -left
    return drawn


@kernel
def _redeal_with_points_only(s, player, guest):
    """Re-deal the hands if `guest` has nothing but hearts and perhaps Q♠ (8.3).

    Q♠ is either with the guest or not, with a chance in proportion to the number of worlds; else the guest has no
    spades.
    """
    voids = s.voids[guest]
    has_queen = not voids >> SPADE & 1 and _has_queen(s, player, guest)
    queen = np.int64(1) << QUEEN if has_queen else np.int64(0)
    if has_queen:
        _give(s, guest, queen)
        s.hands[guest] ^= queen
    s.voids[guest] |= 1 << SPADE
    redeal_tricks(s, player, _SUIT_SETS, s.deck)
    s.hands[guest] |= queen
    s.voids[guest] = voids


@kernel
def _give(s, guest, queen):
    """Move Q♠ to the guest, for another card, so that hands keep their sizes."""
    for p in range(s.rules.num_players):
        if s.hands[p] & queen and p != guest:
            other = s.hands[guest] & -s.hands[guest]
            s.hands[p] ^= queen | other
            s.hands[guest] ^= queen | other


@kernel
def _has_queen(s, player, guest):
    """Draw whether the guest has Q♠."""
    hidden = np.int64(0)
    for p in range(s.rules.num_players):
        if p != player:
            hidden |= s.hands[p]
    if not hidden >> QUEEN & 1 or s.hands[guest] == 0:
        return False
    without = _number_of_worlds(s, player, guest, hidden, 0)
    having = _number_of_worlds(s, player, guest, hidden ^ np.int64(1) << QUEEN, 1)
    return random_unit(s.rng) * (without + having) < having


@kernel
def _number_of_worlds(s, player, guest, hidden, taken):
    """Return the number of deals of hidden cards if the guest gets no spades, and `taken` cards less than it holds."""
    places = new_places()
    places.number = 0
    add_hands(s, places, player)
    n = s.rules.num_players
    place = wrap(guest - player + n, n) - 1
    places.room[place] -= taken
    places.voids[place] |= 1 << SPADE
    stop = list_cards(hidden, s.deck, 0)
    number = number_of_deals(places, _SUIT_SETS, s.deck, 0, stop)
    for k in range(stop):
        s.deck[k] = NO_CARD
    return number
