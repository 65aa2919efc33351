"""Options and state record of Texas hold'em. Paragraph numbers are those of rules.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits.cards import NUM_CARDS

MAX_PLAYERS = 10
MAX_CHIPS = 1_000_000_000  # on a table: fits an event, and codes of exact raises stay below core's codes
MAX_LISTED_CHIPS = 100_000_000  # on a table with betting="full", where each amount has an id
MAX_LEVELS = 20
MAX_HANDS = 10_000  # of a tournament without `max_hands` (8.4)
NUM_BOARD = 5
NUM_BURNT = 3
MAX_CAP = 100  # of bets on a street
HISTORY = 24  # the record keeps the last HISTORY actions of the hand

# Streets
PREFLOP, FLOP, TURN, RIVER = range(4)
STREETS = ("preflop", "flop", "turn", "river")
NUM_STREETS = 4
BOARD_CARDS = np.array((0, 3, 4, 5))  # cards on the board, by street

# Choices of options, as a record holds them.
TOURNAMENT, CASH = 0, 1
POT_FRACTIONS, FCPA, FULL, LIMIT, POT_LIMIT = range(5)
DEAD, MOVING = 0, 1
CUMULATIVE, SINGLE = 0, 1
RANDOM_BUTTON = 1
PLACEMENT, WINNER, CHIPS, PAYOUTS = range(4)
EVERYBODY_ANTES, BIG_BLIND_ANTES = 0, 1
SUM, WHOLE_BETS, ADDITIVE = range(3)
LEFT_OF_BUTTON, AFTER_LAST = 0, 1

# Kinds of action in the history of a hand.
FOLDS, CHECKS, CALLS, RAISES = range(4)  # a bet is a raise from nothing

_LEVELS = (
    *(10, 20, 15, 30, 20, 40, 30, 60, 40, 80, 50, 100, 75, 150, 100, 200),
    *(150, 300, 200, 400, 300, 600, 400, 800, 500, 1000, 700, 1400, 1000, 2000),
)


@dataclass(frozen=True)
class TexasHoldemOptions(Options):
    """Options of Texas hold'em."""

    num_players: int = option(6, low=2, high=MAX_PLAYERS, doc="players at the table")
    format: str = option(
        "tournament", choices=("tournament", "cash"), doc="play until one player is left, or `num_hands` hands"
    )
    betting: str = option(
        "pot_fractions",
        choices=("pot_fractions", "fcpa", "full", "limit", "pot_limit"),
        doc="no-limit: which raises have action ids (4.10); or fixed limit (12), or pot limit (13)",
    )
    starting_stack: int = option(2000, low=1, high=MAX_CHIPS, doc="chips of each seat")
    stacks: tuple = option(
        (),
        length=MAX_PLAYERS,
        low=0,
        high=MAX_CHIPS,
        doc="chips of each seat, instead of starting_stack; cash: 0 sits out",
    )
    levels: tuple = option(
        _LEVELS, length=2 * MAX_LEVELS, low=1, high=MAX_CHIPS, doc="small and big blind of each level; cash: the first"
    )
    hands_per_level: int = option(10, low=1, high=1000, doc="completed hands until the blinds rise")
    blinds: tuple = option(
        (),
        length=2,
        low=0,
        high=MAX_CHIPS,
        doc="small and big blind of all hands, instead of levels; the small blind may be 0",
    )
    ante: int = option(
        0, low=0, high=MAX_CHIPS, doc="chips posted before the blinds by each seat, or by one seat for all"
    )
    ante_type: str = option(
        "all", choices=("all", "big_blind"), doc="who posts the ante: each seat, or the big blind for the table (4.1)"
    )
    posts: tuple = option(
        (),
        length=MAX_PLAYERS,
        low=0,
        high=MAX_CHIPS,
        doc="chips of each seat posted besides the blinds in the first hand, by players who come in (4.1)",
    )
    num_hands: int = option(1, low=1, high=1000, doc="cash: number of hands")
    max_hands: int = option(
        None,
        low=1,
        high=MAX_HANDS,
        optional=True,
        doc=f"tournament: hands after which stacks decide; None: {MAX_HANDS}",
    )
    button_start: str = option("seat0", choices=("seat0", "random"), doc="seat of the first button")
    button: int = option(
        None, low=0, high=MAX_PLAYERS - 1, optional=True, doc="seat of the first button, instead of button_start"
    )
    button_rule: str = option(
        "dead",
        choices=("dead", "moving"),
        doc="dead: nobody skips or repeats a big blind; moving: the button skips empty seats",
    )
    reopen_rule: str = option(
        "cumulative", choices=("cumulative", "single"), doc="whether short all-ins add up to a full raise (4.7)"
    )
    burn_cards: bool = option(False, doc="a card is burnt before flop, turn and river")
    reveal_all_in: bool = option(True, doc="hands are face up once no more betting is possible")
    invalid_action: str = option(
        "error",
        choices=("error", "passive"),
        doc="an illegal `state.act` raises an error, or checks if possible and else folds",
    )
    returns: str = option(
        "placement",
        choices=("placement", "winner", "chips", "payouts"),
        doc="rewards of a tournament; cash always pays the chips won",
    )
    payouts: tuple = option(
        (), length=MAX_PLAYERS, low=0, high=1_000_000_000, doc='points of each place, with returns="payouts"'
    )
    small_bet: int = option(
        None, low=1, high=MAX_CHIPS, optional=True, doc="limit: bets before and on the flop; None: the big blind (12.1)"
    )
    big_bet: int = option(
        None, low=1, high=MAX_CHIPS, optional=True, doc="limit: bets on turn and river; None: twice the small bet"
    )
    max_bets: int = option(
        4, low=1, high=MAX_CAP, optional=True, doc="limit: bets and raises on a street; None: any number (12.3)"
    )
    blind_counts: bool = option(True, doc="limit: the big blind is the first bet before the flop")
    heads_up_cap: bool = option(
        True, doc="limit: the cap also holds if only two were in the hand before it was reached (12.4)"
    )
    short_raise: str = option(
        "sum",
        choices=("sum", "levels", "additive"),
        doc="limit: where the next raise goes after an all-in of half a bet or more, or after any (12.5)",
    )
    street_order: str = option(
        "button",
        choices=("button", "after_last"),
        doc="who acts first after the flop: left of the button, or after the last to act, as in RLCard (12.8)",
    )
    outcomes: bool = option(False, doc="whether observations say how strong the own hand is")

    @classmethod
    def make(cls, **values: Any) -> Self:
        """Make options from values; `num_players` defaults to the length of `stacks`."""
        stacks = values.get("stacks")
        if isinstance(stacks, Sequence) and not isinstance(stacks, str) and len(stacks) > 0:
            values.setdefault("num_players", len(stacks))
        return super().make(**values)

    def check(self) -> None:
        """Raise OptionError for values that do not fit together."""
        if len(self.stacks) not in (0, self.num_players):
            raise OptionError(f"option stacks takes {self.num_players} numbers, one per seat; got {len(self.stacks)}")
        self._check_chips()
        if 0 in self.stacks and (self.format != "cash" or sum(chips > 0 for chips in self.stacks) < 2):
            raise OptionError(
                "option stacks: a seat may have 0 chips only in cash, with two or more other seats that have chips"
            )
        self._check_blinds()
        if self.button is not None and self.button >= self.num_players:
            raise OptionError(f"option button takes a seat from 0 to {self.num_players - 1}; got {self.button}")
        if len(self.payouts) > self.num_players:
            raise OptionError(f"option payouts takes up to {self.num_players} numbers; got {len(self.payouts)}")
        if (self.returns == "payouts") != bool(self.payouts):
            raise OptionError('option payouts and returns="payouts" must be set together')
        if list(self.payouts) != sorted(self.payouts, reverse=True):
            raise OptionError(
                f"option payouts: a place pays no more than the place before it; got {list(self.payouts)}"
            )

    def check_environment(self) -> None:
        """Raise OptionError if the first hand has empty seats, or blinds and antes leave nothing to decide."""
        if 0 in self.stacks:
            raise OptionError(
                "option stacks: in an environment every seat begins with chips; a State allows empty seats"
            )
        if not all(_asks_somebody(self, button) for button in self.first_buttons()):
            raise OptionError(
                "option stacks: the blinds and antes of the first hand leave nobody anything to decide; give a seat "
                "more chips (a State can be over at the deal, an environment cannot)"
            )

    def _check_chips(self) -> None:
        chips = sum(self.first_stacks())
        if chips > MAX_CHIPS:
            raise OptionError(f"option stacks: a table holds up to {MAX_CHIPS:,} chips in all; these are {chips:,}")
        if self.betting == "full" and chips > MAX_LISTED_CHIPS:
            raise OptionError(
                f'option betting: with "full" each amount has an id, for up to {MAX_LISTED_CHIPS:,} chips on a table; '
                f"these are {chips:,} (with any other betting, state.act makes exact bets)"
            )

    def _check_blinds(self) -> None:
        if len(self.posts) not in (0, self.num_players):
            raise OptionError(f"option posts takes {self.num_players} numbers, one per seat; got {len(self.posts)}")
        if len(self.blinds) not in (0, 2) or (self.blinds and self.blinds[0] > self.blinds[1]) or self.blinds == (0, 0):
            raise OptionError(f"option blinds takes a small and a big blind, such as (10, 20); got {self.blinds}")
        if len(self.levels) % 2 or not self.levels:
            raise OptionError("option levels takes pairs of blinds, such as (10, 20, 15, 30)")
        if any(small > big for small, big in self.all_blinds()):
            raise OptionError("option levels: a small blind is larger than its big blind")

    def first_stacks(self) -> tuple[int, ...]:
        """Return the chips of each seat at the start."""
        return self.stacks or (self.starting_stack,) * self.num_players

    def all_blinds(self) -> list[tuple[int, int]]:
        """Return all pairs of blinds that can be played."""
        if self.blinds:
            return [(self.blinds[0], self.blinds[1])]
        pairs = list(zip(self.levels[::2], self.levels[1::2], strict=True))
        return pairs[:1] if self.format == "cash" else pairs

    def first_buttons(self) -> range:
        """Return the possible seats of the first button."""
        if self.button is None and self.button_start == "random":
            return range(self.num_players)
        first = self.button or 0
        return range(first, first + 1)

    def least_bet(self) -> int:
        """Return the size of the smallest full bet or raise that can be made."""
        blinds = min(big for _, big in self.all_blinds())
        if self.betting != "limit":
            return blinds
        small = self.small_bet or blinds
        return min(small, self.big_bet or 2 * small)

    def most_hands(self) -> int:
        """Return the largest possible number of hands."""
        return self.num_hands if self.format == "cash" else self.max_hands or MAX_HANDS


def _asks_somebody(options: TexasHoldemOptions, button: int) -> bool:
    """Return whether anybody has a decision after the first blinds are posted (4.9)."""
    n = options.num_players
    dead = options.ante if options.ante_type == "big_blind" else 0
    left = [max(0, stack - options.ante + dead) for stack in options.first_stacks()]
    bets = [0] * n
    small, big = options.all_blinds()[0]
    small_seat = button if n == 2 or small == 0 else (button + 1) % n
    for seat, blind in ((small_seat, small), ((small_seat + 1) % n, big)):
        bets[seat] = min(blind, left[seat])
        left[seat] -= bets[seat]
    left[seat] = max(0, left[seat] - dead)
    for seat, post in enumerate(options.posts):
        post = min(post, left[seat])
        left[seat] -= post
        bets[seat] += min(post, max(0, big - bets[seat]))
    able = [seat for seat in range(n) if left[seat]]
    return len(able) >= 2 or (len(able) == 1 and bets[able[0]] < max(bets))


STATE = record(
    rules_dtype(TexasHoldemOptions),
    MAX_PLAYERS,
    [
        # Bit sets of seats, seen by all
        ("live", "i8"),  # still in the game
        ("dealt", "i8"),  # dealt in this hand
        ("in_hand", "i8"),  # dealt and not folded
        ("can_act", "i8"),  # in the hand with chips behind
        ("pending", "i8"),  # can act and still has to on this street
        ("acted", "i8"),  # have acted on this street
        ("acted_since_full", "i8"),  # have acted since the last full bet or raise
        ("shown", "i8"),  # have shown their cards
        # Chips, seen by all
        ("stacks", "i4", (MAX_PLAYERS,)),  # behind
        ("start_stacks", "i4", (MAX_PLAYERS,)),  # at the start of the hand
        ("chips_in", "i4", (MAX_PLAYERS,)),  # in the pot in this hand, antes included
        ("bets", "i4", (NUM_STREETS, MAX_PLAYERS)),  # part of chips_in put in on each street, without antes
        ("dead", "i4"),  # also in the pot: what was posted and nobody has to match (10.2)
        ("pot", "i4"),  # sum of chips_in and dead, until it is paid out
        ("to_match", "i4"),  # C of rules.md 4
        ("last_raise", "i4"),  # F of rules.md 4; limit: what the next bet or raise adds
        ("small_blind", "i4"),
        ("big_blind", "i4"),
        ("num_bets", "i2"),  # limit: bets and raises of the street that count towards the cap (12.3)
        ("cap_stays", "i1"),  # limit: whether the cap was reached with more than two in the hand (12.4)
        # The actions of the hand, seen by all
        ("raises", "i2", (NUM_STREETS, MAX_PLAYERS)),  # bets and raises made
        ("history_amount", "i4", (HISTORY,)),  # chips put in by a call, total of a raise, else 0
        ("history_seat", "i1", (HISTORY,)),
        ("history_kind", "i1", (HISTORY,)),
        ("history_street", "i1", (HISTORY,)),
        ("history_next", "i1"),  # index of the next action in this ring of HISTORY
        ("num_history", "i1"),  # up to HISTORY
        ("aggressor", "i1"),  # who made the last bet or raise of the hand, or NO_PLAYER
        # The game, seen by all
        ("street", "i1"),
        ("button", "i1"),  # the seat may be empty (3.3)
        ("small_blind_seat", "i1"),  # if the seat is empty, nobody posts a small blind
        ("big_blind_seat", "i1"),
        ("level", "i1"),  # 0, 1, ...
        ("hand_number", "i2"),  # 1, 2, ...
        ("hands_to_level", "i2"),  # hands until the blinds rise, including this one; 0 if they rise no more
        ("places", "i1", (MAX_PLAYERS,)),  # the better one of shared places; 0 while in the game
        # The hand before, seen by all
        ("last_in_hand", "i8"),  # seats that had not folded at its end
        ("last_shown", "i8"),  # seats that showed their cards
        ("last_won", "i4", (MAX_PLAYERS,)),  # chips won less chips lost
        ("last_cards", "i1", (MAX_PLAYERS, 2)),  # of those in last_shown
        ("last_board", "i1", (NUM_BOARD,)),
        ("num_last_board", "i1"),
        # Cards. deck[2 p], deck[2 p + 1] are those of seat p, seen by p if dealt in; then the board and burnt cards
        ("deck", "i1", (NUM_CARDS,)),
        ("ranks", "i2", (MAX_PLAYERS,)),  # zeros except while a showdown is settled
    ],
)
