"""Numbers with a meaning of their own that rules, engine and interfaces share."""

import numpy as np

TERMINAL_PLAYER = -4  # current_player of a terminal state, as in OpenSpiel
HOLD = -1  # the batch action that leaves an environment as it is
NO_ACTION = -1  # pads the lists of legal actions of a batch

FORFEIT = 1 << 30
"""The code FORFEIT + p takes player p, who is to act, out of the game. Codes are applied like actions, but no mask
offers them."""

NO_DECK = np.zeros(0, np.int16)  # no explicit deck: all cards come from the seed

MASK_DTYPE = np.dtype(np.int8)  # of every action mask, as PettingZoo and Gymnasium expect
