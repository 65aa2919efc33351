"""`Env`: every game as a PettingZoo AEC environment.

    env = cardenvs.make("GAME_v0", num_players=3)        # or: from cardenvs import GAME_v0
    env.reset(seed=7)                                    #     env = GAME_v0.env(num_players=3)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        mask = info["action_mask"]
        env.step(None if terminated or truncated else env.action_space(agent).sample(mask))

`RawEnv` raises IllegalActionError for an illegal action. `Env`, which `env()` and `make` return, behaves like `RawEnv`
in PettingZoo's three stock wrappers, but is a single class.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from pettingzoo.utils.env import AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from cardenvs.core.errors import ConcurrentUseError
from cardenvs.envs.raw_aec import RawEnv

ILLEGAL_REWARD = -1.0  # of `Env` for an illegal action, as in PettingZoo's classic environments


class Env(RawEnv):
    """`RawEnv` with PettingZoo's usual checks. `env()` and `cardenvs.make` return it.

    It behaves like `RawEnv` in TerminateIllegalWrapper(illegal_reward=-1), AssertOutOfBoundsWrapper and
    OrderEnforcingWrapper, including errors and warnings. An illegal action warns and ends the game for everyone, with
    reward -1 for the agent. An action outside the action space raises AssertionError, as does a call before `reset`.

    Three things differ from the wrappers: `unwrapped` is the environment itself; legality comes from the game, not from
    an observation's mask, which the caller may have overwritten; and a first `reset` that fails does not count.
    """

    _has_reset = False
    _has_updated = False  # whether step or reset was called since agent_iter last yielded an agent

    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError with PettingZoo's reason why an attribute is missing."""
        if name in _SET_BY_RESET and not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        if name.startswith("_") and name != "_cumulative_rewards":
            raise AttributeError(f"accessing private attribute '{name}' is prohibited")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game; see RawEnv.reset."""
        self._has_updated = True
        super().reset(seed, options)
        self._has_reset = True

    def step(self, action: int | None) -> None:
        """Apply an action of `agent_selection`.

        An illegal action ends the game: all agents are terminated and truncated, the agent gets -1, the others 0.

        Args:
            action: int in the action space; None if the agent is terminated or truncated.

        Raises:
            AssertionError: `step` before `reset`, or the action is not in the action space.
            ValueError: an action other than None for a terminated or truncated agent.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        if self._in_use:  # as in `one_at_a_time`, without its call
            raise ConcurrentUseError.of("Env")
        self._in_use = True
        try:
            self._step(action)
        finally:
            self._in_use = False

    def _step(self, action: int | None) -> None:
        self._has_updated = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                self._check_bounds(action)
            self._was_dead_step(action)
            return
        chosen: Any = action
        if chosen.__class__ is not int or not 0 <= chosen < self._num_actions:
            self._check_bounds(chosen)
        if self._mask[chosen]:  # a bool raises ValueError here, as in the stock wrapper
            self._play(int(chosen))
        else:
            self._lose(agent)

    def forfeit(self) -> None:
        """Remove `agent_selection` from the game; see RawEnv.forfeit."""
        self._has_updated = True
        super().forfeit()

    def observe(self, agent: str) -> dict[str, np.ndarray] | np.ndarray:
        """Return the observation of `agent`; see RawEnv.observe."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return RawEnv.observe(self, agent)

    def state(self) -> np.ndarray:
        """Return the observations of all players; see RawEnv.state."""
        if not self._has_reset:
            EnvLogger.error_state_before_reset()
        return super().state()

    def render(self) -> str | np.ndarray | None:
        """Show the table from `agent_selection`'s point of view; see RawEnv.render."""
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> "_CheckedIterable":
        """Yield `agent_selection` until no agent is left. The loop body must call `step` or `reset`."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _CheckedIterable(self, max_iter)

    def set_state(self, data: bytes) -> None:
        """Restore a saved position; see RawEnv.set_state. It can replace the first `reset`."""
        super().set_state(data)
        self._has_reset = self._has_updated = True

    def _check_bounds(self, action: Any) -> None:
        if not self.action_spaces[self.agent_selection].contains(action):
            raise AssertionError("action is not in action space")

    def _lose(self, agent: str) -> None:
        """End the game because `agent` chose an illegal action."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0)
        self.rewards[agent] = ILLEGAL_REWARD
        self._accumulate_rewards()
        self._deads_step_first()


_SET_BY_RESET = {"rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"}


class _CheckedIterable(AECIterable):
    """The iterable that `Env.agent_iter` returns."""

    def __iter__(self) -> "_CheckedIterator":
        return _CheckedIterator(self.env, self.max_iter)


class _CheckedIterator(AECIterator):
    """Yields the agents in turn, and raises AssertionError if the loop does not step in between."""

    def __next__(self) -> str:
        env = self.env
        if not env.agents or self.iters_til_term <= 0:
            raise StopIteration
        self.iters_til_term -= 1
        if not env._has_updated:
            raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
        env._has_updated = False
        return env.agent_selection


# -- making environments ------------------------------------------------------------------------------------------


def make(name: str, render_mode: str | None = None, max_plies: int | None = None, **options: Any) -> Env:
    """Make the game `name` as a PettingZoo environment with the usual checks; see RawEnv for the arguments.

    Raises:
        GameNotFoundError: no game has this name.
        OptionError: unknown option or invalid value.
    """
    return Env(name, render_mode, max_plies, **options)


def environment_functions(name: str, module: str) -> tuple[Callable[..., Env], Callable[..., RawEnv]]:
    """Make the functions `env` and `raw_env` for the module of one game, as in PettingZoo's own modules.

        env, raw_env = environment_functions("my_game_v0", __name__)

    Args:
        name: name of the game.
        module: `__name__` of the module that defines the functions, so that they can be pickled.
    """

    def env(render_mode: str | None = None, max_plies: int | None = None, **options: Any) -> Env:
        return Env(name, render_mode, max_plies, **options)

    def raw_env(render_mode: str | None = None, max_plies: int | None = None, **options: Any) -> RawEnv:
        return RawEnv(name, render_mode, max_plies, **options)

    env.__doc__ = f"{name} with PettingZoo's usual checks; see cardenvs.envs.aec.Env and the game's options."
    raw_env.__doc__ = (
        f"{name}, raising IllegalActionError for illegal actions; see cardenvs.envs.raw_aec.RawEnv and the game's "
        "options."
    )
    for function in (env, raw_env):
        function.__module__, function.__qualname__ = module, function.__name__
    return env, raw_env
