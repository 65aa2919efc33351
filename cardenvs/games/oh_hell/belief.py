"""What the other players of Oh Hell may hold, given what they have bid: worlds for search."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.oh_hell.heuristic import expected_tricks
from cardenvs.games.oh_hell.rules import bids_are_hidden, determinize
from cardenvs.kits.bids import NO_BID
from cardenvs.kits.redeal import likelier_worlds

_BELIEF = 3  # chance source
_NUM_TRIES = 12
_SPREAD = 0.8  # tricks by which bids differ from what hands promise


@kernel
def has_seen_bids(s, player):
    """Return whether `player` sees a bid of another player."""
    for p in range(s.rules.num_players):
        if p != player and s.bids[p] != NO_BID:
            return not bids_are_hidden(s)
    return False


@kernel
def _plausibility(s, player):
    """Return how well the other hands agree with their bids, from 0 to 1."""
    distance = 0.0
    for p in range(s.rules.num_players):
        if p != player and s.bids[p] != NO_BID:
            distance += ((expected_tricks(s, p) - s.bids[p]) / _SPREAD) ** 2
    return np.exp(-distance / 2)


_sample = likelier_worlds(determinize, _plausibility, _BELIEF)


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, preferring hands that promise as many tricks as their owners have bid.

    It is one of some worlds of `determinize`, each as likely as its hands agree with the bids that `player` sees.
    """
    _sample(s, player, seed, _NUM_TRIES if has_seen_bids(s, player) else 0)
