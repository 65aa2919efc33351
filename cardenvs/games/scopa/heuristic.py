"""A rule agent for Scopa: take what is worth most, sevens and diamonds first, and leave no scopa behind."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.scopa.captures import capture, takes_all
from cardenvs.games.scopa.outcomes import left_on_table, primiera_steps, scopa_danger
from cardenvs.games.scopa.scoring import SETTEBELLO, diamonds
from cardenvs.games.scopa.state import SLOTS
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import hidden_in_hands_and_deck

# Rough values in points of the hand.
_CARD, _DIAMOND, _SEVEN_OF_DIAMONDS, _SCOPA = 0.05, 0.18, 1.0, 1.0
_PRIMIERA = 0.02  # for each step above the value of a king
_LEFT_BEHIND = 0.35  # part of a card's worth that is lost when it lies on the table


@kernel
def heuristic(s, legal, n, rng):
    """Return the action with the best of gain, cards left behind, and danger of a scopa; the first of equal ones."""
    best, best_value = np.int64(legal[0]), -1e9
    hidden = hidden_in_hands_and_deck(s, np.int64(s.current_player))
    for k in range(n):
        action = np.int64(legal[k])
        card = action // SLOTS
        taken, gain = capture(s, card, action % SLOTS), 0.0
        if taken:
            gain = worth(taken | np.int64(1) << card)
            if taken == s.table and not takes_all(s, card):
                gain += _SCOPA
        left = left_on_table(s, card, taken)
        value = gain - _LEFT_BEHIND * worth(left) - _SCOPA * scopa_danger(s, left, hidden)
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def worth(cards):
    """Return what cards are worth to the side that has them, in points."""
    value = _CARD * count_bits(cards) + _DIAMOND * count_bits(diamonds(cards)) + _PRIMIERA * primiera_steps(cards)
    return value + _SEVEN_OF_DIAMONDS if cards & SETTEBELLO else value
