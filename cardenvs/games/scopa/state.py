"""Options and state record of Scopa. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.cards import NUM_ITALIAN
from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record

MAX_PLAYERS = 6
MAX_SIDES = 3
SUIT_SIZE = 10
NUM_SUITS = 4
TABLE_SIZE = 4
ROUND_SIZE = 3  # cards of a player in each round
MAX_TARGET = 31
MAX_HANDS = 100  # of a match (5.3)
MAX_DEALS = 20  # for one hand, if they are void (7.1)
NO_CARD = -1
NO_SIDE = -1

SLOTS = 25  # captures that a card can have at most, on any table that play can lead to (tests/games/test_scopa.py)

# Values of options in a record.
SCOPONE_OFF, SCOPONE_NINE, SCOPONE_TEN = range(3)
AUTO_LARGEST = 1

# What explain_illegal returns.
NOT_HELD, NO_SUCH_CAPTURE = 1, 2


@dataclass(frozen=True)
class ScopaOptions(Options):
    """Options of Scopa."""

    num_players: int = option(2, values=(2, 3, 4, MAX_PLAYERS), doc="players; 4 and 6 form two sides")
    target: int = option(11, low=1, high=MAX_TARGET, optional=True, doc="points that win a match; None: one hand")
    scopone: str = option("none", choices=("none", "nine", "ten"), doc="cards dealt at once to four players (2.3)")
    redeal_kings: bool = option(True, doc="whether three kings on the first table make a deal void (2.4)")
    capture_choice: str = option("player", choices=("player", "auto_largest"), doc="who chooses a capture (3.3)")
    last_card_scopa: bool = option(False, doc="whether the last card of a hand can score a scopa (3.5)")
    primiera_needs_all_suits: bool = option(True, doc="whether a missing suit forbids the primiera (4.2)")
    asso_piglia_tutto: bool = option(False, doc="whether an ace takes everything (3.7)")
    rebello: bool = option(False, doc="a point for the king of diamonds (4.3)")
    napola: bool = option(False, doc="points for A 2 3 ... of diamonds (4.4)")

    def check(self):
        """Raise OptionError for scopone without four players."""
        if self.scopone != "none" and self.num_players != 4:
            raise OptionError(f"scopone={self.scopone} needs num_players=4; got {self.num_players}")


STATE = record(
    rules_dtype(ScopaOptions),
    MAX_PLAYERS,
    [
        ("deck", "i1", (NUM_ITALIAN,)),  # deck[num_dealt:] is the stock, next first        seen by: nobody
        ("num_dealt", "i1"),  #                                                             seen by: all
        # Bit sets of cards
        ("hands", "i8", (MAX_PLAYERS,)),  #                                                 seen by: owner
        ("table", "i8"),  #                                                                 seen by: all
        ("won", "i8", (MAX_SIDES,)),  # taken in this hand                                  seen by: all
        ("last_won", "i8", (MAX_SIDES,)),  # in the hand before                             seen by: all
        ("last_table", "i8"),  # what was left to nobody in the hand before (7.2)           seen by: all
        # Seen by all
        ("scope", "i1", (MAX_SIDES,)),  # in this hand
        ("last_taker", "i1"),  # side that took last in this hand, or NO_SIDE
        ("dealer", "i1"),
        ("num_hands", "i2"),  # begun
        ("num_shuffles", "i2"),
        ("scores", "i2", (MAX_SIDES,)),
        ("hand_points", "i1", (MAX_HANDS, MAX_SIDES)),  # of the hands that are over
    ],
)


def deck(options):
    """Return all cards of the game."""
    return np.arange(NUM_ITALIAN, dtype=np.int16)
