"""Play the games of a plan on a Ray cluster. Needs the extra `ray`."""

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from typing import Any, Self

from cardenvs.arena.backends import Backend, Finished, MatchPlayer
from cardenvs.arena.match import Match
from cardenvs.arena.plan import Plan
from cardenvs.arena.play import PlaySettings
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.workers import chunk_size, prepare_worker
from cardenvs.core.checks import short
from cardenvs.core.errors import ArenaError, CardenvsError, require

_LARGEST_CHUNK = 32  # games handed at once to a worker, which returns them together
_CONNECT_SECONDS = 5.0
_MOST_LOSSES = 3  # losses per worker, without a game in between


class RayBackend(Backend):
    """Plays the first game of each match in this process, and the others in actors of a cluster.

    An actor that is lost is replaced, and its games are played again.
    """

    def __enter__(self) -> Self:
        """Make the agents.

        Raises:
            MissingExtraError: Ray is not installed.
            AgentError, PolicyNotFoundError: an agent cannot be made.
        """
        require("ray", "ray")
        return super().__enter__()

    def play(self, plan: Plan) -> Finished:
        """Play the games of a plan and yield each as it ends.

        Raises:
            ArenaError: the cluster of RAY_ADDRESS cannot be reached, or actors are lost again and again.
        """
        yield from self._play_first_games(plan)
        if plan.is_over:
            return
        side_by_side = any(pool.io_bound or pool.has_batches for pool in self._pools)
        most = max(_LARGEST_CHUNK, self._settings.batch if side_by_side else 0)
        with ray_cluster(self._processes), _Actors(self._matches, self._settings, self._processes) as actors:
            yield from actors.play(plan, most)


class _Actors:
    """Actors of a cluster that play games. A context manager: leaving it ends them."""

    def __init__(self, matches: Sequence[Match], settings: PlaySettings, number: int) -> None:
        import ray

        self._ray: Any = ray
        self._settings, self._number = settings, number
        self._class: Any = ray.remote(num_cpus=1)(_Player)
        self._matches = ray.put(list(matches))
        self._starting: dict[Any, Any] = {}  # actors by the reference that becomes ready when they start
        self._playing: dict[Any, tuple[Any, tuple[int, list[Job]]]] = {}  # actors and games by reference of the results
        self._free: list[Any] = []
        self._losses = 0  # since the last results
        for _ in range(number):
            self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for actor in (*self._free, *self._starting.values(), *(actor for actor, _ in self._playing.values())):
            self._ray.kill(actor)

    def play(self, plan: Plan, most: int) -> Finished:
        """Play the games of a plan, up to `most` in one call of an actor."""
        while True:
            while self._free and (taken := plan.take(chunk_size(plan, self._number, most))) is not None:
                actor = self._free.pop()
                self._playing[actor.play.remote(*taken)] = actor, taken
            if not self._playing and (self._free or plan.check_time() or not plan.left):
                return
            (ready,), _ = self._ray.wait([*self._playing, *self._starting], num_returns=1)
            yield from self._hear(ready, plan)

    def _start(self) -> None:
        # A cluster that has lost a machine may lack room for an actor, so only actors that have started get games.
        actor = self._class.remote(self._matches, self._settings)
        self._starting[actor.is_ready.remote()] = actor

    def _hear(self, ready: Any, plan: Plan) -> Finished:
        """Handle an actor that has started, has played its games, or is lost."""
        if ready in self._starting:
            actor, taken = self._starting.pop(ready), None
        else:
            actor, taken = self._playing.pop(ready)
        try:
            results, error = self._ray.get(ready)
        except self._ray.exceptions.RayError as lost:
            if taken is not None:
                number, jobs = taken
                plan.put_back((number, job) for job in reversed(jobs))
            self._note_loss(lost)
            self._start()
            return
        self._free.append(actor)
        if taken is not None:
            self._losses = 0
        yield from results
        if error is not None:
            raise error

    def _note_loss(self, lost: Exception) -> None:
        self._losses += 1
        if isinstance(lost, self._ray.exceptions.RayTaskError) or self._losses > _MOST_LOSSES * self._number:
            raise ArenaError(
                f"Ray workers are lost again and again ({type(lost).__name__}: {' '.join(str(lost).split())[:300]}); "
                "finished games are kept, resume to play the missing ones"
            ) from lost


class _Player:
    """Plays chunks of games in an actor."""

    def __init__(self, matches: list[Match], settings: PlaySettings) -> None:
        prepare_worker()
        self._player = MatchPlayer(matches, settings)

    def is_ready(self) -> tuple[list[tuple[int, GameRecord]], None]:
        """Return an empty result; becomes ready when the actor does."""
        return [], None

    def play(self, number: int, jobs: list[Job]) -> tuple[list[tuple[int, GameRecord]], CardenvsError | None]:
        """Play games of match `number`. Return those that ended, and the error that stopped play, if any."""
        results: list[tuple[int, GameRecord]] = []
        try:
            results.extend((number, record) for record in self._player.play(number, iter(jobs)))
        except CardenvsError as error:
            return results, error
        return results, None


@contextlib.contextmanager
def ray_cluster(processes: int) -> Iterator[None]:
    """Use the cluster that this process has joined or that RAY_ADDRESS names, else start a local one for the block.

    Raises:
        ArenaError: nothing listens at RAY_ADDRESS.
    """
    import ray

    if ray.is_initialized():
        yield
        return
    if address := os.environ.get("RAY_ADDRESS"):
        _check_listens(address)
        ray.init(log_to_driver=False)
    else:
        ray.init(num_cpus=processes, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


def _check_listens(address: str) -> None:
    """Refuse a HOST:PORT where nothing listens, for which Ray would wait for minutes.

    Raises:
        ArenaError: nothing listens there.
    """
    plain = address.removeprefix("ray://")
    if address in ("auto", "local") or "://" in plain:
        return
    host, _, port = plain.rpartition(":")
    try:
        if not port.isdecimal():
            raise ValueError("HOST:PORT is expected")
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArenaError(
            f"no Ray cluster at {short(address)}: {reason}; start one with `ray start --head`, or leave the "
            "address out to use this machine alone"
        ) from None
