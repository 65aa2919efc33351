"""A policy for Durak that plays as in a club: thrifty with trumps, pushing when the talon is gone.

It uses only what the player to act may know: the own hand, the table, the discards, and cards known to be in a hand.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.durak import state
from cardenvs.games.durak.actions import PASS, SHOW, TAKE, TRANSFER_0
from cardenvs.games.durak.legal import playable, transfer_cards, trump_to_show
from cardenvs.games.durak.seats import next_opponent
from cardenvs.kits.cards import RANK_SETS, SUIT_SETS, count_bits, lowest_card

# Weights, checked by self-play one by one. In steps of a rank; a card costs its rank from 0, the deuce, to 12, the ace.
_TRUMP = 14  # extra cost of a trump
_PAIR = 4  # gain of a lead for each other card of its rank in hand
_NEW_RANK = 1  # cost of a rank that is not on the table yet, since it invites throw-ins
_HIGH_TRUMP = _TRUMP + 9  # a jack; with a talon to draw from, rather take a few cards than spend it
_FEW_TALON = 6  # cards in the talon; with fewer, spend high trumps too
_MANY = 6  # cards on the table; from here on, beat at any price
_NO_CARD = np.int64(-1)


@kernel
def heuristic(s, legal, n, rng):
    """Beat and lead cheaply, transfer when possible, throw in all but trumps, and press when the talon is empty.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    if s.phase == state.LEAD:
        return _choose_lead(s)
    if s.phase == state.DEFEND:
        return _choose_defence(s)
    card = _cheapest(s, playable(s))
    return card if card != _NO_CARD and _gives_away(s, card) else PASS


@kernel
def _cost(s, card):
    """Return what a card is worth to its holder."""
    strength = (card + state.NUM_RANKS - 1) % state.NUM_RANKS
    return strength + _TRUMP if card // state.NUM_RANKS == s.trump else strength


@kernel
def _cheapest(s, cards):
    """Return the card of a bit set that costs least, or _NO_CARD."""
    best, least = _NO_CARD, np.int64(1000)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        if _cost(s, card) < least:
            best, least = card, _cost(s, card)
    return best


@kernel
def _choose_lead(s):
    """Lead a low card, rather of a pair; with an empty talon, rather one that the defender cannot beat."""
    hand = s.hands[s.current_player]
    possible = _possible_cards(s, s.defender)
    cards = hand
    best, least = _NO_CARD, np.int64(1000)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        others = hand & RANK_SETS[card % state.NUM_RANKS] & ~SUIT_SETS[s.trump] & ~(1 << card)
        cost = _cost(s, card) - _PAIR * count_bits(others)
        if state.num_talon(s) == 0 and not possible & state.beating_cards(s, card):
            cost -= _TRUMP
        if cost < least:
            best, least = card, cost
    return best


@kernel
def _possible_cards(s, player):
    """Return the cards that `player` may hold, as far as the player to act knows."""
    seen = s.hands[s.current_player] | s.attack | s.defence | s.discards
    for p in range(s.rules.num_players):
        seen |= s.known[p]
    if s.turn_up != state.NO_CARD:
        seen |= 1 << s.turn_up
    return state.DECKS[s.rules.deck_size] & ~seen | s.known[player]


@kernel
def _choose_defence(s):
    """Transfer without spending a trump if possible; else beat cheaply, or take if that costs too much."""
    if s.rules.variant == state.PEREVODNOY:
        if trump_to_show(s) != state.NO_CARD:
            return np.int64(SHOW)
        card = _cheapest(s, transfer_cards(s))
        if card != _NO_CARD and _cost(s, card) < _HIGH_TRUMP and not _may_come_back(s):
            return TRANSFER_0 + card
    card = _cheapest_beat(s)
    return card if card != _NO_CARD and _is_worth_beating(s, card) and _beats_all(s) else np.int64(TAKE)


@kernel
def _may_come_back(s):
    """Return whether the next defender is known to hold a card with which to transfer back to us at the end."""
    other = next_opponent(s, s.defender)
    returning = s.known[other] & s.matching
    return returning != 0 and s.num_attack + 2 > count_bits(s.hands[s.defender]) - 1


@kernel
def _cheapest_beat(s):
    """Return the cheapest card that beats, with a preference for ranks on the table, or _NO_CARD."""
    cards = playable(s)
    best, least = _NO_CARD, np.int64(1000)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        cost = _cost(s, card) + (0 if s.matching >> card & 1 else _NEW_RANK)
        if cost < least:
            best, least = card, cost
    return best


@kernel
def _is_worth_beating(s, card):
    """Return whether to beat with `card` rather than take: not with a high trump while there is much to draw."""
    if state.num_talon(s) <= _FEW_TALON or s.num_attack + s.num_beaten >= _MANY:
        return True
    return _cost(s, card) < _HIGH_TRUMP


@kernel
def _beats_all(s):
    """Return whether the hand can beat all open attack cards, each in turn with the lowest card."""
    hand = s.hands[s.current_player]
    for k in range(s.num_beaten, s.num_attack):
        card = _cheapest(s, hand & state.beating_cards(s, s.attack_cards[k]))
        if card == _NO_CARD:
            return False
        hand &= ~(1 << card)
    return True


@kernel
def _gives_away(s, card):
    """Return whether to throw in or add `card`: a trump only with an empty talon, to be beaten or as the last card."""
    if _cost(s, card) < _TRUMP:
        return True
    if state.num_talon(s):
        return False
    return s.phase == state.THROW_IN or s.hands[s.current_player] & ~playable(s) == 0
