"""Who knows which cards (rules.md 14). A viewer is a player, SPECTATOR or OMNISCIENT."""

import numpy as np

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.games.wingspan.state import BATCH_BITS, IN_BONUS_HAND, IN_HAND, IN_TUCKED, PUBLIC_BIT


def _is_known(known, viewer):
    """Return whether `viewer` is in `known`, the set of those who know a card; elementwise for an array."""
    return (known >> (PUBLIC_BIT if viewer == SPECTATOR else viewer) & 1 > 0) | (viewer == OMNISCIENT)


def known_birds(s, place, viewer):
    """Return the birds that `viewer` knows to be in a place (an entry of s.place), ascending."""
    return np.flatnonzero((s.place == place) & _is_known(s.known, viewer)).tolist()


def known_bonuses(s, place, viewer):
    """Return the bonus cards that `viewer` knows to be in a place (an entry of s.bonus_place), ascending."""
    return np.flatnonzero((s.bonus_place == place) & _is_known(s.bonus_known, viewer)).tolist()


def knows_bonuses(s, player, viewer):
    """Return whether `viewer` knows all bonus cards of a player."""
    return len(known_bonuses(s, IN_BONUS_HAND + player, viewer)) == int(s.bonus_hands[player]).bit_count()


def birds_in_hand_or_tucked(s, player, viewer):
    """Return the birds that `viewer`, a player, knows to be in the hand of a player or tucked from it, ascending."""
    is_there = (s.place == IN_HAND + player) | (s.place == IN_TUCKED + player)
    return np.flatnonzero(is_there & (s.taken > 0) & ~_is_known(s.known, viewer)).tolist()


def reshuffled_birds(s, viewer):
    """Return the birds that `viewer`, a player, knows to have been reshuffled and not seen since, ascending."""
    return np.flatnonzero(~_is_known(s.known, viewer) & _remembers(s.batch, viewer)).tolist()


def num_unseen_birds(s, viewer):
    """Return the number of birds of which `viewer`, a player, knows nothing: they may be in any hidden place."""
    return int(np.count_nonzero(~_is_known(s.known, viewer) & (s.taken == 0) & ~_remembers(s.batch, viewer)))


def reshuffled_bonuses(s, viewer):
    """Return the bonus cards that `viewer`, a player, knows to have been reshuffled and not seen since, ascending."""
    return np.flatnonzero(~_is_known(s.bonus_known, viewer) & _remembers(s.bonus_batch, viewer)).tolist()


def _remembers(batch, viewer):
    """Return for each card whether `viewer` knows that it was reshuffled; `batch` is s.batch or s.bonus_batch."""
    secret_of = batch >> BATCH_BITS
    return (batch > 0) & ((secret_of == 0) | (secret_of == 1 + viewer))
