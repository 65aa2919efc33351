"""Options and state record of Katko. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.cards import NUM_CARDS
from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record

MAX_PLAYERS = 7
MAX_HAND = 10
HAND_SIZE = 5  # of a poker hand
MAX_TARGET = 10
MAX_DEALS = MAX_PLAYERS * (MAX_TARGET - 1) + 1 + MAX_PLAYERS  # see rules.max_length
NUM_VOIDS = 16  # sets of suits
NO_CARD = -1

EXCHANGE, PLAY = 0, 1
PHASES = ("exchange", "play")

# Values of options in a record.
WINNER_DEALS = 0
LEFT_OF_DEALER = 0

# Actions: play card c, set card c aside, done with the exchange.
PLAY_0 = 0
SET_ASIDE_0 = NUM_CARDS
DONE = 2 * NUM_CARDS

# What explain_illegal returns.
NOT_HELD, MUST_FOLLOW, EXCHANGES, EXCHANGE_IS_OVER, REST_IS_SHORT = range(1, 6)


@dataclass(frozen=True)
class KatkoOptions(Options):
    """Options of Katko."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    cards_per_player: int = option(HAND_SIZE, low=1, high=MAX_HAND, doc="cards of each player in a deal")
    target: int = option(3, low=1, high=MAX_TARGET, doc="points that win the match; 1: a single deal")
    two_rule: bool = option(False, doc="whether a 2 that wins the last trick scores 2 points (3.3)")
    deal_from_rest: bool = option(True, doc="whether the next deal comes from the undealt cards (2.2)")
    next_dealer: str = option("winner", choices=("winner", "rotate"), doc="who deals next (2.3)")
    leader: str = option("left_of_dealer", choices=("left_of_dealer", "winner"), doc="who leads (2.4)")
    poker_point: bool = option(False, doc="whether cards are exchanged and the best poker hand scores (4)")

    def check(self):
        """Raise OptionError if there are too few cards, or poker hands of another size than five."""
        if self.num_players * self.cards_per_player > NUM_CARDS:
            raise OptionError(f"{self.num_players} players with {self.cards_per_player} cards need more than 52 cards")
        if self.poker_point and self.cards_per_player != HAND_SIZE:
            raise OptionError("poker_point needs cards_per_player=5")


STATE = record(
    rules_dtype(KatkoOptions),
    MAX_PLAYERS,
    [
        ("deck", "i1", (NUM_CARDS,)),  # dealing order; deck[num_dealt:] is the rest, next first  seen by: nobody
        ("num_dealt", "i1"),  # since the last shuffle                                            seen by: all
        ("hands", "i8", (MAX_PLAYERS,)),  # bit sets of cards                                     seen by: owner
        ("set_aside", "i8", (MAX_PLAYERS,)),  # since the last shuffle                            seen by: owner
        ("num_setting_aside", "i1"),  # by the player who exchanges now                           seen by: all
        ("played", "i1", (MAX_PLAYERS, MAX_HAND)),  # cards of this deal, by trick, or NO_CARD    seen by: all
        ("gone", "i8"),  # played in earlier deals since the last shuffle                         seen by: all
        ("last_played", "i8", (MAX_PLAYERS,)),  # in the deal before                              seen by: all
        ("voids", "u1", (MAX_PLAYERS,)),  # bit set of suits that p has shown not to hold         seen by: all
        # Cards in `set_aside` that were a hand without the suits of a set, by that set (6.1)     seen by: all
        ("put_away", "i1", (MAX_PLAYERS, NUM_VOIDS)),
        ("phase", "i1"),
        ("trick", "i1"),  # 0, 1, ...
        ("leader", "i1"),  # of this trick; while cards are exchanged, of the first
        ("dealer", "i1"),
        ("num_deals", "i2"),
        ("num_shuffles", "i2"),
        ("scores", "i1", (MAX_PLAYERS,)),
        ("last_winner", "i1"),  # of the last trick of the deal before, or NO_PLAYER
        # By deal: who won its last trick (or NO_PLAYER), the points of that, and who had the poker point.
        ("winners", "i1", (MAX_DEALS,)),
        ("points", "i1", (MAX_DEALS,)),
        ("poker_winners", "i1", (MAX_DEALS,)),
    ],
)


def deck(options):
    """Return all cards of the game."""
    return np.arange(NUM_CARDS, dtype=np.int16)
