"""The games as a taskset of verifiers.

    vf-eval cardenvs-verifiers --env.taskset.game leduc_poker_v0 -n 50 -r 4 -m MODEL --client.base-url URL --no-push

A task is a deal. Its one trace has a branch for each reply, because every prompt is complete: a model is asked exactly
what matches ask, and each branch is a training sample with the seat's return as its reward.

This is a top-level package because verifiers finds tasksets by the names of such packages. docs/llm-training.md has
more.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal, Self, TypeVar

from cardenvs.core.errors import CardenvsError, OptionError, require
from cardenvs.core.registry import list_games
from cardenvs.llm.prompt import PromptSettings
from cardenvs.llm.text_env import TextSeatEnv
from cardenvs.llm.text_player import OUTCOMES

require("verifiers.v1", "verifiers")

import openai  # noqa: E402  verifiers needs it, too
import verifiers.v1 as vf  # noqa: E402
from pydantic import Field, model_validator  # noqa: E402

T = TypeVar("T")
_SETTINGS = ("opponents", "options", "prompt", "retries", "on_failure", "failure_reward", "max_plies")


class CardTasksetConfig(vf.TasksetConfig):
    """What is played; the settings are those of TextSeatEnv.

    Attributes:
        game: name of the game.
        seat: the learner's player number. "rotate" takes 0, 1, ... from task to task.
        opponents: agent spec, or one for each other player.
        options: game options.
        prompt: fields of PromptSettings.
        retries, on_failure, failure_reward, max_plies: see TextSeatEnv.
        first_seed: seed of the first deal; the following tasks count up from it. Keep deals for training and evaluation
            apart with it.
    """

    game: str = ""  # verifiers validates a configuration with defaults only before it reads the user's
    seat: int | Literal["rotate"] = "rotate"
    opponents: str | list[str] | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    prompt: dict[str, Any] = Field(default_factory=dict)
    retries: int | None = None
    on_failure: Literal["forfeit", "forced_action"] | None = None
    failure_reward: float = 0.0
    max_plies: int | None = None
    first_seed: int = Field(0, ge=0)

    @property
    def settings(self) -> dict[str, Any]:
        """What a task hands to `_make` besides game and seat."""
        return self.model_dump(include=set(_SETTINGS))

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Fail as configurations do, not with the first task."""
        if self.game:
            try:
                self.make_env().close()
            except CardenvsError as error:
                raise ValueError(str(error)) from None
        return self

    def make_env(self) -> TextSeatEnv:
        """Return an environment with these settings."""
        return _make(self.game, 0 if self.seat == "rotate" else self.seat, self.settings)


class CardData(vf.TaskData):
    """One deal.

    Attributes:
        game: name of the game.
        seed: of the deal.
        seat: int, the learner's player number.
        settings: further arguments of TextSeatEnv.
    """

    game: str
    seed: int
    seat: int
    settings: dict[str, Any]


class CardTask(vf.Task[CardData]):
    """One deal, whose reward is what the seat gets in it."""

    @vf.reward
    async def seat_return(self, trace: vf.Trace) -> float:
        """Return the sum of the seat's rewards, `failure_reward` included."""
        return trace.info["seat_return"]

    @vf.metric
    async def outcomes(self, trace: vf.Trace) -> dict[str, float]:
        """Return how often each outcome of TextSeatEnv occurred, as "outcome/ok" and so on."""
        return {f"outcome/{outcome}": float(trace.info["outcomes"].get(outcome, 0)) for outcome in OUTCOMES}


class CardTaskset(vf.Taskset[CardTask, CardTasksetConfig]):
    """Deals of a game, without end."""

    INFINITE = True

    def __init__(self, config: CardTasksetConfig) -> None:
        """Keep the configuration.

        Raises:
            OptionError: no game is set.
        """
        super().__init__(config)
        if not config.game:
            raise OptionError(f"cardenvs-verifiers: set taskset.game to one of {', '.join(list_games())}")

    def load(self) -> Iterator[CardTask]:
        """Yield the deals, from `first_seed` on."""
        config, env = self.config, self.config.make_env()
        env.close()
        for number in itertools.count():
            seed = config.first_seed + number
            seat = number % env.options.num_players if config.seat == "rotate" else config.seat
            data = CardData(
                name=f"{config.game}#{seed}:{seat}",
                prompt=f"Play a game of {env.game.title}.",  # never sent: CardHarness asks about each decision
                game=config.game,
                seed=seed,
                seat=seat,
                settings=config.settings,
            )
            yield CardTask(data, config.task)


class CardHarness(vf.Harness[vf.HarnessConfig]):
    """Plays the deal of a CardTask with the model, in the process of verifiers.

    It sends each of TextSeatEnv's prompts as a conversation of its own. When the run refuses a request, as it does once
    a limit of turns or tokens is reached, the seat forfeits.
    """

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        tool_interception_url: str | None = None,
    ) -> vf.ProgramResult:
        """Play a game; leaves "seat_return", "outcomes" and "returns" in `trace.info`.

        Raises:
            HarnessError: the task is not one of CardTaskset, or the runtime is not local.
            openai.APIError: the model cannot be asked.
        """
        if not isinstance(data, CardData):
            raise vf.HarnessError(f"this harness plays tasks of cardenvs-verifiers only; got a {type(data).__name__}")
        if not isinstance(runtime.config, vf.SubprocessConfig):
            raise vf.HarnessError(
                "this harness runs in the process of verifiers, not in a container; set runtime.type to subprocess"
            )
        env = await _in_thread(_make, data.game, data.seat, data.settings)
        try:
            async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
                await _play(env, data, client, ctx.model, trace)
        finally:
            env.close()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class CardEnvConfig(vf.EnvConfig):
    """The one seat, played locally by default."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class CardEnv(vf.Env[CardEnvConfig]):
    """One learner, whose opponents are part of the task."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one task."""
        await agents.agent.run(task)


async def _play(env: TextSeatEnv, data: CardData, client: openai.AsyncOpenAI, model: str, trace: vf.Trace) -> None:
    messages: Any
    messages, info = await _in_thread(env.reset, data.seed)
    total, over = 0.0, False
    try:
        while not over:
            if data.system_prompt is not None:  # set by the user: a departure from the prompts of matches
                messages[0]["content"] = data.system_prompt
            try:
                completion = await client.chat.completions.create(model=model, messages=messages)
            except openai.APIStatusError:
                if trace.stop_condition is None:
                    raise
                break
            choice = completion.choices[0]
            messages, reward, terminated, truncated, info = await _in_thread(
                env.step, choice.message.content or "", finish_reason=choice.finish_reason
            )
            total += reward
            over = terminated or truncated
    finally:
        if env.messages:  # stopped in the middle, perhaps by a timeout, after which the trace is scored
            _, reward, _, _, info = env.forfeit()
            total += reward
        trace.info.update(seat_return=total, outcomes=info["outcomes"], returns=info.get("returns"))


async def _in_thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a function in a thread, and wait for its end even if cancelled: the environment is not for two at a time."""
    call = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        await asyncio.wait([call])
        raise


def _make(game: str, seat: int, settings: dict[str, Any]) -> TextSeatEnv:
    further = dict(settings)
    options, prompt = further.pop("options"), further.pop("prompt")
    try:
        prompt = PromptSettings(**prompt)
    except TypeError as error:
        raise OptionError(f"prompt takes the fields of PromptSettings; {error}") from None
    return TextSeatEnv(game, seat, prompt=prompt, **further, **options)


__all__ = ["CardEnv", "CardHarness", "CardTaskset"]
