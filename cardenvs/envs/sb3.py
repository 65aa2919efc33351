"""`SeatVecEnv`: a Stable-Baselines3 `VecEnv` in which one seat learns, based on `VectorEnv`.

    env = SeatVecEnv("GAME_v0", num_envs=64, seat="rotate", opponents="random", seed=0)
    MaskablePPO("MlpPolicy", env, **defaults("GAME_v0")).learn(500_000)

It behaves like `SeatEnv` in a `DummyVecEnv` but is many times faster, because an opponent chooses in many games at
once.

On a busy machine, set OMP_WAIT_POLICY=PASSIVE before you import torch: its waiting threads spin otherwise, which can
make training many times slower.
"""

import copy
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from gymnasium.spaces import Box, Discrete

from cardenvs.core.checks import checked_seed
from cardenvs.core.errors import require
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.envs.seat_games import Opponent, SeatGames, SeatStep

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv
else:
    VecEnv = require("stable_baselines3.common.vec_env", "sb3").VecEnv

_LARGE = 200  # entries of an observation that ask for a larger network


class SeatVecEnv(VecEnv):
    """N games, in each of which one seat learns while batched opponents play the others.

    Rewards, observations and masks are those of `SeatEnv`. A step's reward is everything the seat gets from its action
    until its next turn or the end of the game; rewards before its first turn are added to its first step. A game that
    ends before the seat has acted is not an episode, but `take_returns` includes it, and the info of the step that
    dealt it lists the seat's return in "skipped_returns" (after a reset, the info in `reset_infos`).

    At the end of an episode, the info contains "terminal_observation", "TimeLimit.truncated", "episode" (return, length
    and time, as from Monitor) and "player", the seat in that game.

    Attributes:
        game: the Game.
        options: its validated options.
        games: the SeatGames behind it.
        vec: the VectorEnv that plays the games.
    """

    render_mode = None
    _waiting_actions: np.ndarray | None = None  # from step_async, for step_wait

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        seat: int | str = 0,
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        seed: int = 0,
        num_threads: int | str = "auto",
        max_plies: int | None = None,
        **options: Any,
    ) -> None:
        """Set up the games. Stable-Baselines3 calls `reset`.

        Args:
            game: name of a game, or a Game.
            num_envs: N.
            seat: the learner's player number. "random" draws it for each deal; "rotate" takes each in turn, starting
                in environment i with player i modulo the number of players.
            opponents: name of a policy ("random" or one of `game.policies`), or a function (observation (M, D),
                action_mask (M, A), legal_actions (M, L), num_legal (M,)) -> (M,) actions for the M games in which it
                is to act; or a list with one of these for each other player, starting to the learner's left. By default
                the game's `default_opponent`.
            seed: seed of the deals, random seats and policies.
            num_threads: as for VectorEnv.
            max_plies: truncate episodes after this many plies; by default the game's own bound, which no game exceeds.
            options: game options.

        Raises:
            GameNotFoundError: no game has this name.
            OptionError: unknown option or invalid value.
            PolicyNotFoundError: the game has no such policy.
            AgentError: an opponent is neither a policy's name nor a function, or their number is wrong.
        """
        self.games = SeatGames(
            game, num_envs, seat, opponents, seed, num_threads, max_plies, options, "a Stable-Baselines3 environment"
        )
        self.game, self.options, self.vec = self.games.game, self.games.options, self.games.vec
        layout = self.vec.layout
        super().__init__(
            num_envs, Box(layout.low, layout.high, dtype=layout.dtype), Discrete(int(self.vec.num_actions))
        )
        self._next_seed = checked_seed(seed)
        self._started = time.time()

    @property
    def seats(self) -> np.ndarray:
        """The learner's player number in each running game, (N,) int64."""
        return self.games.seats

    # -- Stable-Baselines3's interface --------------------------------------------------------------------------

    def reset(self) -> np.ndarray:
        """Deal new games and play until the seat's first turn in each.

        Uses the seed given to `seed()`, if any; else the constructor's for the first reset and a new one after that.

        Returns:
            (N, D) observations.

        Raises:
            ValueError: `seed()` was given an invalid seed; nothing has changed.
            AgentError: an opponent chose an illegal action.
        """
        seed = self._next_seed if self._seeds[0] is None else self._seeds[0]
        self._next_seed = derived_seed(seed, "reset")
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = self._infos(self.games.begin(seed))
        return self.games.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Store the seat's actions, (N,) integers, for `step_wait`."""
        self._waiting_actions = np.array(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Apply the seat's actions, then let the opponents play until it is the seat's turn in every game.

        Returns:
            (N, D) observations, (N,) float32 rewards, (N,) bool dones, N infos.

        Raises:
            IllegalActionError: an action is illegal. The message names its environment; nothing has changed.
            ResetNeeded: there was no `reset` yet, or an opponent failed since.
            ValueError: there was no `step_async`.
            AgentError: an opponent chose an illegal action.
        """
        if self._waiting_actions is None:
            raise ValueError("call step_async() before step_wait()")
        actions, self._waiting_actions = self._waiting_actions, None
        step = self.games.play(actions)
        return self.games.observation.copy(), step.reward.astype(np.float32), step.done, self._infos(step)

    def _infos(self, step: SeatStep) -> list[dict[str, Any]]:
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        for env, end in step.ends.items():
            infos[env] = {
                "terminal_observation": end.observation,
                "TimeLimit.truncated": end.truncated,
                "episode": {"r": end.total, "l": end.length, "t": round(time.time() - self._started, 6)},
                "player": end.seat,
            }
        for env, returns in step.skipped_returns.items():
            infos[env]["skipped_returns"] = returns
        return infos

    def action_masks(self) -> np.ndarray:
        """Return the action masks of the seat in all games, (N, A) bool.

        Raises:
            ResetNeeded: there was no `reset` yet.
        """
        self.games.require_begun("action_masks")
        return self.games.action_mask.astype(np.bool_)

    def take_returns(self) -> list[float]:
        """Return the seat's returns in all games that ended since the last call, including those it had no turn in."""
        return self.games.take_returns()

    def close(self) -> None:
        """Stop the threads of the VectorEnv, if any."""
        self.games.close()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call `action_masks` and return the rows of some environments. Other methods raise AttributeError."""
        if method_name != "action_masks":
            raise AttributeError(f"SeatVecEnv has no method {method_name!r} for single environments")
        return list(self.action_masks()[list(self._get_indices(indices))])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the attribute of this object, once for each environment."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise AttributeError, because the environments are rows of arrays, not objects."""
        raise AttributeError(f"cannot set {attr_name!r}: the environments of a SeatVecEnv are not separate objects")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each environment."""
        return [False for _ in self._get_indices(indices)]

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


def defaults(game: str | Game) -> dict[str, Any]:
    """Return settings of sb3-contrib's MaskablePPO that work well for a game, as keyword arguments.

    MaskablePPO's own defaults suit long control tasks. Card games are short and end with their reward, so rewards are
    not discounted, and the entropy bonus keeps play mixed. docs/trainers.md has the results.

    Args:
        game: name of a game, or a Game.

    Raises:
        GameNotFoundError: no game has this name.
    """
    from torch.nn import ReLU

    found = get_game(game) if isinstance(game, str) else game
    layers = [512, 256] if found.layout(found.make_options()).size > _LARGE else [128, 128]
    return {
        "learning_rate": 1e-3,
        "n_steps": 64,
        "batch_size": 1024,
        "n_epochs": 2,
        "gamma": 1.0,
        "ent_coef": 0.02,
        "policy_kwargs": {"activation_fn": ReLU, "net_arch": layers},
    }
