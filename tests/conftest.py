"""What all tests share: one compile cache, and the registered games."""

import os
import random
import signal

import pytest

import cardenvs
from cardenvs.core.cache import cache_folder

# Named here so that processes that tests start with another home find it too.
os.environ.setdefault("CARDENVS_CACHE_DIR", str(cache_folder()))


# A job in the background ignores Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=cardenvs.list_games())
def every_game(request):
    """Each registered game in turn."""
    return cardenvs.get_game(request.param)


class _Drawn:
    """In place of `secrets`: what a test draws is the same in every run, so that it cannot fail in one of a hundred."""

    def __init__(self, test: str) -> None:
        self._generator = random.Random(test)

    def randbits(self, bits: int) -> int:
        return self._generator.getrandbits(bits)

    def token_hex(self, length: int) -> str:
        return f"{self._generator.getrandbits(8 * length):0{2 * length}x}"


@pytest.fixture(autouse=True)
def secrets_that_repeat(request, monkeypatch):
    """Secrets of matches and keys of guests are drawn from the test's name."""
    monkeypatch.setattr("cardenvs.agents.seeds.secrets", _Drawn(request.node.nodeid))
