"""What all tests share: one compile cache, and the registered games."""

import os
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
