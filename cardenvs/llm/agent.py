"""A language model as an agent."""

import asyncio
import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

from cardenvs.agents.base import Agent, Failure, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.llm.answers import OK, TRANSPORT, AnswerError
from cardenvs.llm.client import Call, Client, Memory, ModelClient, RememberingClient, ScriptClient
from cardenvs.llm.dialogue import Plays, Question
from cardenvs.llm.prompt import system_text, write_prompt
from cardenvs.llm.transcript import system_id, transcript_of

if TYPE_CHECKING:
    from cardenvs.llm.config import LLMConfig  # needs the extra `llm`

_LONGEST_NOTED = 4000  # characters of a reply that are kept in the notes of a decision
_OPERATORS = ("base_url", "api_key_env", "transcript", "extra")  # only the operator of a match may set these
_NO_SETTINGS = ("name", "path", "environ")  # arguments of LLMConfig.named


class LLMAgent(Agent):
    """A language model that plays any game.

    A decision is one or more attempts; each has its own outcome, and its own message for the next one. When all have
    failed, it raises a final AgentFailureError, and the proxy decides what follows. Prompts and replies are in
    `turn.notes["llm"]`; every failed call is in `turn.failures`, by its outcome.

    Attributes:
        name: of the agent.
        config: the LLMConfig.
        enforces_time_limit: True: the time limit is kept here.
        io_bound: True: it mostly waits for replies, so many games may be played at once, each in a thread.
        outcomes: calls so far by outcome; "single" and "planned" are decisions that needed none.
    """

    enforces_time_limit = True
    io_bound = True

    def __init__(self, game: Game, options: Options, config: "LLMConfig", client: Client | None = None) -> None:
        """Create an agent for a game. `config` says which model, and under which conditions.

        `client` is asked, by default the model of `config`.

        Raises:
            AgentError: the conditions do not fit the game.
            MissingExtraError: the extra `llm` is not installed.
        """
        self.name = config.name
        self.config = config
        self._game, self._options = game, options
        self._client = client
        self._transcript = None if config.transcript is None else transcript_of(config.transcript)
        self._plays = Plays()
        self._seed = 0
        self.outcomes: Counter[str] = Counter()
        write_prompt(Turn(game.new_state(seed=0, **options.as_dict()), 0), config.prompt)  # fails now, or never
        if client is None and config.policy == "llm":
            self._client = ModelClient(config)

    def __repr__(self) -> str:
        return f"<LLMAgent {self.name}: {self.config.model or self.config.policy}>"

    def conditions(self) -> dict[str, Any]:
        """Everything that may affect its results, for records of an experiment: JSON values, without keys."""
        return {
            **self.config.conditions(),
            "system": system_id(system_text(self._game, self._options, self.config.prompt)),
        }

    def tell_what_people_see(self) -> None:
        """Leave out facts that do a player's remembering, as beside people, for whom nobody does it."""
        prompt = dataclasses.replace(self.config.prompt, memory=False)
        self.config = self.config.model_copy(update={"prompt": prompt})

    def keep_answers(self, memory: Memory) -> None:
        """Keep all answers in a memory, and ask nothing that it has the answer to."""
        self._client = RememberingClient(self._asked(), memory)

    def reset(self, seed: int) -> None:
        """Prepare for a new game."""
        self._seed = seed
        self._plays.clear()

    def act(self, turn: Turn) -> int:
        """Return what the model chooses.

        Raises:
            AgentFailureError: no attempt gave an answer.
        """
        chosen = self._without_asking(turn)
        if chosen is not None:
            return chosen
        decision = _Decision(self, turn)
        while not decision.over:
            decision.take(self._asked().ask(decision.messages, decision.budget_s).result())
        return self._plays.begin(turn, decision.result())

    async def act_async(self, turn: Turn) -> int:
        """Choose like `act`, without blocking the event loop."""
        chosen = self._without_asking(turn)
        if chosen is not None:
            return chosen
        decision = _Decision(self, turn)
        while not decision.over:
            decision.take(await asyncio.wrap_future(self._asked().ask(decision.messages, decision.budget_s)))
        return self._plays.begin(turn, decision.result())

    def _asked(self) -> Client:
        if self._client is None:
            replies = self.config.script if self.config.policy == "scripted" else ('<answer>{"id":"c0"}</answer>',)
            self._client = ScriptClient(replies)
        return self._client

    def _without_asking(self, turn: Turn) -> int | None:
        """Return the next action of a play under way, or the only candidate."""
        found = self._plays.unasked(turn)
        if found is None:
            return None
        outcome, action = found
        self.outcomes[outcome] += 1
        self._note(turn, {"outcome": outcome, "label": self._plays.label, "calls": []})
        return action

    def _note(self, turn: Turn, notes: dict[str, Any]) -> None:
        turn.notes["llm"] = {"model": self.config.model or self.config.policy, **notes}


class _Decision:
    """The attempts at one decision."""

    def __init__(self, agent: LLMAgent, turn: Turn) -> None:
        self._agent, self._turn, self._config = agent, turn, agent.config
        self._question = Question(turn, agent.config.prompt)
        self._attempt = 1
        self._spent_s = 0.0
        self._actions: tuple[int, ...] | None = None
        self._calls: list[dict[str, Any]] = []
        self._last = Failure("timeout", "there was no time for an attempt")
        self.over = False
        prompt = self._question.prompt
        agent._note(turn, {"outcome": "", "system": system_id(prompt.system), "prompt": prompt.user})
        turn.notes["llm"]["calls"] = self._calls

    @property
    def messages(self) -> list[dict[str, str]]:
        """What to send now."""
        return self._question.messages

    @property
    def budget_s(self) -> float | None:
        """Seconds that are left for requests, or None."""
        limit = self._config.turn_timeout_s
        return None if limit is None else max(0.0, limit - self._spent_s)

    def take(self, calls: list[Call]) -> None:
        """Record the calls of an attempt."""
        for number, call in enumerate(calls, 1):
            self._take_call(call, number)
        self._attempt += 1
        budget = self.budget_s
        hopeless = calls[-1].outcome == TRANSPORT and not calls[-1].again  # as a key that is refused
        hopeless = hopeless or (budget is not None and budget <= 0)
        if self._actions is not None or self._attempt > self._config.most_attempts or hopeless:
            self.over = True
            self._turn.notes["llm"]["outcome"] = OK if self._actions is not None else self._last.kind
            return
        self._question.fail(calls[-1].reply, self._last.kind, self._last.message)

    def _take_call(self, call: Call, number: int) -> None:
        self._spent_s += call.seconds
        outcome, reason, chosen = call.outcome, call.reason, None
        if outcome == OK:
            try:
                chosen = self._actions = self._question.read(call.reply)
            except AnswerError as error:
                outcome, reason = error.outcome, str(error)
        self._agent.outcomes[outcome] += 1
        if outcome != OK:
            self._last = Failure(outcome, reason)
            self._turn.failures.append(self._last)
        record = {
            "attempt": self._attempt, "request": number, "outcome": outcome, "reason": reason,
            "seconds": round(call.seconds, 4), "finish_reason": call.finish_reason, "tokens": call.tokens,
        }  # fmt: skip
        if chosen is not None:
            candidates = self._question.prompt.candidates
            record["candidate"] = next((name for name, one in candidates.items() if one.actions == chosen), None)
            record["actions"] = list(chosen)
        self._calls.append({**record, "reply": call.reply[:_LONGEST_NOTED]})
        transcript = self._agent._transcript
        if transcript is not None:
            turn = self._turn
            transcript.add(self._question.prompt.system, {
                "agent": self._agent.name, "model": self._config.model or self._config.policy, "game": turn.game.name,
                "game_seed": self._agent._seed, "player": turn.player, "decision": turn.decision, **record,
                "messages": self.messages[1:], "reply": call.reply,
            })  # fmt: skip

    def result(self) -> tuple[int, ...]:
        """Return the chosen actions. Raises AgentFailureError if there are none."""
        if self._actions is None:
            raise AgentFailureError(
                self._last.kind, self._last.message, final=True, forced=self._config.asks_for_forced
            )
        return self._actions


def make(argument: str, game: Game, options: Options) -> LLMAgent:
    """Return the agent of a spec `llm:NAME` or `llm:NAME,setting=value`; without a name, what the environment says.

    Raises:
        AgentError: no such name, or a wrong setting.
        MissingExtraError: the extra `llm` is not installed.
    """
    return LLMAgent(game, options, config_of(argument))


def config_of(argument: str) -> "LLMConfig":
    """Return the configuration that the part of a spec after `llm:` names.

    Raises:
        AgentError, MissingExtraError: as `make`.
    """
    from cardenvs.llm.config import LLMConfig

    name, *settings = argument.split(",") if argument else ["env"]
    changes: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise AgentError(f"settings are written NAME=VALUE; got {text!r}")
        if key.strip() in _OPERATORS:
            raise AgentError(
                f"{key.strip()} cannot be set in a spec, which may come from anybody; set it in the file of models, or "
                "by the environment"
            )
        if key.strip() in _NO_SETTINGS:
            raise AgentError(f"{key.strip()} is no setting of a language model; docs/llm.md lists them")
        changes[key.strip()] = value.strip()
    return LLMConfig.named(name or "env", **changes)


def _fingerprint(argument: str) -> str:
    return config_of(argument).fingerprint()


def _conditions(argument: str, game: Game, options: Options) -> dict[str, Any]:
    return make(argument, game, options).conditions()


LLM = AgentKind(
    "llm",
    "llm:NAME",
    "a [language model](llm.md) of `llm.yaml`; `llm:NAME,temperature=1` changes a setting",
    make,
    _fingerprint,
    _conditions,
    isolation="shared",
)
