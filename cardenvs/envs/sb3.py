"""`SeatVecEnv`: a Stable-Baselines3 `VecEnv` in which one seat learns, based on `VectorEnv`.

    env = SeatVecEnv("GAME_v0", num_envs=256, seat="rotate", opponents="random", seed=0)
    MaskablePPO("MlpPolicy", env).learn(100_000)

It behaves like `SeatEnv` in a `DummyVecEnv` but is many times faster, because an opponent chooses in many games at
once.
"""

import copy
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from gymnasium.spaces import Box, Discrete

from cardenvs.core.checks import checked_integers
from cardenvs.core.codes import HOLD
from cardenvs.core.errors import AgentError, IllegalActionError, require
from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.envs.arguments import MOST_SKIPPED, checked_max_plies, checked_seat
from cardenvs.envs.vector import VectorEnv

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv
else:
    VecEnv = require("stable_baselines3.common.vec_env", "sb3").VecEnv

BatchFunction = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
Opponent = str | BatchFunction


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
        vec: the VectorEnv that plays the games.
        seats: (N,) int64, the learner's player number in each running game.
    """

    render_mode = None
    _waiting_actions: np.ndarray  # from step_async, for step_wait

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
        self.game = get_game(game) if isinstance(game, str) else game
        max_plies = checked_max_plies(self.game, self.game.make_options(**options), max_plies)
        self.vec = VectorEnv(self.game, num_envs, seed, num_threads, max_plies=max_plies, **options)
        self.vec.require_lists("a Stable-Baselines3 environment")
        self.options = self.vec.options
        self._seating = checked_seat(self.game, seat, self.vec.num_players)
        self._opponents = _seated(
            self.game.default_opponent if opponents is None else opponents, self.game, self.vec.num_players
        )
        layout = self.vec.layout
        super().__init__(
            num_envs, Box(layout.low, layout.high, dtype=layout.dtype), Discrete(int(self.vec.num_actions))
        )
        self._rows = np.arange(num_envs)
        self._scratch = np.zeros(self.game.max_legal(self.options), np.int32)
        self._next_seed = seed
        self._started = time.time()
        self._returns: list[float] = []

    # -- Stable-Baselines3's interface --------------------------------------------------------------------------

    def reset(self) -> np.ndarray:
        """Deal new games and play until the seat's first turn in each.

        Uses the seed given to `seed()`, if any; else the constructor's for the first reset and a new one after that.

        Returns:
            (N, D) observations.
        """
        seed = self._next_seed if self._seeds[0] is None else self._seeds[0]
        self._next_seed = derived_seed(seed, "reset")
        self._reset_seeds()
        self._reset_options()
        self.vec.reset(seed)
        n = self.num_envs
        self._random = np.random.default_rng(derived_seed(seed, "seats"))
        self._opponent_seed, self._opponent_step = derived_seed(seed, "opponents"), 0
        self._games = np.zeros(n, np.int64)  # games before the running one in each environment
        self.seats = np.zeros(n, np.int64)
        self._seat_learner(self._rows)
        self._steps = np.zeros(n, np.int64)  # the seat's actions in the running game
        self._carried = np.zeros(n, np.float64)  # rewards of the running game before the seat's first action
        self._skips = np.zeros(n, np.int64)  # games in a row without a turn for the seat
        step = _Step(n)
        step.done[:] = True
        self._play_opponents(step)
        self.reset_infos = step.infos
        return self.vec.batch.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Store the seat's actions, (N,) integers, for `step_wait`."""
        self._waiting_actions = np.array(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Apply the seat's actions, then let the opponents play until it is the seat's turn in every game.

        Returns:
            (N, D) observations, (N,) float32 rewards, (N,) bool dones, N infos.

        Raises:
            IllegalActionError: an action is illegal. The message names its environment; nothing has changed.
            AgentError: an opponent chose an illegal action.
        """
        actions = self._waiting_actions
        if actions.shape == (self.num_envs,) and actions.dtype.kind in "iu" and (actions < 0).any():
            env = int(np.argmax(actions < 0))
            raise IllegalActionError(f"environment {env}: action {actions[env]} is negative (nothing has changed)")
        step = _Step(self.num_envs)
        self._advance(actions, step, learner=True)
        self._play_opponents(step)
        return self.vec.batch.observation.copy(), step.reward.astype(np.float32), step.done, step.infos

    def _masks(self) -> np.ndarray:
        assert self.vec.batch.action_mask is not None  # because of mask=True
        return self.vec.batch.action_mask

    def action_masks(self) -> np.ndarray:
        """Return the action masks of the seat in all games, (N, A) bool."""
        return self._masks().astype(np.bool_)

    def take_returns(self) -> list[float]:
        """Return the seat's returns in all games that ended since the last call, including those it had no turn in."""
        returns, self._returns = self._returns, []
        return returns

    def close(self) -> None:
        """Stop the threads of the VectorEnv, if any."""
        self.vec.close()

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

    # -- helpers ------------------------------------------------------------------------------------------------

    def _play_opponents(self, step: "_Step") -> None:
        """Let the opponents act until it is the seat's turn in every game."""
        batch = self.vec.batch
        while True:
            distance = (batch.current_player - self.seats) % self.vec.num_players
            if not distance.any():
                return
            actions = np.full(self.num_envs, HOLD, np.int64)
            for k, opponent in enumerate(self._opponents):
                asked = np.flatnonzero(distance == k + 1)
                if len(asked):
                    actions[asked] = self._ask(opponent, asked)
            try:
                self._advance(actions, step, learner=False)
            except IllegalActionError as error:
                raise AgentError(f"an opponent chose an illegal action: {error}") from error

    def _ask(self, opponent: Opponent, rows: np.ndarray) -> np.ndarray:
        """Return an opponent's actions in the games `rows`."""
        batch = self.vec.batch
        if isinstance(opponent, str):
            self._opponent_step += 1
            return self.vec.policy_actions(opponent, rows, self._opponent_seed, self._opponent_step)
        assert batch.legal_actions is not None  # because of legal_lists=True
        answer = opponent(
            batch.observation[rows], self._masks()[rows], batch.legal_actions[rows], batch.num_legal[rows]
        )
        try:
            return checked_integers("an opponent's answer", answer, rows.shape, 0, self.vec.num_actions - 1)
        except ValueError as error:
            raise AgentError(str(error)) from None

    def _advance(self, actions: np.ndarray, step: "_Step", learner: bool) -> None:
        """Apply actions of the learner or the opponents, and record the seat's rewards and the games that ended."""
        before = self.vec.copy_records()
        batch = self.vec.step(actions)
        if learner:
            self._steps += 1
            step.reward += self._carried
            self._carried[:] = 0
        gained = batch.reward[self._rows, self.seats]
        step.reward += np.where(step.done, 0, gained)
        self._carried += np.where(step.done, gained, 0)
        for env in np.flatnonzero(batch.terminated | batch.truncated):
            self._end_game(int(env), int(actions[env]), before, step)

    def _end_game(self, env: int, action: int, before: np.ndarray, step: "_Step") -> None:
        """Record the end of a game by `action` in the record before[env]. The next game has been dealt already."""
        batch, seat = self.vec.batch, int(self.seats[env])
        total = float(batch.episode_returns[env, seat])
        self._returns.append(total)
        info = step.infos[env]
        if self._steps[env]:
            step.done[env] = True
            info["terminal_observation"] = self._final_observation(before, env, action, seat)
            info["TimeLimit.truncated"] = bool(batch.truncated[env])
            info["episode"] = {"r": total, "l": int(self._steps[env]), "t": round(time.time() - self._started, 6)}
            info["player"] = seat
            self._skips[env] = 0
        else:
            info.setdefault("skipped_returns", []).append(total)
            self._skips[env] += 1
            if self._skips[env] >= MOST_SKIPPED:
                raise RuntimeError(f"{self.game.name}: {MOST_SKIPPED} deals in a row ended before player_{seat}'s turn")
        self._carried[env] = 0
        self._steps[env] = 0
        self._games[env] += 1
        self._seat_learner(np.array([env]))

    def _seat_learner(self, rows: np.ndarray) -> None:
        """Choose the learner's seat in the newly dealt games `rows`."""
        n = self.vec.num_players
        if self._seating == "random":
            self.seats[rows] = self._random.integers(n, size=len(rows))
        elif self._seating == "rotate":
            self.seats[rows] = (rows + self._games[rows]) % n
        else:
            self.seats[rows] = self._seating

    def _final_observation(self, before: np.ndarray, env: int, action: int, seat: int) -> np.ndarray:
        """Return what the seat saw after the last action of a game, (D,)."""
        engine = self.game.engine
        engine.apply(before, env, action, NO_LOG, self._scratch)
        observation = np.empty(self.vec.observation_size, self.vec.layout.dtype)
        engine.observe(before, env, seat, observation)
        return observation


class _Step:
    """The results of one step: rewards, dones and infos of N environments."""

    def __init__(self, num_envs: int) -> None:
        self.reward = np.zeros(num_envs, np.float64)
        self.done = np.zeros(num_envs, np.bool_)
        self.infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(num_envs)]


def _seated(opponents: Any, game: Game, num_players: int) -> list[Opponent]:
    """Return one opponent for each other player, starting to the learner's left."""
    others = num_players - 1
    seated = list(opponents) if isinstance(opponents, list | tuple) else [opponents] * others
    if len(seated) != others:
        raise AgentError(f"{game.name} with {num_players} players needs {others} opponents; got {len(seated)}")
    for opponent in seated:
        if isinstance(opponent, str):
            game.engine.policy(opponent)
        elif not callable(opponent):
            raise AgentError(f"a batched opponent is a policy name or a function of arrays; got {opponent!r}")
    return seated
