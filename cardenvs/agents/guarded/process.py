"""An agent that is a process, speaking JSON lines on its standard input and output; see `protocol` beside this."""

import base64
import contextlib
import dataclasses
import json
import os
import shlex
import sys
import weakref
from collections.abc import Sequence
from typing import Any

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.agents.guarded.commands import agent_command, guest_command
from cardenvs.agents.guarded.forkserver import ForkServer, ended
from cardenvs.agents.guarded.guest import Guest
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.pipe import LostProcessError, Pipe
from cardenvs.agents.guarded.programs import Forked, Program, spawned
from cardenvs.agents.guarded.protocol import (
    LONGEST_NOTES,
    MOST_FAILURES,
    MOST_NOTES,
    PROTOCOL,
    TOO_LONG,
    WANTS,
    BadLineError,
    reported_failure,
    shown,
)
from cardenvs.agents.kinds import AgentKind
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_LAST_SECONDS = 1.0  # that a process has after the end of its game
_agents: "weakref.WeakSet[ProcessAgent]" = weakref.WeakSet()


def _leave_to_parent() -> None:
    """In a forked process: the agents' processes are the parent's."""
    for agent in list(_agents):
        agent._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


class ProcessAgent(Agent):
    """An agent in a process of its own, a new one for each game. A lost process is restarted by the next call.

    Attributes:
        name: of the agent.
        player: its player in this game, if known before its first turn.
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
        limits: AgentLimits | None = None,
        guest: Guest | None = None,
    ) -> None:
        """Create an agent that `command` runs; nothing is started yet.

        Args:
            command: program and arguments.
            game, options: what it is to play.
            name: of the agent.
            limits, guest: see `restrict`.

        Raises:
            AgentError: an empty command, or Windows, which has no POSIX processes.
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
        self._has_played = False  # the running process knows a game
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
            AgentError: it cannot be split, or as the constructor.
        """
        try:
            return cls(shlex.split(text), game, options, name=name)
        except ValueError as error:
            raise AgentError(f"cannot read the command {text!r}: {error}") from None

    @classmethod
    def of_spec(
        cls,
        spec: str,
        game: Game,
        options: Options,
        *,
        limits: AgentLimits | None = None,
        guest: Guest | None = None,
    ) -> "ProcessAgent":
        """Return the agent of a spec, made in a process of its own."""
        safe = ["-P"] if guest is not None else []  # its folder comes last, not first
        command = [sys.executable, *safe, "-m", "cardenvs.agents.guarded.worker", spec, game.name]
        command.append(json.dumps(options.as_dict()))
        agent = cls(command, game, options, name=spec, limits=limits, guest=guest)
        agent._forks = True
        return agent

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the process: a copy starts its own and sends it the events of the game."""
        return {**self.__dict__, "_pipe": None, "_server": None, "_has_played": False}

    def restrict(self, limits: AgentLimits, guest: Guest | None = None) -> None:
        """Set the limits of processes that start from now on.

        Args:
            limits: of time, memory and environment; `tries` and `on_failure` are for the caller.
            guest: whose code it is, if it is a stranger's.
        """
        self._limits = limits
        self._guest = guest if guest is not None and guest.folder is not None else None

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
        """Start a game in a new process, which knows of no other game."""
        if self._has_played:
            self._drop()
        self._seed, self._events, self._noted = seed, [], 0
        fresh = self._pipe is None
        self.start()
        if not fresh:
            self._send_reset()
        self._has_played = True

    def observe(self, events: list[Event]) -> None:
        """Send what its player saw."""
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
        """Return what it chooses.

        Raises:
            AgentFailureError: with the class of what went wrong.
            IllegalActionError: no legal action reads like the label it gave.
        """
        self.start()
        reply = self._ask({"type": "act", **self._question(turn)}, self._limits.time_limit)
        self._take_notes(turn, reply)
        if reply["type"] == "failure":
            if reply.get("kind") == "memory":
                self._drop()  # it may hold on to what it has got
            raise reported_failure(reply)
        if reply["type"] != "action":
            raise self._lost("protocol", f'it answered {shown(reply)}, not with an "action"')
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
        """End the process at once, without waiting, from any thread. It does not start again; `close` tidies up."""
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
            if length > LONGEST_NOTES or self._noted > MOST_NOTES:
                notes = {"dropped": TOO_LONG}
            turn.notes |= notes
        failures = reply.get("failures")
        for one in failures[:MOST_FAILURES] if isinstance(failures, list) else ():
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
        except BadLineError as error:
            raise self._lost("protocol", str(error)) from None
        return reply

    def _lost(self, kind: str, what: str) -> AgentFailureError:
        """End an unusable process; returns the error to raise."""
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
        hello = {"type": "hello", "protocol": PROTOCOL, "game": self._game.name, "options": self._options.as_dict()}
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
        """Return a process forked by the server, which is started where it does not run."""
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
        elif ready["type"] != "ready" or ready.get("protocol") != PROTOCOL:
            what = f'it answered {shown(ready)}; it has to say {{"type": "ready", "protocol": {PROTOCOL}}}'
        elif not isinstance(wants, list) or not {str(want) for want in wants} <= set(WANTS):
            what = f"it wants {shown(wants)}; it may want some of {', '.join(WANTS)}"
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


PROCESS = AgentKind(
    "process",
    "process:COMMAND",
    "[a program](agents.md#programs-that-speak-json-lines) that speaks JSON lines",
    _make,
    isolation="own",
)
