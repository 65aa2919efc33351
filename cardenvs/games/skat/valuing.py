"""How likely a soloist wins a game with some cards: what the rule agent bids, names and lays away by.

A logistic model of what a hand has for a game. Its weights were fitted to deals that the rule agent played.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.skat.cards import JACK, JACKS, points_in
from cardenvs.games.skat.state import GRAND, NULL, PACK
from cardenvs.kits.cards import count_bits

NUM_FEATURES = 12
_NUM_SUITS, _NUM_RANKS = len(PACK.suits), len(PACK.ranks)
_KING, _TEN, _ACE = (PACK.ranks.index(rank) for rank in "KTA")
_SUITS, _PLAIN_SUITS = PACK.suit_sets, PACK.suit_sets & ~JACKS
_NULL_RANKS = np.array([PACK.ranks.index(rank) for rank in "789TJQKA"])  # from the lowest in null

FEATURES = packed([("of", "f8", (NUM_FEATURES,))])
new_features = stack_record(FEATURES)

# By kind of game (suit, grand, null) and feature: of ten cards before the skat is taken, and as they are played.
BEFORE, PLAYED = 0, 1
WEIGHTS = np.array(
    [
        [[-8.69, 1.35, 1.51, 1.73, 1.83, 1.01, 0.64, 1.51, 0.57, 0.08, 0.55, 0.00],
         [-3.63, 0.86, 0.77, 1.06, 1.59, 0.00, 0.00, 1.15, 0.28, -0.22, 0.60, 0.00],
         [2.28, -0.24, -0.03, 0.14, -0.46, 0.04, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00]],
        [[-10.97, 1.60, 1.87, 2.12, 2.25, 1.11, 0.92, 1.77, 0.35, -0.29, 0.79, 1.07],
         [-8.86, 1.33, 1.39, 1.65, 2.30, 0.00, 0.00, 1.78, 0.87, -0.01, 0.80, 0.79],
         [2.01, -0.56, 0.21, 0.25, -0.15, -0.17, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00]],
    ]
)  # fmt: skip


@kernel
def chance_to_win(game, cards, laid, when):
    """Return the chance that a soloist wins a game.

    Args:
        game: which is to be played.
        cards: bit set of the hand.
        laid: bit set of the cards laid away, if there are such.
        when: BEFORE the skat is taken, or as it is PLAYED.
    """
    f = new_features()
    fill_features(game, cards, laid, f)
    total, kind = 0.0, max(game - GRAND + 1, 0)
    for k in range(NUM_FEATURES):
        total += WEIGHTS[when, kind, k] * f.of[k]
    return 1 / (1 + np.exp(-total))


@kernel
def fill_features(game, cards, laid, f):
    """Write what a hand has for a game to `f`, a FEATURES."""
    for k in range(NUM_FEATURES):
        f.of[k] = 0.0
    f.of[0] = 1.0
    if game == NULL:
        _add_null(cards, f)
        return
    for suit in range(_NUM_SUITS):
        f.of[1 + suit] = _has(cards, suit, JACK)
        number = count_bits(cards & _PLAIN_SUITS[suit])
        if suit == game:
            f.of[5] = number
            f.of[6] = _has(cards, suit, _ACE) + _has(cards, suit, _TEN)
        else:
            _add_side_suit(cards, suit, number, f)
    f.of[11] = points_in(laid) / 10.0


@kernel(inline=True)
def _has(cards, suit, rank):
    return cards >> suit * _NUM_RANKS + rank & 1


@kernel(inline=True)
def _add_side_suit(cards, suit, number, f):
    """Add a side suit: its ace, the ten behind it, another ten, and how many cards are likely to lose."""
    ace, ten = _has(cards, suit, _ACE), _has(cards, suit, _TEN)
    king = _has(cards, suit, _KING)
    f.of[7] += ace
    f.of[8] += ace & ten
    f.of[9] += number - ace - (ace & ten) - (ace & ten & king)
    f.of[10] += ten & (1 - ace)


@kernel(inline=True)
def _add_null(cards, f):
    """Add the holes of each suit: how far its cards lie above 7, 9, J and K, on which lower ones lie below."""
    for suit in range(_NUM_SUITS):
        number, holes = 0, 0
        for height in range(_NUM_RANKS):
            if _has(cards, suit, _NULL_RANKS[height]):
                holes += max(height - 2 * number, 0)
                number += 1
        f.of[1] += holes
        f.of[2] += holes > 0
        f.of[3] += holes > 3
        f.of[4] += number == 0
        f.of[5] += number == 1 and holes > 0
