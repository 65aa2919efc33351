"""A rule agent for Casino: capture points and many cards, build what opponents are unlikely to take, allow no sweep."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.casino import state
from cardenvs.games.casino.outcomes import chance_held, find_effect, new_effect, sweep_danger
from cardenvs.games.casino.plays import cards_that_count, list_card_builds, list_card_captures, new_builds
from cardenvs.games.casino.rules import worth
from cardenvs.games.casino.state import COMPOSE_BUILD, COMPOSE_CAPTURE, NUMBERS, SLOTS, TOP_VALUE, TRAIL
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import hidden_in_hands_and_deck
from cardenvs.kits.fishing.captures import new_captures, total_of
from cardenvs.kits.fishing.state import SPADES

# Rough values in points. A card or a spade is worth its part of a majority.
_CARD, _SPADE, _SWEEP = 0.115, 0.08, 0.8
_LEFT_BEHIND = 0.25  # part of a card's worth that is lost when it lies on the table
_PATIENCE = 0.9  # what a build that nobody takes is worth, compared with a capture now


@kernel
def heuristic(s, legal, n, rng):
    """Return the action with the best of gain, cards left behind, and danger of a sweep; the first of equal ones."""
    if s.composing != state.PLAY:
        return np.int64(legal[n - 1]) if s.composing == state.TAKE else np.int64(legal[0])
    best, best_value, listed_of = np.int64(legal[0]), -1e9, np.int64(-1)
    captures, builds, effect = new_captures(), new_builds(), new_effect()
    hidden = hidden_in_hands_and_deck(s, np.int64(s.current_player))
    for k in range(n):
        action = np.int64(legal[k])
        card, slot = action // SLOTS, action % SLOTS
        if slot in (COMPOSE_CAPTURE, COMPOSE_BUILD):
            continue  # what is listed is good enough
        if card != listed_of:
            list_card_captures(s, card, captures)
            list_card_builds(s, card, builds)
            listed_of = card
        find_effect(s, card, slot, captures, builds, effect)
        value = _value_of_play(s, effect, slot == TRAIL, hidden)
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def _value_of_play(s, effect, is_laid, hidden):
    """Return the points that a play may gain, less what it leaves to others."""
    gain = 0.0
    if effect.got:
        gain = value_of_cards(s, effect.got)
        if effect.left == 0 and not effect.builds_left and s.rules.sweeps:
            gain += _SWEEP
    if effect.built:
        lost = chance_held(s, cards_that_count(effect.value), hidden)
        gain = (_PATIENCE * (1 - lost) - lost) * (value_of_cards(s, effect.built) + _CARD)
    # Builds count as protection from a sweep only after a capture or a build
    return gain - _left_behind(s, effect.left, effect.builds_left and not is_laid, hidden)


@kernel
def value_of_cards(s, cards):
    """Return what captured cards are worth, in points."""
    spades = 0.0 if s.rules.spade_casino else _SPADE
    return worth(s, cards) + _CARD * count_bits(cards) + spades * count_bits(cards & SPADES)


@kernel
def _left_behind(s, left, builds_left, hidden):
    """Return what the loose cards left on the table, and a sweep of them, may be worth to the opponents."""
    danger = 0.0
    if not builds_left and s.rules.sweeps and total_of(left, NUMBERS) <= TOP_VALUE:
        danger = _SWEEP * sweep_danger(s, left, hidden)
    return danger + _LEFT_BEHIND * value_of_cards(s, left)
