"""The games as GEM environments.

    import gem
    import cardenvs.llm.trainers.gem

    env = gem.make(f"cardenvs/{game}", opponents="search:simulations=50")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step('<answer>{"id":"c0"}</answer>')

Importing this module registers each game as "cardenvs/" and its name.
"""

import copy
from typing import Any

from cardenvs.core.errors import require
from cardenvs.core.game import Game
from cardenvs.core.registry import list_games
from cardenvs.llm.text_env import TextSeatEnv
from cardenvs.llm.trainers import as_text

require("gem", "gem")

import gem  # noqa: E402


class CardEnv(gem.Env):
    """A TextSeatEnv as a gem.Env.

    Observations are texts, empty at the end of an episode. Each is a complete prompt, so GEM's wrappers that join
    observations are not needed. `info` is that of TextSeatEnv, with the chat messages as "messages": send these instead
    of the observation to ask a model exactly what matches ask.
    """

    def __init__(
        self, game: str | Game, seat: int | str = "random", *, seed: int | None = None, **settings: Any
    ) -> None:
        """Set up the opponents. Call `reset` to deal.

        The arguments are those of TextSeatEnv. With seat "random", the seed of a deal determines the seat, too. `seed`
        is that of the first `reset` that has none; `gem.make_vec` passes a different one to each environment.

        Raises:
            GameNotFoundError, OptionError, AgentError: as TextSeatEnv.
        """
        self._arguments: dict[str, Any] = {"game": game, "seat": seat, **settings}
        self._first_seed = seed
        self.text_env = TextSeatEnv(**self._arguments)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Deal a game; see TextSeatEnv.reset. The global random generators are left alone."""
        if seed is None:
            seed = self._first_seed
        self._first_seed = None
        messages, info = self.text_env.reset(seed=seed)
        return as_text(messages), {**info, "messages": messages}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Read a reply and play on to the seat's next choice; see TextSeatEnv.step."""
        messages, reward, terminated, truncated, info = self.text_env.step(action)
        return as_text(messages), reward, terminated, truncated, {**info, "messages": messages}

    def spawn(self, same_state: bool = False, **kwargs: Any) -> "CardEnv":
        """Return another environment with the same settings, but for those in `kwargs`.

        `same_state` continues from this environment's position; then no settings may change, or ValueError is raised.
        """
        if not same_state:
            return type(self)(**{**self._arguments, **kwargs})
        if kwargs:
            raise ValueError(f"spawn(same_state=True) takes no other settings; got {', '.join(kwargs)}")
        return copy.deepcopy(self)

    def close(self) -> None:
        """Close the opponents, which ends their processes."""
        self.text_env.close()


for _name in list_games():
    gem.register(f"cardenvs/{_name}", f"{__name__}:CardEnv", game=_name)
