"""An agent called in a thread, so that a hanging call can be abandoned."""

import threading
import time
from collections.abc import Callable
from typing import Any

from cardenvs.agents.base import Agent, Turn
from cardenvs.core.errors import AgentFailureError
from cardenvs.core.events import Event


class ThreadAgent(Agent):
    """Calls an agent in threads. A call that takes too long is abandoned; the thread ends when the call does."""

    enforces_time_limit = True  # by this class

    def __init__(self, agent: Agent, time_limit: float | None, remake: Callable[[], Agent] | None = None) -> None:
        """Wrap an agent, whose calls may take `time_limit` seconds each.

        `remake` makes a new agent to continue with after an abandoned call. Without it, the next call waits for the
        abandoned one, within its own time limit.
        """
        self._agent, self._limit, self._remake = agent, time_limit, remake
        self.name = agent.name
        self._stuck: threading.Thread | None = None
        self._seed: int | None = None
        if callable(getattr(agent, "observe", None)):
            self.observe = self._observe

    def reset(self, seed: int) -> None:
        """Prepare for a new game."""
        self._seed = seed
        self._call(lambda: self._agent.reset(seed))

    def act(self, turn: Turn) -> int:
        """Return the agent's choice. Raises AgentFailureError if it took too long; Exception if the agent raised it."""
        action: int = self._call(lambda: self._agent.act(turn))
        return action

    def _observe(self, events: list[Event]) -> None:
        self._call(lambda: self._agent.observe(events))  # type: ignore[attr-defined]

    def _call(self, call: Callable[[], Any]) -> Any:
        started = time.monotonic()
        if self._stuck is not None:
            self._stuck.join(self._limit)
            if self._stuck.is_alive():
                raise self._timeout()
            self._stuck = None
        box: list[tuple[bool, Any]] = []

        def run() -> None:
            try:
                box.append((True, call()))
            except BaseException as error:  # raised in the caller's thread
                box.append((False, error))

        thread = threading.Thread(target=run, daemon=True, name=f"agent {self.name}")
        thread.start()
        thread.join(None if self._limit is None else max(0.0, started + self._limit - time.monotonic()))
        if not box:
            self._leave(thread)
            raise self._timeout()
        done, result = box[0]
        if not done:
            raise result
        return result

    def _leave(self, thread: threading.Thread) -> None:
        if self._remake is None:
            self._stuck = thread
            return
        self._agent = self._remake()
        if self._seed is not None:
            self._agent.reset(self._seed)

    def _timeout(self) -> AgentFailureError:
        return AgentFailureError("timeout", f"it did not answer within {self._limit:g} seconds")
