"""A review in words: the turning points of a game, and what happened at them."""

import itertools
from dataclasses import dataclass
from functools import cached_property

from cardenvs.core.events import OMNISCIENT
from cardenvs.core.narration import Narrator
from cardenvs.core.replay import Replay
from cardenvs.review.decisions import Judged, Review

TURNING_POINTS = 5
_NOBODY = -1  # no player is called "you"
_MOST_SENTENCES = 3
_LONGEST_PLAY = 100  # characters


@dataclass(frozen=True)
class TurningPoint:
    """A part of a game in which a player's expected return changed much.

    Attributes:
        ply, until: number of actions before it and after it.
        player: whose expectation changed.
        change: of the expected return.
        is_mistake: whether the player's own choice changed it; otherwise luck or the others' choices did.
        text: a sentence.
    """

    ply: int
    until: int
    player: int
    change: float
    is_mistake: bool
    text: str


def turning_points(review: Review, most: int = TURNING_POINTS) -> list[TurningPoint]:
    """Return the parts of a game that changed a reviewed player's expected return most, in order of the game.

    A change that one player's loss explains is not told again as the other players' luck.
    """
    found = sorted(_changes(review), key=lambda one: -abs(one.change))
    chosen: list[TurningPoint] = []
    for one in found:
        if len(chosen) < most and not any(_tell_the_same(one, other) for other in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.ply)


def _tell_the_same(one: TurningPoint, other: TurningPoint) -> bool:
    return one.player != other.player and one.ply < other.until and other.ply < one.until


def _changes(review: Review) -> list[TurningPoint]:
    changes, end = [], len(review.replay.actions)
    for player in review.players:
        told, decisions = _Told(review.replay, player, len(review.players) > 1), review.of(player)
        for one, after in itertools.zip_longest(decisions, decisions[1:]):
            done = one.ply + one.actions
            if one.is_mistake:
                changes.append(TurningPoint(one.ply, done, player, -one.loss, True, _blame(one)))
            until = end if after is None else after.ply
            expected = review.replay.returns[player] if after is None else after.best_value
            if after is None and not review.is_over:
                continue
            text = told.between(one.ply, until)
            changes.append(TurningPoint(done, until, player, expected - one.value, False, text))
    return changes


def _blame(one: Judged) -> str:
    return f"player_{one.player} chose “{cut(one.played)}”; “{cut(one.best)}” was worth {one.loss:.3g} more."


def cut(play: str) -> str:
    """Return the words of a play, without its end if it is long."""
    return play if len(play) <= _LONGEST_PLAY else f"{play[: _LONGEST_PLAY - 1]}…"


class _Told:
    """What happened at each ply, as a player saw it, or as everybody did where all are reviewed."""

    def __init__(self, replay: Replay, player: int, tells_all: bool) -> None:
        self._replay, self._viewer = replay, OMNISCIENT if tells_all else player

    @cached_property
    def _sentences(self) -> list[list[str]]:
        replay, viewer = self._replay, self._viewer
        narrator = Narrator(replay.game, _NOBODY, len(replay.players), symbols=False)
        state, told = replay.state_at(0), []
        seen = len(state.event_rows(viewer))
        for action in replay.actions:
            state.apply(action)
            rows = state.event_rows(viewer)
            told.append(narrator.sentences(map(replay.game.table.read, rows[seen:])))
            seen = len(rows)
        return told

    def between(self, ply: int, until: int) -> str:
        """Return what happened in these plies, the latest of it in up to three sentences."""
        said = [sentence for one in self._sentences[ply:until] for sentence in one]
        left_out = len(said) - _MOST_SENTENCES
        return ("… " if left_out > 0 else "") + " ".join(said[-_MOST_SENTENCES:])
