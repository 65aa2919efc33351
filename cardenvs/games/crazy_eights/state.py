"""Cards, options and state record of Crazy Eights. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE, Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import Pack
from cardenvs.kits.shedding import slot_fields, stock_fields

MAX_PLAYERS = 7
MAX_HANDS = 100  # of a match (7.3)
NO_CARD = -1
NO_PLAYER = -1

PACK = Pack("23456789TJQKA", "cdhs", by="rank")  # id = rank * 4 + suit
NUM_CARDS = PACK.size
MAX_CARDS = 2 * NUM_CARDS  # of two packs
NUM_SUITS, NUM_RANKS = len(PACK.suits), len(PACK.ranks)
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
ANY_SUIT = NUM_SUITS  # to follow when the first card is an eight that stays (2.3)
EIGHT = PACK.ranks.index("8")

# Sets of cards, as bit sets
ALL_CARDS = PACK.all_cards
RANK_SETS = np.array([sum(1 << NUM_SUITS * rank + suit for suit in range(NUM_SUITS)) for rank in range(NUM_RANKS)])
FITTING = np.array(
    [[suit | int(RANK_SETS[rank]) | int(RANK_SETS[EIGHT]) for suit in (*map(int, PACK.suit_sets), int(ALL_CARDS))]
     for rank in range(NUM_RANKS)]
)  # fmt: skip
"""Cards that fit, by the rank of the top card and the suit to follow (3.1)."""

# Points of the cards (6.1); OpenSpiel's are those of section 8.
_FACE_VALUES = {"8": 50, "T": 10, "J": 10, "Q": 10, "K": 10, "A": 1}
_STANDARD = [_FACE_VALUES.get(label[0]) or int(label[0]) for label in PACK.labels]
_OPENSPIEL = [
    50 if label[0] == "8" else 10 if label[0] in "JQKA" else card + 2 for card, label in enumerate(PACK.labels)
]
CARD_POINTS = np.array([_STANDARD, _OPENSPIEL], np.int64)
"""What each card counts, by the index of `card_points`."""

SPECIAL_RANKS = ("none", *"2345679TJQKA")
RANK_OF = np.array([-1, *(PACK.ranks.index(rank) for rank in SPECIAL_RANKS[1:])], np.int64)
"""The rank that an option for special cards stands for."""

# Phases, and choices of options as a record holds them
PLAY, NAME = 0, 1
PHASES = ("play", "name")
REDRAW, WILD = 0, 1
WINNER_TAKES, OWN_PENALTY = 0, 1

LONG_HAND, LONG_OPENSPIEL_HAND = 500, 100  # cards played that end a hand, unless `max_plays` says so (5.3)


@dataclass(frozen=True)
class CrazyEightsOptions(Options):
    """Options of Crazy Eights."""

    num_players: int = option(4, low=2, high=MAX_PLAYERS, doc="players at the table")
    decks: int | None = option(
        None, low=1, high=2, optional=True, doc="packs of 52; None: one for up to five players, else two (2.1)"
    )
    hand_size: int | None = option(
        None, low=1, high=8, optional=True, doc="cards dealt to each player; None: 7 to two, else 5 (2.2)"
    )
    draw_limit: int | None = option(
        5, low=1, high=10, optional=True, doc="cards drawn before a player may pass; None: no limit (3.3)"
    )
    draw_when_able: bool = option(True, doc="whether a player with a card that fits may draw (3.3)")
    skip: str = option("none", choices=SPECIAL_RANKS, doc="rank that skips the next player (4.1)")
    reverse: str = option("none", choices=SPECIAL_RANKS, doc="rank that turns the direction (4.2)")
    draw_two: str = option("none", choices=SPECIAL_RANKS, doc="rank that makes the next player draw two (4.3)")
    stack: bool = option(True, doc="whether a draw-two card may be answered by another (4.3)")
    start_special: bool = option(True, doc="whether a special first card takes effect (4.5)")
    start_eight: str = option(
        "redraw",
        choices=("redraw", "wild"),
        doc="a first eight is put back, or lets the first player play any card (2.3)",
    )
    reshuffle: bool = option(True, doc="whether the discards become the stock when it is empty (5.4)")
    max_plays: int | None = option(
        None, low=1, high=1000, optional=True, doc=f"cards played that end a hand; None: {LONG_HAND} (5.3)"
    )
    block_passes: int | None = option(
        None, low=1, high=20, optional=True, doc="passes in a row that end a hand; None: as many as players (5.2)"
    )
    scoring: str = option(
        "winner_takes", choices=("winner_takes", "own_penalty"), doc="who is paid for the cards left (6.2, 6.4)"
    )
    card_points: str = option("standard", choices=("standard", "openspiel"), doc="what cards count (6.1, 8.2)")
    target: int | None = option(
        None, low=1, high=1000, optional=True, doc="points that end a match, usually 100; None: one hand (7)"
    )
    dealer: int | None = option(
        0, low=0, high=MAX_PLAYERS - 1, optional=True, doc="who deals first; None: drawn by lot (2.2)"
    )
    openspiel: bool = option(False, doc="the rules of OpenSpiel's game (8)")

    def check(self):
        """Raise OptionError if options do not fit together."""
        if self.dealer is not None and self.dealer >= self.num_players:
            raise OptionError(
                f"dealer={self.dealer} is not one of the {self.num_players} players, 0 to {self.num_players - 1}"
            )
        named = [rank for rank in (self.skip, self.reverse, self.draw_two) if rank != "none"]
        if len(set(named)) < len(named):
            raise OptionError("skip, reverse and draw_two must be different ranks")
        if self.openspiel:
            self._check_openspiel()

    def _check_openspiel(self):
        own = ("decks", "hand_size", "draw_when_able", "stack", "start_eight", "block_passes", "scoring", "card_points")
        for name in (*own, "target"):
            if name in self.changed():
                raise OptionError(f"openspiel=true has rules of its own; leave {name} at its default")


STATE = record(
    rules_dtype(CrazyEightsOptions),
    MAX_PLAYERS,
    [
        *stock_fields(MAX_CARDS),
        # Bit sets of cards; of two packs, the second set has those that are there twice.
        ("hands", "i8", (MAX_PLAYERS,)),  #                                         seen by: owner
        ("doubles", "i8", (MAX_PLAYERS,)),  #                                       seen by: owner
        # The rest is seen by all.
        ("discards", "i8"),
        ("double_discards", "i8"),
        ("hand_sizes", "i1", (MAX_PLAYERS,)),
        ("top", "i1"),  # the card played last
        ("suit", "i1"),  # to follow, or ANY_SUIT
        ("phase", "i1"),
        ("owed", "i1"),  # cards that the player to act must draw
        ("num_drawn", "i1"),  # cards drawn in this turn
        ("num_passes", "i1"),  # in a row, with an empty stock
        ("num_plays", "i2"),  # cards played in this hand
        ("dealer", "i1"),
        ("num_hands", "i2"),  # begun
        ("scores", "i4", (MAX_PLAYERS,)),
        ("is_shown", "u1"),  # 1: the hand is over, and all cards lie open
        # Where hidden cards can be, and what they cannot be; see knowledge.py
        *slot_fields(MAX_CARDS),
        ("stock_marks", "i8"),
        ("marks", "i8", (2, NUM_CARDS)),
        # Cards that went into the stock when it was last made again, or as first cards were put back; and before that
        ("recycled", "i8"),
        ("double_recycled", "i8"),
        ("recycled_before", "i8"),
        ("double_recycled_before", "i8"),
    ],
)


# ---------------------------------------------------------------------------------------------------------------
# What options leave open; `rules` are the options, or those of a record


def num_packs(options):
    """Return the number of packs (2.1)."""
    return options.decks or (1 if options.num_players <= 5 else 2)


def deck(options):
    """Return all cards of the game."""
    return np.repeat(np.arange(NUM_CARDS), num_packs(options)).astype(np.int16)


@kernel(inline=True)
def packs_of(rules):
    """Return `num_packs` of a record."""
    if rules.decks == NONE:
        return 1 if rules.num_players <= 5 else 2
    return np.int64(rules.decks)


@kernel(inline=True)
def hand_size_of(rules):
    """Return how many cards each player is dealt (2.2)."""
    if rules.hand_size == NONE:
        return 7 if rules.num_players == 2 else 5
    return np.int64(rules.hand_size)


@kernel(inline=True)
def plays_in_hand(rules):
    """Return after how many cards a hand ends (5.3)."""
    if rules.max_plays == NONE:
        return LONG_OPENSPIEL_HAND if rules.openspiel else LONG_HAND
    return np.int64(rules.max_plays)


@kernel(inline=True)
def passes_to_block(rules):
    """Return after how many passes a hand is blocked (5.2)."""
    if rules.block_passes == NONE:
        return rules.num_players + rules.openspiel
    return np.int64(rules.block_passes)


@kernel(inline=True)
def is_own_penalty(rules):
    """Return whether each player pays for the own cards (6.4)."""
    return rules.scoring == OWN_PENALTY or rules.openspiel


@kernel(inline=True)
def points_of(rules, card):
    """Return what a card counts (6.1, 8.2)."""
    return CARD_POINTS[1 if rules.openspiel else rules.card_points, card]
