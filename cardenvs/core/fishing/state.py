"""State fields of fishing games."""

import numpy as np

from cardenvs.core.cards import NUM_CARDS

MAX_PLAYERS = MAX_SIDES = 4
ROUND_SIZE = 4  # cards of a hand, and of the first table
MAX_HANDS = 60  # of a match
NO_CARD = -1
NO_SIDE = -1

ALL_CARDS = (1 << NUM_CARDS) - 1
SPADES = (1 << 13) - 1
ACES = sum(1 << 13 * suit for suit in range(4))

FIELDS = [
    ("deck", "i1", (NUM_CARDS,)),  # deck[num_dealt:] is the stock, next first         seen by: nobody
    ("num_dealt", "i1"),  #                                                            seen by: all
    # Bit sets of cards
    ("hands", "i8", (MAX_PLAYERS,)),  #                                                seen by: owner
    ("table", "i8"),  # loose cards                                                    seen by: all
    ("won", "i8", (MAX_SIDES,)),  # captured in this hand                              seen by: all
    ("last_won", "i8", (MAX_SIDES,)),  # at the end of the hand before                 seen by: all
    ("last_table", "i8"),  # what was left to nobody in the hand before                seen by: all
    # Seen by all
    ("sweeps", "i1", (MAX_SIDES,)),  # of this hand that still count
    ("last_taker", "i1"),  # side that captured last in this hand, or NO_SIDE
    ("dealer", "i1"),
    ("num_hands", "i2"),  # begun
    ("scores", "i2", (MAX_SIDES,)),
    ("hand_scores", "i2", (MAX_HANDS, MAX_SIDES)),  # scores at the end of each hand
]


def deck(options):
    """Return all cards of the game."""
    return np.arange(NUM_CARDS, dtype=np.int16)
