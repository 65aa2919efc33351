"""The agent proxy, through which every agent of a guarded match plays, so that none can harm the match.

    from cardenvs.agents.guarded.limits import AgentLimits
    from cardenvs.agents.guarded.proxy import AgentProxy, play

    limits = AgentLimits(time_limit=10, on_failure="forced_action")
    proxies = [AgentProxy.of(spec, game, options, limits) for spec in ("random", "python:my_agents:make")]
    decisions = play(state, proxies, seeds=[1, 2])        # to the end of one game
    print(proxies[1].failures)                            # Counter({"timeout": 3, "illegal": 1})

A match makes these calls, in this order; each is safe whatever the agent does:

    proxy.begin(state, player, seed)    a game begins: resets the agent, and shows an observer the deal
    proxy.decide(state)                 -> Decision, when the player is to act; the caller applies its action
    proxy.observe(state)                after every applied action of any player; affects only observers
    proxy.end(state)                    the game is over or was broken off; the agent can play another one
    proxy.close()                       no more games; ends the agent's process. A proxy is a context manager

**Failures.** A decision may be tried `AgentLimits.tries` times. A try fails by taking too long ("timeout"), by raising
("exception"), by an illegal choice ("illegal"), or by a process failure: "crash", "memory", "protocol". An agent
may use other classes (AgentFailureError), give up its remaining tries, and ask for the forced action. After the last
try the player forfeits: `decision.action` is FORFEIT + player, and the game continues if two other players remain.
With on_failure="forced_action", the game's safe action (`State.forced_action`) is played instead. `proxy.failures`
counts all failures by class, also if a later try succeeded.

**Isolation.** Where an agent runs:

    "none"      called directly. A late answer counts as a timeout, but an agent that never answers blocks
                the match. For agents of cardenvs, and for trusted agents given as objects.
    "thread"    called in a thread, which is abandoned when time is up. For agents given as objects.
    "process"   in a separate process, a new one for each game, with limited memory; killed when time is up,
                and restarted. It gets a determinized twin of what its player knows: the true state is not
                in its memory. Not on Windows.
    "auto"      the default of the agent's kind: "process" for `python:` specs, "none" for most others.

Some kinds have a fixed isolation (AgentKind.isolation): a program is always a process, and a language model always
plays in this process, with its pool of requests. Guests get turns of a twin in this process too, but code in this
process can reach any object. A separate process guards against accidents, not malice: it has all rights of the user
that started it, including access to files.
"""

import contextlib
import dataclasses
import functools
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.agents.guarded.failures import failure_of, reported_failures, storable_notes
from cardenvs.agents.guarded.guest import Guest
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.process import ProcessAgent
from cardenvs.agents.guarded.thread import ThreadAgent
from cardenvs.agents.kinds import AgentKind, find_kind
from cardenvs.agents.observers import GameObserver, Watched
from cardenvs.agents.seating import FORCED, FORFEITED, OK, Decision, Seat, checked_choice, play_out
from cardenvs.agents.specs import is_guest, load_agent
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

_MOST_KINDS, _OTHER_KIND = 32, "other"  # most classes counted by name, and the name for the others
_LONGEST_TRACE = 10_000  # characters kept, from the end


class AgentProxy:
    """An agent with limits; see the top of this module. Serves one game at a time.

    Attributes:
        name: the agent's name.
        agent: the agent itself, or the ThreadAgent or ProcessAgent that runs it.
        limits: the AgentLimits.
        guest: whether the agent has code from outside cardenvs.
        decisions: number of decisions in all games, including forced and forfeited ones.
        outcomes: number of decisions by outcome: "ok", "forced", "forfeit".
        failures: number of failed tries by class.
    """

    def __init__(
        self, agent: Agent, limits: AgentLimits | None = None, name: str | None = None, guest: bool = True
    ) -> None:
        """Limit an existing agent, called in this thread or, with isolation="thread", in another.

        Args:
            agent: the agent.
            limits: default: AgentLimits().
            name: default: the agent's name.
            guest: see Seat.

        Raises:
            AgentError: the isolation is "process", which needs a spec (see `of`).
        """
        self.limits = limits or AgentLimits()
        if self.limits.isolation == "process" and not isinstance(agent, ProcessAgent):
            raise AgentError("an agent that is an object cannot be moved to a process; give its spec instead")
        if self.limits.isolation == "thread" and not isinstance(agent, ThreadAgent | ProcessAgent):
            agent = ThreadAgent(agent, self.limits.time_limit)
        self.agent = agent
        self.name = name or agent.name
        self.guest = guest
        self.decisions = 0
        self.outcomes: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self._seat = Seat(agent, -1, 0)
        self._playing = False

    @classmethod
    def of(
        cls,
        spec: str,
        game: Game,
        options: Options,
        limits: AgentLimits | None = None,
        name: str | None = None,
        guest: Guest | None = None,
    ) -> "AgentProxy":
        """Return a proxy of the agent of a spec (cardenvs.agents.specs). A guest always plays in a process.

        Raises:
            AgentError: the spec cannot be used, or its process does not start.
            PolicyNotFoundError, MissingExtraError: as for make_agent.
        """
        limits = _isolated(limits or AgentLimits(), find_kind(spec.partition(":")[0]), guest)
        if limits.isolation == "process":
            agent: Agent = ProcessAgent.of_spec(spec, game, options, limits=limits, guest=guest)
        else:
            agent = load_agent(spec, game, options)
        if limits.isolation == "thread" and not isinstance(agent, ProcessAgent):
            agent = ThreadAgent(agent, limits.time_limit, lambda: load_agent(spec, game, options))
        if isinstance(agent, ProcessAgent):
            agent.restrict(limits, guest)
            agent.start()
        return cls(agent, limits, name or spec, guest is not None or is_guest(spec))

    def __enter__(self) -> Self:
        """Return the proxy itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the agent's process, if it has one."""
        self.close()

    @property
    def is_observer(self) -> bool:
        """Whether the agent wants to see events as they happen."""
        return self._seat.is_observer

    # -- one game -----------------------------------------------------------------------------------------------

    def begin(self, state: State, player: int, seed: int) -> None:
        """Prepare for a new game.

        Args:
            state: the game at its start.
            player: the agent's player.
            seed: the agent's seed for this game.
        """
        self._seat = Seat(self.agent, player, seed, self.guest)
        self._playing = True
        with self._counting():
            self._timed(functools.partial(self._seat.begin, state))

    def decide(self, state: State) -> Decision:
        """Ask for a decision of the player to act. Does not raise when the agent fails, and does not change the state.

        Raises:
            AgentError: it is another player's turn.
        """
        if not self._playing or state.current_player != self._seat.player:
            raise AgentError(f"{self.name} plays player_{self._seat.player}, who is not to act")
        started = time.perf_counter()
        failures: list[Failure] = []
        notes: dict[str, Any] = {}
        trace = ""
        forced = self.limits.on_failure == "forced_action"
        for _ in range(self.limits.tries):
            turn = self.turn(state, failures)
            before = len(failures)
            final = False
            try:
                action = checked_choice(state, self._timed(functools.partial(self.agent.act, turn)))
            except (Exception, SystemExit) as error:  # any exception is the agent's failure
                failures = [*reported_failures(turn), failure_of(error)]
                final = isinstance(error, AgentFailureError) and error.final
                forced = forced or (isinstance(error, AgentFailureError) and final and error.forced)
                if final and len(reported_failures(turn)) > before:
                    failures.pop()  # the agent has reported its tries itself
                notes |= turn.notes
                trace = "".join(traceback.format_exception(error))[-_LONGEST_TRACE:]
            else:
                failures, notes = reported_failures(turn), notes | turn.notes
                return self._decided(state, int(action), OK, time.perf_counter() - started, failures, notes, trace)
            if final:
                break
        seconds = time.perf_counter() - started
        if forced:
            return self._decided(state, state.forced_action(), FORCED, seconds, failures, notes, trace)
        return self._decided(state, FORFEIT + self._seat.player, FORFEITED, seconds, failures, notes, trace)

    def decided(self, state: State) -> None:
        """Note a decision of the player in `state` that was made before the game was resumed."""
        self._seat.decided(state)

    def observe(self, state: State) -> None:
        """Show an observer the events that it has not seen yet. A failure is only counted."""
        if self._playing and self._seat.is_observer:
            with self._counting():
                self._timed(functools.partial(self._seat.observe, state))

    def end(self, state: State) -> None:
        """End the game, whether it is over or was broken off."""
        self._playing = False
        with self._counting():
            self._timed(functools.partial(self._seat.end, state))

    def close(self) -> None:
        """Close the agent, and end its process if it has one."""
        self._playing = False
        close = getattr(self.agent, "close", None)
        if callable(close):
            with contextlib.suppress(Exception):  # it is not called again
                close()

    def kill(self) -> None:
        """End the agent's process at once, if it has one, from any thread. A call that waits for it fails."""
        if isinstance(self.agent, ProcessAgent):
            self.agent.kill()

    def turn(self, state: State, failures: Sequence[Failure] = ()) -> Turn:
        """Return the turn that the agent gets in `state`, after these failed tries."""
        turn = self._seat.turn(state)
        turn.failures += failures
        return turn

    def accept(self, state: State, turn: Turn, action: int, seconds: float) -> Decision:
        """Return the decision of an agent that chose a legal action in a batch."""
        return self._decided(state, action, OK, seconds, reported_failures(turn), turn.notes)

    # -- parts --------------------------------------------------------------------------------------------------

    def _timed(self, call: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = call()
        limit = self.limits.time_limit
        if limit is not None and not getattr(self.agent, "enforces_time_limit", False):
            seconds = time.perf_counter() - started
            if seconds > limit:
                raise AgentFailureError("timeout", f"it answered after {seconds:.3g} seconds; the limit is {limit:g}")
        return result

    @contextlib.contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        except (Exception, SystemExit) as error:  # as in `decide`
            self._count(failure_of(error))

    def _count(self, failure: Failure) -> None:
        known = failure.kind in self.failures or len(self.failures) < _MOST_KINDS
        self.failures[failure.kind if known else _OTHER_KIND] += 1

    def _decided(
        self,
        state: State,
        action: int,
        outcome: str,
        seconds: float,
        failures: list[Failure],
        notes: dict[str, Any],
        trace: str = "",
    ) -> Decision:
        self._seat.decided(state)
        self.decisions += 1
        self.outcomes[outcome] += 1
        for failure in failures:
            self._count(failure)
        kept = storable_notes(notes)
        return Decision(self._seat.player, state.ply, action, outcome, seconds, tuple(failures), kept, trace)


def _isolated(limits: AgentLimits, kind: AgentKind | None, guest: Guest | None) -> AgentLimits:
    """Return the limits with the isolation for an agent of `kind`; None stands for the game's policies."""
    default = "none" if kind is None else kind.isolation
    if default == "own":
        isolation = "none"  # it is a process already
    elif guest is not None:
        isolation = "process"
    elif default == "shared":
        isolation = "none"
    else:
        isolation = default if limits.isolation == "auto" else limits.isolation
    return dataclasses.replace(limits, isolation=isolation)


def play(
    state: State,
    proxies: Sequence[AgentProxy],
    seeds: Sequence[int],
    watch: Callable[[State, Decision], None] | None = None,
    observers: Sequence[GameObserver] = (),
) -> list[Decision]:
    """Play one game to its end, in place, through a different proxy for each player. Returns every decision, in order.

    `seeds` are those of the players' agents, `watch` is called after each applied action, and `observers` observe the
    game.
    """
    if len({id(proxy) for proxy in proxies}) != state.num_players or len(seeds) != state.num_players:
        raise AgentError(f"{state.num_players} players need as many different proxies, and as many seeds")
    for player, proxy in enumerate(proxies):
        proxy.begin(state, player, seeds[player])
    try:
        return play_out(state, proxies, watch, Watched(state, observers) if observers else None)
    finally:
        for proxy in proxies:
            proxy.end(state)
