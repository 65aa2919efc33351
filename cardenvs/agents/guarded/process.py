"""An agent in a process that speaks JSON lines on its standard input and output; see `protocol`."""

import base64
import contextlib
import dataclasses
import json
import os
import shlex
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.agents.guarded import protocol
from cardenvs.agents.guarded.commands import agent_command, guest_command
from cardenvs.agents.guarded.forkserver import ForkServer, ended
from cardenvs.agents.guarded.guest import Guest
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.pipe import LostProcessError, Pipe
from cardenvs.agents.guarded.programs import Forked, Program, spawned
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import files_fingerprint
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_LAST_SECONDS = 1.0  # time for a process to exit after its game
_agents: "weakref.WeakSet[ProcessAgent]" = weakref.WeakSet()


def _leave_to_parent() -> None:
    """Give up the agents' processes in a forked process: they belong to the parent."""
    for agent in list(_agents):
        agent._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


class ProcessAgent(Agent):
    """An agent in a separate process, a new one for each game. The next call restarts a lost process.

    Attributes:
        name: the agent's name.
        player: its player in this game, if known before its first turn.
        enforces_time_limit: True: this class enforces the time limit.
        is_isolated: True: each game has its own process; failures on messages without an answer show in the next turn.
        starts: number of times that a process was started.
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
        limits: AgentLimits | None = None,
        guest: Guest | None = None,
    ) -> None:
        """Create an agent that runs `command`, without starting it.

        Args:
            command: program and arguments.
            game, options: what the agent plays.
            name: the agent's name.
            limits, guest: see `restrict`.

        Raises:
            AgentError: the command is empty, or this is Windows, which has no POSIX processes.
        """
        if os.name != "posix":
            raise AgentError("agents in separate processes need Linux or macOS; on Windows, use WSL")
        if not command:
            raise AgentError("process agents are written process:COMMAND, as in 'process:python my_agent.py'")
        self._command, self._game, self._options = list(command), game, options
        self.name = name
        self.restrict(limits or AgentLimits(), guest)
        self._forks = False
        self._server: ForkServer | None = None
        self._is_killed = False
        self._pipe: Pipe | None = None
        self._has_played = False  # whether the running process has been told of a game
        self._noted = 0  # characters of notes in this game
        self._wants: frozenset[str] = frozenset()
        self._seed: int | None = None
        self._events: list[dict[str, Any]] = []  # the events of this game
        self.player: int | None = None
        self.starts = 0
        _agents.add(self)

    @classmethod
    def of_command(cls, text: str, game: Game, options: Options, *, name: str) -> "ProcessAgent":
        """Return an agent from a command line, split as a shell would.

        Raises:
            AgentError: the text cannot be split, or as for the constructor.
        """
        try:
            return cls(shlex.split(text), game, options, name=name)
        except ValueError as error:
            raise AgentError(f"cannot read the command {text!r}: {error}") from None

    @classmethod
    def of_spec(
        cls, spec: str, game: Game, options: Options, *, limits: AgentLimits | None = None, guest: Guest | None = None
    ) -> "ProcessAgent":
        """Return the agent of a spec, in a separate process."""
        safe = ["-P"] if guest is not None else []  # its folder comes last, not first
        command = [sys.executable, *safe, "-m", "cardenvs.agents.guarded.worker", spec, game.name]
        command.append(json.dumps(options.as_dict()))
        agent = cls(command, game, options, name=spec, limits=limits, guest=guest)
        agent._forks = True
        return agent

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except the process; a copy starts a new one and sends it the events of the game."""
        return {**self.__dict__, "_pipe": None, "_server": None, "_has_played": False}

    def restrict(self, limits: AgentLimits, guest: Guest | None = None) -> None:
        """Set the limits of processes that start from now on.

        Args:
            limits: limits on time, memory and environment; `tries` and `on_failure` are for the caller.
            guest: the submission that the code belongs to, if any.
        """
        self._limits = limits
        self._guest = guest if guest is not None and guest.folder is not None else None

    # -- as an agent --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process, unless it is running, and wait until it is ready.

        Raises:
            AgentError: it does not become ready; the message quotes its standard error.
        """
        if self._pipe is None:
            self._start()

    def take_seat(self, player: int) -> None:
        """Play `player` from the next game on."""
        self.player = player

    def reset(self, seed: int) -> None:
        """Start a game in a new process, which has seen no other game."""
        if self._has_played:
            self._drop()
        self._seed, self._events, self._noted = seed, [], 0
        fresh = self._pipe is None
        self.start()
        if not fresh:
            self._send_reset()
        self._has_played = True

    def observe(self, events: list[Event]) -> None:
        """Send events that its player saw."""
        if "events" not in self._wants:
            return
        kinds = {kind.name: kind for kind in self._game.table.kinds}
        words = self._game.view
        messages = [
            {**dataclasses.asdict(event), "text": words.describe_event(event, kinds[event.kind])} for event in events
        ]
        self._events += messages
        if self._pipe is not None:
            self._send({"type": "events", "events": messages})

    def act(self, turn: Turn) -> int:
        """Return the agent's choice.

        Raises:
            AgentFailureError: the agent or its process failed; has the class of the failure.
            IllegalActionError: no legal action has the label that it gave.
        """
        self.start()
        reply = self._ask({"type": "act", **self._question(turn)}, self._limits.time_limit)
        self._take_notes(turn, reply)
        if reply["type"] == "failure":
            if reply.get("kind") == "memory":
                self._drop()  # it may still hold the memory
            raise protocol.reported_failure(reply)
        if reply["type"] != "action":
            raise self._lost("protocol", f'it answered {protocol.shown(reply)}, not with an "action"')
        if "label" in reply and "id" not in reply:
            return turn.action_from_label(str(reply["label"]))
        return reply.get("id")  # type: ignore[return-value]  # checked by the caller

    def end(self, returns: list[float]) -> None:
        """End the process of the game."""
        self._events = []
        if self._pipe is not None:
            self._send({"type": "end", "returns": returns})
            self._send({"type": "bye"})
            self._drop(_LAST_SECONDS)
        self._seed = None

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            with contextlib.suppress(AgentFailureError):
                self._send({"type": "bye"})
        self._drop(grace=0.2)
        self._drop_server()

    def kill(self) -> None:
        """End the process at once, from any thread, without waiting. It is not restarted; call `close` afterwards."""
        self._is_killed = True
        pipe, server = self._pipe, self._server
        if pipe is not None:
            pipe.kill()
        if server is not None:
            server.process.terminate()

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
            if length > protocol.LONGEST_NOTES or self._noted > protocol.MOST_NOTES:
                notes = {"dropped": protocol.TOO_LONG}
            turn.notes |= notes
        failures = reply.get("failures")
        for one in failures[: protocol.MOST_FAILURES] if isinstance(failures, list) else ():
            if isinstance(one, dict):
                turn.failures.append(Failure(str(one.get("kind")), str(one.get("message"))))

    def _send_reset(self) -> None:
        self._send({"type": "reset", "seed": self._seed, "player": self.player})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._pipe is not None
        try:
            self._pipe.send(message)
        except LostProcessError as error:
            raise self._lost("crash", str(error)) from None

    def _ask(self, message: dict[str, Any], limit: float | None) -> dict[str, Any]:
        assert self._pipe is not None
        try:
            reply = self._pipe.ask(message, limit)
        except TimeoutError:
            raise self._lost("timeout", f"it did not answer within {limit:g} seconds") from None
        except LostProcessError as error:
            raise self._lost("memory" if error.memory else "crash", str(error)) from None
        except protocol.BadLineError as error:
            raise self._lost("protocol", str(error)) from None
        return reply

    def _lost(self, kind: str, what: str) -> AgentFailureError:
        """End an unusable process and return the error to raise."""
        self._drop()
        return AgentFailureError(kind, what)

    # -- the process --------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._is_killed:
            raise AgentError(f"agent {self.name!r} was ended")
        self.starts += 1
        self._has_played = self._seed is not None
        try:
            self._pipe = Pipe(self._forked() if self._forks else Program(*self._launched()))
        except (OSError, AgentError) as error:
            self._drop_server()
            raise AgentError(f"agent {self.name!r}: cannot start a process: {error}") from None
        hello = {
            "type": "hello",
            "protocol": protocol.PROTOCOL,
            "game": self._game.name,
            "options": self._options.as_dict(),
        }
        try:
            ready = self._ask(hello, self._limits.start_limit)
        except AgentFailureError as error:
            raise AgentFailureError(error.kind, f"agent {self.name!r} did not start: {error}") from None
        self._check_ready(ready)
        if self._seed is not None:
            self._send_reset()
            if self._events and "events" in self._wants:
                self._send({"type": "events", "events": self._events})

    def _launched(self) -> tuple[list[str], dict[str, str]]:
        if self._guest is not None:
            return guest_command(self._command, self._limits.memory_limit_mb, self._guest, self._game, self._forks)
        return agent_command(self._command, self._limits.memory_limit_mb, self._limits.keep_env)

    def _forked(self) -> "Forked":
        """Return a process forked by the server, which is started if it is not running."""
        if self._server is not None:
            with contextlib.suppress(OSError):
                return Forked(self._server)
            self._drop_server()
        command, env = self._launched()
        self._server = ForkServer(lambda **streams: spawned(command, env, **streams), self._limits.start_limit)
        return Forked(self._server)

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
        elif ready["type"] != "ready" or ready.get("protocol") != protocol.PROTOCOL:
            wanted = f'{{"type": "ready", "protocol": {protocol.PROTOCOL}}}'
            what = f"it answered {protocol.shown(ready)}; it should answer {wanted}"
        elif not isinstance(wants, list) or not {str(want) for want in wants} <= set(protocol.WANTS):
            what = f"it wants {protocol.shown(wants)}; it may want any of {', '.join(protocol.WANTS)}"
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


def _make(argument: str, game: Game, options: Options) -> Agent:
    return ProcessAgent.of_command(argument, game, options, name=f"process:{argument}")


_MOST_HASHED = 2**28  # bytes of a file


def _fingerprint(argument: str) -> str:
    """Return a hash of the files that the command names, such as its script; "" if it names none.

    An interpreter, which differs from machine to machine, does not count, and neither does what is too large for code.
    """
    try:
        words = shlex.split(argument)
    except ValueError:
        return ""
    files = [word for word in words if os.path.isfile(word) and os.access(word, os.R_OK)]
    named = [Path(word) for word in files if word != words[0] or len(files) == 1]
    return files_fingerprint(path for path in named if path.stat().st_size <= _MOST_HASHED)


PROCESS = AgentKind(
    "process",
    "process:COMMAND",
    "[a program](agents.md#programs-that-speak-json-lines) that speaks JSON lines",
    _make,
    _fingerprint,
    isolation="own",
)
