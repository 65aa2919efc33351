"""Replay the games of a store and check that each reproduces its record."""

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

_CHUNK = 200  # games handed to a process at once


@dataclass(frozen=True)
class Mismatch:
    """A row of a store that is unreadable or differs from the replayed game.

    Attributes:
        match_id, deal, lineup: key of the row.
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
    """Replay finished games and compare them with their records.

    For each row this checks that every cell is readable, that the match has such a game with this seating and seed,
    that every action is legal and the last one ends the game, and that the returns, the digest of all events, the
    statistics (if any) and the number of decisions agree.

    Args:
        store: the store to check.
        sample: number of games to check, drawn uniformly from all; None: all.
        seed: seed of the sample.
        processes: number of processes.
        progress: called with (games done, total games).

    Returns:
        Number of games replayed, and the mismatches.

    Raises:
        ArenaError, OptionError: a match was played with another version of its game, or the row of a match or an
            experiment is unreadable.
        GameNotFoundError: a game is not installed.
    """
    store.experiments()  # raises an error that names a row which reports could not read
    total = sum(store.count(match_id) for match_id in store.match_ids())
    drawn = None
    if sample is not None and sample < total:
        drawn = np.zeros(total, bool)
        drawn[np.random.default_rng(seed).choice(total, sample, replace=False)] = True
        total = sample
    mismatches = [Mismatch(*row) for row in store.stray()]
    done = 0
    for number, found in _checked(_chunks(store, drawn, mismatches), processes):
        done += number
        mismatches += found
        if progress is not None:
            progress(done, total)
    return done, mismatches


def _chunks(
    store: Store, drawn: np.ndarray | None, mismatches: list[Mismatch]
) -> Iterator[tuple[Match, list[GameRecord]]]:
    """Yield the games to check in chunks; add unreadable rows to `mismatches`."""
    position = 0
    for match_id in store.match_ids():
        match = store.match(match_id)
        chunk: list[GameRecord] = []

        def name(where: tuple[Any, Any], what: str, match_id: str = match_id) -> None:
            mismatches.append(Mismatch(match_id, *where, what))

        for record in store.records(match_id, damaged=name):
            if drawn is None or drawn[position]:
                chunk.append(record)
            position += 1
            if len(chunk) == _CHUNK:
                yield match, chunk
                chunk = []
        if chunk:
            yield match, chunk


def _checked(chunks: Iterator[tuple[Match, list[GameRecord]]], processes: int) -> Iterator[tuple[int, list[Mismatch]]]:
    if processes == 1:
        for match, records in chunks:
            yield len(records), check_games(match, records)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=prepare_worker) as pool:
        waiting = []
        for match, records in chunks:
            waiting.append((len(records), pool.submit(check_games, match, records)))
            if len(waiting) > 2 * processes:
                number, future = waiting.pop(0)
                yield number, future.result()
        for number, future in waiting:
            yield number, future.result()


def check_games(match: Match, records: list[GameRecord]) -> list[Mismatch]:
    """Return the mismatches among some games of a match."""
    found = []
    for record in records:
        what = mismatch_of(match, record)
        if what is not None:
            found.append(Mismatch(match.id, record.deal, record.lineup, what))
    return found


def mismatch_of(match: Match, record: GameRecord) -> str | None:
    """Return what is wrong with a game of a match, or None."""
    return seat_mismatch(match, record) or _mismatch_played_again(match, record)


def seat_mismatch(match: Match, record: GameRecord) -> str | None:
    """Return what is wrong with the seats or the seed of a game of a match, or None."""
    if not 0 <= record.lineup < len(match.lineups):
        return f"the match has only lineups 0 to {len(match.lineups) - 1}"
    if record.seating != match.lineups[record.lineup]:
        return f"its seating is {list(record.seating)}, but the lineup's is {list(match.lineups[record.lineup])}"
    if record.seed != match.deal_seed(record.deal):
        return f"its cards are from seed {record.seed}, but the deal's seed is {match.deal_seed(record.deal)}"
    return None


def _mismatch_played_again(match: Match, record: GameRecord) -> str | None:
    try:
        state, decisions = play_again(match, record)
    except CardenvsError as error:
        return str(error)
    if not state.is_terminal:
        return f"the game is not over after its {len(record.actions)} actions"
    if tuple(state.returns) != record.returns:
        return f"it returns {state.returns}, but {list(record.returns)} is recorded"
    if record.digest is not None and Replay.of(state).digest != record.digest:
        return "its events differ from the recorded digest"
    if record.statistics is not None and match.game.view.statistics(state) != record.statistics:
        return "its statistics differ from the recorded ones"
    forfeits = sum(action >= FORFEIT for action in record.actions)
    asked = list(record.decisions)
    if sum(asked) != sum(decisions) + forfeits or any(a < d for a, d in zip(asked, decisions, strict=True)):
        return f"its players make {decisions} decisions, but {asked} are recorded"
    return None


def play_again(match: Match, record: GameRecord) -> tuple[State, list[int]]:
    """Return the state after all actions of a game, and the number of decisions by player.

    Raises:
        CardenvsError: an action is illegal, or comes after the end of the game.
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
            raise CardenvsError(f"recorded action {ply} is illegal: {error}") from None
    return state, decisions


def replay_of(match: Match, record: GameRecord) -> Replay:
    """Return the replay of a game.

    Raises:
        CardenvsError: an action is illegal, or comes after the end of the game.
    """
    state, _ = play_again(match, record)
    return Replay.of(state, [match.names[agent] for agent in record.seating])
