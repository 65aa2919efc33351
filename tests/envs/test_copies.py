"""Copies of every interface go on as the original does, whatever the options; see cardenvs.testing.doors."""

import copy
import pickle

import numpy as np
import pytest

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError
from cardenvs.envs.single import SeatEnv
from cardenvs.testing import doors
from cardenvs.testing.case import Case

SMALL = ["kuhn_poker_v0", "leduc_poker_v0"]
LARGE = sorted(set(cardenvs.list_games()) - set(SMALL))


def case(name, seed=3, **options):
    game = cardenvs.get_game(name)
    return Case(game, game.make_options(**options), seed, seed)


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_copies_and_whole_buffers(name):
    for seed in range(4):
        doors.check_doors(case(name, seed))


@pytest.mark.slow
def test_copies_where_amounts_are_actions():
    doors.check_doors(case("texas_holdem_v0", betting="full", num_players=3))


@pytest.mark.parametrize("way", doors.WAYS)
def test_a_copied_batch_shows_its_own_bounds(way):
    vec = cardenvs.make_vec("texas_holdem_v0", 2, seed=1, num_threads=1, betting="full")
    vec.reset()
    twin = doors.WAYS[way](vec)
    assert not np.shares_memory(twin.batch.amount_max, vec.batch.amount_max)
    for _ in range(10):
        actions = vec.sample_actions().copy()
        assert twin.sample_actions().tolist() == actions.tolist()
        before = doors.frozen(twin.batch)
        vec.step(actions)
        assert doors.frozen(twin.batch) == before
        twin.step(actions)
        assert doors.frozen(twin.batch) == doors.frozen(vec.batch)


@pytest.mark.parametrize("outcomes", [False, True])
@pytest.mark.parametrize("way", doors.WAYS)
def test_copies_share_the_kernels(way, outcomes):
    vec = cardenvs.make_vec("gin_rummy_v0", 2, outcomes=outcomes)
    vec.reset()
    assert doors.WAYS[way](vec)._engine is vec._engine is vec.game.engine_for(vec.options)
    assert b"numba" not in pickle.dumps(vec)


def test_what_a_copy_shows_is_as_read_only_as_before():
    vec = cardenvs.make_vec("leduc_poker_v0", 2)
    vec.reset()
    for twin in (copy.copy(vec), pickle.loads(pickle.dumps(vec))):
        for array in (twin.batch.legal_actions, twin.batch.num_legal):
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True


def test_the_learner_cannot_make_an_opponent_forfeit():
    env = SeatEnv("leduc_poker_v0")
    env.reset(seed=1)
    for player in (0, 1):
        with pytest.raises(IllegalActionError, match="is a code, not an action id, so nobody may choose it"):
            env.step(FORFEIT + player)
    losing = SeatEnv("leduc_poker_v0", illegal_reward=-1.0)
    losing.reset(seed=1)
    _, reward, terminated, _, _ = losing.step(FORFEIT + 1)
    assert (reward, terminated) == (-1.0, True)
