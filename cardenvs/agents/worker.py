"""The agent of a spec as a process: `python -m cardenvs.agents.worker SPEC`. See cardenvs.agents.process."""

import base64
import json
import os
import sys
import traceback
from typing import Any

from cardenvs.agents.base import Failure, Turn
from cardenvs.agents.process import PROTOCOL
from cardenvs.agents.specs import make_agent
from cardenvs.core.errors import AgentFailureError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game


class _Worker:
    """Answers messages."""

    def __init__(self, spec: str, hello: dict[str, Any]) -> None:
        self._game: Game = get_game(hello["game"])
        options = self._game.make_options(**hello["options"])
        self._agent = make_agent(spec, self._game, options)
        self._seed = 0
        self.observes = callable(getattr(self._agent, "observe", None))
        self._warm_up(options)

    def _warm_up(self, options: Options) -> None:
        """Load or compile what a turn takes, which would count as time of the first decision."""
        state = self._game.new_state(seed=0, **options.as_dict())
        twin = self._game.from_bytes(state.determinize(state.current_player, 0).to_bytes(), trusted=True)
        turn = Turn(twin.determinize(twin.current_player, 0), 0)
        for ask in (lambda: turn.observation, lambda: turn.view, lambda: turn.facts, lambda: turn.recap, turn.render):
            ask()

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Do what a message asks; the answer, if it takes one."""
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
        twin = self._game.from_bytes(base64.b64decode(message["twin"]), trusted=True)  # the match has made it
        turn = Turn(twin, self._seed)
        turn.failures += [Failure(one["kind"], one["message"]) for one in message["failures"]]
        before = len(turn.failures)
        try:
            choice = self._agent.act(turn)
            reply = {"type": "action", "id": choice if isinstance(choice, bool) else _plain(choice)}
        except Exception as error:  # whatever an agent raises is the agent's failure
            reply = _failure(error)
        reply["notes"] = turn.notes
        reply["failures"] = [{"kind": one.kind, "message": one.message} for one in turn.failures[before:]]
        return reply


def _plain(choice: Any) -> Any:
    """A NumPy integer as an int."""
    return int(choice) if hasattr(choice, "__index__") else repr(choice)


def _event(told: dict[str, Any]) -> Event:
    source, target = (None if told[name] is None else tuple(told[name]) for name in ("source", "target"))
    return Event(told["kind"], told["player"], told["token"], source, target, told["value"])


def _failure(error: BaseException) -> dict[str, Any]:
    traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, AgentFailureError):
        return {"type": "failure", "kind": error.kind, "message": str(error), "final": error.final}
    kind = "memory" if isinstance(error, MemoryError) else "exception"
    return {"type": "failure", "kind": kind, "message": f"{type(error).__name__}: {error}"}


def main(spec: str) -> None:
    """Answer messages until there are no more. What the agent prints goes to standard error."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)

    def say(answer: dict[str, Any]) -> None:
        data = json.dumps(answer, default=str).encode() + b"\n"
        while data:  # one write may take a part of it
            data = data[answers.write(data) :]

    try:
        worker = _Worker(spec, json.loads(lines.readline()))
    except BaseException as error:  # a factory may raise anything, SystemExit too
        say(_failure(error))
        return
    say({"type": "ready", "protocol": PROTOCOL, "wants": ["twin", *(["events"] if worker.observes else [])]})
    pending: dict[str, Any] | None = None  # what failed where no answer is due: told with the next one
    for line in lines:
        message = json.loads(line)
        if message["type"] == "bye":
            return
        try:
            answer = worker.answer(message)
        except Exception as error:  # as above
            pending = _failure(error)
            continue
        if answer is not None and pending is not None:
            answer["failures"].insert(0, {"kind": pending["kind"], "message": pending["message"]})
            pending = None
        if answer is not None:
            say(answer)


if __name__ == "__main__":
    main(sys.argv[1])
