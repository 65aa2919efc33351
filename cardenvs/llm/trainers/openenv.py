"""The games as OpenEnv environments, on a server for many clients at once.

    import uvicorn
    from cardenvs.llm.trainers.openenv import create_app

    uvicorn.run(create_app(game, max_concurrent_envs=64), port=8000)

and in another process:

    with CardEnvClient("http://localhost:8000").sync() as client:
        result = client.reset(seed=7)
        result = client.step(CardAction(text='<answer>{"id":"c0"}</answer>'))
"""

import uuid
from typing import Any

from cardenvs.core.errors import AgentError, require
from cardenvs.core.game import Game
from cardenvs.llm.text_env import TextSeatEnv

require("openenv.core", "openenv")

from openenv.core import EnvClient, env_server  # noqa: E402
from openenv.core.client_types import StepResult  # noqa: E402
from pydantic import Field  # noqa: E402


class CardAction(env_server.Action):
    """The reply of a model."""

    text: str  # the reply
    finish_reason: str | None = None  # why it ended, if known; "length" marks one that was cut off


class CardObservation(env_server.Observation):
    """What the seat is asked, with the `info` of TextSeatEnv. `done` and `reward` are those of the base class."""

    messages: list[dict[str, str]]  # the chat messages to answer, complete; empty at the end of an episode
    truncated: bool = False  # whether the episode was cut off at `max_plies`
    # see TextSeatEnv
    player: int
    attempt: int
    outcome: str
    reason: str
    outcomes: dict[str, int]
    returns: list[float] = Field(default_factory=list)  # of each player, at the end of an episode; else empty
    skipped_returns: list[float] = Field(default_factory=list)  # see TextSeatEnv; empty except after `reset`


class CardState(env_server.State):
    """The episode, without anything that is hidden from the seat."""

    game: str  # its name
    options: dict[str, Any]  # of the game


class CardEnvironment(env_server.Environment[CardAction, CardObservation, CardState]):
    """A TextSeatEnv as an environment of an OpenEnv server."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str | Game, seat: int | str = "random", **settings: Any) -> None:
        """Set up the opponents. Call `reset` to deal. The arguments are those of TextSeatEnv, and defaults for `reset`.

        Raises:
            GameNotFoundError, OptionError, AgentError: as TextSeatEnv.
        """
        super().__init__()
        self._arguments: dict[str, Any] = {"game": game, "seat": seat, **settings}
        self._changes: dict[str, Any] = {}
        self._env = TextSeatEnv(**self._arguments)
        self._episode_id: str | None = None
        self._steps = 0

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        seat: int | str | None = None,
        opponents: str | list[str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> CardObservation:
        """Deal a game and play until the seat has something to choose. What is not given is as the server's operator
        set it.

        Args:
            seed: seed of the deal and of everything after it. With seat "random" it determines the seat, too.
            episode_id: name of the episode; drawn by default.
            opponents: names of policies of the game. Only the operator of the server may choose other agents, because
                these may run programs.

        Raises:
            OptionError: unknown option or invalid value.
            AgentError: an opponent is not a policy of the game, or failed.
        """
        changes = dict(options or {})
        self._env.game.make_options(**changes)  # no other settings: those are the operator's
        if seat is not None:
            changes["seat"] = seat
        if opponents is not None:
            changes["opponents"] = self._policies(opponents)
        if changes != self._changes:
            env = TextSeatEnv(**{**self._arguments, **changes})
            self._env.close()
            self._env, self._changes = env, changes
        messages, info = self._env.reset(seed=seed)
        self._episode_id, self._steps = episode_id or str(uuid.uuid4()), 0
        return CardObservation(messages=messages, **info)

    def step(self, action: CardAction, timeout_s: float | None = None, **kwargs: Any) -> CardObservation:
        """Read a reply and play on to the seat's next choice; see TextSeatEnv.step. `timeout_s` is ignored: nothing
        waits.
        """
        messages, reward, terminated, truncated, info = self._env.step(action.text, finish_reason=action.finish_reason)
        self._steps += 1
        done = terminated or truncated
        return CardObservation(messages=messages, reward=reward, done=done, truncated=truncated, **info)

    @property
    def state(self) -> CardState:
        """The episode, without anything that is hidden from the seat."""
        return CardState(
            episode_id=self._episode_id,
            step_count=self._steps,
            game=self._env.game.name,
            options=self._env.options.as_dict(),
        )

    def close(self) -> None:
        """Close the opponents, which ends their processes."""
        self._env.close()

    def _policies(self, opponents: str | list[str]) -> str | list[str]:
        known = self._env.game.engine.policy_names()
        names = [opponents] if isinstance(opponents, str) else opponents
        for name in names:
            if name not in known:
                raise AgentError(
                    f"a client may choose opponents among the policies of {self._env.game.name}, "
                    f"{', '.join(known)}; got {name!r}"
                )
        return opponents


class CardEnvClient(EnvClient[CardAction, CardObservation, CardState]):
    """A typed client of a server made by `create_app`. OpenEnv's GenericEnvClient works, too."""

    def _step_payload(self, action: CardAction) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[CardObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = CardObservation(reward=reward, done=done, **payload["observation"])
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> CardState:
        return CardState(**payload)


def create_app(game: str | Game, seat: int | str = "random", *, max_concurrent_envs: int = 1, **settings: Any) -> Any:
    """Return the FastAPI application of a server for a game and at most `max_concurrent_envs` clients; see
    CardEnvironment.

    Raises:
        GameNotFoundError, OptionError, AgentError: as TextSeatEnv.
    """

    def make() -> CardEnvironment:
        return CardEnvironment(game, seat, **settings)

    make().close()  # fails now if ever, not with the first client
    return env_server.create_app(
        make, CardAction, CardObservation, env_name="cardenvs", max_concurrent_envs=max_concurrent_envs
    )


__all__ = ["CardAction", "CardEnvClient", "CardEnvironment", "CardObservation", "CardState", "create_app"]
