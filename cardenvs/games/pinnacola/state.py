"""Options, cards and state record of Pinnacola. Paragraph numbers are those of rules.md.

A *face* is a card as it looks: 0..51 as in kits/cards.py, suit * 13 + rank with the ace as rank 0, and the joker. A
hand is a bit set of the faces it has, another of those it has twice, and a number of jokers.

A *cell* is a place in a run: suit * 14 + step, where steps 0 to 13 are the ace, 2, ..., K and the ace again. So there
are 56 cells, and a run of any length is a row of neighbouring bits of a set of cells.

Kernels pass int64 to each other, because Numba compiles a kernel again for every other combination of types.
"""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS

MAX_PLAYERS = 4
NUM_SIDES = 2
MAX_HANDS = 50  # of a match (7.3)

# Faces
NUM_SUITS, NUM_RANKS = 4, 13
TWO = 1  # the rank
JOKER = NUM_CARDS
NUM_FACES = NUM_CARDS + 1
DECK_SIZE = 108  # at most
NUM_JOKERS = 4
FACE_LABELS = (*CARD_LABELS, "JK")
TWO_OF_SPADES, TWO_OF_CLUBS = CARD_LABELS.index("2s"), CARD_LABELS.index("2c")
RED_TWOS = (CARD_LABELS.index("2d"), CARD_LABELS.index("2h"))
NO_CARD = -1

NUM_STEPS = 14
NUM_CELLS = NUM_SUITS * NUM_STEPS

# Melds
RUN, SET, JOKERS = range(1, 4)  # kinds of melds
MAX_MELDS = DECK_SIZE // 3
MIN_RUN, MAX_SET = 3, 4
PINNACOLONE = 13  # length

# What stands in for other cards: the number of a kind of wild card
WILD_JOKER, WILD_SPADES, WILD_CLUBS = range(3)
NUM_WILD_KINDS = 3
WILD_FACES = np.array([JOKER, TWO_OF_SPADES, TWO_OF_CLUBS], np.int64)

# Phases, in the order of play
DRAW, USE, MELD = range(3)
PHASES = ("draw", "use", "meld")

# Options in a record
FROM_ANY, TOP_ONLY, WHOLE = range(3)
ANY_SIDE, OWN_SIDE, NOWHERE = range(3)  # joker_replace
ATTACH_OWN, ATTACH_ANY = range(2)
NEEDS_NONE, NEEDS_PINNACOLA, NEEDS_POKER, NEEDS_BOTH = range(4)
REQUIRED, OPTIONAL = range(2)
STOCK_ENDS, STOCK_POZZO = range(2)


@dataclass(frozen=True)
class PinnacolaOptions(Options):
    """Options of Pinnacola."""

    num_players: int = option(2, values=(2, 4), doc="players; four form two partnerships (1.1)")
    hand_size: int = option(13, values=(13, 15), doc="cards dealt to each player (2.1)")
    jokers: bool = option(True, doc="whether four jokers are in the pack (1.2)")
    pinelle: bool = option(False, doc="whether black twos are wild, too, and red twos are left out (1.4)")
    wilds_per_meld: int = option(1, low=0, high=2, doc="most wild cards in a run or set (3.3)")
    joker_melds: bool = option(True, doc="whether three or four jokers are a meld (3.5)")
    ace_to_ace: bool = option(True, doc="whether a run may have an ace at both ends (3.1)")
    pinnacola_length: int = option(7, values=(6, 7), doc="least length of a run that counts double (3.6)")
    pozzo: str = option(
        "from_any",
        choices=("from_any", "top_only", "whole"),
        doc="what is taken from the row: a card and all after it, the last card, or all cards (4.2)",
    )
    joker_replace: str = option(
        "any", choices=("any", "own_side", "none"), doc="out of whose melds jokers may be taken (4.5)"
    )
    attach: str = option("own_side", choices=("own_side", "any"), doc="to whose melds cards may be added (4.4)")
    close_needs: str = option(
        "none",
        choices=("none", "pinnacola", "poker", "both"),
        doc="what a side must have on the table to close (5.2)",
    )
    close_discard: str = option(
        "required", choices=("required", "optional"), doc="whether the last card must be discarded (5.1)"
    )
    close_fit: bool = option(True, doc="whether the closing discard may be a card that fits a meld (5.3)")
    close_first_round: bool = option(True, doc="whether a player may close in the first round (5.4)")
    pinnacolone_ends: bool = option(False, doc="whether a pinnacolone ends the hand after its turn (5.6)")
    close_bonus: int = option(100, low=0, high=500, doc="points for closing (6.3)")
    in_mano: bool = option(
        True, doc="whether closing in one's first turn doubles the bonus, and then the score of the side (6.4)"
    )
    stock_end: str = option(
        "end",
        choices=("end", "pozzo"),
        doc="without a stock: the hand ends, or the player to move may still take from the row (5.5)",
    )
    target: int | None = option(
        None, low=100, high=5000, optional=True, doc="points that win a match; None: a single hand (7.1)"
    )
    outcomes: bool = option(False, doc="whether observations say what each legal action is worth to the rule agent")


STATE = record(
    rules_dtype(PinnacolaOptions),
    MAX_PLAYERS,
    [
        # Cards. A hand is seen by its owner, and the part of it that is known by all.
        ("deck", "i1", (DECK_SIZE,)),  # the stock from num_dealt on, next card first; else NO_CARD  seen by: nobody
        ("row", "i1", (DECK_SIZE,)),  # the discards, first one first; NO_CARD after them            seen by: all
        ("held", "i8", (MAX_PLAYERS,)),  # faces in a hand, as bits                                  seen by: owner
        ("twice", "i8", (MAX_PLAYERS,)),  # faces that are there twice                               seen by: owner
        ("jokers", "i1", (MAX_PLAYERS,)),  # in a hand                                               seen by: owner
        ("known_held", "i8", (MAX_PLAYERS,)),  # the part of a hand that all have seen, likewise     seen by: all
        ("known_twice", "i8", (MAX_PLAYERS,)),
        ("known_jokers", "i1", (MAX_PLAYERS,)),
        # The rest is seen by all
        ("hand_sizes", "i1", (MAX_PLAYERS,)),
        ("num_dealt", "i1"),
        ("num_row", "i1"),
        # Melds, in the order in which they were laid. What is after them is of no meaning.
        ("num_melds", "i1"),
        ("meld_kind", "i1", (MAX_MELDS,)),  # RUN, SET or JOKERS
        ("meld_side", "i1", (MAX_MELDS,)),
        ("meld_key", "i1", (MAX_MELDS,)),  # suit of a run, rank of a set
        ("meld_low", "i1", (MAX_MELDS,)),  # lowest step of a run
        ("meld_size", "i1", (MAX_MELDS,)),  # cards
        ("meld_naturals", "i2", (MAX_MELDS,)),  # bits: steps of a run, suits of a set
        ("meld_wilds", "i2", (MAX_MELDS, NUM_WILD_KINDS)),  # of each kind: bits of the steps of a run, else a number
        ("meld_points", "i2", (MAX_MELDS,)),  # what each counts (6.2)
        ("meld_shape", "i8", (MAX_MELDS,)),  # all about a meld in a number, see melds.shape_of
        ("points", "i2", (NUM_SIDES,)),  # of all melds of a side
        # What follows from the melds of a side, as bit sets. Only `melds.refresh` writes it.
        ("above", "i8", (NUM_SIDES,)),  # cells at which a natural card continues a run
        ("below", "i8", (NUM_SIDES,)),  # cells at which it precedes one
        ("wild_above", "i8", (NUM_SIDES,)),  # the same for a wild card
        ("wild_below", "i8", (NUM_SIDES,)),
        ("joker_cells", "i8", (NUM_SIDES,)),  # cells for which a joker stands in a run
        ("set_faces", "i8", (NUM_SIDES,)),  # faces that a set has room for
        ("joker_faces", "i8", (NUM_SIDES,)),  # faces that may replace a joker in a set
        ("wild_sets", "i2", (NUM_SIDES,)),  # ranks of sets that have room for a wild card
        ("takes_joker", "u1", (NUM_SIDES,)),  # 1: three jokers alone, to which the fourth may be added
        ("has_pinnacola", "u1", (NUM_SIDES,)),
        ("has_poker", "u1", (NUM_SIDES,)),
        ("has_pinnacolone", "u1", (NUM_SIDES,)),
        ("melded", "i8", (NUM_SIDES,)),  # faces in the melds of a side, as in a hand
        ("melded_twice", "i8", (NUM_SIDES,)),
        ("melded_jokers", "i1", (NUM_SIDES,)),
        # The turn
        ("phase", "i1"),
        ("must_use", "i1"),  # in phase USE: the face that the next action must meld, else NO_CARD
        ("not_meld", "i1"),  # in phase USE: the meld from which a joker has been taken, else -1
        ("num_turns", "i2"),  # ended in this hand
        # The match, or the single hand
        ("dealer", "i1"),
        ("num_hands", "i2"),  # begun
        ("scores", "i4", (NUM_SIDES,)),
    ],
)


def deck(options):
    """Return all cards of the game (1.2, 1.4)."""
    copies = [2] * NUM_CARDS + [NUM_JOKERS if options.jokers else 0]
    for face in RED_TWOS:
        copies[face] = 0 if options.pinelle else 2
    return np.repeat(np.arange(NUM_FACES), copies).astype(np.int16)


@kernel(inline=True)
def is_red_two(face):
    """Return whether a face is a red two, which is left out with pinelle."""
    return face == RED_TWOS[0] or face == RED_TWOS[1]


@kernel(inline=True)
def copies_of(s, face):
    """Return the number of cards of a face in the game (1.2, 1.4)."""
    if face == JOKER:
        return NUM_JOKERS * s.rules.jokers
    return 0 if s.rules.pinelle and is_red_two(face) else 2


def count_cards(rules):
    """Return the number of cards in the game; `rules` are options or those of a record."""
    return 2 * NUM_CARDS + NUM_JOKERS * rules.jokers - 4 * rules.pinelle


_count_cards = kernel(inline=True)(count_cards)


@kernel(inline=True)
def num_cards(s):
    """Return the number of cards in the game."""
    return np.int64(_count_cards(s.rules))


@kernel(inline=True)
def num_stock(s):
    """Return the number of cards in the stock."""
    return num_cards(s) - s.num_dealt


@kernel(inline=True)
def side_of(player):
    """Return the side of a player (1.1)."""
    return player & 1


@kernel(inline=True)
def cells_of(faces):
    """Return the cells of a bit set of faces; an ace has two."""
    cells = np.int64(0)
    for suit in range(NUM_SUITS):
        steps = faces >> NUM_RANKS * suit & 8191
        cells |= (steps | (steps & 1) << NUM_RANKS) << NUM_STEPS * suit
    return cells


@kernel(inline=True)
def face_at(cell):
    """Return the face that belongs at a cell."""
    suit, step = cell // NUM_STEPS, cell % NUM_STEPS
    return suit * NUM_RANKS + (0 if step == NUM_RANKS else step)


@kernel(inline=True)
def num_held(s, player, face):
    """Return how many cards of a face are in a hand."""
    if face == JOKER:
        return np.int64(s.jokers[player])
    return (s.held[player] >> face & 1) + (s.twice[player] >> face & 1)


@kernel(inline=True)
def num_known(s, player, face):
    """Return how many cards of a face are known to be in a hand."""
    if face == JOKER:
        return np.int64(s.known_jokers[player])
    return (s.known_held[player] >> face & 1) + (s.known_twice[player] >> face & 1)


@kernel(inline=True)
def value_of(s, face):
    """Return the value of a card (6.1)."""
    if face == JOKER:
        return 25
    rank = face % NUM_RANKS
    if rank == 0:
        return 15
    if rank == TWO and s.rules.pinelle:
        return 25
    return 10 if rank >= 5 else 5
