"""Options and state record of Rummikub. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.options import option, rules_dtype
from cardenvs.core.record import record
from cardenvs.games.rummikub.ruleset import MAX_PLAYERS, CommonRules
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, MOST_TILES, NUM_TYPES, tile_of

NO_MELD = -1
NO_SLOT = -1
HISTORY = 512  # entries of the ring of turns: some 60 turns; see past.py
EXACT, LOOSE = range(2)
SCORE, WIN = range(2)
PHASES = ("turn", "take_apart", "lay")  # the start of a turn, or the kind of the last step
TURN_BEGINS, TAKING_APART, LAYING = range(3)


@dataclass(frozen=True)
class RummikubOptions(CommonRules):
    """Options of the environment."""

    steps: str = option(
        "exact",
        choices=("exact", "loose"),
        doc="exact: steps with which the turn can be completed; loose: see rules.md 8",
    )
    returns: str = option("score", choices=("score", "win"), doc="points of the racks, or 1 for the winner")
    outcomes: bool = option(False, doc="whether observations say what the rule agents would play")


STATE = record(
    rules_dtype(RummikubOptions),
    MAX_PLAYERS,
    [
        ("deck", "i1", (MOST_TILES,)),  # dealing order; deck[num_dealt:num_tiles] is the pool, next first  nobody
        ("num_tiles", "i1"),  # in the game
        ("num_dealt", "i1"),  # dealt and drawn
        ("hands", "i1", (MAX_PLAYERS, NUM_TYPES)),  # counts, tiles laid in this turn included       seen by: owner
        ("rack_sizes", "i1", (MAX_PLAYERS,)),  # sums of `hands`                                    seen by: all
        ("sets", "i2", (MAX_MELDS,)),  # the table, catalogue numbers or NO_MELD                     seen by: all
        ("opened", "u1", (MAX_PLAYERS,)),
        ("num_passes", "i1"),  # in a row
        ("history", "i2", (HISTORY,)),  # the last turns, where a draw or pass proves something; see past.py
        ("num_history", "i4"),  # entries written so far
        # The turn being built, seen by the player to act only
        ("taken", "u1", (MAX_MELDS,)),  # 1: this set has been taken apart
        ("last_taken", "i2"),  # the highest meld number among them, or NO_MELD
        ("laid", "i2", (MAX_MELDS,)),  # melds laid, ascending, then NO_MELD
        ("num_laid", "i1"),
        ("loose", "i1", (NUM_TYPES,)),  # tiles of sets taken apart that have not been laid again
        ("used", "i1", (NUM_TYPES,)),  # rack tiles laid
        ("points", "i2"),  # of the melds laid
    ],
)


def deck(options):
    """Return all tiles of the game."""
    naturals = [tile_of(colour, value) for colour in range(options.colors) for value in range(1, options.values + 1)]
    return np.array(sorted(naturals * options.copies) + [JOKER] * options.jokers, np.int16)
