"""What the other players of Spades may hold, given what they have bid: worlds for search."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.spades.heuristic import expected_tricks, nil_chance
from cardenvs.games.spades.state import NUM_PLAYERS, PACK
from cardenvs.games.spades.worlds import determinize
from cardenvs.kits.bids import NO_BID
from cardenvs.kits.redeal import likelier_worlds

_BELIEF = 3  # chance source
_NUM_TRIES = 12
_SPREAD = 1.0  # tricks by which bids differ from what hands promise
_ALL_CARDS = PACK.all_cards


@kernel
def _plausibility(s, player):
    """Return how well the other hands agree with their bids, from 0 to 1."""
    distance, chance = 0.0, 1.0
    for p in range(NUM_PLAYERS):
        if p == player or s.bids[p] == NO_BID or s.blind[p]:
            continue
        hand = s.hands[p] | s.cards_played[p]
        if s.bids[p] == 0:
            chance *= nil_chance(hand, _ALL_CARDS & ~hand)
        else:
            distance += ((expected_tricks(hand, _ALL_CARDS & ~hand) - s.bids[p]) / _SPREAD) ** 2
    return chance * np.exp(-distance / 2)


_sample = likelier_worlds(determinize, _plausibility, _BELIEF)


@kernel
def has_seen_bids(s, player):
    """Return whether another player has made a bid after a look at the cards."""
    found = False
    for p in range(NUM_PLAYERS):
        found = found or (p != player and s.bids[p] != NO_BID and not s.blind[p])
    return found


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, preferring hands that promise as many tricks as their owners have bid.

    It is one of some worlds of `determinize`, each as likely as its hands agree with the bids.
    """
    _sample(s, player, seed, _NUM_TRIES if has_seen_bids(s, player) else 0)
