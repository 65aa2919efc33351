"""Options and record of Contract Bridge."""

from dataclasses import dataclass

from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.tricks import trick_fields

NUM_PLAYERS = 4
NUM_SIDES = 2
NUM_TRICKS = 13
NUM_DENOMINATIONS = 5  # clubs, diamonds, hearts, spades, no-trump (1.2)
NO_TRUMP = 4
NUM_BIDS = 35
MAX_CALLS = 319  # three passes, each bid with two passes, double, two passes, redouble, two passes, and one pass more
MAX_GIVEN_CALLS = 40
MAX_DEALS = 40
NO_BID = -1
NOT_KNOWN = -1

# Actions: the calls, then the cards.
PASS, DOUBLE, REDOUBLE, BID_0 = 0, 1, 2, 3
CARD_0 = NUM_CALLS = BID_0 + NUM_BIDS
NUM_ACTIONS = CARD_0 + NUM_CARDS

SCORINGS = ("duplicate", "rubber")
RUBBER = 1
RESULTS = ("points", "imps", "matchpoints")
IMPS, MATCHPOINTS = 1, 2
PARTS = ("full", "play", "auction")  # option `phase`
ONLY_PLAY, ONLY_AUCTION = 1, 2
NUM_RESULTS = NUM_DENOMINATIONS * NUM_PLAYERS
MAX_TABLES = 64
SEATS = "NESW"

PHASES = ("auction", "play")
AUCTION, PLAY = range(2)

# Reasons of a refusal.
AUCTION_IS_ON, AUCTION_IS_OVER, BID_TOO_LOW, NOTHING_TO_DOUBLE, NOTHING_TO_REDOUBLE = range(3, 8)


@dataclass(frozen=True)
class BridgeOptions(Options):
    """Options of Contract Bridge."""

    num_players: int = option(4, low=4, high=4, doc="players at the table")
    phase: str = option("full", choices=PARTS, doc="what is played: all, the cards alone, or the auction alone (7)")
    scoring: str = option("duplicate", choices=SCORINGS, doc="one deal, or deals until a side has two games (5, 6)")
    result: str = option("points", choices=RESULTS, doc="unit of the returns (5.5, 5.6)")
    datum: int = option(0, low=-7600, high=7600, doc="North and South's points at the other tables, for IMPs (5.5)")
    other_scores: tuple[int, ...] = option(
        (), low=-7600, high=7600, length=MAX_TABLES, doc="North and South's points there, table by table (5.6)"
    )
    board: int | None = option(None, low=1, high=16, optional=True, doc="number of the board; None: by the seed (2.1)")
    dealer: str = option("board", choices=("board", *SEATS), doc="who calls first (2.1)")
    vulnerable: str = option("board", choices=("board", "none", "NS", "EW", "both"), doc="which sides are (2.1)")
    auction: tuple[int, ...] = option(
        (), low=0, high=NUM_CALLS - 1, length=MAX_GIVEN_CALLS, doc='calls for phase="play", as action ids (7.1)'
    )
    tricks: tuple[int, ...] = option(
        (), low=0, high=NUM_TRICKS, length=NUM_RESULTS,
        doc='of an explicit deal for phase="auction": by denomination from clubs, then by declarer from North (7.3)',
    )  # fmt: skip
    honours: bool = option(False, doc="whether honours score in a rubber (6.5)")
    max_deals: int = option(20, low=1, high=MAX_DEALS, doc="deals after which a rubber ends unfinished (6.7)")
    partscore_bonus: int = option(100, low=50, high=100, doc="for the only part-score of an unfinished rubber (6.7)")

    def check(self):
        """Raise OptionError for options that exclude each other, or calls that are no auction."""
        if self.scoring == "rubber":
            wrong = {"phase": "full", "result": "points", "vulnerable": "board"}
            for name, needed in wrong.items():
                if getattr(self, name) != needed:
                    raise OptionError(f"a rubber needs {name}={needed!r}; got {getattr(self, name)!r}")
        if self.auction:
            if self.phase != "play":
                raise OptionError('auction needs phase="play"')
            _check_auction(self.auction)
        if self.tricks:
            if self.phase != "auction":
                raise OptionError('tricks needs phase="auction"')
            if len(self.tricks) != NUM_RESULTS:
                raise OptionError(f"tricks takes {NUM_RESULTS} numbers; got {len(self.tricks)} (rules.md 7.3)")
        if any(score % 10 for score in self.other_scores):
            raise OptionError(f"other_scores takes scores of tables, multiples of 10; got {self.other_scores}")


def _check_auction(calls: tuple[int, ...]) -> None:
    """Raise OptionError unless the calls are legal one after the other and end with a contract (3)."""
    last, number, since = NO_BID, PASS, 0  # last bid; last call but passes, and how many calls ago it was made
    passes = 0
    for k, call in enumerate(calls):
        if passes == (4 if number == PASS else 3):
            raise OptionError(f"the auction is over before call {k + 1}")
        since += 1
        by_opponent = since % 2 == 1
        if call == PASS:
            passes += 1
            continue
        legal = {
            DOUBLE: number >= BID_0 and by_opponent,
            REDOUBLE: number == DOUBLE and by_opponent,
        }.get(call, call - BID_0 > last)
        if not legal:
            raise OptionError(f"call {k + 1} of the auction, {call_label(call)}, is not legal (rules.md 3.1 to 3.3)")
        last = max(last, call - BID_0)
        number, since, passes = call, 0, 0
    if last == NO_BID or passes < 3:
        raise OptionError("an auction ends with three passes after a bid, double or redouble (rules.md 3.4)")


def call_label(call: int) -> str:
    """Return the text of a call: "pass", "double", "redouble", or a bid such as "1NT"."""
    if call < BID_0:
        return ("pass", "double", "redouble")[call]
    level, denomination = divmod(call - BID_0, NUM_DENOMINATIONS)
    return f"{level + 1}{DENOMINATIONS[denomination]}"


DENOMINATIONS = ("C", "D", "H", "S", "NT")

STATE = record(
    rules_dtype(BridgeOptions),
    NUM_PLAYERS,
    [
        *trick_fields(NUM_PLAYERS, NUM_TRICKS),  # dummy's hand, once faced, is seen by all
        ("dealt", "i1", (NUM_CARDS,)),  # room to deal in; not kept, all NO_CARD            seen by: nobody
        ("board", "i1"),  # number, 1..16                                               all below: seen by all
        ("dealer", "i1"),
        ("vulnerable", "i1"),  # bit set of sides
        # phase="auction": 4 * denomination + declarer to tricks, or NOT_KNOWN                seen by: nobody
        ("tricks", "i1", (NUM_RESULTS,)),
        ("phase", "i1"),
        # The auction
        ("calls", "i1", (MAX_CALLS,)),
        ("num_calls", "i2"),
        ("num_passes", "i1"),  # in a row
        ("opening_passes", "i1"),  # before the first bid
        ("bidders", "i1", (NUM_BIDS,)),  # by bid, a player or NO_PLAYER
        ("doublers", "i1", (NUM_BIDS,)),
        ("redoublers", "i1", (NUM_BIDS,)),
        ("named", "i1", (NUM_SIDES, NUM_DENOMINATIONS)),  # who of a side first bid a denomination, or NO_PLAYER
        ("contract", "i1"),  # the last bid, or NO_BID
        ("doubled", "i1"),  # of the last bid: 0, 1 doubled, 2 redoubled
        # The play
        ("declarer", "i1"),  # or NO_PLAYER, as long as the auction goes on
        ("is_faced", "u1"),  # dummy's hand
        ("turn", "i1"),  # whose card is to be played: dummy's cards are chosen by declarer
        ("winners", "i1", (NUM_TRICKS,)),
        ("tricks_won", "i1", (NUM_SIDES,)),
        # The rubber
        ("num_deals", "i1"),  # begun
        ("games", "i1", (NUM_SIDES,)),
        ("below", "i2", (NUM_SIDES,)),  # the line
        ("totals", "i4", (NUM_SIDES,)),
        ("last_played", "i8", (NUM_PLAYERS,)),  # bit sets of the cards played in the deal before
        # By deal: contract (or NO_BID), declarer, doubled, tricks of declarer's side, and North and South's points.
        ("contracts", "i1", (MAX_DEALS,)),
        ("declarers", "i1", (MAX_DEALS,)),
        ("doubles", "i1", (MAX_DEALS,)),
        ("tricks_made", "i1", (MAX_DEALS,)),
        ("points", "i4", (MAX_DEALS,)),
    ],
)
