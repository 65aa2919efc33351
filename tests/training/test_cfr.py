"""The tabular solvers, against the figures in the rules of Kuhn and Leduc poker and a slow obvious implementation."""

import dataclasses
import functools
import json

import numpy as np
import pytest
from slow_cfr import SlowCFR, SlowMCCFR, key_of

from cardenvs.agents.policy import PolicyAgent
from cardenvs.agents.specs import load_agent
from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.errors import AgentError, FormatError, OptionError, SolvingError
from cardenvs.core.registry import get_game
from cardenvs.training.cfr import METHODS, Run, Sampler, Solver, Tree, agent_policy
from cardenvs.training.cfr.numbering import Numbering

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
PASS, BET = 0, 1
JACK, QUEEN, KING = range(3)


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


def random_policy(tree, seed=0):
    return tree.normalised(np.random.default_rng(seed).random(tree.num_pairs))


def solved(tree, iterations, method="cfr+"):
    solver = Solver(tree, method)
    solver.run(iterations)
    return solver.average_policy()


# ---------------------------------------------------------------------------------------------------------------
# The tree


@pytest.mark.parametrize(
    ("name", "options", "infosets", "decisions", "terminals"),
    [
        ("kuhn_poker_v0", {}, 12, 24, 30),
        ("leduc_poker_v0", {}, 288, 1939 - 1116 - 49, 1116),  # 1 + 3 + 9 * 5 of chance
        ("kuhn_poker_v0", {"num_players": 3}, 48, 24 * 12, 24 * 13),
    ],
)
def test_sizes(name, options, infosets, decisions, terminals):
    tree = tree_of(name, **options)
    assert (tree.num_infosets, tree.num_decisions, tree.num_terminals) == (infosets, decisions, terminals)


@pytest.mark.parametrize("name", ["kuhn_poker_v0", "leduc_poker_v0"])
def test_information_states_are_those_of_states(name):
    tree = tree_of(name)
    known = {(int(p), tuple(k)) for p, k in zip(tree.player_of_infoset, tree.keys.tolist(), strict=True)}
    assert len(known) == tree.num_infosets
    for number, state in enumerate(tree.infosets):
        key = state.information_state_key(state.current_player)
        assert (int(key[:16], 16), int(key[16:], 16)) == tuple(tree.keys[number].tolist())
        assert state.current_player == tree.player_of_infoset[number]
        pairs = slice(tree.first_pair[number], tree.first_pair[number + 1])
        assert tree.actions[pairs].tolist() == state.legal_actions()


def test_every_position_of_every_deal_is_in_an_information_state_of_the_tree():
    tree = tree_of("leduc_poker_v0")
    found = set()

    def walk(state):
        if state.is_terminal:
            return
        found.add(key_of(state))
        for action in state.legal_actions():
            other = state.clone()
            other.apply(action)
            walk(other)

    for deck, _ in LEDUC.enumerate_deals():
        walk(LEDUC.new_state(deck=deck))
    assert found == {key_of(state) for state in tree.infosets}


def test_a_game_with_too_many_deals_is_refused_with_number_and_limit():
    with pytest.raises(SolvingError, match=r"6 players has too many deals to list: 463,680; at most 10,000"):
        Tree(LEDUC, num_players=6)
    with pytest.raises(SolvingError, match=r"the deck has 8\.1e\+67 orders; at most 10,000 can be listed"):
        Tree(get_game("gin_rummy_v0"))


def test_a_tree_with_too_many_histories_is_refused():
    with pytest.raises(SolvingError, match="too large to list: it has more than 500 histories"):
        Tree(LEDUC, most_histories=500)


def test_numbers_are_given_in_the_order_of_first_meeting_while_the_table_grows():
    rng, numbering, expected = np.random.default_rng(1), Numbering(2), {}
    for _ in range(20):
        keys = rng.integers(0, 40, (50, 2)).astype(np.uint64)  # many collide in the table's slots
        numbers = [expected.setdefault(tuple(key), len(expected)) for key in keys.tolist()]
        assert numbering.number(keys).tolist() == numbers
    assert numbering.count == len(expected)
    assert [tuple(key) for key in numbering.keys.tolist()] == list(expected)


# ---------------------------------------------------------------------------------------------------------------
# Values and best responses


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


def test_the_best_response_is_the_best_of_all_pure_replies():
    """Player_1 of Kuhn poker has 2**6 pure strategies; none does better, and one does as well."""
    tree = tree_of("kuhn_poker_v0")
    mine = [k for k, p in enumerate(tree.player_of_infoset) if p == 1]
    for seed in range(3):
        policy = random_policy(tree, seed)
        best = -np.inf
        for code in range(2 ** len(mine)):
            reply = policy.copy()
            for bit, infoset in enumerate(mine):
                reply[tree.first_pair[infoset] :][:2] = np.eye(2)[(code >> bit) & 1]
            best = max(best, tree.values(reply)[1])
        assert tree.best_response_values(policy)[1] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "options"), [("leduc_poker_v0", {}), ("kuhn_poker_v0", {"num_players": 3})], ids=["leduc", "kuhn of three"]
)
def test_the_best_responses_value_is_what_playing_it_gets(name, options):
    tree = tree_of(name, **options)
    policy = random_policy(tree)
    for player, value in enumerate(tree.best_response_values(policy)):
        reply = tree.best_response(policy, player)
        assert tree.normalised(reply) == pytest.approx(reply, abs=1e-12)
        others = tree.player_of_pair[:-1] != player
        assert (reply[others] == policy[others]).all()
        assert tree.values(reply)[player] == pytest.approx(value, abs=1e-12)
        assert value > tree.values(policy)[player] + 0.1


# ---------------------------------------------------------------------------------------------------------------
# Methods


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("num_players", [2, 3])
def test_a_method_does_what_its_paper_says(method, num_players):
    tree = tree_of("kuhn_poker_v0", num_players=num_players)
    slow, fast = SlowCFR(KUHN, method, num_players=num_players), Solver(tree, method)
    for _ in range(6 if num_players == 2 else 2):
        slow.iterate()
        fast.run(1)
    wanted, policy = slow.average(), fast.average_policy()
    assert len(wanted) == tree.num_infosets
    for number, state in enumerate(tree.infosets):
        assert tree.probabilities(policy, number) == pytest.approx(wanted[key_of(state)], abs=1e-12)
    assert abs(policy - tree.uniform()).max() > 0.2


@pytest.mark.parametrize(
    ("name", "num_players"),
    [("kuhn_poker_v0", 2), ("kuhn_poker_v0", 3), pytest.param("leduc_poker_v0", 2, marks=pytest.mark.slow)],
)
def test_mccfr_samples_as_a_recursion_does(name, num_players):
    game = get_game(name)
    slow, fast = (
        SlowMCCFR(game, 5, num_players=num_players),
        Sampler(game, game.make_options(num_players=num_players), 5),
    )
    for _ in range(60):
        slow.iterate()
    fast.run(60)
    wanted, saved = slow.average(), fast.saved()
    assert len(wanted) == fast.num_infosets
    for (player, key), probabilities in wanted.items():
        legal = saved.actions[saved._first[row := saved._rows[player, key]] : saved._first[row + 1]].tolist()
        assert saved.probabilities(player, key, legal) == pytest.approx(probabilities, abs=1e-12)


@pytest.mark.parametrize(
    ("method", "iterations", "nash_conv"),
    [("cfr", 1000, 2e-3), ("cfr+", 1000, 2e-4), ("linear", 1000, 2e-4), ("discounted", 1000, 3e-4)],
)
def test_kuhn_is_solved(method, iterations, nash_conv):
    tree = tree_of("kuhn_poker_v0")
    policy = solved(tree, iterations, method)
    assert tree.values(policy)[0] == pytest.approx(-1 / 18, abs=1e-4)
    assert tree.nash_conv(policy) < nash_conv


def test_mccfr_solves_kuhn():
    tree, sampler = tree_of("kuhn_poker_v0"), Sampler(KUHN, KUHN.make_options())
    sampler.run(300_000)
    policy = tree.tabular(sampler.saved())
    assert tree.values(policy)[0] == pytest.approx(-1 / 18, abs=2e-3)
    assert tree.nash_conv(policy) < 0.01


def test_cfr_plus_solves_leduc():
    tree = tree_of("leduc_poker_v0")
    policy = solved(tree, 2000)
    assert tree.values(policy)[0] == pytest.approx(-0.0856, abs=1e-4)
    assert tree.nash_conv(policy) < 0.001


def test_discounted_cfr_needs_fewer_iterations_in_leduc_than_cfr():
    tree = tree_of("leduc_poker_v0")
    assert tree.nash_conv(solved(tree, 1000, "discounted")) < 0.05 * tree.nash_conv(solved(tree, 1000, "cfr"))


@pytest.mark.parametrize("method", ["cfr", "cfr+"])
def test_three_player_kuhn_gets_hardly_exploitable(method):
    tree = tree_of("kuhn_poker_v0", num_players=3)
    policy = solved(tree, 2000, method)
    assert tree.values(policy).sum() == pytest.approx(0, abs=1e-12)
    assert tree.nash_conv(policy) < 0.004


@pytest.mark.slow
def test_three_player_leduc_gets_much_less_exploitable():
    tree = tree_of("leduc_poker_v0", num_players=3)
    assert (tree.num_infosets, tree.num_decisions, tree.num_terminals) == (7428, 95_004, 126_996)
    assert tree.nash_conv(solved(tree, 200)) < 0.01 * tree.nash_conv(tree.uniform())


@pytest.mark.slow  # it compiles another game
def test_mccfr_refuses_a_game_in_which_a_player_has_too_many_plays():
    game = get_game("durak_v0")
    sampler = Sampler(game, game.make_options())
    with pytest.raises(SolvingError, match="one iteration met more than 65,536 new information states"):
        sampler.run(1)


def test_mccfr_refuses_a_game_for_one():
    game = get_game("one_player_poker_v0")
    with pytest.raises(SolvingError, match="mccfr needs two players or more; one_player_poker_v0 has one"):
        Sampler(game, game.make_options())


# ---------------------------------------------------------------------------------------------------------------
# Runs


def begun(folder, method="cfr+", game=KUHN, **values):
    return Run.begin(game, game.make_options(**values).as_dict(), method, folder, seed=3)


def finished(run, iterations):
    reports = [report for report in run.go(iterations) if report is not None]
    run.save()
    return reports


@pytest.mark.parametrize("method", [*METHODS, "mccfr"])
def test_a_run_that_is_cut_ends_like_one_that_is_not(method, tmp_path):
    whole = begun(tmp_path / "whole", method)
    reports = finished(whole, 150)
    finished(begun(tmp_path / "cut", method), 37)
    resumed = Run.resume(tmp_path / "cut" / "latest.policy")
    assert resumed.solver.iterations == 37
    finished(resumed, 150)
    one, two = (TabularPolicy.load(tmp_path / name / "latest.policy") for name in ("whole", "cut"))
    for name in ("players", "keys", "sizes", "actions", "weights", "regrets"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    texts = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "cut")]
    lines = [[json.loads(line) for line in text.splitlines()] for text in texts]
    for curve in lines:
        assert [line["iterations"] for line in curve] == sorted({line["iterations"] for line in curve})
    last = [{key: value for key, value in curve[-1].items() if key != "seconds"} for curve in lines]
    assert last[0] == last[1]
    assert last[0]["nash_conv"] == reports[-1].nash_conv
    assert last[0]["exploitability"] == reports[-1].nash_conv / 2


def test_a_run_stops_at_a_nash_conv(tmp_path):
    run = begun(tmp_path / "run")
    reports = [report for report in run.go(None, 0.01) if report is not None]
    assert reports[-1].nash_conv <= 0.01 < reports[-2].nash_conv
    assert [report.iterations for report in reports[:12]] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]


def test_lines_that_a_killed_run_wrote_after_it_was_saved_are_removed(tmp_path):
    finished(begun(tmp_path / "run"), 10)
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"iterations": 11}\n{"iterat')
    Run.resume(tmp_path / "run" / "latest.policy")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iterations"] for line in lines] == list(range(1, 11))


def test_what_cannot_be_run_is_refused(tmp_path):
    finished(begun(tmp_path / "run"), 1)
    with pytest.raises(OptionError, match="holds a run"):
        begun(tmp_path / "run")
    with pytest.raises(OptionError, match=r"no method 'cfr\+\+'; methods are cfr, cfr\+, linear, discounted, mccfr"):
        begun(tmp_path / "other", "cfr++")
    assert not (tmp_path / "other").exists()
    policy = TabularPolicy.load(tmp_path / "run" / "latest.policy")
    policy.regrets = None
    policy.save(tmp_path / "bare.policy")
    with pytest.raises(FormatError, match="without the regrets of a solver"):
        Run.resume(tmp_path / "bare.policy")
    for options, message in (
        ({"game": 1}, "it has other options"),
        ({**policy.options, "num_players": "x"}, "num_players"),
    ):
        dataclasses.replace(policy, options=options, regrets=policy.weights).save(tmp_path / "wrong.policy")
        with pytest.raises((FormatError, OptionError), match=message):
            Run.resume(tmp_path / "wrong.policy")
    other = Solver(tree_of("kuhn_poker_v0", num_players=3)).saved()
    other.options = KUHN.make_options().as_dict()
    with pytest.raises(FormatError, match="it is of another version"):
        Solver(tree_of("kuhn_poker_v0")).restore(other)


# ---------------------------------------------------------------------------------------------------------------
# Policies of agents


def test_the_policy_of_a_tabular_agent_is_its_table(tmp_path):
    tree = tree_of("leduc_poker_v0")
    solver = Solver(tree)
    solver.run(50)
    solver.saved().save(tmp_path / "a.policy")
    agent = load_agent(f"tabular:{tmp_path}/a.policy", LEDUC, tree.options)
    policy, exact = agent_policy(tree, agent)
    assert exact
    assert policy == pytest.approx(solver.average_policy(), abs=1e-12)
    assert tree.tabular(TabularPolicy.load(tmp_path / "a.policy")) == pytest.approx(policy, abs=1e-12)


def test_random_is_uniform_and_other_agents_are_estimated_from_their_choices():
    tree = tree_of("kuhn_poker_v0")
    assert agent_policy(tree, PolicyAgent(KUHN, "random"))[0].tolist() == tree.uniform().tolist()

    class Sometimes:
        name = "sometimes"

        def reset(self, seed):
            self.seed = seed

        def act(self, turn):
            return turn.legal_actions[turn.seed % 4 == 0]

    policy, exact = agent_policy(tree, Sometimes(), draws=400)
    assert not exact
    assert policy[1::2] == pytest.approx(np.full(12, 0.25), abs=0.1)
    assert agent_policy(tree, Sometimes(), draws=400)[0].tolist() == policy.tolist()


@pytest.mark.parametrize("spec", ["search:simulations=3", "ismcts:simulations=3,sample=true"])
def test_a_search_whose_probabilities_hold_for_a_seed_is_estimated_from_its_choices(spec):
    policy, exact = agent_policy(tree_of("kuhn_poker_v0"), load_agent(spec, KUHN, KUHN.make_options()), draws=100)
    assert not exact
    assert ((policy > 0) & (policy < 1)).any()


def test_a_stated_policy_that_is_none_is_refused():
    class Wrong:
        name = "wrong"

        def probabilities(self, turn):
            return [0.9, 0.9]

    with pytest.raises(AgentError, match="wrong states an invalid policy"):
        agent_policy(tree_of("kuhn_poker_v0"), Wrong())
