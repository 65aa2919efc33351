"""Copies of a vec that has threads."""

import copy
import pickle

import numpy as np
import pytest

import cardenvs
from cardenvs.core.kernel import COMPILED


def new_vec():
    vec = cardenvs.make_vec("kuhn_poker_v0", 32, seed=5, num_threads=2)
    vec.reset()
    for _ in range(5):
        vec.step(vec.sample_actions())
    assert (vec._threaded._pool is not None) == COMPILED
    return vec


def walk(vec, steps=30):
    seen = []
    for _ in range(steps):
        batch = vec.step(vec.sample_actions())
        seen.append(np.concatenate([batch.observation.ravel(), batch.reward.ravel(), batch.episode_seed.ravel()]))
    return np.array(seen)


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda vec: pickle.loads(pickle.dumps(vec))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_of_a_threaded_vec_goes_on_as_the_original_would(copied):
    vec = new_vec()
    twin = copied(vec)
    expected = walk(new_vec())
    assert (walk(twin) == expected).all()
    twin.close()
    assert (walk(vec) == expected).all()
    vec.close()
