"""Games of cardenvs as games of OpenSpiel: chance, observations, information states, copies, saving."""

import pickle
import random
import subprocess
import sys

import numpy as np
import pytest

import cardenvs
from cardenvs.core.errors import GameNotFoundError, OptionError
from cardenvs.core.game_view import table_texts

pyspiel = pytest.importorskip("pyspiel")

from cardenvs.openspiel import load_game  # noqa: E402

PERFECT_RECALL = pyspiel.IIGObservationType(perfect_recall=True)
SMALL = [("kuhn_poker_v0", {}), ("leduc_poker_v0", {}), ("kuhn_poker_v0", {"num_players": 3})]
GAMES = [
    *SMALL,
    ("gin_rummy_v0", {}),
    ("casino_v0", {"match": False}),
    ("durak_v0", {"num_players": 3}),
    ("texas_holdem_v0", {"format": "cash", "num_players": 3, "blinds": (5, 10)}),
    ("wingspan_v0", {"num_players": 2}),
    ("rummikub_v0", {"num_players": 2}),
]


def dealt(game, rng):
    """A state after the chance nodes."""
    state = game.new_initial_state()
    while state.is_chance_node():
        actions, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(actions, probabilities)[0])
    return state


def positions(game, rng, most=60):
    """Positions of a random game in which somebody is to act, and the one in which it is over or cut off."""
    state = dealt(game, rng)
    while not state.is_terminal() and most:
        yield state
        state.apply_action(rng.choice(state.legal_actions()))
        most -= 1
    yield state


def everything_shown(state, player):
    """All that OpenSpiel shows of a state to a player."""
    shown = [state.information_state_string(player), state.observation_string(player)]
    shown.append(tuple(state.observation_tensor(player)))
    if state.get_game().get_type().provides_information_state_tensor:
        shown.append(tuple(state.information_state_tensor(player)))
    if state.current_player() == player:
        shown += [(action, state.action_to_string(action)) for action in state.legal_actions()]
    return shown


# ---------------------------------------------------------------------------------------------------------------
# Loading


def test_options_are_parameters():
    game = load_game("leduc_poker", num_players=3, raise_size=(1, 3))
    assert str(game) == "cardenvs_leduc_poker_v0(num_players=3,raise_size=[1 3])"
    assert game.options == cardenvs.get_game("leduc_poker_v0").make_options(num_players=3, raise_size=(1, 3))
    again = pyspiel.load_game("cardenvs_leduc_poker_v0(num_players=3,raise_size=[1 3])")
    assert again == game
    assert again.num_players() == 3
    assert pyspiel.load_game("cardenvs_gin_rummy_v0(match_target=100)").options.match_target == 100
    assert load_game("gin_rummy_v0", match_target=100, oklahoma=True).options.oklahoma
    assert load_game("gin_rummy_v0").options.match_target is None


def test_what_cannot_be_loaded_is_refused():
    with pytest.raises(GameNotFoundError, match="no game named 'leduc_v0'"):
        load_game("leduc_v0")
    with pytest.raises(OptionError, match="unknown option 'players'"):
        load_game("leduc_poker_v0", players=3)
    with pytest.raises(OptionError, match="takes integers in brackets"):
        pyspiel.load_game("cardenvs_leduc_poker_v0(raise_size=2 4)")


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_sizes_and_bounds_are_those_of_the_game(name, options):
    game = cardenvs.get_game(name)
    made = game.make_options(**options)
    spiel = load_game(name, **options)
    returns = game.returns(made)
    assert spiel.num_players() == made.num_players
    assert spiel.num_distinct_actions() == game.num_actions(made)
    assert spiel.max_game_length() == game.max_length(made)
    assert (spiel.min_utility(), spiel.max_utility(), spiel.utility_sum()) == (returns.low, returns.high, returns.total)
    assert spiel.observation_tensor_shape() == [game.layout(made).size]
    assert spiel.get_type().provides_information_state_tensor == ((name, options) in SMALL)


def test_a_process_that_registers_games_ends_well():
    code = "import cardenvs.openspiel as o; o.load_game('kuhn_poker_v0').new_initial_state()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------------------------------------------------------
# Chance


def test_listed_deals_are_the_outcomes_of_one_node():
    game = cardenvs.get_game("leduc_poker_v0")
    state = load_game("leduc_poker_v0").new_initial_state()
    labels = {state.action_to_string(action): p for action, p in state.chance_outcomes()}
    assert labels == {f"Deal: {deck}": p for deck, p in game.enumerate_deals()}
    for action, _ in state.chance_outcomes():
        child = state.child(action)
        assert not child.is_chance_node()
        assert f"Deal: {child.world.game.deck_text(child.world.deck)}" == state.action_to_string(action)


def test_a_seed_is_drawn_where_deals_cannot_be_listed():
    game = load_game("gin_rummy_v0")
    state = game.new_initial_state()
    digits = [3, 127, 0, 64, 9, 1, 100, 77, 5]
    assert game.max_chance_nodes_in_history() == len(digits)
    assert state.action_to_string(3) == "Seed digit 1 of 9: 3"
    for digit in digits:
        assert state.chance_outcomes() == [(d, 1 / 128) for d in range(128)]
        state.apply_action(digit)
    seed = sum(digit * 128**place for place, digit in enumerate(reversed(digits)))
    assert state.world.seed == seed
    assert state.world.record_bytes() == cardenvs.get_game("gin_rummy_v0").new_state(seed=seed).record_bytes()


def test_the_largest_digits_are_the_largest_seed():
    state = load_game("gin_rummy_v0").new_initial_state()
    for _ in range(9):
        state.apply_action(127)
    assert state.world.seed == 2**63 - 1


# ---------------------------------------------------------------------------------------------------------------
# States


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_states_pass_openspiels_own_test(name, options):
    if name in ("wingspan_v0", "rummikub_v0"):
        game, rng = load_game(name, **options), random.Random(1)
        for state in positions(game, rng):
            assert state.clone().serialize() == state.serialize()
        return
    pyspiel.random_sim_test(load_game(name, **options), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_states_are_those_of_cardenvs(name, options):
    rng = random.Random(2)
    spiel = dealt(load_game(name, **options), rng)
    ours = spiel.world.clone()
    for _ in range(80):
        assert spiel.is_terminal() == ours.is_terminal
        if ours.is_terminal:
            break
        assert spiel.current_player() == ours.current_player
        assert spiel.legal_actions() == ours.legal_actions()
        assert spiel.legal_actions((ours.current_player + 1) % ours.num_players) == []
        assert spiel.returns() == [0.0] * ours.num_players
        action = rng.choice(ours.legal_actions())
        assert spiel.action_to_string(action) == ours.action_label(action)
        assert spiel.string_to_action(ours.action_label(action)) == action
        for player in range(ours.num_players):
            assert spiel.observation_tensor(player) == ours.observation(player).tolist()
            assert spiel.observation_string(player) == ours.render(player)
            assert spiel.information_state_string(player) == f"p{player}:{ours.information_state_key(player)}"
        spiel.apply_action(action)
        ours.apply(action)
    assert spiel.returns() == (ours.returns if ours.is_terminal else [0.0] * ours.num_players)


def test_a_clone_is_independent():
    state = dealt(load_game("gin_rummy_v0"), random.Random(3))
    before = str(state)
    copy = state.clone()
    copy.apply_action(copy.legal_actions()[0])
    assert str(state) == before != str(copy)
    assert copy.history() == [*state.history(), copy.history()[-1]]


@pytest.mark.parametrize(("name", "options"), [("leduc_poker_v0", {"num_players": 3}), ("gin_rummy_v0", {})])
def test_games_and_states_are_pickled(name, options):
    game = load_game(name, **options)
    assert pickle.loads(pickle.dumps(game)) == game
    for state in positions(game, random.Random(4), most=10):
        copy = pickle.loads(pickle.dumps(state))
        assert (str(copy), copy.history()) == (str(state), state.history())
        assert copy.get_game().options == game.options
        assert [everything_shown(copy, p) for p in range(game.num_players())] == [
            everything_shown(state, p) for p in range(game.num_players())
        ]


def test_a_pickle_is_read_by_a_new_process():
    game = load_game("kuhn_poker_v0", num_players=3)
    data = pickle.dumps((game, dealt(game, random.Random(5))))
    code = "import pickle, sys; game, state = pickle.load(sys.stdin.buffer); print(game, state.legal_actions())"
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=False, timeout=60)
    assert done.stdout.decode() == "cardenvs_kuhn_poker_v0(num_players=3) [0, 1]\n", done.stderr.decode()


def test_illegal_actions_are_refused():
    state = dealt(load_game("leduc_poker_v0"), random.Random(6))
    with pytest.raises(cardenvs.core.errors.IllegalActionError, match="there is no action 7"):
        state.apply_action(7)


# ---------------------------------------------------------------------------------------------------------------
# What players see


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_resampled_states_look_the_same_to_the_player(name, options):
    game, rng = load_game(name, **options), random.Random(7)
    differs = False
    for state in positions(game, rng, most=25):
        for player in range(game.num_players()):
            twin = state.resample_from_infostate(player, rng.random)
            assert everything_shown(twin, player) == everything_shown(state, player)
            assert twin.history() == []
            assert twin.current_player() == state.current_player()
            differs |= str(twin.world) != str(state.world)
            copy = twin.clone().resample_from_infostate(player, rng.random)
            assert everything_shown(copy, player) == everything_shown(state, player)
    assert differs


def test_a_resampled_state_goes_on_as_the_true_one_would():
    """Of the twins of one state, those in which a player holds the same card are one information state to it."""
    state, rng = dealt(load_game("leduc_poker_v0"), random.Random(8)), random.Random(8)
    moved = state.child(1)
    strings: dict[str, set] = {}
    for _ in range(60):
        twin = state.resample_from_infostate(0, rng.random)
        card = table_texts(twin.world.view(1))["piles"]["hand"][1][0]
        before = twin.information_state_string(1)
        twin.apply_action(1)
        assert twin.information_state_string(0) == moved.information_state_string(0)
        strings.setdefault(card, set()).add((before, twin.information_state_string(1)))
    assert len(strings) == 3
    assert all(len(pairs) == 1 for pairs in strings.values())
    assert len({text for pairs in strings.values() for pair in pairs for text in pair}) == 6


def test_the_same_draws_resample_the_same_state():
    state = dealt(load_game("gin_rummy_v0"), random.Random(9))
    a, b, c = (state.resample_from_infostate(0, lambda r=r: r) for r in (0.25, 0.25, 0.75))
    assert str(a) == str(b) != str(c)


def test_the_past_of_others_is_not_known_in_a_resampled_state():
    state = dealt(load_game("leduc_poker_v0"), random.Random(10))
    twin = state.resample_from_infostate(0, random.random)
    assert twin.information_state_tensor(0) == state.information_state_tensor(0)
    with pytest.raises(pyspiel.SpielError, match="resampled for player 0; what player 1 saw before is not known"):
        twin.information_state_tensor(1)
    assert twin.information_state_string(1) != state.information_state_string(1)


@pytest.mark.parametrize(("name", "options"), SMALL)
def test_strings_and_tensors_tell_the_same_histories_apart(name, options):
    """A tensor determines the string and the string the tensor, for every player, in the whole tree or much of it."""
    game = load_game(name, **options)
    pairs, stack, rng = set(), [game.new_initial_state()], random.Random(11)
    while stack:
        state = stack.pop()
        actions = state.legal_actions()
        if name == "leduc_poker_v0" and len(actions) == 24:
            actions = rng.sample(actions, 5)
        stack += [state.child(action) for action in actions]
        for player in range(game.num_players()):
            tensor = np.array(state.information_state_tensor(player), np.float32)
            pairs.add((state.information_state_string(player), tensor.tobytes()))
    assert len({string for string, _ in pairs}) == len({tensor for _, tensor in pairs}) == len(pairs)


@pytest.mark.parametrize(("name", "options"), [*SMALL, ("gin_rummy_v0", {})])
def test_information_states_have_perfect_recall(name, options):
    """An information state has one past: the same earlier information states and actions of its player."""
    game, rng = load_game(name, **options), random.Random(12)
    pasts: dict[str, tuple] = {}
    for _ in range(8 if name == "gin_rummy_v0" else 300):
        state = dealt(game, rng)
        own: dict[int, list] = {player: [] for player in range(game.num_players())}
        while not state.is_terminal():
            player = state.current_player()
            here = state.information_state_string(player)
            assert pasts.setdefault(here, tuple(own[player])) == tuple(own[player])
            action = rng.choice(state.legal_actions())
            own[player].append((here, action))
            state.apply_action(action)


def test_larger_games_refuse_the_information_state_tensor():
    state = dealt(load_game("gin_rummy_v0"), random.Random(13))
    with pytest.raises(pyspiel.SpielError, match="gin_rummy_v0 has no information-state tensor"):
        state.information_state_tensor(0)
    many = load_game("leduc_poker_v0", num_players=8)
    assert not many.get_type().provides_information_state_tensor


def test_observers():
    game = load_game("leduc_poker_v0")
    state = dealt(game, random.Random(14))
    observer = game.make_py_observer(PERFECT_RECALL)
    observer.set_from(state, 1)
    assert observer.tensor.tolist() == state.information_state_tensor(1)
    assert observer.dict["player"].tolist() == [0, 1]
    assert observer.dict["events"][:, : state.world.game.table.face_down].sum() == len(state.world.event_rows(1))
    with pytest.raises(pyspiel.SpielError, match="take no parameters"):
        game.make_py_observer(PERFECT_RECALL, {"size": 3})
    spectator = pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
    with pytest.raises(pyspiel.SpielError, match="show public information and that of one player"):
        game.make_py_observer(spectator)
