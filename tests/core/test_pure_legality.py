"""Listing and explaining legal actions reads a state and writes nothing."""

import os
import subprocess
import sys

PLAY = """
import random
import numpy as np
from cardenvs import get_game, list_games

for name in list_games():
    game = get_game(name)
    state, rng = game.new_state(seed=2), random.Random(2)
    legal = np.zeros(game.max_legal(state.options), np.int32)
    for _ in range(12 if name == "rummikub_v0" else 60):
        if state.is_terminal:
            break
        assert not state.record.flags.writeable
        number = game.legal_actions(state.record, legal)
        assert legal[:number].tolist() == state.legal_actions()
        if game.explain_illegal:
            for action in range(0, game.num_actions(state.options), 41):
                game.explain_illegal(state.record, action)
        state.apply(rng.choice(state.legal_actions()))
"""


def test_the_legality_of_every_game_works_on_a_record_that_nobody_may_write():
    plain = os.environ | {"CARDENVS_COMPILE": "0"}  # Numba writes to arrays that are read-only for Python
    done = subprocess.run([sys.executable, "-c", PLAY], env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
