"""What tests of training share."""

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
