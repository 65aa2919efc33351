"""The agents of a server: which there are, and the threads in which they think."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.seating import Decision
from cardenvs.core.state import State
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.table import RefusedError

ANSWERS = AgentLimits(time_limit=120.0, tries=2, on_failure="forced_action", isolation="auto")
_WAITING = 8  # things that clients have asked for, for each one that is being worked out


def agent_specs(game: Any, settings: Settings) -> dict[str, str]:
    """Return the agents that clients may choose for a game, with their specs."""
    return {name: name for name in game.engine.policy_names()} | {"search": "search"} | settings.offered_agents()


def seated(
    spec: str, state: State, player: int, seed: int, limits: AgentLimits = ANSWERS, with_people: bool = False
) -> AgentProxy:
    """Return an agent that has seen what its player has seen so far.

    At a table with people, language models are told what people can see there, and nothing is remembered for them.
    """
    proxy = AgentProxy.of(spec, state.game, state.options, limits)
    if with_people and hasattr(proxy.agent, "tell_what_people_see"):
        proxy.agent.tell_what_people_see()
    proxy.begin(state, player, seed)
    return proxy


def ask_once(spec: str, state: State, player: int, seed: int, limits: AgentLimits) -> Decision:
    """Return what an agent would do, for a person at the table."""
    proxy = seated(spec, state, player, seed, limits, with_people=True)
    try:
        return proxy.decide(state)
    finally:
        proxy.close()


# ---------------------------------------------------------------------------------------------------------------
# Threads


class OneEach:
    """Threads for what clients ask for: everybody gets one thing at a time."""

    def __init__(self, threads: int, name: str) -> None:
        """Start none before they are needed."""
        self._threads = ThreadPoolExecutor(threads, name)
        self._most = threads * (1 + _WAITING)
        self._asked: set[Any] = set()

    async def do(self, client: Any, call: Callable, *values: Any) -> Any:
        """Return what `call` returns.

        Args:
            client: anything that tells clients apart.
            call, values: what to do.

        Raises:
            RefusedError: the client's last question is still being worked out, or there are too many.
        """
        if client in self._asked:
            raise RefusedError("one thing at a time; the last answer is still being worked out")
        if len(self._asked) >= self._most:
            raise RefusedError("too many answers are being worked out; try again in a moment")
        self._asked.add(client)
        loop = asyncio.get_running_loop()
        future = self._threads.submit(call, *values)

        def answered(_: Future) -> None:  # even if nobody waits for it any more
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._asked.discard, client)

        future.add_done_callback(answered)
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Threads:
    """The threads of all rooms. Slow things have their own, so that they do not hold up others.

    Attributes:
        own: for agents that every server has.
        further: for those that its owner has named, which may be slow.
        hints: for agents that give advice.
        readers: for looking up earlier positions.
    """

    def __init__(self, limits: Limits) -> None:
        """Start none before they are needed."""
        self.own = ThreadPoolExecutor(limits.thinking, "cardenvs-agent")
        self.further = ThreadPoolExecutor(limits.thinking, "cardenvs-further")
        self.hints = OneEach(limits.advice, "cardenvs-hint")
        self.readers = OneEach(limits.readers, "cardenvs-reader")

    def stop(self) -> None:
        """Begin nothing more."""
        for threads in (self.own, self.further):
            threads.shutdown(wait=False, cancel_futures=True)
        self.hints.stop()
        self.readers.stop()
