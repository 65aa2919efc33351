"""A rule agent for Euchre: a club player's bids, leads and replies.

What a hand is worth, and what it must be worth for a bid, was fitted to games of this agent against itself: bids were
compared with the ones not made, on the same cards.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.seats import wrap
from cardenvs.games.euchre.state import (
    ALONE,
    CALL,
    DEFEND,
    DISCARD,
    GO_ALONE,
    HEIGHT_TABLE,
    JOKER,
    NAME_JOKER,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    ORDER,
    PACK,
    PASS,
    PLAY_JOKER,
    SAME_COLOUR,
    SUIT_SETS,
    SUIT_TABLE,
    TRICKS,
    TRUMP_0,
    WITH_PARTNER,
    next_in_hand,
    partner_of,
    sits_out,
    upcard_in_hand,
)
from cardenvs.games.euchre.worlds import hidden_cards
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.matches import side_of

_led_suit, _winner, _playable = TRICKS.led_suit, TRICKS.winner, TRICKS.playable
_strength = TRICKS.ranking.strength

_ACES, _KINGS = (np.int64(sum(1 << PACK.parse(rank + suit) for suit in PACK.suits)) for rank in "AK")
# By the suit of trumps and a card: the better cards of its suit, and what it is worth to keep.
_BETTER = np.array(
    [
        [sum(1 << b for b, higher in enumerate(heights) if suits[b] == suits[a] and higher > height)
         for a, height in enumerate(heights)]
        for suits, heights in zip(SUIT_TABLE, HEIGHT_TABLE, strict=True)
    ]
)  # fmt: skip
_WORTH = HEIGHT_TABLE + 10 * (np.arange(NUM_SUITS)[:, None] == SUIT_TABLE)

# How much what adds to the points of makers, in hundredths
_BY_HEIGHT = np.array([30, 32, 0, 36, 42, 52, 66, 100, 110])  # of a trump: 9 10 - Q K A, left, right, joker
_BY_NUMBER = np.array([0, 0, 0, 25, 25, 10, 10])  # of trumps
_ACE, _ACE_ALONE, _GUARDED_KING, _VOID = 32, 37, 7, 21
_OF_UPCARD = 30  # percent of its value, for or against the player, if another one takes it up

# What a hand must be worth, by place from the dealer's left
_ORDER_AT = np.array([222, 150, 222, 168])
_CALL_AT = np.array([195, 135, 165, 170])  # a suit that has not the colour of the upcard
_NEXT_AT = np.array([118, 188, 170, 88])  # the other suit of its colour
_ALONE_AT, _DEFEND_ALONE_AT = 254, 300
_A_LOT = 10_000


@kernel
def heuristic(s, legal, n, rng):
    """Choose an action."""
    if n == 1 or s.phase == NAME_JOKER:
        return legal[0]
    player = np.int64(s.current_player)
    if s.phase == ORDER or s.phase == CALL:
        return choose_bid(s, player, s.hands[player], s.phase == CALL, legal[0] == PASS)
    if s.phase == DISCARD:
        return _action(_least_useful(s.hands[player] & ~(np.int64(1) << s.upcard), s.hands[player], np.int64(s.trump)))
    if s.phase == ALONE or s.phase == DEFEND:
        return GO_ALONE if _plays_alone(s, player) else WITH_PARTNER
    return _action(_follow(s, player) if _led_suit(s) >= 0 else _lead(s, player))


@kernel(inline=True)
def _action(card):
    return PLAY_JOKER if card == JOKER else card


# ---------------------------------------------------------------------------------------------------------------
# Bids


@kernel
def hand_value(cards, trump):
    """Return what a hand is worth with `trump` as trumps, in hundredths of a point."""
    trumps = cards & SUIT_SETS[trump, trump]
    value, rest = np.int64(_BY_NUMBER[count_bits(trumps)]), trumps
    while rest:
        value += _BY_HEIGHT[HEIGHT_TABLE[trump, lowest_card(rest)]]
        rest &= rest - 1
    for suit in range(NUM_SUITS):
        held = cards & SUIT_SETS[trump, suit]
        if suit == trump:
            continue
        if not held:
            value += _VOID if trumps else 0
        elif held & _ACES:
            value += _ACE if held & held - 1 else _ACE_ALONE
        elif held & _KINGS and held & held - 1:
            value += _GUARDED_KING
    return value


@kernel
def _least_useful(choices, cards, trump):
    """Return which of `choices` makes the rest of `cards` worth most if it is laid away."""
    best, best_value = np.int64(-1), np.int64(0)
    while choices:
        card = np.int64(lowest_card(choices))
        choices &= choices - 1
        value = 100 * hand_value(cards & ~(np.int64(1) << card), trump) - _WORTH[trump, card]
        if best < 0 or value > best_value:
            best, best_value = card, value
    return best


@kernel
def choose_bid(s, player, hand, is_second_round, may_pass):
    """Return the bid of `player` with a hand: trumps if it is worth enough, or if it must be; else a pass."""
    place = wrap(player - s.dealer + NUM_PLAYERS - 1, NUM_PLAYERS)
    if not is_second_round:
        suit = np.int64(s.suit_up)
        return TRUMP_0 + suit if _value_of_ordering(s, player, hand, suit) >= _ORDER_AT[place] else PASS
    best, best_margin = np.int64(PASS), np.int64(0 if may_pass else -_A_LOT)
    for trump in range(NUM_SUITS):
        if trump != s.suit_up:
            is_next = trump == SAME_COLOUR[s.suit_up]
            margin = hand_value(hand, trump) - (_NEXT_AT[place] if is_next else _CALL_AT[place])
            if margin >= best_margin:
                best, best_margin = TRUMP_0 + trump, margin
    return best


@kernel
def _value_of_ordering(s, player, hand, trump):
    """Return what the hand is worth if the dealer takes up the upcard."""
    upcard = np.int64(1) << s.upcard
    if player == s.dealer:
        return hand_value((hand | upcard) & ~(np.int64(1) << _least_useful(hand, hand | upcard, trump)), trump)
    change = _OF_UPCARD * np.int64(_BY_HEIGHT[HEIGHT_TABLE[trump, s.upcard]]) // 100
    return hand_value(hand, trump) + (change if partner_of(player) == s.dealer else -change)


@kernel(inline=True)
def _points_missing(s, side):
    """Return how many points a side needs to win the match; more than any hand has without a match."""
    return 100 if s.rules.target == NONE else s.rules.target - s.scores[side]


@kernel
def _plays_alone(s, player):
    """Play alone with a hand worth most tricks, unless two points win the match."""
    if _points_missing(s, side_of(player, NUM_SIDES)) <= 2:
        return False
    return hand_value(s.hands[player], np.int64(s.trump)) >= (_ALONE_AT if s.phase == ALONE else _DEFEND_ALONE_AT)


# ---------------------------------------------------------------------------------------------------------------
# Leads


@kernel
def _unseen(s, player):
    """Return the cards that may be in other hands that play."""
    dealer = np.int64(s.dealer)
    known = np.int64(0) if dealer == player or sits_out(s, dealer) else upcard_in_hand(s, dealer)
    return hidden_cards(s, player) | known


@kernel
def _masters(cards, unseen, trump):
    """Return the cards that are the best of their suits."""
    masters, rest = np.int64(0), cards
    while rest:
        card = lowest_card(rest)
        rest &= rest - 1
        if not _BETTER[trump, card] & unseen:
            masters |= np.int64(1) << card
    return masters


@kernel
def _best(cards, trump):
    """Return the card that is worth most."""
    best = np.int64(lowest_card(cards))
    while cards:
        card = np.int64(lowest_card(cards))
        cards &= cards - 1
        if _WORTH[trump, card] > _WORTH[trump, best]:
            best = card
    return best


@kernel
def _from_shortest(cards, hand, trump):
    """Return the highest of some cards from the suit of which the hand has fewest."""
    best, best_order = np.int64(-1), np.int64(0)
    while cards:
        card = np.int64(lowest_card(cards))
        cards &= cards - 1
        order = 100 * count_bits(hand & SUIT_SETS[trump, SUIT_TABLE[trump, card]]) - _WORTH[trump, card]
        if best < 0 or order < best_order:
            best, best_order = card, order
    return best


@kernel
def _lead(s, player):
    """Makers draw trumps; all cash aces and other masters, from the shortest suit first."""
    trump, hand = np.int64(s.trump), s.hands[player]
    unseen = _unseen(s, player)
    trumps = hand & SUIT_SETS[trump, trump]
    masters = _masters(hand, unseen, trump)
    is_makers = side_of(player, NUM_SIDES) == side_of(s.maker, NUM_SIDES)
    trumps_are_out = unseen & SUIT_SETS[trump, trump] != 0
    if is_makers and trumps_are_out and trumps & masters:
        return _best(trumps, trump)
    if is_makers and s.trick == 0 and count_bits(trumps) >= 3:
        return _best(trumps, trump)
    if masters & ~trumps:
        return _from_shortest(masters & ~trumps, hand, trump)
    if is_makers and player != s.maker and trumps and s.trick == 0:
        return _best(trumps, trump)
    if hand & ~trumps:
        return _from_shortest(hand & ~trumps, hand, trump)
    return _best(trumps, trump)


# ---------------------------------------------------------------------------------------------------------------
# Replies


@kernel
def _follow(s, player):
    """Win the trick as cheaply as seems safe, unless the partner does; else throw the least useful card."""
    trump, led, hand = np.int64(s.trump), _led_suit(s), s.hands[player]
    cards = _playable(s, player)
    winner = _winner(s)
    best = np.int64(s.played[winner, s.trick])
    winners = _beating(s, cards, best, led)
    unseen = _unseen(s, player)
    is_last = next_in_hand(s, player) == s.leader
    if winner == partner_of(player) and (is_last or not _BETTER[trump, best] & unseen):
        winners = np.int64(0)
    if not winners:
        return _throw(cards, hand, trump)
    if is_last or not cards & SUIT_SETS[trump, led]:
        return _cheapest(winners, trump)
    masters = _masters(winners, unseen, trump)
    if masters:
        return _best(masters, trump)
    third = s.played[partner_of(player), s.trick] >= 0
    return _best(winners, trump) if third else _throw(cards, hand, trump)


@kernel
def _beating(s, cards, best, led):
    """Return those of some cards that beat the best card of the trick."""
    winners, to_beat = np.int64(0), _strength(s, best, led)
    while cards:
        card = np.int64(lowest_card(cards))
        cards &= cards - 1
        if _strength(s, card, led) > to_beat:
            winners |= np.int64(1) << card
    return winners


@kernel
def _cheapest(cards, trump):
    """Return the card that is worth least."""
    best = np.int64(lowest_card(cards))
    while cards:
        card = np.int64(lowest_card(cards))
        cards &= cards - 1
        if _WORTH[trump, card] < _WORTH[trump, best]:
            best = card
    return best


@kernel
def _throw(cards, hand, trump):
    """Return a card that is not needed: the lowest, but rather the last of a suit than one that guards another."""
    best, best_order = np.int64(-1), np.int64(0)
    while cards:
        card = np.int64(lowest_card(cards))
        cards &= cards - 1
        is_single = hand & SUIT_SETS[trump, SUIT_TABLE[trump, card]] == np.int64(1) << card
        order = 10 * _WORTH[trump, card] - (25 if is_single and not _ACES >> card & 1 else 0)
        if best < 0 or order < best_order:
            best, best_order = card, order
    return best
