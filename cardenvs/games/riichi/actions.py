"""Action ids of riichi, and the codes of refusals. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.riichi.tiles import NUM_FACES, NUM_KINDS, kind_of

DISCARD = 0  # + face
RIICHI = DISCARD + NUM_FACES  # + face: riichi with this discard
CLOSED_KAN = RIICHI + NUM_FACES  # + kind
ADDED_KAN = CLOSED_KAN + NUM_KINDS  # + kind
CHI = ADDED_KAN + NUM_KINDS  # + 0..2: the called tile is the lowest, the middle, the highest of the run
CHI_RED = CHI + 3  # the same with a red five from the hand
PON = CHI_RED + 3
PON_RED = PON + 1
OPEN_KAN = PON_RED + 1
RON = OPEN_KAN + 1
TSUMO = RON + 1
NINE = TSUMO + 1  # nine different terminals and honours
PASS = NINE + 1
NUM_ACTIONS = PASS + 1

# What explain_illegal returns.
(NOT_NOW, NOT_HELD, ONLY_DRAWN, SWAPS_CALL, OPEN_HAND, NOT_TENPAI, IN_RIICHI, TOO_POOR, TOO_LATE, TOO_MANY_KANS,
 CHANGES_WAITS, NO_PON, LAST_TILE, NOT_NEXT, NO_RUN, NO_WIN, NO_YAKU, IS_FURITEN, NOT_NINE, NOT_FIRST,
 NOTHING_LEFT, ENDS_ROUND, NO_SUCH_DRAW) = range(1, 24)  # fmt: skip


@kernel(inline=True)
def is_call(action):
    """Return whether an answer takes a discard as chi, pon or kan."""
    return CHI <= action <= OPEN_KAN


def action_features(options):
    """Return what each id does, the kind of its tile and of its place in a run, and whether a red five is named.

    Returns:
        int8 (155, 11 + 34 + 3 + 1).
    """
    starts = (DISCARD, RIICHI, CLOSED_KAN, ADDED_KAN, CHI, PON, OPEN_KAN, RON, TSUMO, NINE, PASS)
    features = np.zeros((NUM_ACTIONS, len(starts) + NUM_KINDS + 3 + 1), np.int8)
    for action, row in enumerate(features):
        op = max(k for k, start in enumerate(starts) if start <= action)
        row[op] = 1
        if action < CHI:
            face = action - starts[op]
            row[len(starts) + int(kind_of(face))] = 1
            row[-1] = face >= NUM_KINDS
        elif action < PON:
            row[len(starts) + NUM_KINDS + (action - CHI) % 3] = 1
            row[-1] = action >= CHI_RED
        else:
            row[-1] = action == PON_RED
    return features
