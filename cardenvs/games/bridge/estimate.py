"""Results of a deal that is not played: double-dummy tricks if they are known, else an estimate (rules.md 7)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.cards import NUM_SUITS, SUIT_OF_DENOMINATION, length
from cardenvs.games.bridge.evaluation import high_card_points
from cardenvs.games.bridge.state import NO_TRUMP, NUM_PLAYERS, NUM_TRICKS

# Least squares on 320 deals, in hundredths of a trick. On the deals of the bank, which are others, the mean error is
# 1.0 tricks at no-trump and 0.8 in a suit: `python -m pytest tests/games/test_bridge_results.py -k estimate`.
_NT_BASE, _NT_POINT = -375, 49
_SUIT_BASE, _SUIT_POINT, _TRUMP, _SHORT = -834, 37, 104, 18


@kernel
def tricks_of(s, denomination, declarer):
    """Return how many tricks declarer's side takes: those stored for the deal, or else an estimate."""
    stored = s.tricks[NUM_PLAYERS * denomination + declarer]
    return np.int64(stored) if stored >= 0 else estimated_tricks(s, denomination, declarer)


@kernel
def estimated_tricks(s, denomination, declarer):
    """Estimate double-dummy tricks from high cards, trumps, and short suits of declarer and dummy (7.4)."""
    one, two = s.hands[declarer], s.hands[(declarer + 2) & 3]
    points = high_card_points(one | two)
    if denomination == NO_TRUMP:
        hundredths = _NT_BASE + _NT_POINT * points
    else:
        trump = np.int64(SUIT_OF_DENOMINATION[denomination])
        hundredths = _SUIT_BASE + _SUIT_POINT * points + _TRUMP * length(one | two, trump)
        for suit in range(NUM_SUITS):
            if suit != trump:
                hundredths += _SHORT * max(3 - min(length(one, suit), length(two, suit)), 0)
    return min(max((hundredths + 50) // 100, 0), NUM_TRICKS)
