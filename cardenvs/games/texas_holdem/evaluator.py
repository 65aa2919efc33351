"""The rank of a poker hand of five to seven cards, by tables (rules.md 7).

A rank is an integer from 1 (7-5-4-3-2 of mixed suits) to 7462 (royal flush). Hands of equal worth have equal ranks, and
a better hand has a higher rank. It takes three look-ups:

* The key of a hand is the sum of its cards' keys. It holds the number of cards of each suit and of each rank.
* With five cards of a suit, the rank depends only on the cards of that suit, a set of 13 bits: `_FLUSH_RANKS`. Seven
  cards with a flush cannot contain anything better except a straight flush in that suit.
* Otherwise the rank depends on how many cards of each rank there are. The six low ranks and the seven high ones have
  separate numbers, with their counts as digits in base 5. A holding of low ranks determines how many high cards there
  can be; the holdings of high ranks with these numbers of cards are contiguous, because they are sorted by size. So
  `_LOW_START[low] + _HIGH_PLACE[high]` numbers the 73,775 holdings of five to seven cards without gaps: the index
  into `_RANKS`.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.kits.cards import NUM_CARDS

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
_HIGH_CARD, _PAIR, _TWO_PAIR, _TRIPS, _STRAIGHT, _FLUSH, _FULL_HOUSE, _QUADS, _STRAIGHT_FLUSH = range(9)

MIN_CARDS, MAX_CARDS = 5, 7
_NUM_RANKS = 13  # strength 0 the deuce to 12 the ace
_NUM_LOW, _NUM_HIGH = 6, 7
_SUIT = (1 << _NUM_RANKS) - 1

# A key, from its lowest bit: low ranks in base 5, high ranks in base 5, then four bits for each suit.
_LOW_BITS, _HIGH_BITS, _SUIT_BITS = 14, 17, 4  # 5**6 < 2**14, 5**7 < 2**17
_HIGH_AT = _LOW_BITS
_SUITS_AT = _LOW_BITS + _HIGH_BITS
_TO_FIVE = sum(3 << _SUITS_AT + _SUIT_BITS * suit for suit in range(4))  # five or more of a suit plus 3 set its top bit
_FIVE_OR_MORE = sum(8 << _SUITS_AT + _SUIT_BITS * suit for suit in range(4))


def _card_keys() -> np.ndarray:
    """Return the key of each card, int64 (52,)."""
    card = np.arange(NUM_CARDS)
    strength = (card % 13 + 12) % 13  # the ace is the highest
    is_high = strength >= _NUM_LOW
    digit = np.where(is_high, 5 ** (strength - _NUM_LOW).clip(0) << _HIGH_AT, 5 ** strength.clip(0, _NUM_LOW - 1))
    return (digit + (1 << _SUITS_AT + _SUIT_BITS * (card // 13))).astype(np.int64)


# ---------------------------------------------------------------------------------------------------------------
# Building the tables. The worth of a hand is its category, then the ranks that decide first, then the kickers. Both are
# bit sets of ranks; sets of the same size compare like numbers.


_SIZE = (np.arange(1 << _NUM_RANKS)[:, None] >> np.arange(_NUM_RANKS) & 1).sum(1)  # of each set of ranks


def _top(ranks: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` highest ranks of each set, or all if it has fewer."""
    kept = np.zeros_like(ranks)
    for rank in reversed(range(_NUM_RANKS)):
        bit = ranks & 1 << rank
        kept |= np.where(_SIZE[kept] < count, bit, 0)
    return kept


def _straights(ranks: np.ndarray) -> np.ndarray:
    """Return the top rank of the best straight in each set, as a set of one rank, or the empty set."""
    ace_twice = ranks << 1 | ranks >> 12  # bit 0: the ace below the deuce
    tops = ace_twice & ace_twice << 1 & ace_twice << 2 & ace_twice << 3 & ace_twice << 4
    return _top(tops >> 1, 1)


def _worth(category: int, first: np.ndarray, kickers: np.ndarray | int = 0) -> np.ndarray:
    return category << 2 * _NUM_RANKS | first << _NUM_RANKS | kickers


def _worth_of_counts(counts: np.ndarray) -> np.ndarray:
    """Return the worth of holdings without a flush, given the number of cards of each rank, (n, 13)."""
    bits = 1 << np.arange(_NUM_RANKS)
    held, twos, threes, fours = (((counts >= least) * bits).sum(1) for least in (1, 2, 3, 4))
    four, three, straight = _top(fours, 1), _top(threes, 1), _straights(held)
    pair, two_pairs, full = _top(twos, 1), _top(twos, 2), _top(twos & ~three, 1)
    choices = [
        (four != 0, _worth(_QUADS, four, _top(held & ~four, 1))),
        ((three != 0) & (full != 0), _worth(_FULL_HOUSE, three, full)),
        (straight != 0, _worth(_STRAIGHT, straight)),
        (three != 0, _worth(_TRIPS, three, _top(held & ~three, 2))),
        (pair != two_pairs, _worth(_TWO_PAIR, two_pairs, _top(held & ~two_pairs, 1))),
        (pair != 0, _worth(_PAIR, pair, _top(held & ~pair, 3))),
    ]
    conditions, worths = zip(*choices, strict=True)
    return np.select(list(conditions), list(worths), _worth(_HIGH_CARD, _top(held, 5)))


def _worth_of_suits() -> np.ndarray:
    """Return the worth of each set of cards of one suit, bit 0 the ace to bit 12 the king; 0 below five cards."""
    cards = np.arange(1 << _NUM_RANKS)
    ranks = cards >> 1 | (cards & 1) << 12
    straight = _straights(ranks)
    worth = np.where(straight, _worth(_STRAIGHT_FLUSH, straight), _worth(_FLUSH, _top(ranks, 5)))
    return np.where(_SIZE[ranks] >= 5, worth, 0)


def _holdings(num_ranks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all ways to hold up to seven cards of some ranks, fewest cards first.

    Returns:
        Counts (n, num_ranks), their numbers in base 5 (n,), and numbers of cards (n,).
    """
    number = np.arange(5**num_ranks)
    counts = number[:, None] // 5 ** np.arange(num_ranks) % 5
    size = counts.sum(1)
    order = np.argsort(size, kind="stable")
    order = order[size[order] <= MAX_CARDS]
    return counts[order], number[order], size[order]


def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    low_counts, low_number, low_size = _holdings(_NUM_LOW)
    high_counts, high_number, high_size = _holdings(_NUM_HIGH)
    # The high holdings that complete each low one to five, six or seven cards.
    first = np.searchsorted(high_size, MIN_CARDS - low_size)
    stop = np.searchsorted(high_size, MAX_CARDS - low_size, side="right")
    start = np.concatenate([[0], np.cumsum(stop - first)[:-1]]) - first
    low = np.repeat(np.arange(len(low_size)), stop - first)
    high = np.arange(len(low)) - start[low]
    counts = np.concatenate([low_counts[low], high_counts[high]], axis=1)

    worths, ranks = np.unique(np.concatenate([[0], _worth_of_counts(counts), _worth_of_suits()]), return_inverse=True)
    low_start = np.zeros(5**_NUM_LOW, np.int32)
    low_start[low_number] = start
    high_place = np.zeros(5**_NUM_HIGH, np.uint16)
    high_place[high_number] = np.arange(len(high_number))
    ranks = ranks.astype(np.uint16)
    first_ranks = np.searchsorted(worths, np.arange(9) << 2 * _NUM_RANKS).clip(1)
    return low_start, high_place, ranks[1 : len(low) + 1], ranks[len(low) + 1 :], first_ranks


KEYS = _card_keys()  # int64 (52,)
_LOW_START, _HIGH_PLACE, _RANKS, _FLUSH_RANKS, _FIRST_RANKS = _tables()

# ---------------------------------------------------------------------------------------------------------------
# Looking up


@kernel(inline=True)
def rank_in_deck(deck, hole, board):
    """Return the rank of the two cards deck[hole:hole + 2] with the five cards deck[board:board + 5]."""
    key = KEYS[deck[hole]] + KEYS[deck[hole + 1]]
    for k in range(5):
        key += KEYS[deck[board + k]]
    flush = key + _TO_FIVE & _FIVE_OR_MORE
    if not flush:
        return _rank_of_key(key)
    cards = 1 << np.int64(deck[hole]) | 1 << np.int64(deck[hole + 1])
    for k in range(5):
        cards |= 1 << np.int64(deck[board + k])
    return _flush_rank(cards, flush)


@kernel(entry=True)
def first_with_a_card_twice(hands):
    """Return the index of the first hand that holds a card twice, or -1; `hands` are card ids of shape (n, m)."""
    for i in range(hands.shape[0]):
        seen = np.int64(0)
        for k in range(hands.shape[1]):
            card = 1 << np.int64(hands[i, k])
            if seen & card:
                return i
            seen |= card
    return -1


@kernel(entry=True)
def rank_hands(hands, out):
    """Write the ranks of `hands`, card ids of shape (n, 5), (n, 6) or (n, 7), to `out`, shape (n,)."""
    for i in range(hands.shape[0]):
        key = 0
        for k in range(hands.shape[1]):
            key += KEYS[hands[i, k]]
        flush = key + _TO_FIVE & _FIVE_OR_MORE
        if not flush:
            out[i] = _rank_of_key(key)
        else:
            cards = 0
            for k in range(hands.shape[1]):
                cards |= 1 << np.int64(hands[i, k])
            out[i] = _flush_rank(cards, flush)


@kernel(inline=True)
def rank_of(cards, key):
    """Return the rank of a bit set of five to seven cards; `key` is the sum of their KEYS."""
    flush = key + _TO_FIVE & _FIVE_OR_MORE
    return _rank_of_key(key) if not flush else _flush_rank(cards, flush)


@kernel(inline=True)
def _rank_of_key(key):
    low = key & (1 << _LOW_BITS) - 1
    high = key >> _HIGH_AT & (1 << _HIGH_BITS) - 1
    return np.int64(_RANKS[_LOW_START[low] + _HIGH_PLACE[high]])


@kernel(inline=True)
def _flush_rank(cards, flush):
    """Return the rank of a bit set of cards with a flush; the bit set in `flush` gives the suit."""
    suit = 0
    while flush >> _SUITS_AT + _SUIT_BITS * (suit + 1):
        suit += 1
    return np.int64(_FLUSH_RANKS[cards >> _NUM_RANKS * suit & _SUIT])


def category_of_rank(rank: int) -> str:
    """Return the category of a rank, such as "flush"."""
    return CATEGORIES[int(np.searchsorted(_FIRST_RANKS, rank, side="right")) - 1]
