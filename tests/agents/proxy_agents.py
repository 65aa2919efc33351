"""Agents that misbehave, for the tests of the proxy; made by `python:` specs in processes of their own."""

import mmap
import os
import sys
import time

from cardenvs.agents.base import Agent


class First(Agent):
    """Plays the first legal action, and does `before` first."""

    def __init__(self, before=None, name="first"):
        self.name, self._before = name, before

    def act(self, turn):
        if self._before is not None:
            self._before(turn)
        return turn.legal_actions[0]


def good(game, options):
    return First()


def raises(game, options):
    def before(turn):
        raise ZeroDivisionError("of my own")

    return First(before)


def raises_once(game, options):
    def before(turn):
        if not turn.failures:
            raise ValueError("the first time")

    return First(before)


def hangs(game, options):
    def before(turn):
        while True:
            time.sleep(0.01)

    return First(before)


def spins(game, options):
    """Hangs in a loop that never lets go of the interpreter for long."""

    def before(turn):
        while True:
            pass

    return First(before)


def dies(game, options):
    return First(lambda turn: os._exit(3))


def is_killed(game, options):
    return First(lambda turn: os.kill(os.getpid(), 9))


def is_killed_in_real_time(game, options):
    return First(lambda turn: os.kill(os.getpid(), 40))  # a signal without a name


def hogs_shared(game, options):
    """Takes shared memory, which is no data of a process, in several processes."""
    kept = []

    def before(turn):
        for _ in range(3):
            os.fork()
        while True:
            kept.append(mmap.mmap(-1, 16 << 20))
            kept[-1].write(b"x" * (16 << 20))
            time.sleep(0.02)

    return First(before)


def exits(game, options):
    return First(lambda turn: sys.exit("I had enough"))


def hogs(game, options):
    kept = []

    def before(turn):
        while True:
            kept.append(bytearray(16 << 20))

    return First(before)


def leaks(game, options):
    """Opens files that it never closes, and keeps 2 MiB a decision."""
    kept = []

    def before(turn):
        kept.append((bytearray(2 << 20), open(os.devnull)))  # noqa: SIM115

    return First(before)


def prints(game, options):
    def before(turn):
        print("I think:", "x" * 100_000)
        sys.stderr.write("y" * 100_000)
        os.write(1, b'{"type": "action", "id": 1}\n')

    return First(before)


class Illegal(Agent):
    name = "illegal"

    def __init__(self, choice):
        self._choice = choice

    def act(self, turn):
        return self._choice


def illegal(game, options):
    return Illegal(99)


def forfeits_for_others(game, options):
    return Illegal((1 << 30) + 1)


def answers_text(game, options):
    return Illegal("call")


class Watcher(Agent):
    """Keeps what it was told, and hands it over in its notes."""

    name = "watcher"

    def reset(self, seed):
        self.told = []

    def observe(self, events):
        self.told += events

    def act(self, turn):
        turn.notes["told"] = len(self.told)
        turn.notes["recap"] = len(turn.recap)
        turn.notes["kinds"] = [event.kind for event in self.told]
        return turn.legal_actions[0]


def watches(game, options):
    return Watcher()


def watches_and_dies_once(game, options):
    """The second process of it does not die, because it is told of the failure."""

    class Mortal(Watcher):
        def act(self, turn):
            if turn.decision > 0 and not turn.failures:
                os._exit(1)
            return super().act(turn)

    return Mortal()


def peeks(game, options):
    """Looks for the true state in all that it can reach."""
    import gc

    from cardenvs.core.events import OMNISCIENT
    from cardenvs.core.game_view import table_texts
    from cardenvs.core.state import State

    def before(turn):
        states = [one for one in gc.get_objects() if issubclass(type(one), State)]
        turn.notes["hands"] = [one.table(OMNISCIENT).piles and table_texts(one.view(OMNISCIENT)) for one in states]
        turn.notes["environment"] = [name for name in os.environ if "KEY" in name]

    return First(before)


def does_not_start(game, options):
    raise RuntimeError("no such model")
