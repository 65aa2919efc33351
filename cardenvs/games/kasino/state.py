"""Options and state record of Kasino. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS, parse_card
from cardenvs.kits.fishing.captures import MAX_CAPTURES
from cardenvs.kits.fishing.state import FIELDS, MAX_PLAYERS

SMALL_KASINO, BIG_KASINO = parse_card("2s"), parse_card("Td")
TABLE_VALUES = np.array([card % 13 + 1 for card in range(NUM_CARDS)], np.int64)  # by card (1.2)
HAND_VALUES = TABLE_VALUES.copy()  # by card (1.3)
HAND_VALUES[::13] = 14
HAND_VALUES[SMALL_KASINO], HAND_VALUES[BIG_KASINO] = 15, 16

# Actions: card * SLOTS + slot, then taking cards one by one.
SLOTS = MAX_CAPTURES + 2
TRAIL, FIRST_CAPTURE, COMPOSE = 0, 1, SLOTS - 1  # slots
TAKE_0 = NUM_CARDS * SLOTS
DONE = TAKE_0 + NUM_CARDS

# Values of options in a record.
CHOICE_MAXIMAL, CHOICE_AUTO = 1, 2
CANCEL_MIN, VOID_IF_BOTH, PLAIN, SWEEPS_OFF = range(4)
ANY = 0
CARRY_OVER, SPLIT = 1, 2

PHASES = ("play", "take")

# What explain_illegal returns.
NOT_HELD, MUST_CAPTURE, NO_SUCH_CAPTURE, ALL_LISTED, TAKING, NOT_TAKING, NOT_POSSIBLE, NOT_COMPLETE = range(1, 9)


@dataclass(frozen=True)
class KasinoOptions(Options):
    """Options of Kasino."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table")
    teams: bool = option(False, doc="whether four players form two sides (1.1)")
    match: bool = option(False, doc="whether hands are played until a side has `target` points (1.4)")
    target: int = option(16, low=1, high=100, doc="points that win a match")
    capture_optional: bool = option(True, doc="whether a card that could capture may be laid (3.3)")
    capture_choice: str = option("any", choices=("any", "maximal", "auto"), doc="which captures are offered (3.4)")
    sweeps: str = option(
        "cancel_min", choices=("cancel_min", "void_if_both", "plain", "off"), doc="what sweeps are worth (4.2, 4.3)"
    )
    sweep_last_deal: bool = option(False, doc="whether sweeps score in the last deal (4.2)")
    sweep_freeze_at: int = option(10, low=1, high=1000, doc="points from which on sweeps score nothing (4.4)")
    sweep_freeze_scope: str = option("any", choices=("any", "own"), doc="for whom sweeps are frozen (4.4)")
    ties: str = option("nobody", choices=("nobody", "carry_over", "split"), doc="who scores what is tied (5.2)")
    draw_variant: bool = option(False, doc="whether a card is drawn after each play (2.3)")
    misere: bool = option(False, doc="whether points are to be avoided (6.3)")
    exact_target: bool = option(False, doc="whether points above the target are counted back (6.4)")
    outcomes: bool = option(False, doc="whether observations say what each legal play would do")

    def check(self):
        """Raise OptionError for teams of other than four players."""
        if self.teams and self.num_players != 4:
            raise OptionError(f"teams=true needs num_players=4; got {self.num_players}")


STATE = record(
    rules_dtype(KasinoOptions),
    MAX_PLAYERS,
    [
        *FIELDS,
        # Seen by all
        ("playing", "i1"),  # card with which cards are being taken one by one, or NO_CARD
        ("taken", "i8"),  # cards taken with it so far
        ("group", "i8"),  # of these, the group that is not complete
        ("cards_prize", "i1"),  # points for most cards
        ("spades_prize", "i1"),  # and for most spades
    ],
)
