"""Playing many games of one table, in this process or in several, and summing them up.

A game depends on its seed, the options and the agents alone, so each can be played again by itself. One that fails (an
agent, the rules or a check raises, or the process dies) is kept as a failure with its seed; the others go on.
"""

import contextlib
import functools
import hashlib
import itertools
import json
import math
import os
import statistics
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from cardenvs.agents.base import Agent
from cardenvs.agents.seating import Decision, Seat, play_out
from cardenvs.agents.seeds import guest_seed, new_key
from cardenvs.agents.specs import agent_fingerprint, is_guest, make_agent
from cardenvs.arena.results.statistics import estimate
from cardenvs.arena.workers import WorkerPool
from cardenvs.core.errors import ArenaError
from cardenvs.core.files import write_whole
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.results import ResultCheck
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State, checked_seed
from cardenvs.core.view import GameStatistics

if TYPE_CHECKING:
    from cardenvs.arena.simulations import SimulationStore

FORMAT = "cardenvs-simulation-1"
_LONGEST_TRIAL = 2000  # actions


@dataclass(frozen=True)
class Simulation:
    """A table at which many games are played.

    Attributes:
        game: the Game.
        options: its checked options.
        agents: specs, see cardenvs.agents.specs; one for each player.
        guests_key: 32 hex digits, of the seeds of agents that cardenvs does not bring along; drawn if not given.
    """

    game: Game
    options: Options
    agents: tuple[str, ...]
    guests_key: str = field(default_factory=new_key, compare=False)

    def __post_init__(self) -> None:
        """Refuse another number of agents than of players."""
        if len(self.agents) != self.options.num_players:
            raise ArenaError(
                f"{self.game.name} has {self.options.num_players} players here; got {len(self.agents)} agents"
            )

    @functools.cached_property
    def id(self) -> str:
        """Names what is played: game, options and agents, with the files behind them."""
        agents = [(spec, agent_fingerprint(spec)) for spec in self.agents]
        what = [self.game.name, self.game.layout(self.options).hash, self.options.as_dict(), agents]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class GameFailure:
    """Why a game failed.

    Attributes:
        kind: class of the error, or "ProcessDied".
        message: of the error, in one line.
        ply: actions applied before it; None if not known.
        player: who was to act; None if nobody was, or not known.
        traceback: of the error, or empty.
    """

    kind: str
    message: str
    ply: int | None = None
    player: int | None = None
    traceback: str = ""


@dataclass(frozen=True)
class PlayedGame:
    """One game, over or failed.

    Attributes:
        seed: from which it can be played again.
        plies: actions applied.
        ms: wall-clock time it took.
        returns: by player; empty if it failed.
        winners: players; empty if it failed.
        statistics: of the game, see View.statistics.
        failure: None if it was played to its end.
    """

    seed: int
    plies: int
    ms: float
    returns: tuple[float, ...] = ()
    winners: tuple[int, ...] = ()
    statistics: GameStatistics = field(default_factory=GameStatistics)
    failure: GameFailure | None = None

    def as_dict(self) -> dict[str, Any]:
        """The game as JSON values, without its counts, which are for sums."""
        return {
            "seed": self.seed,
            "plies": self.plies,
            "ms": round(self.ms, 3),
            "returns": list(self.returns),
            "winners": list(self.winners),
            "figures": self.statistics.figures,
            "failure": None if self.failure is None else asdict(self.failure),
        }


class GameSeeds(Sequence[int]):
    """The seeds of many games under one seed, each computed on demand. A longer list extends a shorter one.

    Attributes:
        seed: 0..2**63-1, of all of them.
    """

    def __init__(self, seed: int, games: int) -> None:
        self.seed, self._numbers = checked_seed(seed), range(games)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, which: int) -> int: ...

    @overload
    def __getitem__(self, which: slice) -> list[int]: ...

    def __getitem__(self, which: int | slice) -> int | list[int]:
        if isinstance(which, slice):
            return [self[number] for number in self._numbers[which]]
        return derived_seed(self.seed, "game", self._numbers[which])


def prepare(simulation: Simulation) -> None:
    """Compile or load what games need by playing a random game, so that no game's time includes compiling."""
    game, options = simulation.game, simulation.options
    with contextlib.suppress(Exception):  # the games that count will tell
        state = game.state_type(game, options, seed=0)
        for ply in range(_LONGEST_TRIAL):
            if state.is_terminal:
                break
            state.apply(state.policy_action("random", derived_seed(0, ply)))
        game.view.conserved(state.record)
        game.view.statistics(state)


def simulate(
    simulation: Simulation, seeds: Sequence[int], processes: int = 1, store: "SimulationStore | None" = None
) -> Iterator[PlayedGame]:
    """Play a game for each seed and yield them in that order.

    Args:
        simulation: the table.
        seeds: 0..2**63-1 each.
        processes: how many to play in. A script that asks for more than one needs the usual
            `if __name__ == "__main__":`.
        store: where games are entered as soon as they are over, and taken from if they are there.

    Raises:
        ArenaError: no processes, they do not start, or the store cannot be used.
        AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
    """
    if processes < 1:
        raise ArenaError(f"a simulation needs at least one process; got {processes}")
    if store is None:
        yield from _played(simulation, iter(seeds), len(seeds), processes, lambda game: None)
        return
    store.begin(simulation, seeds.seed if isinstance(seeds, GameSeeds) else None)
    there = store.finished(simulation)
    missing = (seed for seed in seeds if seed not in there)
    some = max(1, len(seeds) - len(there))  # at least as many as are left
    with contextlib.closing(
        _played(simulation, missing, some, processes, functools.partial(store.add, simulation))
    ) as played:
        for seed in seeds:
            yield store.game(simulation, seed) if seed in there else next(played)


def _played(
    simulation: Simulation,
    seeds: Iterator[int],
    number: int,
    processes: int,
    keep: Callable[[PlayedGame], None],
) -> Generator[PlayedGame, None, None]:
    """Play a game for each of about `number` seeds; `keep` is called with each as soon as it is over."""
    with contextlib.closing(_Table(simulation)) as table:  # an agent that cannot be made is known at once
        for seed in seeds:
            game = table.play(seed)
            keep(game)
            yield game
            if processes > 1:
                break
    if processes > 1 and number > 1:
        yield from _play_apart(simulation, seeds, number - 1, min(processes, number - 1), keep)


# ---------------------------------------------------------------------------------------------------------------
# One game after another


class _Table:
    """Agents at a table, who play one game after another."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._agents = [self._made(spec) for spec in simulation.agents]

    def _made(self, spec: str) -> Agent:
        return make_agent(spec, self._simulation.game, self._simulation.options)

    def close(self) -> None:
        """No more games: end what agents have running."""
        for agent in self._agents:
            if hasattr(agent, "close"):
                agent.close()

    def _replace_agents(self) -> None:
        """Make new agents after a failed game, except those that get a new process for each game."""
        for player, agent in enumerate(self._agents):
            if not getattr(agent, "is_isolated", False):
                with contextlib.suppress(Exception):  # an agent that has failed may fail once more
                    if hasattr(agent, "close"):
                        agent.close()
                self._agents[player] = self._made(self._simulation.agents[player])

    def play(self, seed: int) -> PlayedGame:
        """Play a game to its end, or until something fails."""
        of = self._simulation
        started = time.perf_counter()
        state: State | None = None
        try:
            state = of.game.state_type(of.game, of.options, seed=seed)
            self._play_on(state)
            statistics = of.game.view.statistics(state)
        except Exception as error:  # whatever is raised is this game's failure
            ms = 1000 * (time.perf_counter() - started)
            self._replace_agents()
            return PlayedGame(seed, 0 if state is None else state.ply, ms, failure=_failure(error, state))
        ms = 1000 * (time.perf_counter() - started)
        winners = _best(state.returns) if statistics.winners is None else statistics.winners
        return PlayedGame(seed, state.ply, ms, tuple(state.returns), tuple(winners), statistics)

    def _play_on(self, state: State) -> None:
        most, check = state.game.max_length(state.options), ResultCheck(state)
        seats = [Seat(agent, p, self._seed(state.seed, p)) for p, agent in enumerate(self._agents)]

        def check_length(state: State, decision: Decision) -> None:
            if state.ply >= most and not state.is_terminal:
                raise ArenaError(f"the game is not over after {most} actions, the most that {state.game.name} can have")

        for seat in seats:
            seat.begin(state)
        play_out(state, seats, check_length)
        for seat in seats:
            seat.end(state)
        fault = check.fault(state)
        if fault is not None:
            raise ArenaError(fault)

    def _seed(self, seed: int, player: int) -> int:
        """The seed of an agent in the game of a seed."""
        of = self._simulation
        if is_guest(of.agents[player]):
            return guest_seed(of.guests_key, seed, player)
        return derived_seed(seed, "player", player)


def _best(returns: Sequence[float]) -> list[int]:
    return [player for player, value in enumerate(returns) if value == max(returns)]


def _failure(error: Exception, state: State | None) -> GameFailure:
    message = " ".join(str(error).split())
    trace = "".join(traceback.format_exception(error)).rstrip()
    if state is None:
        return GameFailure(type(error).__name__, message, traceback=trace)
    player = None if state.is_terminal else state.current_player
    return GameFailure(type(error).__name__, message, state.ply, player, trace)


# ---------------------------------------------------------------------------------------------------------------
# Several processes


_Job = tuple[int, int]  # number of a game in its order, seed


class _SeedJobs:
    """The games that are left to play, as jobs (number of the game, seed) of one group; see cardenvs.arena.workers."""

    def __init__(self, seeds: Iterator[int], games: int) -> None:
        """Jobs for about `games` seeds."""
        self._jobs, self.left = enumerate(seeds), games
        self._again: deque[_Job] = deque()  # of workers that died
        self._started, self._taken = time.monotonic(), 0
        self.is_over = False

    @property
    def pace(self) -> float:
        """Games taken a second, so far."""
        return self._taken / max(1e-9, time.monotonic() - self._started)

    def take(self, most: int) -> tuple[int, list[_Job]] | None:
        """Up to `most` games."""
        jobs = [self._again.popleft() for _ in range(min(most, len(self._again)))]
        jobs += itertools.islice(self._jobs, most - len(jobs))
        self.left -= len(jobs)
        self._taken += len(jobs)
        self.is_over = not jobs
        return (0, jobs) if jobs else None

    def rescue(self, unfinished: list[_Job], exit_code: int | None) -> Iterator[tuple[int, tuple[int, PlayedGame]]]:
        """The failed game of a worker that has died; its other games are played by others."""
        if unfinished:
            (number, seed), *others = unfinished
            self._again.extendleft(reversed(others))
            failure = GameFailure("ProcessDied", f"the process that played it ended (exit code {exit_code})")
            yield 0, (number, PlayedGame(seed, 0, 0.0, failure=failure))


class _SimulationPlayer:
    """Plays games in a worker."""

    def __init__(self, simulation: Simulation) -> None:
        self._table = _Table(simulation)
        prepare(simulation)

    def play(self, number: int, jobs: Iterator[_Job]) -> Iterator[tuple[int, PlayedGame]]:
        """Each game with its number."""
        for which, seed in jobs:
            yield which, self._table.play(seed)

    def close(self) -> None:
        """End what agents have running."""
        self._table.close()


def _play_apart(
    simulation: Simulation, seeds: Iterator[int], games: int, processes: int, keep: Callable[[PlayedGame], None]
) -> Iterator[PlayedGame]:
    """Play in several processes and yield the games in the order of their seeds."""
    jobs = _SeedJobs(seeds, games)
    early: dict[int, PlayedGame] = {}
    next_number = 0
    with WorkerPool(processes, functools.partial(_SimulationPlayer, simulation), jobs.rescue) as workers:
        for _, (number, game) in workers.play(jobs):
            keep(game)
            early[number] = game
            while next_number in early:
                yield early.pop(next_number)
                next_number += 1


def usable_processes() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---------------------------------------------------------------------------------------------------------------
# Sums


class Tally:
    """Sums up games as they are played.

    Attributes:
        simulation: the table.
        games: all so far, without their counts.
        counts: by group, by name: how often in all, and in how many games.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.games: list[PlayedGame] = []
        self.counts: dict[str, dict[str, list[int]]] = {}
        self._started = time.perf_counter()
        self._seconds = 0.0

    def add(self, game: PlayedGame) -> None:
        """Count a game."""
        for group, counts in game.statistics.counts.items():
            sums = self.counts.setdefault(group, {})
            for name, count in counts.items():
                both = sums.setdefault(name, [0, 0])
                both[0] += count
                both[1] += count > 0
        light = GameStatistics(game.statistics.figures)
        self.games.append(PlayedGame(**{**game.__dict__, "statistics": light}))
        self._seconds = time.perf_counter() - self._started

    @property
    def failed(self) -> list[PlayedGame]:
        """The games that failed."""
        return [game for game in self.games if game.failure is not None]

    def summary(self) -> dict[str, Any]:
        """All sums, as JSON values.

        Rates are of wall-clock time from the making of this tally to the last game. Intervals are 95% Student t
        intervals over games. Seats and agents have figures only if a game was finished.
        """
        done = [game for game in self.games if game.failure is None]
        plies = sum(game.plies for game in self.games)
        seconds = max(self._seconds, 1e-9)
        specs = self.simulation.agents
        seats = [[seat] for seat in range(len(specs))]
        tables = [[seat for seat, other in enumerate(specs) if other == spec] for spec in dict.fromkeys(specs)]
        return {
            "games": len(self.games),
            "failed": len(self.games) - len(done),
            "failed_seeds": [game.seed for game in self.failed],
            "seconds": seconds,
            "games_per_second": len(self.games) / seconds,
            "actions_per_second": plies / seconds,
            "plies": _spread([[game.plies] for game in done]),
            "ms": _spread([[game.ms] for game in done]),
            "seats": [{"seat": at[0], **self._of(done, at)} for at in seats] if done else [],
            "agents": [{"seats": at, **self._of(done, at)} for at in tables] if done else [],
            "counts": {
                group: {name: {"total": total, "games": games} for name, (total, games) in counts.items()}
                for group, counts in self.counts.items()
            },
        }

    def _of(self, done: list[PlayedGame], seats: list[int]) -> dict[str, Any]:
        """How some seats, of one agent, have done."""
        figures = done[0].statistics.figures
        return {
            "agent": self.simulation.agents[seats[0]],
            "won": sum(game.winners == (seat,) for game in done for seat in seats),
            "shared": sum(len(game.winners) > 1 and seat in game.winners for game in done for seat in seats),
            "returns": _spread([[game.returns[seat] for seat in seats] for game in done]),
            "figures": {
                name: _spread([[game.statistics.figures[name][seat] for seat in seats] for game in done])
                for name in figures
            },
        }

    def as_dict(self, command: str) -> dict[str, Any]:
        """Everything, as JSON values; `command` is the one that plays it again."""
        of = self.simulation
        return {
            "format": FORMAT,
            "game": of.game.name,
            "options": of.options.as_dict(),
            "agents": list(of.agents),
            "command": command,
            "summary": self.summary(),
            "games": [game.as_dict() for game in self.games],
        }

    def write(self, path: Path, command: str) -> None:
        """Write `as_dict` to a file; an existing one is replaced in one go."""
        write_whole(path, json.dumps(self.as_dict(command), indent=1, allow_nan=False) + "\n")


def _spread(games: list[list[float]]) -> dict[str, float | None] | None:
    """Mean with its interval over games, standard deviation and extremes of values, some from each game."""
    if not games:
        return None
    values = [value for game in games for value in game]
    mean = estimate([statistics.fmean(game) for game in games])
    low, high = (None if math.isinf(bound) else bound for bound in (mean.low, mean.high))
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return {"mean": mean.mean, "low": low, "high": high, "sd": deviation, "min": min(values), "max": max(values)}
