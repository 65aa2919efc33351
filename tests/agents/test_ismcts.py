"""Information-set tree search: the kernels against a slow oracle, and what the agent makes of them."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from agents.slow_tree import SlowTree

from cardenvs.agents import Turn, make_agent, tree
from cardenvs.agents.ismcts import ISMCTSAgent
from cardenvs.agents.specs import agent_fingerprint
from cardenvs.agents.tree import NetworkTree, SearchTree
from cardenvs.core.errors import AgentError, FormatError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game, list_games
from cardenvs.core.tree_search import ENTRY, WALK, find, lookup, move_entries

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
PASS, BET = 0, 1
FOLD, CALL, RAISE = 0, 1, 2


def position(name, seed=1, plies=0, **options):
    """A state after some random actions, the first at or after them in which there is a choice."""
    state = get_game(name).new_state(seed=seed, **options)
    while state.ply < plies or len(state.legal_actions()) == 1:
        state.apply(state.policy_action("random", state.ply))
    return state


def statistics(state, rounds, calls=1, **settings):
    """Visits and means of the root actions after some rounds."""
    search = SearchTree(state, 7, **settings)
    for _ in range(calls):
        search.grow(rounds // calls)
    found = search.root_actions()
    return found.visits.tolist(), found.mean.tolist()


# ---------------------------------------------------------------------------------------------------------------
# The tree


@pytest.mark.parametrize(
    ("name", "plies", "options", "settings"),
    [
        ("kuhn_poker_v0", 0, {}, {}),
        ("kuhn_poker_v0", 1, {"num_players": 4}, {"exploration": 0.3}),
        ("leduc_poker_v0", 0, {"num_players": 3}, {}),
        ("leduc_poker_v0", 2, {}, {"max_plies": 1}),
        ("briscola_v0", 6, {"num_players": 4}, {"exploration": 2.0}),
        pytest.param("durak_v0", 9, {"num_players": 3}, {"max_plies": 40}, marks=pytest.mark.slow),
        pytest.param("gin_rummy_v0", 10, {}, {"policy": "heuristic"}, marks=pytest.mark.slow),
        pytest.param("scopa_v0", 4, {}, {"policy": "random"}, marks=pytest.mark.slow),
    ],
)
def test_the_kernels_grow_the_same_tree_as_the_oracle(name, plies, options, settings):
    state = position(name, plies=plies, **options)
    slow = SlowTree(state, 7, **settings)
    slow.grow(300)
    visits, means = statistics(state, 300, **settings)
    for action, visited, mean in zip(state.legal_actions(), visits, means, strict=True):
        assert slow.root(action) == (visited, mean if visited else 0)


def test_calls_and_small_tables_make_no_difference(monkeypatch):
    state = position("briscola_v0", plies=6)
    whole = statistics(state, 600)
    assert sum(whole[0]) == 600
    assert statistics(state, 600, calls=20) == whole
    monkeypatch.setattr(tree, "_FEWEST_ENTRIES", 2)
    assert statistics(state, 600, calls=20) == whole


def test_a_tree_that_may_not_grow_further_still_searches(monkeypatch):
    monkeypatch.setattr(tree, "_FEWEST_ENTRIES", 64)
    monkeypatch.setattr(tree, "_MOST_ENTRIES", 64)
    visits, means = statistics(position("briscola_v0", plies=6), 600)
    assert sum(visits) == 600
    assert np.isfinite(means).all()


def test_entries_are_found_again_in_a_larger_table():
    keys = [np.uint64(k << 32 | 1) for k in (5, 21, 37, 6, 1 << 20)]  # the first three belong in one place of 16
    small, large, walks = np.zeros(16, ENTRY), np.zeros(64, ENTRY), np.zeros(1, WALK)
    for k, key in enumerate(keys):
        small[find(small, walks[0], key)]["visits"] = k + 1
    assert walks["entries"][0] == len(keys)
    move_entries(small, large)
    for k, key in enumerate(keys):
        assert large[lookup(large, key)]["visits"] == small[lookup(small, key)]["visits"] == k + 1


def test_others_do_not_see_what_is_hidden_from_them():
    """A player to act later chooses by what they see: not by the cards that the searching player holds."""
    state = KUHN.new_state(seed=1, deck="K Q J")
    slow = SlowTree(state, 3)
    slow.grow(200)
    others = {node for node in slow.visits if node[0] == 1}
    assert len(others) == 2 * 2  # the jack or the queen, after a pass or a bet
    assert len({node[1] for node in others}) == 2


def test_the_compiler_changes_nothing():
    program = (
        "from cardenvs.agents.tree import SearchTree\n"
        "from cardenvs.core.registry import get_game\n"
        "tree = SearchTree(get_game('leduc_poker_v0').new_state(seed=5), 3)\n"
        "tree.grow(60)\n"
        "found = tree.root_actions()\n"
        "print(found.visits.tolist(), found.mean.tolist())"
    )
    environment = {**os.environ, "CARDENVS_COMPILE": "0"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    slow = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    search = SearchTree(LEDUC.new_state(seed=5), 3)
    search.grow(60)
    found = search.root_actions()
    assert slow.strip() == f"{found.visits.tolist()} {found.mean.tolist()}"


# ---------------------------------------------------------------------------------------------------------------
# The agent


def chosen(state, seed=0, **settings):
    return ISMCTSAgent(state.game, **settings).act(Turn(state, seed))


def test_it_learns_how_others_answer_and_how_to_go_on():
    """With the best card of three, a bet earns nothing from players who have learned to fold the worst one."""
    state = KUHN.new_state(seed=1, deck="K J Q")
    flat = state.simulate([PASS, BET], 0, 4000).mean(0)
    search = SearchTree(state, 0)
    search.grow(8000)
    learned = search.root_actions().mean
    # Random others call a bet half the time: 1.5. Those who learn fold the jack and the queen against the king.
    assert flat[1] == pytest.approx(1.5, abs=0.1)
    assert learned[1] < 1.3
    # After a pass and a bet, a random king folds half the time; one that learns calls.
    assert flat[0] < 0.75 < learned[0]


def test_it_repeats_and_depends_on_the_seed():
    state = LEDUC.new_state(seed=5)
    first = [chosen(state, seed, simulations=5) for seed in range(30)]
    assert first == [chosen(state, seed, simulations=5) for seed in range(30)]
    assert len(set(first)) > 1


def test_a_policy_is_left_only_for_what_is_clearly_better():
    gin = get_game("gin_rummy_v0")
    state = gin.new_state(seed=4)
    for _ in range(12):
        own = state.policy_action("heuristic", seed=0)
        assert chosen(state, simulations=5) == own  # a few worlds tell nothing
        state.apply(own)


def test_time_is_a_budget_too():
    state = LEDUC.new_state(seed=5)
    chosen(state, seconds=0.001)
    started = time.perf_counter()
    chosen(state, seconds=0.05)
    assert 0.05 <= time.perf_counter() - started < 1


def test_its_thoughts_are_noted():
    state = LEDUC.new_state(seed=5)
    turn = Turn(state, 5)
    action = ISMCTSAgent(LEDUC, simulations=60, playout="random").act(turn)
    notes = turn.notes["search"]
    assert notes["worlds"] == sum(notes["visits"]) == 60
    assert notes["values"][0][0] == state.action_label(action)
    assert notes["visits"] == sorted(notes["visits"], reverse=True)


def test_it_draws_actions_by_their_visits():
    state = LEDUC.new_state(seed=5)
    agent = make_agent("ismcts:simulations=15,playout=random,sample=true", LEDUC, LEDUC.make_options())
    left = []
    for seed in range(3000):
        turn = Turn(state, seed)
        action, visits = agent.act(turn), dict.fromkeys(turn.legal_actions, 0)
        for (label, _), number in zip(*map(turn.notes["search"].get, ("values", "visits")), strict=True):
            visits[turn.action_from_label(label)] = number
        probabilities = agent.probabilities(Turn(state, seed))
        assert probabilities.tolist() == [number / 15 for number in visits.values()]
        left.append(np.equal(turn.legal_actions, action) - probabilities)
    # the draw does not depend on what has made the tree
    assert (np.abs(np.mean(left, 0)) < 4 * np.std(left, 0) / np.sqrt(len(left))).all()
    assert np.std(left) > 0.1
    again = [agent.act(Turn(state, seed)) for seed in range(30)]
    assert again == [agent.act(Turn(state, seed)) for seed in range(30)]


def test_without_sampling_the_action_is_certain():
    state = LEDUC.new_state(seed=5)
    agent = ISMCTSAgent(LEDUC, simulations=5)
    for seed in range(30):
        found = agent.probabilities(turn := Turn(state, seed))
        assert sorted(found)[::-1] == [1, *[0] * (len(found) - 1)]
        assert turn.legal_actions[found.argmax()] == chosen(state, seed, simulations=5)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ismcts:sample=yes", "ismcts takes true or false for sample; got 'yes'"),
        ("ismcts:simulations=0", "ismcts takes simulations above 0 and up to 1,000,000,000; got 0"),
        ("ismcts:simulations=3,seconds=1", "ismcts takes a budget in simulations or in seconds, not both"),
        ("ismcts:exploration=-1", "ismcts takes an exploration of 0 to 1,000; got -1.0"),
        ("ismcts:exploration=nan", "ismcts takes an exploration of 0 to 1,000; got nan"),
        ("ismcts:explore=1", "ismcts has no parameter 'explore=1'; did you mean 'exploration'"),
        ("ismcts:depth=x", "ismcts takes an integer for depth; got 'x'"),
    ],
)
def test_wrong_parameters_are_refused(spec, message):
    with pytest.raises(AgentError, match=message):
        make_agent(spec, LEDUC, LEDUC.make_options())


# ---------------------------------------------------------------------------------------------------------------
# With a network


class Uniform:
    """Knows nothing: every action is as likely, and nobody expects anything."""

    def __init__(self, favourite=None):
        self.favourite, self.sizes = favourite, []

    def reads(self, game, options):
        return options

    def evaluate(self, observation, mask):
        assert len(observation) == len(mask)
        assert (mask.sum(1) > 0).all()
        self.sizes.append(len(mask))
        weight = mask.astype(np.float64)
        if self.favourite is not None:
            weight[:, self.favourite] *= 1000
        return weight / weight.sum(1, keepdims=True), np.zeros(len(mask))


@pytest.mark.parametrize("num_players", [2, 3])
def test_a_tree_with_a_network_asks_for_several_leaves_at_once(num_players):
    state = KUHN.new_state(seed=1, num_players=num_players)
    state.apply(PASS)
    network = Uniform()
    search = NetworkTree(state, 1, network)
    search.grow(300)
    found = search.root_actions()
    assert search.rounds == found.visits.sum() + 1 == 300  # the first round ends at the root
    assert np.mean(network.sizes) > 2
    again = NetworkTree(state, 1, Uniform())
    again.grow(300)
    assert again.root_actions().visits.tolist() == found.visits.tolist()


def test_a_network_asked_once_has_visited_nothing_and_the_first_action_is_taken():
    state = KUHN.new_state(seed=1)
    agent = ISMCTSAgent(KUHN, simulations=1, network=Uniform(), sample=True)
    assert agent.probabilities(Turn(state, 0)).tolist() == [1, 0]
    assert agent.act(Turn(state, 0)) == PASS


def test_priors_lead_the_search_and_returns_correct_it():
    state = KUHN.new_state(seed=1, deck="K J Q")
    state.apply(BET)  # the jack faces a bet: to call loses 2 to every card that may be behind it, to fold 1
    for favourite in (PASS, BET):
        search = NetworkTree(state, 1, Uniform(favourite))
        search.grow(2)
        assert search.root_actions().visits.argmax() == favourite
    search.grow(4000)
    assert search.root_actions().visits.argmax() == PASS
    assert search.root_actions().mean.tolist() == [-1, -2]


class Content(Uniform):
    """Expects a thousand for everybody, everywhere."""

    def evaluate(self, observation, mask):
        probs, values = super().evaluate(observation, mask)
        return probs, values + 1000


def test_when_the_tree_is_full_walks_go_on_to_what_the_network_expects(monkeypatch):
    monkeypatch.setattr(tree, "_MOST_ENTRIES", tree._FEWEST_ENTRIES)
    search = NetworkTree(get_game("hearts_v0").new_state(seed=3), 5, Content())
    search.grow(600 if COMPILED else 5)
    found = search.root_actions()
    if COMPILED:
        assert 2 * search._walks["entries"][0] >= tree._FEWEST_ENTRIES, "it is full"
    assert (found.mean[found.visits > 0] == 1000).all()


@pytest.fixture
def network_of(tmp_path):
    """A function that writes a network with random weights for a game and returns the file."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from agents.untrained import untrained

    from cardenvs.agents.checkpoint_file import write_weights

    def write(game):
        path = tmp_path / f"{game.name}.safetensors"
        write_weights(untrained(game, reward_scale=0.25), path)
        return path

    return write


@pytest.fixture
def checkpoint(network_of):
    return network_of(LEDUC)


def test_a_checkpoint_guides_the_search(checkpoint):
    options = LEDUC.make_options()
    agent = make_agent(f"ismcts:network={checkpoint},simulations=100", LEDUC, options)
    state = LEDUC.new_state(seed=5)
    turn = Turn(state, 3)
    assert agent.act(turn) in state.legal_actions()
    assert turn.notes["search"]["worlds"] == 100
    assert len(agent_fingerprint(f"ismcts:network={checkpoint}")) == 16
    observation, mask = state.observation(0)[None], state.action_mask()[None]
    probs, further = agent.network.evaluate(observation, mask)
    assert probs.sum() == pytest.approx(1)
    assert (probs[mask == 0] == 0).all()
    torch = pytest.importorskip("torch")
    raw = agent.network._network(agent.network._network.features(torch.from_numpy(observation)))[1]
    assert further[0] == pytest.approx(4 * float(raw[0].detach()))  # in chips, not in scaled reward


def test_a_wrong_network_is_refused(checkpoint, tmp_path):
    options = LEDUC.make_options()
    with pytest.raises(AgentError, match="there is no network"):
        make_agent(f"ismcts:network={tmp_path}/none.pt", LEDUC, options)
    with pytest.raises(AgentError, match="a network or playout and depth"):
        make_agent(f"ismcts:network={checkpoint},depth=3", LEDUC, options)
    with pytest.raises(FormatError, match="was trained on leduc_poker_v0; it cannot play kuhn_poker_v0"):
        make_agent(f"ismcts:network={checkpoint}", KUHN, KUHN.make_options())


# ---------------------------------------------------------------------------------------------------------------
# What it knows, in every game

FAST = {  # the others take seconds to compile
    "search": ("briscola_v0", "gin_rummy_v0", "kuhn_poker_v0", "leduc_poker_v0"),
    "ismcts": ("briscola_v0", "gin_rummy_v0", "kuhn_poker_v0", "leduc_poker_v0"),
    "network": ("gin_rummy_v0", "kuhn_poker_v0", "leduc_poker_v0"),
    "search with a network": ("gin_rummy_v0", "kuhn_poker_v0", "leduc_poker_v0"),
}
DEPTH = 30  # whole games of some take minutes
LONGEST = 60  # plies of a game in which positions are looked for


def decisions(name, seed):
    """The states of a random game in which there is a choice."""
    state = get_game(name).new_state(seed=seed)
    while not state.is_terminal and state.ply < LONGEST:
        if len(state.legal_actions()) > 1:
            yield state.clone()
        state.apply(state.policy_action("random", state.ply))


def differing_twins(state, count):
    """Up to `count` worlds that the player to act cannot tell from `state`, with other cards in hidden places."""
    player, hidden = state.current_player, state.table(OMNISCIENT).normal()
    twins = []
    for seed in range(8):
        twin = state.determinize(player, seed)
        assert twin.table(player).normal() == state.table(player).normal()
        if twin.table(OMNISCIENT).normal() != hidden:
            twins.append(twin)
    return twins[:count]


def hidden_worlds(name):
    """Decisions from the first to about the last of some games, each with two differing twins, where there are any."""
    for seed in range(3):
        found = list(decisions(name, seed))
        for state in found[:: max(1, (len(found) - 1) // 2)]:
            twins = differing_twins(state, 2)
            if len(twins) == 2:
                yield state, twins


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=() if name in fast else pytest.mark.slow)
        for kind, fast in FAST.items()
        for name in list_games()
    ],
)
def test_the_choice_and_the_notes_depend_only_on_what_the_player_knows(kind, name, request):
    game = get_game(name)
    spec = f"{'search' if kind.startswith('search') else 'ismcts'}:simulations=40"
    if "network" in kind:
        spec += f",network={request.getfixturevalue('network_of')(game)}"
    if kind != "network":
        spec += f",depth={DEPTH}"
    agent = make_agent(spec, game, game.make_options())
    plies = []
    for state, twins in hidden_worlds(name):
        turns = [Turn(world, 9) for world in (state, *twins)]
        actions = [agent.act(turn) for turn in turns]
        assert len(set(actions)) == 1
        assert turns[0].notes == turns[1].notes == turns[2].notes
        assert turns[0].notes["search"]
        plies.append(state.ply)
    assert len(plies) >= 4
    assert min(plies) < max(plies)
