"""Whatever is given to a public door, it is taken, or refused in words with nothing changed; memory stays whole."""

import warnings

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given
from hypothesis import strategies as st

import cardenvs
from cardenvs.core.errors import CardenvsError
from cardenvs.envs.aec import Env
from cardenvs.envs.raw_aec import RawEnv
from cardenvs.envs.single import SeatEnv
from cardenvs.games.gin_rummy import min_deadwood
from cardenvs.games.rummikub import solve
from cardenvs.games.texas_holdem import hand_category, hand_rank, hand_ranks
from cardenvs.testing.doors import frozen
from fuzz import ANYTHING, VALUES, long, says_why, short

REFUSALS = (CardenvsError, ValueError)
LEDUC = cardenvs.get_game("leduc_poker_v0")


def refused(call, *allowed):
    """Call, and whether it was refused with words."""
    try:
        call()
    except (*REFUSALS, *allowed) as error:
        says_why(error)
        return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# State

STATE_DOORS = {
    "apply": lambda s, a, b: s.apply(a),
    "check_legal": lambda s, a, b: s.check_legal(a),
    "explain_illegal": lambda s, a, b: s.explain_illegal(a),
    "action_label": lambda s, a, b: s.action_label(a),
    "action_mask": lambda s, a, b: s.action_mask(0),
    "observation": lambda s, a, b: s.observation(a),
    "facts": lambda s, a, b: s.facts(a),
    "table": lambda s, a, b: s.table(a),
    "events": lambda s, a, b: s.events(a),
    "render": lambda s, a, b: s.render(a),
    "information_state_key": lambda s, a, b: s.information_state_key(a),
    "determinize": lambda s, a, b: s.determinize(a, b),
    "policy_action": lambda s, a, b: s.policy_action(a, b),
    "random policy": lambda s, a, b: s.policy_action("random", a),
    "simulate seed": lambda s, a, b: s.simulate([1], a, 1),
    "simulate first round": lambda s, a, b: s.simulate([1], 0, 1, first_round=a),
    "simulate plies": lambda s, a, b: s.simulate([1], 0, 1, max_plies=a),
    "simulate policy": lambda s, a, b: s.simulate([1], 0, 1, policy=a),
    "simulate actions": lambda s, a, b: s.simulate([a, b], 0, 1),
    "simulate plays": lambda s, a, b: s.simulate([(1, a), (b,)], 0, 1),
    "new_state seed": lambda s, a, b: LEDUC.new_state(seed=a),
    "new_state deck": lambda s, a, b: LEDUC.new_state(seed=1, deck=[a, b]),
    "new_state option": lambda s, a, b: LEDUC.new_state(seed=1, ante=a, raise_size=b),
}


def try_state(name, a, b):
    state = LEDUC.new_state(seed=3)
    before = state.to_bytes()
    if refused(lambda: STATE_DOORS[name](state, a, b)) or name != "apply":
        assert state.to_bytes() == before


@pytest.mark.parametrize("name", STATE_DOORS)
def test_state(name):
    given(VALUES, VALUES)(short(40)(lambda a, b: try_state(name, a, b)))()


@pytest.mark.slow
@pytest.mark.parametrize("name", STATE_DOORS)
def test_state_long(name):
    given(VALUES, VALUES)(long(40)(lambda a, b: try_state(name, a, b)))()


# ---------------------------------------------------------------------------------------------------------------
# Batches


def batch_doors(vec):
    rows = np.arange(3)
    return {
        "step": lambda a: vec.step(a),
        "reset": lambda a: vec.reset(a),
        "observe": lambda a: vec.observe(a),
        "observe out": lambda a: vec.observe(0, a) if a is not None else None,
        "state": lambda a: vec.state(a),
        "policy name": lambda a: vec.policy_actions(a, rows, 0, 0),
        "policy rows": lambda a: vec.policy_actions("random", a, 0, 0),
        "policy seed": lambda a: vec.policy_actions("random", rows, a, 0),
        "policy step": lambda a: vec.policy_actions("random", rows, 0, a),
        "num_legal": lambda a: setattr(vec.batch, "num_legal", a),
        "legal_actions": lambda a: setattr(vec.batch, "legal_actions", a),
        "observation": lambda a: setattr(vec.batch, "observation", a),
        "set_state": lambda a: vec.set_state(a),
    }


@pytest.fixture(params=["leduc_poker_v0"])
def vec(request):
    vec = cardenvs.make_vec(request.param, 3, seed=1, num_threads=1, resumable=True)
    vec.reset()
    return vec


def try_batch(vec, name, value):
    before = [vec._states.tobytes(), vec._legal.tobytes()]
    if refused(lambda: batch_doors(vec)[name](value)):
        assert [vec._states.tobytes(), vec._legal.tobytes()] == before
    vec.step(vec.sample_actions())


@pytest.mark.parametrize("name", batch_doors(None))
def test_batch(name, vec):
    given(ANYTHING)(short()(lambda value: try_batch(vec, name, value)))()


@pytest.mark.slow
@pytest.mark.parametrize("name", batch_doors(None))
def test_batch_long(name, vec):
    given(ANYTHING)(long()(lambda value: try_batch(vec, name, value)))()


@pytest.mark.parametrize("method", ["step", "sample_actions", "observe", "state", "policy_actions", "get_state"])
def test_nothing_reads_a_batch_before_reset(method):
    vec = cardenvs.make_vec("leduc_poker_v0", 3, resumable=True)
    arguments = {"step": (np.ones(3, int),), "observe": (0,), "state": (0,), "policy_actions": ("random", [0], 0, 0)}
    with pytest.raises(ValueError, match=r"call reset\(\) before"):
        getattr(vec, method)(*arguments.get(method, ()))


def test_rows_of_a_policy_beyond_the_batch_are_refused():
    vec = cardenvs.make_vec("leduc_poker_v0", 3)
    vec.reset()
    for rows in ([5000], [-1], [3], [0.0], [float("nan")], [True], [2**63], ["0"], [[0]], 0, None):
        with pytest.raises(ValueError, match="rows takes integers from 0 to 2"):
            vec.policy_actions("random", rows, 0, 0)
    assert len(vec.policy_actions("random", [], 0, 0)) == 0
    assert len(vec.policy_actions("random", np.array([2, 0], ">i2")[::-1], 0, 0)) == 2


# ---------------------------------------------------------------------------------------------------------------
# Environments of agents


def try_environment(make, step, shown, value):
    env = make()
    before = frozen(shown(env))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if refused(lambda: step(env, value), AssertionError, ResetNeeded):
            assert frozen(shown(env)) == before


def fresh(kind):
    env = kind(LEDUC)
    env.reset(seed=1)
    return env


ENVIRONMENTS = {
    "RawEnv": (lambda: fresh(RawEnv), lambda env, a: env.step(a), lambda env: env.infos),
    "Env": (lambda: fresh(Env), lambda env, a: env.step(a), lambda env: env.infos),
    "Env.reset": (lambda: fresh(Env), lambda env, a: env.reset(a), lambda env: env.infos),
    "Env.set_state": (lambda: fresh(Env), lambda env, a: env.set_state(a), lambda env: env.infos),
    "SeatEnv": (lambda: fresh(SeatEnv), lambda env, a: env.step(a), lambda env: env._info()),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment(name):
    given(VALUES)(short(40)(lambda value: try_environment(*ENVIRONMENTS[name], value)))()


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment_long(name):
    given(ANYTHING)(long(40)(lambda value: try_environment(*ENVIRONMENTS[name], value)))()


@pytest.fixture(scope="module")
def seat_vec():
    sb3 = pytest.importorskip("cardenvs.envs.sb3")
    env = sb3.SeatVecEnv(LEDUC, 3, "rotate")
    env.reset()
    return env


def try_seat_vec(env, value):
    before = env.vec._states.tobytes()
    if refused(lambda: env.step(value)):
        assert env.vec._states.tobytes() == before


def test_seat_vec(seat_vec):
    given(ANYTHING)(short()(lambda value: try_seat_vec(seat_vec, value)))()


def test_seat_vec_opponents(seat_vec):
    @short()
    @given(ANYTHING)
    def run(value):
        from cardenvs.envs.sb3 import SeatVecEnv

        env = SeatVecEnv(LEDUC, 3, "rotate", lambda observation, mask, legal, num_legal: value)
        refused(env.reset)

    run()


# ---------------------------------------------------------------------------------------------------------------
# Functions of games

LISTS = st.lists(VALUES, max_size=8) | st.text("JRBKOAQ123h( )", max_size=12) | ANYTHING
FUNCTIONS = {
    "hand_rank": hand_rank,
    "hand_category": hand_category,
    "min_deadwood": min_deadwood,
    "hand_ranks": hand_ranks,
}


def try_function(name, value):
    refused(lambda: FUNCTIONS[name](value), TypeError)  # a number is no list of cards


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    given(LISTS)(short(100)(lambda value: try_function(name, value)))()


def test_hand_ranks_checks_every_card_and_takes_every_layout():
    hands = np.array([[0, 14, 28, 41, 51], [1, 2, 3, 4, 5]])
    wanted = [hand_rank(hand.tolist()) for hand in hands]
    for dtype in ("i1", ">i2", "u4", "<i8", "u8"):
        for form in (hands, np.asfortranarray(hands), np.repeat(hands, 2, axis=1)[:, ::2]):
            assert hand_ranks(form.astype(dtype)).tolist() == wanted
    for wrong, message in [
        ([[0, 1, 2, 3, 52]], "from 0 to 51"),
        ([[0, 1, 2, 3, -1]], "from 0 to 51"),
        ([[0, 1, 2, 3, 5000]], "from 0 to 51"),
        ([[0, 0, 0, 0, 0, 0, 0]], "a card appears twice in hand 0"),
        ([[0, 1, 2, 3]], "from 5 to 7 cards"),
        ([0, 1, 2, 3, 4], "shape"),
        ([[0.0, 1, 2, 3, 4]], "dtype float64"),
    ]:
        with pytest.raises(cardenvs.core.errors.DeckError, match=message):
            hand_ranks(np.array(wrong))


def try_solve(name, value):
    refused(lambda: solve(**{"rack": "R1 R2 R3", name: value}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rack", "table", "objective", "joker_rule", "opened", "initial_meld_min"])
def test_solve_long(name):
    given(LISTS)(short(300)(lambda value: try_solve(name, value)))()


@pytest.mark.parametrize(
    "arguments",
    [
        {"rack": [1.5]},
        {"rack": [True]},
        {"rack": [float("nan")]},
        {"rack": [5000]},
        {"rack": 3},
        {"rack": [None]},
        {"rack": "", "table": [3]},
        {"rack": "", "objective": []},
        {"rack": "", "joker_rule": np.array(["free", "x"])},
        {"rack": "", "opened": np.array([1, 0])},
        {"rack": "", "initial_meld_min": 30.5},
    ],
    ids=repr,
)
def test_solve_refuses(arguments):
    with pytest.raises(REFUSALS):
        solve(**arguments)
