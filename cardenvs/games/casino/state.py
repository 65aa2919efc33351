"""Options and state record of Casino. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS, parse_card
from cardenvs.kits.fishing.captures import MAX_CAPTURES
from cardenvs.kits.fishing.state import FIELDS, MAX_PLAYERS

NUM_RANKS = 13
MAX_BUILDS = 7  # on the table (10.3)

LITTLE_CASINO, BIG_CASINO, JACK_OF_SPADES = parse_card("2s"), parse_card("Td"), parse_card("Js")
NUMBERS = np.array([card % 13 + 1 for card in range(NUM_CARDS)], np.int64)  # by card (1.2, 1.3)
HIGH_ACE = 14  # what an ace also counts with `royal` (1.3)
TOP_VALUE, TOP_ROYAL = 10, HIGH_ACE  # highest values of builds
COURTS = sum(0b111 << 13 * suit + 10 for suit in range(4))  # bit set

# What a capture or a build takes: a bit set of loose cards (bits 0..51), builds (from BUILD_0) and, with `royal`, aces
# that count 14 by themselves (from HIGH_ACE_0, by suit).
BUILD_0 = NUM_CARDS
HIGH_ACE_0 = BUILD_0 + MAX_BUILDS
NUM_ITEMS = HIGH_ACE_0 + 4

# What a card builds: value + 16 * (place + 1), where the place is a build on the table or NEW, and + 16 * _PLACES if
# only cards of the table are used (5.8).
NEW = -1
_PLACES = MAX_BUILDS + 1
TABLE_ONLY = 16 * _PLACES
NUM_TARGETS = 2 * TABLE_ONLY
NO_TARGET = -1

# Actions: card * SLOTS + slot; then, if a card has more captures or builds than slots, they are put together.
MAX_BUILD_SLOTS = 30
TRAIL, FIRST_CAPTURE = 0, 1
COMPOSE_CAPTURE = FIRST_CAPTURE + MAX_CAPTURES
FIRST_BUILD = COMPOSE_CAPTURE + 1
COMPOSE_BUILD = FIRST_BUILD + MAX_BUILD_SLOTS
SLOTS = COMPOSE_BUILD + 1
TAKE_0 = NUM_CARDS * SLOTS
DONE = TAKE_0 + NUM_ITEMS
TARGET_0 = DONE + 1

# Values of options in a record.
COURTS_ONE, COURTS_ALL, COURTS_ONE_OR_THREE = range(3)

PLAY, CHOOSE_TARGET, TAKE = range(3)
PHASES = ("play", "target", "take")

# What explain_illegal returns.
(NOT_HELD, OWNS_A_BUILD, MUST_CAPTURE, NO_SUCH_CAPTURE, NO_SUCH_BUILD, ALL_LISTED, WRONG_PHASE, NOT_POSSIBLE,
 NOT_COMPLETE) = range(1, 10)  # fmt: skip


@dataclass(frozen=True)
class CasinoOptions(Options):
    """Options of Casino."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    teams: bool = option(False, doc="whether four players form two sides (1.1)")
    match: bool = option(True, doc="whether hands are played until a side has `target` points (1.4)")
    target: int = option(21, low=1, high=100, doc="points that win a match")
    sweeps: bool = option(True, doc="whether a sweep is worth a point (7.1)")
    court_capture: str = option("one", choices=("one", "all", "one_or_three"), doc="what J Q K capture (4.2)")
    royal: bool = option(False, doc="whether J Q K count 11 12 13 and aces 1 or 14 (1.3)")
    may_trail_capturing_card: bool = option(True, doc="whether a card that could capture may be laid (6.2)")
    owner_may_trail: bool = option(False, doc="whether owners of builds may trail (6.1)")
    raise_own_build: bool = option(True, doc="whether players may raise their own builds (5.4)")
    raise_with_table_cards: bool = option(False, doc="whether loose cards may help to raise a build (5.4)")
    table_only_builds: bool = option(False, doc="whether loose cards may be built without the played one (5.8)")
    same_value_builds: bool = option(True, doc="whether several builds may have the same value (5.7)")
    build_for_partner: bool = option(False, doc="whether the partner's card is enough for a build (5.9)")
    spade_casino: bool = option(False, doc="whether each spade is worth a point (7.2)")
    outcomes: bool = option(False, doc="whether observations say what each legal play would do")

    def check(self):
        """Raise OptionError for teams of other than four players, and for help of a partner without teams."""
        if self.teams and self.num_players != 4:
            raise OptionError(f"teams=true needs num_players=4; got {self.num_players}")
        if self.build_for_partner and not self.teams:
            raise OptionError("build_for_partner=true needs teams=true")


STATE = record(
    rules_dtype(CasinoOptions),
    MAX_PLAYERS,
    [
        *FIELDS,
        # Seen by all
        ("builds", "i8", (MAX_BUILDS,)),  # bit sets of cards; 0 where there is none
        ("build_values", "i1", (MAX_BUILDS,)),
        ("build_sets", "i1", (MAX_BUILDS,)),  # number of sets
        ("build_owners", "i1", (MAX_BUILDS,)),
        ("shown", "i2", (MAX_PLAYERS,)),  # bit V: a card that counts V has been shown by a build, and not been played
        # Bit sets of ranks, ace first: what is not in a hand, and what is not there beside a card of a rank (10.1).
        ("lacks", "i2", (MAX_PLAYERS,)),
        ("lacks_beside", "i2", (MAX_PLAYERS, NUM_RANKS)),
        ("playing", "i1"),  # card whose capture or build is being put together, or NO_CARD
        ("target", "i2"),  # what it builds, or NO_TARGET
        ("composing", "i1"),  # phase
        ("taken", "i8"),  # bit set of what has been taken for it so far
        ("group", "i8"),  # of these, the loose cards of a set that is not complete
    ],
)
