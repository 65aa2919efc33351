"""Searches: decisions and playouts a second, beside OpenSpiel's."""

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

from benchmarks.timing import Contestant, repeat_for

_PLAYOUTS = 1000  # a decision


def decision_rate(spec: str, rounds: int, positions: int = 12) -> float:
    """Return an agent's decisions in gin rummy for each second of processor time, the best of some rounds.

    A round is a decision at each of some positions, spread over games of the rule agent.
    """
    from cardenvs.agents import Turn, make_agent

    states = _middles("gin_rummy_v0", positions)
    agent = make_agent(spec, states[0].game, states[0].options)
    agent.act(Turn(states[0], 0))  # compiles
    shortest = math.inf
    for _ in range(rounds):
        begun = time.process_time()
        for state in states:
            agent.act(Turn(state, 0))
        shortest = min(shortest, time.process_time() - begun)
    return positions / shortest


def own_playouts(game: str) -> Contestant:
    """Playouts of the tree search, random, from the beginning of a game."""
    import cardenvs
    from cardenvs.agents import Turn, make_agent

    state = cardenvs.get_game(game).new_state(seed=1)
    agent = make_agent(f"ismcts:simulations={_PLAYOUTS},playout=random", state.game, state.options)
    return _deciding("cardenvs, ismcts", lambda: agent.act(Turn(state, 0)), _PLAYOUTS)


def open_spiel_ismcts(game: str) -> Contestant:
    """Playouts of OpenSpiel's ISMCTS in C++, random, from the beginning of a game."""
    import pyspiel

    state = _dealt(game)
    bot = pyspiel.ISMCTSBot(
        1,
        pyspiel.RandomRolloutEvaluator(1, 1),
        2.0,
        _PLAYOUTS,
        -1,
        pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT,
        False,
        False,
    )
    return _deciding("OpenSpiel ISMCTS", lambda: bot.step(state), _PLAYOUTS)


def open_spiel_mcts(game: str) -> Contestant:
    """Playouts of OpenSpiel's MCTS in C++, which sees all cards, random, from the beginning of a game."""
    import pyspiel

    state = _dealt(game)
    bot = pyspiel.MCTSBot(state.get_game(), pyspiel.RandomRolloutEvaluator(1, 1), 2.0, _PLAYOUTS, 200, False, 1, False)
    return _deciding("OpenSpiel MCTS, sees all", lambda: bot.mcts_search(state), _PLAYOUTS)


def _deciding(name: str, decide: Callable[[], Any], count: int) -> Contestant:
    def run() -> int:
        decide()
        return count

    return Contestant(name, lambda seconds: repeat_for(seconds, run))


def _middles(game: str, number: int) -> list[Any]:
    """Return every seventh position with a choice in some games of the rule agent."""
    import cardenvs

    found: list[Any] = []
    for seed in itertools.count():
        state = cardenvs.get_game(game).new_state(seed=seed)
        while not state.is_terminal:
            if state.ply % 7 == 0 and len(state.legal_actions()) > 1:
                found.append(state.clone())
                if len(found) == number:
                    return found
            state.apply(state.policy_action("heuristic", 0))
    raise AssertionError


def _dealt(game: str) -> Any:
    """Return a state of an OpenSpiel game after the deal."""
    import pyspiel

    state = pyspiel.load_game(game).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    return state
