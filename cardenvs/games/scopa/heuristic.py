"""A rule agent for Scopa: take what is worth most, sevens and diamonds first, and leave no scopa behind."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.scopa.captures import VALUES, capture, same_rank, takes_all
from cardenvs.games.scopa.scoring import PRIMIERA_VALUES, SETTEBELLO, diamonds
from cardenvs.games.scopa.state import SLOTS, SUIT_SIZE
from cardenvs.kits.cards import chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import hidden_in_hands_and_deck
from cardenvs.kits.fishing.captures import total_of

# Rough values in points of the hand.
_CARD, _DIAMOND, _SEVEN_OF_DIAMONDS, _SCOPA = 0.05, 0.18, 1.0, 1.0
_PRIMIERA = 0.02  # for each step above the value of a king
_LEFT_BEHIND = 0.35  # part of a card's worth that is lost when it lies on the table
_HIGHEST_SUM = 10


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
        left = s.table ^ taken if taken else s.table | np.int64(1) << card
        value = gain - _LEFT_BEHIND * worth(left) - _SCOPA * scopa_danger(s, left, hidden)
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def worth(cards):
    """Return what cards are worth to the side that has them, in points."""
    value = _CARD * count_bits(cards) + _DIAMOND * count_bits(diamonds(cards))
    if cards & SETTEBELLO:
        value += _SEVEN_OF_DIAMONDS
    while cards:
        value += _PRIMIERA * (PRIMIERA_VALUES[lowest_card(cards) % SUIT_SIZE] - 10)
        cards &= cards - 1
    return value


@kernel
def scopa_danger(s, left, hidden):
    """Return the chance that the next player takes all cards `left` on the table."""
    total = total_of(left, VALUES)
    if total == 0 or total > _HIGHEST_SUM:
        return 0.0
    following = wrap(s.current_player + 1, s.rules.num_players)
    wanted = count_bits(hidden & same_rank(total - 1))
    return 1 - chance_of_none(wanted, count_bits(s.hands[following]), count_bits(hidden))
