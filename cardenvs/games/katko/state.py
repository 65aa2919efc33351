"""Options, state record and table of Katko. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.deck import deck_fields, stock_of
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.tricks import MUST_FOLLOW, trick_fields

MAX_PLAYERS = 7
MAX_HAND = 10
HAND_SIZE = 5  # of a poker hand
MAX_TARGET = 10
MAX_DEALS = MAX_PLAYERS * (MAX_TARGET - 1) + 1 + MAX_PLAYERS  # see rules.max_length
NUM_VOIDS = 16  # sets of suits

EXCHANGE, PLAY = 0, 1
PHASES = ("exchange", "play")

WINNER_DEALS = LEFT_OF_DEALER = 0  # values of options in a record

# Actions: play card c, set card c aside, done with the exchange.
PLAY_0 = 0
SET_ASIDE_0 = NUM_CARDS
DONE = 2 * NUM_CARDS

# What explain_illegal returns.
EXCHANGES, EXCHANGE_IS_OVER, REST_IS_SHORT = range(MUST_FOLLOW + 1, MUST_FOLLOW + 4)


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
        *deck_fields(NUM_CARDS),  # `num_dealt` counts from the last shuffle
        *trick_fields(MAX_PLAYERS, MAX_HAND),
        ("set_aside", "i8", (MAX_PLAYERS,)),  # since the last shuffle                            seen by: owner
        ("num_setting_aside", "i1"),  # by the player who exchanges now                           seen by: all
        ("gone", "i8"),  # played in earlier deals since the last shuffle                         seen by: all
        ("last_played", "i8", (MAX_PLAYERS,)),  # in the deal before                              seen by: all
        # Number of cards in `set_aside` by the set of suits that they are known to lack (6.1)     seen by: all
        ("put_away", "i1", (MAX_PLAYERS, NUM_VOIDS)),
        ("phase", "i1"),
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

TABLE = Table(MAX_PLAYERS)

REST = TABLE.pile("rest", layout="stack", tokens=stock_of, seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner")
SET_ASIDE = TABLE.pile("set_aside", per_player=True, layout="fan", cards="set_aside", seen="owner")
PLAYED = TABLE.pile("played", per_player=True, ordered=True, layout="trick", tokens="played")
GONE = TABLE.pile("gone", layout="stack", cards="gone")

DEALER = TABLE.counter("dealer", use="player", value="dealer")
SCORE = TABLE.counter("score", per_player=True, value="scores")

NEW_DEAL = TABLE.event("new_deal", Op.SET, "Deal {value}.", opens=Part.HAND)
DEAL_NUMBER = TABLE.counter("deal_number", value="num_deals")
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.")
PUT_AWAY = TABLE.event("put_away", Op.MOVE_ALL, "The cards of the last deal are put away.", is_detail=True)
PUT_HAND_AWAY = TABLE.event("put_hand_away", Op.MOVE, "{player} puts {token} away.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
SETS_ASIDE = TABLE.event("set_aside", Op.MOVE, "{player} sets {token} aside.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
KEEPS = TABLE.event("keep", Op.NOTE, "{player} exchanges no more.")
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} wins trick {value}.", closes=Part.TRICK)
SCORES = TABLE.event("score", Op.SET, "{player} has a score of {value}.", closes=Part.HAND)
POKER_HAND = TABLE.event("poker_hand", Op.NOTE, "{player} had the best poker hand.", closes=Part.HAND)
NO_POKER_HAND = TABLE.event("no_poker_hand", Op.NOTE, "No poker hand was better than all others.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.")
FORFEITS = declare_forfeit(TABLE)
