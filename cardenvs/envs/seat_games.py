"""`SeatGames`: a batch of games in each of which one seat learns, while batched opponents play the others.

Stable-Baselines3's `SeatVecEnv` and Gymnasium's `SeatVectorEnv` are built on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from cardenvs.core.checks import checked_integers, checked_seed
from cardenvs.core.codes import HOLD
from cardenvs.core.errors import AgentError, IllegalActionError
from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.envs.arguments import MOST_SKIPPED, checked_max_plies, checked_seat, opponent_of_each
from cardenvs.envs.threads import OneThread, one_at_a_time
from cardenvs.envs.vector import VectorEnv

BatchFunction = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
Opponent = str | BatchFunction


class SeatGames(OneThread):
    """N games, in each of which one seat learns while batched opponents play the others.

    Episodes, rewards, observations and masks are those of `SeatEnv`, but `take_returns` also has the games that ended
    before the seat had acted. A finished game restarts in the same step.

    Attributes:
        game: the Game.
        options: its validated options.
        vec: the VectorEnv that plays the games.
        seats: (N,) int64, the learner's player number in each running game.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        seat: int | str,
        opponents: Opponent | Sequence[Opponent] | None,
        seed: int,
        num_threads: int | str,
        max_plies: int | None,
        options: dict[str, Any],
        who: str,
    ) -> None:
        """Set up the games; see `SeatVecEnv` for the arguments and errors. `who` names the environment in messages."""
        self.game = get_game(game) if isinstance(game, str) else game
        max_plies = checked_max_plies(self.game, self.game.make_options(**options), max_plies)
        self.vec = VectorEnv(self.game, num_envs, seed, num_threads, max_plies=max_plies, **options)
        self.vec.require_lists(who)
        self.options = self.vec.options
        self._seating = checked_seat(self.game, seat, self.vec.num_players)
        self._opponents = opponent_of_each(opponents, self.game, self.vec.num_players)
        for opponent in self._opponents:
            if isinstance(opponent, str):
                self.game.engine.policy(opponent)
            elif not callable(opponent):
                raise AgentError(f"a batched opponent is a policy name or a function of arrays; got {opponent!r}")
        self.num_envs = num_envs
        self._rows = np.arange(num_envs)
        self._scratch = np.zeros(self.game.max_legal(self.options), np.int32)
        self._has_begun = self._is_learners_turn = False
        self._returns: list[float] = []

    @one_at_a_time
    def begin(self, seed: int) -> "SeatStep":
        """Deal new games and play until the seat's first turn in each.

        Raises:
            ValueError: invalid seed; nothing has changed.
            AgentError: an opponent chose an illegal action.
        """
        seed = checked_seed(seed)
        self._has_begun = True
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
        step = SeatStep(n)
        step.done[:] = True
        self._play_opponents(step)
        step.done[:] = False
        return step

    @one_at_a_time
    def play(self, actions: np.ndarray) -> "SeatStep":
        """Apply the seat's actions, then let the opponents play until it is the seat's turn in every game.

        Raises:
            IllegalActionError: an action is illegal. The message names its environment; nothing has changed.
            ResetNeeded: there was no `begin` yet, or an opponent failed since.
            AgentError: an opponent chose an illegal action. It is not the learner's turn then, so `begin` comes next.
        """
        self.require_begun("step")
        if not self._is_learners_turn:
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: an opponent failed; call reset() before step()")
        if actions.shape == (self.num_envs,) and actions.dtype.kind in "iu" and (actions < 0).any():
            env = int(np.argmax(actions < 0))
            raise IllegalActionError(f"environment {env}: action {actions[env]} is negative (nothing has changed)")
        step = SeatStep(self.num_envs)
        actions = actions.copy()  # which are applied again to records of games that ended
        self._advance(actions, step, learner=True)
        self._play_opponents(step)
        return step

    def require_begun(self, method: str) -> None:
        """Raise ResetNeeded, for the method of an environment, if there was no `begin` yet."""
        if not self._has_begun:
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: call reset() before {method}()")

    @property
    def observation(self) -> np.ndarray:
        """Observations of the seat in all games, (N, D); the next call overwrites them."""
        return self.vec.batch.observation

    @property
    def action_mask(self) -> np.ndarray:
        """Action masks of the seat in all games, (N, A) int8; the next call overwrites them."""
        assert self.vec.batch.action_mask is not None  # because of mask=True
        return self.vec.batch.action_mask

    def take_returns(self) -> list[float]:
        """Return the seat's returns in all games that ended since the last call, including those it had no turn in."""
        returns, self._returns = self._returns, []
        return returns

    def close(self) -> None:
        """Stop the threads of the VectorEnv, if any."""
        self.vec.close()

    # -- helpers ------------------------------------------------------------------------------------------------

    def _play_opponents(self, step: "SeatStep") -> None:
        """Let the opponents act until it is the seat's turn in every game."""
        self._is_learners_turn, batch = False, self.vec.batch
        while True:
            distance = (batch.current_player - self.seats) % self.vec.num_players
            if not distance.any():
                self._is_learners_turn = True
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
            batch.observation[rows], self.action_mask[rows], batch.legal_actions[rows], batch.num_legal[rows]
        )
        try:
            return checked_integers("an opponent's answer", answer, rows.shape, 0, self.vec.num_actions - 1)
        except ValueError as error:
            raise AgentError(str(error)) from None

    def _advance(self, actions: np.ndarray, step: "SeatStep", learner: bool) -> None:
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

    def _end_game(self, env: int, action: int, before: np.ndarray, step: "SeatStep") -> None:
        """Record the end of a game by `action` in the record before[env]. The next game has been dealt already."""
        batch, seat = self.vec.batch, int(self.seats[env])
        total = float(batch.episode_returns[env, seat])
        self._returns.append(total)
        if self._steps[env]:
            step.done[env] = True
            observation = self._final_observation(before, env, action, seat)
            step.ends[env] = SeatEnd(observation, bool(batch.truncated[env]), total, int(self._steps[env]), seat)
            self._skips[env] = 0
        else:
            step.skipped_returns.setdefault(env, []).append(total)
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
        engine = self.vec.game.engine_for(self.vec.options)
        engine.apply(before, env, action, NO_LOG, self._scratch)
        observation = np.empty(self.vec.observation_size, self.vec.layout.dtype)
        engine.observe(before, env, seat, observation)
        return observation


@dataclass(frozen=True)
class SeatEnd:
    """The end of an episode."""

    observation: np.ndarray  # what the seat saw after the last action, (D,)
    truncated: bool  # whether the ply cap ended the game
    total: float  # the seat's return
    length: int  # actions of the seat
    seat: int  # its player number


class SeatStep:
    """The results of one step of N games."""

    def __init__(self, num_envs: int) -> None:
        self.reward = np.zeros(num_envs, np.float64)  # (N,) float64
        self.done = np.zeros(num_envs, np.bool_)  # (N,) bool, whether an episode ended
        self.ends: dict[int, SeatEnd] = {}  # the SeatEnd of each of these, by environment
        # by environment, the seat's returns in games that ended before its turn
        self.skipped_returns: dict[int, list[float]] = {}
