"""Who knows which card in Wingspan (rules.md 14). A viewer is a player, SPECTATOR or OMNISCIENT."""

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.games.wingspan.cards import NUM_BIRDS, NUM_BONUSES
from cardenvs.games.wingspan.state import IN_BONUS_HAND, PUBLIC_BIT


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
