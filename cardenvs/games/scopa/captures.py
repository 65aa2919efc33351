"""What a card can take (rules.md 3.1, 3.2, 3.7).

A card has up to 25 captures, numbered from 0: single cards in ascending order, or else sets in the order in which
`_nth_set` finds them. Action `card * SLOTS + k` takes capture k; k = 0 also lays the card if it takes nothing.

No card has more captures on a table that play can lead to. A rank lies there more than once only if it was dealt so,
since a card that could take a card of its rank, or a set with its sum, is not laid.
"""

import numpy as np

from cardenvs.core.cards import count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.games.scopa.state import NUM_SUITS, SUIT_SIZE

_ONE_OF_EACH_SUIT = sum(1 << SUIT_SIZE * suit for suit in range(NUM_SUITS))


@kernel(inline=True)
def value_of(card):
    """Return the value of a card, 1 to 10 (1.1)."""
    return card % SUIT_SIZE + 1


@kernel(inline=True)
def same_rank(card):
    """Return the cards of a card's rank, as a bit set."""
    return np.int64(_ONE_OF_EACH_SUIT) << card % SUIT_SIZE


@kernel
def num_captures(s, card):
    """Return the number of choices when `card` takes; 0 if it takes nothing."""
    if takes_all(s, card):
        return 1
    same = count_bits(s.table & same_rank(card))
    number = same if same else _nth_set(s.table, value_of(card), -1)
    return min(number, 1) if s.rules.capture_choice else number


@kernel
def capture(s, card, k):
    """Return the cards that capture `k` of `card` takes, as a bit set."""
    if takes_all(s, card):
        return s.table
    same = s.table & same_rank(card)
    if same:
        for _ in range(k):
            same &= same - 1
        return same & -same
    return _largest_set(s.table, value_of(card)) if s.rules.capture_choice else _nth_set(s.table, value_of(card), k)


@kernel(inline=True)
def takes_all(s, card):
    """Whether `card` is an ace that takes everything (3.7, 7.3)."""
    return s.rules.asso_piglia_tutto and value_of(card) == 1 and s.table != 0


@kernel
def _largest_set(table, total):
    """Return the first of the sets with the most cards (3.3)."""
    largest = np.int64(0)
    for k in range(_nth_set(table, total, -1)):
        cards = _nth_set(table, total, k)
        if count_bits(cards) > count_bits(largest):
            largest = cards
    return largest


@kernel
def _nth_set(table, total, n):
    """Return the n-th set of cards that add up to `total`, as a bit set; with n = -1 the number of sets.

    Goes through the sets depth first, in the order of their lowest cards.
    """
    chosen, left, found = np.int64(0), total, np.int64(0)
    rest = table  # cards that may be added to `chosen`
    while True:
        if rest:
            card = rest & -rest
            rest ^= card
            value = value_of(lowest_card(card))
            if value < left:
                chosen |= card
                left -= value
            elif value == left:
                if found == n:
                    return chosen | card
                found += 1
        elif chosen:
            last = _highest(chosen)
            chosen ^= last
            left += value_of(lowest_card(last))
            rest = table & ~(2 * last - 1)
        else:
            return found


@kernel(inline=True)
def _highest(cards):
    """Return the highest card of a bit set, as a bit set."""
    while cards & (cards - 1):
        cards &= cards - 1
    return cards
