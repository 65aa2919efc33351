"""Options, state record and table of Cribbage. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import Pack
from cardenvs.kits.deck import NO_CARD, deck_fields, stock_of
from cardenvs.kits.matches import declare_forfeit

MAX_PLAYERS = 4
HAND_SIZE = 4  # after the lay-away
MAX_PLAYED = MAX_PLAYERS * HAND_SIZE
MAX_SUM = 31
BEST_HAND = 29

PACK = Pack("A23456789TJQK", "cdhs")  # id = suit * 13 + rank, as in OpenSpiel
SUIT_SETS = PACK.suit_sets
VALUES = np.minimum(PACK.rank_index + 1, 10)  # what each card adds to the count (1.2)
# FITTING[k]: the cards that add at most k
FITTING = np.array([sum(1 << card for card in range(PACK.size) if VALUES[card] <= k) for k in range(MAX_SUM + 1)])

# By number of players (2.1)
DEALT_EACH = np.array([0, 0, 6, 5, 5])
LAID_EACH = DEALT_EACH - HAND_SIZE
DEALT_TO_CRIB = np.array([0, 0, 0, 1, 0])

LAY_AWAY, PLAY, SHOW = range(3)
PHASES = ("lay_away", "play", "show")

# Actions: card c, to lay away or to play; go; and with muggins, a count from 0 to 29.
GO = PACK.size
COUNT_0 = GO + 1

# Values of options in a record
FOUR = SEATS = ONE = 1

# What explain_illegal returns.
NOT_HELD, TOO_MUCH, CAN_PLAY, NO_GO, NO_COUNT, MUST_COUNT = range(1, 7)


@dataclass(frozen=True)
class CribbageOptions(Options):
    """Options of Cribbage."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players; four play in partnerships")
    target: int = option(121, values=(61, 121), doc="points that win a game (5.1)")
    crib_flush: str = option(
        "five", choices=("five", "four"), doc="cards of a suit that make a flush in the crib (4.4)"
    )
    show_order: str = option(
        "eldest_first", choices=("eldest_first", "seats"), doc="who counts first, and whether the target stops it (4.1)"
    )
    heels: int = option(2, low=0, high=2, doc="the dealer's points for a jack as starter (2.4)")
    explicit_go: bool = option(
        True, doc="whether a player who cannot play has the action go; else they are skipped (3.3)"
    )
    deals: str = option("game", choices=("game", "one"), doc="play to the target, or one deal for its points (5.3)")
    skunk: bool = option(False, doc="whether a game won by far counts two or three times (5.2)")
    muggins: bool = option(False, doc="whether players count their cards themselves, and may miss points (4.7)")
    first_dealer: int = option(0, low=0, high=MAX_PLAYERS - 1, doc="who deals first (2.1)")
    outcomes: bool = option(False, doc="whether observations say what each card would bring")

    def check(self):
        """Raise OptionError for a first dealer who is not at the table."""
        if self.first_dealer >= self.num_players:
            raise OptionError(f"first_dealer={self.first_dealer} is not one of {self.num_players} players, 0 to "
                              f"{self.num_players - 1}")  # fmt: skip


STATE = record(
    rules_dtype(CribbageOptions),
    MAX_PLAYERS,
    [
        *deck_fields(PACK.size),
        ("phase", "i1"),  #                                                              seen by: all
        ("dealer", "i1"),  #                                                             seen by: all
        ("num_deals", "i2"),  # begun                                                    seen by: all
        ("hands", "i8", (MAX_PLAYERS,)),  # bit sets                                     seen by: owner
        ("laid", "i8", (MAX_PLAYERS,)),  # cards that p has laid away                    seen by: p
        ("crib_card", "i1"),  # dealt to the crib, or NO_CARD                            seen by: nobody
        ("crib_is_shown", "u1"),  # whether all see the crib                             seen by: all
        ("starter", "i1"),  # or NO_CARD before the play                                 seen by: all
        ("played", "i8", (MAX_PLAYERS,)),  # cards that p has played in this deal        seen by: all
        ("sequence", "i1", (MAX_PLAYED,)),  # the cards of this deal as they were played   seen by: all
        ("played_by", "i1", (MAX_PLAYED,)),  # who played each of them                   seen by: all
        ("num_played", "i1"),  #                                                         seen by: all
        ("count_start", "i1"),  # sequence[count_start:num_played] is the present count    seen by: all
        ("total", "i1"),  # the count: 0..31                                             seen by: all
        ("goes", "i1"),  # bit set of players who have said go in this count             seen by: all
        ("floors", "i1", (MAX_PLAYERS,)),  # p has shown to hold no card that adds so little   seen by: all
        ("show_step", "i1"),  # hands counted; then the crib                             seen by: all
        ("scores", "i2", (MAX_PLAYERS,)),  # of each side                                seen by: all
        ("last_hands", "i8", (MAX_PLAYERS,)),  # of the deal before                      seen by: all
        ("last_crib", "i8"),  #                                                          seen by: all
        ("last_starter", "i1"),  # or NO_CARD in the first deal                          seen by: all
    ],
)


@kernel(inline=True)
def crib_of(s):
    """Return the cards in the crib, as a bit set."""
    crib = np.int64(0)
    for p in range(s.rules.num_players):
        crib |= s.laid[p]
    return crib if s.crib_card == NO_CARD else crib | np.int64(1) << s.crib_card


@kernel(inline=True)
def seen_in_crib(s, p):
    """Return the cards that player `p` has seen in the crib (6.1): all once it is shown, before that their own."""
    return crib_of(s) if s.crib_is_shown else s.laid[p]


@kernel(inline=True)
def in_count(s):
    """Return the cards of the present count, as a bit set."""
    cards = np.int64(0)
    for k in range(s.count_start, s.num_played):
        cards |= np.int64(1) << s.sequence[k]
    return cards


TABLE = Table(MAX_PLAYERS)

DECK = TABLE.pile("deck", layout="stack", tokens=stock_of, seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner")
CRIB = TABLE.pile("crib", layout="fan")
STARTER = TABLE.pile("starter", tokens="starter")
COUNT = TABLE.pile("count", tokens=lambda s: s.sequence[int(s.count_start) : int(s.num_played)])
PLAYED = TABLE.pile("played", per_player=True, layout="fan", cards=lambda s, p: s.played[p] & ~in_count(s))

DEAL_NUMBER = TABLE.counter("deal_number", value="num_deals")
DEALER = TABLE.counter("dealer", use="player", value="dealer")
TOTAL = TABLE.counter("total", value="total")
SAID_GO = TABLE.counter("go", per_player=True, use="flag", value=lambda s, p: s.goes >> p & 1)
SCORE = TABLE.counter("score", per_player=True, value="scores")  # by side

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
NEW_DEAL = TABLE.event("new_deal", Op.SET, "Deal {value}.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
DEALT_CRIB = TABLE.event("deal_crib", Op.MOVE, "A card is dealt to the crib.")
LAYS_AWAY = TABLE.event("lay_away", Op.MOVE, "{player} lays {token} away.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is the starter.")
HEELS = TABLE.event("heels", Op.NOTE, "His heels: {value:point} for {player}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
NEW_TOTAL = TABLE.event("total", Op.SET, "The count is {value}.")
FIFTEEN = TABLE.event("fifteen", Op.NOTE, "Fifteen: {value:point} for {player}.")
THIRTY_ONE = TABLE.event("thirty_one", Op.NOTE, "Thirty-one: {value:point} for {player}.", closes=Part.TRICK)
PAIR = TABLE.event("pair", Op.NOTE, "Cards of a rank: {value:point} for {player}.")
RUN = TABLE.event("run", Op.NOTE, "A run: {value:point} for {player}.")
# A player who is skipped shows by it that no card fits.
GOES = TABLE.event("go", Op.SET, "{player} says go.", reveals_hidden_value=True)
LAST = TABLE.event(
    "last", Op.NOTE, "The last card: {value:point} for {player}.", closes=Part.TRICK, reveals_hidden_value=True
)
NO_GOES = TABLE.event("no_go", Op.SET, "{player} may play again.", is_detail=True, reveals_hidden_value=True)
TURNS = TABLE.event("turn_over", Op.MOVE, "{player} turns {token} over.", is_detail=True, reveals_hidden_value=True)
NO_TOTAL = TABLE.event("new_count", Op.SET, "The count starts again.", is_detail=True, reveals_hidden_value=True)
SHOWS = TABLE.event("show", Op.NOTE, "{player} has {value:point} in hand.", closes=Part.HAND)
REVEALS = TABLE.event("reveal", Op.REVEAL, "The crib has {token}.")
SHOWS_CRIB = TABLE.event(
    "show_crib", Op.NOTE, "{player} has {value:point} in the crib.", closes=Part.HAND, reveals_hidden_value=True
)
COUNTS = TABLE.event("count", Op.NOTE, "{player} counts {value:point}.")
MUGGINS = TABLE.event("muggins", Op.NOTE, "Muggins: {value:point} for {player}.", closes=Part.HAND)
NEW_SCORE = TABLE.event(
    "score", Op.SET, "{player}'s side has {value:point}.", is_detail=True, reveals_hidden_value=True
)
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins.", reveals_hidden_value=True)
FORFEITS = declare_forfeit(TABLE)
