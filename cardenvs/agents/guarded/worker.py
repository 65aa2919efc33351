"""Processes for the agent of a spec: `python -m cardenvs.agents.guarded.worker SPEC GAME OPTIONS`.

This process loads the game and the large libraries that the agent needs (`preload`). On request it forks a process for
the agent: a new one for each game, which is cheap and knows nothing of earlier games. It never runs code of the agent
itself.

Requests come on standard input, a Unix socket, from `forkserver`: START, with three descriptors that become the
standard streams of the new process, and END, which ends the process with everything it has started and is answered with
its exit code. `protocol` describes the messages over those streams.

No process may leave anything for the next one. In a sandbox, each has its own namespaces (`cell`), from which it can
reach neither this process nor anything else that lasts. Elsewhere, it could change what later processes inherit from
this process. If one does, it is the last one: the answer to END says so, and the next game gets a new server.
"""

import base64
import contextlib
import ctypes
import gc
import json
import operator
import os
import platform
import resource
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from cardenvs.agents.base import Failure, Turn
from cardenvs.agents.guarded import cell
from cardenvs.agents.guarded.forkserver import END, READY, START
from cardenvs.agents.guarded.guest import FOLDER
from cardenvs.agents.guarded.launch import adopt_orphans, end_descendants, end_with_parent
from cardenvs.agents.guarded.preload import preload
from cardenvs.agents.guarded.protocol import LONGEST_NOTES, MOST_FAILURES, PROTOCOL, TOO_LONG
from cardenvs.agents.python import raised_text
from cardenvs.agents.specs import load_agent
from cardenvs.core.errors import AgentFailureError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game

_PR_SET_DUMPABLE = 4
_PRIO_PROCESS, _IOPRIO_GET = 0, {"x86_64": 252, "aarch64": 31}
_LIMITS = [number for name, number in sorted(vars(resource).items()) if name.startswith("RLIMIT_")]
_SETTINGS = ("oom_score_adj", "coredump_filter", "timerslack_ns", "autogroup", "cgroup")  # files in /proc/self
_LONGEST_TRACE = 10_000  # characters
_LONGEST_TEXT = 2000  # characters of a failure's message


class _Worker:
    """Answers messages."""

    def __init__(self, spec: str, hello: dict[str, Any]) -> None:
        self._game: Game = get_game(hello["game"])
        self._agent = load_agent(spec, self._game, self._game.make_options(**hello["options"]))
        self._seed = 0
        self.observes = callable(getattr(self._agent, "observe", None))

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Handle a message and return its answer, or None if it has none."""
        kind = message["type"]
        if kind == "reset":
            self._seed = message["seed"]
            self._agent.reset(self._seed)
        elif kind == "events":
            self._agent.observe([_event(one) for one in message["events"]])  # type: ignore[attr-defined]
        elif kind == "act":
            return self._act(message)
        elif kind == "end" and callable(getattr(self._agent, "end", None)):
            self._agent.end(message["returns"])  # type: ignore[attr-defined]
        return None

    def _act(self, message: dict[str, Any]) -> dict[str, Any]:
        twin = self._game.from_bytes(base64.b64decode(message["twin"]), trusted=True)  # made by the match
        turn = Turn(twin, self._seed, message["decision"], message["goes_on"])
        turn.failures += [Failure(one["kind"], one["message"]) for one in message["failures"]]
        before = len(turn.failures)
        try:
            choice = self._agent.act(turn)
            reply = {"type": "action", "id": choice if isinstance(choice, bool) else _plain(choice)}
        except Exception as error:  # any exception is the agent's failure
            reply = _failure(error)
        reply["notes"] = _bounded(turn.notes)
        reply["failures"] = [
            {"kind": str(one.kind)[:_LONGEST_TEXT], "message": str(one.message)[:_LONGEST_TEXT]}
            for one in turn.failures[before:][:MOST_FAILURES]
        ]
        return reply


def _bounded(notes: dict[str, Any]) -> dict[str, Any]:
    """Return the notes, or a placeholder if they are too long."""
    length = len(json.dumps(notes, default=str))
    return notes if length <= LONGEST_NOTES else {"dropped": TOO_LONG}


def _plain(choice: Any) -> Any:
    """Return an integer as an int, and anything else as its repr."""
    try:
        return operator.index(choice)
    except TypeError:  # arrays of one number, too
        return repr(choice)


def _event(message: dict[str, Any]) -> Event:
    source, target = (None if message[name] is None else tuple(message[name]) for name in ("source", "target"))
    return Event(message["kind"], message["player"], message["token"], source, target, message["value"])


def _failure(error: BaseException) -> dict[str, Any]:
    traceback.print_exception(error, file=sys.stderr)
    trace = "".join(traceback.format_exception(error))[-_LONGEST_TRACE:]
    if isinstance(error, AgentFailureError):
        return {"type": "failure", "kind": error.kind, "message": str(error), "final": error.final}
    kind = "memory" if isinstance(error, MemoryError) else "exception"
    return {
        "type": "failure",
        "kind": kind,
        "message": raised_text(error)[:_LONGEST_TEXT],
        "trace": trace,
    }


def serve(spec: str, lines: Any, answers: Any) -> None:
    """Answer messages from `lines` on `answers`, an unbuffered binary file, until the input ends."""

    def say(answer: dict[str, Any]) -> None:
        data = json.dumps(answer, default=str).encode() + b"\n"
        while data:  # a write may be partial
            data = data[answers.write(data) :]

    try:
        worker = _Worker(spec, json.loads(lines.readline()))
    except BaseException as error:  # a factory may raise anything, even SystemExit
        say(_failure(error))
        return
    say({"type": "ready", "protocol": PROTOCOL, "wants": ["twin", *(["events"] if worker.observes else [])]})
    pending: dict[str, Any] | None = None  # failure on a message without an answer; sent with the next answer
    for line in lines:
        message = json.loads(line)
        if message["type"] == "bye":
            return
        try:
            answer = worker.answer(message)
        except Exception as error:  # any exception is the agent's failure
            pending = _failure(error)
            continue
        if answer is not None and pending is not None:
            answer["failures"].insert(0, {"kind": pending["kind"], "message": pending["message"]})
            pending = None
        if answer is not None:
            say(answer)


def main(spec: str, game_name: str, options: str) -> None:
    """Serve requests to fork a process for the agent."""
    settings, folder = json.loads(os.environ.pop(cell.GAMES, "null")), os.environ.pop(FOLDER, None)
    game = get_game(game_name)
    _warm_up(game, game.make_options(**json.loads(options)))
    preload(spec, folder)
    adopt_orphans()
    _guard_memory(True)
    gc.collect()
    gc.freeze()  # forked processes share the loaded modules
    requests = socket.socket(fileno=os.dup(0))
    before = _inherited()
    requests.sendall(READY)
    child = 0
    while True:
        request, streams, _, _ = socket.recv_fds(requests, 1, 3)
        if request == START:
            child = _forked(spec, settings, folder, requests, streams)
            for stream in streams:
                os.close(stream)
        elif request == END:
            code = _ended(child)
            if _inherited() != before:
                requests.sendall(b"%d last\n" % code)
                return
            requests.sendall(b"%d\n" % code)
        else:  # the parent has closed its end
            end_descendants()
            return


def _forked(
    spec: str, settings: dict[str, Any] | None, folder: str | None, requests: socket.socket, streams: list[int]
) -> int:
    """Fork the agent's process, which closes the socket of requests.

    `settings` are for `cell.enter`; None: the process gets no namespaces. `folder` has a guest's modules.
    """
    server = os.getpid()
    child = os.fork()
    if child == 0:
        _play(spec, settings, folder, server, requests, streams)
    return child


def _play(
    spec: str,
    settings: dict[str, Any] | None,
    folder: str | None,
    server: int,
    requests: socket.socket,
    streams: list[int],
) -> NoReturn:
    """Run as the agent's process. Output of the agent goes to standard error."""
    code = 1
    try:
        end_with_parent(signal.SIGKILL, server)
        requests.close()
        if folder is not None:
            sys.path.append(folder)
            os.environ["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), folder])
        if settings is None:
            os.setsid()  # signals and priorities for the process group would otherwise reach the server
            _guard_memory(False)
        else:
            cell.enter(settings)
            cell.confine(settings)
        lines, answers = os.fdopen(os.dup(streams[0]), "rb"), os.fdopen(os.dup(streams[1]), "wb", buffering=0)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(streams[2], 1)
        os.dup2(streams[2], 2)
        for stream in streams:
            os.close(stream)
        serve(spec, lines, answers)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
        if not isinstance(error.code, int | None):
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _ended(child: int) -> int:
    """End the agent's process and everything it has started, and return its exit code."""
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid == 0:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    end_descendants()
    return os.waitstatus_to_exitcode(status)


def _inherited() -> list[Any]:
    """Return everything that forked processes inherit and that processes of the same user can change."""
    found: list[Any] = [resource.getrlimit(number) for number in _LIMITS]
    found.append(os.getpriority(_PRIO_PROCESS, 0))
    if sys.platform == "linux":
        found += [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority, sorted(os.sched_getaffinity(0))]
        if platform.machine() in _IOPRIO_GET:
            found.append(ctypes.CDLL(None).syscall(_IOPRIO_GET[platform.machine()], 1, 0))
        for name in _SETTINGS:
            with contextlib.suppress(OSError):  # missing in some kernels
                found.append(Path("/proc/self", name).read_bytes())
    return found


def _guard_memory(guarded: bool) -> None:
    """Allow or forbid processes of the same user to read or change this process's memory (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0 if guarded else 1)


def _warm_up(game: Game, options: Options) -> None:
    """Load or compile everything that a turn uses, which would otherwise count as time of the first decision."""
    state = game.new_state(seed=0, **options.as_dict())
    twin = game.from_bytes(state.determinize(state.current_player, 0).to_bytes(), trusted=True)
    turn = Turn(twin.determinize(twin.current_player, 0), 0)
    for ask in (lambda: turn.observation, lambda: turn.view, lambda: turn.facts, lambda: turn.recap, turn.render):
        ask()


if __name__ == "__main__":
    main(*sys.argv[1:])
