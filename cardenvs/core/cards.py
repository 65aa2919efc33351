"""The 52 cards: ids, texts and colours, the same in every game.

id = suit * 13 + rank, with suits s c d h and ranks from 0, the ace, to 12, the king. Games in which the ace is high
order the ranks in their own rules.
"""

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.core.kernel import kernel

SUITS = "scdh"
RANKS = "A23456789TJQK"
NUM_CARDS = 52
SUIT_SETS = np.array([((1 << 13) - 1) << 13 * suit for suit in range(4)])  # the cards of each suit, as bit sets (int64)
CARD_LABELS = tuple(rank + suit for suit in SUITS for rank in RANKS)
_IDS = {label.lower(): card for card, label in enumerate(CARD_LABELS)}
_SYMBOLS = dict(zip(SUITS, "♠♣♦♥", strict=True))
_COLOURS = {"s": "default", "c": "green", "d": "blue", "h": "red"}  # the four-colour deck


def card_label(card: int) -> str:
    """Return the text of a card, rank then suit: "Th" for the ten of hearts."""
    return CARD_LABELS[card]


def parse_card(text: str) -> int:
    """Return the id of a card text such as "Th", "10h" or "tH".

    Raises:
        DeckError: the text names no card.
    """
    key = text.strip().lower().replace("10", "t")
    if key not in _IDS:
        raise DeckError(f"{text!r} is not a card; a card is a rank of {RANKS} (or 10) and a suit of {SUITS}, as in Th")
    return _IDS[key]


def parse_cards(text: str) -> list[int]:
    """Return the ids of cards separated by whitespace or commas.

    Raises:
        DeckError: a text names no card.
    """
    return [parse_card(part) for part in text.replace(",", " ").split()]


def card_markup(card: int) -> str:
    """Return a card as rich markup: rank and suit symbol, in the colours of a four-colour deck."""
    label = CARD_LABELS[card]
    colour = _COLOURS[label[1]]
    text = label[0] + _SYMBOLS[label[1]]
    return text if colour == "default" else f"[{colour}]{text}[/{colour}]"


def cards_of(bits: int) -> list[int]:
    """Return the ids in a bit set of cards, ascending."""
    bits = int(bits)
    return [card for card in range(NUM_CARDS) if bits >> card & 1]


def bits_of(cards: list[int]) -> np.int64:
    """Return card ids as a bit set (int64)."""
    return np.int64(sum(1 << card for card in cards))


@kernel
def lowest_card(bits):
    """Return the lowest card id in a non-empty bit set (int64), read from the exponent of the lowest bit as a float."""
    return (np.float64(bits & -bits).view(np.int64) >> 52) - 1023


@kernel
def count_bits(bits):
    """Return the number of cards in a bit set (int64)."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number


@kernel(inline=True)
def mark_cards(cards, out, start):
    """Set the entries start + card of `out` to 1 for the cards of a bit set (int64), as in an observation."""
    while cards:
        out[start + lowest_card(cards)] = 1
        cards &= cards - 1


# ---------------------------------------------------------------------------------------------------------------
# Ranks of the small research poker games: J, Q, K, then more above the king

SMALL_RANKS = ("J", "Q", "K", *(f"R{rank}" for rank in range(3, 11)))


# ---------------------------------------------------------------------------------------------------------------
# The 40 cards of Italian games: A 2 3 4 5 6 7 J Q K in each suit, numbered suit * 10 + rank

NUM_ITALIAN = 40
ITALIAN_RANKS = "A234567JQK"
ITALIAN_LABELS = tuple(rank + suit for suit in SUITS for rank in ITALIAN_RANKS)


def full_deck_card(card: int) -> int:
    """Return the id in the full deck of one of the 40 cards, for its label and colour."""
    suit, rank = divmod(int(card), 10)
    return suit * 13 + RANKS.index(ITALIAN_RANKS[rank])


def parse_italian_card(text: str) -> int:
    """Return which of the 40 cards a text names, as in "7d".

    Raises:
        DeckError: it names none of them.
    """
    label = card_label(parse_card(text))
    if label not in ITALIAN_LABELS:
        raise DeckError(f"{text!r} is not in the deck of 40 cards, which has the ranks {ITALIAN_RANKS}")
    return ITALIAN_LABELS.index(label)
