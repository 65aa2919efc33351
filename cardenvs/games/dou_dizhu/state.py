"""Options and state record of Dou Dizhu. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.games.dou_dizhu.cards import COPIES, NUM_RANKS

NUM_PLAYERS = 3
MAX_DEALS = 10  # of a game in which all pass again and again (3.6)
NO_PLAY = -1
NO_CARD = -1
NO_BID, PASSED = -1, 0  # instead of a bid

PHASES = ("auction", "play")
AUCTION, PLAY = range(2)

# Values of options in a record
POINTS, NO_AUCTION = 0, 1  # bidding
FACE_UP, RANDOM = 0, 1  # first_bidder
REDEAL, ZERO = 0, 1  # all_pass
BY_POINTS, BY_WIN, AS_RLCARD = range(3)  # returns

_ONLY_WITH_AUCTION = ("rebid", "first_bidder", "all_pass")


@dataclass(frozen=True)
class DouDizhuOptions(Options):
    """Options of Dou Dizhu."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players at the table")
    bidding: str = option("points", choices=("points", "none"), doc="how the landlord is found; none: player 0 (3)")
    rebid: bool = option(True, doc="whether players who have spoken in the auction may bid again (3.3)")
    first_bidder: str = option(
        "face_up", choices=("face_up", "random", "player_0"), doc="who bids first: the holder of the marked card (2.3)"
    )
    all_pass: str = option("redeal", choices=("redeal", "zero"), doc="what follows if all pass (3.6)")
    four_with_two: bool = option(True, doc="whether four of a kind may be played with two kickers (4.1)")
    rocket_kicker: bool = option(False, doc="whether both jokers may be kickers of one play (4.3)")
    ambiguous_kickers: bool = option(False, doc="whether three of a kind next to a chain may be kickers (4.4)")
    bomb_doubles: bool = option(True, doc="whether bombs and rockets double the stake (6.1)")
    spring_doubles: bool = option(True, doc="whether a spring doubles the stake (6.2)")
    returns: str = option(
        "points", choices=("points", "win_loss", "rlcard"), doc="what is paid: the stake, or 1 for winning (6.3)"
    )

    def check(self):
        """Raise OptionError for options of an auction that does not take place."""
        if self.bidding == "none":
            changed = self.changed()
            for name in _ONLY_WITH_AUCTION:
                if name in changed:
                    raise OptionError(f"with bidding=none there is no auction; leave {name} at its default")


STATE = record(
    rules_dtype(DouDizhuOptions),
    NUM_PLAYERS,
    [
        # Sets of cards, see cards.py
        ("hands", "i8", (NUM_PLAYERS,)),  #                                            seen by: owner
        ("extra", "i8"),  # the three cards that were left over                        seen by: all once shown
        ("known", "i8", (NUM_PLAYERS,)),  # cards that all know in the hand of p       seen by: all
        ("played", "i8", (NUM_PLAYERS,)),  # all that p has played                     seen by: all
        # The rest is seen by all.
        ("hand_sizes", "i1", (NUM_PLAYERS,)),
        ("phase", "i1"),
        ("num_deals", "i1"),  # begun
        ("face_up", "i1"),  # rank of the marked card, or NO_CARD
        ("face_holder", "i1"),  # who was dealt it, or NO_PLAYER
        ("bids", "i1", (NUM_PLAYERS,)),  # the last word of p in the auction: NO_BID, PASSED, 1, 2 or 3
        ("bid", "i1"),  # the highest bid so far, 0 for none; 1 with bidding=none
        ("bidder", "i1"),  # who made it, or NO_PLAYER
        ("landlord", "i1"),  # or NO_PLAYER
        ("num_passes", "i1"),  # in a row
        ("to_beat", "i4"),  # the last play of this trick, or NO_PLAY
        ("author", "i1"),  # who made it, or NO_PLAYER
        ("on_table", "i4", (NUM_PLAYERS,)),  # the last play of p in this trick, or NO_PLAY
        ("passed", "u1", (NUM_PLAYERS,)),  # 1: p has passed since then
        ("num_plays", "i1", (NUM_PLAYERS,)),  # of p in this game
        ("doublings", "i1"),  # bombs and rockets played
    ],
)


def deck(options):
    """Return all cards of the game, as ranks."""
    return np.repeat(np.arange(NUM_RANKS), COPIES).astype(np.int16)
