"""Options, cards and state record of Durak. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS, SUIT_SETS, bits_of

MAX_PLAYERS = 6
MAX_HAND = 8  # cards dealt to each, and drawn up to
MAX_TABLE = 12  # attack cards in a bout
NUM_RANKS = 13
NO_CARD = -1

# Phases, in the order of play.
LEAD, DEFEND, THROW_IN, ADD = range(4)
PHASES = ("lead", "defend", "throw_in", "add")

# Choices of options, as a record holds them.
PODKIDNOY, PEREVODNOY = 0, 1
ALL_ATTACKERS, NEIGHBOURS = 0, 1
LOWEST_TRUMP, SEAT_0 = 0, 1
TEAM_SIZES = {"none": 1, "pairs": 2, "trios": 3}


@dataclass(frozen=True)
class DurakOptions(Options):
    """Options of Durak."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    variant: str = option(
        "podkidnoy", choices=("podkidnoy", "perevodnoy"), doc="throw-in Durak, or throw-in Durak with transfers"
    )
    deck_size: str = option("36", choices=("36", "24", "52"), doc="36 cards from the six, 24 from the nine, or all 52")
    hand_size: int = option(6, low=1, high=MAX_HAND, doc="cards dealt to each player, and drawn up to")
    max_attack_cards: int = option(6, low=1, high=MAX_TABLE, doc="most attack cards in a bout")
    first_bout_max: int = option(6, low=1, high=MAX_TABLE, doc="most attack cards in the first bout, if fewer")
    throw_in_by: str = option(
        "all", choices=("all", "neighbours"), doc="who throws in: all attackers, or those beside the defender"
    )
    throw_in_on_take: bool = option(True, doc="cards may be added after the defender has said take")
    first_attacker: str = option(
        "lowest_trump", choices=("lowest_trump", "seat0"), doc="who attacks first: the lowest trump, or player 0"
    )
    transfer_in_first_bout: bool = option(True, doc="perevodnoy: the first bout may be transferred")
    show_trump_transfer: bool = option(False, doc="perevodnoy: a trump of the attack's rank may be shown to transfer")
    teams: str = option("none", choices=tuple(TEAM_SIZES), doc="teams that sit alternately: 2 or 3 players each")
    max_bouts: int = option(200, low=1, high=1000, doc="the game is drawn after this many bouts")

    def check(self):
        """Raise OptionError if there are too few cards, or if the options contradict each other."""
        if self.num_players * self.hand_size > int(self.deck_size):
            raise OptionError(
                f"{self.num_players} players with hand_size={self.hand_size} need "
                f"{self.num_players * self.hand_size} cards; deck_size is {self.deck_size}"
            )
        if self.show_trump_transfer and self.variant != "perevodnoy":
            raise OptionError("option show_trump_transfer needs variant='perevodnoy'")
        tables = {"none": range(2, MAX_PLAYERS + 1), "pairs": (4, 6), "trios": (6,)}[self.teams]
        if self.num_players not in tables:
            wanted = " or ".join(str(number) for number in tables)
            raise OptionError(f"option teams={self.teams!r} needs {wanted} players; got {self.num_players}")


STATE = record(
    rules_dtype(DurakOptions),
    MAX_PLAYERS,
    [
        # Bit sets of cards
        ("hands", "i8", (MAX_PLAYERS,)),  # seen by: owner
        ("known", "i8", (MAX_PLAYERS,)),  # the part of hands[p] that everybody has seen          seen by: all
        ("attack", "i8"),  # attack cards on the table                                           seen by: all
        ("defence", "i8"),  # cards that beat them                                               seen by: all
        ("discards", "i8"),  # cards of repelled bouts                                           seen by: all
        ("matching", "i8"),  # all cards of the ranks on the table                               seen by: all
        ("undealt", "i8"),  # trumps that nobody was dealt, as the opening shows (2.4)           seen by: all
        ("shown", "i8"),  # trumps that have been shown to transfer (4.5)                        seen by: all
        # drawn[p, r]: share of the ways in which r cards of hands[p] & ~known[p] were drawn (9.3)  seen by: all
        ("drawn", "f8", (MAX_PLAYERS, MAX_HAND + 1)),
        # Cards in order
        ("attack_cards", "i1", (MAX_TABLE,)),  # in the order of play                            seen by: all
        ("defence_cards", "i1", (MAX_TABLE,)),  # defence_cards[k] beats attack_cards[k]         seen by: all
        ("deck", "i1", (NUM_CARDS,)),  # NO_CARD, then the face-down talon, top first             seen by: nobody
        # The rest is seen by all
        ("num_face_down", "i1"),  # cards of the talon without the turn-up
        ("turn_up", "i1"),  # the face-up card under the talon, or NO_CARD once it is drawn
        ("trump", "i1"),  # suit 0..3
        ("opening_trump", "i1"),  # the trump shown for the first attack, or NO_CARD (2.4)
        ("num_attack", "i1"),  # 0..MAX_TABLE
        ("num_beaten", "i1"),  # 0..num_attack; attack_cards[num_beaten] is to be beaten next
        ("most_attack", "i1"),  # limit of num_attack in this bout
        ("phase", "i1"),
        ("primary", "i1"),  # the primary attacker
        ("defender", "i1"),
        ("in_game", "u1"),  # bit set of the players who held cards when the bout began
        ("num_bouts", "i2"),  # bouts that are over
    ],
)


def _strength(card):
    """Return the rank of a card in Durak: 0 the deuce, 12 the ace."""
    return (card + NUM_RANKS - 1) % NUM_RANKS


_LOWEST = {"36": _strength(5), "24": _strength(8), "52": 0}  # strength of the six, nine, deuce
_IN_SUIT = [[card for card in range(NUM_CARDS) if card // NUM_RANKS == suit] for suit in range(4)]

HIGHER = np.array(
    [bits_of([c for c in _IN_SUIT[card // NUM_RANKS] if _strength(c) > _strength(card)]) for card in range(NUM_CARDS)],
    np.int64,
)
"""The higher cards of a card's suit."""


def _cards(deck_size):
    return [card for card in range(NUM_CARDS) if _strength(card) >= _LOWEST[deck_size]]


DECK_SIZES = np.array([36, 24, 52], np.int64)
DECKS = np.array([bits_of(_cards(size)) for size in ("36", "24", "52")], np.int64)
"""Size and cards of the decks, by the index of option deck_size."""


def deck(options):
    """Return all cards of the game."""
    return np.array(_cards(options.deck_size), np.int16)


@kernel(inline=True)
def deck_size(s):
    """Return the number of cards in the game."""
    return DECK_SIZES[s.rules.deck_size]


@kernel(inline=True)
def num_talon(s):
    """Return the number of cards that can still be drawn, the turn-up included."""
    return s.num_face_down + (s.turn_up != NO_CARD)


@kernel(inline=True)
def num_teams(s):
    """Return the number of teams; without teams, each player is one (6.1)."""
    return s.rules.num_players // (s.rules.teams + 1)


@kernel(inline=True)
def are_partners(s, one, other):
    """Return whether two players are on the same team; player p is on team p % num_teams (6.1)."""
    teams = num_teams(s)
    return one % teams == other % teams


@kernel(inline=True)
def beating_cards(s, card):
    """Return all cards that beat `card`: higher ones of its suit, and all trumps if it is none (3.3)."""
    cards = HIGHER[card]
    if card // NUM_RANKS != s.trump:
        cards |= SUIT_SETS[s.trump]
    return cards


def talon(s):
    """Return the face-down cards of the talon, the next one last."""
    size = int(deck_size(s))
    return s.deck[size - int(s.num_face_down) : size][::-1]


def bout_number(s):
    """Return the number of the bout, from 1; after the end, that of the last one."""
    is_cut_short = not all(s.active[: int(s.rules.num_players)])  # somebody forfeited within a bout
    return int(s.num_bouts) + (0 if s.terminal and not is_cut_short else 1)
