"""Events: what happened, who may see it, and what it does to the table.

The table is a set of *piles* of tokens (cards, tiles) and of named *counters*. A game lists its piles, counters
and event kinds once, in a `Table`. Its effect kernels change the record and write the event in one call. Each
kind does one of a fixed list of things (`Op`) to the table, so one generic fold rebuilds, for any game and any
viewer, the table that this viewer knows from the events that this viewer saw.

A row of the log has eight int32 columns:

    kind  player  token  source  target  value  visible  audience

`visible` is the set of viewers (bits) who see `token` (and, for a counter, `value`); the others see a token move
whose face they do not know. `audience` is the set who see that anything happened at all. A viewer is a player
0..n-1 or SPECTATOR, who sees what is public.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardenvs.core.kernel import kernel

COLUMNS = 8
KIND, PLAYER, TOKEN, SOURCE, TARGET, VALUE, VISIBLE, AUDIENCE = range(COLUMNS)

NOBODY = 0
EVERYBODY = (1 << 16) - 1
SPECTATOR = -1  # a viewer who sees what is public; bit 15 of a set of viewers
OMNISCIENT = -2  # a viewer who sees everything; no events are kept for it, it sees all of them
_SPECTATOR_BIT = 15

UNKNOWN = -1  # a token whose face is not known
NO_PLAYER = -1
NO_PLACE = -1
TOP = -1  # of an ordered pile


class Op(enum.IntEnum):
    """What a kind of event does to the table.

    NOTE          nothing
    MOVE          one token from pile `source` to the top of pile `target`; `value` is its place in an ordered
                  source, TOP or counted from the bottom
    REVEAL        pile `source` is seen to hold `value` (at least) tokens of face `token`; in an ordered pile,
                  place `value` (or TOP) is seen to hold `token`
    SET           counter `source` becomes `value`
    SHUFFLE       nobody knows any longer which token lies where in pile `source`
    CREATE        `value` tokens of face `token` (or unknown) appear in pile `target`
    CLEAR         pile `source` is emptied, or every pile when it is NO_PLACE
    MOVE_ALL      all tokens of `source` go to `target`, in order
    """

    NOTE = 0
    MOVE = 1
    REVEAL = 2
    SET = 3
    SHUFFLE = 4
    CREATE = 5
    CLEAR = 6
    MOVE_ALL = 7


@dataclass(frozen=True)
class Pile:
    """A place for tokens. `ordered` piles are lists, bottom first; the others are multisets."""

    name: str
    ordered: bool


@dataclass(frozen=True)
class Counter:
    """A named number, 0 at the start."""

    name: str


@dataclass(frozen=True)
class Event:
    """One event as one viewer sees it. What the viewer may not see, or what does not apply, is None.

    Attributes:
        kind: name of the event kind.
        player: who did it.
        token: the token it is about.
        source, target: piles (or, for SET, the counter), as (name, owner or None).
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
    """A kind of event: its name, what it does, and how it reads.

    `text` may use {player}, {token}, {source}, {target} and {value}. With `reveals_hidden_value` the value may depend
    on what was hidden until then although no token is shown (a score, an answer to a question); the conformance suite
    takes any other dependence for a leak.
    """

    name: str
    op: Op
    text: str
    reveals_hidden_value: bool


class Table:
    """The table of a game: piles of tokens, counters, and the kinds of event that change them.

    A game declares each of them once, and keeps the id it gets for its kernels:

        TABLE = Table(max_players=2)
        HAND = TABLE.pile("hand", per_player=True)  # the hand of player 0; that of player p is HAND + p
        DRAW = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")

    Attributes:
        max_players: how many piles or counters a `per_player` declaration makes.
        kinds: the kinds of event, by id.
        pile_of, counter_of: by id, the pile or counter and the player it belongs to (None: nobody).
        pile_ids, counter_ids, kind_ids: ids by name; of player 0 where each player has one.
    """

    def __init__(self, max_players: int) -> None:
        self.max_players = max_players
        self.kinds: list[EventKind] = []
        self.pile_of: list[tuple[Pile, int | None]] = []
        self.counter_of: list[tuple[Counter, int | None]] = []
        self.pile_ids: dict[str, int] = {}
        self.counter_ids: dict[str, int] = {}
        self.kind_ids: dict[str, int] = {}

    def pile(self, name: str, per_player: bool = False, ordered: bool = False) -> int:
        """Declare a pile, or one for each player; returns its id, or that of player 0. An ordered one is a list.

        Raises:
            ValueError: another pile has this name.
        """
        _declare(name, self.pile_ids, len(self.pile_of), "pile")
        self.pile_of += [(Pile(name, ordered), owner) for owner in self._owners(per_player)]
        return self.pile_ids[name]

    def counter(self, name: str, per_player: bool = False) -> int:
        """Declare a counter, or one for each player, 0 at the start; returns its id, or that of player 0.

        Raises:
            ValueError: another counter has this name.
        """
        _declare(name, self.counter_ids, len(self.counter_of), "counter")
        self.counter_of += [(Counter(name), owner) for owner in self._owners(per_player)]
        return self.counter_ids[name]

    def event(self, name: str, op: Op, text: str, reveals_hidden_value: bool = False) -> int:
        """Declare a kind of event (see `EventKind`) and return its id.

        Raises:
            ValueError: another kind of event has this name.
        """
        _declare(name, self.kind_ids, len(self.kinds), "kind of event")
        self.kinds.append(EventKind(name, op, text, reveals_hidden_value))
        return self.kind_ids[name]

    def _owners(self, per_player: bool) -> Sequence[int | None]:
        return range(self.max_players) if per_player else (None,)

    def visible(self, rows: np.ndarray, viewer: int) -> np.ndarray:
        """The rows (n, COLUMNS) that `viewer` sees, with what it may not see of them blanked.

        Who else sees a face is no part of what a viewer gets: VISIBLE becomes 1 or 0 and AUDIENCE 1.
        """
        bit = viewer_bit(viewer)
        seen = rows[(rows[:, AUDIENCE] & bit) != 0].copy()
        sees_face = (seen[:, VISIBLE] & bit) != 0 if viewer != OMNISCIENT else np.ones(len(seen), bool)
        seen[~sees_face, TOKEN] = UNKNOWN
        is_set = np.array([kind.op == Op.SET for kind in self.kinds], bool)[seen[:, KIND]]
        seen[~sees_face & is_set, VALUE] = 0
        seen[:, VISIBLE] = sees_face
        seen[:, AUDIENCE] = 1
        return seen

    def read(self, row: np.ndarray) -> Event:
        """A visible row as an Event."""
        kind = self.kinds[int(row[KIND])]
        places = self.counter_of if kind.op == Op.SET else self.pile_of
        hidden_value = kind.op == Op.SET and not row[VISIBLE]
        return Event(
            kind.name,
            None if row[PLAYER] == NO_PLAYER else int(row[PLAYER]),
            None if row[TOKEN] == UNKNOWN else int(row[TOKEN]),
            _named(places, int(row[SOURCE])),
            _named(self.pile_of, int(row[TARGET])),
            None if hidden_value else int(row[VALUE]),
        )


def _named(places: list[tuple], number: int) -> tuple[str, int | None] | None:
    if number == NO_PLACE:
        return None
    place, owner = places[number]
    return place.name, owner


def _declare(name: str, ids: dict[str, int], number: int, what: str) -> None:
    if name in ids:
        raise ValueError(f"the table already has a {what} named {name!r}")
    ids[name] = number


# ---------------------------------------------------------------------------------------------------------------
# Writing events (kernels)


@kernel(inline=True)
def log_event(log, kind, player, token, source, target, value, visible, audience):
    """Append one event to `log`, an int32 array of shape (rows + 1, COLUMNS), or (0, COLUMNS) when nobody logs.

    log[0, 0] counts the events written. When the log is full the count goes on, so that the caller can notice
    and repeat the step with more room.
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
    """A public event that changes nothing on the table."""
    log_event(log, kind, player, UNKNOWN, NO_PLACE, NO_PLACE, value, EVERYBODY, EVERYBODY)


@kernel(inline=True)
def log_move(log, kind, player, token, source, target, visible):
    """One token goes from the top of `source` (from anywhere, if unordered) to the top of `target`."""
    log_event(log, kind, player, token, source, target, TOP, visible, EVERYBODY)


@kernel(inline=True)
def log_reveal(log, kind, player, token, source, value, visible):
    """The viewers in `visible` see `token` in `source`: at place `value` if ordered, else at least `value` of it."""
    log_event(log, kind, player, token, source, NO_PLACE, value, visible, EVERYBODY)


@kernel(inline=True)
def log_set(log, kind, player, counter, value):
    """A public counter becomes `value`."""
    log_event(log, kind, player, UNKNOWN, counter, NO_PLACE, value, EVERYBODY, EVERYBODY)


@kernel(inline=True)
def log_shuffle(log, kind, pile):
    """Pile `pile` is shuffled."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, pile, NO_PLACE, 0, NOBODY, EVERYBODY)


@kernel(inline=True)
def log_create(log, kind, pile, count):
    """`count` face-down tokens appear in `pile`."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, NO_PLACE, pile, count, NOBODY, EVERYBODY)


@kernel(inline=True)
def log_clear(log, kind):
    """Every pile is emptied, as before a new deal."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, NO_PLACE, NO_PLACE, 0, NOBODY, EVERYBODY)


@kernel(inline=True)
def log_move_all(log, kind, source, target):
    """All tokens of `source` go to `target`, in order."""
    log_event(log, kind, NO_PLAYER, UNKNOWN, source, target, 0, NOBODY, EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# Reading events


def new_log(rows: int = 256) -> np.ndarray:
    """An empty log with room for `rows` events; `rows` 0 logs nothing."""
    return np.zeros((rows + 1 if rows else 0, COLUMNS), np.int32)


NO_LOG = new_log(0)


def viewer_bit(viewer: int) -> int:
    """The bit of `viewer` in a set of viewers."""
    if viewer == OMNISCIENT:
        return EVERYBODY
    return 1 << (_SPECTATOR_BIT if viewer == SPECTATOR else viewer)
