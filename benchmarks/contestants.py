"""The contestants: this suite's faces and the peers' usual loops, each with random legal play.

Every loop gets the acting player's observation and the legal actions (a mask where the peer offers one) before it
chooses, as a learner would.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limits import Limit
from benchmarks.timing import Contestant, repeat_for


def batched(game: str, num_envs: int, threads: int = 1, **options) -> Contestant:
    """`VectorEnv`: observation, mask and legal list written, actions sampled in a kernel."""
    import cardenvs

    vec = cardenvs.make_vec(game, num_envs=num_envs, seed=0, num_threads=threads, **options)
    vec.reset()

    def step() -> int:
        vec.step(vec.sample_actions())
        return num_envs

    return Contestant(f"cardenvs, {threads} thread{'s' * (threads > 1)}", lambda seconds: repeat_for(seconds, step))


def batched_choices(game: str, num_envs: int, **options) -> Contestant:
    """The same with `skip_forced`, so that all steps but the first of an episode are decisions with a choice."""
    import cardenvs

    vec = cardenvs.make_vec(game, num_envs=num_envs, seed=0, num_threads=1, skip_forced=True, **options)
    batch = vec.reset()

    def step() -> int:
        number = int(np.count_nonzero(batch.num_legal > 1))
        vec.step(vec.sample_actions())
        return number

    return Contestant("cardenvs, 1 thread, with a choice", lambda seconds: repeat_for(seconds, step))


def limit(game: str, num_envs: int) -> Contestant:
    """The game written by hand in C for two players: observation and mask written, actions sampled."""
    batch = Limit(game, num_envs)
    batch.reset()

    def step() -> int:
        batch.sample_actions()
        batch.step()
        return num_envs

    return Contestant("C by hand", lambda seconds: repeat_for(seconds, step))


def aec(game: str, **options) -> Contestant:
    """The `last()`, `step()` loop on `env()`."""
    import cardenvs

    env = cardenvs.make(game, **options)
    return Contestant("cardenvs AEC env()", _aec_loop(env))


def classic(game: str, **arguments) -> Contestant:
    """A game of PettingZoo classic in the same loop."""
    import importlib

    env = importlib.import_module(f"pettingzoo.classic.{game}").env(**arguments)
    return Contestant(f"PettingZoo classic {game}", _aec_loop(env))


def _aec_loop(env) -> Callable[[float], int]:
    def episode() -> int:
        env.reset()
        steps = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else random.choice(np.flatnonzero(observation["action_mask"])))
            steps += 1
        return steps

    return lambda seconds: repeat_for(seconds, episode)


OPEN_SPIEL_HOLDEM = (
    "universal_poker(betting=nolimit,numPlayers=6,numRounds=4,blind=10 20 0 0 0 0,firstPlayer=3 1 1 1,numSuits=4,"
    "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,stack=2000 2000 2000 2000 2000 2000,bettingAbstraction=fcpa)"
)
OPEN_SPIEL_LIMIT = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=2 2 4 4,maxRaises=3 4 4 4,stack=200 200)"
)


def open_spiel(game: str) -> Contestant:
    """OpenSpiel from Python: a tight loop with legal mask and observation: a tensor if it has one, else a string."""
    import pyspiel

    spiel = pyspiel.load_game(game)
    observe = _spiel_observation(spiel.get_type())

    def episode() -> int:
        state, steps = spiel.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choices(actions, weights)[0])
                continue
            player = state.current_player()
            _ = observe(state, player)
            _ = state.legal_actions_mask(player)
            state.apply_action(random.choice(state.legal_actions()))
            steps += 1
        return steps

    return Contestant("OpenSpiel from Python", lambda seconds: repeat_for(seconds, episode))


def _spiel_observation(kind: Any) -> Callable[[Any, int], Any]:
    """Return what OpenSpiel's type of a game offers as an observation, as a function of a state and a player."""
    if kind.provides_observation_tensor:
        return lambda state, player: state.observation_tensor(player)
    if kind.provides_information_state_tensor:
        return lambda state, player: state.information_state_tensor(player)
    return lambda state, player: state.observation_string(player)


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


def gymnasium_blackjack() -> Contestant:
    """Gymnasium's Blackjack-v1 with random actions."""
    import gymnasium

    env = gymnasium.make("Blackjack-v1")

    def episode() -> int:
        env.reset()
        steps, is_over = 0, False
        while not is_over:
            _, _, is_over, _, _ = env.step(random.randrange(2))
            steps += 1
        return steps

    return Contestant("Gymnasium", lambda seconds: repeat_for(seconds, episode))


def riichienv() -> Contestant:
    """RiichiEnv of riichienv, single rounds: all who can act are asked at once; only their legal actions are listed."""
    import riichienv as library

    env = library.RiichiEnv(game_mode="4p-red-single")

    def episode() -> int:
        views, decisions = env.reset(), 0
        while not env.done():
            views = env.step({player: random.choice(view.legal_actions()) for player, view in views.items()})
            decisions += len(views)
        return decisions

    return Contestant("riichienv", lambda seconds: repeat_for(seconds, episode))


def pymahjong() -> Contestant:
    """MahjongEnv of pymahjong, single rounds, with its observation."""
    import pymahjong as library

    env = library.MahjongEnv()

    def episode() -> int:
        env.reset()
        decisions = 0
        while not env.is_over():
            player = env.get_curr_player_id()
            env.get_obs(player)
            env.step(player, random.choice(list(env.get_valid_actions(nhot=False))))
            decisions += 1
        return decisions

    return Contestant("pymahjong", lambda seconds: repeat_for(seconds, episode))


def pgx(game: str, num_envs: int) -> Contestant:
    """pgx: jitted, vmapped, auto-reset, random legal actions sampled in the same call."""
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

    name = f"pgx on the {jax.default_backend().upper()}"
    return Contestant(name, lambda seconds: repeat_for(seconds, run))


def tournaments(game: str, num_envs: int, policy: str, **options) -> Contestant:
    """Whole episodes a second: `VectorEnv` with one of the game's policies in all seats."""
    import cardenvs

    vec = cardenvs.make_vec(game, num_envs=num_envs, seed=0, num_threads=1, mask=False, **options)
    vec.reset()
    everywhere, calls = np.arange(num_envs), iter(range(1 << 62))

    def step() -> int:
        actions = vec.sample_actions() if policy == "random" else vec.policy_actions(policy, everywhere, 0, next(calls))
        return int(vec.step(actions).terminated.sum())

    return Contestant(f"cardenvs, {policy}", lambda seconds: repeat_for(seconds, step))


# ---------------------------------------------------------------------------------------------------------------
# Seven-card hands, dealt beforehand

NUM_HANDS = 100_000


def _hands() -> np.ndarray:
    """Card ids as here, suit * 13 + rank with the ace first; (NUM_HANDS, 7) int8."""
    return np.random.default_rng(0).random((NUM_HANDS, 52)).argpartition(7, axis=1)[:, :7].astype(np.int8)


def own_evaluator() -> Contestant:
    """`hand_ranks` on one array."""
    from cardenvs.games.texas_holdem import hand_ranks

    hands = _hands()
    return Contestant("cardenvs hand_ranks", lambda seconds: repeat_for(seconds, lambda: len(hand_ranks(hands))))


def phevaluator() -> Contestant:
    """phevaluator on card ids."""
    from phevaluator import evaluate_cards

    hands = [[4 * ((int(card) % 13 + 12) % 13) + int(card) // 13 for card in hand] for hand in _hands()[:2000]]
    return _one_by_one("phevaluator", hands, lambda hand: evaluate_cards(*hand))


def eval7() -> Contestant:
    """eval7 on its card objects."""
    import eval7 as library

    hands = [[library.Card(text) for text in hand] for hand in _as_texts(_hands()[:2000])]
    return _one_by_one("eval7", hands, library.evaluate)


def treys() -> Contestant:
    """treys on its card numbers."""
    from treys import Card, Evaluator

    hands = [[Card.new(text) for text in hand] for hand in _as_texts(_hands()[:2000])]
    evaluate = Evaluator().evaluate
    return _one_by_one("treys", hands, lambda hand: evaluate(hand[:5], hand[5:]))


def _as_texts(hands: np.ndarray) -> list[list[str]]:
    return [["A23456789TJQK"[card % 13] + "cdhs"[card // 13] for card in hand] for hand in hands.tolist()]


def _one_by_one(name: str, hands: list, evaluate: Callable) -> Contestant:
    def run() -> int:
        for hand in hands:
            evaluate(hand)
        return len(hands)

    return Contestant(name, lambda seconds: repeat_for(seconds, run))
