"""A rule agent for Kasino: capture points, spades and many cards, and leave no sweep behind."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.kasino.legal import capture
from cardenvs.games.kasino.outcomes import sweep_danger, sweeps_score
from cardenvs.games.kasino.rules import worth
from cardenvs.games.kasino.state import COMPOSE, DONE, HAND_VALUES, SLOTS, TAKE_0, TRAIL
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import NO_CARD, hidden_in_hands_and_deck
from cardenvs.kits.fishing.state import SPADES

# Rough values in points. A card or a spade is worth its part of a majority.
_CARD, _SPADE, _SWEEP = 0.06, 0.25, 0.8
_LEFT_BEHIND = 0.3  # part of a card's worth that is lost when it lies on the table
_HIGH_CARD = 0.04  # for each point of its hand value, what a card that captures much is worth in hand


@kernel
def heuristic(s, legal, n, rng):
    """Return the action with the best of gain, cards left behind, and danger of a sweep; the first of equal ones."""
    if s.playing != NO_CARD:
        return _take_on(legal, n)
    sign = -1.0 if s.rules.misere else 1.0
    best, best_value = np.int64(legal[0]), -1e9
    hidden = hidden_in_hands_and_deck(s, np.int64(s.current_player))
    for k in range(n):
        action = np.int64(legal[k])
        card, slot = action // SLOTS, action % SLOTS
        if slot == COMPOSE:
            continue  # the captures listed are good enough
        gain, left = 0.0, s.table
        if slot == TRAIL:
            left |= np.int64(1) << card
            gain -= _HIGH_CARD * HAND_VALUES[card]
        else:
            taken = capture(s, card, slot)
            left ^= taken
            gain += value_of_cards(taken | np.int64(1) << card)
            if left == 0:
                gain += _sweep_value(s)
        gain -= _LEFT_BEHIND * value_of_cards(left) + _sweep_value(s) * sweep_danger(s, left, hidden)
        if sign * gain > best_value:
            best, best_value = action, sign * gain
    return best


@kernel
def _take_on(legal, n):
    """Go on taking cards that somebody has begun to take: the first that can be taken, or done."""
    return np.int64(legal[n - 1]) if legal[n - 1] == DONE else np.int64(max(legal[0], TAKE_0))


@kernel
def value_of_cards(cards):
    """Return what captured cards are worth, in points."""
    return worth(cards) + _CARD * count_bits(cards) + _SPADE * count_bits(cards & SPADES)


@kernel
def _sweep_value(s):
    """Return what a sweep is worth to the player to act now."""
    return _SWEEP if sweeps_score(s) else 0.0
