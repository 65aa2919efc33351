"""Which hidden cards of a hand were dealt and which were drawn: what the order of drawing proves (9.3).

Trumps that nobody was dealt (`s.undealt`) are in the talon or have been drawn. So a world needs the number of drawn
cards among the hidden cards of each hand. `s.drawn[p, r]` is the share of all ways in which this number is r for player
p: a card that p plays may be any of the hidden cards, unless it is one of those trumps, which must have been drawn.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_unit
from cardenvs.kits.cards import count_bits

_BITS = 8  # for each player in packed numbers of cards


@kernel(inline=True)
def hidden_cards(s, player):
    """Return the cards of `player` that not everybody has seen, as a bit set."""
    return s.hands[player] & ~s.known[player]


@kernel
def note_draw(s, player):
    """Note that `player` draws a card face down."""
    if s.undealt == 0:
        return
    for r in range(count_bits(hidden_cards(s, player)), -1, -1):
        s.drawn[player, r + 1] = s.drawn[player, r]
    s.drawn[player, 0] = 0


@kernel
def note_seen(s, player, card):
    """Note that everybody sees `card`, which is still in the hand of `player`."""
    if s.undealt == 0 or s.known[player] >> card & 1:
        return
    hidden = count_bits(hidden_cards(s, player))
    may_be_dealt = 1 - (s.undealt >> card & 1)
    total = 0.0
    for r in range(hidden):
        ways = s.drawn[player, r + 1] * (r + 1) + s.drawn[player, r] * (hidden - r) * may_be_dealt
        s.drawn[player, r] = ways
        total += ways
    s.drawn[player, hidden] = 0
    for r in range(hidden):
        s.drawn[player, r] /= total


@kernel
def choose_origins(s, player, num_undealt):
    """Return how many hidden cards of each other player were drawn in a random world, packed, and their sum.

    The number of worlds with r[p] drawn cards is the product of s.drawn[p, r[p]] times the number of ways to place the
    `num_undealt` unseen trumps among the talon and all drawn cards. Candidates are drawn from the product and
    accepted in proportion to the number of ways.
    """
    if num_undealt == 0:  # then it does not matter
        return np.int64(0), np.int64(0)
    most = s.num_face_down
    for p in range(s.rules.num_players):
        if p != player:
            most += _most_drawn(s, p)
    while True:
        chosen, total = np.int64(0), np.int64(0)
        for p in range(s.rules.num_players):
            if p != player:
                r = _choose_drawn(s, p)
                chosen |= np.int64(r) << _BITS * p
                total += r
        accepted = 1.0
        for k in range(num_undealt):
            accepted *= max(total + s.num_face_down - k, 0) / (most - k)
        if random_unit(s.rng) < accepted:
            return chosen, total


@kernel(inline=True)
def num_drawn(chosen, player):
    """Return the number of drawn cards of `player` in a result of `choose_origins`."""
    return chosen >> _BITS * player & (1 << _BITS) - 1


@kernel
def _most_drawn(s, player):
    r = count_bits(hidden_cards(s, player))
    while s.drawn[player, r] == 0:
        r -= 1
    return r


@kernel
def _choose_drawn(s, player):
    left = random_unit(s.rng)
    r = np.int64(0)
    most = _most_drawn(s, player)
    while r < most and left >= s.drawn[player, r]:
        left -= s.drawn[player, r]
        r += 1
    return r
