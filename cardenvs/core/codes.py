"""Special values used by rules, engine and interfaces."""

import numpy as np

TERMINAL_PLAYER = -4  # current_player of a terminal state, as in OpenSpiel
HOLD = -1  # in a batch, the action that leaves an environment unchanged
NO_ACTION = -1  # padding in the legal lists of a batch

FORFEIT = 1 << 30
"""The code FORFEIT + p removes player p, who is to act, from the game. Codes are applied like actions, but never appear
in a mask."""

NO_DECK = np.zeros(0, np.int16)  # no explicit deck: all cards come from the seed

MASK_DTYPE = np.dtype(np.int8)  # dtype of action masks that PettingZoo and Gymnasium expect
