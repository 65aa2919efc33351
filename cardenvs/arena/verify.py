"""Playing the games of a store again: every game must reproduce its record."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.store import Store
from cardenvs.arena.workers import prepare_worker
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import CardenvsError
from cardenvs.core.replay import Replay
from cardenvs.core.state import State

_TOGETHER = 200  # rows handed to a process at once


@dataclass(frozen=True)
class Mismatch:
    """A row that is not what playing it again gives.

    Attributes:
        match_id, deal, lineup: which.
        what: what is wrong with it.
    """

    match_id: str
    deal: int
    lineup: int
    what: str

    def __str__(self) -> str:
        return f"match {self.match_id}, deal {self.deal}, lineup {self.lineup}: {self.what}"


def verify(
    store: Store,
    *,
    sample: int | None = None,
    seed: int = 0,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, list[Mismatch]]:
    """Play finished games again and compare.

    Of each row are checked: that every cell can be read; that the match has such a game, with that seating and the seed
    of that deal; that every action is legal in its turn and the game then over; returns, the digest of all events, the
    statistics where there are any, and the number of decisions.

    Args:
        store: whose games.
        sample: number of games to check, drawn evenly from all; None: all.
        seed: of the sample.
        processes: to play in.
        progress: called with (games done, games in all).

    Returns:
        how many games were played again, and the mismatches.

    Raises:
        ArenaError, GameNotFoundError, OptionError: a match is of another version of its game, or the game is missing.
    """
    total = sum(store.count(match_id) for match_id in store.match_ids())
    drawn = None
    if sample is not None and sample < total:
        drawn = np.zeros(total, bool)
        drawn[np.random.default_rng(seed).choice(total, sample, replace=False)] = True
        total = sample
    mismatches = [Mismatch(*row) for row in store.stray()]
    done = 0
    for number, found in _checked(_handfuls(store, drawn, mismatches), processes):
        done += number
        mismatches += found
        if progress is not None:
            progress(done, total)
    return done, mismatches


def _handfuls(
    store: Store, drawn: np.ndarray | None, mismatches: list[Mismatch]
) -> Iterator[tuple[Match, list[GameRecord]]]:
    """The games to be played again; rows that cannot be read are added to `mismatches`."""
    position = 0
    for match_id in store.match_ids():
        match = store.match(match_id)
        handful: list[GameRecord] = []

        def name(where: tuple[Any, Any], what: str, match_id: str = match_id) -> None:
            mismatches.append(Mismatch(match_id, *where, what))

        for record in store.records(match_id, damaged=name):
            if drawn is None or drawn[position]:
                handful.append(record)
            position += 1
            if len(handful) == _TOGETHER:
                yield match, handful
                handful = []
        if handful:
            yield match, handful


def _checked(
    handfuls: Iterator[tuple[Match, list[GameRecord]]], processes: int
) -> Iterator[tuple[int, list[Mismatch]]]:
    if processes == 1:
        for match, records in handfuls:
            yield len(records), check_games(match, records)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=prepare_worker) as pool:
        waiting = []
        for match, records in handfuls:
            waiting.append((len(records), pool.submit(check_games, match, records)))
            if len(waiting) > 2 * processes:
                number, future = waiting.pop(0)
                yield number, future.result()
        for number, future in waiting:
            yield number, future.result()


def check_games(match: Match, records: list[GameRecord]) -> list[Mismatch]:
    """What is wrong with some games of a match."""
    found = []
    for record in records:
        what = mismatch_of(match, record)
        if what is not None:
            found.append(Mismatch(match.id, record.deal, record.lineup, what))
    return found


def mismatch_of(match: Match, record: GameRecord) -> str | None:
    """What is wrong with a game of a match, or None."""
    if not 0 <= record.lineup < len(match.lineups):
        return f"the match has lineups 0 to {len(match.lineups) - 1}"
    if record.seating != match.lineups[record.lineup]:
        return f"its seating is {list(record.seating)}, that of the lineup {list(match.lineups[record.lineup])}"
    if record.seed != match.deal_seed(record.deal):
        return f"its cards are from seed {record.seed}, those of the deal from {match.deal_seed(record.deal)}"
    return _mismatch_played_again(match, record)


def _mismatch_played_again(match: Match, record: GameRecord) -> str | None:
    try:
        state, decisions = play_again(match, record)
    except CardenvsError as error:
        return str(error)
    if not state.is_terminal:
        return f"after its {len(record.actions)} actions the game is not over"
    if tuple(state.returns) != record.returns:
        return f"it returns {state.returns}, but {list(record.returns)} is recorded"
    if record.digest is not None and Replay.of(state).digest != record.digest:
        return "its events differ from the recorded digest"
    if record.statistics is not None and match.game.view.statistics(state) != record.statistics:
        return "its statistics differ from those that are recorded"
    forfeits = sum(action >= FORFEIT for action in record.actions)
    asked = list(record.decisions)
    if sum(asked) != sum(decisions) + forfeits or any(a < d for a, d in zip(asked, decisions, strict=True)):
        return f"its players made {decisions} decisions, but {asked} are recorded"
    return None


def play_again(match: Match, record: GameRecord) -> tuple[State, list[int]]:
    """The state after all actions of a game, and the decisions of each player.

    Raises:
        CardenvsError: an action is refused.
    """
    state = match.game.state_type(match.game, match.options, seed=record.seed)
    decisions = [0] * state.num_players
    for ply, action in enumerate(record.actions):
        if state.is_terminal:
            raise CardenvsError(f"the game is over after {ply} of its {len(record.actions)} actions")
        if action < FORFEIT:
            decisions[state.current_player] += 1
        try:
            state.apply(action)
        except CardenvsError as error:
            raise CardenvsError(f"action {ply} of the recorded ones is refused: {error}") from None
    return state, decisions


def replay_of(match: Match, record: GameRecord) -> Replay:
    """The replay of a game.

    Raises:
        CardenvsError: an action is refused.
    """
    state, _ = play_again(match, record)
    return Replay.of(state, [match.names[agent] for agent in record.seating])
