"""Agents for tests of the server, in processes of their own."""

import time

from cardenvs.agents import Agent, Turn


class First(Agent):
    """Takes the first legal action, after a while."""

    name = "first"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def act(self, turn: Turn) -> int:
        time.sleep(self._seconds)
        return int(turn.legal_actions[0])


def quick(game, options):
    return First(0.0)


def slow(game, options):
    return First(60.0)
