"""What people bring as an agent: objects, functions, classes, factories, models of Stable-Baselines3."""

import functools
import sys
import textwrap

import pytest

import cardenvs
from cardenvs.agents import Agent
from cardenvs.agents.adapt import adapted
from cardenvs.agents.guarded.preload import preload
from cardenvs.agents.seating import Seat, play_out
from cardenvs.agents.specs import load_agent, make_agent
from cardenvs.arena.match import Match
from cardenvs.arena.run import run_match
from cardenvs.core.errors import AgentError, ArenaError
from cardenvs.envs.single import SeatEnv

GAME = cardenvs.get_game("leduc_poker_v0")
OPTIONS = GAME.make_options()


def first(turn):
    return turn.legal_actions[0]


def first_or(turn, other=None):
    return turn.legal_actions[0]


class Bare:
    def act(self, turn):
        return turn.legal_actions[0]


class Counting:
    """Has state and everything that an agent may have."""

    name = "counting"

    def __init__(self):
        self.resets, self.seen, self.results = 0, 0, []

    def reset(self, seed):
        self.resets += 1

    def observe(self, events):
        self.seen += len(events)

    def end(self, returns):
        self.results.append(returns)

    def act(self, turn):
        return turn.legal_actions[0]


class OfGame(Bare):
    def __init__(self, game, options):
        self.size = game.layout(options).size


class Sized(Bare):
    def __init__(self, size):
        self.size = size


class OfGameOrNot(Bare):
    def __init__(self, game=None, options=None):
        self.size = game.layout(options).size


def make(game, options):
    return OfGame(game, options)


def make_bare():
    return Bare()


def make_function(game, options):
    return first


def make_nothing(game, options):
    return 7


ACCEPTED = [
    first, first_or, lambda turn: turn.legal_actions[0], functools.partial(first_or, other=1), Bare(), Bare, Counting(),
    Counting, OfGame, OfGameOrNot, make, make_bare, make_function,
]  # fmt: skip


@pytest.mark.parametrize("given", ACCEPTED, ids=lambda given: getattr(given, "__name__", type(given).__name__))
def test_what_is_an_agent(given):
    agent = adapted(given, GAME, OPTIONS)
    state = GAME.new_state(seed=1)
    seats = [Seat(agent, player, 5) for player in range(2)]
    for seat in seats:
        seat.begin(state)
    play_out(state, seats)
    assert state.is_terminal
    assert isinstance(agent.name, str)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, "int is not an agent: an agent is an object with act"),
        (Sized, "Sized needs 1 argument; an agent is"),
        (lambda a, b, c: 1, "needs 3 arguments; an agent is"),
        (make_nothing, "make_nothing made 7, which is not an agent: it lacks act"),
        (dict, "dict made .* which is not an agent|dict does not say which arguments"),
    ],
)
def test_what_is_no_agent_is_said_in_one_sentence(given, message):
    with pytest.raises(AgentError, match=message) as raised:
        adapted(given, GAME, OPTIONS)
    assert "\n" not in str(raised.value)


def test_an_adapted_agent_keeps_what_it_has():
    whole, bare = Counting(), Bare()
    assert adapted(whole, GAME, OPTIONS) is whole
    made = adapted(bare, GAME, OPTIONS)
    assert made.name == "Bare"
    assert not hasattr(made, "observe")
    bare.observe = print
    assert made.observe is print


# -- where agents are taken -------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [first, Bare(), Bare, make, Counting()])
def test_a_match_of_objects(given):
    match = Match.of("leduc_poker_v0", [given, "random"], 3, seed=1)
    summary = run_match(match)
    assert match.names[0].startswith("object:")
    again = run_match(match)
    assert [one.mean for one in again.standings] == [one.mean for one in summary.standings]


def test_tables_share_nothing_with_the_object():
    given = Counting()
    run_match(Match.of("leduc_poker_v0", [given, "random"], 3, seed=1))
    assert (given.resets, given.seen, given.results) == (0, 0, [])


def test_an_object_that_cannot_be_copied_or_limited():
    class Stuck(Bare):
        def __deepcopy__(self, memo):
            raise TypeError("it holds a socket")

    with pytest.raises(
        AgentError, match=r"Stuck cannot be copied for each table \(it holds a socket\); give its class"
    ):
        run_match(Match.of("leduc_poker_v0", [Stuck(), "random"], 1, seed=1))
    from cardenvs.agents.guarded.limits import AgentLimits

    with pytest.raises(ArenaError, match="python:MODULE:NAME; got object:Bare"):
        Match.make(GAME, OPTIONS, [Bare(), "random"], 1, 1, guard=AgentLimits())


def test_a_store_does_not_make_an_object_again(tmp_path):
    store = tmp_path / "games.db"
    match = Match.of("leduc_poker_v0", [first, "random"], 2, seed=1)
    run_match(match, store)
    from cardenvs.arena.store import Store

    with Store(store) as kept:
        loaded = kept.match(kept.match_ids()[0])
    assert loaded.id == match.id
    with pytest.raises(
        AgentError, match="object:first was an object in the program that began the match; give it again"
    ):
        run_match(loaded.changed(deals=3), store, resume=True)
    more = run_match(Match.of("leduc_poker_v0", [first, "random"], 3, seed=match.seed_text), store, resume=True)
    assert more.games == 6


@pytest.mark.parametrize("given", [first, Bare(), Bare, make])
def test_an_opponent_of_seat_env(given):
    env = SeatEnv("leduc_poker_v0", opponents=given)
    env.reset(seed=3)
    over = False
    while not over:
        _, _, over, _, _ = env.step(int(env.action_masks().argmax()))


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the working folder, with the agents of a text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])

    def write(text):
        (tmp_path / "brought_agents.py").write_text(textwrap.dedent(text))

    yield write
    sys.modules.pop("brought_agents", None)


def test_functions_classes_objects_and_factories_of_a_module(module):
    module(
        """
        def choose(turn): return turn.legal_actions[0]
        class Bold:
            def act(self, turn): return turn.legal_actions[-1]
        bold = Bold()
        def make(game, options): return Bold()
        class Needs:
            def __init__(self, size): pass
        """
    )
    for name in ("choose", "Bold", "bold", "make"):
        assert callable(load_agent(f"python:brought_agents:{name}", GAME, OPTIONS).act)
    with pytest.raises(AgentError, match="'python:brought_agents:Needs' needs 1 argument; an agent is"):
        load_agent("python:brought_agents:Needs", GAME, OPTIONS)


def test_a_function_plays_in_a_process_of_its_own(module):
    module("def choose(turn): return turn.legal_actions[0]")
    run_match(Match.of("leduc_poker_v0", ["python:brought_agents:choose", "random"], 1, seed=1))


# -- large libraries --------------------------------------------------------------------------------------------


def test_the_server_loads_what_the_module_imports_but_not_the_module(module, monkeypatch):
    taken = []
    monkeypatch.setattr("cardenvs.agents.guarded.preload.importlib.import_module", taken.append)
    module("import scipy.stats\nif True:\n    from pandas import DataFrame\nimport json\nraise SystemExit\n")
    preload("python:brought_agents:choose", None)
    assert taken == ["scipy", "pandas"]
    preload("random", None)
    preload("python:no_such_module_here:x", None)
    assert taken == ["scipy", "pandas"]


def test_a_library_is_not_taken_from_the_agents_folder(module, tmp_path):
    (tmp_path / "jax.py").write_text("raise SystemExit('code of the agent ran in the server')")
    module("import jax")
    before = list(sys.path)
    preload("python:brought_agents:choose", None)
    assert sys.path == before


# -- Stable-Baselines3 ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Untrained models, by name."""
    sb3_contrib, sb3 = pytest.importorskip("sb3_contrib"), pytest.importorskip("stable_baselines3")
    from cardenvs.envs.sb3 import SeatVecEnv

    folder = tmp_path_factory.mktemp("models")
    env = SeatVecEnv("leduc_poker_v0", 2, opponents="random", seed=0)
    named = SeatEnv("leduc_poker_v0", opponents="random", dict_observation=True, illegal_reward=-1.0)
    made = {
        "masked": sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=0),
        "dict": sb3.PPO("MultiInputPolicy", named, n_steps=8, batch_size=8, seed=0),
        "dqn": sb3.DQN("MlpPolicy", SeatEnv("leduc_poker_v0", opponents="random", illegal_reward=-1.0), seed=0),
    }
    for name, model in made.items():
        model.save(folder / f"{name}.zip")
    return folder


@pytest.mark.parametrize("name", ["masked", "dict", "dqn"])
def test_models_play_legal_actions_and_repeat_them(models, name):
    played = []
    for spec in [f"sb3:{models / name}.zip"] * 2 + ([] if name == "dqn" else [f"sb3:{models / name}.zip,sample=true"]):
        agent, state = load_agent(spec, GAME, OPTIONS), GAME.new_state(seed=1)
        played.append([one.action for one in play_out(state, [Seat(agent, player, 5) for player in range(2)])])
    assert played[0] == played[1]


def test_a_model_that_does_not_fit_is_explained(models, tmp_path):
    kuhn = cardenvs.get_game("kuhn_poker_v0")
    with pytest.raises(
        AgentError, match=r"of shape \(36,\) and 3 actions; kuhn_poker_v0 with these options has \(13,\) and 2"
    ):
        load_agent(f"sb3:{models / 'masked.zip'}", kuhn, kuhn.make_options())
    with pytest.raises(AgentError, match="nothing to sample from"):
        load_agent(f"sb3:{models / 'dqn.zip'},sample=true", GAME, OPTIONS)
    (tmp_path / "model.zip").write_text("no model")
    with pytest.raises(AgentError, match="is not a model saved by Stable-Baselines3"):
        load_agent(f"sb3:{tmp_path / 'model.zip'}", GAME, OPTIONS)
    with pytest.raises(AgentError, match=r"none\.zip"):
        make_agent(f"sb3:{tmp_path / 'none.zip'}", GAME, OPTIONS)


def test_a_model_plays_in_a_match(models):
    match = Match.of("leduc_poker_v0", [f"sb3:{models / 'masked.zip'}", "random"], 1, seed=1)
    assert match.has_guests
    run_match(match)


def test_agents_of_cardenvs_are_agents_already():
    assert isinstance(load_agent("random", GAME, OPTIONS), Agent)
