"""Options, state record and table of Hearts. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS, Pack
from cardenvs.kits.deck import deck_fields, stock_of
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.tricks import ACE_HIGH, MUST_BEAT, card_in_trick, trick_fields

MAX_PLAYERS = 5
MAX_TRICKS = 17
MAX_HANDS = 100  # of a match (6.3)
MAX_QUEEN_POINTS = 26
NUM_HEARTS = 13
JACK_BONUS, NO_TRICK_BONUS = 10, 5  # points less

PACK = Pack(ACE_HIGH, "cdhs", by="rank")  # id = rank * 4 + suit, with rank 0 for the 2
QUEEN, JACK = PACK.parse("Qs"), PACK.parse("Jd")
CLUB, DIAMOND, HEART, SPADE = range(4)
CLUBS, HEARTS = (int(PACK.suit_sets[suit]) for suit in (CLUB, HEART))
POINT_CARDS = HEARTS | 1 << QUEEN

_TWO_OF_CLUBS, _TWO_OF_DIAMONDS, _THREE_OF_CLUBS = PACK.parse("2c"), PACK.parse("2d"), PACK.parse("3c")
_WITHOUT_ONE = PACK.all_cards ^ 1 << _TWO_OF_DIAMONDS
# By number of players (2.1)
CARDS = np.array([0, 0, 0, _WITHOUT_ONE, PACK.all_cards, _WITHOUT_ONE ^ 1 << _TWO_OF_CLUBS])
LOWEST_CLUB = np.array([0, 0, 0, _TWO_OF_CLUBS, _TWO_OF_CLUBS, _THREE_OF_CLUBS])

PASS, PLAY, MOON = range(3)
PHASES = ("pass", "play", "moon")

# Actions: card c, to pass or to play; and the two ways of scoring a moon.
SUBTRACT, ADD = NUM_CARDS, NUM_CARDS + 1

# Values of options in a record; directions of passing are also those of a hand.
HOLD, LEFT, RIGHT, ACROSS, CYCLE, CYCLE_LRA = range(6)
PASSING = ("none", "left", "right", "across", "cycle", "cycle_lra")
OTHERS_PLUS, SHOOTER_MINUS, CHOICE, OFF = range(4)
MOONS = ("others_plus", "shooter_minus", "choice", "off")
RELATIVE = 0
PLAY_ON = 0

# What explain_illegal returns.
MUST_OPEN, NO_POINTS_YET, NOT_BROKEN, NO_MOON, IS_MOON = range(MUST_BEAT + 1, MUST_BEAT + 6)


@dataclass(frozen=True)
class HeartsOptions(Options):
    """Options of Hearts."""

    num_players: int = option(4, low=3, high=MAX_PLAYERS, doc="players at the table")
    passing: str = option("cycle", choices=PASSING, doc="where cards are passed; a cycle changes it every hand (3.2)")
    pass_count: int = option(3, low=1, high=5, doc="cards that each player passes (3.1)")
    lead_any_club: bool = option(False, doc="whether the first lead may be any club (4.1)")
    first_trick_points: bool = option(False, doc="whether hearts and Q♠ may be thrown on the first trick (4.3)")
    must_break_hearts: bool = option(True, doc="whether hearts may be led only once they are broken (4.4)")
    qs_breaks_hearts: bool = option(True, doc="whether Q♠ breaks hearts, too (4.4)")
    lead_hearts_instead_of_qs: bool = option(False, doc="whether hearts may be led with only Q♠ beside them (4.5)")
    queen_points: int = option(13, low=1, high=MAX_QUEEN_POINTS, doc="points of Q♠ (5.1)")
    jd_bonus: bool = option(False, doc="whether the taker of J♦ scores -10 (5.2)")
    no_trick_bonus: bool = option(False, doc="whether a player without a trick scores -5 (5.3)")
    moon: str = option("others_plus", choices=MOONS, doc="what taking all points is worth (5.4)")
    moon_needs_jd: bool = option(False, doc="whether a moon takes J♦, too (5.4)")
    target: int | None = option(None, low=1, high=250, optional=True, doc="score that ends a match; None: one hand (6)")
    tie: str = option("play_on", choices=("play_on", "share"), doc="what a tie for the lowest score leads to (6.2)")
    reward: str = option("relative", choices=("relative", "points_saved"), doc="the return of a single hand (7.1)")

    def check(self):
        """Raise OptionError if options do not fit together."""
        if self.passing == "across" and self.num_players != 4:
            raise OptionError("passing='across' needs num_players=4")
        if self.moon_needs_jd and not (self.jd_bonus and self.moon != "off"):
            raise OptionError("moon_needs_jd needs jd_bonus=True, and moon other than 'off'")
        if self.reward != "relative" and self.target is not None:
            raise OptionError("reward='points_saved' is for single hands; a match (target) is won or lost")


STATE = record(
    rules_dtype(HeartsOptions),
    MAX_PLAYERS,
    [
        *deck_fields(NUM_CARDS),
        *trick_fields(MAX_PLAYERS, MAX_TRICKS),
        ("phase", "i1"),  #                                                           seen by: all
        ("distance", "i1"),  # seats to the left that cards are passed; 0: none       seen by: all
        ("passed", "i8", (MAX_PLAYERS,)),  # cards that p passes in this hand         seen by: p; then the receiver, too
        ("opener", "i1"),  # who leads to the first trick, or NO_PLAYER               seen by: all
        ("is_broken", "u1"),  # whether hearts are broken                             seen by: all
        # Who has shown to hold nothing but hearts and perhaps Q♠, or NO_PLAYER (8.3)   seen by: all
        ("only_points", "i1"),
        ("won", "i8", (MAX_PLAYERS,)),  # cards in tricks that p has won              seen by: all
        ("points", "i1", (MAX_PLAYERS,)),  # of this hand                             seen by: all
        ("num_hands", "i1"),  # begun                                                 seen by: all
        ("scores", "i2", (MAX_PLAYERS,)),  # of all hands                             seen by: all
        ("hand_points", "i1", (MAX_HANDS, MAX_PLAYERS)),  # of the hands that are over   seen by: all
        ("last_won", "i8", (MAX_PLAYERS,)),  # as `won`, at the end of the hand before   seen by: all
    ],
)


@kernel
def lowest_club_of(s, player):
    """Return the lowest club as a bit set while the player who opens holds it, which all know (4.1); else nothing."""
    if player != s.opener:
        return np.int64(0)
    return np.int64(1) << LOWEST_CLUB[s.rules.num_players] & ~s.cards_played[player]


TABLE = Table(MAX_PLAYERS)

DECK = TABLE.pile("deck", layout="none", tokens=stock_of, seen="nobody")  # all cards are dealt at once
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known=lowest_club_of)
PASSED = TABLE.pile(
    "passed", per_player=True, layout="fan", cards=lambda s, p: s.passed[p] if s.phase == PASS else 0, seen="owner"
)
TRICK = TABLE.pile("trick", per_player=True, layout="trick", tokens=card_in_trick)
WON = TABLE.pile("tricks", per_player=True, layout="won", cards="won")

HAND_NUMBER = TABLE.counter("hand_number", value="num_hands")
POINTS = TABLE.counter("points", per_player=True, value="points")
SCORE = TABLE.counter("score", per_player=True, value="scores")

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.", opens=Part.HAND)
NO_POINTS = TABLE.event("no_points", Op.SET, "{player} has no points.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
CHOOSES = TABLE.event("choose", Op.MOVE, "{player} chooses {token} to pass.")
PASSES = TABLE.event("pass", Op.MOVE, "{player} passes {token} to {target}.")
OPENS = TABLE.event("open", Op.REVEAL, "{player} has {token} and leads.", reveals_hidden_value=True)
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
BROKEN = TABLE.event("broken", Op.NOTE, "Hearts are broken.")
TAKES = TABLE.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
WINS_TRICK = TABLE.event("win_trick", Op.SET, "{player} wins the trick and has {value:point}.", closes=Part.TRICK)
SHOOTS = TABLE.event("shoot", Op.NOTE, "{player} shoots the moon.", closes=Part.HAND)
HAND_POINTS = TABLE.event("hand_points", Op.SET, "{player} gets {value:point} for the hand.", closes=Part.HAND)
SCORES = TABLE.event("score", Op.SET, "{player} has a score of {value}.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player} has the lowest score and wins.")
FORFEITS = declare_forfeit(TABLE)
