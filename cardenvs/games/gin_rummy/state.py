"""Options and state record of gin rummy. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.games.gin_rummy.melds import MAX_MELDS
from cardenvs.kits.cards import NUM_CARDS

NUM_PLAYERS = 2
HAND_SIZE = 10
NUM_DEALT = NUM_PLAYERS * HAND_SIZE + 1  # the upcard included
STOCK_SIZE = NUM_CARDS - NUM_DEALT
MAX_DISCARDS = NUM_CARDS - NUM_PLAYERS * HAND_SIZE  # in the pile at once, with an empty stock
MAX_DEADWOOD = 98  # of ten cards: K K Q Q J J T T 9 9
MAX_HANDS = 50  # of a match (6.6)
NO_CARD = -1

# Phases, in the order of play.
FIRST_UPCARD, DRAW, DISCARD, WALL, LAYOFF, HAND_OVER = range(6)
PHASES = ("first_upcard", "draw", "discard", "wall", "layoff", "hand_over")

# Choices of options, as a record holds them.
AUTO_OPTIMAL, MANUAL = 0, 1
SHUTOUTS = ("all", "bonus", "off")
SHUTOUT_ALL, SHUTOUT_BONUS, SHUTOUT_OFF = range(3)


@dataclass(frozen=True)
class GinRummyOptions(Options):
    """Options of gin rummy."""

    knock_max: int = option(10, low=0, high=MAX_DEADWOOD, doc="most deadwood of a knock; oklahoma replaces it")
    oklahoma: bool = option(False, doc="the value of the first upcard is the knock limit; an ace: only gin")
    oklahoma_spade_double: bool = option(False, doc="a spade as the first upcard doubles the points of the hand")
    gin_bonus: int = option(25, low=0, high=1000, doc="points for gin, besides the defender's deadwood")
    undercut_bonus: int = option(25, low=0, high=1000, doc="points for an undercut, besides the difference")
    tie_is_undercut: bool = option(True, doc="equal deadwood is an undercut; else it scores nothing")
    big_gin: bool = option(False, doc="eleven melded cards may be laid down without a discard")
    big_gin_bonus: int = option(31, low=0, high=1000, doc="points for big gin, besides the defender's deadwood")
    same_card_discard: bool = option(False, doc="a card taken from the discard pile may be discarded at once")
    layoff: str = option(
        "auto_optimal", choices=("auto_optimal", "manual"), doc="the best lay-offs are made, or the defender chooses"
    )
    last_stock_cards: int = option(
        2, low=0, high=STOCK_SIZE - 1, doc="the hand is void when a turn leaves this many cards in the stock"
    )
    max_upcard_draws: int = option(
        50, low=1, high=1000, doc="the hand is void after the turn in which this many cards were taken from the pile"
    )
    wall_knock: bool = option(False, doc="after the last discard the next player may knock with it")
    match_target: int = option(None, low=1, high=500, optional=True, doc="score that wins a match; None: one hand")
    game_bonus: int = option(100, low=0, high=1000, doc="match: points for winning it")
    box_bonus: int = option(25, low=0, high=1000, doc="match: points for each hand won")
    shutout: str = option("all", choices=SHUTOUTS, doc="match: what is doubled when the loser has won no hand")
    outcomes: bool = option(False, doc="whether observations say what each legal action leaves and risks")


STATE = record(
    rules_dtype(GinRummyOptions),
    NUM_PLAYERS,
    [
        # Bit sets of cards
        ("hands", "i8", (NUM_PLAYERS,)),  # held; melds laid down have left the hand            seen by: owner
        ("known", "i8", (NUM_PLAYERS,)),  # the part of hands[p] that the opponent has seen     seen by: all
        ("melds", "i8", (NUM_PLAYERS, MAX_MELDS)),  # laid down, lay-offs included, zeros last   seen by: all
        ("laid_off", "i8", (MAX_MELDS,)),  # the defender's cards in the knocker's melds         seen by: all
        ("discards", "i8"),  # all of the discard pile, as a set                                 seen by: all
        ("discarded", "i8", (NUM_PLAYERS,)),  # the part that p put there, no first upcard       seen by: all
        # Cards in order
        ("deck", "i1", (NUM_CARDS,)),  # NO_CARD, then num_stock cards of stock, top first       seen by: nobody
        ("discard_pile", "i1", (MAX_DISCARDS,)),  # bottom first                                 seen by: all
        ("num_stock", "i1"),
        ("num_discards", "i1"),
        # The hand being played, seen by all
        ("phase", "i1"),
        ("dealer", "i1"),
        ("num_passes", "i1"),  # 0 to 2, on the first upcard; 0 again after a draw
        ("taken", "i1"),  # card taken from the discard pile in this turn, or NO_CARD
        ("num_upcard_draws", "i2"),
        ("knock_limit", "i1"),
        ("doubled", "u1"),  # 1: the points of this hand count twice
        ("knocker", "i1"),  # or NO_PLAYER
        ("is_big_gin", "u1"),  # 1: the knocker laid down eleven cards
        # The hand before, in a match
        ("last_hands", "i8", (NUM_PLAYERS,)),  # cards left in hand                              seen by: owner
        ("last_known", "i8", (NUM_PLAYERS,)),  # the part that the opponent has seen             seen by: all
        ("last_melded", "i8", (NUM_PLAYERS,)),  # laid down in own melds                         seen by: all
        ("last_laid_off", "i8"),  # the defender's in the knocker's melds                        seen by: all
        ("last_discards", "i8"),  # the discard pile                                             seen by: all
        ("last_knocker", "i1"),  # or NO_PLAYER                                                  seen by: all
        # The match, seen by all. A single hand counts its points here too.
        ("hand_number", "i2"),  # 0, 1, ...
        ("scores", "i4", (NUM_PLAYERS,)),
        ("hands_won", "i2", (NUM_PLAYERS,)),
    ],
)
