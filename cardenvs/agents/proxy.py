"""The agent proxy: everybody in a match plays through one, so that no agent can hurt the match.

    from cardenvs.agents.proxy import AgentProxy, AgentLimits, play

    guard = AgentLimits(time_limit=10, on_failure="forced_action")
    proxies = [AgentProxy.of(spec, game, options, guard) for spec in ("random", "python:my_agents:make")]
    decisions = play(state, proxies, seeds=[1, 2])        # to the end of one game
    print(proxies[1].failures)                            # Counter({"timeout": 3, "illegal": 1})

Of an agent a match uses these calls, in this order; each is safe whatever the agent does:

    proxy.begin(state, player, seed)    a game begins: `reset`, and what an observer has seen of the deal
    proxy.decide(state)                 -> Decision, when the player is to act; the caller applies `decision.action`
    proxy.observe(state)                after every applied action, of any player; only observers notice
    proxy.end(state)                    the game is over, or was broken off; the agent can play another one
    proxy.close()                       no more games; ends the agent's process. A proxy is a context manager

**Failures.** A decision may be tried `AgentLimits.tries` times. A try fails by taking too long ("timeout"), by raising
("exception"), by an illegal choice ("illegal"), or by a process failure: "crash", "memory", "protocol". An agent
may name classes of its own (AgentFailureError), say that it has tried often enough, and ask for the forced action.
After the last try the player forfeits: `decision.action` is FORFEIT + player, and the game goes on where two others
remain. With on_failure="forced_action" the game's safe action (`State.forced_action`) is played instead. All failures
are counted by class in `proxy.failures`, whether the decision was saved by a later try or not.

**Isolation.** How far an agent is kept away:

    "none"      called as it is. An answer that comes too late counts as a timeout, but one that never comes is waited
                for. For agents of cardenvs itself, and for your own code given as an object.
    "thread"    called in a thread, which is abandoned when time is up. For agents given as objects.
    "process"   in processes of its own, a new one for each game, with a limit on memory, killed when time is up and
                started again. It gets a determinized twin of what its player knows: the true state is not in its
                memory. POSIX only.
    "auto"      "process" for `python:` specs, "none" for all others.

`process:` specs are processes always, `llm:` specs never: they run in the pool of requests of this process. Agents that
are not cardenvs' own get turns of a twin in this process too, but code in this process can reach whatever it looks for.
A process guards against accidents, not against malice: it has the rights of whoever started it, files included.
"""

import contextlib
import dataclasses
import functools
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.agents.guest import Guest
from cardenvs.agents.kinds import find_kind
from cardenvs.agents.process import ProcessAgent
from cardenvs.agents.seating import FORCED, FORFEITED, OK, Decision, Seat, checked_choice, play_out
from cardenvs.agents.specs import load_agent
from cardenvs.agents.thread import ThreadAgent
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, AgentFailureError, IllegalActionError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

ON_FAILURE = ("forfeit", "forced_action")
ISOLATION = ("auto", "none", "thread", "process")
_LONGEST_NOTES = 1 << 20  # characters of JSON
_LONGEST_MESSAGE = 1000  # characters of a failure's message that are kept
_LONGEST_KIND = 40  # characters of its class
_MOST_KINDS, _OTHER_KIND = 32, "other"  # classes that are counted by name
_MOST_FAILURES = 100  # of one decision


@dataclass(frozen=True)
class AgentLimits:
    """How a proxy treats its agent.

    Attributes:
        time_limit: seconds for each try of a decision (and for being told of events, or of a new game); None: no
            limit. An agent that limits its time itself (`enforces_time_limit`) is left to it.
        tries: how often a decision may be tried.
        on_failure: after the last try, "forfeit" or "forced_action".
        isolation: "auto", "none", "thread" or "process".
        memory_limit_mb: of an agent's process; None: no limit.
        start_limit: seconds that a process may take until it is ready.
        keep_env: environment variables that a process gets although their names look like those of secrets.
    """

    time_limit: float | None = 30.0
    tries: int = 3
    on_failure: str = "forfeit"
    isolation: str = "auto"
    memory_limit_mb: int | None = 4096
    start_limit: float = 120.0
    keep_env: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.on_failure not in ON_FAILURE:
            raise AgentError(f"on_failure is {' or '.join(ON_FAILURE)}; got {self.on_failure!r}")
        if self.isolation not in ISOLATION:
            raise AgentError(f"isolation is one of {', '.join(ISOLATION)}; got {self.isolation!r}")
        if self.tries < 1 or (self.time_limit is not None and self.time_limit <= 0) or self.start_limit <= 0:
            raise AgentError("an agent needs at least one try, and limits of time above zero")
        if self.memory_limit_mb is not None and self.memory_limit_mb <= 0:
            raise AgentError(f"memory_limit_mb is a number of megabytes above zero; got {self.memory_limit_mb}")


class AgentProxy:
    """An agent under guard; see the top of this module. Serves one game at a time.

    Attributes:
        name: of the agent.
        agent: what is asked: the agent itself, or what stands for it here.
        guard: the AgentLimits.
        decisions: decisions asked for so far, in all games; forced and forfeited ones included.
        outcomes: how many of them were "ok", "forced", "forfeit".
        failures: failed tries so far by class.
    """

    def __init__(self, agent: Agent, guard: AgentLimits | None = None, name: str | None = None) -> None:
        """AgentLimits an agent that exists already: in this thread, or with isolation="thread" in another.

        Raises:
            AgentError: isolation="process" is asked for, which takes a spec (see `of`).
        """
        self.guard = guard or AgentLimits()
        if self.guard.isolation == "process" and not isinstance(agent, ProcessAgent):
            raise AgentError("an agent that is an object cannot be moved to a process; give its spec instead")
        if self.guard.isolation == "thread" and not isinstance(agent, ThreadAgent | ProcessAgent):
            agent = ThreadAgent(agent, self.guard.time_limit)
        self.agent = agent
        self.name = name or agent.name
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
        guard: AgentLimits | None = None,
        name: str | None = None,
        guest: Guest | None = None,
    ) -> "AgentProxy":
        """A proxy of the agent of a spec (cardenvs.agents.specs). A guest plays in a process, whatever the guard says.

        Raises:
            AgentError: the spec cannot be used, or its process does not start.
            PolicyNotFoundError, MissingExtraError: as make_agent.
        """
        guard = guard or AgentLimits()
        kind = spec.partition(":")[0]
        isolation = guard.isolation
        if isolation == "auto":
            found = find_kind(kind)
            isolation = "none" if found is None else found.isolation
        if guest is not None:
            isolation = "process"
            guard = dataclasses.replace(guard, isolation=isolation)
        elif kind == "llm":  # shares its pool of requests with others of this process, and needs its key
            isolation = "none"
            guard = dataclasses.replace(guard, isolation=isolation)
        limits = {
            "time_limit": guard.time_limit,
            "memory_limit_mb": guard.memory_limit_mb,
            "start_limit": guard.start_limit,
            "keep_env": guard.keep_env,
            "guest": guest,
        }
        if kind == "process":
            agent: Agent = ProcessAgent.of_command(spec.partition(":")[2], game, options, name=spec, **limits)
        elif isolation == "process":
            agent = ProcessAgent.of_spec(spec, game, options, **limits)
        elif isolation == "thread":
            agent = ThreadAgent(
                load_agent(spec, game, options), guard.time_limit, lambda: load_agent(spec, game, options)
            )
        else:
            agent = load_agent(spec, game, options)
        if isinstance(agent, ProcessAgent):
            agent.start()
        return cls(agent, guard, name or spec)

    def __enter__(self) -> Self:
        """The proxy itself."""
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
        """A game begins.

        Args:
            state: at its start.
            player: which the agent plays.
            seed: the agent's own for this game.
        """
        self._seat = Seat(self.agent, player, seed)
        self._playing = True
        with self._counting():
            self._timed(functools.partial(self._seat.begin, state))

    def decide(self, state: State) -> Decision:
        """Ask for a decision. Never raises for what the agent does; the state stays as it is.

        Args:
            state: the game begun, with this agent's player to act.

        Raises:
            AgentError: it is another player's turn.
        """
        if not self._playing or state.current_player != self._seat.player:
            raise AgentError(f"{self.name} plays player_{self._seat.player}, who is not to act")
        started = time.perf_counter()
        failures: list[Failure] = []
        notes: dict[str, Any] = {}
        forced = self.guard.on_failure == "forced_action"
        for _ in range(self.guard.tries):
            turn = self.turn(state, failures)
            before = len(failures)
            final = False
            try:
                action = checked_choice(state, self._timed(functools.partial(self.agent.act, turn)))
            except (Exception, SystemExit) as error:  # whatever an agent raises is the agent's failure
                failures = [*_reported_failures(turn), _failure(error)]
                final = isinstance(error, AgentFailureError) and error.final
                forced = forced or (isinstance(error, AgentFailureError) and final and error.forced)
                if final and len(_reported_failures(turn)) > before:
                    failures.pop()  # the agent has counted its tries itself
                notes |= turn.notes
            else:
                failures, notes = _reported_failures(turn), notes | turn.notes
                return self._decided(state, int(action), OK, time.perf_counter() - started, failures, notes)
            if final:
                break
        seconds = time.perf_counter() - started
        if forced:
            return self._decided(state, state.forced_action(), FORCED, seconds, failures, notes)
        return self._decided(state, FORFEIT + self._seat.player, FORFEITED, seconds, failures, notes)

    def observe(self, state: State) -> None:
        """Show an observer the events that it has not seen yet. A failure is counted and has no other effect."""
        if self._playing and self._seat.is_observer:
            with self._counting():
                self._timed(functools.partial(self._seat.observe, state))

    def end(self, state: State) -> None:
        """The game is over, or was broken off."""
        self._playing = False
        with self._counting():
            self._timed(functools.partial(self._seat.end, state))

    def close(self) -> None:
        """No more games. An agent with a process loses it."""
        self._playing = False
        close = getattr(self.agent, "close", None)
        if callable(close):
            with contextlib.suppress(Exception):  # it is not asked again
                close()

    def turn(self, state: State, failures: Sequence[Failure] = ()) -> Turn:
        """The turn that the agent gets in `state`, after these failed tries."""
        turn = self._seat.turn(state)
        turn.failures += failures
        return turn

    def accept(self, state: State, turn: Turn, action: int, seconds: float) -> Decision:
        """The decision of an agent that was asked elsewhere, in a batch, and chose what is legal."""
        return self._decided(state, action, OK, seconds, _reported_failures(turn), turn.notes)

    # -- parts --------------------------------------------------------------------------------------------------

    def _timed(self, call: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = call()
        limit = self.guard.time_limit
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
            self._count(_failure(error))

    def _count(self, failure: Failure) -> None:
        known = failure.kind in self.failures or len(self.failures) < _MOST_KINDS
        self.failures[failure.kind if known else _OTHER_KIND] += 1

    def _decided(
        self, state: State, action: int, outcome: str, seconds: float, failures: list[Failure], notes: dict
    ) -> Decision:
        self._seat.decided(state)
        self.decisions += 1
        self.outcomes[outcome] += 1
        for failure in failures:
            self._count(failure)
        return Decision(self._seat.player, state.ply, action, outcome, seconds, tuple(failures), _storable_notes(notes))


def play(
    state: State,
    proxies: Sequence[AgentProxy],
    seeds: Sequence[int],
    watch: Callable[[State, Decision], None] | None = None,
) -> list[Decision]:
    """Play one game to its end through proxies.

    Args:
        state: at its start; it is moved on.
        proxies: one a player, each a different one.
        seeds: of each player's agent.
        watch: called after each applied action.

    Returns:
        every decision, in order.
    """
    if len({id(proxy) for proxy in proxies}) != state.num_players or len(seeds) != state.num_players:
        raise AgentError(f"{state.num_players} players need as many proxies, each its own, and as many seeds")
    for player, proxy in enumerate(proxies):
        proxy.begin(state, player, seeds[player])
    try:
        return play_out(state, proxies, watch)
    finally:
        for proxy in proxies:
            proxy.end(state)


def _storable_notes(notes: dict[str, Any]) -> dict[str, Any]:
    """A copy of an agent's notes that can be stored, or why they cannot."""
    if not notes:
        return {}
    try:
        text = json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return {"dropped": _short(f"the notes are no JSON values: {error}")}
    if len(text) > _LONGEST_NOTES:
        return {"dropped": f"the notes are {len(text)} characters of JSON; at most {_LONGEST_NOTES} are kept"}
    return json.loads(text)


def _reported_failures(turn: Turn) -> list[Failure]:
    """The failures in a turn: those before, and those that the agent has added."""
    return [
        Failure(_kind(failure.kind), _short(str(failure.message)))
        for failure in turn.failures[:_MOST_FAILURES]
        if isinstance(failure, Failure)
    ]


def _failure(error: BaseException) -> Failure:
    if isinstance(error, AgentFailureError):
        return Failure(_kind(error.kind), _short(str(error)))
    if isinstance(error, IllegalActionError):  # a label that no legal action has
        return Failure("illegal", _short(str(error)))
    if isinstance(error, MemoryError):
        return Failure("memory", _short(f"MemoryError: {error}"))
    return Failure("exception", _short(f"{type(error).__name__}: {error}"))


def _kind(kind: object) -> str:
    """The class of a failure as it is counted: a few plain characters, whatever an agent calls it."""
    return re.sub(r"[^A-Za-z0-9_. -]", "?", str(kind))[:_LONGEST_KIND]


def _short(text: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
