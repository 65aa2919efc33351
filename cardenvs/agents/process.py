"""An agent that is a process, speaking JSON lines on its standard input and output.

The protocol, version 1. Each message is one line of JSON, an object with a "type"; unknown members are to be ignored.

To the agent:

    {"type": "hello", "protocol": 1, "game": "...", "options": {...}}        once; answer with "ready"
    {"type": "reset", "seed": 123, "player": 0}                              a game begins; no answer
    {"type": "events", "events": [{"kind": "bet", "player": 1, "token": null, "source": null, "target": null,
        "value": 2, "text": "player_1 bets 2."}, ...]}                       what its player saw happen; no answer
    {"type": "act", "player": 0, "decision": 3, "goes_on": false, "seed": 456,
        "legal": [{"id": 2, "label": "call"}, ...],
        "failures": [{"kind": ..., "message": ...}, ...], ...}               answer with "action"
    {"type": "end", "returns": [1.0, -1.0]}                                  the game is over; no answer
    {"type": "bye"}                                                          no more for you: end

From the agent:

    {"type": "ready", "protocol": 1, "wants": ["view", "facts"]}
    {"type": "action", "id": 2}      or      {"type": "action", "label": "call"}      and "notes": {...} if it likes
    {"type": "failure", "message": "..."}                                    it cannot decide: this try has failed

"wants" chooses what "act" holds besides: "view", "facts", "recap", "observation", "render", and "twin": base64 of a
saved state in which all that the player cannot know is dealt anew. "events" asks for the messages of that name, as
things happen. Who has failed a try is asked again with all "failures" so far. A process that is late, that ends, or
that says anything else is killed and started again; it then gets "reset" and all events of the game once more. Each
game has a process of its own: after "end" its standard input is closed, and what is left a second later is killed,
with all that it has started.

Of a process's standard error only the last lines are kept; they are quoted when it fails.
"""

import base64
import contextlib
import dataclasses
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.agents.forkserver import ForkServer, ended
from cardenvs.agents.guest import Guest
from cardenvs.agents.kinds import AgentKind
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.options import Options

PROTOCOL = 1
WANTS = ("view", "facts", "recap", "observation", "render", "twin", "events")
_LONGEST_LINE = 1 << 20  # bytes of one message from an agent
LONGEST_NOTES = 64 << 10  # characters of JSON that an agent may note of a decision,
_MOST_NOTES = 1 << 20  # and of a game
TOO_LONG = (
    f"at most {LONGEST_NOTES >> 10} KiB of notes are kept of a decision of an agent in a process, and "
    f"{_MOST_NOTES >> 10} KiB of a game"
)
MOST_FAILURES = 20  # failures that an agent may report of a decision
_LAST_SECONDS = 1.0  # that a process has after the end of its game
_MOST_UNSENT = 64 << 20  # bytes that an agent may leave unread
_KEPT_STDERR = 2000  # bytes of what it wrote last to standard error
_KEPT_ENV = {
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
    "CUDA_VISIBLE_DEVICES", "XDG_CACHE_HOME", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
}  # fmt: skip
_KEPT_ENV_PREFIXES = ("LC_", "CARDENVS_", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_")
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
_LAUNCH = str(Path(__file__).with_name("launch.py"))


# A process that asks to die with its parent dies with the parent's thread: so one thread, which stays, starts all.
def _new_spawner() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="cardenvs-spawn")


_spawner = _new_spawner()
_agents: "weakref.WeakSet[ProcessAgent]" = weakref.WeakSet()


def _leave_to_parent() -> None:
    """In a forked process: the spawning thread did not come along, and the agents' processes are the parent's."""
    global _spawner
    _spawner = _new_spawner()
    for agent in list(_agents):
        agent._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


class ProcessAgent(Agent):
    """An agent in a process of its own, a new one for each game. One that is lost is started again with the next call.

    Attributes:
        name: of the agent.
        player: whom it plays in this game, where that is known before its first turn.
        enforces_time_limit: True: the time limit is kept here.
        is_isolated: True: each game has a process of its own; messages without an answer fail late, in the next turn.
        starts: how often the process was started.
    """

    enforces_time_limit = True
    is_isolated = True

    def __init__(
        self,
        command: Sequence[str],
        game: Game,
        options: Options,
        *,
        name: str,
        time_limit: float | None = 30.0,
        memory_limit_mb: int | None = 4096,
        start_limit: float = 120.0,
        keep_env: Sequence[str] = (),
        guest: Guest | None = None,
    ) -> None:
        """An agent that `command` runs; nothing is started yet.

        Args:
            command: program and arguments.
            game, options: what it is to play.
            name: of the agent.
            time_limit: seconds a decision; also for reading what it is told. None: no limit.
            memory_limit_mb: of the process's data; None: no limit.
            start_limit: seconds until it says "ready".
            keep_env: environment variables to pass on besides the few that every program needs.
            guest: whose code it is, if it comes from elsewhere.

        Raises:
            AgentError: an empty command, or a platform without POSIX processes.
        """
        if os.name != "posix":
            raise AgentError("agents in processes of their own need a POSIX system; use isolation='thread'")
        if not command:
            raise AgentError("process agents are written process:COMMAND, as in 'process:python my_agent.py'")
        self._command, self._game, self._options = list(command), game, options
        self.name = name
        self._time_limit, self._memory_mb, self._start_limit = time_limit, memory_limit_mb, start_limit
        self._keep_env = tuple(keep_env)
        self._guest = guest if guest is not None and guest.folder is not None else None
        self._forks = False
        self._server: ForkServer | None = None
        self._pipe: _Pipe | None = None
        self._has_played = False  # the running process knows a game
        self._noted = 0  # characters of notes in this game
        self._wants: frozenset[str] = frozenset()
        self._seed: int | None = None
        self._told: list[dict[str, Any]] = []  # the events of this game
        self.player: int | None = None
        self.starts = 0
        _agents.add(self)

    @classmethod
    def of_command(cls, text: str, game: Game, options: Options, **limits: Any) -> "ProcessAgent":
        """An agent from a command line, split as a shell would."""
        try:
            return cls(shlex.split(text), game, options, **limits)
        except ValueError as error:
            raise AgentError(f"cannot read the command {text!r}: {error}") from None

    @classmethod
    def of_spec(cls, spec: str, game: Game, options: Options, **limits: Any) -> "ProcessAgent":
        """The agent of a spec, made in a process of its own."""
        safe = ["-P"] if limits.get("guest") is not None else []  # its folder comes last, not first
        command = [sys.executable, *safe, "-m", "cardenvs.agents.worker", spec, game.name]
        command.append(json.dumps(options.as_dict()))
        agent = cls(command, game, options, name=limits.pop("name", spec), **limits)
        agent._forks = True
        return agent

    def __getstate__(self) -> dict[str, Any]:
        """All but what runs: a copy starts a process of its own, and tells it what has happened in the game."""
        return {**self.__dict__, "_pipe": None, "_server": None, "_has_played": False}

    # -- as an agent --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process, if it does not run, and wait until it is ready.

        Raises:
            AgentError: it does not become ready; quotes what it wrote to standard error.
        """
        if self._pipe is None:
            self._start()

    def take_seat(self, player: int) -> None:
        """Play `player` from the next game on."""
        self.player = player

    def reset(self, seed: int) -> None:
        """A game begins, in a process that knows of no other."""
        if self._has_played:
            self._drop()
        self._seed, self._told, self._noted = seed, [], 0
        fresh = self._pipe is None
        self.start()
        if not fresh:
            self._tell_reset()
        self._has_played = True

    def observe(self, events: list[Event]) -> None:
        """Tell it what its player saw."""
        if "events" not in self._wants:
            return
        kinds = {kind.name: kind for kind in self._game.table.kinds}
        words = self._game.view
        told = [
            {**dataclasses.asdict(event), "text": words.describe_event(event, kinds[event.kind])} for event in events
        ]
        self._told += told
        if self._pipe is not None:
            self._tell({"type": "events", "events": told})

    def act(self, turn: Turn) -> int:
        """What it chooses.

        Raises:
            AgentFailureError: with the class of what went wrong.
            IllegalActionError: no legal action reads like the label it gave.
        """
        self.start()
        reply = self._ask({"type": "act", **self._question(turn)}, self._time_limit)
        self._take_notes(turn, reply)
        if reply["type"] == "failure":
            if reply.get("kind") == "memory":
                self._drop()  # it may hold on to what it has got
            raise _reported(reply)
        if reply["type"] != "action":
            raise self._lost("protocol", f'it answered {_shown(reply)}, not with an "action"')
        if "label" in reply and "id" not in reply:
            return turn.action_from_label(str(reply["label"]))
        return reply.get("id")  # type: ignore[return-value]  # checked by whoever asks

    def end(self, returns: list[float]) -> None:
        """The game is over, and so is its process."""
        self._told = []
        if self._pipe is not None:
            self._tell({"type": "end", "returns": returns})
            self._tell({"type": "bye"})
            self._drop(_LAST_SECONDS)
        self._seed = None

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            with contextlib.suppress(AgentFailureError):
                self._tell({"type": "bye"})
        self._drop(grace=0.2)
        self._drop_server()

    def __del__(self) -> None:
        self._drop()
        self._drop_server()

    # -- messages -----------------------------------------------------------------------------------------------

    def _question(self, turn: Turn) -> dict[str, Any]:
        question: dict[str, Any] = {
            "player": turn.player,
            "decision": turn.decision,
            "goes_on": turn.goes_on,
            "seed": turn.seed,
            "legal": [{"id": action, "label": turn.label(action)} for action in turn.legal_actions],
            "failures": [{"kind": failure.kind, "message": failure.message} for failure in turn.failures],
        }
        for name in ("view", "facts", "recap"):
            if name in self._wants:
                question[name] = getattr(turn, name)
        if "observation" in self._wants:
            question["observation"] = turn.observation.tolist()
        if "render" in self._wants:
            question["render"] = turn.render()
        if "twin" in self._wants:
            question["twin"] = base64.b64encode(turn.determinize(turn.seed).to_bytes()).decode()
        return question

    def _take_notes(self, turn: Turn, reply: dict[str, Any]) -> None:
        notes = reply.get("notes")
        if isinstance(notes, dict) and notes:
            length = len(json.dumps(notes))
            self._noted += length
            if length > LONGEST_NOTES or self._noted > _MOST_NOTES:
                notes = {"dropped": TOO_LONG}
            turn.notes |= notes
        failures = reply.get("failures")
        for one in failures[:MOST_FAILURES] if isinstance(failures, list) else ():
            if isinstance(one, dict):
                turn.failures.append(Failure(str(one.get("kind")), str(one.get("message"))))

    def _tell_reset(self) -> None:
        self._tell({"type": "reset", "seed": self._seed, "player": self.player})

    def _tell(self, message: dict[str, Any]) -> None:
        assert self._pipe is not None
        try:
            self._pipe.send(message)
        except _BrokenPipeError as error:
            raise self._lost("crash", str(error)) from None

    def _ask(self, message: dict[str, Any], limit: float | None) -> dict[str, Any]:
        assert self._pipe is not None
        try:
            reply = self._pipe.ask(message, limit)
        except TimeoutError:
            raise self._lost("timeout", f"it did not answer within {limit:g} seconds") from None
        except _BrokenPipeError as error:
            raise self._lost("memory" if error.memory else "crash", str(error)) from None
        except _BadLineError as error:
            raise self._lost("protocol", str(error)) from None
        return reply

    def _lost(self, kind: str, what: str) -> AgentFailureError:
        """End a process that cannot be used any more, and say why."""
        self._drop()
        return AgentFailureError(kind, what)

    # -- the process --------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.starts += 1
        self._has_played = self._seed is not None
        try:
            self._pipe = _Pipe(self._forked() if self._forks else _Program(*self._launched()))
        except (OSError, AgentError) as error:
            self._drop_server()
            raise AgentError(f"agent {self.name!r}: cannot start a process: {error}") from None
        hello = {"type": "hello", "protocol": PROTOCOL, "game": self._game.name, "options": self._options.as_dict()}
        try:
            ready = self._ask(hello, self._start_limit)
        except AgentFailureError as error:
            raise AgentFailureError(error.kind, f"agent {self.name!r} did not start: {error}") from None
        self._check_ready(ready)
        if self._seed is not None:
            self._tell_reset()
            if self._told and "events" in self._wants:
                self._tell({"type": "events", "events": self._told})

    def _launched(self) -> tuple[list[str], dict[str, str]]:
        if self._guest is not None:
            return guest_command(self._command, self._memory_mb, self._guest, self._game)
        return agent_command(self._command, self._memory_mb, self._keep_env)

    def _forked(self) -> "_Forked":
        """A process forked by the server, which is started where it does not run."""
        if self._server is not None:
            with contextlib.suppress(OSError):
                return _Forked(self._server)
            self._drop_server()
        command, env = self._launched()
        self._server = ForkServer(lambda **streams: _spawned(command, env, **streams), self._start_limit)
        return _Forked(self._server)

    def _drop_server(self) -> None:
        server = getattr(self, "_server", None)
        self._server = None
        if server is not None:
            server.close()
            ended(server.process)

    def _check_ready(self, ready: dict[str, Any]) -> None:
        what = None
        wants = ready.get("wants", [])
        if ready["type"] == "failure":
            what = f"it did not start: {ready.get('message')}"
        elif ready["type"] != "ready" or ready.get("protocol") != PROTOCOL:
            what = f'it answered {_shown(ready)}; it has to say {{"type": "ready", "protocol": {PROTOCOL}}}'
        elif not isinstance(wants, list) or not {str(want) for want in wants} <= set(WANTS):
            what = f"it wants {_shown(wants)}; it may want some of {', '.join(WANTS)}"
        if what is not None:
            raise self._lost("protocol", f"agent {self.name!r}: {what}")
        self._wants = frozenset(map(str, wants))

    def _leave_to_parent(self) -> None:
        pipe, server = self._pipe, self._server
        self._pipe, self._server, self._has_played = None, None, False
        if pipe is not None:
            pipe.leave()
        if server is not None:
            server.leave()

    def _drop(self, grace: float = 0.0) -> None:
        pipe = getattr(self, "_pipe", None)
        self._pipe, self._has_played = None, False
        if pipe is not None:
            pipe.close(grace)


class _BrokenPipeError(Exception):
    """The process is gone, or does not read."""

    def __init__(self, message: str, memory: bool = False) -> None:
        super().__init__(message)
        self.memory = memory


class _BadLineError(Exception):
    """The process wrote something that is no message."""


def _spawned(command: list[str], env: dict[str, str], **streams: Any) -> subprocess.Popen:
    # The launcher checks that its parent is alive, so the process that forks must be this one.
    def start() -> subprocess.Popen:
        return subprocess.Popen(command, env=env, bufsize=0, start_new_session=True, close_fds=True, **streams)

    return _spawner.submit(start).result()


class _Running(Protocol):
    """A process: this end of its standard streams, and how it is ended."""

    stdin: int
    stdout: int
    stderr: int

    def exit_code(self) -> int | None:
        """Of a process that has closed its standard output; None: it runs on, or nobody knows."""

    def end(self, grace: float) -> None:
        """End it, with all that it has started, after `grace` seconds at most, and close the streams."""

    def leave(self) -> None:
        """Close the streams and let it run: another process, from which this one was forked, uses it."""


class _Program:
    """A command that runs."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = _spawned(command, env, stdin=pipe, stdout=pipe, stderr=pipe)
        self._streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in self._streams if stream is not None)

    def exit_code(self) -> int | None:
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return None

    def end(self, grace: float) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        ended(self._process, grace)
        self._close()

    def leave(self) -> None:
        self._process.returncode = 0  # no child of this process: there is nothing to wait for
        self._close()

    def _close(self) -> None:
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]


class _Forked:
    """A process that a server has forked."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        (read, self.stdin), (self.stdout, write), (self.stderr, errors) = (os.pipe() for _ in range(3))
        try:
            server.start([read, write, errors])
        except OSError:
            self._close()
            raise
        finally:
            for descriptor in (read, write, errors):
                os.close(descriptor)
        self._code: int | None = None

    def exit_code(self) -> int | None:
        if self._code is None:
            self._code = self._server.end()
        return self._code

    def end(self, grace: float) -> None:
        os.close(self.stdin)
        self.stdin = -1
        closed, deadline = select.poll(), time.monotonic() + grace
        closed.register(self.stdout, select.POLLIN)
        while grace and (left := deadline - time.monotonic()) > 0:
            if closed.poll(left * 1000) and not os.read(self.stdout, 1 << 16):
                break
        self.exit_code()
        self._close()

    def leave(self) -> None:
        self._close()

    def _close(self) -> None:
        for descriptor in (self.stdin, self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)


class _Pipe:
    """A running process and the messages to and from it. Nothing here waits longer than it is told to."""

    def __init__(self, running: _Running) -> None:
        self._running = running
        self._in, self._out, self._err = running.stdin, running.stdout, running.stderr
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._unsent, self._received, self._stderr = bytearray(), bytearray(), bytearray()
        self._open = {self._in, self._out, self._err}

    def send(self, message: dict[str, Any]) -> None:
        """Write a message as far as the process reads it; the rest is written later."""
        self._unsent += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        if len(self._unsent) > _MOST_UNSENT:
            raise _BrokenPipeError("it does not read what it is told")
        self._pump(0.0)

    def ask(self, message: dict[str, Any], limit: float | None) -> dict[str, Any]:
        """Write a message and wait for the next one from the process.

        Raises:
            TimeoutError, _BrokenPipeError, _BadLineError
        """
        deadline = None if limit is None else time.monotonic() + limit
        if self._received:  # nobody asked for that
            raise _BadLineError(f"it wrote {_shown(bytes(self._received[:200]))} without being asked")
        self.send(message)
        while True:
            end = self._received.find(b"\n")
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                return _read(line)
            if len(self._received) > _LONGEST_LINE:
                raise _BadLineError(f"its answer is longer than {_LONGEST_LINE >> 20} MiB")
            if self._out not in self._open:
                raise self._gone()
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self._pump(left)

    def _pump(self, seconds: float | None) -> None:
        """Move bytes in both directions, waiting for the first ones up to `seconds`."""
        poll = select.poll()
        for descriptor in self._open - {self._in}:
            poll.register(descriptor, select.POLLIN)
        if self._unsent and self._in in self._open:
            poll.register(self._in, select.POLLOUT)
        for descriptor, _ in poll.poll(None if seconds is None else max(0, int(seconds * 1000 + 1) if seconds else 0)):
            if descriptor == self._in:
                self._write()
            elif descriptor == self._out:
                self._read_into(descriptor, self._received)
            else:
                self._read_into(descriptor, self._stderr)
                del self._stderr[:-_KEPT_STDERR]

    def _write(self) -> None:
        try:
            written = os.write(self._in, self._unsent[: 1 << 16])
            del self._unsent[:written]
        except BlockingIOError:
            return
        except OSError:  # it has closed its input, or ended: what it wrote before counts still
            self._open.discard(self._in)
            self._unsent.clear()

    def _read_into(self, descriptor: int, buffer: bytearray) -> None:
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            buffer += data
        else:
            self._open.discard(descriptor)

    def _gone(self) -> _BrokenPipeError:
        code = self._running.exit_code()
        if code is None:
            return _BrokenPipeError("it has closed its standard output")
        if self._err in self._open:
            self._pump(0.0)
        words = self._stderr.decode(errors="replace").strip().splitlines()
        said = f"; it wrote: {' | '.join(words[-3:])}" if words else ""
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        memory = any(word in line for line in words for word in ("MemoryError", "bad_alloc", "Cannot allocate memory"))
        return _BrokenPipeError(f"its process {how}{said}", memory)

    def leave(self) -> None:
        """Close this process's ends, and let the agent's process run."""
        self._running.leave()

    def close(self, grace: float) -> None:
        """End the process, with all that it has started, after `grace` seconds at most."""
        self._running.end(grace)


def agent_command(
    command: Sequence[str], memory_limit_mb: int | None, keep_env: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of an agent's process: the one place, with
    `guest_command`, where strangers' code is started.

    Args:
        command: program and arguments of the agent.
        memory_limit_mb: of each process's data; None: no limit.
        keep_env: environment variables that the operator passes on, by name.
    """
    memory = 0 if memory_limit_mb is None else memory_limit_mb << 20
    return [*_launch(memory), *command], _environment(keep_env)


def guest_command(
    command: Sequence[str], memory_limit_mb: int | None, guest: Guest, game: Game
) -> tuple[list[str], dict[str, str]]:
    """The same for a guest with code of its own: within its limits, and in its sandbox where it has one."""
    inner, env = guest.command(command, game, memory_limit_mb)
    return [*_launch(0), *inner], env  # the limits are set inside: they are the guest's, not the sandbox's


def _launch(memory: int) -> list[str]:
    return [sys.executable, "-I", "-S", _LAUNCH, str(memory), str(os.getpid())]


def _environment(keep: Sequence[str]) -> dict[str, str]:
    """What a process gets of the environment: what programs need, what was asked for, and where to find modules."""
    env = {name: value for name, value in os.environ.items() if name in keep or _is_harmless(name)}
    env["PYTHONPATH"] = os.pathsep.join([path or os.getcwd() for path in sys.path])
    env["CARDENVS_QUIET"] = "1"
    env.setdefault("OMP_NUM_THREADS", "1")  # the agents of a match share the cores
    return env


def _is_harmless(name: str) -> bool:
    kept = name in _KEPT_ENV or name.startswith(_KEPT_ENV_PREFIXES)
    return kept and not any(word in name.upper() for word in _SECRET_WORDS)


def _read(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadLineError(f"it wrote {_shown(line[:200])}, which is no JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise _BadLineError(f'it wrote {_shown(line[:200])}, which is no object with a "type"')
    return message


def _reported(reply: dict[str, Any]) -> AgentFailureError:
    error = AgentFailureError(
        str(reply.get("kind", "exception")), str(reply.get("message", "")), final=reply.get("final") is True
    )
    if isinstance(reply.get("trace"), str):
        error.add_note("".join(c if c.isprintable() or c == "\n" else "?" for c in reply["trace"]).rstrip())
    return error


def _shown(value: Any) -> str:
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else json.dumps(value)
    text = ascii(text)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _make(argument: str, game: Game, options: Options) -> Agent:
    return ProcessAgent.of_command(argument, game, options, name=f"process:{argument}")


PROCESS = AgentKind("process", "process:COMMAND", "a program that speaks JSON lines", _make, isolation="none")
