"""The search agent: what it must find, that it repeats, and what its budget means."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from cardenvs.agents import SearchAgent, Turn, search
from cardenvs.agents.ismcts import ISMCTSAgent
from cardenvs.core.errors import AgentError, IllegalActionError, PolicyNotFoundError
from cardenvs.core.registry import get_game
from cardenvs.core.view import Candidate

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
PASS, BET = 0, 1
FOLD, CALL, RAISE = 0, 1, 2


def chosen(state, seed=0, **parameters):
    return SearchAgent(state.game, **parameters).act(Turn(state, seed))


@pytest.mark.parametrize("kind", [SearchAgent, ISMCTSAgent])
@pytest.mark.parametrize("seed", range(5))
def test_it_calls_with_the_best_card_and_folds_the_worst(kind, seed):
    for deck, best in (("Q K J", BET), ("K J Q", PASS)):
        state = KUHN.new_state(seed=1, deck=deck)
        state.apply(BET)
        assert kind(KUHN, simulations=200).act(Turn(state, seed)) == best


@pytest.mark.parametrize("seed", range(5))
def test_it_does_not_fold_a_pair(seed):
    state = LEDUC.new_state(seed=1, deck="K Q K")
    for action in (CALL, CALL, CALL, RAISE):
        state.apply(action)
    assert chosen(state, seed) != FOLD


def test_three_players_and_any_scale():
    state = KUHN.new_state(seed=1, deck="Q J R3", num_players=3)
    state.apply(BET)
    state.apply(BET)
    assert chosen(state) == BET
    small = LEDUC.new_state(seed=5)
    large = LEDUC.new_state(seed=5, ante=100, raise_size=(200, 400))
    for seed in range(20):
        assert chosen(small, seed, simulations=31) == chosen(large, seed, simulations=31)


def test_it_repeats_and_depends_on_the_seed():
    state = LEDUC.new_state(seed=5)
    first = [chosen(state, seed, simulations=6) for seed in range(40)]
    assert first == [chosen(state, seed, simulations=6) for seed in range(40)]
    assert len(set(first)) > 1


def test_a_forced_move_costs_nothing(monkeypatch):
    state = LEDUC.new_state(seed=5)
    turn = Turn(state, 0)
    turn.legal_actions = [1]
    monkeypatch.setattr(type(state), "simulate", None)
    assert SearchAgent(LEDUC).act(turn) == 1


def test_time_is_a_budget_too():
    state = LEDUC.new_state(seed=5)
    chosen(state, seconds=0.001)
    started = time.perf_counter()
    chosen(state, seconds=0.05)
    assert 0.05 <= time.perf_counter() - started < 1


def test_the_budget_counts_playouts(monkeypatch):
    counted = []
    simulate = LEDUC.state_type.simulate
    monkeypatch.setattr(
        LEDUC.state_type,
        "simulate",
        lambda self, actions, seed, rounds, **rest: (
            counted.append(len(actions) * rounds) or simulate(self, actions, seed, rounds, **rest)
        ),
    )
    state = LEDUC.new_state(seed=5)
    state.apply(RAISE)
    assert len(state.legal_actions()) == 3
    chosen(state, simulations=120)
    assert sum(counted) == 120
    counted.clear()
    chosen(state, simulations=1)
    assert sum(counted) == 3 + 2  # at least one playout of each action left in each of the two phases


def test_a_policy_is_left_only_for_what_is_clearly_better():
    gin = get_game("gin_rummy_v0")
    state = gin.new_state(seed=4)
    while not state.is_terminal:
        own = state.policy_action("heuristic", seed=0)
        few = SearchAgent(gin, simulations=1).act(Turn(state, 0))
        assert few == own  # one world tells nothing
        state.apply(own)

    kuhn = KUHN.new_state(seed=1, deck="K Q J")
    kuhn.apply(PASS)
    kuhn.apply(BET)
    race = search._Race(SearchAgent(KUHN, playout="random"), kuhn, [(PASS,), (BET,)], (PASS,), seed=0)
    race.run(1)
    assert race.winner() == (PASS,)
    race.run(20)
    race.halve()
    assert race.plays == [(PASS,), (BET,)]
    assert race.winner() == (BET,)


def test_its_probabilities_are_those_of_the_choice_it_would_make_and_leave_it_alone():
    agent = SearchAgent(LEDUC, simulations=6)
    agent._rest, agent._next = (RAISE,), 3
    for seed in range(30):
        turn = Turn(LEDUC.new_state(seed=5), seed, decision=3, goes_on=True)
        found = agent.probabilities(turn)
        assert np.eye(len(found))[turn.legal_actions.index(chosen_by_another(turn))].tolist() == found.tolist()
    assert (agent._rest, agent._next) == ((RAISE,), 3)


def chosen_by_another(turn):
    return SearchAgent(LEDUC, simulations=6).act(turn)


def test_plays_of_several_actions_have_no_probabilities():
    turn = Turn(LEDUC.new_state(seed=5), 0)
    turn.candidates = [Candidate("call", (CALL,)), Candidate("raise twice", (RAISE, RAISE))]
    with pytest.raises(AgentError, match="no probabilities in leduc_poker_v0: it chooses plays of several actions"):
        SearchAgent(LEDUC).probabilities(turn)


# ---------------------------------------------------------------------------------------------------------------
# State.simulate, on which it stands


def test_rounds_do_not_depend_on_how_they_are_asked_for():
    state = LEDUC.new_state(seed=5)
    whole = state.simulate([1, 2], 3, 30)
    parts = [*state.simulate([1, 2], 3, 10), *state.simulate([1, 2], 3, 20, first_round=10)]
    assert whole.tolist() == np.array(parts).tolist()
    assert state.simulate([2], 3, 30).tolist() == whole[:, 1:].tolist()
    assert state.simulate([1, 2], 4, 30).tolist() != whole.tolist()
    assert state.ply == 0


def test_worlds_are_drawn_from_all_that_the_player_cannot_tell_apart():
    state = KUHN.new_state(seed=1, deck="Q J K")  # player 0 holds the queen, and bets; player 1 plays at random
    mean = state.simulate([BET], 0, 4000).mean()
    # J folds or calls and loses: +1 or +2; K folds or calls and wins: +1 or -2
    assert mean == pytest.approx((1 + 2 + 1 - 2) / 4, abs=0.1)


def test_a_cut_playout_counts_the_rewards_until_then():
    state = KUHN.new_state(seed=1, deck="Q K J")
    state.apply(BET)
    assert state.simulate([PASS], 0, 2, max_plies=0).tolist() == [[-1.0], [-1.0]]
    start = KUHN.new_state(seed=1)
    assert start.simulate([PASS, BET], 0, 1, max_plies=0).tolist() == [[0.0, 0.0]]


def test_what_cannot_be_simulated_is_refused():
    state = KUHN.new_state(seed=1)
    with pytest.raises(IllegalActionError):
        state.simulate([2], 0, 1)
    with pytest.raises(PolicyNotFoundError, match="has no policy 'best'"):
        state.simulate([BET], 0, 1, policy="best")
    state.apply(BET)
    state.apply(PASS)
    with pytest.raises(IllegalActionError, match="nobody can simulate after the game is over"):
        state.simulate([BET], 0, 1)
    with pytest.raises(IllegalActionError, match="nobody can choose an action after the game is over"):
        state.policy_action("random", 0)


def test_the_compiler_changes_nothing():
    program = (
        "from cardenvs.core.registry import get_game\n"
        "s = get_game('leduc_poker_v0').new_state(seed=5)\n"
        "print(s.simulate([1, 2], 3, 40).tolist(), [s.policy_action('random', k) for k in range(20)])"
    )
    environment = {**os.environ, "CARDENVS_COMPILE": "0"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    slow = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    state = LEDUC.new_state(seed=5)
    policy = [state.policy_action("random", k) for k in range(20)]
    assert slow.strip() == f"{state.simulate([1, 2], 3, 40).tolist()} {policy}"
    assert np.unique(policy).size == 2
