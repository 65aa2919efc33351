"""The decisions of a recorded game, each compared with the best alternative by its judge.

A decision is judged in three steps. All plays are tried in a few worlds; the best of these and the play that was made
are tried in more; and the best of those is compared with the play made in worlds of its own, pair by pair. Because the
last worlds are not those that chose the best play, the difference is not biased by that choice. It counts as a loss if
it is more than chance explains.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardenvs.agents.playouts import Play
from cardenvs.core.codes import FORFEIT
from cardenvs.core.replay import Replay
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.core.view import Candidate
from cardenvs.review.judges import Judge

WORLDS = 200
AHEAD = 2.0  # standard errors by which a play must be better than the one made
_FIRST_LOOK = 8  # one in so many worlds is spent on each play at first
_FEWEST = 10  # worlds of the first look, and of any comparison
_KEPT = 6  # plays that are looked at again


@dataclass(frozen=True)
class Judged:
    """One decision with a choice.

    Attributes:
        ply: number of actions before it.
        player: who decided.
        phase: of the game, as its rules name it.
        played, best: the play made and the best one found, in words; equal if nothing clearly better was found.
        plays: number of plays compared.
        value: expected return of the player after the play made.
        loss: how much more the best play is expected to return; 0 if the difference may be chance.
        error: standard error of that difference; 0 if the play made looked best.
        chance_level: expected return of a play chosen at random.
        values: the best plays, in words, with their expected returns, and the play made.
        actions: number of actions of the play made.
    """

    ply: int
    player: int
    phase: str
    played: str
    best: str
    plays: int
    value: float
    loss: float
    error: float
    chance_level: float
    values: tuple[tuple[str, float], ...]
    actions: int = 1

    @property
    def best_value(self) -> float:
        """Expected return of the best play found."""
        return self.value + self.loss

    @property
    def is_mistake(self) -> bool:
        """Whether a play was found that is better by more than chance explains."""
        return self.loss > 0


@dataclass(frozen=True)
class Review:
    """A reviewed game.

    Attributes:
        replay: the game.
        judge: who judged.
        worlds, seed: in how many worlds the last comparison of each decision was made, and the seed of all worlds.
        players: whose decisions were judged.
        decisions: in order.
        is_over: whether the game was played to its end.
    """

    replay: Replay
    judge: Judge
    worlds: int
    seed: int
    players: tuple[int, ...]
    decisions: tuple[Judged, ...]
    is_over: bool = True

    def of(self, player: int) -> list[Judged]:
        """Return a player's decisions."""
        return [one for one in self.decisions if one.player == player]

    def loss(self, player: int) -> float:
        """Return what a player's mistakes cost it in expectation, in returns."""
        return sum(one.loss for one in self.of(player))

    def accuracy(self, player: int) -> float | None:
        """Return how well a player chose; see `accuracy`."""
        return accuracy(self.of(player))

    def fortune(self, player: int) -> float:
        """Return what luck and the other players' choices brought a player: the return that its first decision let it
        expect, its own mistakes taken off, against what it got.
        """
        decisions = self.of(player)
        if not decisions:
            return 0.0
        return self.replay.returns[player] - decisions[0].best_value + self.loss(player)

    @cached_property
    def mistakes(self) -> list[Judged]:
        """All mistakes, the most expensive first."""
        return sorted((one for one in self.decisions if one.is_mistake), key=lambda one: -one.loss)


def accuracy(decisions: Sequence[Judged]) -> float | None:
    """Return how well decisions were made, in percent of what choosing the best plays instead of random ones gains: 100
    if nothing clearly better was found, 0 as by chance; None if there was nothing to gain.
    """
    to_gain = sum(max(one.best_value - one.chance_level, 0.0) for one in decisions)
    return 100 * (1 - sum(one.loss for one in decisions) / to_gain) if to_gain > 0 else None


def review_game(
    replay: Replay,
    judge: Judge,
    *,
    players: Sequence[int] | None = None,
    worlds: int = WORLDS,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Review:
    """Judge the decisions of a game.

    Args:
        replay: the game, finished or not.
        judge: see `cardenvs.review.judges.judge_of`.
        players: whose decisions; by default all players'.
        worlds: worlds in which each decision is compared with the best other one, at least 10.
        seed: 0..2**63-1, of all worlds. The same seed gives the same review.
        progress: called with the plies looked at and their number.

    Raises:
        ValueError: fewer than 10 worlds, or there is no such player.
    """
    if worlds < _FEWEST:
        raise ValueError(f"a review needs at least {_FEWEST} worlds; got {worlds}")
    wanted = tuple(range(len(replay.players))) if players is None else tuple(players)
    for player in wanted:
        if not 0 <= player < len(replay.players):
            raise ValueError(f"this game has players 0 to {len(replay.players) - 1}; got {player}")
    state, judged, total = replay.state_at(0), [], len(replay.actions)
    taken = 0  # plies that belong to a play already judged
    for ply, action in enumerate(replay.actions):
        progress(ply, total)
        if ply >= taken and action < FORFEIT and state.current_player in wanted:
            decision = _judge(state, replay.actions[ply:], judge, worlds, seed)
            if decision is not None:
                judged.append(decision)
                taken = ply + decision.actions
        state.apply(action)
    progress(total, total)
    return Review(replay, judge, worlds, seed, wanted, tuple(judged), state.is_terminal)


def _judge(state: State, ahead: Sequence[int], judge: Judge, worlds: int, seed: int) -> Judged | None:
    """Judge the decision of the player to act, who went on to play `ahead`; None if there was nothing to choose."""
    candidates = state.candidates()
    if len(state.legal_actions()) == 1 or len(candidates) == 1:
        return None
    made = _made(state, candidates, ahead)
    labels = {one.actions: one.label for one in candidates}
    plays = list(labels)
    if made not in labels:
        plays.append(made)
        labels[made] = ", ".join(_labels(state, made))
    compared = _compared(state, plays, made, judge, worlds, derived_seed(seed, state.current_player, state.ply))
    values = sorted(((labels[play], value) for play, value in compared.values.items()), key=lambda one: -one[1])
    return Judged(
        state.ply, state.current_player, state.phase, labels[made], labels[compared.best], len(plays), compared.value,
        compared.loss, compared.error, compared.chance_level, tuple(values), len(made),
    )  # fmt: skip


def _made(state: State, candidates: Sequence[Candidate], ahead: Sequence[int]) -> Play:
    """Return the play that was made: the longest candidate that begins `ahead`, or else all until the turn passed."""
    begun = [one.actions for one in candidates if tuple(ahead[: len(one.actions)]) == one.actions]
    if begun:
        return max(begun, key=len)
    if max(len(one.actions) for one in candidates) == 1:
        return (ahead[0],)
    return tuple(_until_the_turn_passes(state, ahead))


def _until_the_turn_passes(state: State, ahead: Sequence[int]) -> Iterator[int]:
    player, world = state.current_player, state.clone()
    for action in ahead:
        if world.is_terminal or world.current_player != player or action >= FORFEIT:
            return
        yield action
        world.apply(action)


def _labels(state: State, play: Play) -> Iterator[str]:
    world = state.clone()
    for action in play:
        yield world.action_label(action)
        world.apply(action)


@dataclass(frozen=True)
class _Compared:
    """The plays of one decision after they were tried: fields as in `Judged`, with plays in place of words."""

    best: Play
    value: float
    loss: float
    error: float
    chance_level: float
    values: dict[Play, float]


def _compared(state: State, plays: list[Play], made: Play, judge: Judge, worlds: int, seed: int) -> _Compared:
    def tried(purpose: str, some: list[Play], rounds: int) -> np.ndarray:
        return judge.returns(state, some, derived_seed(seed, purpose), rounds)

    look = tried("first look", plays, max(_FEWEST, worlds // _FIRST_LOOK)).mean(0)
    kept = [plays[k] for k in np.argsort(-look, kind="stable")[:_KEPT]]
    kept = kept if made in kept else [*kept, made]
    second = tried("second look", kept, max(_FEWEST, worlds // 2)).mean(0)
    best = kept[int(second.argmax())]
    pair = tried("comparison", [made, best], worlds)
    value, ahead = float(pair[:, 0].mean()), pair[:, 1] - pair[:, 0]
    error, gain = float(ahead.std(ddof=1)) / math.sqrt(worlds), float(ahead.mean())
    is_clear = best != made and gain > AHEAD * error
    # The plays of a look share its worlds, and so do those of the pair: levels are carried over from the play made.
    chance_level = value + float(look.mean() - look[plays.index(made)])
    values = {play: value + float(mean - second[kept.index(made)]) for play, mean in zip(kept, second, strict=True)}
    if is_clear:
        values[best] = value + gain
    return _Compared(best if is_clear else made, value, gain if is_clear else 0.0, error, chance_level, values)


def document(review: Review) -> dict[str, Any]:
    """Return a review as JSON values."""
    replay = review.replay
    players = [
        {
            "player": player, "name": replay.players[player], "return": replay.returns[player],
            "decisions": len(review.of(player)), "mistakes": sum(one.is_mistake for one in review.of(player)),
            "loss": review.loss(player), "accuracy": review.accuracy(player),
            "fortune": review.fortune(player),
        }
        for player in review.players
    ]  # fmt: skip
    decisions = [
        {
            "ply": one.ply, "player": one.player, "phase": one.phase, "played": one.played, "best": one.best,
            "plays": one.plays, "value": one.value, "loss": one.loss, "error": one.error,
            "chance_level": one.chance_level, "values": [list(pair) for pair in one.values], "actions": one.actions,
        }
        for one in review.decisions
    ]  # fmt: skip
    return {
        "format": "cardenvs-review", "format_version": 1, "game": replay.game.name, "options": replay.options,
        "judge": review.judge.spec, "with_all_cards": review.judge.sees_all, "worlds": review.worlds,
        "seed": review.seed, "players": players, "decisions": decisions,
    }  # fmt: skip
