"""State fields of fishing games."""

from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.deck import deck_fields

MAX_PLAYERS = MAX_SIDES = 4
ROUND_SIZE = 4  # cards of a hand, and of the first table
MAX_HANDS = 60  # of a match

ALL_CARDS = (1 << NUM_CARDS) - 1
SPADES = (1 << 13) - 1
ACES = sum(1 << 13 * suit for suit in range(4))


def fields(num_cards, max_players, max_sides):
    """Return the fields of fishing games with any deck, for `record`."""
    return [
        *deck_fields(num_cards),
        # Bit sets of cards
        ("hands", "i8", (max_players,)),  #                                                seen by: owner
        ("table", "i8"),  # loose cards                                                    seen by: all
        ("won", "i8", (max_sides,)),  # captured in this hand                              seen by: all
        ("last_won", "i8", (max_sides,)),  # at the end of the hand before                 seen by: all
        ("last_table", "i8"),  # what was left to nobody in the hand before                seen by: all
        # Seen by all
        ("sweeps", "i1", (max_sides,)),  # of this hand that still count
        ("last_taker", "i1"),  # side that captured last in this hand, or NO_SIDE
        ("dealer", "i1"),
        ("num_hands", "i2"),  # begun
        ("scores", "i2", (max_sides,)),
    ]


FIELDS = [
    *fields(NUM_CARDS, MAX_PLAYERS, MAX_SIDES),
    ("hand_scores", "i2", (MAX_HANDS, MAX_SIDES)),  # scores at the end of each hand      seen by: all
]
