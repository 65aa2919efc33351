"""Actions of Rummikub: the steps of a turn, and why one may be illegal.

id            action
0             draw; with steps="loose" also while a play is being built: give it up and draw
1             pass; likewise
2             commit the play
3..37         take set k apart (3 + k)
38..1868      lay meld m of the catalogue (38 + m)
"""

import numpy as np

from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, NUM_NATURALS

DRAW, PASS, COMMIT, TAKE_0 = range(4)
LAY_0 = TAKE_0 + MAX_MELDS
NUM_ACTIONS = LAY_0 + catalogue.NUM_MELDS

# Codes that explain_illegal returns; their texts are in view.py.
(
    POOL_EMPTY,
    POOL_NOT_EMPTY,
    IS_BUILDING,
    COULD_PLAY,
    NO_RACK_TILE,
    LOOSE_TILES,
    OPENING_TOO_LOW,
    JOKER_NOT_REPLACED,
    NO_SUCH_SET,
    NOT_OPEN,
    TAKE_APART_FIRST,
    OUT_OF_ORDER,
    TWIN_FIRST,
    TILES_MISSING,
    WAS_TAKEN_APART,
    JOKER_IN_OPENING,
    NOT_IN_GAME,
    CANNOT_BE_COMPLETED,
) = range(1, 19)


def action_features(options):
    """Return what a meld consists of: of each tile how many, jokers apart, what they count as, size, points, kind."""
    del options
    features = np.zeros((NUM_ACTIONS, JOKER + 1 + NUM_NATURALS + 3), np.int8)
    melds = features[LAY_0:]
    for slot in range(catalogue.LONGEST):
        (used,) = np.nonzero(catalogue.MELD_FACES[:, slot] != catalogue.NO_TILE)
        melds[used, catalogue.MELD_FACES[used, slot]] += 1
        melds[used, JOKER + 1 + catalogue.MELD_TYPES[used, slot]] += 1
    melds[:, -3:] = np.stack([catalogue.MELD_SIZE, catalogue.MELD_POINTS, catalogue.MELD_IS_GROUP], axis=1)
    return features
