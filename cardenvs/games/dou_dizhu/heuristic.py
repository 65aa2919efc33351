"""A rule agent for Dou Dizhu: it splits its hand into few plays, and plays so that few are left.

The *burden* of a hand is how many leads it takes to play it, in quarters: a play that is likely to win the lead back
counts less than one. Of two plays the agent prefers the one that leaves less burden, for lower cards.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.dou_dizhu.cards import (
    ACE,
    ALL_CARDS,
    BLACK,
    NUM_LINKED,
    NUM_SUITED,
    RED,
    ROCKET,
    TWO,
    contains,
    count_cards,
    count_of,
    ranks_with,
)
from cardenvs.games.dou_dizhu.plays import (
    BID_0,
    BOMB,
    PASS,
    ROCKET_KIND,
    cards_of_play,
    copies_of,
    kind_of,
    start_of,
    width_of,
)
from cardenvs.games.dou_dizhu.state import AUCTION, NO_PLAY, NUM_PLAYERS

# Burdens, by rank
_LEAD = 4.0
_SOLO = np.array([4.0] * 10 + [3.8, 3.0, 1.8, 1.0, 0.0])
_PAIR = np.array([4.0] * 9 + [3.8, 3.4, 2.4, 0.6])
_TRIO = np.array([4.0] * 9 + [3.6, 3.2, 2.4, 1.0])
_BOMB, _ROCKET = -1.5, -2.0

# What is given up with a high card, by rank
_PRICE = np.array([0.18 * rank for rank in range(11)] + [2.4, 3.6, 4.6, 5.0])


# ---------------------------------------------------------------------------------------------------------------
# The burden of a hand


@kernel
def _loose_burden(hand):
    """Return the burden of a hand without chains of solos and pairs. Trios take the worst solos and pairs along."""
    total, kickers, trios = 0.0, 0.0, 0
    last_trio = np.int64(-2)
    for rank in range(NUM_SUITED):
        number = count_of(hand, rank)
        if number == 1:
            total += _SOLO[rank]
            kickers += 1.0 if rank < ACE else 0.0
        elif number == 2:
            total += _PAIR[rank]
            kickers += 1.0 if rank < ACE else 0.0
        elif number == 3:
            total += 0.0 if last_trio == rank - 1 and rank < NUM_LINKED else _TRIO[rank]
            trios += 1
            last_trio = np.int64(rank)
        elif number == 4:
            total += _BOMB
    jokers = contains(hand, ROCKET)
    if jokers:
        total += _ROCKET
    else:
        total += _SOLO[BLACK] * count_of(hand, BLACK) + _SOLO[RED] * count_of(hand, RED)
    return total - _LEAD * min(kickers, trios)


@kernel(inline=True)
def _chain(copies, start, width):
    """Return a chain as a set of cards."""
    ones = (np.int64(1) << 4 * width) // 15
    return copies * ones << 4 * start


@kernel
def _burden_with_one(hand):
    """Return the least burden of a hand with at most one chain of solos or pairs."""
    least = _loose_burden(hand)
    for copies in range(1, 3):
        shortest = 5 if copies == 1 else 3
        ranks = ranks_with(hand, copies) & ((1 << NUM_LINKED) - 1)
        for start in range(NUM_LINKED - shortest + 1):
            width = 0
            while ranks >> start + width & 1:
                width += 1
                if width >= shortest:
                    least = min(least, _LEAD + _loose_burden(hand - _chain(copies, start, width)))
    return least


@kernel
def burden(hand):
    """Return the least burden of a hand, with at most two chains of solos or pairs."""
    least = _loose_burden(hand)
    for copies in range(1, 3):
        shortest = 5 if copies == 1 else 3
        ranks = ranks_with(hand, copies) & ((1 << NUM_LINKED) - 1)
        for start in range(NUM_LINKED - shortest + 1):
            width = 0
            while ranks >> start + width & 1:
                width += 1
                if width >= shortest:
                    least = min(least, _LEAD + _burden_with_one(hand - _chain(copies, start, width)))
    return least


# ---------------------------------------------------------------------------------------------------------------
# Bids


@kernel
def strength(hand):
    """Return how good a hand is for a landlord: high cards and bombs, less what is a burden."""
    value = 0.9 * count_of(hand, ACE) + 1.8 * count_of(hand, TWO)
    value += 2.6 * count_of(hand, BLACK) + 3.4 * count_of(hand, RED)
    for rank in range(NUM_SUITED):
        value += 3.0 if count_of(hand, rank) == 4 else 0.0
    return value - 0.25 * burden(hand)


# With the first, a landlord wins as much as peasants do, if all play by these rules.
_BID_3, _BID_2, _BID_1 = -0.5, -1.2, -1.8


@kernel
def _bid(s):
    """Bid as high as the hand is worth, or pass."""
    value = strength(s.hands[s.current_player])
    wanted = 3 if value >= _BID_3 else 2 if value >= _BID_2 else 1 if value >= _BID_1 else 0
    return np.int64(BID_0 + wanted if wanted > s.bid else PASS)


# ---------------------------------------------------------------------------------------------------------------
# Plays


@kernel
def _is_beaten_by(cards, action):
    """Return whether a play of the same kind from some cards beats a play, whatever its kickers."""
    copies, width = copies_of(action), width_of(action)
    ranks = ranks_with(cards, copies)
    if width > 1:
        ranks &= (1 << NUM_LINKED) - 1
        for _ in range(1, width):
            ranks &= ranks >> 1
    elif copies > 1:
        ranks &= (1 << NUM_SUITED) - 1
    return ranks >> start_of(action) + 1 != 0


@kernel
def _security(s, action, unseen, most):
    """Return 1 if nobody can beat a play, 0.7 if only a bomb or the rocket can, 0 otherwise.

    `unseen` are the cards in the others' hands, `most` the largest number of cards in the hand of an opponent.
    """
    kind = kind_of(action)
    if kind == ROCKET_KIND:
        return 1.0
    if kind != BOMB and count_cards(cards_of_play(action)) <= most and _is_beaten_by(unseen, action):
        return 0.0
    if kind == BOMB:
        return 1.0 if not _is_beaten_by(unseen, action) and not contains(unseen, ROCKET) else 0.5
    has_bomb = most >= 4 and ranks_with(unseen, 4) != 0
    has_rocket = most >= 2 and contains(unseen, ROCKET)
    return 0.7 if has_bomb or has_rocket else 1.0


@kernel(inline=True)
def _is_opponent(s, player, other):
    return (player == s.landlord) != (other == s.landlord)


@kernel
def _price(action):
    """Return what is given up with a play: its main part, and high cards as kickers."""
    kind, start = kind_of(action), start_of(action)
    if kind in (BOMB, ROCKET_KIND):
        return 7.0
    copies, width = copies_of(action), width_of(action)
    cards = cards_of_play(action)
    price = _PRICE[start] if width == 1 else 0.1 * start
    for rank in range(ACE, RED + 1):
        number = count_of(cards, rank) - (copies if start <= rank < start + width else 0)
        price += number * _PRICE[rank]
    return price + (0.8 * (copies - 1) * max(start - 10, 0) if width == 1 else 0.0)


@kernel
def _value_of_lead(s, player, action, unseen, fewest, most):
    """Return how good a lead is."""
    cards = cards_of_play(action)
    rest = s.hands[player] - cards
    if rest == 0:
        return 1e6
    left, size = burden(rest), count_cards(cards)
    value = -left - _price(action) + 0.12 * size
    security = _security(s, action, unseen, most)
    if left <= 2 * _LEAD:
        value += security * 3.0
    if security < 1.0 and size == fewest:
        value -= 6.0 * (1 - start_of(action) / 15)
    if player != s.landlord:
        partner = _partner(s, player)
        if s.hand_sizes[partner] == size and size <= 2:
            value += (5.0 if wrap(player + 1, NUM_PLAYERS) == partner else 2.0) * (1 - start_of(action) / 15)
    return value


@kernel(inline=True)
def _partner(s, player):
    """Return the other peasant."""
    return NUM_PLAYERS - s.landlord - player


@kernel
def _value_of_answer(s, player, action, before, unseen, fewest, most):
    """Return how much better than a pass it is to beat an opponent's play."""
    rest = s.hands[player] - cards_of_play(action)
    if rest == 0:
        return 1e6
    left = burden(rest)
    value = before - left - _price(action) - 0.5
    if fewest <= 2:
        value += 8.0
    elif fewest <= 5:
        value += 3.0
    if left <= _LEAD:
        value += 4.0 * _security(s, action, unseen, most)
    return value


@kernel
def _value_over_partner(s, player, action, before):
    """Return how much better than a pass it is to beat the partner's play: little, unless that was low."""
    rest = s.hands[player] - cards_of_play(action)
    if rest == 0:
        return 1e6
    start = start_of(s.to_beat)
    landlord_is_next = wrap(player + 1, NUM_PLAYERS) == s.landlord
    if kind_of(s.to_beat) > 1 or start >= 8 or not landlord_is_next or start_of(action) > ACE:
        return -1.0
    return before - burden(rest) - _price(action) - 1.5


@kernel
def heuristic(s, legal, n, rng):
    """Return the bid or play with the highest value."""
    if s.phase == AUCTION:
        return _bid(s)
    player = np.int64(s.current_player)
    unseen = ALL_CARDS - s.hands[player] - s.played[0] - s.played[1] - s.played[2]
    fewest, most = 20, 0
    for p in range(NUM_PLAYERS):
        if _is_opponent(s, player, p):
            fewest, most = min(fewest, s.hand_sizes[p]), max(most, s.hand_sizes[p])
    leads = s.to_beat == NO_PLAY
    before = 0.0 if leads else burden(s.hands[player])
    best, best_value = np.int64(PASS), 0.0
    if leads:
        best, best_value = np.int64(legal[0]), -1e9
    for k in range(n):
        action = np.int64(legal[k])
        if action == PASS:
            continue
        if leads:
            value = _value_of_lead(s, player, action, unseen, fewest, most)
        elif _is_opponent(s, player, s.author):
            value = _value_of_answer(s, player, action, before, unseen, fewest, most)
        else:
            value = _value_over_partner(s, player, action, before)
        if value > best_value:
            best, best_value = action, value
    return best
