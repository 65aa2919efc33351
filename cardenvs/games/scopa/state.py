"""Options, state record and table of Scopa. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import ITALIAN
from cardenvs.kits.fishing.state import fields
from cardenvs.kits.fishing.table import declare_counters, declare_piles
from cardenvs.kits.matches import declare_forfeit

MAX_PLAYERS = 6
MAX_SIDES = 3
NUM_CARDS = ITALIAN.size
SUIT_SIZE = 10
NUM_SUITS = 4
TABLE_SIZE = 4
ROUND_SIZE = 3  # cards of a player in each round
MAX_TARGET = 31
MAX_HANDS = 100  # of a match (5.3)
MAX_DEALS = 20  # for one hand, if they are void (7.1)

SLOTS = 25  # captures that a card can have at most, on any table that play can lead to (tests/games/test_scopa.py)

CARDS_AT_ONCE = {"none": ROUND_SIZE, "nine": 9, "ten": 10}  # of a player, by the option scopone
SCOPONE_TEN = 2  # its value in a record

# What explain_illegal returns.
NOT_HELD, NO_SUCH_CAPTURE = 1, 2


@dataclass(frozen=True)
class ScopaOptions(Options):
    """Options of Scopa."""

    num_players: int = option(2, values=(2, 3, 4, MAX_PLAYERS), doc="players; 4 and 6 form two sides")
    target: int = option(11, low=1, high=MAX_TARGET, optional=True, doc="points that win a match; None: one hand")
    scopone: str = option("none", choices=tuple(CARDS_AT_ONCE), doc="cards dealt at once to four players (2.3)")
    redeal_kings: bool = option(True, doc="whether three kings on the first table make a deal void (2.4)")
    capture_choice: str = option("player", choices=("player", "auto_largest"), doc="who chooses a capture (3.3)")
    last_card_scopa: bool = option(False, doc="whether the last card of a hand can score a scopa (3.5)")
    primiera_needs_all_suits: bool = option(True, doc="whether a missing suit forbids the primiera (4.2)")
    asso_piglia_tutto: bool = option(False, doc="whether an ace takes everything (3.7)")
    rebello: bool = option(False, doc="a point for the king of diamonds (4.3)")
    napola: bool = option(False, doc="points for A 2 3 ... of diamonds (4.4)")
    outcomes: bool = option(False, doc="whether observations say what each legal play would do")

    def check(self):
        """Raise OptionError for scopone without four players."""
        if self.scopone != "none" and self.num_players != 4:
            raise OptionError(f"scopone={self.scopone} needs num_players=4; got {self.num_players}")


STATE = record(
    rules_dtype(ScopaOptions),
    MAX_PLAYERS,
    [
        *fields(NUM_CARDS, MAX_PLAYERS, MAX_SIDES),
        ("num_shuffles", "i2"),  #                                                          seen by: all
        ("hand_points", "i1", (MAX_HANDS, MAX_SIDES)),  # of the hands that are over          seen by: all
    ],
)

TABLE = Table(MAX_PLAYERS)

STOCK, BOARD, HAND, WON = declare_piles(TABLE)
HAND_NUMBER, DEALER, SCOPE, SCORE = declare_counters(TABLE, "scope")

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NO_SCOPE = TABLE.event("no_scope", Op.SET, "{player}'s side has no scopa.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
LAID_OUT = TABLE.event("lay_out", Op.MOVE, "{token} is laid on the table.")
VOID = TABLE.event("void", Op.NOTE, "{value} kings on the table: the deal is void.")
LAYS = TABLE.event("lay", Op.MOVE, "{player} lays {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = TABLE.event("take", Op.MOVE, "{player} takes {token}.")
SCOPA = TABLE.event("scopa", Op.SET, "Scopa! {player}'s side has {value}.")
GETS_REST = TABLE.event("get_rest", Op.MOVE_ALL, "The cards left on the table go to {player}'s side.")
MOST_CARDS = TABLE.event("most_cards", Op.NOTE, "{player}'s side has most cards: 1 point.")
MOST_DIAMONDS = TABLE.event("most_diamonds", Op.NOTE, "{player}'s side has most diamonds: 1 point.")
SETTEBELLO = TABLE.event("settebello", Op.NOTE, "{player}'s side has the settebello: 1 point.")
PRIMIERA = TABLE.event("primiera", Op.NOTE, "{player}'s side has the best primiera: 1 point.")
REBELLO = TABLE.event("rebello", Op.NOTE, "{player}'s side has the king of diamonds: 1 point.")
NAPOLA = TABLE.event("napola", Op.NOTE, "{player}'s side has a napola: {value:point}.")
NEW_SCORE = TABLE.event("score", Op.SET, "{player}'s side has a score of {value}.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "Nobody wins after {value:hand}.")
FORFEITS = declare_forfeit(TABLE)
