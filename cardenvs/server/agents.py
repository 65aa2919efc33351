"""Agents that a server offers, and the threads in which they think."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.seating import Decision
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.strength import own_agents
from cardenvs.server.table import RefusedError

ANSWERS = AgentLimits(time_limit=120.0, tries=2, on_failure="forced_action", isolation="auto")
_WAITING = 8  # requests in the queue for each thread
_Result = TypeVar("_Result")


def agent_specs(game: Game, settings: Settings, options: Options) -> dict[str, str]:
    """Return the specs of the agents for a game with some options by name, the server's own from easy to strong."""
    return {agent.name: agent.spec for agent in own_agents(game, options)} | settings.offered_agents()


def seated(
    spec: str, state: State, player: int, seed: int, limits: AgentLimits = ANSWERS, with_people: bool = False
) -> AgentProxy:
    """Return an agent, with its seed and limits, that has seen everything its player has seen; `player` need not be to
    act.

    `with_people`: people sit at the table. Language models then get what people can see, without a summary of past
    events.
    """
    proxy = AgentProxy.of(spec, state.game, state.options, limits)
    if with_people and hasattr(proxy.agent, "tell_what_people_see"):
        proxy.agent.tell_what_people_see()
    proxy.begin(state, player, seed)
    return proxy


def ask_once(spec: str, state: State, player: int, seed: int, limits: AgentLimits) -> Decision:
    """Return the decision of an agent that is seated for it alone, as a hint for a person."""
    proxy = seated(spec, state, player, seed, limits, with_people=True)
    try:
        return proxy.decide(state)
    finally:
        proxy.close()


# -- threads ------------------------------------------------------------------------------------------------------


class OneEach:
    """Threads that serve one request of each client at a time."""

    def __init__(self, threads: int, name: str) -> None:
        """Prepare up to `threads` threads, which start on demand."""
        self._threads = ThreadPoolExecutor(threads, name)
        self._most = threads * (1 + _WAITING)
        self._asked: set[Any] = set()

    async def do(self, client: Any, call: Callable[..., _Result], *values: Any) -> _Result:
        """Run `call(*values)` in a thread and return its result. `client` is hashable and identifies the client.

        Raises:
            RefusedError: the last request of the client is still running, or too many requests are waiting.
        """
        if client in self._asked:
            raise RefusedError("one request at a time; the last one is still running")
        if len(self._asked) >= self._most:
            raise RefusedError("too many requests are running; try again in a moment")
        self._asked.add(client)
        loop = asyncio.get_running_loop()
        future = self._threads.submit(call, *values)

        def answered(_: Future[_Result]) -> None:  # also runs when the caller was cancelled
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(self._asked.discard, client)

        future.add_done_callback(answered)
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Cancel waiting requests and start no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Threads:
    """The threads of all rooms. Each kind of slow work has its own, so that it does not delay the others."""

    def __init__(self, limits: Limits) -> None:
        """Prepare the threads, which start on demand."""
        self.own = ThreadPoolExecutor(limits.thinking, "cardenvs-agent")  # for agents that every server offers
        # for the owner's agents, which may be slow
        self.further = ThreadPoolExecutor(limits.thinking, "cardenvs-further")
        self.hints = OneEach(limits.advice, "cardenvs-hint")  # for hints
        self.readers = OneEach(limits.readers, "cardenvs-reader")  # for earlier positions

    def stop(self) -> None:
        """Cancel waiting work and start no more."""
        for threads in (self.own, self.further):
            threads.shutdown(wait=False, cancel_futures=True)
        self.hints.stop()
        self.readers.stop()
