"""A rule agent for Casino: capture points and many cards, build what opponents are unlikely to take, allow no sweep."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.casino import state
from cardenvs.games.casino.legal import build, capture
from cardenvs.games.casino.plays import (
    cards_that_count,
    place_of,
    value_of,
)
from cardenvs.games.casino.rules import worth
from cardenvs.games.casino.state import (
    BUILD_0,
    COMPOSE_BUILD,
    COMPOSE_CAPTURE,
    MAX_BUILDS,
    NEW,
    NUMBERS,
    SLOTS,
    TABLE_ONLY,
    TRAIL,
)
from cardenvs.kits.cards import chance_of_none, count_bits
from cardenvs.kits.deck import hidden_in_hands_and_deck
from cardenvs.kits.fishing.captures import total_of
from cardenvs.kits.fishing.rules import side_of
from cardenvs.kits.fishing.state import ALL_CARDS, SPADES

# Rough values in points. A card or a spade is worth its part of a majority.
_CARD, _SPADE, _SWEEP = 0.115, 0.08, 0.8
_LEFT_BEHIND = 0.25  # part of a card's worth that is lost when it lies on the table
_PATIENCE = 0.9  # what a build that nobody takes is worth, compared with a capture now


@kernel
def heuristic(s, legal, n, rng):
    """Return the action with the best of gain, cards left behind, and danger of a sweep; the first of equal ones."""
    if s.composing != state.PLAY:
        return np.int64(legal[n - 1]) if s.composing == state.TAKE else np.int64(legal[0])
    best, best_value = np.int64(legal[0]), -1e9
    hidden = hidden_in_hands_and_deck(s, np.int64(s.current_player))
    for k in range(n):
        action = np.int64(legal[k])
        slot = action % SLOTS
        if slot in (COMPOSE_CAPTURE, COMPOSE_BUILD):
            continue  # what is listed is good enough
        value = _value_of_play(s, action // SLOTS, slot, hidden)
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def _value_of_play(s, card, slot, hidden):
    """Return the points that a play may gain, less what it leaves to others."""
    bit = np.int64(1) << card
    if slot == TRAIL:
        return -_left_behind(s, s.table | bit, False, hidden)
    if slot < COMPOSE_CAPTURE:
        items = capture(s, card, slot)
        cards, builds_left = items & ALL_CARDS | bit, False
        for k in range(MAX_BUILDS):
            if items >> BUILD_0 + k & 1:
                cards |= s.builds[k]
            elif s.builds[k]:
                builds_left = True
        left = s.table & ~items
        gain = value_of_cards(s, cards)
        if left == 0 and not builds_left and s.rules.sweeps:
            gain += _SWEEP
        return gain - _left_behind(s, left, builds_left, hidden)
    target, cards = build(s, card, slot)
    left, pile = s.table & ~cards, cards | bit
    if target >= TABLE_ONLY:
        left, pile = left | bit, cards
    if place_of(target) != NEW:
        pile |= s.builds[place_of(target)]
    value = value_of(target)
    lost = _chance_held(s, cards_that_count(value), hidden)
    gain = _PATIENCE * (1 - lost) - lost
    return gain * (value_of_cards(s, pile) + _CARD) - _left_behind(s, left, True, hidden)


@kernel
def value_of_cards(s, cards):
    """Return what captured cards are worth, in points."""
    spades = 0.0 if s.rules.spade_casino else _SPADE
    return worth(s, cards) + _CARD * count_bits(cards) + spades * count_bits(cards & SPADES)


@kernel
def _left_behind(s, left, builds_left, hidden):
    """Return what the loose cards left on the table, and a sweep of them, may be worth to the opponents."""
    danger = 0.0
    if not builds_left and left and s.rules.sweeps:
        total = total_of(left, NUMBERS)
        if total <= 10:
            danger = _SWEEP * _chance_held(s, cards_that_count(total), hidden)
    return danger + _LEFT_BEHIND * value_of_cards(s, left)


@kernel
def _chance_held(s, cards, hidden):
    """Return the chance that an opponent holds one of some cards."""
    player, held = s.current_player, 0
    for k in range(1, s.rules.num_players):
        p = wrap(player + k, s.rules.num_players)
        if side_of(s, p) != side_of(s, np.int64(player)):
            held += count_bits(s.hands[p])
    return 1 - chance_of_none(count_bits(hidden & cards), held, count_bits(hidden))
