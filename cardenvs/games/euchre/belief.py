"""Likely worlds: hands that agree with the bids of the rule agent."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import substream_seed
from cardenvs.core.seats import wrap
from cardenvs.games.euchre.heuristic import choose_bid
from cardenvs.games.euchre.state import NUM_PLAYERS, PASS, TRUMP_0, is_taken
from cardenvs.games.euchre.worlds import cards_held, determinize

_BELIEF = 2  # chance source
_MOST_TRIES = 8
_U1 = np.uint64(1)


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, such that the others bid as the rule agent does, if a few tries find this.

    Of worlds that do not agree, the one with the fewest other bids is taken. Knows no more than `determinize`: bids are
    public, and all else begins with its worlds.
    """
    best, least = seed, np.int64(100)
    for k in range(_MOST_TRIES):
        trial = np.int64(substream_seed(seed, _BELIEF, k) >> _U1)
        determinize(s, player, trial)
        wrong = _contradictions(s, player)
        if wrong == 0:
            return
        if wrong < least:
            best, least = trial, wrong
    determinize(s, player, best)


@kernel
def _contradictions(s, player):
    """Return how many bids of others are not those that the rule agent would make with their hands."""
    number = np.int64(0)
    bidder = np.int64(s.dealer)
    for k in range(s.passes + (s.trump >= 0)):
        bidder = wrap(bidder + 1, NUM_PLAYERS)
        if bidder == player:
            continue
        hand = cards_held(s, bidder)
        if bidder == s.dealer and is_taken(s):
            hand &= ~(np.int64(1) << s.upcard)
        may_pass = not s.rules.stick_the_dealer or k < 2 * NUM_PLAYERS - 1
        bid = np.int64(PASS) if k < s.passes else np.int64(TRUMP_0 + s.trump)
        number += choose_bid(s, bidder, hand, k >= NUM_PLAYERS, may_pass) != bid
    return number
