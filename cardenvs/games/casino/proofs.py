"""What plays prove about the cards that a player still holds (rules.md 10.1, 10.4)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.casino.plays import (
    can_build,
    cards_that_count,
    is_numeral,
    list_card_captures,
    partner_can_take,
    top_value,
)
from cardenvs.games.casino.state import HIGH_ACE, NUM_RANKS, NUMBERS
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.fishing.captures import new_captures


@kernel
def note_build(s, player, value):
    """A player who builds `value` holds a card that counts it, unless the partner can take the build (5.9, 10.4)."""
    if not partner_can_take(s, value):
        s.shown[player] |= 1 << value


@kernel
def note_trail(s, player):
    """An owner of a build who trails can neither capture nor build with any card in hand (10.1)."""
    captures = new_captures()
    for rank in range(NUM_RANKS):  # of spades, but suits do not matter
        list_card_captures(s, rank, captures)
        if captures.number:
            s.lacks[player] |= 1 << rank
        for value in range(2, top_value(s) + 1):
            if can_build(s, rank, value):
                if partner_can_take(s, value):
                    s.lacks[player] |= 1 << rank
                else:
                    _note_pair(s, player, rank, (value - 1) % NUM_RANKS)


@kernel(inline=True)
def _note_pair(s, player, one, two):
    s.lacks_beside[player, one] |= 1 << two
    s.lacks_beside[player, two] |= 1 << one


@kernel
def note_card(s, player, card):
    """A card is played: there may be no other that counts as much, and what was lacking beside it is lacking."""
    if is_numeral(s, card):
        s.shown[player] &= ~(1 << NUMBERS[card])
        if NUMBERS[card] == 1:
            s.shown[player] &= ~(1 << HIGH_ACE)
    s.lacks[player] |= s.lacks_beside[player, card % NUM_RANKS]


@kernel
def forget_lacks(s):
    """All hands are empty, so nothing is known of the next ones."""
    for p in range(s.rules.num_players):
        s.lacks[p] = 0
        for rank in range(NUM_RANKS):
            s.lacks_beside[p, rank] = 0


@kernel(inline=True)
def possible_cards(s, player, cards):
    """Return those of some cards, a bit set, that `player` may hold."""
    for rank in range(NUM_RANKS):
        if s.lacks[player] >> rank & 1:
            cards &= ~cards_that_count(rank + 1)
    return cards


@kernel
def is_possible_hand(s, player, hand):
    """Whether no two cards of a hand are ranks that `player` does not hold beside each other."""
    rest = hand
    while rest:
        card = lowest_card(rest)
        rest &= rest - 1
        lacking = s.lacks_beside[player, card % NUM_RANKS]
        others = hand & ~(np.int64(1) << card)
        while others:
            if lacking >> lowest_card(others) % NUM_RANKS & 1:
                return False
            others &= others - 1
    return True
