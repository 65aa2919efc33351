"""Likely worlds: hands that agree with what the calls promise in the natural system (decision 0009)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import substream_seed
from cardenvs.games.bridge.cards import SUIT_OF_DENOMINATION, cards_played, high_card_points, length
from cardenvs.games.bridge.reading import new_reading, read_auction
from cardenvs.games.bridge.state import NUM_PLAYERS
from cardenvs.games.bridge.worlds import determinize, sees_hand

_BELIEF = 3  # chance source
_MOST_TRIES = 64
_U1 = np.uint64(1)


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know until the hands agree with the calls, or else as well as any of 64 tries.

    Knows no more than `determinize`: calls are public, and the tries differ in their seeds only.
    """
    r = new_reading()
    read_auction(s, r)
    best, least = seed, np.int64(1 << 30)
    for k in range(_MOST_TRIES):
        trial = np.int64(substream_seed(seed, _BELIEF, k) >> _U1)
        determinize(s, player, trial)
        wrong = 0
        for p in range(NUM_PLAYERS):
            if not sees_hand(s, player, p):
                wrong += _contradiction(r, p, s.hands[p] | cards_played(s, p))
        if wrong == 0:
            return
        if wrong < least:
            best, least = trial, wrong
    determinize(s, player, best)


@kernel
def _contradiction(r, player, cards):
    """Return by how many points and cards the hand of `player` at the deal contradicts their calls."""
    points, long_cards, missing = high_card_points(cards), 0, 0
    for denomination in range(4):
        number = length(cards, np.int64(SUIT_OF_DENOMINATION[denomination]))
        long_cards += max(number - 4, 0)
        missing += max(r.lengths[player, denomination] - number, 0)
    return 2 * missing + max(r.low[player] - points - long_cards, 0) + max(points - r.high[player], 0)
