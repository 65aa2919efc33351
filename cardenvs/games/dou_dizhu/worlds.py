"""What a player of Dou Dizhu cannot know: worlds that fit all that was seen, each as often as it is dealt."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_unit, shuffle
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.dou_dizhu.cards import (
    ALL_CARDS,
    DECK_SIZE,
    EXTRA_SIZE,
    HAND_SIZE,
    NUM_RANKS,
    count_of,
    one_of,
    without,
)
from cardenvs.games.dou_dizhu.state import AUCTION, NUM_PLAYERS
from cardenvs.kits.deck import begin_world

_LEFT = stack_record(packed([("cards", "i1", (DECK_SIZE,))]))
_WAYS = stack_record(packed([("to_deal", "f8", (NUM_RANKS + 1, HAND_SIZE + 1))]))
_CHOICES = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], np.int64)


@kernel
def determinize(s, player, seed):
    """Deal the cards that `player` does not see again."""
    begin_world(s, seed)
    if s.phase == AUCTION:
        _deal_again(s, player)
    else:
        _split_again(s, player)


@kernel
def _deal_again(s, player):
    """Deal two hands and the cards left over; the marked card stays with its holder (8.2)."""
    marked = s.face_holder >= 0 and s.face_holder != player
    hidden = ALL_CARDS - s.hands[player] - (one_of(np.int64(s.face_up)) if marked else 0)
    left, number = _LEFT(), 0
    for rank in range(NUM_RANKS):
        for _ in range(count_of(hidden, rank)):
            left.cards[number] = rank
            number += 1
    shuffle(s, left.cards, 0, number)
    place = 0
    for k in range(1, NUM_PLAYERS):
        p = wrap(player + k, NUM_PLAYERS)
        s.hands[p] = s.known[p]
        for _ in range(HAND_SIZE - (1 if s.face_holder == p else 0)):
            s.hands[p] += one_of(np.int64(left.cards[place]))
            place += 1
    s.extra = 0
    for k in range(EXTRA_SIZE):
        s.extra += one_of(np.int64(left.cards[place + k]))


@kernel(inline=True)
def _extra_of(s, player):
    """Return the cards left over if `player` took them, else no card."""
    return s.extra if player == s.landlord else np.int64(0)


@kernel
def _split_again(s, player):
    """Split the cards dealt to the two others, of which each must have got what they have played (8.3).

    Cards of a rank count as different ones, so a split is as likely as there are ways to choose its cards. If one of
    the two was dealt the marked card, it is as many times as likely as they got cards of its rank.
    """
    a, b = wrap(player + 1, NUM_PLAYERS), wrap(player + 2, NUM_PLAYERS)
    extra_a, extra_b = _extra_of(s, a), _extra_of(s, b)
    dealt = s.hands[a] + s.played[a] - extra_a + s.hands[b] + s.played[b] - extra_b
    least_a, least_b = without(s.played[a], extra_a), without(s.played[b], extra_b)
    ways = _WAYS()
    _count_ways(s, a, b, dealt, least_a, least_b, ways)
    room, hand = HAND_SIZE, np.int64(0)
    for rank in range(NUM_RANKS):
        draw = random_unit(s.rng) * ways.to_deal[rank, room]
        number, most = count_of(least_a, rank), count_of(dealt, rank) - count_of(least_b, rank)
        while number < most:
            draw -= _weight(s, a, b, dealt, rank, number) * _ways_left(ways, rank + 1, room - number)
            if draw < 0:
                break
            number += 1
        hand += number << 4 * rank
        room -= number
    s.hands[a] = hand + extra_a - s.played[a]
    s.hands[b] = dealt - hand + extra_b - s.played[b]


@kernel
def _count_ways(s, a, b, dealt, least_a, least_b, ways):
    """Set ways.to_deal[r, n] to the weight of all ways in which `a` gets n cards of the ranks from r on."""
    for number in range(HAND_SIZE + 1):
        ways.to_deal[NUM_RANKS, number] = 1.0 if number == 0 else 0.0
    for k in range(NUM_RANKS):
        rank = NUM_RANKS - 1 - k
        for room in range(HAND_SIZE + 1):
            total = 0.0
            for number in range(count_of(least_a, rank), count_of(dealt, rank) - count_of(least_b, rank) + 1):
                total += _weight(s, a, b, dealt, rank, number) * _ways_left(ways, rank + 1, room - number)
            ways.to_deal[rank, room] = total


@kernel(inline=True)
def _weight(s, a, b, dealt, rank, number):
    """Return how likely `a` is to get `number` cards of a rank, before all else."""
    dealt_of_rank = count_of(dealt, rank)
    weight = _CHOICES[dealt_of_rank, number]
    if rank == s.face_up:
        if s.face_holder == a:
            weight *= number
        elif s.face_holder == b:
            weight *= dealt_of_rank - number
    return weight


@kernel(inline=True)
def _ways_left(ways, rank, room):
    return ways.to_deal[rank, room] if room >= 0 else 0.0
