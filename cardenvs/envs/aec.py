"""Every game as a PettingZoo AEC environment.

    env = cardenvs.make("GAME_v0", num_players=3)        # or: from cardenvs import GAME_v0
    env.reset(seed=7)                                    #     env = GAME_v0.env(num_players=3)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else info["legal_actions"][0])

`RawEnv` refuses an illegal action with IllegalActionError. `Env`, which `env()` and `make` return, does what
PettingZoo's three stock wrappers do around `RawEnv`, in one class without their layers.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from pettingzoo.utils.env import AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from cardenvs.envs.raw_aec import RawEnv

ILLEGAL_REWARD = -1.0  # what `Env` gives for an illegal action, as PettingZoo's classic environments do


class Env(RawEnv):
    """`RawEnv` with PettingZoo's usual checks; the class behind `env()` and `cardenvs.make`.

    It does what TerminateIllegalWrapper(illegal_reward=-1), AssertOutOfBoundsWrapper and OrderEnforcingWrapper do
    around `RawEnv`, errors and warnings included (a test compares them call by call): an illegal action warns and ends
    the game for everyone with -1 for the agent, an action outside the action space is an AssertionError, and so is a
    call before `reset`. Three things differ: `unwrapped` is the environment itself; what is legal is taken from the
    game, not from an observation's mask that the caller may have written to; a first `reset` that fails is no reset.
    """

    _has_reset = False
    _has_updated = False  # whether step or reset was called since agent_iter last gave an agent

    def __getattr__(self, name: str) -> NoReturn:
        """Say why an attribute is missing; Python asks here only for those that are."""
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
        """Take one action for `agent_selection`; None, and only that, for one that is terminated or truncated.

        An illegal action ends the game: everyone is terminated and truncated, the agent gets -1, the others 0.

        Raises:
            AssertionError: before `reset`, or the action is not in the action space.
            ValueError: an action for an agent that is out.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
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
        if self._mask[chosen]:  # a bool is no index: a ValueError, as from the stock wrapper
            self._play(int(chosen))
        else:
            self._lose(agent)

    def forfeit(self) -> None:
        """Take `agent_selection` out of the game; see RawEnv.forfeit."""
        self._has_updated = True
        super().forfeit()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What `agent` may know now and, if it is to act, what it may do; new arrays each time."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return RawEnv.observe(self, agent)

    def state(self) -> np.ndarray:
        """The observations of all players, privileged; see RawEnv.state."""
        if not self._has_reset:
            EnvLogger.error_state_before_reset()
        return super().state()

    def render(self) -> str | None:
        """The table as `agent_selection` sees it; see RawEnv.render."""
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> "_CheckedIterable":
        """Give `agent_selection` until no agent is left; each turn of the loop must call `step` or `reset`."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _CheckedIterable(self, max_iter)

    def set_state(self, data: bytes) -> None:
        """Go to a saved position; see RawEnv.set_state. It may take the place of the first `reset`."""
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
    """What `Env.agent_iter` returns."""

    def __iter__(self) -> "_CheckedIterator":
        return _CheckedIterator(self.env, self.max_iter)


class _CheckedIterator(AECIterator):
    """Gives the agents in turn, and insists on a step in between."""

    def __next__(self) -> str:
        env = self.env
        if not env.agents or self.iters_til_term <= 0:
            raise StopIteration
        self.iters_til_term -= 1
        if not env._has_updated:
            raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
        env._has_updated = False
        return env.agent_selection


# ---------------------------------------------------------------------------------------------------------------
# Making environments


def make(name: str, render_mode: str | None = None, max_plies: int | None = None, **options: Any) -> Env:
    """The game `name` as a PettingZoo environment with the usual checks; see RawEnv for the arguments.

    Raises:
        GameNotFoundError: no such game.
        OptionError: an unknown option or value; names the game.
    """
    return Env(name, render_mode, max_plies, **options)


def environment_functions(name: str, module: str) -> tuple[Callable[..., Env], Callable[..., RawEnv]]:
    """The functions `env` and `raw_env` of a module that offers one game, as PettingZoo's own modules do.

        env, raw_env = environment_functions("my_game_v0", __name__)

    Args:
        name: of the game.
        module: the `__name__` of the module that holds the functions, so that they can be pickled.
    """

    def env(render_mode: str | None = None, max_plies: int | None = None, **options: Any) -> Env:
        return Env(name, render_mode, max_plies, **options)

    def raw_env(render_mode: str | None = None, max_plies: int | None = None, **options: Any) -> RawEnv:
        return RawEnv(name, render_mode, max_plies, **options)

    env.__doc__ = f"{name} with PettingZoo's usual checks; see cardenvs.envs.aec.Env and the game's options."
    raw_env.__doc__ = f"{name}, refusing illegal actions; see cardenvs.envs.aec.RawEnv and the game's options."
    for function in (env, raw_env):
        function.__module__, function.__qualname__ = module, function.__name__
    return env, raw_env
