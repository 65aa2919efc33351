"""Agents that fail, each in its way, for tests of `cardenvs simulate`."""

import os
import time

from cardenvs.agents import kinds
from cardenvs.agents.base import Agent
from cardenvs.arena.match import Match

FAILS_AT = 3


class _Odd(Agent):
    """Plays the first legal action, but calls `fail` in games whose seed for it is a multiple of `FAILS_AT`."""

    name = "odd"

    def __init__(self, fail):
        self._fail = fail

    def reset(self, seed):
        self._fails = seed % FAILS_AT == 0

    def act(self, turn):
        if self._fails:
            return self._fail()
        return turn.legal_actions[0]


class Watcher(Agent):
    """Plays the first legal action and checks that it is told all it sees, and the end."""

    name = "watcher"

    def reset(self, seed):
        self._told = 0
        self.returns = None

    def observe(self, events):
        self._told += len(events)

    def act(self, turn):
        if self._told != len(turn.recap):
            raise RuntimeError(f"told of {self._told} events of {len(turn.recap)}")
        return turn.legal_actions[0]


def _raise():
    raise ValueError("it has had\nenough")


def raising(game, options):
    """Raises in every third game."""
    return _Odd(_raise)


def cheating(game, options):
    """Chooses what is not legal in every third game."""
    return _Odd(lambda: 99)


def dying(game, options):
    """Ends its process in every third game."""
    return _Odd(lambda: os._exit(7))


def sleeping(game, options):
    """Takes a minute for each decision."""
    agent = _Odd(lambda: time.sleep(60))
    agent.reset = lambda seed: setattr(agent, "_fails", True)
    return agent


def watching(game, options):
    """Never fails if observers are told everything."""
    return Watcher()


def dying_here(argument, game, options):
    """The same as an agent of the kind "dying", which plays in the process of the game."""
    return dying(game, options)


DYING_KIND = kinds.AgentKind("dying", "dying", "", dying_here, guest=False, isolation="none")


class WithDying(Match):
    """A match that brings that kind along to the processes that play it."""

    def __setstate__(self, state):
        self.__dict__.update(state)
        kinds._added["dying"] = DYING_KIND
