"""The moments of an action at which the table is worth a look.

One action can complete a trick, gather it, score the hand and deal the next one. A person wants to see the trick before
it is gathered, and the hands shown before the next deal. `beats` finds these moments from the declared event kinds.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cardenvs.core.events import FACE_DOWN, KIND, EventKind, Op, Part, Table

_MOVING = frozenset((Op.MOVE, Op.REVEAL, Op.CLEAR, Op.MOVE_ALL))


@dataclass
class Beat:
    """A moment of an action. Events are numbered as in the rows that `beats` is given.

    Attributes:
        start, end: the table is shown as after the events up to `end`; the beat before showed those up to `start`.
        told_from, told_to: the events described with it.
        closes: the part of the game that has just ended (see `closings`); its cards are still on the table.
    """

    start: int
    end: int
    told_from: int
    told_to: int
    closes: Part


def beats(table: Table, rows: np.ndarray, first: int = 0, is_over: bool = False) -> list[Beat]:
    """Return the beats of an action; the last one is its end.

    A beat ends where tokens start to move in another way, as from play to draw or from flop to turn, or where they
    start to move after a part of the game has ended. Moves that are details, such as gathering a trick, get no beat of
    their own: the beat before announces who wins the trick, while its cards are still on the table.

    Args:
        table: the game's table.
        rows: rows that a viewer sees, from `Table.visible`, up to the end of the action.
        first: the number of rows before the action.
        is_over: whether the action ends the game.
    """
    kinds = [table.kinds[kind] for kind in rows[first:, KIND].tolist()]
    ended = closings(table, rows[first:], is_over)
    found: list[Beat] = []
    for start, end in _runs(kinds, ended):
        closes = max(ended[start:end], default=Part.NONE)
        last_told = first + (_up_to_closing(ended, start, end) if closes else end)
        if not found or not _is_tidying(kinds[start:end]):
            shown, told = (found[-1].end, found[-1].told_to) if found else (first, first)
            found.append(Beat(shown, first + end, told, last_told, closes))
        elif closes:
            found[-1].told_to, found[-1].closes = last_told, max(closes, found[-1].closes)
    if found[-1].end < len(rows):  # the action ends with tidying
        found.append(Beat(found[-1].end, len(rows), found[-1].told_to, len(rows), Part.NONE))
    found[-1].told_to = len(rows)
    return found


def closings(table: Table, rows: np.ndarray, is_over: bool) -> list[Part]:
    """Return the part of the game that each event of an action ends.

    What closes a hand ends it only if the action goes on to open the next one, or ends the game.

    Args:
        table: the game's table.
        rows: the rows of the action, as the game wrote them or as a viewer sees them.
        is_over: whether the action ends the game.
    """
    kinds = [table.kinds[kind] for kind in rows[:, KIND].tolist()]
    opening = max((at for at, kind in enumerate(kinds) if kind.opens == Part.HAND), default=0)
    end = len(kinds) if is_over else opening
    return [kind.closes if kind.closes < Part.HAND or at < end else Part.NONE for at, kind in enumerate(kinds)]


def _runs(kinds: list[EventKind], ended: list[Part]) -> list[tuple[int, int]]:
    """Return where runs of events begin and end, in each of which tokens move in one way."""
    starts, moved, has_closed = [0], None, False
    for at, kind in enumerate(kinds):
        if _moves_tokens(kind):
            is_like = moved is None or kind.name == moved.name or (kind.is_detail and moved.is_detail)
            if has_closed or not is_like:
                starts.append(at)
                has_closed = False
            moved = kind
        has_closed = has_closed or ended[at] > Part.NONE
    return list(pairwise([*starts, len(kinds)]))


def _moves_tokens(kind: EventKind) -> bool:
    return kind.op in _MOVING and kind.name != FACE_DOWN


def _is_tidying(run: list[EventKind]) -> bool:
    moving = [kind for kind in run if _moves_tokens(kind)]
    return bool(moving) and all(kind.is_detail for kind in moving)


def _up_to_closing(ended: list[Part], start: int, end: int) -> int:
    """Return the number of events up to the last one from `start` to `end` that ends a part of the game."""
    return max(at for at in range(start + 1, end + 1) if ended[at - 1])
