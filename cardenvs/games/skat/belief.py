"""What the other players of Skat may hold, given the auction and the game: worlds for search."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.skat.heuristic import limit_of
from cardenvs.games.skat.state import AUCTION, NO_GAME, NUM_PLAYERS, OPENSPIEL, VALUES
from cardenvs.games.skat.valuing import PLAYED, chance_to_win
from cardenvs.games.skat.worlds import determinize
from cardenvs.kits.redeal import likelier_worlds

_BELIEF = 3  # chance source
_NUM_TRIES = 8
_UNLIKELY = 0.25  # weight of a hand that should have bid otherwise


@kernel
def _plausibility(s, player):
    """Return how well the other hands agree with bids and game, from 0 to 1."""
    weight = 1.0
    for p in range(NUM_PLAYERS):
        if p == player:
            continue
        hand = s.hands[p] | s.cards_played[p]
        if p == s.soloist and s.took_skat:
            weight *= chance_to_win(np.int64(s.game), hand, s.skat, PLAYED) if s.game != NO_GAME else 1.0
        elif s.rules.bidding != OPENSPIEL:
            weight *= _agrees(s, p, limit_of(hand))
    return weight


@kernel(inline=True)
def _agrees(s, p, limit):
    """Return the weight of a hand that should bid up to `limit`: not less than its owner has, and not much more."""
    bid = np.int64(s.bids[p])
    if limit < VALUES[bid]:
        return _UNLIKELY
    return _UNLIKELY if s.passed[p] and limit > VALUES[min(bid + 3, VALUES.shape[0] - 1)] else 1.0


_sample = likelier_worlds(determinize, _plausibility, _BELIEF)


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, preferring hands that agree with what their owners have bid and named.

    It is one of some worlds of `determinize`, each as likely as its hands agree.
    """
    _sample(s, player, seed, _NUM_TRIES if s.rules.bidding != OPENSPIEL or s.phase != AUCTION else 0)
