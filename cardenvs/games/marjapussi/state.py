"""Options, state record and table of Marjapussi. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.events import Op, Part, Table
from cardenvs.core.options import NONE, Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import Pack
from cardenvs.kits.deck import deck_fields, stock_of
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.tricks import MUST_BEAT, card_in_trick, trick_fields

NUM_PLAYERS = 4
NUM_SIDES = 2
SUITS = "cdhs"
NUM_SUITS = len(SUITS)
PACK = Pack("6789JQKTA", SUITS, by="rank")  # (1.2)
NUM_CARDS = PACK.size
MAX_TRICKS = len(PACK.ranks)
QUEEN, KING, TEN, ACE = (PACK.ranks.index(rank) for rank in "QKTA")
MATES = np.int64(0b1111_1111 << TEN * NUM_SUITS)  # aces and tens
ACES = np.int64(0b1111 << ACE * NUM_SUITS)

PLAY, ANSWER = 0, 1
PHASES = ("play", "answer")

# Actions: play card c; declare the marriage of suit k; ask the partner for one, or for the other half of one; answer
# with that of suit k.
OWN_0 = NUM_CARDS
WHOLE = OWN_0 + NUM_SUITS
HALF_0 = WHOLE + 1
NAME_0 = HALF_0 + NUM_SUITS
NUM_ACTIONS = NAME_0 + NUM_SUITS

# Values of options in a record.
PACK_SIZES = ("36", "32", "28")
ANY_LEAD, LEAD_ACE, LEAD_ACE_OR_SPADE = range(3)
ASK_NONE, ASK_WHOLE, ASK_BOTH, ASK_OPEN = range(4)
MARKS, HAND_POINTS = range(2)
CARD_POINTS, BY_MATES = range(2)
IGNORE, BACK, ZERO = range(3)

MAX_CALLS = 9
MAX_TARGET = 50
MAX_HANDS = 60
MAX_POINTS = 140
MAX_BONUS = 100  # of a marriage
MOST_MARKS = 7  # in a hand (7.1)
MOST_GAME_POINTS = 2  # in a hand (7.2)

# What explain_illegal returns.
(
    LEADS_ACE, LEADS_SPADE, MUST_NAME, NOT_ASKED, NOT_HIS, ONLY_LEADER, IN_THE_BAG, NO_TRICK_YET, HAS_CALLED,
    NO_SUCH_CALL, HAS_OWN, SUIT_IS_GONE, NO_MARRIAGE, NO_HALF,
) = range(MUST_BEAT + 1, MUST_BEAT + 15)  # fmt: skip


@dataclass(frozen=True)
class MarjapussiOptions(Options):
    """Options of Marjapussi."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players, in two partnerships")
    pack: str = option("36", choices=PACK_SIZES, doc="cards: 36, 32 without sixes, or 28 without sevens, too (1.2)")
    values: str = option("original", choices=("original", "simple"), doc="what cards are worth (1.3)")
    first_lead: str = option("any", choices=("any", "ace", "ace_or_spade"), doc="what must be led first (3.2)")
    must_trump: bool = option(True, doc="whether who cannot follow must trump (3.1)")
    beat: str = option("none", choices=("none", "suit", "trump", "full"), doc="when the best card must be beaten (3.3)")
    declare_first_lead: bool = option(False, doc="whether the leader may call before the first trick (4.2)")
    ask: str = option(
        "whole_and_half", choices=("none", "whole", "whole_and_half", "open"), doc="what partners are asked (4.4, 4.7)"
    )
    ask_only_without_own: bool = option(False, doc="whether who holds a marriage may not ask (4.6)")
    calls_per_lead: int = option(1, low=1, high=MAX_CALLS, doc="calls before one lead (4.2)")
    trump_change: bool = option(False, doc="whether every marriage makes its suit trumps (4.3)")
    scoring: str = option("marks", choices=("marks", "hand_points"), doc="how a hand is scored (7)")
    majority: str = option("card_points", choices=("card_points", "mates"), doc="marks: what is counted for it (7.1)")
    last_trick: int = option(10, low=0, high=40, doc="hand_points: points of the last trick (7.2)")
    marriage_points: tuple[int, ...] = option(
        (40, 20), low=0, high=MAX_BONUS, length=2, min_length=2,
        doc="hand_points: points of the first marriage, and of later ones (7.2)",
    )  # fmt: skip
    bag: bool = option(False, doc="whether a side without a trick is in the bag in the next hand (7.3)")
    match_target: int | None = option(
        None, low=1, high=MAX_TARGET, optional=True, doc="points that win a match; none: a single hand (7.4)"
    )
    exact: bool = option(True, doc="whether the target must be met exactly (7.5)")
    overshoot: str = option("ignore", choices=("ignore", "back", "zero"), doc="exact: points above the target (7.5)")
    dealer: int = option(3, low=0, high=NUM_PLAYERS - 1, doc="the first dealer (2.1)")


STATE = record(
    rules_dtype(MarjapussiOptions),
    NUM_PLAYERS,
    [
        *deck_fields(NUM_CARDS),
        *trick_fields(NUM_PLAYERS, MAX_TRICKS),
        ("won", "i8", (NUM_PLAYERS,)),  # cards in tricks that p has won                                seen by: all
        ("last_played", "i8", (NUM_PLAYERS,)),  # in the hand before                                    seen by: all
        # What legality and answers have shown of the cards that p was dealt (8).
        ("lacks", "i8", (NUM_PLAYERS,)),  # cards that p does not hold                                  seen by: all
        ("pairs", "u1", (NUM_PLAYERS,)),  # suits of which p has had K and Q                            seen by: all
        ("halves", "u1", (NUM_PLAYERS,)),  # suits of which p has had one of these                      seen by: all
        ("no_pairs", "u1", (NUM_PLAYERS,)),  # suits of which p has not had both                        seen by: all
        ("some_pair", "u1", (NUM_PLAYERS,)),  # suits of at least one of which p has had both; 0: none  seen by: all
        ("silent", "u1", (NUM_PLAYERS,)),  # suits that p could have declared if held, and did not      seen by: all
        ("shown_pairs", "u1", (NUM_PLAYERS,)),  # as `pairs`, of the partner of p, with ask=open        seen by: p
        ("shown_no_pairs", "u1", (NUM_PLAYERS,)),  # as `no_pairs`, likewise                            seen by: p
        ("declared", "u1", (NUM_SIDES,)),  # suits whose marriages a side has declared                  seen by: all
        ("trump", "i1"),  # suit, or -1                                                                 seen by: all
        ("phase", "u1"),  #                                                                             seen by: all
        ("num_calls", "i1"),  # before this lead                                                        seen by: all
        ("points", "u1", (NUM_SIDES,)),  # card points in this hand                                     seen by: all
        ("bonus", "i2", (NUM_SIDES,)),  # hand_points: points of marriages in this hand                 seen by: all
        ("bagged", "u1", (NUM_SIDES,)),  # 1 for a side in the bag                                      seen by: all
        ("dealer", "i1"),  #                                                                            seen by: all
        ("num_hands", "i1"),  # begun                                                                   seen by: all
        ("scores", "i1", (NUM_SIDES,)),  #                                                              seen by: all
    ],
)


def known_cards(s, player):
    """Return kings and queens that all know to be in a hand, as a bit set."""
    shown = int(s.pairs[player])
    return (shown << QUEEN * NUM_SUITS | shown << KING * NUM_SUITS) & int(s.hands[player])


TABLE = Table(NUM_PLAYERS)
DECK = TABLE.pile("deck", layout="stack", tokens=stock_of, seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known=known_cards)
TABLE.pile("trick", per_player=True, layout="trick", tokens=card_in_trick)
TABLE.pile("tricks", per_player=True, layout="won", cards="won")
DEALER = TABLE.counter("dealer", use="player", value="dealer")
HAND_NUMBER = TABLE.counter("hand_number", use="none", value="num_hands")
TRUMP = TABLE.counter("trump", use="none", value=lambda s: s.trump + 1)  # 0: none
POINTS = TABLE.counter("points", per_player=True, use="none", value=lambda s, p: s.points[p] if p < NUM_SIDES else 0)
SCORE = TABLE.counter("score", per_player=True, use="none", value=lambda s, p: s.scores[p] if p < NUM_SIDES else 0)
CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The pack of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
IN_BAG = TABLE.event("in_bag", Op.NOTE, "{player}'s side is in the bag: it may not call, and scores nothing.")
SEES = TABLE.event("sees", Op.NOTE, "{player} sees the marriages of the partner.", reveals_hidden_value=True)
DECLARES = TABLE.event("declare", Op.NOTE, "{player} declares the marriage of suit {value}.")
ASKS_WHOLE = TABLE.event("ask_whole", Op.NOTE, "{player} asks the partner for a marriage.")
ASKS_HALF = TABLE.event("ask_half", Op.NOTE, "{player} asks the partner for the other half of suit {value}.")
ANSWERS_NO = TABLE.event("no", Op.NOTE, "{player} answers no.", reveals_hidden_value=True)
CHOOSES = TABLE.event("choose", Op.NOTE, "{player} has more than one, and chooses.", reveals_hidden_value=True)
ANSWERS_YES = TABLE.event("yes", Op.NOTE, "{player} answers yes: suit {value}.", reveals_hidden_value=True)
SHOWS = TABLE.event("show", Op.REVEAL, "{player} holds {token}.", is_detail=True)
TRUMPS = TABLE.event("trump", Op.SET, "Trumps: {value}.")
TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TABLE.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} wins the trick and {value:point}.", closes=Part.TRICK)
HAS_POINTS = TABLE.event("points", Op.SET, "{player}'s side has {value:card point}.", is_detail=True)
TOTAL = TABLE.event("total", Op.NOTE, "{player}'s side has {value:point} in this hand.", closes=Part.HAND)
PASSES_TARGET = TABLE.event("pass_target", Op.NOTE, "{player}'s side would pass the target with {value:more point}.")
SCORES_MARRIAGE = TABLE.event("score_marriage", Op.SET, "{player}'s side has a score of {value}.")
SCORES = TABLE.event("score", Op.SET, "{player}'s side has a score of {value}.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "After {value:hand} the match is drawn.")
FORFEITS = declare_forfeit(TABLE)

VALUES = np.array([[0, 0, 0, 0, 2, 3, 4, 10, 11], [0, 0, 0, 0, 5, 5, 5, 10, 10]], np.int8)  # by option and rank (1.3)
TOTAL_POINTS = np.array([120, 140], np.int64)  # of all cards, by option
NO_TARGET = NONE
