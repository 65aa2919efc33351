"""Measuring on a noisy machine: contestants take turns, and the best window of each counts."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Contestant:
    """Something that takes steps.

    Attributes:
        name: for the table.
        run: run(seconds) -> steps taken in at least that many seconds.
        best: most steps per second in any window so far.
    """

    name: str
    run: Callable[[float], int]
    best: float = 0.0

    def measure(self, seconds: float) -> None:
        """One window."""
        started = time.perf_counter()
        steps = self.run(seconds)
        self.best = max(self.best, steps / (time.perf_counter() - started))


def race(contestants: list[Contestant], rounds: int, seconds: float) -> None:
    """Warm everybody up, then let them take turns, `rounds` windows of `seconds` each."""
    for contestant in contestants:
        contestant.run(0.0)
    for _ in range(rounds):
        for contestant in contestants:
            contestant.measure(seconds)


def repeat_for(seconds: float, step: Callable[[], int]) -> int:
    """Call `step` (which returns steps taken) until `seconds` have passed; at least once."""
    stop, steps = time.perf_counter() + seconds, step()
    while time.perf_counter() < stop:
        steps += step()
    return steps
