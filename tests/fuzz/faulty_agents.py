"""Agents that fail in every way that Python offers: FACTORIES by name, each for a `python:` spec."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np

from cardenvs.agents.base import Agent, Failure
from cardenvs.core.errors import AgentFailureError

FACTORIES = {}


class Plain(Agent):
    """Plays the first legal action."""

    name = "plain"

    def act(self, turn):
        return turn.legal_actions[0]


def acting(function):
    """An agent whose `act` is the function."""

    class Acting(Plain):
        def act(self, turn):
            return function(turn)

    FACTORIES[function.__name__] = lambda game, options: Acting()
    return function


def answering(name, value):
    FACTORIES[name] = lambda game, options: type("Answering", (Plain,), {"act": lambda self, turn: value})()


class Strange:
    def __index__(self):
        raise OSError("of my own")

    def __eq__(self, other):
        return True

    __hash__ = None


for _name, _value in {
    "none": None, "minus": -1, "large": 10**30, "bool": True, "float": 0.5, "nan": float("nan"), "text": "pass",
    "empty": "", "bytes": b"0", "list": [0], "dict": {"id": 0}, "set": {0}, "array": np.zeros(2, int),
    "array_of_one": np.zeros(1, int),
    "strange": Strange(), "type": int, "forfeit": (1 << 30) + 1, "function": len, "long_text": "x" * (8 << 20),
    "tuple_of_many": tuple(range(1_000_000)), "complex": 1j, "numpy_nan": np.float64("nan"), "error": ValueError("x"),
}.items():  # fmt: skip
    answering(f"answers_{_name}", _value)


@acting
def raises(turn):
    raise ZeroDivisionError("of my own")


@acting
def raises_long(turn):
    raise ValueError("x" * (3 << 20))


@acting
def raises_escapes(turn):
    raise ValueError("\x1b[2J\u202e\ud800\x00")


@acting
def raises_interrupt(turn):
    raise KeyboardInterrupt


@acting
def raises_exit(turn):
    sys.exit(0)


@acting
def raises_generator_exit(turn):
    raise GeneratorExit


@acting
def raises_new_kinds(turn):
    raise AgentFailureError(os.urandom(20_000).hex(), "x" * 100_000)


@acting
def raises_group(turn):
    raise ExceptionGroup("many", [ValueError(str(k)) for k in range(1000)])


@acting
def raises_unprintable(turn):
    class UnprintableError(Exception):
        def __str__(self):
            raise OSError("not even this")

    raise UnprintableError


@acting
def recurses(turn):
    return recurses(turn)


@acting
def dies(turn):
    os._exit(3)


@acting
def dies_of_a_segmentation_fault(turn):
    ctypes.string_at(0)


@acting
def dies_of_abort(turn):
    os.abort()


@acting
def is_killed(turn):
    os.kill(os.getpid(), signal.SIGKILL)


@acting
def kills_its_parent(turn):
    os.kill(os.getppid(), signal.SIGKILL)


@acting
def kills_its_group(turn):
    os.killpg(0, signal.SIGKILL)


@acting
def stops_itself(turn):
    os.kill(os.getpid(), signal.SIGSTOP)
    return turn.legal_actions[0]


@acting
def ignores_signals(turn):
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    time.sleep(3600)


@acting
def sleeps(turn):
    time.sleep(3600)


@acting
def spins(turn):
    while True:
        pass


@acting
def hogs(turn):
    kept = []
    while True:
        kept.append(bytearray(16 << 20))


@acting
def opens_files(turn):
    kept = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    while True:
        kept.append(open(os.devnull))  # noqa: SIM115


@acting
def closes_everything(turn):
    os.closerange(0, 1000)
    return turn.legal_actions[0]


@acting
def forks(turn):
    for _ in range(5):
        if os.fork() == 0:
            time.sleep(3600)
    return turn.legal_actions[0]


@acting
def forks_and_both_answer(turn):
    os.fork()
    return turn.legal_actions[0]


@acting
def leaves_a_daemon(turn):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
    return turn.legal_actions[0]


@acting
def starts_threads(turn):
    for _ in range(50):
        threading.Thread(target=time.sleep, args=(3600,)).start()
    return turn.legal_actions[0]


@acting
def prints(turn):
    for stream in (sys.stdout, sys.stderr):
        stream.write("x" * 1_000_000)
    os.write(1, b'{"type": "action", "id": 1}\n')
    return turn.legal_actions[0]


@acting
def notes_a_lot(turn):
    turn.notes["all"] = ["x" * 1000] * 2000
    return turn.legal_actions[0]


@acting
def notes_what_is_no_json(turn):
    turn.notes |= {1: {2}, "nan": float("nan"), "self": turn}
    turn.notes["notes"] = turn.notes
    return turn.legal_actions[0]


@acting
def counts_failures_of_its_own(turn):
    turn.failures += [Failure(f"kind{number}", "x" * 5000) for number in range(5000)]
    return turn.legal_actions[0]


@acting
def spoils_its_turn(turn):
    turn.legal_actions.clear()
    turn.failures = turn.notes = turn.game = None
    return 0


@acting
def changes_the_limits(turn):
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
    return turn.legal_actions[0]


@acting
def patches_the_protocol(turn):
    import json

    json.dumps = lambda *arguments, **names: "{"
    return turn.legal_actions[0]


def at(method, function):
    """An agent whose method, or construction, is the function."""

    def make(game, options):
        if method == "factory":
            return function()
        return type("At", (Plain,), {method: lambda self, *arguments: function()})()

    FACTORIES[f"{function.__name__}_at_{method}"] = make


def _fails():
    raise ValueError("at once")


def _dies():
    os._exit(1)


def _hangs():
    time.sleep(3600)


for _method in ("reset", "observe", "end", "close"):
    for _function in (_fails, _dies, _hangs):
        at(_method, _function)
for _function in (_fails, _dies, int):
    at("factory", _function)


def __getattr__(name):
    try:
        return FACTORIES[name.removeprefix("make_")]
    except KeyError:
        raise AttributeError(name) from None
