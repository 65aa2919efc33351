"""`VectorEnv`: N games of one kind stepped by one compiled call.

    vec = cardenvs.make_vec("GAME_v0", num_envs=4096, seed=0)
    batch = vec.reset()
    while training:
        batch = vec.step(vec.sample_actions())

All arrays of a `Batch` are buffers that the next call overwrites in place (copy what must stay; torch views them
without a copy). Where a game ends, the next one starts in the same step.
"""

import numbers
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.engine import (
    HOLD,
    first_illegal,
    first_illegal_or_amount,
    sample_legal,
    sample_legal_or_amount,
)
from cardenvs.core.errors import FormatError, IllegalActionError, OptionError
from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.kernel import COMPILED
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State, _dtype_hash, checked_seed

_WORTH_A_THREAD_S = 0.4e-3  # a call shorter than this is not split: handing work over costs about 0.05 ms
_NONE = np.zeros(0, np.int64)


@dataclass(eq=False)
class Batch:
    """The buffers of a VectorEnv: N environments, P players, D observation entries, A actions.

    Where `terminated[i]` or `truncated[i]`, the first group below is the next episode's and the second group the
    ended one's.

    Attributes:
        observation: (N, D), what the player to act sees.
        action_mask: (N, A) int8, or None with mask=False.
        legal_actions: (N, L) int32, ascending ids in the first num_legal[i] entries; None with legal_lists=False.
        num_legal: (N,) int32.
        raise_min, raise_max: (N,) int32, or None. Where every amount has an id of its own (no-limit hold'em with
            betting="full"), mask and lists have the ids up to `VectorEnv.raise_zero` only, and these are the least
            and the most that may be raised to: amount a is action raise_zero + a. 0 and -1 where nobody may raise.
        current_player: (N,) int32.
        active: (N, P) bool, who is still in the game.

        reward: (N, P) float32, since the last step.
        terminated: (N,) bool, the rules ended the episode.
        truncated: (N,) bool, the ply cap cut it off.
        episode_returns: (N, P) float64, summed rewards.
        episode_seed: (N,) int64, the seed with which `game.new_state` deals the same episode.
        final_observation: (N, P, D) or None: where `truncated[i]`, what each player saw last.
    """

    observation: np.ndarray
    action_mask: np.ndarray | None
    legal_actions: np.ndarray | None
    num_legal: np.ndarray
    raise_min: np.ndarray | None
    raise_max: np.ndarray | None
    current_player: np.ndarray
    active: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    episode_returns: np.ndarray
    episode_seed: np.ndarray
    final_observation: np.ndarray | None = None


class VectorEnv:
    """N environments of one game. Made by `cardenvs.make_vec`.

    Attributes:
        game, options: what is played.
        num_envs: N.
        num_players, num_actions, observation_size: P, A, D.
        layout: the observation's sections.
        raise_zero: the id of amount 0 where amounts have ids and a batch shows their bounds; else None.
        max_plies: an episode that is not over after so many plies is truncated.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: int = 0,
        num_threads: int | str = "auto",
        mask: bool | str = True,
        legal_lists: bool = True,
        max_plies: int | None = None,
        **options: Any,
    ) -> None:
        """Allocate the buffers; call `reset` before `step`.

        Args:
            game: the Game.
            num_envs: N, at least 1.
            seed: of everything: episode k of environment i depends on (seed, i, k) only.
            num_threads: threads to split a call over, or "auto": all cores where a call is long enough to gain.
            mask: write `action_mask`. A text is the option `mask` of a game that has one; the mask is written, too.
            legal_lists: show `legal_actions`.
            max_plies: ply cap; by default the game's own bound, which play does not exceed.
            options: of the game.

        Raises:
            OptionError: an unknown option or value of the game.
            ValueError: another argument that cannot be used.
        """
        self.game = game
        if isinstance(mask, str):
            options["mask"], mask = mask, True
        self.options = game.make_options(**options)
        self.options.check_environment()
        self.num_envs = _positive("num_envs", num_envs)
        self.layout = game.layout(self.options)
        self.observation_size = self.layout.size
        self.num_players = self.options.num_players
        self.num_actions = game.num_actions(self.options)
        self.max_plies = game.max_length(self.options) if max_plies is None else _positive("max_plies", max_plies)
        self._seed = checked_seed(seed)
        self._split = _Split(num_threads)
        self._write_mask = bool(mask)
        self._blank = game.blank(self.options)
        self._states = np.zeros(num_envs, game.state_dtype)
        self._episodes = np.zeros(num_envs, np.int64)
        self._actions = np.zeros(num_envs, np.int64)
        self._sampled = np.zeros(num_envs, np.int32)
        self.raise_zero = game.amounts.zero(self.options) if game.amounts else None
        has_amounts = self.raise_zero is not None
        listed = self.num_actions if self.raise_zero is None else self.raise_zero + 1
        self._legal = np.zeros((num_envs, listed if has_amounts else game.max_legal(self.options)), np.int32)
        self._amounts = np.zeros((num_envs if game.amounts else 0, 2), np.int32)
        self._bits = np.zeros((num_envs, (listed + 63) // 64), np.uint64)
        self._mask = np.zeros((num_envs, listed if mask else 0), np.int8)
        self._samples = 0
        self._started = False
        self.batch = Batch(
            observation=np.zeros((num_envs, self.observation_size), self.layout.dtype),
            action_mask=self._mask if mask else None,
            legal_actions=self._legal if legal_lists else None,
            num_legal=np.zeros(num_envs, np.int32),
            raise_min=self._amounts[:, 0] if has_amounts else None,
            raise_max=self._amounts[:, 1] if has_amounts else None,
            current_player=np.zeros(num_envs, np.int32),
            active=np.zeros((num_envs, self.num_players), np.bool_),
            reward=np.zeros((num_envs, self.num_players), np.float32),
            terminated=np.zeros(num_envs, np.bool_),
            truncated=np.zeros(num_envs, np.bool_),
            episode_returns=np.zeros((num_envs, self.num_players), np.float64),
            episode_seed=np.zeros(num_envs, np.int64),
        )

    def reset(self, seed: int | None = None) -> Batch:
        """Start episode 0 of every environment.

        Args:
            seed: a new seed; None keeps the present one and so repeats the same episodes.
        """
        if seed is not None:
            self._seed = checked_seed(seed)
        self._episodes[:] = 0
        self._samples = 0
        self._started = True
        batch = self.batch
        for array in (batch.reward, batch.terminated, batch.truncated, batch.episode_returns):
            array[:] = 0
        batch.final_observation = None
        self._run(self.game.engine.batch_reset, "reset", *self._common())
        return batch

    def step(self, actions: np.ndarray) -> Batch:
        """Apply one action in every environment; ended episodes restart.

        Args:
            actions: (N,) integers, each legal, or -1 to leave that environment as it is.

        Raises:
            IllegalActionError: names the first environment with an illegal action; nothing was changed.
            ValueError: wrong shape or dtype, or `step` before `reset`.
        """
        if not self._started:
            raise ValueError("call reset() before step()")
        self._take_actions(actions)
        batch = self.batch
        capped, before = self._at_the_cap()
        self._run(
            self.game.engine.batch_step, "step", *self._common(), actions=(
                self._actions, self.max_plies, batch.reward, batch.episode_returns, batch.terminated, batch.truncated
            ),
        )  # fmt: skip
        batch.final_observation = self._final_observations(capped, before) if len(capped) else None
        return batch

    def sample_actions(self) -> np.ndarray:
        """A legal action for every environment, uniformly; (N,) int32, the same buffer each time."""
        b = self.batch
        self._samples += 1
        # Too short to be split over threads.
        if self.raise_zero is None:
            sample_legal(self._legal, b.num_legal, self._seed, self._samples, self._sampled)
        else:
            sample_legal_or_amount(
                self._legal, b.num_legal, self._amounts, self.raise_zero, self._seed, self._samples, self._sampled
            )
        return self._sampled

    def observe(self, player: int, out: np.ndarray | None = None) -> np.ndarray:
        """What `player` sees in every environment, whoever is to act; (N, D), written to `out` if given."""
        if not 0 <= player < self.num_players:
            raise ValueError(f"players are 0 to {self.num_players - 1}; got {player!r}")
        if out is None:
            out = np.zeros_like(self.batch.observation)
        if out.shape != self.batch.observation.shape or out.dtype != self.layout.dtype:
            wanted = f"{self.batch.observation.shape} {self.layout.dtype}"
            raise ValueError(f"out must be {wanted}; got {out.shape} {out.dtype}")
        self._run(self.game.engine.batch_observe, "observe", self._states, player, out)
        return out

    def policy_actions(self, policy: str, rows: np.ndarray, seed: int, step: int) -> np.ndarray:
        """What a policy ("random", or one of `game.policies`) chooses for the player to act in some environments.

        Args:
            policy: its name.
            rows: (M,) integers, the environments.
            seed, step: choices in environment i depend on (seed, step, i) alone: count `step` up from call to call.

        Returns:
            (M,) int32 action ids.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        rows = np.asarray(rows, np.int64)
        actions, rng = np.zeros(len(rows), np.int32), np.zeros(4, np.uint64)
        if self.raise_zero is not None:  # a policy takes whole legal lists
            self._act_one_by_one(policy, rows, checked_seed(seed), step, rng, actions)
            return actions
        act = self.game.engine.batch_act(policy)
        act(self._states, rows, self._legal, self.batch.num_legal, checked_seed(seed), step, rng, actions)
        return actions

    def get_state(self) -> dict[str, Any]:
        """A copy of all that coming steps depend on, and of the present batch, as numbers, texts and plain arrays."""
        arrays = {name: array.copy() for name, array in self._arrays().items()}
        arrays["states"] = arrays["states"].view(np.uint8)
        return {**self._identity(), "seed": self._seed, "samples": self._samples, "arrays": arrays}

    def set_state(self, state: dict[str, Any]) -> Batch:
        """Go on from what `get_state` returned, in this process or an earlier one, on any number of threads.

        Raises:
            FormatError: it is of another game, version, option, number of environments or ply cap; nothing is changed.
        """
        for what, mine in self._identity().items():
            if state.get(what) != mine:
                raise FormatError(f"the saved environments have {what} {state.get(what)!r}; these have {mine!r}")
        self._seed, self._samples, self._started = state["seed"], state["samples"], True
        for name, array in self._arrays().items():
            array[:] = state["arrays"][name].view(array.dtype)
        self.batch.final_observation = None
        return self.batch

    def state(self, env: int) -> State:
        """A copy of one environment's present state, with its history left out (seed and record only)."""
        return self.game.state_type.from_record(self.game, self.options, self._states[env : env + 1].copy())

    def require_lists(self, who: str) -> None:
        """Refuse options with which legal actions are more than mask and lists say.

        Raises:
            OptionError: names `who` needs them.
        """
        if self.raise_zero is not None:
            raise OptionError(
                f"{who} needs every legal action in a mask, but with these options of {self.game.name} amounts are "
                f"actions ({self.num_actions} in all); choose options that offer fewer"
            )

    def close(self) -> None:
        """Stop the threads, if any."""
        self._split.close()

    # -- helpers ------------------------------------------------------------------------------------------------

    def _act_one_by_one(self, policy: str, rows: np.ndarray, seed: int, step: int, rng: Any, out: np.ndarray) -> None:
        act, legal = self.game.engine.act(policy), np.zeros(self.game.max_legal(self.options), np.int32)
        for k, row in enumerate(rows):
            out[k] = act(self._states, int(row), derived_seed(seed, "policy", step, int(row)), rng, legal)

    def _common(self) -> tuple:
        """The leading arguments of batch_reset and batch_step."""
        b = self.batch
        return (
            self._states, self._blank, self._seed, self._episodes, NO_LOG, self._write_mask, b.observation, self._mask,
            self._legal, self._amounts, b.num_legal, self._bits, b.current_player, b.active, b.episode_seed,
        )  # fmt: skip

    def _identity(self) -> dict[str, Any]:
        """What a saved state must share with this object."""
        return {
            "game": self.game.name,
            "options": self.options.as_dict(),
            "layout": self.layout.hash,
            "record": _dtype_hash(self.game.state_dtype),
            "num_envs": self.num_envs,
            "max_plies": self.max_plies,
            "mask": self._write_mask,
        }

    def _arrays(self) -> dict[str, np.ndarray]:
        """Every array with a row an environment that outlives a call."""
        b = self.batch
        return {
            "states": self._states, "episodes": self._episodes, "legal": self._legal, "amounts": self._amounts,
            "bits": self._bits,
            "mask": self._mask, "observation": b.observation, "num_legal": b.num_legal,
            "current_player": b.current_player, "active": b.active, "reward": b.reward, "terminated": b.terminated,
            "truncated": b.truncated, "episode_returns": b.episode_returns, "episode_seed": b.episode_seed,
        }  # fmt: skip

    def _run(self, call: Callable, name: str, *arguments: Any, actions: tuple = ()) -> None:
        self._split.run(name, self.num_envs, lambda start, stop: call(*arguments, start, stop, *actions))

    def _take_actions(self, actions: np.ndarray) -> None:
        """Copy the actions, then check the copy, which no other thread can change after the check."""
        actions = np.asarray(actions)
        fits = actions.dtype.kind in "iu" and np.can_cast(actions.dtype, self._actions.dtype)  # uint64 would wrap
        if actions.shape != (self.num_envs,) or not fits:
            raise ValueError(
                f"actions must be {self.num_envs} integers, shape ({self.num_envs},); "
                f"got shape {actions.shape}, dtype {actions.dtype}"
            )
        self._actions[:] = actions
        if self.raise_zero is None:
            wrong = first_illegal(self._actions, self._bits, self.num_actions)
        else:
            wrong = first_illegal_or_amount(self._actions, self._bits, self._amounts, self.raise_zero)
        if wrong >= 0:
            self._refuse(int(wrong), int(self._actions[wrong]))

    def _refuse(self, env: int, action: int) -> None:
        state = self.state(env)
        try:
            state.check_legal(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"environment {env}: {error} (nothing was changed in any environment)") from None
        raise IllegalActionError(
            f"environment {env}: code {action} is not taken by a batch, only ids below {self.num_actions} or {HOLD}"
        )

    def _at_the_cap(self) -> tuple[np.ndarray, np.ndarray]:
        """The environments that the next step may truncate, and copies of their records."""
        if self.max_plies >= self.game.max_length(self.options):
            return _NONE, self._states[:0]
        capped = np.flatnonzero(self._states["ply"] >= self.max_plies - 1)
        return capped, self._states[capped]

    def _final_observations(self, capped: np.ndarray, before: np.ndarray) -> np.ndarray | None:
        """Replay the last action of the environments that may have been truncated, and observe the end."""
        if not self.batch.truncated.any():
            return None
        engine = self.game.engine
        final = np.zeros((self.num_envs, self.num_players, self.observation_size), self.layout.dtype)
        scratch = np.zeros(self.game.max_legal(self.options), np.int32)
        for k, env in enumerate(capped):
            if self.batch.truncated[env]:
                engine.apply(before, k, int(self._actions[env]), NO_LOG, scratch)
                for player in range(self.num_players):
                    engine.observe(before, k, player, final[env, player])
        return final


class _Split:
    """Runs a call over 0..n-1 on one or several threads, whichever pays."""

    def __init__(self, num_threads: int | str) -> None:
        self._auto = num_threads == "auto"
        self._most = (os.cpu_count() or 1) if self._auto else _positive("num_threads", num_threads)
        if not COMPILED:
            self._most = 1  # uncompiled kernels work on widened copies of all records, written back whole
        self._pool: ThreadPoolExecutor | None = None
        self._pool_pid = 0
        self._seconds: dict[str, float] = {}  # what a call of each name took on one thread

    def __getstate__(self) -> dict[str, Any]:
        """Copies start threads of their own."""
        return {**self.__dict__, "_pool": None}

    def run(self, name: str, n: int, call: Callable[[int, int], None]) -> None:
        threads = min(self._most, n)
        if self._auto and self._seconds.get(name, 0.0) < _WORTH_A_THREAD_S:
            threads = 1
        if threads == 1:
            started = time.perf_counter()
            call(0, n)
            # The shortest so far: the first call may have compiled.
            self._seconds[name] = min(self._seconds.get(name, np.inf), time.perf_counter() - started)
            return
        if self._pool is None or self._pool_pid != os.getpid():  # a forked process has the pool, but not its threads
            self._pool, self._pool_pid = ThreadPoolExecutor(self._most - 1, "cardenvs"), os.getpid()
        bounds = [n * k // threads for k in range(threads + 1)]
        others = [self._pool.submit(call, bounds[k], bounds[k + 1]) for k in range(1, threads)]
        call(bounds[0], bounds[1])
        for other in others:
            other.result()

    def close(self) -> None:
        if self._pool is not None and self._pool_pid == os.getpid():
            self._pool.shutdown()
        self._pool = None


def make_vec(name: str, num_envs: int, seed: int = 0, **arguments: Any) -> VectorEnv:
    """N environments of the game `name`; see VectorEnv for the arguments.

    Raises:
        GameNotFoundError: no such game.
    """
    from cardenvs.core.registry import get_game

    return VectorEnv(get_game(name), num_envs, seed, **arguments)


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} takes an integer of at least 1; got {value!r}")
    return int(value)
