"""Who knows which card in Wingspan (rules.md 14). A viewer is a player, SPECTATOR or OMNISCIENT."""

import numpy as np

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.games.wingspan.state import BATCH_BITS, IN_BONUS_HAND, IN_HAND, IN_TUCKED, PUBLIC_BIT


def _is_known(known, viewer):
    """Whether `viewer` is in a set of who knows a card; of an array of sets, an array."""
    return (known >> (PUBLIC_BIT if viewer == SPECTATOR else viewer) & 1 > 0) | (viewer == OMNISCIENT)


def known_birds(s, place, viewer):
    """The birds in a place (an entry of s.place) that `viewer` knows to lie there, ascending."""
    return np.flatnonzero((s.place == place) & _is_known(s.known, viewer)).tolist()


def known_bonuses(s, place, viewer):
    """The bonus cards in a place (an entry of s.bonus_place) that `viewer` knows to lie there, ascending."""
    return np.flatnonzero((s.bonus_place == place) & _is_known(s.bonus_known, viewer)).tolist()


def knows_bonuses(s, player, viewer):
    """Whether `viewer` knows all bonus cards of a player."""
    return len(known_bonuses(s, IN_BONUS_HAND + player, viewer)) == int(s.bonus_hands[player]).bit_count()


def birds_in_hand_or_tucked(s, player, viewer):
    """The birds of which player `viewer` knows that they are in the hand of a player or tucked from it, ascending."""
    is_there = (s.place == IN_HAND + player) | (s.place == IN_TUCKED + player)
    return np.flatnonzero(is_there & (s.taken > 0) & ~_is_known(s.known, viewer)).tolist()


def reshuffled_birds(s, viewer):
    """The birds of which player `viewer` knows that they were reshuffled and not seen since, ascending."""
    return np.flatnonzero(~_is_known(s.known, viewer) & _remembers(s.batch, viewer)).tolist()


def num_unseen_birds(s, viewer):
    """How many birds may lie in any place that has hidden cards, as far as player `viewer` knows."""
    return int(np.count_nonzero(~_is_known(s.known, viewer) & (s.taken == 0) & ~_remembers(s.batch, viewer)))


def reshuffled_bonuses(s, viewer):
    """As `reshuffled_birds`, of bonus cards."""
    return np.flatnonzero(~_is_known(s.bonus_known, viewer) & _remembers(s.bonus_batch, viewer)).tolist()


def _remembers(batch, viewer):
    """Whether `viewer` knows of each card that it was reshuffled; `batch` is s.batch or s.bonus_batch."""
    secret_of = batch >> BATCH_BITS
    return (batch > 0) & ((secret_of == 0) | (secret_of == 1 + viewer))
