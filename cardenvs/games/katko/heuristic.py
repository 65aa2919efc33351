"""A rule agent for Katko: keep the best cards for the last two tricks, and win the one before the last."""

import numpy as np

from cardenvs.core.cards import count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.games.katko.poker_hand import STRAIGHT, hand_strength
from cardenvs.games.katko.rules import RANKS_IN_SUIT, height, hidden_cards, led_suit, suit_of
from cardenvs.games.katko.state import DONE, NO_CARD, PLAY, SET_ASIDE_0

_FOLLOWING = 0.3  # how much of its chance as a lead a card has when another player leads
_QUEEN = 10  # height
_CATEGORY = 1 << 2 * RANKS_IN_SUIT  # one step of hand_strength's first digit
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
    suit = hidden >> suit_of(card) * RANKS_IN_SUIT & (1 << RANKS_IN_SUIT) - 1
    higher = 0
    for rank in range(RANKS_IN_SUIT):
        higher += suit >> rank & 1 and height(rank) > height(card)
    total, chance = count_bits(hidden), 1.0
    for k in range(higher):
        chance *= max(total - held - k, 0) / (total - k)
    return chance


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
    is_good = s.num_setting_aside == 0 and hand_strength(hand) >= STRAIGHT * _CATEGORY
    enough = s.num_setting_aside >= min(_MOST_EXCHANGED, 52 - s.num_dealt)
    if is_good or enough:
        return DONE
    lowest, lowest_height = NO_CARD, _QUEEN
    for card in range(52):
        if hand >> card & 1 and height(card) < lowest_height and not _is_paired(hand, card):
            lowest, lowest_height = card, height(card)
    return DONE if lowest == NO_CARD else SET_ASIDE_0 + lowest


@kernel
def _is_paired(hand, card):
    """Whether the hand has another card of the rank."""
    same = 0
    for suit in range(4):
        same += hand >> suit * RANKS_IN_SUIT + card % RANKS_IN_SUIT & 1
    return same > 1
