"""OpenSpiel's algorithms on games of cardenvs."""

import random

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy, rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    best_response,
    cfr,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
)

from cardenvs.openspiel import load_game  # noqa: E402

PAIRS = [
    ("kuhn_poker_v0", {}, "kuhn_poker"),
    ("kuhn_poker_v0", {"num_players": 3}, "kuhn_poker(players=3)"),
    ("leduc_poker_v0", {}, "leduc_poker(suit_isomorphism=true)"),
]


def dealt(game, rng):
    state = game.new_initial_state()
    while state.is_chance_node():
        actions, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(actions, probabilities)[0])
    return state


@pytest.mark.parametrize(("name", "options", "native"), PAIRS)
def test_values_of_uniform_play_are_openspiels(name, options, native):
    ours, theirs = load_game(name, **options), pyspiel.load_game(native)
    values = [
        (
            pyspiel.expected_returns(game.new_initial_state(), pyspiel.UniformRandomPolicy(game), -1, True),
            pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)),
        )
        for game in (ours, theirs)
    ]
    assert values[0][0] == pytest.approx(values[1][0], abs=1e-9)
    assert values[0][1] == pytest.approx(values[1][1], abs=1e-9)


def test_cfr_in_python_is_the_same_on_both():
    solvers = [cfr.CFRPlusSolver(game) for game in (load_game("kuhn_poker_v0"), pyspiel.load_game("kuhn_poker"))]
    for _ in range(60):
        for solver in solvers:
            solver.evaluate_and_update_policy()
    ours, theirs = (exploitability.exploitability(solver._game, solver.average_policy()) for solver in solvers)
    assert ours == pytest.approx(theirs, abs=1e-9)
    assert ours < 0.01


@pytest.mark.parametrize("name", ["CFRSolver", "CFRPlusSolver"])
def test_cfr_in_c_plus_plus_is_the_same_on_both(name):
    found = []
    for game in (load_game("leduc_poker_v0"), pyspiel.load_game("leduc_poker(suit_isomorphism=true)")):
        solver = getattr(pyspiel, name)(game)
        for _ in range(3):
            solver.evaluate_and_update_policy()
        found.append(pyspiel.exploitability(game, solver.average_policy()))
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert found[0] < 2  # uniform play: 2.37


def test_a_best_response_gains_what_openspiels_gains():
    values = []
    for game in (load_game("kuhn_poker_v0"), pyspiel.load_game("kuhn_poker")):
        response = best_response.BestResponsePolicy(game, 0, policy.UniformRandomPolicy(game))
        values.append(response.value(game.new_initial_state()))
    assert values[0] == pytest.approx(values[1])
    assert values[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "solver",
    [external_sampling_mccfr.ExternalSamplingSolver, outcome_sampling_mccfr.OutcomeSamplingSolver],
)
def test_mccfr_in_python(solver):
    np.random.seed(1)  # the solvers draw from the global generator
    game = load_game("kuhn_poker_v0")
    made = solver(game)
    for _ in range(400):
        made.iteration()
    assert exploitability.exploitability(game, made.average_policy()) < 0.3  # uniform play: 0.458


def test_mccfr_in_c_plus_plus():
    game = load_game("leduc_poker_v0")
    made = pyspiel.ExternalSamplingMCCFRSolver(game, 1)
    for _ in range(200):
        made.run_iteration()
    assert pyspiel.exploitability(game, made.average_policy()) < 2  # uniform play: 2.37


def test_mccfr_samples_games_whose_deals_cannot_be_listed():
    made = pyspiel.OutcomeSamplingMCCFRSolver(load_game("gin_rummy_v0"), 0.6, 1)
    for _ in range(3):
        made.run_iteration()
    assert made.average_policy() is not None


def test_mcts():
    game = load_game("gin_rummy_v0")
    state = dealt(game, random.Random(1))
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 2.0, 15, evaluator, random_state=np.random.RandomState(2))
    assert bot.step(state) in state.legal_actions()
    fast = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 15, 100, False, 1, False)
    assert fast.mcts_search(state).best_child().action in state.legal_actions()


@pytest.mark.parametrize("name", ["gin_rummy_v0", "leduc_poker_v0", "rummikub_v0"])
def test_is_mcts_plays_a_game(name):
    game, rng = load_game(name), random.Random(3)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 5.0, 12, random_state=np.random.RandomState(2))
    state, decisions = dealt(game, rng), 0
    while not state.is_terminal() and decisions < 6:
        action = bot.step(state) if state.current_player() == 0 else rng.choice(state.legal_actions())
        decisions += state.current_player() == 0 and len(state.legal_actions()) > 1
        assert action in state.legal_actions()
        state.apply_action(action)


def test_is_mcts_does_not_look_at_hidden_cards():
    game = load_game("leduc_poker_v0")
    state = dealt(game, random.Random(4))
    twin = state.resample_from_infostate(0, random.Random(9).random)
    assert str(twin.world) != str(state.world)

    def policy_at(root):
        evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
        bot = ismcts.ISMCTSBot(game, evaluator, 5.0, 50, random_state=np.random.RandomState(2))
        # OpenSpiel's bot draws worlds from a generator of its own, which takes no seed
        numbers = np.random.RandomState(3)
        bot.set_resampler(lambda of, player: of.resample_from_infostate(player, numbers.random_sample))
        return bot.run_search(root)

    assert policy_at(state) == policy_at(twin)


def test_is_mcts_in_c_plus_plus_refuses_games_written_in_python():
    """OpenSpiel calls its own resampling then, never that of a Python game; if this fails, docs/openspiel.md is old."""
    state = dealt(load_game("gin_rummy_v0"), random.Random(5))
    bot = pyspiel.ISMCTSBot(1, pyspiel.RandomRolloutEvaluator(1, 1), 5.0, 10)
    with pytest.raises(pyspiel.SpielError, match="ResampleFromInfostate"):
        bot.get_policy(state)


@pytest.mark.parametrize(("name", "size"), [("kuhn_poker_v0", 182), ("gin_rummy_v0", 432)])
def test_environments_show_information_states_or_observations(name, size):
    env = rl_environment.Environment(load_game(name))
    assert env.observation_spec()["info_state"] == (size,)
    step = env.reset()
    while not step.last():
        player = step.current_player()
        assert len(step.observations["info_state"][player]) == size
        step = env.step([step.observations["legal_actions"][player][-1]])
    assert sum(step.rewards) == 0


@pytest.mark.parametrize("name", ["kuhn_poker_v0", "gin_rummy_v0"])
def test_dqn_learns(name):
    torch = pytest.importorskip("torch")
    pytest.importorskip("tree", reason="OpenSpiel's DQN needs dm-tree")
    from open_spiel.python.pytorch import dqn

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    env = rl_environment.Environment(load_game(name))
    (size,), num_actions = env.observation_spec()["info_state"], env.action_spec()["num_actions"]
    agents = [
        dqn.DQN(player, size, num_actions, hidden_layers_sizes=[32], min_buffer_size_to_learn=32, batch_size=16)
        for player in range(2)
    ]
    steps = 0
    while steps < 300:
        step = env.reset()
        while not step.last():
            step = env.step([agents[step.current_player()].step(step).action])
            steps += 1
        for agent in agents:
            agent.step(step)
    torch.set_num_threads(threads)
    assert all(np.isfinite(float(agent.loss)) for agent in agents)
