"""What tests of training share."""

import numpy as np
import pytest


@pytest.fixture
def one_thread():
    """Torch on one thread, so that results repeat."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def alone(one_thread, tmp_path, monkeypatch):
    """A folder of its own to work in, and torch on one thread."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def described():
    """A function that makes embeddings of actions with random features."""
    network = pytest.importorskip("cardenvs.agents.network", exc_type=ImportError)

    def make(num_actions, size):
        embeddings = network.Embeddings(num_actions, size, 7)
        embeddings.describe(np.random.default_rng(0).integers(-3, 4, (num_actions, 7)))
        return embeddings

    return make
