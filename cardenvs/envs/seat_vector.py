"""`SeatVectorEnv`: a Gymnasium `VectorEnv` in which one seat learns, played by the batched engine.

import cardenvs, gymnasium

envs = gymnasium.make_vec("cardenvs/GAME-v0", num_envs=256, seat="rotate")
observations, infos = envs.reset(seed=7)
observations, rewards, terminations, truncations, infos = envs.step(actions)
"""

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cardenvs.core.checks import checked_seed, short
from cardenvs.core.codes import MASK_DTYPE
from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.rng import SEED_MASK
from cardenvs.envs.arguments import checked_render_mode, table_image
from cardenvs.envs.seat_games import Opponent, SeatGames, SeatStep


class SeatVectorEnv(VectorEnv):
    """N games as a Gymnasium vector environment, in each of which one seat learns.

    Rewards, observations and masks are those of `SeatEnv`; a game that ends before the seat has acted is not an
    episode. A finished game restarts in the same step (`AutoresetMode.SAME_STEP`). `infos` contains "action_mask", int8
    (N, A), "player", int64 (N,), and for games that ended "final_obs" (object array of (D,) observations), "final_info"
    ({"returns": the seat's return, "length": its actions, "player": its seat}, arrays (N,)), each with its "_" mask.

    All arrays that it returns are new ones.

    Attributes:
        games: the SeatGames behind it.
        num_envs: N.
        single_observation_space, single_action_space: spaces of one game.
        observation_space, action_space: the same for N games.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 1, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  Gymnasium's own form

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        seat: int | str = 0,
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        seed: int | None = None,
        num_threads: int | str = "auto",
        max_plies: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Set up the games. Call `reset` to deal.

        The first `reset` without a seed uses `seed`; if that is None, it draws one. `render_mode` is None or
        "rgb_array". See `SeatVecEnv` for the other arguments and the errors.
        """
        self.games = SeatGames(
            game, num_envs, seat, opponents, 0, num_threads, max_plies, options, "a vector environment of Gymnasium"
        )
        vec = self.games.vec
        self.num_envs = num_envs
        self.single_observation_space = Box(vec.layout.low, vec.layout.high, dtype=vec.layout.dtype)
        self.single_action_space = Discrete(int(vec.num_actions))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        if render_mode not in (None, "rgb_array"):
            raise OptionError(
                f"{self.games.game.name}: option render_mode takes None or rgb_array; got {render_mode!r}"
            )
        self.render_mode = checked_render_mode(self.games.game, render_mode)
        self._next_seed = None if seed is None else checked_seed(seed)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal new games and play until the seat's first turn in each. Returns (N, D) observations and `infos`.

        All games have one seed; None takes the constructor's, or draws one from `np_random`. `options` are ignored.

        Raises:
            ValueError: `seed` is a list, as environments of a batch have no seeds of their own, or invalid; nothing has
                changed.
            AgentError: an opponent chose an illegal action.
        """
        if isinstance(seed, list | tuple):
            raise ValueError(f"a batch has one seed for all environments; got {short(seed)}")
        seed, self._next_seed = self._next_seed if seed is None else checked_seed(seed), None
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(SEED_MASK + 1))
        step = self.games.begin(seed)
        return self.games.observation.copy(), self._infos(step)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Apply the seat's actions, (N,), then let the opponents play until it is the seat's turn in every game.

        Returns:
            (N, D) observations, (N,) float64 rewards, (N,) bool terminations and truncations, `infos`.

        Raises:
            IllegalActionError: an action is illegal. The message names its environment; nothing has changed.
            ResetNeeded: there was no `reset` yet, or an opponent failed since.
            AgentError: an opponent chose an illegal action.
        """
        step = self.games.play(np.asarray(actions))
        truncations = np.zeros(self.num_envs, np.bool_)
        for env, end in step.ends.items():
            truncations[env] = end.truncated
        infos = self._infos(step)
        return self.games.observation.copy(), step.reward, step.done & ~truncations, truncations, infos

    def action_masks(self) -> np.ndarray:
        """Return the action masks of the seat in all games, (N, A) bool.

        Raises:
            ResetNeeded: there was no `reset` yet.
        """
        self.games.require_begun("action_masks")
        return self.games.action_mask.astype(np.bool_)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture of each game as its seat sees it, uint8 (height, 640, 3); None without "rgb_array".

        Drawing takes much longer than a step: record videos of few games.
        """
        if self.render_mode is None:
            return None
        self.games.require_begun("render")
        states, seats = map(self.games.vec.state, range(self.num_envs)), self.games.seats
        return tuple(table_image(state, int(seat)) for state, seat in zip(states, seats, strict=True))

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads of the batch, if any."""
        self.games.close()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def _infos(self, step: SeatStep) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        infos: dict[str, Any] = {
            "action_mask": self.games.action_mask.astype(MASK_DTYPE), "_action_mask": everywhere,
            "player": self.games.seats.copy(), "_player": everywhere.copy(),
        }  # fmt: skip
        if step.ends:
            infos["final_obs"] = np.full(self.num_envs, None, object)
            returns = np.zeros(self.num_envs, np.float64)
            length, player = np.zeros((2, self.num_envs), np.int64)
            for env, end in step.ends.items():
                infos["final_obs"][env] = end.observation
                returns[env], length[env], player[env] = end.total, end.length, end.seat
            final = {"returns": returns, "length": length, "player": player}
            infos["final_info"] = final | {f"_{name}": step.done.copy() for name in final}
            infos["_final_obs"], infos["_final_info"] = step.done.copy(), step.done.copy()
        if step.skipped_returns:
            infos["skipped_returns"] = np.full(self.num_envs, None, object)
            for env, skipped in step.skipped_returns.items():
                infos["skipped_returns"][env] = skipped
            infos["_skipped_returns"] = np.array([env in step.skipped_returns for env in range(self.num_envs)])
        return infos
