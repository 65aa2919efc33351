"""A rule agent for Katko: keep the best cards for the last two tricks, and win the one before the last."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.katko.rules import hidden_cards, led_suit
from cardenvs.games.katko.state import DONE, PLAY, SET_ASIDE_0
from cardenvs.kits.cards import RANK_SETS, chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.poker_hands import STRAIGHT, best_category
from cardenvs.kits.tricks import SUIT_SIZE, height, heights, suit_of

_FOLLOWING = 0.3  # how much of its chance as a lead a card has when another player leads
_QUEEN = 10  # height
_MOST_EXCHANGED = 3


@kernel
def heuristic(s, legal, n, rng):
    """Choose an action. With four or more cards left, play the weakest; then look at the orders of those left."""
    player = np.int64(s.current_player)
    if s.phase != PLAY:
        return _exchange(s, player)
    if n == 1:
        return legal[0]
    hidden = hidden_cards(s, player)
    held = np.int64(0)
    for p in range(s.rules.num_players):
        if p != player:
            held += count_bits(s.hands[p])
    best, best_value = legal[0], -1.0
    for k in range(n):
        card = np.int64(legal[k])
        others = s.hands[player] ^ 1 << card
        chance = _chance_of_trick(s, card, hidden, held)
        if count_bits(others) > 2:
            value = 1 - lead_chance(card, hidden, held)
        else:
            value = chance * _value(others, True, hidden, held) + (1 - chance) * _value(others, False, hidden, held)
        if value > best_value:
            best, best_value = card, value
    return best


@kernel
def lead_chance(card, hidden, held):
    """Return the chance that no other hand has a higher card of the suit.

    Args:
        card: a card, to be led.
        hidden: bit set of the cards that the player does not see.
        held: how many of them are in hands.
    """
    higher = count_bits(heights(hidden, suit_of(card)) >> height(card) + 1)
    return chance_of_none(higher, held, count_bits(hidden))


@kernel
def _chance_of_trick(s, card, hidden, held):
    """Return the chance that `card` wins the current trick."""
    suit = led_suit(s)
    if suit >= 0:
        if suit_of(card) != suit:
            return 0.0
        last = True
        for p in range(s.rules.num_players):
            other = np.int64(s.played[p, s.trick])
            if other == NO_CARD:
                last = last and (p == s.current_player or not s.active[p])
            elif suit_of(other) == suit and height(other) > height(card):
                return 0.0
        if last:
            return 1.0
    return lead_chance(card, hidden, held)


@kernel
def _value(cards, leads, hidden, held):
    """Return the chance to win the last trick with one or two cards, roughly: the others' cards stay as they are."""
    first = np.int64(lowest_card(cards))
    one = lead_chance(first, hidden, held)
    if cards & cards - 1 == 0:
        return one if leads else _FOLLOWING * one
    two = lead_chance(np.int64(lowest_card(cards & cards - 1)), hidden, held)
    best = 0.0
    for order in range(2):
        now, then = (one, two) if order == 0 else (two, one)
        if not leads:
            now *= _FOLLOWING
        best = max(best, now * then + (1 - now) * _FOLLOWING * then)
    return best


@kernel
def _exchange(s, player):
    """Set aside the lowest unpaired cards below the queen, at most three, unless the hand is good already."""
    hand = s.hands[player]
    is_good = s.num_setting_aside == 0 and best_category(hand) >= STRAIGHT
    enough = s.num_setting_aside >= min(_MOST_EXCHANGED, 52 - s.num_dealt)
    if is_good or enough:
        return DONE
    lowest, lowest_height = NO_CARD, _QUEEN
    for card in range(52):
        if hand & RANK_SETS[card % SUIT_SIZE] == np.int64(1) << card and height(card) < lowest_height:
            lowest, lowest_height = card, height(card)
    return DONE if lowest == NO_CARD else SET_ASIDE_0 + lowest
