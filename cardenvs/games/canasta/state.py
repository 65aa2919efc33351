"""Options, cards and state record of Canasta. Paragraph numbers are those of rules.md.

A *face* is a card as it looks: 0..51 as in core/cards.py, and the joker; there are 53 faces and 108 cards. A *kind* is
what a face means in this game, in which suits only tell red threes from black ones: 15 kinds.
"""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE, Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits import matches
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS
from cardenvs.kits.matches import num_sides

MAX_PLAYERS = 4
MAX_SIDES = 3
MAX_DEALS = 50  # of a match (10.3)

# Faces
JOKER_FACE = NUM_CARDS
NUM_FACES = NUM_CARDS + 1
DECK_SIZE = 108
FACE_LABELS = (*CARD_LABELS, "JK")
FACE_COPIES = np.array([2] * NUM_CARDS + [4], np.int64)

# Kinds: the ranks 4 to A, then the others
NUM_RANKS = 11
TWO, JOKER, BLACK_THREE, RED_THREE = range(NUM_RANKS, NUM_RANKS + 4)
NUM_KINDS = NUM_RANKS + 4
RANK_LABELS = tuple("456789TJQKA")
KIND_LABELS = (*RANK_LABELS, "2", "JK", "black 3", "red 3")
KIND_POINTS = np.array([5, 5, 5, 5, 10, 10, 10, 10, 10, 10, 20, 20, 50, 5, 0], np.int64)
"""Card points of each kind (1.2)."""


def _kind(face):
    label = FACE_LABELS[face]
    if label == "JK" or label[0] == "2":
        return JOKER if label == "JK" else TWO
    if label[0] == "3":
        return BLACK_THREE if label[1] in "sc" else RED_THREE
    return RANK_LABELS.index(label[0])


KIND_OF = np.array([_kind(face) for face in range(NUM_FACES)], np.int64)
"""The kind of each face."""
_OF_KIND = [[face for face in range(NUM_FACES) if _kind(face) == kind] for kind in range(NUM_KINDS)]
NUM_OF_KIND = np.array([len(faces) for faces in _OF_KIND], np.int64)
FACES_OF_KIND = np.array([faces + [0] * (4 - len(faces)) for faces in _OF_KIND], np.int64)
"""The faces of each kind, of which the first NUM_OF_KIND count."""

# Melds of a side: one for each rank (4.2), then black threes, then wild cards alone (4.6)
BLACK_MELD, WILD_MELD = NUM_RANKS, NUM_RANKS + 1
NUM_MELDS = NUM_RANKS + 2
MELD_LABELS = (*RANK_LABELS, "black 3", "wild")
CANASTA_SIZE = 7
MAX_WILDS = 3  # in a meld

# Phases, in the order of play
DRAW, TAKE, MELD, ANSWER = range(4)
PHASES = ("draw", "take", "meld", "answer")

# What a partner has answered (7.5)
FREE, MUST_GO_OUT, MAY_NOT_GO_OUT = range(3)


@dataclass(frozen=True)
class CanastaOptions(Options):
    """Options of Canasta."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players; four form two partnerships (1.1)")
    hand_size: int = option(
        None, low=3, high=20, optional=True, doc="cards dealt to each; None: 15, 13 or 11 for 2, 3 or 4 players"
    )
    draw_count: int = option(
        None, low=1, high=3, optional=True, doc="cards drawn in a turn; None: 2 for two players, else 1"
    )
    canastas_to_go_out: int = option(
        None, low=1, high=4, optional=True, doc="canastas needed to go out; None: 2 for two players, else 1"
    )
    match: bool = option(False, doc="whether deals are played until a side has `target` points")
    target: int = option(5000, low=1, high=20_000, doc="match: points that end it")
    max_wilds_per_meld: int = option(3, low=0, high=MAX_WILDS, doc="most wild cards in a meld (4.3)")
    wilds_fewer_than_naturals: bool = option(False, doc="whether a meld must have fewer wild than natural cards (4.3)")
    wild_only_melds: bool = option(False, doc="whether three or more wild cards may be a meld (4.6)")
    concealed_exempt_from_minimum: bool = option(
        True, doc="whether who goes out concealed needs no initial minimum (7.4)"
    )
    ask_partner: bool = option(False, doc="whether a player may ask the partner before going out (7.5)")
    forced_take_on_empty_stock: bool = option(
        True, doc="whether a discard that fits a meld must be taken when there is no stock (8.2)"
    )

    def check(self):
        """Raise OptionError for a question to a partner who does not exist."""
        if self.ask_partner and self.num_players != 4:
            raise OptionError(f"ask_partner=true needs num_players=4; got {self.num_players}")


STATE = record(
    rules_dtype(CanastaOptions),
    MAX_PLAYERS,
    [
        # Cards. A hand by faces is seen by its owner, the part that is known by all.
        ("deck", "i1", (DECK_SIZE,)),  # NO_CARD, then num_stock cards of stock, top first      seen by: nobody
        ("pile", "i1", (DECK_SIZE,)),  # the discard pile, bottom first; NO_CARD above          seen by: all
        ("hands", "i1", (MAX_PLAYERS, NUM_FACES)),  # counts by face                            seen by: owner
        ("known", "i1", (MAX_PLAYERS, NUM_FACES)),  # the part of a hand that all have seen     seen by: all
        ("kinds", "i1", (MAX_PLAYERS, NUM_KINDS)),  # hands by kind                             seen by: owner
        ("red_threes", "i1", (MAX_PLAYERS, 2)),  # laid: 3d, 3h                                 seen by: all
        ("melded", "i1", (MAX_SIDES, NUM_FACES)),  # all cards in a side's melds, by face       seen by: all
        ("naturals", "i1", (MAX_SIDES, NUM_MELDS)),  # in each meld
        ("jokers", "i1", (MAX_SIDES, NUM_MELDS)),
        ("twos", "i1", (MAX_SIDES, NUM_MELDS)),
        # The rest is seen by all
        ("hand_sizes", "i1", (MAX_PLAYERS,)),
        ("num_stock", "i1"),
        ("num_pile", "i1"),
        ("pile_reds", "i1"),  # red threes in the pile
        ("pile_frozen", "u1"),  # 1: the pile holds a wild card or a red three
        ("has_opened", "u1", (MAX_SIDES,)),  # 1: the side has melded in this deal
        ("has_melded", "u1", (MAX_PLAYERS,)),  # 1: the player has melded in this deal
        # The turn
        ("phase", "i1"),
        ("first_meld", "i1"),  # lowest number of a meld that may be laid next (3.3)
        ("needed", "i2"),  # points that the initial meld still needs; 0 or less: none
        ("has_laid", "u1"),  # 1: a card has been laid in this turn
        ("has_taken", "u1"),  # 1: the pile has been taken in this turn
        ("no_discard", "u1"),  # 1: the last stock card was a red three (8.1)
        ("answer", "i1"),  # FREE, MUST_GO_OUT or MAY_NOT_GO_OUT
        ("asker", "i1"),  # who has asked the partner, or NO_PLAYER
        ("old_melds", "i2"),  # bit set of the side's melds when the turn began
        ("is_concealed", "u1"),  # 1: the player has melded nothing before, and added to no old meld
        # The match, or the single deal
        ("dealer", "i1"),
        ("num_deals", "i2"),  # begun
        ("scores", "i4", (MAX_SIDES,)),
    ],
)
NO_CARD = -1
NO_PLAYER = -1


def deck(options):
    """Return all cards of the game."""
    return np.repeat(np.arange(NUM_FACES), FACE_COPIES).astype(np.int16)


@kernel(inline=True)
def side_of(s, player):
    """Return the side of a player (1.1)."""
    return matches.side_of(player, num_sides(s))


@kernel(inline=True)
def hand_size(s):
    """Return the number of cards dealt to each player (2.1)."""
    if s.rules.hand_size != NONE:
        return s.rules.hand_size
    return 19 - 2 * s.rules.num_players  # 15, 13, 11


@kernel(inline=True)
def draw_count(s):
    """Return the number of cards drawn in a turn (3.2)."""
    if s.rules.draw_count != NONE:
        return s.rules.draw_count
    return 2 if s.rules.num_players == 2 else 1


@kernel(inline=True)
def canastas_to_go_out(s):
    """Return the number of canastas that a side needs to go out (7.1)."""
    if s.rules.canastas_to_go_out != NONE:
        return s.rules.canastas_to_go_out
    return 2 if s.rules.num_players == 2 else 1


@kernel(inline=True)
def wilds_in(s, side, m):
    """Return the number of wild cards in meld `m`."""
    return s.jokers[side, m] + s.twos[side, m]


@kernel(inline=True)
def meld_size(s, side, m):
    """Return the number of cards in meld `m`."""
    return s.naturals[side, m] + s.jokers[side, m] + s.twos[side, m]


@kernel
def num_canastas(s, side):
    """Return the number of canastas of a side (4.4)."""
    number = 0
    for m in range(NUM_MELDS):
        if meld_size(s, side, m) >= CANASTA_SIZE:
            number += 1
    return number


@kernel(inline=True)
def top_of_pile(s):
    """Return the face on top of the discard pile, or NO_CARD."""
    return np.int64(s.pile[s.num_pile - 1]) if s.num_pile > 0 else np.int64(NO_CARD)


@kernel(inline=True)
def initial_minimum(s, side):
    """Return the points that the initial meld of a side needs (5.1)."""
    score = s.scores[side]
    if score < 0:
        return 15
    return 50 if score < 1500 else 90 if score < 3000 else 120
