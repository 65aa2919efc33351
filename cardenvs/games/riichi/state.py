"""Options and state record of riichi. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.games.riichi.tiles import NUM_FACES, NUM_KINDS, NUM_TILES, RED

NUM_PLAYERS = 4
MAX_MELDS = 4
MAX_KANS = 4
MAX_DISCARDS = 28  # of one player in a round, see rules.max_length
NUM_DRAWS = 70  # in a round, those after kans included (2.3)
MAX_ROUNDS = 100  # of a match (9.6)
TARGET = 30_000  # points of somebody at the end of a match (9.4)
STICK = 1_000
NO_TILE = -1
NO_PLAYER = -1

# Phases: after a draw, after a call, asked about a discard, asked about a tile added to a pon.
TURN, CALLED, ASKED, ROBBING = range(4)
PHASES = ("turn", "called", "asked", "robbing")

# Choices of options, as a record holds them
ROUND, EAST_ONLY, HALF = range(3)
DOUBLE, TRIPLE, HEAD_BUMP = range(3)
POINTS, RANK = 0, 1
UMAS = {"none": (0, 0), "5-10": (5, 10), "10-20": (10, 20), "10-30": (10, 30), "20-30": (20, 30)}  # in 1,000 points
UMA = np.array([[outer, inner, -inner, -outer] for inner, outer in UMAS.values()], np.int64)

# What a player is in: not in riichi, riichi, double riichi
NO_RIICHI, IN_RIICHI, IN_DOUBLE_RIICHI = range(3)

# Sets of three dragons and of four winds for which somebody may be liable (7.5)
DRAGONS, WINDS = 0, 1

# How a discard was made, as a bit set
FROM_DRAW, WITH_RIICHI, WAS_CALLED = 1, 2, 4


@dataclass(frozen=True)
class RiichiOptions(Options):
    """Options of riichi."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players at the table")
    length: str = option("round", choices=("round", "east", "half"), doc="one round, or a match (9)")
    starting_points: int = option(25_000, low=1_000, high=100_000, doc="points of each player at the start (9.1)")
    red_fives: bool = option(True, doc="whether one five of each suit is red, and counts as dora (1.2)")
    open_tanyao: bool = option(True, doc="whether an open hand may count all simples (5.2)")
    kiriage_mangan: bool = option(False, doc="whether 4 han 30 fu and 3 han 60 fu are a mangan (7.1)")
    double_yakuman: bool = option(False, doc="whether rare forms of some yakuman count twice (5.4)")
    counted_yakuman: bool = option(True, doc="whether 13 han are a yakuman, or a sanbaiman (7.1)")
    multiple_ron: str = option(
        "double", choices=("double", "triple", "head_bump"), doc="how many may win by one discard (5.6)"
    )
    swap_calling: bool = option(
        False, doc="whether a tile that the call could have done without may be discarded (3.6)"
    )
    abortive_draws: bool = option(True, doc="whether a round may end without a result (8.3)")
    nagashi: bool = option(True, doc="whether discards of terminals and honours alone are paid (8.2)")
    pao: bool = option(True, doc="whether who feeds the last of three dragons or four winds is liable (7.5)")
    ura_dora: bool = option(True, doc="whether riichi wins count the indicators below (5.5)")
    kan_dora: bool = option(True, doc="whether kans turn up indicators (5.5)")
    ippatsu: bool = option(True, doc="whether winning within a go-round after riichi counts (5.2)")
    double_wind_fu: int = option(4, values=(2, 4), doc="fu of a pair of the wind of both seat and round (6.3)")
    returns: str = option("points", choices=("points", "rank"), doc="what is paid: thousands of points, or places (10)")
    uma: str = option("none", choices=tuple(UMAS), doc="thousands for places in a match, as inner-outer (10.2)")
    oka: int = option(
        0, low=0, high=100, doc="thousands of points that each player pays to the first of a match (10.2)"
    )
    efficiency: bool = option(False, doc="whether observations say what brings the own hand nearer")
    outcomes: bool = option(False, doc="whether observations say what each legal action promises and risks")

    def check(self):
        """Raise OptionError if options do not fit together."""
        if (self.uma != "none" or self.oka) and (self.length == "round" or self.returns == "rank"):
            raise OptionError("uma and oka are for matches paid by points: length='east' or 'half', returns='points'")
        if self.starting_points % 100:
            raise OptionError(f"starting_points={self.starting_points} is not a multiple of 100")


STATE = record(
    rules_dtype(RiichiOptions),
    NUM_PLAYERS,
    [
        # The wall: tiles lie in the order in which they leave it, be it to hands, as indicators or by drawing. What has
        # left is NO_TILE.                                                                     seen by: nobody
        ("deck", "i1", (NUM_TILES,)),
        ("num_dealt", "u1"),
        ("hands", "i1", (NUM_PLAYERS, NUM_FACES)),  # counts by face, the tile drawn included    seen by: owner
        ("drawn", "i1"),  # face drawn by the player whose turn it is, or NO_TILE                seen by: its owner
        ("waits", "i8", (NUM_PLAYERS,)),  # kinds that complete the hand of 13, as a set         seen by: owner
        # 1 + the answer to the present question, or 0; see rules.md 3.2                        seen by: that player
        ("answers", "i2", (NUM_PLAYERS,)),
        # What follows is seen by all.
        ("phase", "i1"),
        ("turn", "i1"),  # whose turn it is: who draws, discards, or adds to a pon
        ("tile", "i1"),  # face discarded or added to a pon last, about which others are asked
        ("num_draws", "i1"),  # tiles that have left the wall by drawing
        ("num_indicators", "i1"),
        ("indicators", "i1", (MAX_KANS + 1,)),  # faces
        ("num_ura", "i1"),  # turned up at the end of a round
        ("ura", "i1", (MAX_KANS + 1,)),
        ("num_kans", "i1"),
        ("owed_indicators", "i1"),  # to be turned up before the next discard (2.4)
        ("num_melds", "i1", (NUM_PLAYERS,)),
        ("meld_type", "i1", (NUM_PLAYERS, MAX_MELDS)),
        ("meld_kind", "i1", (NUM_PLAYERS, MAX_MELDS)),  # the lowest
        ("meld_called", "i1", (NUM_PLAYERS, MAX_MELDS)),  # face called, or NO_TILE
        ("meld_from", "i1", (NUM_PLAYERS, MAX_MELDS)),  # who discarded it, or NO_PLAYER
        ("meld_red", "u1", (NUM_PLAYERS, MAX_MELDS)),  # whether a red five is in it
        ("meld_added", "u1", (NUM_PLAYERS, MAX_MELDS)),  # whether it is a pon to which a tile was added
        ("discards", "i1", (NUM_PLAYERS, MAX_DISCARDS)),  # faces, called ones included; then NO_TILE
        ("discard_marks", "u1", (NUM_PLAYERS, MAX_DISCARDS)),  # FROM_DRAW, WITH_RIICHI, WAS_CALLED
        ("seen", "i1", (NUM_KINDS,)),  # tiles of each kind that lie open: discards, melds and indicators
        ("num_discards", "i1", (NUM_PLAYERS,)),
        ("thrown", "i8", (NUM_PLAYERS,)),  # kinds that p has discarded
        ("passed", "i8", (NUM_PLAYERS,)),  # kinds that p could have won by since its last turn, in riichi since then
        ("barred", "i8"),  # kinds that may not be discarded after a call (3.6)
        ("riichi", "u1", (NUM_PLAYERS,)),
        ("ippatsu", "u1", (NUM_PLAYERS,)),  # 1: p is in its first go-round after riichi
        ("is_declaring", "u1"),  # 1: the last discard was made with riichi, and the stick is not paid
        ("is_untouched", "u1"),  # 1: no call and no kan in this round
        ("after_kan", "u1"),  # 1: the tile drawn replaces one of a kan
        ("liable", "i1", (NUM_PLAYERS, 2)),  # who fed p's last dragons or winds, or NO_PLAYER
        ("kept_not", "i1", (NUM_PLAYERS,)),  # with four melds: a face that p's last tile is not, or NO_TILE (11.3)
        ("dealer", "i1"),
        ("wind", "i1"),  # of the round: 0 east, 1 south, 2 west, 3 north
        ("honba", "u1"),
        ("sticks", "u1"),  # riichi sticks on the table
        ("num_rounds", "u1"),  # begun
        ("points", "i4", (NUM_PLAYERS,)),
        ("wins", "u1", (NUM_PLAYERS,)),  # rounds won
        ("deal_ins", "u1", (NUM_PLAYERS,)),  # rounds in which another player won by a tile of p
        ("shown", "u1", (NUM_PLAYERS,)),  # 1: the hand lies open, at the end of the round
        ("is_exhausted", "u1"),  # 1: the wall is empty, and the round over
        ("tenpai", "u1", (NUM_PLAYERS,)),  # 1: shown tenpai at an exhaustive draw
    ],
)


def deck(options):
    """Return all tiles of the game."""
    counts = np.full(NUM_FACES, 4)
    counts[RED:] = 0
    if options.red_fives:
        counts[[4, 13, 22]], counts[RED:] = 3, 1
    return np.repeat(np.arange(NUM_FACES), counts).astype(np.int16)


@kernel(inline=True)
def tiles_left(s):
    """Return how many tiles may still be drawn (2.3)."""
    return NUM_DRAWS - s.num_draws


@kernel(inline=True)
def is_closed(s, player):
    """Return whether a player has no open meld; closed kans leave a hand closed (3.5)."""
    called = 0
    for m in range(s.num_melds[player]):
        called += 1 if s.meld_from[player, m] != NO_PLAYER else 0
    return called == 0


@kernel(inline=True)
def copy_kinds(s, player, counts):
    """Write the tiles in hand by kind to `counts`, int8[34]; a red five is a five."""
    for kind in range(NUM_KINDS):
        counts[kind] = s.hands[player, kind]
    for suit in range(3):
        counts[9 * suit + 4] += s.hands[player, RED + suit]


@kernel(inline=True)
def number_of(s, player, kind):
    """Return how many tiles of a kind are in hand, red ones included."""
    number = np.int64(s.hands[player, kind])
    if kind < 27 and kind % 9 == 4:
        number += s.hands[player, RED + kind // 9]
    return number


@kernel(inline=True)
def num_unseen(s, player, kind):
    """Return how many tiles of a kind a player does not see."""
    return 4 - s.seen[kind] - number_of(s, player, kind)


@kernel(inline=True)
def seat_wind(s, player):
    """Return 0 for the dealer, 1 for the next player, and so on."""
    return (player - s.dealer) & 3


@kernel(inline=True)
def is_furiten(s, player):
    """Return whether a player may not win by ron (4.3): a wait lies among the own discards, or has been passed."""
    return s.waits[player] & (s.thrown[player] | s.passed[player]) != 0
