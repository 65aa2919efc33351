"""What a card can take (rules.md 3.1, 3.2, 3.7).

A card has up to 25 captures, numbered from 0: single cards in ascending order, or else sets in the order of
`list_groups`. Action `card * SLOTS + k` takes capture k; k = 0 also lays the card if it takes nothing.

No card has more captures on a table that play can lead to. A rank lies there more than once only if it was dealt so,
since a card that could take a card of its rank, or a set with its sum, is not laid.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.scopa.state import NUM_CARDS, NUM_SUITS, SUIT_SIZE
from cardenvs.kits.fishing.captures import add_capture, keep_largest, list_groups, new_captures

_ONE_OF_EACH_SUIT = sum(1 << SUIT_SIZE * suit for suit in range(NUM_SUITS))
VALUES = np.arange(NUM_CARDS) % SUIT_SIZE + 1  # by card, 1 to 10 (1.1)


@kernel(inline=True)
def same_rank(card):
    """Return the cards of a card's rank, as a bit set."""
    return np.int64(_ONE_OF_EACH_SUIT) << card % SUIT_SIZE


@kernel(inline=True)
def takes_all(s, card):
    """Whether `card` is an ace that takes everything (3.7, 7.3)."""
    return s.rules.asso_piglia_tutto and VALUES[card] == 1 and s.table != 0


@kernel
def list_captures(s, card, found):
    """Fill `found`, a record from `new_captures`, with the captures of `card`."""
    found.number = found.overflows = 0
    same = s.table & same_rank(card)
    if takes_all(s, card):
        add_capture(found, s.table, 0)
    elif same:
        while same:
            add_capture(found, same & -same, 0)
            same &= same - 1
    else:
        list_groups(s.table, VALUES, VALUES[card], found)
    if s.rules.capture_choice:
        keep_largest(found)  # the first of them (3.3)


@kernel
def num_captures(s, card):
    """Return the number of choices when `card` takes; 0 if it takes nothing."""
    found = new_captures()
    list_captures(s, card, found)
    return found.number


@kernel
def capture(s, card, k):
    """Return the cards that capture `k` of `card` takes, as a bit set; nothing if there is no such capture."""
    found = new_captures()
    list_captures(s, card, found)
    return found.sets[k] if k < found.number else np.int64(0)
