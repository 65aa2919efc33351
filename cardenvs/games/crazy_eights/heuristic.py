"""A policy for Crazy Eights that plays as at a club table: it keeps eights for last and hits who is nearly out.

It uses only what the player to act may know: the own hand, the discards and hand sizes.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.crazy_eights import actions, state
from cardenvs.games.crazy_eights.state import EIGHT, NUM_SUITS, PACK, RANK_OF, RANK_SETS, points_of
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.shedding import next_player

# Weights, set by judgement, in tenths of a card that can follow
_FOLLOWING = 10  # for each card left that fits on the one played
_EIGHT_COST = 60  # of using an eight
_FEW = 2  # cards with which a player is nearly out
_SHED = 2  # for each point, when somebody is
_HIT = 30  # a card that stops a next player who is nearly out
_SAVED = 5  # cost of such a card while the next player is not
_AGAIN = 15  # gain if its player is to move again

_SUIT_SETS = PACK.suit_sets


@kernel
def heuristic(s, legal, n, rng):
    """Play the card that leaves the best hand, and draw only if none fits.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    player = np.int64(s.current_player)
    if s.phase == state.NAME:
        return np.int64(actions.NAME_0 + _best_suit(s, player))
    best, most = np.int64(legal[n - 1]), np.int64(-(1 << 30))  # to draw or pass
    cards, is_close = actions.playable(s, player), _is_close(s, player)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        worth = _worth(s, player, card, is_close)
        if worth > most:
            best, most = card, worth
    return best


@kernel
def _best_suit(s, player):
    """Return the suit with most cards in hand besides eights; of two such, the one with more points."""
    best, most = np.int64(0), np.int64(-1)
    for suit in range(NUM_SUITS):
        cards = s.hands[player] & _SUIT_SETS[suit] & ~RANK_SETS[EIGHT]
        worth = 1000 * count_bits(cards)
        while cards:
            worth += points_of(s.rules, lowest_card(cards))
            cards &= cards - 1
        if worth > most:
            best, most = np.int64(suit), worth
    return best


@kernel
def _is_close(s, player):
    """Return whether another player is nearly out."""
    is_close = False
    for p in range(s.rules.num_players):
        is_close = is_close or (p != player and s.hand_sizes[p] <= _FEW)
    return is_close


@kernel
def _worth(s, player, card, is_close):
    """Return what playing a card is worth."""
    rank = card // NUM_SUITS
    bit = np.int64(1) << card
    left = s.hands[player] & (~bit | s.doubles[player])
    worth = _SHED * points_of(s.rules, card) if is_close else np.int64(0)
    if rank == EIGHT:
        return worth + _FOLLOWING * count_bits(left & _SUIT_SETS[_best_suit(s, player)]) - _EIGHT_COST
    worth += _FOLLOWING * count_bits(left & (RANK_SETS[rank] | _SUIT_SETS[card % NUM_SUITS]) & ~RANK_SETS[EIGHT])
    if rank == RANK_OF[s.rules.skip] or rank == RANK_OF[s.rules.reverse] or rank == RANK_OF[s.rules.draw_two]:
        worth += _HIT if s.hand_sizes[next_player(s, player)] <= _FEW else -_SAVED
        if s.rules.num_players == 2 and rank == RANK_OF[s.rules.skip]:
            worth += _AGAIN
    return worth
