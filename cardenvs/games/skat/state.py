"""Options, state record and table of Skat. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import Pack
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.trick_deals import Deals, deal_fields
from cardenvs.kits.tricks import MUST_BEAT

NUM_PLAYERS = 3
PACK = Pack("789QKTAJ", "dhsc")  # (1.2)
NUM_CARDS = PACK.size
HAND_SIZE = NUM_TRICKS = 10
SKAT_SIZE = 2
MAX_DEALS = 36

# Games, by id; a record has NO_GAME before one is named. A round of ramsch is played as GRAND, without a soloist.
DIAMONDS, HEARTS, SPADES, CLUBS, GRAND, NULL = range(6)
GAMES = ("diamonds", "hearts", "spades", "clubs", "grand", "null")
NO_GAME = -1

# What is announced, each including those before it (4.4).
NOTHING, SCHNEIDER, SCHWARZ, OUVERT = range(4)

# All values of games, in the order in which they are bid (3.2).
BID_VALUES = (
    18, 20, 22, 23, 24, 27, 30, 33, 35, 36, 40, 44, 45, 46, 48, 50, 54, 55, 59, 60, 63, 66, 70, 72, 77, 80, 81, 84, 88,
    90, 96, 99, 100, 108, 110, 117, 120, 121, 126, 130, 132, 135, 140, 143, 144, 150, 153, 154, 156, 160, 162, 165, 168,
    170, 176, 180, 187, 192, 198, 204, 216, 240, 264,
)  # fmt: skip
VALUES = np.array((0, *BID_VALUES), np.int16)  # by the number of a bid: 0 for none, then 1, 2, ...
NUM_VALUES = len(BID_VALUES)

# Actions: play or lay away card c; words of the auction; take the skat or play hand; name a game; announce.
PASS = NUM_CARDS
YES = PASS + 1
VALUE_0 = YES + 1
TAKE = VALUE_0 + NUM_VALUES
HAND = TAKE + 1
NAME_0 = HAND + 1
ANNOUNCE_0 = NAME_0 + len(GAMES)
NUM_ACTIONS = ANNOUNCE_0 + OUVERT + 1

PHASES = ("auction", "skat", "lay_away", "name_game", "announce", "play")
AUCTION, SKAT, LAY_AWAY, NAME_GAME, ANNOUNCE, PLAY = range(len(PHASES))

# Values of options in a record.
BY_VALUE, OPENSPIEL = range(2)
THROWN_IN, RAMSCH = range(2)
LAST_TRICK, TO_LOSER, OUT = range(3)
BOTH_LOSE, LAST_LOSES = range(2)
PLAIN, SEEGER_FABIAN = range(2)

# What explain_illegal returns.
(
    MUST_SPEAK, MUST_ANSWER, TOO_LOW, NEXT_ONLY, FIRST_ONLY, MUST_NAME_OR_PASS, TAKE_OR_HAND, MUST_LAY_AWAY,
    MUST_NAME, NULL_TOO_LOW, MUST_ANNOUNCE, NULL_LEVELS, NULL_NEEDS_OUVERT, MUST_PLAY,
) = range(MUST_BEAT + 1, MUST_BEAT + 15)  # fmt: skip


@dataclass(frozen=True)
class SkatOptions(Options):
    """Options of Skat."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players at the table")
    bidding: str = option("value", choices=("value", "openspiel"), doc="how the soloist is found (3, 10)")
    jump_bids: bool = option(True, doc="whether values may be skipped in the auction (3.2)")
    all_pass: str = option("thrown_in", choices=("thrown_in", "ramsch"), doc="what follows if all pass (3.5)")
    ramsch_skat: str = option(
        "last_trick", choices=("last_trick", "loser", "out"), doc="ramsch: for whom the skat counts (7.2)"
    )
    ramsch_tie: str = option("both", choices=("both", "last_trick"), doc="ramsch: who loses if points are equal (7.3)")
    scoring: str = option("plain", choices=("plain", "seeger_fabian"), doc="what is scored beside the value (6.5)")
    deals: int = option(1, low=1, high=MAX_DEALS, doc="deals in a game; the deal moves on after each (2.3)")

    def check(self):
        """Raise OptionError for options that do not fit the bidding of OpenSpiel."""
        if self.bidding == "openspiel":
            for name, default in (("jump_bids", True), ("all_pass", "thrown_in"), ("scoring", "plain")):
                if getattr(self, name) != default:
                    raise OptionError(f"with bidding=openspiel, {name} must be {default}, not {getattr(self, name)}")


STATE = record(
    rules_dtype(SkatOptions),
    NUM_PLAYERS,
    [
        *deal_fields(PACK, NUM_PLAYERS, NUM_TRICKS),
        ("lacks", "i8", (NUM_PLAYERS,)),  # cards that p has shown not to hold          seen by: all
        ("tricks_won", "i1", (NUM_PLAYERS,)),  #                                        seen by: all
        ("points", "i2", (NUM_PLAYERS,)),  # of cards in tricks that p has won          seen by: all
        ("skat", "i8"),  # bit set          seen by: the soloist who took it; all from the end of play
        ("skat_is_shown", "u1"),  # whether all see it
        ("phase", "i1"),
        # The auction. Bids are numbers of values, 0 for none.
        ("bids", "i1", (NUM_PLAYERS,)),  # the highest value that p has named or accepted
        ("passed", "u1", (NUM_PLAYERS,)),
        ("speaker", "i1"),  # who names values
        ("listener", "i1"),  # who answers; NO_PLAYER if forehand alone is left, and with bidding=openspiel
        # The game; all of this is seen by all.
        ("soloist", "i1"),  # or NO_PLAYER
        ("game", "i1"),  # or NO_GAME
        ("took_skat", "u1"),
        ("announced", "i1"),
        ("scores", "i4", (NUM_PLAYERS,)),  #                                            seen by: all
        ("last_skat", "i8"),  # the skat of the deal before, if that was shown          seen by: all
        ("last_hands", "i8", (NUM_PLAYERS,)),  # what p held at its end                 seen by: owner
        ("last_open", "i8"),  # what a soloist who played ouvert held at its end        seen by: all
    ],
)


def is_open(s, player):
    """Return whether all see the hand of `player`, who plays ouvert (4.4)."""
    return s.phase == PLAY and s.announced == OUVERT and player == s.soloist


def open_hand(s, player):
    """Return the hand of `player` as a bit set if all see it, else 0."""
    return s.hands[player] if is_open(s, player) else 0


TABLE = Table(NUM_PLAYERS)
DEALS = Deals(TABLE, PACK, known=open_hand)
DECK_PILE, HAND_PILE = TABLE.pile_ids["deck"], TABLE.pile_ids["hand"]
SKAT_PILE = TABLE.pile("skat")
BID = TABLE.counter("bid", per_player=True, use="none", value=lambda s, p: VALUES[s.bids[p]])
SOLOIST = TABLE.counter("soloist", use="player", value="soloist")
GAME = TABLE.counter("game", use="none", value=lambda s: s.game + 1)  # 0: none
ANNOUNCED = TABLE.counter("announced", use="none", value="announced")
POINTS = TABLE.counter("points", per_player=True, use="none", value="points")
SCORE = TABLE.counter("score", per_player=True, use="none", value="scores")

TO_SKAT = TABLE.event("skat", Op.MOVE, "{token} goes to the skat.", is_detail=True)
RESETS = TABLE.event("reset", Op.SET, "Nothing has been bid, named or won yet.", is_detail=True)
BIDS = TABLE.event("bid", Op.SET, "{player} bids {value}.")
HOLDS = TABLE.event("hold", Op.SET, "{player} says yes to {value}.")
PASSES = TABLE.event("pass", Op.NOTE, "{player} passes.")
IS_SOLOIST = TABLE.event("soloist", Op.SET, "{player} is the soloist.")
PLAYS_HAND = TABLE.event("play_hand", Op.NOTE, "{player} plays hand, without the skat.")
TAKES = TABLE.event("take_skat", Op.MOVE, "{player} takes {token} from the skat.")
LAYS_AWAY = TABLE.event("lay_away", Op.MOVE, "{player} lays {token} away.")
NAMES = TABLE.event("name", Op.SET, "{player} names game {value}.")
ANNOUNCES = TABLE.event("announce", Op.SET, "{player} announces level {value}.")
SHOWS = TABLE.event("show", Op.REVEAL, "{player} shows {token}.", is_detail=True)
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} wins the trick and {value:point}.", closes=Part.TRICK)
HAS_POINTS = TABLE.event("points", Op.SET, "{player} has {value:card point} in tricks.", is_detail=True)
SHOWS_SKAT = TABLE.event("show_skat", Op.REVEAL, "{token} was in the skat.", reveals_hidden_value=True)
ALL_PASS = TABLE.event("all_pass", Op.NOTE, "All pass.", closes=Part.HAND)
PLAYS_RAMSCH = TABLE.event("ramsch", Op.NOTE, "All pass, and play ramsch.")
TAKES_POINTS = TABLE.event(
    "total", Op.NOTE, "{player} has {value:card point}.", reveals_hidden_value=True, closes=Part.HAND
)
IS_WORTH = TABLE.event("worth", Op.NOTE, "The game is worth {value:point}.", reveals_hidden_value=True)
OVERBIDS = TABLE.event(
    "overbid", Op.NOTE, "{player} has overbid; the game counts {value:point}.", reveals_hidden_value=True
)
WINS = TABLE.event("win", Op.NOTE, "{player} wins the game.", reveals_hidden_value=True, closes=Part.HAND)
LOSES = TABLE.event("lose", Op.NOTE, "{player} loses the game.", reveals_hidden_value=True, closes=Part.HAND)
TAKES_ALL = TABLE.event("durchmarsch", Op.NOTE, "{player} has won all tricks.", closes=Part.HAND)
SCORES = TABLE.event("score", Op.SET, "{player} has a score of {value}.", reveals_hidden_value=True, closes=Part.HAND)
FORFEITS = declare_forfeit(TABLE)
