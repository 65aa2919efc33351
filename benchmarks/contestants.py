"""The contestants: this suite's faces and the peers' usual loops, each with random legal play.

Every loop gets the acting player's observation and the legal actions (a mask where the peer offers one) before it
chooses, as a learner would.
"""

import random
from collections.abc import Callable

import numpy as np

from benchmarks.timing import Contestant, repeat_for


def batched(game: str, num_envs: int, threads: int = 1) -> Contestant:
    """`VectorEnv`: observation, mask and legal list written, actions sampled in a kernel."""
    import cardenvs

    vec = cardenvs.make_vec(game, num_envs=num_envs, seed=0, num_threads=threads)
    vec.reset()

    def step() -> int:
        vec.step(vec.sample_actions())
        return num_envs

    return Contestant(f"cardenvs, {threads} thread{'s' * (threads > 1)}", lambda seconds: repeat_for(seconds, step))


def aec(game: str) -> Contestant:
    """The `last()`, `step()` loop on `env()`."""
    import cardenvs

    env = cardenvs.make(game)
    return Contestant("cardenvs AEC env()", _aec_loop(env, lambda o, info: random.choice(info["legal_actions"])))


def classic_leduc() -> Contestant:
    """PettingZoo classic's leduc_holdem_v4 in the same loop."""
    from pettingzoo.classic import leduc_holdem_v4

    env = leduc_holdem_v4.env()
    choose = lambda o, info: random.choice(np.flatnonzero(o["action_mask"]))  # noqa: E731
    return Contestant("PettingZoo classic leduc_holdem_v4", _aec_loop(env, choose))


def _aec_loop(env, choose: Callable) -> Callable[[float], int]:
    def episode() -> int:
        env.reset()
        steps = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            env.step(None if terminated or truncated else choose(observation, info))
            steps += 1
        return steps

    return lambda seconds: repeat_for(seconds, episode)


def open_spiel(game: str) -> Contestant:
    """OpenSpiel from Python: a tight loop with observation (or information state) tensor and legal mask."""
    import pyspiel

    spiel = pyspiel.load_game(game)
    whole = spiel.get_type().provides_observation_tensor

    def episode() -> int:
        state, steps = spiel.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choices(actions, weights)[0])
                continue
            player = state.current_player()
            _ = state.observation_tensor(player) if whole else state.information_state_tensor(player)
            _ = state.legal_actions_mask(player)
            state.apply_action(random.choice(state.legal_actions()))
            steps += 1
        return steps

    return Contestant("OpenSpiel from Python", lambda seconds: repeat_for(seconds, episode))


def rlcard(game: str) -> Contestant:
    """RLCard's environment loop."""
    import rlcard as library

    env = library.make(game)

    def episode() -> int:
        state, _ = env.reset()
        steps = 0
        while not env.is_over():
            state, _ = env.step(random.choice(list(state["legal_actions"])))
            steps += 1
        return steps

    return Contestant("RLCard", lambda seconds: repeat_for(seconds, episode))


def pgx(game: str, num_envs: int) -> Contestant:
    """pgx on the CPU: jitted, vmapped, auto-reset, random legal actions sampled in the same call."""
    import jax
    import pgx as library
    from pgx.experimental.wrappers import auto_reset

    env = library.make(game)
    step_one = auto_reset(env.step, env.init)

    @jax.jit
    def step(state, key):
        key, choose, reset = jax.random.split(key, 3)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
        action = jax.random.categorical(choose, logits)
        return jax.vmap(step_one)(state, action, jax.random.split(reset, num_envs)), key

    now = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), num_envs)), jax.random.PRNGKey(1)]

    def run() -> int:
        for _ in range(8):
            now[0], now[1] = step(now[0], now[1])
        jax.block_until_ready(now[0].observation)
        return 8 * num_envs

    return Contestant("pgx", lambda seconds: repeat_for(seconds, run))
