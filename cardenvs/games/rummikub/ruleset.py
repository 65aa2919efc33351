"""Options of Rummikub. Paragraph numbers are those of rules.md.

`CommonRules` has the options of the environment. `Ruleset` adds house rules that only the reference implementation in
the tests plays; the solver rejects the ones it does not support.
"""

from dataclasses import dataclass

from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option
from cardenvs.games.rummikub.tiles import MOST_COPIES, MOST_JOKERS, NUM_COLOURS, NUM_VALUES

MAX_PLAYERS = 4
RETRIEVE, FREE, LOCKED = range(3)
JOKER_RULES = ("retrieve", "free", "locked")
SEAT0, HIGH_TILE, RANDOM_SEAT = range(3)
EMPTY_POOL, NO_PLAY_ONLY = range(2)


@dataclass(frozen=True)
class CommonRules(Options):
    """Options of the environment and of the reference implementation."""

    num_players: int = option(4, low=2, high=MAX_PLAYERS, doc="players at the table")
    colors: int = option(4, low=3, high=NUM_COLOURS, doc="colours of tiles, of R B K O in this order")
    values: int = option(13, low=3, high=NUM_VALUES, doc="values of tiles, from 1")
    copies: int = option(2, low=1, high=MOST_COPIES, doc="tiles of each colour and value")
    jokers: int = option(2, low=0, high=MOST_JOKERS, doc="jokers")
    initial_hand_size: int = option(14, low=1, high=26, doc="tiles dealt to each player")
    start_player: str = option(
        "seat0",
        choices=("seat0", "high_tile", "random"),
        doc="who begins: seat 0, the player who draws the highest tile, or a random one",
    )
    initial_meld_min: int = option(30, low=0, high=100, doc="smallest value of an opening; 0: everybody has opened")
    initial_meld_allow_joker: bool = option(True, doc="a joker may be part of an opening")
    joker_rule: str = option("retrieve", choices=JOKER_RULES, doc="when a joker on the table may get a new meaning")
    joker_group3_needs_both: bool = option(
        False, doc="retrieve: a joker in a group of three is freed by both missing colours only"
    )
    allow_draw_when_play_possible: bool = option(True, doc="a player who could play may draw instead")
    pass_rule: str = option(
        "empty_pool",
        choices=("empty_pool", "no_play_only"),
        doc="when a player may pass on an empty pool: always, or only without a play",
    )
    joker_value_at_end: int = option(30, low=0, high=100, doc="points of a joker left in a rack")

    @property
    def num_tiles(self) -> int:
        """Tiles in the game."""
        return self.colors * self.values * self.copies + self.jokers

    def check(self) -> None:
        """Raise OptionError if the racks need more tiles than the game has."""
        if self.num_players * self.initial_hand_size > self.num_tiles:
            raise OptionError(
                f"{self.num_players} racks of {self.initial_hand_size} need more than the {self.num_tiles} tiles of "
                "the game; choose a smaller initial_hand_size, or more colors, values or copies"
            )


@dataclass(frozen=True)
class Ruleset(CommonRules):
    """All options of the reference implementation, house rules included."""

    initial_meld_hand_only: bool = option(True, doc="an opening neither uses nor touches what is on the table")
    joker_set_locked: bool = option(False, doc="nothing is taken from a set with a joker, except by retrieving it")
    retrieved_joker_rack_tiles: int = option(
        0, low=0, high=4, doc="tiles from the rack in the set that takes a retrieved joker"
    )
    manipulate_after_opening: bool = option(False, doc="the turn of the opening may go on with free play")
    max_run: int = option(NUM_VALUES, low=3, high=NUM_VALUES, doc="longest run")
    draw_ends_turn: bool = option(True, doc="a tile drawn cannot be played in the same turn")
    timeout_penalty: int = option(
        None, low=1, high=10, optional=True, doc="tiles drawn by a player who runs out of time; None: no such move"
    )
    joker_to_hand: bool = option(False, doc="fixed: a joker never returns to a rack")
    one_after_13: bool = option(False, doc="fixed: 1 is low only")

    def check(self) -> None:
        """Raise OptionError also for rules that are not played here."""
        super().check()
        if self.joker_to_hand:
            raise OptionError(
                "option joker_to_hand is False in this game: a joker never returns to a rack (rules.md 5.5)"
            )
        if self.one_after_13:
            raise OptionError("option one_after_13 is False in this game: 1 is the lowest value only (rules.md 2.2)")
