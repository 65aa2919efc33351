"""`cardenvs.NAME_vN`, the modules of registered games that no file holds."""

import importlib
import pickle
import subprocess
import sys

import pytest

import cardenvs


def test_every_registered_game_has_a_module():
    for name in cardenvs.list_games():
        module = importlib.import_module(f"cardenvs.{name}")
        assert module is getattr(cardenvs, name)
        assert module.__all__ == ["env", "raw_env"]


def test_a_process_that_did_not_import_the_module_unpickles_its_functions():
    from cardenvs.kuhn_poker_v0 import env

    code = f"import pickle, cardenvs; print(pickle.loads({pickle.dumps(env)!r})(num_players=3))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == str(env(num_players=3)), done.stderr


def test_a_module_of_no_game_is_not_found():
    with pytest.raises(ModuleNotFoundError, match="poker_v0"):
        importlib.import_module("cardenvs.poker_v0")
