"""What cards are worth, in the play and in the show (rules.md 3.5, 4)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.cribbage.state import FOUR, MAX_SUM, PACK, SUIT_SETS, VALUES
from cardenvs.kits.cards import lowest_card

FIFTEEN = 15
_rank_of, _suit_of = PACK.rank_of, PACK.suit_of


# ---------------------------------------------------------------------------------------------------------------
# The show


@kernel
def show_points(cards, starter, is_crib, crib_flush):
    """Return the points of a hand or crib (4.2 to 4.5).

    Args:
        cards: bit set of its four cards.
        starter: the fifth card.
        is_crib: whether it is the crib.
        crib_flush: the option in a record.
    """
    points = rank_points(cards | np.int64(1) << starter)
    points += flush_points(cards, starter, is_crib, crib_flush)
    return points + (1 if cards >> SUIT_JACKS[_suit_of(starter)] & 1 else 0)


SUIT_JACKS = np.array([PACK.parse("J" + suit) for suit in PACK.suits])


@kernel
def rank_points(cards):
    """Return the points of fifteens, pairs and runs in a bit set of at most five cards (4.2, 4.3)."""
    # ways has four bits for each sum from 0 to 15: how many subsets of the cards so far have it, never above 10.
    # numbers has four bits for each rank.
    ways, numbers, ranks, points = np.uint64(1), np.int64(0), np.int64(0), np.int64(0)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        rank = _rank_of(card)
        ways += ways << np.uint64(4 * VALUES[card])
        points += 2 * (numbers >> 4 * rank & 15)
        numbers += np.int64(1) << 4 * rank
        ranks |= np.int64(1) << rank
    points += 2 * np.int64(ways >> np.uint64(60))
    middle = ranks & ranks >> 1 & ranks >> 2
    if middle:
        rank, length, copies = lowest_card(middle), np.int64(0), np.int64(1)
        while ranks >> rank & 1:
            length += 1
            copies *= numbers >> 4 * rank & 15
            rank += 1
        points += length * copies
    return points


@kernel(inline=True)
def flush_points(cards, starter, is_crib, crib_flush):
    """Return the points of a flush (4.4)."""
    suit = SUIT_SETS[_suit_of(lowest_card(cards))]
    if cards & ~suit:
        return 0
    if suit >> starter & 1:
        return 5
    return 0 if is_crib and crib_flush != FOUR else 4


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel(inline=True)
def sum_points(total):
    """Return the points of a count: 2 for fifteen and for thirty-one (3.5)."""
    return 2 if total in (FIFTEEN, MAX_SUM) else 0


@kernel(inline=True)
def pair_points(s, stop):
    """Return what the last of sequence[count_start:stop] scores with cards of its rank right before it (3.5)."""
    rank, number = _rank_of(s.sequence[stop - 1]), np.int64(1)
    while stop - 1 - number >= s.count_start and _rank_of(s.sequence[stop - 1 - number]) == rank:
        number += 1
    return number * (number - 1)


@kernel(inline=True)
def run_points(s, stop):
    """Return what the last of sequence[count_start:stop] scores as part of a run (3.5)."""
    ranks, number, longest = np.int64(0), np.int64(0), np.int64(0)
    lowest, highest = np.int64(PACK_RANKS), np.int64(0)
    for k in range(stop - 1, s.count_start - 1, -1):
        rank = _rank_of(s.sequence[k])
        if ranks >> rank & 1:
            break
        ranks |= np.int64(1) << rank
        number += 1
        lowest, highest = min(lowest, rank), max(highest, rank)
        if number >= 3 and highest - lowest == number - 1:
            longest = number
    return longest


PACK_RANKS = len(PACK.ranks)


@kernel(inline=True)
def play_points(s, stop, total):
    """Return the points of the last of sequence[count_start:stop], which makes the count `total` (3.5).

    Args:
        s: a record with `sequence` and `count_start`.
        stop: index after the last card.
        total: the count with this card.
    """
    return sum_points(total) + pair_points(s, stop) + run_points(s, stop)
