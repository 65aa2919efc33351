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
def heads():
    """A function that makes a head of each kind, with and without random features of the actions."""
    network = pytest.importorskip("cardenvs.agents.network", exc_type=ImportError)

    def make(size_in, num_actions):
        plain = [kind(size_in, num_actions, 3, 0) for kind in (network.EmbeddingHead, network.LayerHead)]
        described = [kind(size_in, num_actions, 3, 7) for kind in network.HEADS.values()]
        for head in described:
            head.embedding.describe(np.random.default_rng(0).integers(-3, 4, (num_actions, 7)))
        return [network.LinearHead(size_in, num_actions), *plain, *described]

    return make
