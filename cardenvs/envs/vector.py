"""`VectorEnv`: N environments of one game, stepped by one compiled call.

    vec = cardenvs.make_vec("GAME_v0", num_envs=4096, seed=0)
    batch = vec.reset()
    while training:
        batch = vec.step(vec.sample_actions())

All arrays of a `Batch` are buffers that the next call overwrites in place. Copy what you want to keep; torch can view
them without a copy. When a game ends, the next one starts in the same step.

Kernels check nothing. The arrays that they rely on are therefore private or shown read-only, and a call while another
thread is in one raises ConcurrentUseError. A VectorEnv uses several threads by itself.
"""

import copy
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from gymnasium.vector.utils import batch_space

from cardenvs.core.checks import check_fields, checked_integer, checked_integers, checked_player, checked_seed, short
from cardenvs.core.codes import HOLD, MASK_DTYPE, NO_ACTION
from cardenvs.core.engine import BatchArrays
from cardenvs.core.errors import FormatError, IllegalActionError, OptionError
from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.kernel import code_for
from cardenvs.core.legal import WIDE, first_illegal, first_illegal_or_amount, sample_legal, sample_legal_or_amount
from cardenvs.core.record import copied, dtype_hash
from cardenvs.core.rng import SEED_MASK, derived_seed
from cardenvs.core.state import State
from cardenvs.envs.arguments import checked_render_mode, positive, table_image, tiled
from cardenvs.envs.batch import Batch, aligned, read_only, realigned
from cardenvs.envs.threads import OneThread, ThreadedCall, one_at_a_time

_NONE = np.zeros(0, np.int64)
_MOST_PLIES = 2**31 - 1  # records count plies as int32


class VectorEnv(OneThread):
    """N environments of one game. Use `cardenvs.make_vec` to create them.

    Attributes:
        game: the Game.
        options: its validated options.
        num_envs: N.
        first_env: the number of environment 0 in what is random.
        num_players, num_actions, observation_size: P, A, D.
        layout: the layout of observations.
        amount_zero: the id of amount 0 if amounts are actions and the batch shows their bounds, else None.
        max_plies: episodes are truncated after this many plies.
        skip_forced: whether a step also plays what follows from it without a choice.
        batch: the Batch of the last call.
        single_observation_space, single_action_space: Gymnasium spaces of one environment: Box (D,) and Discrete (A).
        observation_space, action_space: the same for N environments, as `Batch.observation` and actions are.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: int = 0,
        num_threads: int | str = "auto",
        mask: bool = True,
        legal_lists: bool = True,
        max_plies: int | None = None,
        resumable: bool = False,
        first_env: int = 0,
        skip_forced: bool = False,
        **options: Any,
    ) -> None:
        """Allocate the buffers. Call `reset` before `step`.

        Args:
            game: the Game.
            num_envs: N, at least 1.
            seed: seed of all chance, 0..2**63-1. Episode k of environment i depends on (seed, i, k) only.
            num_threads: number of threads for each call. "auto" uses all cores for calls that are long enough to gain
                from it.
            mask: whether to write `action_mask`.
            legal_lists: whether to show `legal_actions`.
            max_plies: truncate episodes after this many plies; by default the game's own bound, which no game exceeds.
            resumable: store the actions of the running episodes, so that `get_state` can save them.
            first_env: environment i plays, and policies act in it, as in environment first_env + i of a larger batch,
                of which this is a part.
            skip_forced: play on after each action while there is only one legal action, of whoever is to act, and sum
                the rewards. The batch then shows decisions with a choice only, except perhaps the first of an episode.
                Who is asked next tells who had a choice, as some games must not, so this is for training.
            options: game options.

        Raises:
            OptionError: unknown game option or invalid value.
            ValueError: another argument is invalid.
        """
        self.game = game
        self.options = game.make_options(**options)
        self._engine = game.engine_for(self.options)
        self.options.check_environment()
        self.num_envs = positive("num_envs", num_envs)
        self.first_env = checked_integer("first_env", first_env, 0, _MOST_PLIES)
        self.layout = game.layout(self.options)
        self.observation_size = self.layout.size
        self.num_players = self.options.num_players
        self.num_actions = game.num_actions(self.options)
        longest = game.max_length(self.options)
        self.max_plies = longest if max_plies is None else checked_integer("max_plies", max_plies, 1, _MOST_PLIES)
        self._may_truncate = self.max_plies < longest
        self._seed = checked_seed(seed)
        self._threaded = ThreadedCall(num_threads, game.runs_compiled)
        self._write_mask, self._shows_lists = bool(mask), bool(legal_lists)
        self._blank = game.blank(self.options)
        self._states = np.zeros(num_envs, game.state_dtype)
        self._episodes = np.zeros(num_envs, np.int64)
        self._actions = np.zeros(num_envs, np.int64)
        self._sampled = np.zeros(num_envs, np.int32)
        self.amount_zero = game.amounts.zero(self.options) if game.amounts else None
        has_amounts = self.amount_zero is not None
        listed = self.num_actions if self.amount_zero is None else self.amount_zero + 1
        most_legal = listed if has_amounts else game.max_legal(self.options)
        self._legal = aligned((num_envs, most_legal), np.int32, NO_ACTION)
        self._amounts = aligned((num_envs if game.amounts else 0, 2), np.int32)
        self._bits = aligned((num_envs, (listed + 63) // 64), np.uint64)
        self._mask = aligned((num_envs, listed if mask else 0), MASK_DTYPE)
        self._samples = 0
        self._started = False
        self.skip_forced = bool(skip_forced)
        self._history = np.zeros((num_envs, 0), np.int32) if resumable else None  # actions of the running episodes
        self._buffers = Batch(
            observation=aligned((num_envs, self.observation_size), self.layout.dtype),
            action_mask=None,
            legal_actions=None,
            num_legal=aligned((num_envs,), np.int32),
            amount_min=None,
            amount_max=None,
            current_player=aligned((num_envs,), np.int32),
            active=aligned((num_envs, self.num_players), np.bool_),
            reward=aligned((num_envs, self.num_players), np.float32),
            terminated=aligned((num_envs,), np.bool_),
            truncated=aligned((num_envs,), np.bool_),
            episode_returns=aligned((num_envs, self.num_players), np.float64),
            episode_seed=aligned((num_envs,), np.int64),
        )
        self.batch, self._arrays_of_kernels = self._shown(), self._batch_arrays()
        self._codes: dict[Any, Any] = {}  # of kernels, for these arrays

    @functools.cached_property
    def single_observation_space(self) -> Space[Any]:
        """Box of the layout's bounds, (D,)."""
        return Box(self.layout.low, self.layout.high, dtype=self.layout.dtype)

    @functools.cached_property
    def single_action_space(self) -> Space[Any]:
        """Discrete (A): all ids, of which the mask shows the legal ones."""
        return Discrete(int(self.num_actions))

    @functools.cached_property
    def observation_space(self) -> Space[Any]:
        """Box (N, D)."""
        return batch_space(self.single_observation_space, self.num_envs)

    @functools.cached_property
    def action_space(self) -> Space[Any]:
        """MultiDiscrete (N,)."""
        return batch_space(self.single_action_space, self.num_envs)

    def _shown(self) -> Batch:
        """Return the buffers as callers may see them: views, whose shape they may change."""
        bounds = None if self.amount_zero is None else read_only(self._amounts)
        arrays = {name: array for name, array in vars(self._buffers).items() if isinstance(array, np.ndarray)}
        views: dict[str, Any] = {name: array.view() for name, array in arrays.items()} | {
            "action_mask": self._shown_mask() if self._write_mask else None,
            "legal_actions": read_only(self._legal) if self._shows_lists else None,
            "num_legal": read_only(self._buffers.num_legal),
            "amount_min": None if bounds is None else bounds[:, 0],
            "amount_max": None if bounds is None else bounds[:, 1],
        }
        return replace(self._buffers, **views)

    def _shown_mask(self) -> np.ndarray:
        """Return the masks. Wide ones are read-only, since a step changes them only where the old and new lists are."""
        return read_only(self._mask) if self._mask.shape[1] >= WIDE else self._mask.view()

    @one_at_a_time
    def reset(self, seed: int | None = None) -> Batch:
        """Start episode 0 of every environment. Without a new seed, the same episodes are repeated.

        Raises:
            ValueError: invalid seed.
        """
        if seed is not None:
            self._seed = checked_seed(seed)
        self._episodes[:] = 0
        self._samples = 0
        self._deal()
        return self.batch

    def _deal(self) -> None:
        """Start the current episode of every environment."""
        self._started = True
        b = self._buffers
        for array in (b.reward, b.terminated, b.truncated, b.episode_returns):
            array[:] = 0
        self.batch.final_observation = None
        self._run(self._engine.batch_reset, "reset", *self._batch())

    @one_at_a_time
    def step(self, actions: np.ndarray) -> Batch:
        """Apply one action in every environment. Where an episode ends, the next one starts.

        Args:
            actions: (N,) integers, each a legal action, or -1 to leave that environment unchanged.

        Raises:
            IllegalActionError: an action is illegal. The message names its environment; no environment has changed.
            ValueError: wrong shape or dtype, or `step` before `reset`.
            ConcurrentUseError: another thread is in a call of this object; no environment has changed.
        """
        self._require_started("step")
        self._take_actions(actions)
        if self._history is not None:
            self._note_actions()
        capped, before = self._at_the_cap()
        step = self._engine.batch_step
        after: tuple[Any, ...] = (self._actions, self.max_plies)
        if self.skip_forced:
            history = np.zeros((self.num_envs, 0), np.int32) if self._history is None else self._history
            step, after = self._engine.batch_skip, (*after, history)
        if step not in self._codes:
            self._codes[step] = code_for(step, (*self._batch(), 0, self.num_envs, *after))
        self._run(self._codes[step], "step", *self._batch(), after=after)
        self.batch.final_observation = self._final_observations(capped, before) if len(capped) else None
        return self.batch

    @one_at_a_time
    def sample_actions(self) -> np.ndarray:
        """Return a uniformly random legal action for every environment, (N,) int32. Reuses one buffer."""
        self._require_started("sample_actions")
        b = self._buffers
        self._samples = (self._samples + 1) & SEED_MASK
        # Too fast to gain from threads.
        if self.amount_zero is None:
            sample_legal(self._legal, b.num_legal, self._seed, self._samples, self.first_env, self._sampled)
        else:
            sample_legal_or_amount(
                self._legal,
                b.num_legal,
                self._amounts,
                self.amount_zero,
                self._seed,
                self._samples,
                self.first_env,
                self._sampled,
            )
        return self._sampled.view()  # whose shape a caller may change

    @one_at_a_time
    def observe(self, player: int, out: np.ndarray | None = None) -> np.ndarray:
        """Return what `player` sees in every environment, whether or not it is to act.

        Args:
            player: 0 to num_players - 1.
            out: C-contiguous array (N, D) of the layout's dtype to write to and return; by default a new array.

        Returns:
            (N, D) observations.

        Raises:
            ValueError: unknown player, unsuitable `out`, or `observe` before `reset`.
        """
        self._require_started("observe")
        player, shape = checked_player(player, self.num_players), self._buffers.observation.shape
        if out is None:
            out = np.zeros(shape, self.layout.dtype)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != self.layout.dtype:
            got = f"{out.shape} {out.dtype}" if isinstance(out, np.ndarray) else short(out)
            raise ValueError(f"out must be {shape} {self.layout.dtype}; got {got}")
        elif not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out must be C-contiguous and writeable")
        self._run(self._engine.batch_observe, "observe", self._states, player, out)
        return out

    @one_at_a_time
    def policy_actions(self, policy: str, rows: np.ndarray, seed: int, step: int) -> np.ndarray:
        """Return the actions that a policy chooses for the players to act in some environments.

        Args:
            policy: "random" or one of `game.policies`.
            rows: (M,) integers, the environments.
            seed, step: the choice in environment i depends on (seed, step, i) only. Increase `step` with each call.

        Returns:
            (M,) int32 action ids.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            ValueError: `rows`, `seed` or `step` is out of range, or `policy_actions` before `reset`.
        """
        self._require_started("policy_actions")
        self.game.engine.policy(policy)
        rows = checked_integers("rows", rows, (None,), 0, self.num_envs - 1)
        seed, step = checked_seed(seed), checked_integer("step", step, 0, SEED_MASK)
        actions, rng = np.zeros(len(rows), np.int32), np.zeros(4, np.uint64)
        if self.amount_zero is not None:  # policies need complete lists, which the batch does not have
            self._act_one_by_one(policy, rows, seed, step, rng, actions)
            return actions
        act = self.game.engine.batch_act(policy)
        act(self._states, rows, self._legal, self._buffers.num_legal, seed, step, self.first_env, rng, actions)
        return actions

    @one_at_a_time
    def get_state(self) -> dict[str, Any]:
        """Return everything that future steps depend on, and the results of the last step, as a dict of numbers,
        strings and plain arrays for `set_state`. Running episodes are saved as their actions.

        Raises:
            ValueError: the VectorEnv was created without resumable=True, or `get_state` before `reset`.
        """
        self._require_started("get_state")
        if self._history is None:
            raise ValueError("get_state needs a VectorEnv created with resumable=True")
        plies = self._states["ply"].astype(np.int64)
        actions = self._history[:, : plies.max()].copy()
        actions[np.arange(actions.shape[1]) >= plies[:, None]] = NO_ACTION
        arrays = {name: array.copy() for name, array in self._results().items()}
        arrays |= {"episodes": self._episodes.copy(), "plies": plies, "actions": actions}
        if self.batch.final_observation is not None:
            arrays["final_observation"] = self.batch.final_observation.copy()
        return {**self._identity(), "seed": self._seed, "samples": self._samples, "arrays": arrays}

    @one_at_a_time
    def set_state(self, state: dict[str, Any]) -> Batch:
        """Restore what `get_state` returned, in this process or another, with any number of threads.

        Replays the running episodes, so the result is always a valid position of this game.

        Raises:
            FormatError: the data is damaged or edited, or belongs to another game, version, option, number of
                environments or `max_plies`; nothing has changed.
        """
        if not isinstance(state, dict):
            raise FormatError(f"set_state takes the dict that get_state returned; got {short(state)}")
        for what, mine in self._identity().items():
            if state.get(what) != mine:
                raise FormatError(f"the saved environments have {what} {short(state.get(what))}; these have {mine!r}")
        check_fields(state, {"seed": int, "samples": int, "arrays": dict}, "the saved environments")
        try:
            replayed = self._replayed(state["seed"], state["samples"], state["arrays"])
        except (ValueError, KeyError) as error:
            raise FormatError(f"the saved environments are damaged: {error}") from None
        self._seed, self._samples, self._started = replayed._seed, replayed._samples, True
        for name, array in self._arrays().items():
            array[:] = replayed._arrays()[name]
        if self._history is not None:
            self._history = replayed._history
        self.batch.final_observation = replayed.batch.final_observation
        return self.batch

    def _replayed(self, seed: int, samples: int, arrays: dict[str, Any]) -> Self:
        """Return a copy of these environments in which saved episodes have been replayed."""
        n = self.num_envs
        twin = object.__new__(type(self))
        twin.__setstate__(copy.deepcopy(self._attributes() | {"_threaded": ThreadedCall(1, self.game.runs_compiled)}))
        twin._history, twin.skip_forced = np.zeros((n, 0), np.int32), False  # saved actions include forced ones
        twin._seed = checked_seed(seed)
        twin._samples = checked_integer("samples", samples, 0, SEED_MASK)
        twin._episodes[:] = checked_integers("episodes", arrays["episodes"], (n,), 0, SEED_MASK - 1)
        plies = checked_integers("plies", arrays["plies"], (n,), 0, self.max_plies - 1)
        actions = checked_integers("actions", arrays["actions"], (n, int(plies.max())), NO_ACTION, self.num_actions - 1)
        twin._deal()
        for ply, column in enumerate(actions.T):
            playing = plies > ply
            if (column[playing] == HOLD).any():
                raise ValueError(f"no action at ply {ply}")
            batch = twin.step(np.where(playing, column, HOLD))
            if (batch.terminated | batch.truncated).any():
                raise ValueError(f"an episode is over at ply {ply}")
        for name, array in twin._results().items():
            saved = arrays[name]
            if not isinstance(saved, np.ndarray) or saved.shape != array.shape or saved.dtype != array.dtype:
                raise ValueError(f"{name} should be {array.shape} {array.dtype}")
            if not np.isfinite(saved).all():
                raise ValueError(f"{name} is not finite")
            array[:] = saved
        twin.batch.final_observation = self._checked_final(arrays.get("final_observation"))
        return twin

    def _checked_final(self, final: Any) -> np.ndarray | None:
        """Return a copy of a saved `final_observation`. Raises ValueError if it is not one."""
        shape = (self.num_envs, self.num_players, self.observation_size)
        if final is None:
            return None
        if not isinstance(final, np.ndarray) or final.shape != shape or final.dtype != self.layout.dtype:
            raise ValueError(f"final_observation should be {shape} {self.layout.dtype}")
        return final.copy()

    @one_at_a_time
    def state(self, env: int) -> State:
        """Return a copy of the current state of environment `env`, without its history.

        Raises:
            ValueError: unknown environment, or `state` before `reset`.
        """
        self._require_started("state")
        return self._state(checked_integer("env", env, 0, self.num_envs - 1))

    def _state(self, env: int) -> State:
        return self.game.state_type._from_record(self.game, self.options, self._states[env : env + 1].copy())

    @one_at_a_time
    def running_episode(self, env: int) -> tuple[int, list[int]]:
        """Return the seed and the actions of the running episode of environment `env`, so that a State can follow it.

        Raises:
            ValueError: unknown environment, `running_episode` before `reset`, or not created with resumable=True.
        """
        self._require_started("running_episode")
        if self._history is None:
            raise ValueError("running_episode needs a VectorEnv created with resumable=True")
        env = checked_integer("env", env, 0, self.num_envs - 1)
        return int(self._states["seed"][env]), self._history[env, : int(self._states["ply"][env])].tolist()

    @one_at_a_time
    def render(self, most: int = 9) -> np.ndarray:
        """Return pictures of the first `most` games, tiled, each as its player to act sees it, uint8 (height, width,
        3).

        Raises:
            MissingExtraError: images need the extra `pictures`.
            ValueError: `most` is not a number of at least 1, or `render` before `reset`.
        """
        self._require_started("render")
        checked_render_mode(self.game, "rgb_array")
        states = [self._state(env) for env in range(min(positive("most", most), self.num_envs))]
        return tiled([table_image(state, state.current_player) for state in states])

    @one_at_a_time
    def put_state(self, env: int, state: State) -> None:
        """Put a state into environment `env`, for tests: the next step plays on from it.

        The observation in `batch` still shows the position before, and histories of episodes leave the state out.

        Raises:
            ValueError: unknown environment, or the state is of another game or has other options.
        """
        env = checked_integer("env", env, 0, self.num_envs - 1)
        if not isinstance(state, State) or state.game is not self.game or state.options != self.options:
            raise ValueError(f"put_state takes a State of {self.game.name} with {self.options}; got {short(state)}")
        listed, amounts = state.legal_actions(), [0]
        if self.amount_zero is not None:
            amounts = [action - self.amount_zero for action in listed if action > self.amount_zero] or [0]
            listed = [action for action in listed if action <= self.amount_zero]
        self._states[env] = state.records[0]
        self._legal[env] = NO_ACTION
        self._legal[env, : len(listed)] = listed
        self._buffers.num_legal[env] = len(listed)
        mask = np.zeros(64 * self._bits.shape[1], MASK_DTYPE)
        mask[listed] = 1
        self._bits[env] = np.packbits(mask, bitorder="little").view(np.uint64)
        self._mask[env] = mask[: self._mask.shape[1]]
        if len(self._amounts):
            self._amounts[env] = min(amounts), max(amounts)

    @one_at_a_time
    def copy_records(self) -> np.ndarray:
        """Return a copy of the records of all environments, (N,) of `game.state_dtype`.

        For interfaces built on this one, which pass records to the kernels of `game.engine`.
        """
        return copied(self._states)

    def require_lists(self, who: str) -> None:
        """Raise OptionError, in the name of `who`, if masks omit legal actions because amounts are actions."""
        if self.amount_zero is not None:
            raise OptionError(
                f"{who} needs every legal action in a mask, but with these options of {self.game.name} amounts are "
                f"actions ({self.num_actions} in total); choose options with fewer actions"
            )

    @one_at_a_time
    def close(self) -> None:
        """Stop the threads, if any."""
        self._threaded.close()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    @one_at_a_time
    def __getstate__(self) -> dict[str, Any]:
        """Copy the arrays, and leave out tuples and views of them; `__setstate__` restores those."""
        return self._attributes()

    def _attributes(self) -> dict[str, Any]:
        derived = ("batch", "_arrays_of_kernels", "_codes")
        kept = {name: _copy_of(value) for name, value in super().__getstate__().items() if name not in derived}
        buffers = vars(self._buffers) | {"final_observation": self.batch.final_observation}
        kept["_buffers"] = Batch(**{name: _copy_of(value) for name, value in buffers.items()})
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Restore what `__getstate__` returned. Copied arrays lie anywhere, so they are aligned again."""
        self.__dict__.update(kept)
        for name in ("_legal", "_amounts", "_bits", "_mask"):
            setattr(self, name, realigned(getattr(self, name)))
        arrays = {name: array for name, array in vars(self._buffers).items() if isinstance(array, np.ndarray)}
        self._buffers = replace(self._buffers, **{name: realigned(array) for name, array in arrays.items()})
        self.batch, self._arrays_of_kernels, self._codes = self._shown(), self._batch_arrays(), {}

    # -- helpers ------------------------------------------------------------------------------------------------

    def _require_started(self, method: str) -> None:
        if not self._started:
            raise ValueError(f"call reset() before {method}()")

    def _note_actions(self) -> None:
        """Write the actions of a step to the history. Later actions overwrite HOLD, which leaves the ply unchanged."""
        plies, history = self._states["ply"], self._history
        assert history is not None
        room = history.shape[1]
        # a step that skips may be of any length
        longest = min(self.max_plies, self.game.max_length(self.options))
        wanted = longest if self.skip_forced else int(plies.max()) + 1
        if room < wanted:
            grown = np.zeros((self.num_envs, max(wanted, 2 * room + 16)), np.int32)  # memory is taken as it is used
            grown[:, :room] = history
            self._history = history = grown
        history[np.arange(self.num_envs), plies] = self._actions

    def _act_one_by_one(self, policy: str, rows: np.ndarray, seed: int, step: int, rng: Any, out: np.ndarray) -> None:
        act, legal = self.game.engine.act(policy), np.zeros(self.game.max_legal(self.options), np.int32)
        for k, row in enumerate(map(int, rows)):
            out[k] = act(self._states, row, derived_seed(seed, "policy", step, self.first_env + row), rng, legal)

    def _batch_arrays(self) -> BatchArrays:
        b = self._buffers
        return BatchArrays(
            self._states, self._blank, self._episodes, b.observation, self._mask, self._legal, self._amounts,
            b.num_legal, self._bits, b.current_player, b.active, b.episode_seed, b.reward, b.episode_returns,
            b.terminated, b.truncated,
        )  # fmt: skip

    def _batch(self) -> tuple[BatchArrays, int, int, bool, np.ndarray]:
        """Return the leading arguments of batch_reset and batch_step."""
        return self._arrays_of_kernels, self._seed, self.first_env, self._write_mask, NO_LOG

    def _identity(self) -> dict[str, Any]:
        """Return what a saved state must have in common with this object."""
        return {
            "game": self.game.name,
            "options": self.options.as_dict(),
            "layout": self.layout.hash,
            "record": dtype_hash(self.game.state_dtype),
            "num_envs": self.num_envs,
            "first_env": self.first_env,
            "max_plies": self.max_plies,
            "mask": self._write_mask,
        }

    def _arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by environment that outlive a call."""
        b = self._buffers
        return self._results() | {
            "states": self._states, "episodes": self._episodes, "legal": self._legal, "amounts": self._amounts,
            "bits": self._bits, "mask": self._mask, "observation": b.observation, "num_legal": b.num_legal,
            "current_player": b.current_player, "active": b.active,
        }  # fmt: skip

    def _results(self) -> dict[str, np.ndarray]:
        """Return the arrays with the results of the last step."""
        b = self._buffers
        return {
            "reward": b.reward, "terminated": b.terminated, "truncated": b.truncated,
            "episode_returns": b.episode_returns, "episode_seed": b.episode_seed,
        }  # fmt: skip

    def _run(self, call: Callable[..., Any], name: str, *arguments: Any, after: tuple[Any, ...] = ()) -> None:
        self._threaded.run(name, self.num_envs, lambda start, stop: call(*arguments, start, stop, *after))

    def _take_actions(self, actions: np.ndarray) -> None:
        """Copy the actions, then check the copy, so that no other thread can change them after the check."""
        actions = np.asarray(actions)
        kind, size = actions.dtype.kind, actions.dtype.itemsize
        fits = kind == "i" or (kind == "u" and size < self._actions.itemsize)  # uint64 would wrap
        if actions.shape != (self.num_envs,) or not fits:
            raise ValueError(
                f"actions must be {self.num_envs} integers, shape ({self.num_envs},); "
                f"got shape {actions.shape}, dtype {actions.dtype}"
            )
        self._actions[:] = actions
        if self.amount_zero is None:
            wrong = first_illegal(self._actions, self._bits, self.num_actions)
        else:
            wrong = first_illegal_or_amount(self._actions, self._bits, self._amounts, self.amount_zero)
        if wrong >= 0:
            self._refuse(int(wrong), int(self._actions[wrong]))

    def _refuse(self, env: int, action: int) -> None:
        try:
            self._state(env).check_legal(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"environment {env}: {error} (no environment has changed)") from None
        # an amount that has no action of its own, which `State.apply` takes as a code
        raise IllegalActionError(
            f"environment {env}: actions are 0 to {self.num_actions - 1}; got {action} (no environment has changed)"
        )

    def _at_the_cap(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the environments that the next step may truncate, and copies of their records."""
        if not self._may_truncate:
            return _NONE, self._states[:0]
        near = 0 if self.skip_forced else self.max_plies - 1
        capped = np.flatnonzero(self._states["ply"] >= near)
        return capped, self._states[capped]

    def _final_observations(self, capped: np.ndarray, before: np.ndarray) -> np.ndarray | None:
        """Replay the last step of truncated environments and return what each player saw at the end."""
        if not self._buffers.truncated.any():
            return None
        engine = self._engine
        final = np.zeros((self.num_envs, self.num_players, self.observation_size), self.layout.dtype)
        scratch = np.zeros(self.game.max_legal(self.options), np.int32)
        for k, env in enumerate(capped):
            if self._buffers.truncated[env]:
                engine.apply(before, k, int(self._actions[env]), NO_LOG, scratch)
                while before["ply"][k] < self.max_plies:  # played on without a choice
                    engine.apply(before, k, int(scratch[0]), NO_LOG, scratch)
                for player in range(self.num_players):
                    engine.observe(before, k, player, final[env, player])
        return final


def _copy_of(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def make_vec(name: str, num_envs: int, seed: int = 0, **arguments: Any) -> VectorEnv:
    """Make N environments of the game `name`; see VectorEnv for the arguments.

    Raises:
        GameNotFoundError: no game has this name.
        OptionError: unknown game option or invalid value.
        ValueError: another argument is invalid.
    """
    from cardenvs.core.registry import get_game

    return VectorEnv(get_game(name), num_envs, seed, **arguments)
