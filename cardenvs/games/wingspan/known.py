"""Who knows which card in Wingspan (rules.md 14). A viewer is a player, SPECTATOR or OMNISCIENT."""

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.games.wingspan.cards import NUM_BIRDS, NUM_BONUSES
from cardenvs.games.wingspan.state import BATCH_BITS, IN_BONUS_HAND, IN_HAND, IN_TUCKED, PUBLIC_BIT


def _is_known(known, viewer):
    """Whether `viewer` is in a set of who knows a card."""
    return viewer == OMNISCIENT or bool(int(known) >> (PUBLIC_BIT if viewer == SPECTATOR else viewer) & 1)


def knows_bird(s, bird, viewer):
    """Whether `viewer` knows where a bird lies."""
    return _is_known(s.known[bird], viewer)


def known_birds(s, place, viewer):
    """The birds in a place (an entry of s.place) that `viewer` knows to lie there, ascending."""
    return [bird for bird in range(NUM_BIRDS) if s.place[bird] == place and knows_bird(s, bird, viewer)]


def known_bonuses(s, place, viewer):
    """The bonus cards in a place (an entry of s.bonus_place) that `viewer` knows to lie there, ascending."""
    return [
        card for card in range(NUM_BONUSES) if s.bonus_place[card] == place and _is_known(s.bonus_known[card], viewer)
    ]


def knows_bonuses(s, player, viewer):
    """Whether `viewer` knows all bonus cards of a player."""
    return len(known_bonuses(s, IN_BONUS_HAND + player, viewer)) == int(s.bonus_hands[player]).bit_count()


def birds_in_hand_or_tucked(s, player, viewer):
    """The birds of which player `viewer` knows that they are in the hand of a player or tucked from it, ascending."""
    places = (IN_HAND + player, IN_TUCKED + player)
    return [b for b in range(NUM_BIRDS) if s.taken[b] and s.place[b] in places and not knows_bird(s, b, viewer)]


def reshuffled_birds(s, viewer):
    """The birds of which player `viewer` knows that they were reshuffled and not seen since, ascending."""
    return [b for b in range(NUM_BIRDS) if not knows_bird(s, b, viewer) and _remembers(s.batch[b], viewer)]


def reshuffled_bonuses(s, viewer):
    """As `reshuffled_birds`, of bonus cards."""
    return [
        card
        for card in range(NUM_BONUSES)
        if not _is_known(s.bonus_known[card], viewer) and _remembers(s.bonus_batch[card], viewer)
    ]


def _remembers(batch, viewer):
    """Whether `viewer` knows that a card was reshuffled; `batch` is of s.batch or s.bonus_batch."""
    return int(batch) > 0 and int(batch) >> BATCH_BITS in (0, 1 + viewer)
