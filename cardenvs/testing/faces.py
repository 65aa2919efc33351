"""Checks that State, AEC environment, batch and single-seat environment play the same game."""

import contextlib
import inspect
import io
import random
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.game import Game
from cardenvs.core.rng import episode_seed
from cardenvs.testing.case import Case, ConformanceError, fail, results_checked_by

if TYPE_CHECKING:
    from cardenvs.core.state import State

_EXPECTED_WARNINGS = ("not a NumPy array", "probably should be")  # from api_test for every Dict observation


def check_option_names(game: Game) -> None:
    """Check that no option has the name of an argument of an environment, which takes options by name, too."""
    from cardenvs.envs.raw_aec import RawEnv
    from cardenvs.envs.seat_vector import SeatVectorEnv
    from cardenvs.envs.single import SeatEnv
    from cardenvs.envs.vector import VectorEnv

    options = set(game.make_options().as_dict())
    for env in (RawEnv, VectorEnv, SeatEnv, SeatVectorEnv):
        if taken := options & set(inspect.signature(env).parameters):
            raise ConformanceError(
                f"{game.name}: option {min(taken)} has the name of an argument of {env.__name__}; rename the option"
            )


def check_aec(case: Case) -> None:
    """Check that the AEC environment shows the same bytes as the State, and never overwrites what it returned."""
    from cardenvs.envs.raw_aec import RawEnv

    env = RawEnv(case.game, **case.options.as_dict())
    env.reset(seed=case.seed)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for state, action in _steps(case):
        while state.current_player >= 0 and env.agent_selection != f"player_{state.current_player}":
            env.step(None)  # the None step of a player who has left
        for player in range(state.num_players):
            agent = f"player_{player}"
            if agent not in env.agents:
                continue
            seen = env.observe(agent)
            if not np.array_equal(seen["observation"], state.observation(player)):
                fail(case, state, f"the AEC observation of {agent} differs from the State's")
            if not np.array_equal(seen["action_mask"], state.action_mask(player)):
                fail(case, state, f"the AEC action mask of {agent} differs from the State's")
            kept.append((seen["observation"], seen["observation"].copy()))
        if action is not None:
            env.step(action)
    if any(not np.array_equal(given, copy) for given, copy in kept):
        fail(case, state, "the AEC environment overwrote an observation that it had returned")


def check_batch(case: Case) -> None:
    """Check that a batch plays the same bytes as the State, on one thread and on two, and after restarts."""
    from cardenvs.envs.vector import VectorEnv

    num_envs = 3
    batches = [
        VectorEnv(case.game, num_envs, case.seed, num_threads=threads, **case.options.as_dict()) for threads in (1, 2)
    ]
    env, episode = 1, 0
    state = case.game.new_state(seed=_episode_seed(case.seed, env, episode), **case.options.as_dict())
    batch, _ = (vec.reset() for vec in batches)
    for _ in range(60):
        _compare(case, state, batches[0], env)
        actions = batches[0].sample_actions().copy()
        state.apply(int(actions[env]))
        batch, _ = (vec.step(actions) for vec in batches)
        if not np.array_equal(batches[0].copy_records().view(np.uint8), batches[1].copy_records().view(np.uint8)):
            fail(case, state, "two threads do not play the same game as one")
        if not np.allclose(batch.reward[env], state.rewards):
            fail(case, state, f"the batch rewards {batch.reward[env]}, the State {state.rewards}")
        if bool(batch.terminated[env]) != state.is_terminal:
            fail(case, state, "batch and State disagree on the end of the game")
        if state.is_terminal:
            if not np.allclose(batch.episode_returns[env], state.returns) or batch.episode_seed[env] != state.seed:
                fail(case, state, "the batch ends the episode with other returns or another seed")
            episode += 1
            state = case.game.new_state(seed=_episode_seed(case.seed, env, episode), **case.options.as_dict())
    for vec in batches:
        vec.close()


def _episode_seed(seed: int, env: int, episode: int) -> int:
    with np.errstate(over="ignore"):  # the generator computes modulo 2**64
        return int(episode_seed(seed, env, episode))


def _compare(case: Case, state: "State", vec: Any, env: int) -> None:
    batch, player = vec.batch, state.current_player
    legal, mask = batch.legal_actions[env, : batch.num_legal[env]].tolist(), state.action_mask()
    if vec.amount_zero is not None:
        legal += [vec.amount_zero + amount for amount in range(batch.amount_min[env], batch.amount_max[env] + 1)]
        mask = mask[: vec.amount_zero + 1]
    same = (
        batch.current_player[env] == player
        and legal == state.legal_actions()
        and np.array_equal(batch.action_mask[env], mask)
        and np.array_equal(batch.observation[env], state.observation(player))
        and batch.active[env].tolist() == state.active
    )
    if not same:
        fail(case, state, "the batch shows another player, observation, mask or legal list than the State")


def _steps(case: Case) -> Iterator[tuple["State", int | None]]:
    """Yield (state, action to take, or None at the end) of random play."""
    state, chooser = case.start(), random.Random(case.play_seed)
    while not state.is_terminal:
        action = chooser.choice(state.legal_actions())
        yield state, action
        state.apply(action)
    yield state, None


def check_pettingzoo(game: Game) -> None:
    """Run PettingZoo's own tests, and allow only the warnings that every Dict observation causes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing it imports PettingZoo's games, which warn
        from pettingzoo.test import api_test, seed_test

    from cardenvs.envs.aec import Env

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(io.StringIO()):  # api_test prints that it starts and passes
            api_test(Env(game), num_cycles=200)
            seed_test(lambda: Env(game), num_cycles=100)
    for warning in caught:
        if not any(text in str(warning.message) for text in _EXPECTED_WARNINGS):
            raise ConformanceError(f"{game.name}: PettingZoo warns: {warning.message}")


def check_single_seat(game: Game) -> None:
    """Run Gymnasium's own test on the single-seat environment."""
    from gymnasium.utils.env_checker import check_env

    from cardenvs.envs.single import SeatEnv

    env = SeatEnv(game, seat="random", illegal_reward=-1.0)  # because check_env samples without a mask
    with warnings.catch_warnings(), results_checked_by(env):
        warnings.simplefilter("ignore")  # it warns about wide bounds, for example
        check_env(env, skip_render_check=True)
