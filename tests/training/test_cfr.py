"""CFR+ and exact exploitability, against the figures in the rules of Kuhn and Leduc poker (section 3 of each)."""

import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cardenvs.core.registry import get_game
from cardenvs.training.cfr import CFRPlus, Tree, main

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
PASS, BET = 0, 1
JACK, QUEEN, KING = range(3)

SCRIPT = str(Path(__file__).resolve().parents[2] / "training" / "cfr.py")


@functools.cache
def tree_of(name, **options):
    return Tree(get_game(name), **options)


def kuhn_policy(chance_of_betting):
    """A policy from chance_of_betting(card, actions so far)."""

    def choose(state):
        card = int(np.flatnonzero(state.observation(state.current_player)[:3])[0])
        p = chance_of_betting(card, tuple(state.actions))
        return 1 - p, p

    return tree_of("kuhn_poker_v0").policy(choose)


def equilibrium(a):
    """Kuhn's family of equilibria, a in [0, 1/3]."""
    first = {JACK: a, QUEEN: 0, KING: 3 * a}
    return kuhn_policy(
        lambda card, actions: {
            (): first[card],
            (PASS, BET): {JACK: 0, QUEEN: a + 1 / 3, KING: 1}[card],
            (PASS,): {JACK: 1 / 3, QUEEN: 0, KING: 1}[card],
            (BET,): {JACK: 0, QUEEN: 1 / 3, KING: 1}[card],
        }[actions]
    )


@pytest.mark.parametrize(
    ("name", "options", "infosets", "decisions", "terminals"),
    [
        ("kuhn_poker_v0", {}, 12, 24, 30),
        ("leduc_poker_v0", {}, 288, 1939 - 1116 - 49, 1116),  # 1 + 3 + 9 * 5
        ("kuhn_poker_v0", {"num_players": 3}, 48, 24 * 12, 24 * 13),
    ],
)
def test_sizes(name, options, infosets, decisions, terminals):
    tree = tree_of(name, **options)
    assert (len(tree.infosets), tree.num_decisions, tree.num_terminals) == (infosets, decisions, terminals)


def test_kuhn_information_states_are_six_a_player_with_both_actions():
    tree = tree_of("kuhn_poker_v0")
    assert np.bincount(tree.player_of_infoset).tolist() == [6, 6]
    assert tree.num_pairs == 24


@pytest.mark.parametrize(
    ("name", "value", "nash_conv"), [("kuhn_poker_v0", 1 / 8, 11 / 12), ("leduc_poker_v0", -5 / 64, 4.747222)]
)
def test_uniform_play(name, value, nash_conv):
    tree = tree_of(name)
    uniform = tree.uniform()
    assert tree.values(uniform) == pytest.approx([value, -value], abs=1e-12)
    assert tree.nash_conv(uniform) == pytest.approx(nash_conv, abs=1e-6)


@pytest.mark.parametrize(("bets", "nash_conv"), [(1, 2 / 3), (0, 2)])
def test_always_and_never_bet_in_kuhn(bets, nash_conv):
    policy = kuhn_policy(lambda card, actions: bets)
    assert tree_of("kuhn_poker_v0").nash_conv(policy) == pytest.approx(nash_conv, abs=1e-12)


@pytest.mark.parametrize("a", [0, 1 / 6, 1 / 3])
def test_kuhns_equilibria(a):
    tree, policy = tree_of("kuhn_poker_v0"), equilibrium(a)
    assert tree.nash_conv(policy) == pytest.approx(0, abs=1e-12)
    assert tree.values(policy) == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)


def test_a_policy_beside_the_family_can_be_exploited():
    policy = equilibrium(1 / 6)
    other = kuhn_policy(lambda card, actions: 0.5)
    assert tree_of("kuhn_poker_v0").nash_conv(0.9 * policy + 0.1 * other) > 0.01


def test_the_best_response_value_is_that_of_the_best_of_all_pure_replies():
    """Player_1 of Kuhn poker has 2**6 pure strategies; none does better, and one does as well."""
    tree = tree_of("kuhn_poker_v0")
    rng = np.random.default_rng(0)
    mine = [k for k, p in enumerate(tree.player_of_infoset) if p == 1]
    for _ in range(3):
        policy = tree.normalised(rng.random(tree.num_pairs))
        best = -np.inf
        for code in range(2 ** len(mine)):
            choices = {infoset: (code >> bit) & 1 for bit, infoset in enumerate(mine)}
            probabilities = [
                np.eye(2)[choices[k]] if k in choices else tree.probabilities(policy, k)
                for k in range(len(tree.infosets))
            ]
            best = max(best, tree.values(np.concatenate(probabilities))[1])
        assert tree.best_response_values(policy)[1] == pytest.approx(best, abs=1e-12)


def test_regrets_are_differences_of_counterfactual_values():
    """The first player's regret at its first decision, against playing each action there by force."""
    tree = tree_of("kuhn_poker_v0")
    policy = tree.normalised(np.random.default_rng(1).random(tree.num_pairs))
    regrets = tree.regrets(policy, tree.reach(policy), 0)
    start = 0
    for infoset, state in enumerate(tree.infosets):
        if state.actions:
            start += 2
            continue
        for action in (0, 1):
            forced = policy.copy()
            forced[start : start + 2] = np.eye(2)[action]
            assert regrets[start + action] == pytest.approx(tree.values(forced)[0] - tree.values(policy)[0], abs=1e-12)
        assert tree.probabilities(policy, infoset).tolist() == policy[start : start + 2].tolist()
        start += 2


def solve(tree, iterations):
    solver = CFRPlus(tree)
    for _ in range(iterations):
        solver.step()
    return solver.average_policy()


def test_cfr_plus_solves_kuhn():
    tree = tree_of("kuhn_poker_v0")
    policy = solve(tree, 1000)
    assert tree.values(policy)[0] == pytest.approx(-1 / 18, abs=1e-5)
    assert tree.nash_conv(policy) < 5e-4


def test_cfr_plus_approaches_leducs_value():
    tree = tree_of("leduc_poker_v0")
    policy = solve(tree, 300)
    assert tree.values(policy)[0] == pytest.approx(-0.0856, abs=5e-4)
    assert tree.nash_conv(policy) < 0.01


@pytest.mark.slow
def test_cfr_plus_solves_leduc():
    tree = tree_of("leduc_poker_v0")
    policy = solve(tree, 1000)
    assert tree.values(policy)[0] == pytest.approx(-0.0856, abs=1e-4)
    assert tree.nash_conv(policy) / 2 < 0.0005


def test_three_player_kuhn_gets_less_exploitable():
    tree = tree_of("kuhn_poker_v0", num_players=3)
    uniform = tree.uniform()
    assert tree.values(uniform).sum() == pytest.approx(0, abs=1e-12)
    assert tree.nash_conv(solve(tree, 300)) < 0.05 * tree.nash_conv(uniform)


def test_the_command_line(capsys):
    assert main(["kuhn_poker_v0", "--iterations", "20", "--strategy"]) == 0
    printed = capsys.readouterr().out
    assert "12 information states, 24 decisions, 30 terminal histories" in printed
    assert "NashConv" in printed
    assert printed.count("player_1: ") == 6
    assert main(["leduc_poker_v0", "--option", "num_players=4"]) == 2
    assert "too many deals" in capsys.readouterr().err
    assert main(["no_such_game"]) == 2
    assert main(["kuhn_poker_v0", "--option", "players"]) == 2
    assert "takes NAME=VALUE" in capsys.readouterr().err


def test_it_runs_as_a_script():
    command = [sys.executable, SCRIPT, "kuhn_poker_v0", "--iterations", "1"]
    assert "0.91666667" in subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
