"""Likely worlds: hands that agree with what the calls promise in the natural system (decision 0009)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, substream_seed
from cardenvs.games.bridge.agreement import has_natural_auction
from cardenvs.games.bridge.evaluation import high_card_points, is_balanced, length_of
from cardenvs.games.bridge.reading import new_reading, read_auction
from cardenvs.games.bridge.state import NUM_PLAYERS
from cardenvs.games.bridge.worlds import determinize, exchange_cards, sees_hand

_BELIEF = 3  # chance source
_MOST_TRIES = 32
_MOST_EXCHANGES = 400
_U1 = np.uint64(1)


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, such that the hands agree with the calls if that can be found.

    The first of several worlds that agrees is taken. If none does, the best one is improved by exchanging cards between
    hidden hands. Knows no more than `determinize`: calls are public, and all else begins with its worlds. These agree
    already if the calls were made by natural bidders.
    """
    if has_natural_auction(s):
        determinize(s, player, seed)
        return
    r = new_reading()
    read_auction(s, r)
    best, least = seed, np.int64(1 << 30)
    for k in range(_MOST_TRIES):
        trial = np.int64(substream_seed(seed, _BELIEF, k) >> _U1)
        determinize(s, player, trial)
        wrong = np.int64(0)
        for p in range(NUM_PLAYERS):
            if not sees_hand(s, player, p):
                wrong += _contradiction(s, r, p)
        if wrong == 0:
            return
        if wrong < least:
            best, least = trial, wrong
    determinize(s, player, best)
    _exchange(s, r, player, least)


@kernel
def _exchange(s, r, player, wrong):
    """Exchange cards of two hidden hands at random, unless the contradiction grows, until there is none."""
    for _ in range(_MOST_EXCHANGES):
        if wrong == 0:
            return
        p, q = random_below(s.rng, NUM_PLAYERS), random_below(s.rng, NUM_PLAYERS)
        if p == q or sees_hand(s, player, p) or sees_hand(s, player, q):
            continue
        before = _contradiction(s, r, p) + _contradiction(s, r, q)
        hand_p, hand_q = s.hands[p], s.hands[q]
        if not exchange_cards(s, p, q):
            continue
        after = _contradiction(s, r, p) + _contradiction(s, r, q)
        if after > before:
            s.hands[p], s.hands[q] = hand_p, hand_q
        else:
            wrong += after - before


@kernel
def _contradiction(s, r, player):
    """Return by how many points and cards the hand of `player` at the deal contradicts their calls."""
    cards = s.hands[player] | s.cards_played[player]
    points, long_cards, missing = high_card_points(cards), 0, 0
    for denomination in range(4):
        number = length_of(cards, denomination)
        long_cards += max(number - 4, 0)
        missing += max(r.lengths[player, denomination] - number, 0)
    if r.balanced[player] and not is_balanced(cards):
        missing += 1
    too_few = max(r.low[player] - points - long_cards, r.high_cards[player] - points, 0)
    return np.int64(2 * missing + too_few + max(points - r.high[player], 0))
