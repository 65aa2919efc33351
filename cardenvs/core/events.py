"""Events: what happened, who may see it, and how it changes the table.

The table consists of *piles* of tokens (cards, tiles) and of named *counters*. A game declares its piles, counters and
event kinds once, in a `Table`. Its effect kernels change the record and write the event in one call. Every event kind
performs one of a few fixed operations (`Op`) on the table, so `cardenvs.core.fold` can rebuild any viewer's table in
any game from the events this viewer saw.

A row of the log has eight int32 columns:

    kind  player  token  source  target  value  visible  audience

`visible` is the bit set of viewers who see `token` (or, for a counter, `value`); the others see an unknown token move.
`audience` is the bit set of viewers who see that anything happened at all. A viewer is a player 0..n-1 or SPECTATOR,
who sees public information only.
"""

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.kernel import kernel

COLUMNS = 8
KIND, PLAYER, TOKEN, SOURCE, TARGET, VALUE, VISIBLE, AUDIENCE = range(COLUMNS)

NOBODY = 0
EVERYBODY = (1 << 16) - 1
SPECTATOR = -1  # a viewer who sees public information only; bit 15 of a set of viewers
OMNISCIENT = -2  # a viewer who sees everything; has no bit of its own
_SPECTATOR_BIT = 15

UNKNOWN = -1  # a token with an unknown face
NO_PLAYER = -1
NO_PLACE = -1
TOP = -1  # of an ordered pile
FACE_DOWN = "lies_face_down"  # name of the kind of the events that OMNISCIENT alone gets


class Op(enum.IntEnum):
    """What an event kind does to the table.

    NOTE          nothing
    MOVE          moves one token from pile `source` to the top of pile `target`; `value` is its place in an
                  ordered source, TOP or counted from the bottom
    REVEAL        shows that pile `source` has at least `value` tokens of face `token`; in an ordered pile, that
                  `token` is at place `value` (or TOP)
    SET           sets counter `source` to `value`
    SHUFFLE       makes all faces in pile `source` unknown
    CREATE        adds `value` tokens of face `token` (or unknown) to pile `target`
    CLEAR         empties pile `source`, or every pile if it is NO_PLACE
    MOVE_ALL      moves all tokens of `source` to `target`, in order
    """

    NOTE = 0
    MOVE = 1
    REVEAL = 2
    SET = 3
    SHUFFLE = 4
    CREATE = 5
    CLEAR = 6
    MOVE_ALL = 7


class Part(enum.IntEnum):
    """A part of a game that an event may end.

    NONE          none
    TRICK         a trick, a bout, a turn
    HAND          a hand, a deal, a round: all tricks of it, too
    """

    NONE = 0
    TRICK = 1
    HAND = 2


class PileLayout(enum.StrEnum):
    """How a pile is shown in views and pictures.

    HAND    cards held, side by side
    FAN     overlapping, so that many fit
    STACK   on top of each other: only the top of an ordered stack is drawn, and how many there are
    ROW     side by side
    GRID    in rows of a fixed length
    SETS    in groups (see `View.arrange`), side by side
    COLUMNS in groups whose tokens cover one another, from top to bottom
    TRICK   played before the owner, towards the middle of the table
    WON     gathered by the owner, face down; only how many there are is drawn
    NONE    not at all: the pile only serves the game's own encoding
    """

    HAND = "hand"
    FAN = "fan"
    STACK = "stack"
    ROW = "row"
    GRID = "grid"
    SETS = "sets"
    COLUMNS = "columns"
    TRICK = "trick"
    WON = "won"
    NONE = "none"


class CounterUse(enum.StrEnum):
    """What a counter means to people.

    NUMBER  a number: shown in a table
    PLAYER  the number of a player, who is shown with the counter's name: "dealer"
    CHIPS   a number of chips before its owner, or in the middle of the table: shown there
    FLAG    1 if the counter's name is true of its owner, who is shown with it: "folded"
    NONE    nothing: it only serves the game's own encoding
    """

    NUMBER = "number"
    PLAYER = "player"
    CHIPS = "chips"
    FLAG = "flag"
    NONE = "none"


class Seen(enum.StrEnum):
    """Who sees the faces of the tokens in a pile."""

    ALL = "all"
    OWNER = "owner"
    OTHERS = "others"  # the players, except for the owner
    NOBODY = "nobody"


Source = str | Callable[..., Any] | None  # name of a field, or source(s), or source(s, player) if each player has one


@dataclass(frozen=True)
class Pile:
    """A place for tokens. An `ordered` pile is a list, bottom first; any other is a multiset.

    `source` gives its tokens: a bit set if `is_set`, otherwise a list or one token; `known` those that all have seen.
    `View.fill_table` uses them. `on` names a pile on whose tokens its own lie: one on each, or as a stack across one.
    `slots` is the number of places of a grid, or those for which a row in lines of `row_length` tokens keeps room.
    """

    name: str
    ordered: bool
    layout: PileLayout
    source: Source = None
    is_set: bool = False
    seen: Seen = Seen.ALL
    known: Source = None
    on: str = ""
    slots: int = 0
    row_length: int = 0


@dataclass(frozen=True)
class Counter:
    """A named number, 0 at the start. `source` gives its value."""

    name: str
    use: CounterUse
    source: Source


@dataclass(frozen=True)
class Event:
    """One event as one viewer sees it. Attributes that are hidden or do not apply are None.

    Attributes:
        kind: name of the event kind.
        player: the player who acted.
        token: the token concerned.
        source, target: piles as (name, owner or None); for SET, `source` is the counter.
        value: amount, count or place.
    """

    kind: str
    player: int | None
    token: int | None
    source: tuple[str, int | None] | None
    target: tuple[str, int | None] | None
    value: int | None


@dataclass(frozen=True)
class EventKind:
    """A kind of event: its name, its operation, and its text.

    `text` may use {player}, {token}, {source}, {target} and {value}; {value:card} is "1 card" or "2 cards".
    `reveals_hidden_value` allows the value to depend on hidden information even though no token is shown (a score, an
    answer to a question); `check_game` reports any other dependence as a leak. A game played in a terminal leaves out
    events with `is_detail`: the table shows what they say. Events that end a part of the game say which in `closes`.
    Prompts of language models reduce finished hands, and finished tricks of the present hand except for the latest, to
    these events. `opens` says which part an event begins: a hand has ended only if the action that closes it opens the
    next one or ends the game, since some games score in the middle of a hand, too.
    """

    name: str
    op: Op
    text: str
    reveals_hidden_value: bool
    is_detail: bool
    closes: Part
    opens: Part


class Table:
    """The table of a game: piles of tokens, counters, and the event kinds that change them.

    A game declares each of them once and stores the returned ids for its kernels:

        TABLE = Table(max_players=2)
        HAND = TABLE.pile("hand", per_player=True)  # the hand of player 0; that of player p is HAND + p
        DRAW = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")

    Attributes:
        max_players: number of piles or counters that a `per_player` declaration creates.
        kinds: the event kinds, by id.
        face_down: id of the last kind, which `complete` declares; -1 before.
        pile_of, counter_of: by id, the pile or counter and its owner, a player or None.
        pile_ids, counter_ids, kind_ids: ids by name; player 0's id if there is one per player.
    """

    def __init__(self, max_players: int) -> None:
        self.max_players = max_players
        self.kinds: list[EventKind] = []
        self.pile_of: list[tuple[Pile, int | None]] = []
        self.counter_of: list[tuple[Counter, int | None]] = []
        self.pile_ids: dict[str, int] = {}
        self.counter_ids: dict[str, int] = {}
        self.kind_ids: dict[str, int] = {}
        self.face_down = -1
        self._sets = np.zeros(0, bool)  # by kind, whether it sets a counter

    def pile(
        self,
        name: str,
        per_player: bool = False,
        ordered: bool = False,
        layout: PileLayout | str = PileLayout.ROW,
        cards: Source = None,
        tokens: Source = None,
        seen: Seen | str = Seen.ALL,
        known: Source = None,
        on: str = "",
        slots: int = 0,
        row_length: int = 0,
    ) -> int:
        """Declare a pile, or one per player, and return its id (player 0's if there is one per player).

        Args:
            name: its name.
            per_player: whether each player has one.
            ordered: whether the order of its tokens matters.
            layout: how it is shown, as a PileLayout or its text.
            cards: where its tokens are in the record, as a bit set: a field, or a function of the record (and the
                player). Without `cards` and `tokens`, the view fills the pile.
            tokens: the same for a list of tokens or a single one; negative ones are no tokens.
            seen: who sees their faces, as a Seen or its text.
            known: those whose faces everybody has seen, as a bit set.
            on: a pile that belongs to nobody, on whose tokens those of this pile lie: one on each, or, if this pile
                is a stack, across its one token.
            slots: how many places a grid has, or for how many tokens a row in lines keeps room.
            row_length: tokens in each line of a row; 0 for a single line.

        Raises:
            ValueError: another pile has this name, or there is no such layout.
        """
        _declare(name, self.pile_ids, len(self.pile_of), "pile")
        source, is_set = (tokens, False) if cards is None else (cards, True)
        pile = Pile(name, ordered, PileLayout(layout), source, is_set, Seen(seen), known, on, slots, row_length)
        self.pile_of += [(pile, owner) for owner in self._owners(per_player)]
        return self.pile_ids[name]

    def counter(
        self, name: str, per_player: bool = False, use: CounterUse | str = CounterUse.NUMBER, value: Source = None
    ) -> int:
        """Declare a counter, or one per player, and return its id (player 0's if there is one per player).

        Args:
            name: its name.
            per_player: whether each player has one.
            use: what it means to people, as a CounterUse or its text.
            value: where its value is in the record, as for a pile; without it, the view sets the counter.

        Raises:
            ValueError: another counter has this name, or there is no such use.
        """
        _declare(name, self.counter_ids, len(self.counter_of), "counter")
        counter = Counter(name, CounterUse(use), value)
        self.counter_of += [(counter, owner) for owner in self._owners(per_player)]
        return self.counter_ids[name]

    def event(
        self,
        name: str,
        op: Op,
        text: str,
        reveals_hidden_value: bool = False,
        is_detail: bool = False,
        closes: Part = Part.NONE,
        opens: Part = Part.NONE,
    ) -> int:
        """Declare an event kind (see `EventKind`) and return its id.

        Raises:
            ValueError: another event kind has this name.
        """
        _declare(name, self.kind_ids, len(self.kinds), "kind of event")
        self.kinds.append(EventKind(name, op, text, reveals_hidden_value, is_detail, closes, opens))
        self._sets = np.append(self._sets, op == Op.SET)
        return self.kind_ids[name]

    def complete(self) -> None:
        """Declare the kind of the events that OMNISCIENT alone gets (see `WholeHistory`), after those of the game.

        `Game` calls this.
        """
        if self.face_down < 0:
            self.face_down = self.event(FACE_DOWN, Op.REVEAL, "{token} lies face down.", is_detail=True)

    @functools.cached_property
    def sourced_piles(self) -> list[tuple[int, Pile, int | None]]:
        """Number, declaration and owner of each pile whose tokens are in the record."""
        return [(k, pile, owner) for k, (pile, owner) in enumerate(self.pile_of) if pile.source is not None]

    @functools.cached_property
    def sourced_counters(self) -> list[tuple[int, Counter, int | None]]:
        """The same of each counter whose value is in the record."""
        return [(k, counter, owner) for k, (counter, owner) in enumerate(self.counter_of) if counter.source is not None]

    def _owners(self, per_player: bool) -> Sequence[int | None]:
        return range(self.max_players) if per_player else (None,)

    def visible(self, rows: np.ndarray, viewer: int) -> np.ndarray:
        """Return the rows, int32 (n, COLUMNS), that `viewer` sees, without what it may not see in them.

        The sets of viewers are hidden too: VISIBLE becomes 1 if `viewer` sees the face, else 0, and AUDIENCE becomes 1.
        A counter set to UNKNOWN for nobody to see is hidden from OMNISCIENT as well: records of other programs have
        such counters.
        """
        bit = viewer_bit(viewer)
        seen = rows[(rows[:, AUDIENCE] & bit) != 0].copy()
        sees_face = (seen[:, VISIBLE] & bit) != 0 if viewer != OMNISCIENT else np.ones(len(seen), bool)
        is_set = self._sets[seen[:, KIND]]
        sees_face &= ~(is_set & (seen[:, VISIBLE] == 0) & (seen[:, VALUE] == UNKNOWN))
        seen[~sees_face, TOKEN] = UNKNOWN
        seen[~sees_face & is_set, VALUE] = 0
        seen[:, VISIBLE] = sees_face
        seen[:, AUDIENCE] = 1
        return seen

    def read(self, row: np.ndarray) -> Event:
        """Return a row from `visible` as an Event."""
        cells = row.tolist()  # one call for all entries
        kind = self.kinds[cells[KIND]]
        places = self.counter_of if kind.op == Op.SET else self.pile_of
        hidden_value = kind.op == Op.SET and not cells[VISIBLE]
        return Event(
            kind.name,
            None if cells[PLAYER] == NO_PLAYER else cells[PLAYER],
            None if cells[TOKEN] == UNKNOWN else cells[TOKEN],
            _named(places, cells[SOURCE]),
            _named(self.pile_of, cells[TARGET]),
            None if hidden_value else cells[VALUE],
        )


def _named(places: list[tuple[Any, ...]], number: int) -> tuple[str, int | None] | None:
    if number == NO_PLACE:
        return None
    place, owner = places[number]
    return place.name, owner


def _declare(name: str, ids: dict[str, int], number: int, what: str) -> None:
    if name in ids:
        raise ValueError(f"the table already has a {what} named {name!r}")
    ids[name] = number


# -- writing events (kernels) -------------------------------------------------------------------------------------


@kernel(inline=True)
def log_event(log, kind, player, token, source, target, value, visible, audience):
    """Append one event to `log`, an int32 array of shape (rows + 1, COLUMNS), or (0, COLUMNS) to log nothing.

    log[0, 0] counts the events. It keeps counting when the log is full, so that the caller can detect this and repeat
    the step with a longer log.
    """
    if log.shape[0] == 0:
        return
    log[0, 0] += 1
    row = log[0, 0]
    if row >= log.shape[0]:
        return
    log[row, KIND] = kind
    log[row, PLAYER] = player
    log[row, TOKEN] = token
    log[row, SOURCE] = source
    log[row, TARGET] = target
    log[row, VALUE] = value
    log[row, VISIBLE] = visible
    log[row, AUDIENCE] = audience


@kernel(inline=True)
def log_note(log, kind, player, value):
    """Log a public event that does not change the table."""
    log_event(log, kind, player, UNKNOWN, NO_PLACE, NO_PLACE, value, EVERYBODY, EVERYBODY)


@kernel(inline=True)
def log_move(log, kind, player, token, source, target, visible):
    """Log that one token moves from the top of `source` (or anywhere, if unordered) to the top of `target`."""
    log_event(log, kind, player, token, source, target, TOP, visible, EVERYBODY)


@kernel(inline=True)
def log_reveal(log, kind, player, token, source, value, visible):
    """Log that the viewers in `visible` see `token` in `source`, at place `value` if ordered, else `value` times."""
    log_event(log, kind, player, token, source, NO_PLACE, value, visible, EVERYBODY)


@kernel(inline=True)
def log_set(log, kind, player, counter, value):
    """Log that a public counter is set to `value`."""
    log_event(log, kind, player, UNKNOWN, counter, NO_PLACE, value, EVERYBODY, EVERYBODY)


@kernel(inline=True)
def log_shuffle(log, kind, pile):
    """Log that `pile` is shuffled."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, pile, NO_PLACE, 0, NOBODY, EVERYBODY)


@kernel(inline=True)
def log_create(log, kind, pile, count):
    """Log that `count` face-down tokens are added to `pile`."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, NO_PLACE, pile, count, NOBODY, EVERYBODY)


@kernel(inline=True)
def log_clear(log, kind):
    """Log that every pile is emptied, as before a new deal."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, NO_PLACE, NO_PLACE, 0, NOBODY, EVERYBODY)


@kernel(inline=True)
def log_move_all(log, kind, player, source, target):
    """Log that all tokens of `source` move to `target`, in order."""
    log_event(log, kind, player, UNKNOWN, source, target, 0, NOBODY, EVERYBODY)


# -- reading events -----------------------------------------------------------------------------------------------


def new_log(rows: int = 256) -> np.ndarray:
    """Return an empty log with room for `rows` events; with 0 it logs nothing."""
    return np.zeros((rows + 1 if rows else 0, COLUMNS), np.int32)


NO_LOG = new_log(0)


def viewer_bit(viewer: int) -> int:
    """Return the bit of `viewer` in a set of viewers; for OMNISCIENT, all bits."""
    if viewer == OMNISCIENT:
        return EVERYBODY
    return 1 << (_SPECTATOR_BIT if viewer == SPECTATOR else viewer)
