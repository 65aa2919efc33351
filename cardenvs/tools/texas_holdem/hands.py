"""The hands of a match, read from its timeline."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from cardenvs.core.events import KIND, PLAYER, SOURCE, TOKEN, UNKNOWN, VALUE, Op
from cardenvs.games.texas_holdem.state import STREETS
from cardenvs.games.texas_holdem.table import BET, TABLE
from cardenvs.tools.texas_holdem.entries import Entry
from cardenvs.tools.texas_holdem.timeline import Timeline

_BETTING = {kind: kind for kind in ("fold", "check", "call", "bet", "raise")} | {"complete": "raise"}  # by event


@dataclass(frozen=True)
class Act:
    """One action. `kind` is "fold", "check", "call", "bet" or "raise"; `total` is the seat's total on the street."""

    street: str
    seat: int
    kind: str
    total: int


@dataclass
class Pot:
    """A settled pot: its chips, the seats that played for it, and the chips of each winner."""

    chips: int
    eligible: list[int] = field(default_factory=list)
    wins: dict[int, int] = field(default_factory=dict)


@dataclass
class Hand:
    """One hand, possibly unfinished.

    Attributes:
        number: from 1.
        num_seats: seats at the table.
        button: seat of the button, which may be empty.
        blinds: small and big blind.
        has_small_blind: whether a small blind was posted.
        stacks_before, stacks_after: chips of every seat before antes and blinds, and at the end or so far; -1: unknown.
        cards: the two cards of each seat that was dealt in.
        board: cards of the board.
        acts: actions, in order.
        shown, mucked: seats that showed or mucked, in order.
        board_at_showdown: cards on the board when the first hand was shown; fewer than five after an early all-in.
        pots: settled pots, in order.
        paid: chips that each seat has put in and not taken back.
        forfeited: seats that left the match during the hand.
        is_over: whether the hand is over.
    """

    number: int
    num_seats: int
    button: int
    blinds: tuple[int, int]
    stacks_before: list[int]
    stacks_after: list[int]
    has_small_blind: bool = True
    cards: dict[int, list[int]] = field(default_factory=dict)
    board: list[int] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    mucked: list[int] = field(default_factory=list)
    board_at_showdown: int = 5
    pots: list[Pot] = field(default_factory=list)
    paid: Counter[int] = field(default_factory=Counter[int])
    forfeited: list[int] = field(default_factory=list)
    is_over: bool = False

    @property
    def seats(self) -> list[int]:
        """The seats dealt in, from the left of the button; the last one is at the button or nearest to it."""
        return sorted(self.cards, key=lambda seat: (seat - self.button - 1) % self.num_seats)

    def won(self, seat: int) -> int:
        """Return the chips that a seat has won less those it has lost."""
        if UNKNOWN not in (self.stacks_before[seat], self.stacks_after[seat]):
            return self.stacks_after[seat] - self.stacks_before[seat]
        return sum(pot.wins.get(seat, 0) for pot in self.pots) - self.paid[seat]

    @property
    def folded(self) -> list[int]:
        """The seats that folded, in order, including forfeits."""
        return [act.seat for act in self.acts if act.kind == "fold"]

    @property
    def has_showdown(self) -> bool:
        """Whether two or more seats were left at the end."""
        return self.is_over and len(self.cards) - len(self.folded) > 1


def read_hands(timeline: Timeline) -> Iterator[Hand]:
    """Yield the hands of a timeline, in order; the last one may be unfinished."""
    reader = _Reader(timeline)
    for entry in timeline.entries:
        if entry.row is not None:
            yield from reader.read(entry)
    if reader.hand is not None:
        reader.hand.is_over = timeline.finished
        yield reader.hand


class _Reader:
    def __init__(self, timeline: Timeline) -> None:
        self._num_seats = len(timeline.players)
        self._stacks = [0] * self._num_seats
        self._small_blind = self._big_blind = 0
        self._bets = Counter[int]()  # on the street, by seat
        self.hand: Hand | None = None

    def read(self, entry: Entry) -> Iterator[Hand]:
        """Process one event; if it begins a new hand, yield the previous one."""
        assert entry.row is not None
        player, card, value = entry.row[PLAYER], entry.row[TOKEN], entry.row[VALUE]
        if entry.kind == "hand":
            if self.hand is not None:
                self.hand.is_over = True
                yield self.hand
            blinds = self._small_blind, self._big_blind
            self.hand = Hand(value, self._num_seats, -1, blinds, list(self._stacks), list(self._stacks))
        elif self.hand is not None:
            self._pay(self.hand, entry.row)
            self._read_into(self.hand, entry, player, card, value)
        if entry.kind == "stack":
            self._stacks[player] = value

    def _pay(self, hand: Hand, row: tuple[int, ...]) -> None:
        """Count the chips that an event puts in or gives back."""
        kind, player, value = TABLE.kinds[row[KIND]], row[PLAYER], row[VALUE]
        if kind.name in ("post_ante", "post_dead"):
            hand.paid[player] += value
        elif kind.op == Op.SET and BET <= row[SOURCE] < BET + TABLE.max_players:
            if kind.name != "bet_taken_in":
                hand.paid[player] += value - self._bets[player]
            self._bets[player] = value

    def _read_into(self, hand: Hand, entry: Entry, player: int, card: int, value: int) -> None:
        kind = entry.kind
        if kind in ("small_blind", "big_blind"):
            small = value if kind == "small_blind" else hand.blinds[0]
            big = value if kind == "big_blind" else hand.blinds[1]
            hand.blinds = self._small_blind, self._big_blind = small, big
        elif kind == "button":
            hand.button = value
        elif kind == "no_small_blind":
            hand.has_small_blind = False
        elif kind == "deal":
            hand.cards.setdefault(player, []).append(card)
        elif kind in STREETS:
            hand.board.append(card)
        elif kind in _BETTING:
            total = value if kind not in ("fold", "check") else 0
            hand.acts.append(Act(STREETS[max(0, len(hand.board) - 2)], player, _BETTING[kind], total))
        elif kind == "stack":
            hand.stacks_after[player] = value
        elif kind == "show":
            if not hand.shown:
                hand.board_at_showdown = len(hand.board)
            if player not in hand.shown:
                hand.shown.append(player)
        elif kind == "muck":
            hand.mucked.append(player)
        elif kind == "settle_pot":
            hand.pots.append(Pot(value))
        elif kind == "eligible":
            hand.pots[-1].eligible.append(player)
        elif kind == "win":
            hand.pots[-1].wins[player] = value
        elif kind == "forfeit":
            hand.forfeited.append(player)
