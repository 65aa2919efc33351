"""Actions of Canasta, and why one may be illegal.

    id           action                                                              phase
    0            draw from the stock                                                 draw
    1            take the pile with two natural cards of the top card's rank         draw
    2, 3         take it with a natural card and a joker, or a two                   draw
    4            take it by adding the top card to a meld                            draw
    5            do not take it when there is no stock; this ends the deal           draw
    6            done, without a discard, after the last stock card                  meld
    7            ask the partner: may I go out?                                      meld
    8, 9         yes, no                                                             answer
    10..62       discard face f (10 + f)                                             meld
    63..1041     lay k naturals, j jokers and t twos as, or on, the meld of a rank   take, meld
    1042, 1043   lay three or four black threes                                      meld

and with wild_only_melds=true only:

    1044..1087   lay j jokers and t twos as, or on, the meld of wild cards           take, meld

In a turn, melds are laid in ascending order and at most once each, so one set of melds is laid in one way only.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.canasta.state import MAX_WILDS, NUM_FACES, NUM_RANKS

(DRAW, TAKE_WITH_PAIR, TAKE_WITH_JOKER, TAKE_WITH_TWO, TAKE_BY_ADDING, END_DEAL, DONE, ASK, YES, NO,
 DISCARD_0) = range(11)  # fmt: skip
LAY_0 = DISCARD_0 + NUM_FACES

WILD_PAIRS = [(j, t) for j in range(MAX_WILDS + 1) for t in range(MAX_WILDS + 1 - j)]
NUM_WILD_PAIRS = len(WILD_PAIRS)
JOKERS_OF = np.array([j for j, _ in WILD_PAIRS], np.int64)
TWOS_OF = np.array([t for _, t in WILD_PAIRS], np.int64)
_PAIR_OF = np.full((MAX_WILDS + 1, MAX_WILDS + 1), -1, np.int64)
for _number, (_j, _t) in enumerate(WILD_PAIRS):
    _PAIR_OF[_j, _t] = _number

MOST_NATURALS = 8
LAYS_PER_RANK = (MOST_NATURALS + 1) * NUM_WILD_PAIRS - 1
LAY_BLACK_0 = LAY_0 + NUM_RANKS * LAYS_PER_RANK  # three, then four
LAY_WILD_0 = LAY_BLACK_0 + 2
MOST_JOKERS, MOST_TWOS = 4, 8
END_OF_IDS = LAY_WILD_0 + (MOST_JOKERS + 1) * (MOST_TWOS + 1) - 1

# Codes that explain_illegal returns; their texts are in view.py.
(
    WRONG_PHASE,
    NO_STOCK,
    STOCK_LEFT,
    MUST_TAKE,
    NO_PILE,
    BLOCKED,
    FROZEN,
    NOT_HELD,
    HAS_MELD,
    HAS_NO_MELD,
    LAST_CARD,
    NO_ASKING,
    MUST_DISCARD,
    NO_DISCARD,
    TOO_LOW,
    OUT_OF_ORDER,
    TOO_FEW_NATURALS,
    TOO_FEW_CARDS,
    TOO_MANY_WILDS,
    ONLY_GOING_OUT,
    CANNOT_BE_COMPLETED,
    NOT_IN_GAME,
) = range(1, 23)


@kernel(inline=True)
def lay_action(rank, naturals, jokers, twos):
    """Return the id of laying cards on the meld of a rank."""
    return LAY_0 + rank * LAYS_PER_RANK + naturals * NUM_WILD_PAIRS + _PAIR_OF[jokers, twos] - 1


@kernel(inline=True)
def lay_wild_action(jokers, twos):
    """Return the id of laying cards on the meld of wild cards."""
    return LAY_WILD_0 + jokers * (MOST_TWOS + 1) + twos - 1


@kernel
def cards_laid(action):
    """Return (meld, naturals, jokers, twos) of an action that lays cards."""
    if action >= LAY_WILD_0:
        number = action - LAY_WILD_0 + 1
        return NUM_RANKS + 1, 0, number // (MOST_TWOS + 1), number % (MOST_TWOS + 1)
    if action >= LAY_BLACK_0:
        return NUM_RANKS, 3 + action - LAY_BLACK_0, 0, 0
    rank = (action - LAY_0) // LAYS_PER_RANK
    number = (action - LAY_0) % LAYS_PER_RANK + 1
    pair = number % NUM_WILD_PAIRS
    return rank, number // NUM_WILD_PAIRS, JOKERS_OF[pair], TWOS_OF[pair]


def num_actions(options):
    """Return the number of action ids."""
    return END_OF_IDS if options.wild_only_melds else LAY_WILD_0


def max_legal(options):
    """Return a bound on the number of legal actions: all ids of one phase."""
    return num_actions(options)


def action_features(options):
    """Return the face that is discarded, or the meld, naturals, jokers and twos that are laid."""
    features = np.zeros((num_actions(options), NUM_FACES + NUM_RANKS + 1 + options.wild_only_melds + 3), np.int8)
    for face in range(NUM_FACES):
        features[DISCARD_0 + face, face] = 1
    naturals, pair = np.divmod(np.arange(1, LAYS_PER_RANK + 1), NUM_WILD_PAIRS)
    cards = np.stack([naturals, JOKERS_OF[pair], TWOS_OF[pair]], 1)
    lays = [(rank, cards) for rank in range(NUM_RANKS)] + [(NUM_RANKS, [[3, 0, 0], [4, 0, 0]])]
    if options.wild_only_melds:
        jokers, twos = np.divmod(np.arange(1, END_OF_IDS - LAY_WILD_0 + 1), MOST_TWOS + 1)
        lays.append((NUM_RANKS + 1, np.stack([np.zeros_like(jokers), jokers, twos], 1)))
    first = LAY_0
    for meld, laid in lays:
        acts = features[first : first + len(laid)]
        acts[:, NUM_FACES + meld] = 1
        acts[:, -3:] = laid
        first += len(laid)
    return features
