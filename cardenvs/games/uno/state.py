"""Options and state record of Uno. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.games.uno.cards import COPIES, DECK_SIZE, NUM_KINDS
from cardenvs.kits.shedding import slot_fields, stock_fields

MAX_PLAYERS = 10
MAX_ROUNDS = 100  # of a match (6.3)
NO_CARD = -1
NO_PLAYER = -1

# Phases
NAME, PLAY, DRAWN, CHALLENGE, STACK, SAY, CATCH, SWAP, JUMP = range(9)
PHASES = ("name", "play", "drawn", "challenge", "stack", "say", "catch", "swap", "jump")

# Choices of options, as a record holds them
CHALLENGES, STRICT = 0, 1
NO_STACKS, SAME_STACKS, ANY_STACKS = range(3)
DRAW_ONE, UNTIL_PLAYABLE = 0, 1
AUTO_CALL, CALL_ACTION = 0, 1
TO_WINNER, AGAINST = 0, 1
WIN, POINTS = 0, 1

_NOT_WITH_RLCARD = (
    "hand_size", "wild4", "stacking", "draw", "forced_play", "seven_zero", "jump_in", "uno_call", "target", "scoring",
    "returns",
)  # fmt: skip


@dataclass(frozen=True)
class UnoOptions(Options):
    """Options of Uno."""

    num_players: int = option(4, low=2, high=MAX_PLAYERS, doc="players at the table")
    hand_size: int = option(7, low=1, high=10, doc="cards dealt to each player (2.1)")
    wild4: str = option(
        "challenge", choices=("challenge", "strict"), doc="Wild Draw Four may be challenged, or needs a right (4.6)"
    )
    stacking: str = option(
        "none", choices=("none", "same", "any"), doc="what may be added to a Draw Two or Wild Draw Four (7.1)"
    )
    draw: str = option("one", choices=("one", "until_playable"), doc="how many cards are drawn in a turn (4.2, 7.2)")
    forced_play: bool = option(False, doc="whether a player who can play may not draw (7.3)")
    seven_zero: bool = option(False, doc="whether a 7 swaps two hands, and a 0 hands all on (7.4)")
    jump_in: bool = option(False, doc="whether an identical card may be played out of turn (7.5)")
    uno_call: str = option(
        "auto", choices=("auto", "action"), doc="whether Uno is always said, or by an action, with a penalty (7.6)"
    )
    target: int | None = option(
        None, low=1, high=5000, optional=True, doc="points that end a match; None: one round (6.3)"
    )
    scoring: str = option(
        "winner", choices=("winner", "against"), doc="who scores the cards left: the winner, or each their own (6.2)"
    )
    returns: str = option("win", choices=("win", "points"), doc="what is paid: 1 for winning, or points (6.4)")
    max_turns: int = option(1000, low=1, high=10_000, doc="turns after which a round is drawn (5.3)")
    rlcard: bool = option(False, doc="the rules of RLCard's game (8)")

    def check(self):
        """Raise OptionError for options that RLCard's game does not have."""
        if self.rlcard:
            changed = self.changed()
            for name in _NOT_WITH_RLCARD:
                if name in changed:
                    raise OptionError(f"rlcard=true has rules of its own; leave {name} at its default")


STATE = record(
    rules_dtype(UnoOptions),
    MAX_PLAYERS,
    [
        # Cards
        *stock_fields(DECK_SIZE),  # the stock is the draw pile
        ("discarded", "i1", (NUM_KINDS,)),  # the discards by kind                                   seen by: all
        ("hands", "i1", (MAX_PLAYERS, NUM_KINDS)),  # counts by kind                                 seen by: owner
        ("held", "i8", (MAX_PLAYERS,)),  # kinds in hands[p], as a bit set                           seen by: owner
        ("drawn", "i1"),  # the card that the player to act has just drawn, or NO_CARD               seen by: its owner
        ("knowing", "i2", (MAX_PLAYERS,)),  # bit set of the players who know a card of hands[q]
        # What follows is seen by all.
        ("hand_sizes", "i1", (MAX_PLAYERS,)),
        ("colour", "i1"),  # in force
        ("symbol", "i1"),  # of the card played last
        ("phase", "i1"),
        ("author", "i1"),  # who has played the last card, or NO_PLAYER before the first
        ("old_colour", "i1"),  # in force before the last card
        ("owed", "i2"),  # cards to draw that a stack has grown to
        ("asked", "i1"),  # how many have been asked to catch the author, or to jump in
        ("dealer", "i1"),
        ("num_hands", "i2"),  # rounds begun
        ("num_turns", "i2"),  # begun in this round
        ("scores", "i4", (MAX_PLAYERS,)),
        ("is_shown", "u1"),  # 1: the round is over, and all hands lie open
        ("num_random_colours", "i4"),  # drawn (8)
        ("recycled", "i1", (NUM_KINDS,)),  # cards that went into the draw pile when it was last made
        ("is_tracked", "u1"),  # 1: the draw pile has been made again, and where hidden cards can be is kept
        # What events prove about hidden cards; see knowledge.py
        *slot_fields(DECK_SIZE),
        ("drawn_barred", "i8"),  # the same of the card in `drawn`
        ("guilty", "u1", (MAX_PLAYERS,)),  # bit set of colours of which p has shown to hold a card
        # The large tables come last, so that what every turn needs lies together.
        # What p knows of the hand of q: known[q, p]; q sees it, too
        ("known", "i1", (MAX_PLAYERS, MAX_PLAYERS, NUM_KINDS)),
        # Where hidden cards can be, for each player; see places.py                        seen by: that player
        ("sure", "i1", (NUM_KINDS, MAX_PLAYERS, MAX_PLAYERS + 2)),
        ("num_sure", "i1", (MAX_PLAYERS, MAX_PLAYERS + 2)),
        ("may", "i8", (MAX_PLAYERS, MAX_PLAYERS + 2)),
    ],
)


def deck(options):
    """Return all cards of the game."""
    return np.repeat(np.arange(NUM_KINDS), COPIES).astype(np.int16)


@kernel(inline=True)
def may_challenge(s):
    """Return whether any Wild Draw Four may be played, and challenged (4.6, 7.1)."""
    return s.rules.wild4 == CHALLENGES and s.rules.stacking == NO_STACKS and not s.rules.rlcard
