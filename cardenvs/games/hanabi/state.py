"""Options, record and table of Hanabi, and what follows from them. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.events import Op, Seen, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.rng import DEAL
from cardenvs.games.hanabi.cards import MAX_DECK, MAX_RANKS, NUM_SUITS, OF_RANKS, OF_SUITS, RAINBOW, WHOLE_SUIT
from cardenvs.kits.matches import declare_forfeit

MAX_PLAYERS, MAX_HAND = 5, 5
OFF, SUIT, WILD = range(3)  # option rainbow
ZERO, COUNT = range(2)  # option bomb_score
OWN, CANONICAL, CANONICAL_MINIMAL = range(3)  # option encoding
RANDOM = 1  # option start_player
START = DEAL + 1  # chance source: who begins
NO_ACTION, NO_PLAYER = -1, -1
SCORED, GAINED = 1, 2  # bits of `result`
COLOUR_HINT, RANK_HINT = 1, 2  # bits of `hinted`

_PRESETS: dict[str, dict[str, Any]] = {
    "full": {"colors": 5, "ranks": 5, "max_information_tokens": 8, "max_life_tokens": 3},
    "small": {"colors": 2, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1},
    "very_small": {"colors": 1, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1},
}


@dataclass(frozen=True)
class HanabiOptions(Options):
    """Options of Hanabi. The preset fills in those left at None."""

    num_players: int = option(2, low=2, high=5, doc="players at the table")
    preset: str = option(
        "full", choices=("full", "small", "very_small"), doc="sizes and tokens for the options left at None"
    )
    colors: int = option(None, low=1, high=5, optional=True, doc="colours: red, yellow, green, white, blue")
    ranks: int = option(None, low=1, high=5, optional=True, doc="ranks of each colour")
    hand_size: int = option(None, low=1, high=5, optional=True, doc="cards in hand; full: 5, or 4 if more than 3 play")
    max_information_tokens: int = option(None, low=1, high=8, optional=True, doc="hint tokens, all there at the start")
    max_life_tokens: int = option(None, low=1, high=3, optional=True, doc="lives")
    bomb_score: str = option("zero", choices=("zero", "count"), doc="what the fireworks count when no life is left")
    empty_hints: bool = option(False, doc="whether a hint may touch no card")
    discard_at_max: bool = option(False, doc="whether a card may be discarded with all hint tokens there")
    start_player: str = option("0", choices=("0", "random"), doc="who begins")
    rainbow: str = option(
        "off", choices=("off", "suit", "wild"), doc="a sixth suit: none, with its own hint, or touched by every colour"
    )  # fmt: skip
    encoding: str = option(
        "own",
        choices=("own", "canonical", "canonical_minimal"),
        doc="of observations: own, or as in the Hanabi environment, with or without what is known of cards",
    )
    outcomes: bool = option(False, doc="whether observations say what each legal action should lead to")

    def __post_init__(self) -> None:
        """Fill in from the preset what is None."""
        preset = _PRESETS.get(self.preset, {})
        for name in ("colors", "ranks", "hand_size", "max_information_tokens", "max_life_tokens"):
            if getattr(self, name) is None:
                by_players = 5 if self.num_players in (2, 3) else 4
                object.__setattr__(self, name, preset.get(name, by_players if name == "hand_size" else None))
        super().__post_init__()

    def check(self) -> None:
        """Refuse hands that need more cards than there are, and the canonical observation of a rainbow (1.3, 1.4)."""
        needed, there = self.num_players * self.hand_size, num_cards(self)
        if needed > there:
            raise OptionError(
                f"{self.num_players} hands of {self.hand_size} cards need {needed} cards, but the deck has {there}"
            )
        if self.encoding != "own" and self.rainbow != "off":
            raise OptionError("the canonical observation knows no rainbow; take encoding=own or rainbow=off")


def num_cards(options):
    """Return the size of the deck; of options, or of those in a record (2.1)."""
    return num_suits(options) * (2 * options.ranks if options.ranks > 1 else 3)


def num_suits(options):
    """Return how many suits there are, the rainbow included; of options, or of those in a record."""
    return options.colors + 1 - (options.rainbow == "off") - (options.rainbow == OFF)


def num_hint_colours(options):
    """Return how many colours can be hinted; of options, or of those in a record (3.1)."""
    return options.colors + (options.rainbow == "suit") + (options.rainbow == SUIT)


def deck(options):
    """Return all cards, int16."""
    suits = [*range(options.colors), *([RAINBOW] if options.rainbow != "off" else [])]
    counts = [int(WHOLE_SUIT[options.ranks]) >> 2 * rank & 3 for rank in range(options.ranks)]
    return np.array(
        [MAX_RANKS * suit + rank for suit in suits for rank in range(options.ranks) for _ in range(counts[rank])],
        np.int16,
    )


def num_actions(options):
    """Return the number of action ids (6)."""
    return 2 * options.hand_size + (options.num_players - 1) * (num_hint_colours(options) + options.ranks)


def max_length(options):
    """Return a bound on the number of actions.

    Every play and discard draws a card until the deck is empty, and then each player has one turn. A hint needs one of
    the tokens of the start, or one that a play or discard has brought back.
    """
    cards = num_cards(options) - options.num_players * options.hand_size + options.num_players
    return 2 * cards + options.max_information_tokens


STATE = record(
    rules_dtype(HanabiOptions),
    MAX_PLAYERS,
    [
        ("played", "i8"),  # counts of cards in the fireworks                               seen by: all
        ("discarded", "i8"),  # counts of cards discarded or misplayed                      seen by: all
        ("playable", "i8"),  # set of the cards that come next                              seen by: all
        ("useless", "i8"),  # set of those that can never be played any more                seen by: all
        ("critical", "i8"),  # set of those still wanted, with one copy left                seen by: all
        ("called", "i8", (MAX_PLAYERS, MAX_HAND)),  # see memory.py                         seen by: all
        ("deck", "i1", (MAX_DECK,)),  # in dealing order; the stock from num_dealt on       seen by: nobody
        ("hands", "i1", (MAX_PLAYERS, MAX_HAND)),  # oldest first                           seen by: all but the owner
        ("suits", "u1", (MAX_PLAYERS, MAX_HAND)),  # those that fit all hints, a bit each   seen by: all
        ("ranks", "u1", (MAX_PLAYERS, MAX_HAND)),  # the same for ranks                     seen by: all
        ("hinted", "u1", (MAX_PLAYERS, MAX_HAND)),  # whether hints have touched the card   seen by: all
        ("hand_sizes", "i1", (MAX_PLAYERS,)),  #                                            seen by: all
        ("heights", "i1", (NUM_SUITS,)),  # of the fireworks                                seen by: all
        ("last_action", "i1", (MAX_PLAYERS,)),  # of each player, NO_ACTION before          seen by: all
        ("last_card", "i1", (MAX_PLAYERS,)),  # played or discarded by it, else NO_CARD     seen by: all
        ("last_touched", "u1", (MAX_PLAYERS,)),  # places that it touched, a bit each       seen by: all
        ("last_result", "u1", (MAX_PLAYERS,)),  # SCORED, GAINED                            seen by: all
        ("last_player", "i1"),  # who acted last, NO_PLAYER before                          seen by: all
        ("num_dealt", "i1"),  #                                                             seen by: all
        ("information", "i1"),  # hint tokens                                               seen by: all
        ("lives", "i1"),  #                                                                 seen by: all
        ("turns_left", "i1"),  # of the last round; 0 before                                seen by: all
    ],
)


def stock_of(s):
    """Return the cards of the stock, next card first."""
    return s.deck[int(s.num_dealt) : num_cards(s.rules)]


def hand_of(s, player):
    """Return the hand of a player, oldest card first."""
    return s.hands[player][: int(s.hand_sizes[player])]


def _cards_of(counts, largest=3):
    return [card for card in range(30) for _ in range(int(counts) >> 2 * card & largest)]


TABLE = Table(MAX_PLAYERS)
STOCK = TABLE.pile("stock", layout="stack", tokens=stock_of, seen="nobody")
HAND = TABLE.pile("hand", per_player=True, ordered=True, layout="hand", tokens=hand_of, seen=Seen.OTHERS)
FIREWORKS = TABLE.pile("fireworks", layout="sets", tokens=lambda s: _cards_of(s.played))
DISCARDS = TABLE.pile("discards", layout="sets", tokens=lambda s: _cards_of(s.discarded))
INFORMATION = TABLE.counter("information", value="information")
LIVES = TABLE.counter("lives", value="lives")
TURNS_LEFT = TABLE.counter("turns_left", value="turns_left")

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
TOKENS = TABLE.event("tokens", Op.SET, "There are {value:hint token}.", is_detail=True)
NEW_LIVES = TABLE.event("new_lives", Op.SET, "There are {value:life}.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
BEGINS = TABLE.event("begin", Op.NOTE, "{player} begins.")
HINTS_COLOUR = TABLE.event("hint_colour", Op.NOTE, "{player} hints {source}: {value}.")
HINTS_RANK = TABLE.event("hint_rank", Op.NOTE, "{player} hints {source}: {value}.")
TOUCHES = TABLE.event("touch", Op.NOTE, "It is card {value} of {player}.", reveals_hidden_value=True)
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
MISPLAYS = TABLE.event("misplay", Op.MOVE, "{player} plays {token}, which does not fit.")
DISCARDS_CARD = TABLE.event("discard", Op.MOVE, "{player} discards {token}.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
SPENDS = TABLE.event("spend", Op.SET, "{value:hint token} left.", is_detail=True)
GAINS = TABLE.event("gain", Op.SET, "A hint token comes back: {value} now.", is_detail=True)
LOSES_LIFE = TABLE.event("lose_life", Op.SET, "A life is lost: {value} left.")
LAST_ROUND = TABLE.event("last_round", Op.SET, "The deck is empty: each player has one more turn.")
TURN_OVER = TABLE.event("turn_over", Op.SET, "{value:turn} left.", is_detail=True)
ENDS = TABLE.event("end", Op.NOTE, "The game ends with a score of {value}.")
FORFEITS = declare_forfeit(TABLE)

count_suits, count_hint_colours = kernel(num_suits, inline=True), kernel(num_hint_colours, inline=True)


@kernel(inline=True)
def cards_dealt_from(rules):
    """Return `num_cards` of the options in a record."""
    return count_suits(rules) * (2 * rules.ranks if rules.ranks > 1 else 3)


@kernel(inline=True)
def in_stock(s):
    """Return the number of cards in the stock."""
    return cards_dealt_from(s.rules) - s.num_dealt


@kernel(inline=True)
def score_of(s):
    """Return the sum of the heights of the fireworks (4.2)."""
    score = np.int64(0)
    for suit in range(NUM_SUITS):
        score += s.heights[suit]
    return score


@kernel(inline=True)
def all_suits(rules):
    """Return the suits in the game, a bit each."""
    return (1 << rules.colors) - 1 | (0 if rules.rainbow == OFF else 1 << RAINBOW)


@kernel(inline=True)
def suits_hinted(rules, colour):
    """Return the suits that a hint of a colour touches, a bit each (3.1, 7.1)."""
    suits = np.int64(1) << (colour if colour < rules.colors else RAINBOW)
    return suits | 1 << RAINBOW if rules.rainbow == WILD else suits


@kernel(inline=True)
def possible(s, player, place):
    """Return the set of cards that fit all hints on a place of a hand."""
    return OF_SUITS[np.uint64(s.suits[player, place])] & OF_RANKS[np.uint64(s.ranks[player, place])]


@kernel(inline=True)
def all_cards(rules):
    """Return counts of the whole deck."""
    suit, whole = WHOLE_SUIT[np.uint64(rules.ranks)], np.int64(0)
    for k in range(rules.colors):
        whole |= suit << 2 * MAX_RANKS * k
    return whole if rules.rainbow == OFF else whole | suit << 2 * MAX_RANKS * RAINBOW


@kernel
def unseen_by(s, player):
    """Return counts of the cards that `player` does not see: in the own hand and in the stock."""
    unseen = all_cards(s.rules) - s.played - s.discarded
    for p in range(s.rules.num_players):
        if p != player:
            for k in range(s.hand_sizes[p]):
                unseen -= np.int64(1) << 2 * np.int64(s.hands[p, k])
    return unseen
