"""Options, record and table of Blackjack. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import RANKS
from cardenvs.kits.matches import declare_forfeit

MAX_PLAYERS = 7
MAX_HANDS = 4  # of a player
MAX_BETS = 4
NUM_RANKS = len(RANKS)  # a card is its rank, from 0, the ace, to 12, the king
MOST_CARDS = 8 * 52
ACE, TEN = 0, 9  # ranks; those from TEN on count 10
PIPS = np.minimum(np.arange(NUM_RANKS) + 1, 10)
NO_CARD = -1
BLACKJACK = 21

BET, INSURANCE, PLAY = range(3)  # phases
INFINITE = 0  # value of `decks`
STAND, HIT_SOFT17 = range(2)
CASINO, NO_NATURALS, NATURAL, SAB = range(4)  # values of `naturals`
ANY_TWO, FROM_9, FROM_10, NO_DOUBLE = range(4)  # values of `double`
BY_VALUE, BY_RANK = range(2)
PAYS = np.array([1.5, 1.2, 1.0])  # by `blackjack_pays`

STICK, HIT, DOUBLE, SPLIT, SURRENDER, INSURE, DECLINE, BET_0 = range(8)  # actions; BET_0 + k: the k-th of `bet_units`


@dataclass(frozen=True)
class BlackjackOptions(Options):
    """Options of Blackjack."""

    num_players: int = option(1, low=1, high=MAX_PLAYERS, doc="players, each against the dealer")
    decks: int = option(
        6, values=(0, 1, 2, 4, 6, 8), doc="decks in the shoe; 0 draws every card with replacement (1.1)"
    )
    penetration: int = option(
        0, low=0, high=90, doc="percent of the shoe dealt before it is shuffled; 0: each round (1.2)"
    )
    dealer_soft17: str = option("stand", choices=("stand", "hit"), doc="what the dealer does with a soft 17 (5.2)")
    naturals: str = option(
        "casino", choices=("casino", "none", "natural", "sab"), doc="what a two-card 21 is worth (6.2, 8)"
    )
    blackjack_pays: str = option("3:2", choices=("3:2", "6:5", "1:1"), doc="what a blackjack pays (6.2)")
    peek: bool = option(True, doc="whether the dealer looks for blackjack before anyone plays (3.3)")
    obo: bool = option(False, doc="without `peek`: only the original bet loses to a blackjack (6.4)")
    hit_21: bool = option(False, doc="whether a player decides with 21, too (4.2)")
    double: str = option("any_two", choices=("any_two", "9_11", "10_11", "none"), doc="hands that may double (4.4)")
    double_after_split: bool = option(True, doc="whether hands from a split may double (4.4)")
    max_hands: int = option(4, low=1, high=MAX_HANDS, doc="hands of a player after splitting; 1: no splits (4.5)")
    split_by: str = option("value", choices=("value", "rank"), doc="whether a king and a ten are a pair (4.5)")
    resplit_aces: bool = option(False, doc="whether aces may be split again (4.6)")
    split_aces_one_card: bool = option(True, doc="whether split aces get one card only (4.6)")
    surrender: str = option("none", choices=("none", "late"), doc="whether half the bet can be saved (4.7)")
    insurance: bool = option(False, doc="whether insurance is offered (3.2)")
    rounds: int = option(1, low=1, high=100, doc="rounds of a game")
    bet_units: tuple[int, ...] = option(
        (), low=1, high=100, length=MAX_BETS, doc="bets to choose from; none: all bet 1 (2.2)"
    )

    def check(self):
        """Raise OptionError if options contradict each other, or the shoe could run out."""
        if any(a >= b for a, b in zip(self.bet_units, self.bet_units[1:], strict=False)):
            raise OptionError(f"bet_units must ascend; got {list(self.bet_units)}")
        if self.naturals != "casino":
            for name in ("peek", "insurance", "obo"):
                if getattr(self, name):
                    raise OptionError(f"naturals={self.naturals!r} has no blackjack; set {name}=False")
        if self.peek and self.obo:
            raise OptionError("obo is about a dealer who does not look; set peek=False")
        if self.decks == INFINITE:
            if self.penetration:
                raise OptionError("decks=0 draws with replacement; set penetration=0")
            return
        total, most = 52 * self.decks, most_cards(self)
        if total < most:
            raise OptionError(
                f"{self.num_players} players with max_hands={self.max_hands} can need {most} cards, and decks="
                f"{self.decks} has {total}; use more decks or fewer hands"
            )
        if self.penetration and total - total * self.penetration // 100 < most:
            raise OptionError(
                f"a round can need {most} cards: with {total}, penetration is at most {100 * (total - most) // total}; "
                f"got {self.penetration}"
            )


def most_cards(options):
    """Return a bound on the cards of a round: the lowest cards of the shoe, up to 21 in each hand, and one more each.

    The dealer's hand is one of them.
    """
    hands = options.num_players * options.max_hands + 1
    pips, number = BLACKJACK * hands, hands
    for value in range(1, 11):
        copies = options.decks * (16 if value == 10 else 4)
        taken = min(copies, pips // value)
        pips, number = pips - taken * value, number + taken
    return number


# Cards of a hand are counted by rank in one integer: four bits for each rank from the two up, and the rest for aces.
SHIFT = np.array([48, *range(0, 48, 4)], np.int64)
MOST_OF_RANK = np.array([2 * BLACKJACK, *[15] * 12])

STATE = record(
    rules_dtype(BlackjackOptions),
    MAX_PLAYERS,
    [
        ("num_given", "i2"),  # how many of them                                                   seen by: nobody
        ("num_drawn", "i2"),  # cards drawn in this game                                           seen by: all
        ("left", "i1", (NUM_RANKS,)),  # cards of each rank in the shoe; their order is not yet decided
        ("num_shuffles", "i2"),  # shoes so far                                                    seen by: all
        ("num_rounds", "i1"),  # begun, 1..100                                                     seen by: all
        ("phase", "i1"),  #                                                                        seen by: all
        ("bets", "i1", (MAX_PLAYERS,)),  # 0 before a bet is made                                  seen by: all
        ("hands", "i8", (MAX_PLAYERS, MAX_HANDS)),  # cards by rank, see SHIFT                     seen by: all
        ("hard", "i1", (MAX_PLAYERS, MAX_HANDS)),  # sum with aces as 1                            seen by: all
        ("sizes", "i1", (MAX_PLAYERS, MAX_HANDS)),  # cards                                        seen by: all
        ("doubled", "u1", (MAX_PLAYERS,)),  # bit set of hands                                     seen by: all
        ("num_hands", "i1", (MAX_PLAYERS,)),  # 0 before the deal                                  seen by: all
        ("has_split_aces", "u1", (MAX_PLAYERS,)),  #                                               seen by: all
        ("surrendered", "u1", (MAX_PLAYERS,)),  #                                                  seen by: all
        ("insured", "u1", (MAX_PLAYERS,)),  #                                                      seen by: all
        ("hand", "i1"),  # which hand of the player to act is played                               seen by: all
        ("dealer", "i8"),  # his cards that lie face up, as in `hands`                             seen by: all
        ("dealer_hard", "i1"),  # of these                                                         seen by: all
        ("dealer_size", "i1"),  # of these                                                         seen by: all
        ("up", "i1"),  # his first card, or NO_CARD                                                seen by: all
        ("hole", "i1"),  # his second card while it lies face down, or NO_CARD                     seen by: nobody
        ("was_asked", "u1"),  # whether anybody had a decision in this round                       seen by: all
        ("waits", "u1"),  # whether the round is over once the player to act has said so (4.8)     seen by: all
        ("has_looked", "u1"),  # whether he has looked and has no blackjack                        seen by: all
        # Last, so that what a game usually needs lies close together
        ("deck", "u1", (MOST_CARDS // 2,)),  # cards given explicitly, in dealing order, two a byte   seen by: nobody
    ],
)


# ---------------------------------------------------------------------------------------------------------------
# The table


def cards_in(counts):
    """Return the cards of a hand, ascending, from its counts by rank."""
    counts = int(counts)
    number = [counts >> int(shift) & 15 for shift in SHIFT]
    number[ACE] = counts >> int(SHIFT[ACE])
    return [rank for rank in range(NUM_RANKS) for _ in range(number[rank])]


def _cards_of_hand(number):
    return lambda s, p: cards_in(s.hands[p, number])


def _dealer_cards(s):
    return [*cards_in(s.dealer), *([] if s.hole == NO_CARD else [int(s.hole)])]


def _shoe(s):
    return [rank for rank in range(NUM_RANKS) for _ in range(int(s.left[rank]))]


def _discards(s):
    """Return what is neither in the shoe nor on the table; nothing if cards are drawn with replacement."""
    if s.rules.decks == INFINITE:
        return []
    left = 4 * int(s.rules.decks) - s.left
    for rank in _dealer_cards(s):
        left[rank] -= 1
    for p in range(int(s.rules.num_players)):
        for h in range(MAX_HANDS):
            for rank in cards_in(s.hands[p, h]):
                left[rank] -= 1
    return [rank for rank in range(NUM_RANKS) for _ in range(int(left[rank]))]


HAND_NAMES = ("hand", "second_hand", "third_hand", "fourth_hand")

TABLE = Table(MAX_PLAYERS)
SHOE = TABLE.pile("shoe", layout="stack", tokens=_shoe, seen="nobody")
DISCARDS = TABLE.pile("discards", layout="won", tokens=_discards)
DEALER = TABLE.pile("dealer", layout="hand")  # filled by the view: one of its cards may be hidden
HAND = TABLE.pile(HAND_NAMES[0], per_player=True, layout="hand", tokens=_cards_of_hand(0))  # hand h: + MAX_PLAYERS * h
for _number in range(1, MAX_HANDS):
    TABLE.pile(HAND_NAMES[_number], per_player=True, layout="hand", tokens=_cards_of_hand(_number))
ROUND = TABLE.counter("round", value="num_rounds")
BETS = TABLE.counter("bet", per_player=True, use="chips", value="bets")
NUM_HANDS = TABLE.counter("hands", per_player=True, use="none", value="num_hands")
DOUBLED = TABLE.counter("doubled", per_player=True, use="none", value="doubled")
SURRENDERED = TABLE.counter("surrendered", per_player=True, use="flag", value="surrendered")
INSURED = TABLE.counter("insured", per_player=True, use="flag", value="insured")
NEW_SHOE = TABLE.event("new_shoe", Op.CREATE, "A shoe of {value} cards is shuffled.")
EMPTIED = TABLE.event("emptied", Op.CLEAR, "The cards are gathered.", is_detail=True)
GATHERED = TABLE.event("gathered", Op.MOVE_ALL, "The cards of a hand are discarded.", is_detail=True)
NEW_ROUND = TABLE.event("new_round", Op.SET, "Round {value}.", opens=Part.HAND)
NEW_BET = TABLE.event("new_bet", Op.SET, "{player} bets {value}.")
NEW_HANDS = TABLE.event("new_hands", Op.SET, "{player} has {value:hand}.", is_detail=True)
NO_DOUBLED = TABLE.event("no_doubled", Op.SET, "{player} has doubled nothing.", is_detail=True)
NO_SURRENDER = TABLE.event("no_surrender", Op.SET, "{player} is in.", is_detail=True)
NO_INSURANCE = TABLE.event("no_insurance", Op.SET, "{player} is not insured.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
DEALER_UP = TABLE.event("dealer_up", Op.MOVE, "The dealer shows {token}.")
DEALER_HOLE = TABLE.event("dealer_hole", Op.MOVE, "The dealer takes {token} face down.")
DEALER_DRAWS = TABLE.event("dealer_draw", Op.MOVE, "The dealer draws {token}.")
# The same with replacement, where cards come from nowhere
DEALT_NEW = TABLE.event("deal_new", Op.CREATE, "{player} is dealt {token}.")
DRAWS_NEW = TABLE.event("draw_new", Op.CREATE, "{player} draws {token}.")
DEALER_UP_NEW = TABLE.event("dealer_up_new", Op.CREATE, "The dealer shows {token}.")
DEALER_HOLE_NEW = TABLE.event("dealer_hole_new", Op.CREATE, "The dealer takes {token} face down.")
DEALER_DRAWS_NEW = TABLE.event("dealer_draw_new", Op.CREATE, "The dealer draws {token}.")
NEW_FROM_OLD = DEALT_NEW - DEALT
SHOWS_HOLE = TABLE.event("shows_hole", Op.REVEAL, "The dealer turns up {token}.", reveals_hidden_value=True)
LOOKS = TABLE.event("looks", Op.NOTE, "The dealer has looked: no blackjack.", reveals_hidden_value=True)
INSURES = TABLE.event("insures", Op.SET, "{player} takes insurance.")
DECLINES = TABLE.event("declines", Op.NOTE, "{player} takes no insurance.")
STICKS = TABLE.event("stick", Op.NOTE, "{player} sticks.")
DOUBLES = TABLE.event("double", Op.SET, "{player} doubles.")
SPLITS = TABLE.event("split", Op.MOVE, "{player} splits, and moves {token} to a new hand.")
SURRENDERS = TABLE.event("surrender", Op.SET, "{player} surrenders.")
BUSTS = TABLE.event("bust", Op.NOTE, "{player} busts with {value}.")
PAID = TABLE.event("paid", Op.NOTE, "{player} wins {value}.", closes=Part.HAND, reveals_hidden_value=True)
FORFEITS = declare_forfeit(TABLE)
