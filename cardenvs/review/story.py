"""A review in words: the turning points of a game, and what happened at them."""

import itertools
from dataclasses import dataclass
from typing import Any

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
    viewer = review.players[0] if len(review.players) == 1 else OMNISCIENT
    changes, end, told = [], len(review.replay.actions), _told(review.replay, viewer)
    for player in review.players:
        decisions = review.of(player)
        for one, after in itertools.zip_longest(decisions, decisions[1:]):
            done = one.ply + one.actions
            if one.is_mistake:
                changes.append(TurningPoint(one.ply, done, player, -one.loss, True, _blame(one)))
            if after is None and not review.is_over:
                continue
            until = end if after is None else after.ply
            expected = review.replay.returns[player] if after is None else after.best_value
            text = _latest(told[one.ply : until])
            changes.append(TurningPoint(done, until, player, expected - one.value, False, text))
    return changes


def _blame(one: Judged) -> str:
    return f"player_{one.player} chose “{cut(one.played)}”; “{cut(one.best)}” was worth {one.loss:.3g} more."


def cut(play: str) -> str:
    """Return the words of a play, without its end if it is long."""
    return play if len(play) <= _LONGEST_PLAY else f"{play[: _LONGEST_PLAY - 1]}…"


def _told(replay: Replay, viewer: int) -> list[list[str]]:
    """Return the sentences that tell `viewer` what each action brought."""
    narrator = Narrator(replay.game, _NOBODY, len(replay.players), symbols=False)
    state, told = replay.state_at(0), []
    seen = len(state.event_rows(viewer))
    for action in replay.actions:
        state.apply(action)
        rows = state.event_rows(viewer)
        told.append(narrator.sentences(map(replay.game.table.read, rows[seen:])))
        seen = len(rows)
    return told


def _latest(told: list[list[str]]) -> str:
    """Return the latest of what is told, in up to three sentences."""
    said = [sentence for one in told for sentence in one]
    return ("… " if len(said) > _MOST_SENTENCES else "") + " ".join(said[-_MOST_SENTENCES:])


def basis(judge: str, sees_all: bool, worlds: int) -> str:
    """Return by whom and from which knowledge a game was judged, in a sentence."""
    known = "the cards as they lay" if sees_all else "worlds that fit what the player knew"
    return f"Judged by {judge} in {worlds} playouts of each play in question, in {known}."


def player_name(review: Review, player: int) -> str:
    """Return a player's number and name."""
    name = review.replay.players[player]
    return name if name == f"player_{player}" else f"player_{player} {name}"


def player_row(review: Review, player: int) -> dict[str, Any]:
    """Return what a table of players shows of one, as text."""
    decisions = review.of(player)
    mistakes = sum(one.is_mistake for one in decisions)
    return {
        "name": player_name(review, player),
        "returns": f"{review.replay.returns[player]:.4g}",
        "accuracy": percent(review.accuracy(player)),
        "mistakes": f"{mistakes} of {len(decisions)}",
        "loss": f"{review.loss(player):.3g}",
        "fortune": f"{review.fortune(player):+.3g}",
    }


def percent(accuracy: float | None) -> str:
    """Return an accuracy as text."""
    return "-" if accuracy is None else f"{accuracy:.0f}%"
