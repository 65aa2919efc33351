"""Finished games as trajectories: what each player saw, did and got, decision by decision.

An episode is one game from one seat. It contains only what that seat could know: nothing in it depends on what others
hold or on how many actions they took in between. Deals have numbers instead of seeds.
"""

import json
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

import numpy as np

from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.store import Store
from cardenvs.arena.verify import seat_mismatch
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import ArenaError, CardenvsError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State


@dataclass(frozen=True)
class Episode:
    """One game from one seat: T decisions.

    Attributes:
        match: number of the match in its store, from 0.
        deal, lineup: which game of the match. All lineups of a deal have the same cards.
        seat: the player.
        agent: the agent's name.
        options: options of the game, as JSON.
        observations: (T + 1, D) of the game's dtype, at each decision and at the end of the game.
        legal_actions: T arrays of ids, int32, ascending.
        actions: (T,) int32.
        forced: (T,) bool, whether the game's forced action was played because the agent failed.
        rewards: (T,) float32, from one decision to the next one or the end.
        seed: seed of the deal; whoever knows it knows all cards.
    """

    match: int
    deal: int
    lineup: int
    seat: int
    agent: str
    options: str
    observations: np.ndarray
    legal_actions: list[np.ndarray]
    actions: np.ndarray
    forced: np.ndarray
    rewards: np.ndarray
    seed: int

    def __len__(self) -> int:
        """Return T."""
        return len(self.actions)

    @property
    def returns(self) -> np.ndarray:
        """(T,) float32, the sum of rewards from each decision to the end."""
        return np.cumsum(self.rewards[::-1], dtype=np.float64)[::-1].astype(np.float32)


class Games:
    """The finished games of a store, all of one game with one observation layout.

    Attributes:
        game: the Game.
        options: options of the first match; other matches may differ in options that change no observation.
        matches: (number in the store, Match) of each match.
        total: number of finished games.
    """

    def __init__(self, store: Store, game: str | None = None) -> None:
        """Read the matches of a store.

        Args:
            store: the store.
            game: include only matches of this game; None: all.

        Raises:
            ArenaError: there is no match, or several games or layouts; or a match is of another version of its game.
            GameNotFoundError, OptionError: a game is not installed, or its options have changed.
        """
        found = [(number, store.match(match_id)) for number, match_id in enumerate(store.match_ids())]
        self.matches = [pair for pair in found if game in (None, pair[1].game.name)]
        names = sorted({match.game.name for _, match in found})
        if not self.matches:
            has = f"it has {', '.join(names)}" if names else "it is empty"
            raise ArenaError(f"{store.path} has no games{f' of {game}' if game else ''}; {has}")
        if len({match.game.name for _, match in self.matches}) > 1:
            raise ArenaError(f"{store.path} has several games; pick one with --game: {', '.join(names)}")
        self._store = store
        self.game: Game = self.matches[0][1].game
        self.options: Options = self.matches[0][1].options
        other = [match for _, match in self.matches if self._shape(match.options) != self._shape(self.options)]
        if other:
            here, there = self.options.changed(), other[0].options.changed()
            raise ArenaError(
                f"{store.path} has matches of {self.game.name} with observations of several layouts, with options such "
                f"as {here} and {there}; export them from stores of their own"
            )
        self.total = sum(store.count(match.id) for _, match in self.matches)

    def _shape(self, options: Options) -> tuple[str, int]:
        return self.game.layout(options).hash, self.game.num_actions(options)

    def episodes(
        self, agents: Container[str] | None = None, on_game: Callable[[int, int], None] = lambda done, total: None
    ) -> Iterator[Episode]:
        """Yield the episodes of all games, seat by seat. A seat without decisions has no episode.

        Every game is replayed and checked against its record.

        Args:
            agents: names of the agents whose episodes to yield; None: all.
            on_game: called with (games done, total games).

        Raises:
            ArenaError: a row is damaged, or a game does not play as recorded.
        """
        done = 0
        for number, match in self.matches:
            for record in self._store.records(match.id):
                yield from _episodes(number, match, record, agents)
                done += 1
                on_game(done, self.total)


def _episodes(number: int, match: Match, record: GameRecord, agents: Container[str] | None) -> Iterator[Episode]:
    wrong = seat_mismatch(match, record)
    if wrong is None:
        try:
            state = match.game.state_type(match.game, match.options, seed=record.seed)
            seats = recorded(state, record.actions, _forced(record))
        except CardenvsError as error:
            wrong = str(error)
        else:
            if tuple(state.returns) != record.returns or not state.is_terminal:
                wrong = "it does not end with the recorded returns"
    if wrong is not None:
        where = f"match {match.id}, deal {record.deal}, lineup {record.lineup}"
        raise ArenaError(f"{where} does not play as recorded: {wrong}. `cardenvs verify` names all such games")
    options = json.dumps(match.options.as_dict())
    for seat, taken in enumerate(seats):
        agent = match.names[record.seating[seat]]
        if len(taken.actions) and (agents is None or agent in agents):
            yield Episode(number, record.deal, record.lineup, seat, agent, options, *taken.arrays(), record.seed)


def _forced(record: GameRecord) -> set[int]:
    """Return the plies in which the game's forced action was played."""
    return {note["ply"] for note in record.notes if note.get("outcome") == "forced" and type(note.get("ply")) is int}


class _Seat:
    """What one player has seen, done and got so far."""

    def __init__(self) -> None:
        self.observations: list[np.ndarray] = []
        self.legal_actions: list[np.ndarray] = []
        self.actions: list[int] = []
        self.forced: list[bool] = []
        self.returns: list[float] = []  # returns so far, at each decision and at the end

    def decide(self, state: State, player: int, action: int, forced: bool) -> None:
        self.see(state, player)
        self.legal_actions.append(np.array(state.legal_actions(), np.int32))
        self.actions.append(action)
        self.forced.append(forced)

    def see(self, state: State, player: int) -> None:
        self.observations.append(state.observation(player))
        self.returns.append(state.returns[player])

    def arrays(self) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
        rewards = np.diff(np.array(self.returns)).astype(np.float32)
        return (
            np.stack(self.observations), self.legal_actions, np.array(self.actions, np.int32),
            np.array(self.forced, np.bool_), rewards,
        )  # fmt: skip


def recorded(state: State, actions: tuple[int, ...], forced: Container[int] = ()) -> list[_Seat]:
    """Play a game and return what each player saw, did and got.

    Args:
        state: the game at its start, played in place.
        actions: all actions in order, including codes for forfeits, which are not decisions.
        forced: plies in which the game's forced action was played.

    Raises:
        CardenvsError: an action is illegal, or comes after the end.
    """
    seats = [_Seat() for _ in range(state.num_players)]
    for ply, action in enumerate(actions):
        if state.is_terminal:
            raise CardenvsError(f"the game is over after {ply} of its {len(actions)} actions")
        if action < FORFEIT:
            player = state.current_player
            seats[player].decide(state, player, action, ply in forced)
        state.apply(action)
    for player, seat in enumerate(seats):
        seat.see(state, player)
    return seats
