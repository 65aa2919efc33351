"""The agent `tabular:PATH` and its files: what it plays, that nothing hidden reaches it, and what it refuses."""

import dataclasses
import random
from collections import Counter

import numpy as np
import pytest

from cardenvs.agents import Turn
from cardenvs.agents.specs import agent_fingerprint, load_agent
from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.checks import sealed
from cardenvs.core.errors import AgentError, FormatError
from cardenvs.core.registry import get_game
from cardenvs.training.cfr import Solver, Tree

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")


@pytest.fixture(scope="module")
def table():
    """A policy of Leduc poker with mixed choices."""
    solver = Solver(Tree(LEDUC))
    solver.run(20)
    return solver.saved()


@pytest.fixture
def path(table, tmp_path):
    table.save(tmp_path / "a.policy")
    return tmp_path / "a.policy"


def decisions(count=40, **options):
    """States of random play in which somebody is to act."""
    chooser = random.Random(1)
    for seed in range(count):
        state = LEDUC.new_state(seed=seed, **options)
        while not state.is_terminal:
            yield state
            state.apply(chooser.choice(state.legal_actions()))


def test_it_plays_the_same_whatever_lies_hidden(path):
    """Twins differ in what the player cannot know, and in nothing else."""
    agent, varied = load_agent(f"tabular:{path}", LEDUC, LEDUC.make_options()), 0
    for number, state in enumerate(decisions()):
        twin = state.determinize(state.current_player, number)
        turns = [Turn(world, number) for world in (state, twin)]
        assert agent.act(turns[0]) == agent.act(turns[1])
        assert agent.probabilities(turns[0]).tolist() == agent.probabilities(turns[1]).tolist()
        assert turns[0].notes == turns[1].notes
        assert turns[0].notes["known"]
        varied += twin.record_bytes() != state.record_bytes()
    assert varied > 50


def test_its_choices_are_as_frequent_as_the_table_says(path):
    agent = load_agent(f"tabular:{path}", LEDUC, LEDUC.make_options())
    state = next(s for s in decisions() if 0.2 < max(agent.probabilities(Turn(s, 0))) < 0.8)
    legal = state.legal_actions()
    counts = Counter(agent.act(Turn(state, seed)) for seed in range(2000))
    shares = [counts[action] / 2000 for action in legal]
    assert shares == pytest.approx(agent.probabilities(Turn(state, 0)).tolist(), abs=0.05)


def test_without_sampling_it_takes_the_likeliest_action(path):
    agent = load_agent(f"tabular:{path}", LEDUC, LEDUC.make_options())
    greedy = load_agent(f"tabular:{path},sample=false", LEDUC, LEDUC.make_options())
    for state in decisions(10):
        best = state.legal_actions()[int(agent.probabilities(Turn(state, 0)).argmax())]
        assert {greedy.act(Turn(state, seed)) for seed in range(5)} == {best}


def test_where_the_table_has_no_row_it_plays_uniformly_and_says_so(table, tmp_path):
    kept = 100
    pairs = int(table.sizes[:kept].sum())
    short = dataclasses.replace(
        table, players=table.players[:kept], keys=table.keys[:kept], sizes=table.sizes[:kept],
        actions=table.actions[:pairs], weights=table.weights[:pairs], regrets=None,
    )  # fmt: skip
    short.save(tmp_path / "short.policy")
    agent, known = load_agent(f"tabular:{tmp_path}/short.policy", LEDUC, LEDUC.make_options()), Counter()
    for state in decisions():
        turn = Turn(state, 0)
        probabilities = agent.probabilities(turn)
        known[turn.notes["known"]] += 1
        if not turn.notes["known"]:
            assert probabilities.tolist() == [1 / len(probabilities)] * len(probabilities)
    assert min(known[True], known[False]) > 10


def test_a_file_is_read_as_it_was_written(table, path):
    again = TabularPolicy.load(path)
    for field in dataclasses.fields(table):
        one, two = getattr(table, field.name), getattr(again, field.name)
        assert np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two, field.name


def test_its_fingerprint_is_the_files(table, path):
    before = agent_fingerprint(f"tabular:{path}")
    assert before == agent_fingerprint(f"tabular:{path},sample=false")
    dataclasses.replace(table, iterations=table.iterations + 1).save(path)
    assert agent_fingerprint(f"tabular:{path}") != before


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tabular:", "tabular needs the path of a file, as in tabular:runs/"),
        ("tabular:nowhere.policy", "tabular: there is no file 'nowhere.policy'"),
        ("tabular:{path},greedy=true", "tabular has no parameter 'greedy=true'"),
        ("tabular:{path},sample=maybe", "tabular takes true or false for sample"),
    ],
)
def test_a_wrong_spec_is_refused(spec, message, path):
    with pytest.raises(AgentError) as caught:
        load_agent(spec.format(path=path), LEDUC, LEDUC.make_options())
    assert message in str(caught.value)


def test_another_game_and_other_options_are_refused(path):
    with pytest.raises(AgentError, match="is for 'leduc_poker_v0'; it cannot play kuhn_poker_v0"):
        load_agent(f"tabular:{path}", KUHN, KUHN.make_options())
    with pytest.raises(AgentError, match="is for leduc_poker_v0 with other options: ante=1"):
        load_agent(f"tabular:{path}", LEDUC, LEDUC.make_options(ante=2))
    agent = load_agent(f"tabular:{path}", LEDUC, LEDUC.make_options())
    with pytest.raises(FormatError, match="with other options: num_players=2"):
        agent.act(Turn(LEDUC.new_state(seed=1, num_players=3), 0))


def broken(table, **changes):
    return dataclasses.replace(table, **changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {"weights": -t.weights}, "a weight is negative"),
        (lambda t: {"weights": t.weights * np.nan}, "a weight is negative, NaN or infinite"),
        (lambda t: {"regrets": t.regrets * np.inf}, "a regret is NaN or infinite"),
        (lambda t: {"sizes": t.sizes + 1}, "differ in size"),
        (lambda t: {"sizes": t.sizes * 0}, "differ in size"),
        (lambda t: {"players": t.players - 5}, "has no player"),
        (lambda t: {"keys": t.keys * np.uint64(0), "players": t.players * np.int8(0)}, "appears twice"),
        (lambda t: {"iterations": -1}, "number of iterations is out of range"),
        (lambda t: {"iterations": 10**30}, "number of iterations is out of range"),
        (lambda t: {"options": []}, "'options' should be of type dict"),
        (lambda t: {"method": 7}, "'method' should be of type str"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_damaged_table_is_refused(change, message, table, tmp_path):
    broken(table, **change(table)).save(tmp_path / "b.policy")
    with pytest.raises(FormatError) as caught:
        TabularPolicy.load(tmp_path / "b.policy")
    assert message in str(caught.value)


def test_any_damaged_byte_is_noticed(path, tmp_path):
    data, rng = path.read_bytes(), random.Random(3)
    for place in [0, 20, 60, 100, len(data) - 1, *rng.sample(range(len(data)), 20)]:
        (tmp_path / "b.policy").write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(FormatError):
            TabularPolicy.load(tmp_path / "b.policy")
    for end in (0, 10, 200, len(data) - 1):
        (tmp_path / "b.policy").write_bytes(data[:end])
        with pytest.raises(FormatError):
            TabularPolicy.load(tmp_path / "b.policy")


@pytest.mark.parametrize("sizes", [{"infosets": 1 << 60, "pairs": 0}, {"infosets": -1, "pairs": 3}, {"pairs": 10**400}])
def test_a_header_that_promises_much_allocates_nothing(sizes, tmp_path):
    header = {"game": "x", "options": {}, "method": "x", "iterations": 1, "infosets": 0, "notes": {}, "regrets": False}
    (tmp_path / "b.policy").write_bytes(sealed(b"cardenvs-policy-1\n", header | sizes))
    with pytest.raises(FormatError):
        TabularPolicy.load(tmp_path / "b.policy")


def test_other_legal_actions_than_the_tables_are_refused(table, tmp_path):
    broken(table, actions=table.actions + 1).save(tmp_path / "b.policy")
    agent = load_agent(f"tabular:{tmp_path}/b.policy", LEDUC, LEDUC.make_options())
    with pytest.raises(FormatError, match="another version"):
        agent.act(Turn(LEDUC.new_state(seed=1), 0))
