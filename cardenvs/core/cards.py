"""The 52 cards: ids, texts and colours, the same in every game of the suite.

id = suit * 13 + rank, suits s c d h, rank 0 the ace to 12 the king. Games in which the ace is high order the ranks
in their own rules.
"""

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.core.kernel import kernel

SUITS = "scdh"
RANKS = "A23456789TJQK"
NUM_CARDS = 52
CARD_LABELS = tuple(rank + suit for suit in SUITS for rank in RANKS)
_IDS = {label.lower(): card for card, label in enumerate(CARD_LABELS)}
_SYMBOLS = dict(zip(SUITS, "♠♣♦♥", strict=True))
_COLOURS = {"s": "default", "c": "green", "d": "blue", "h": "red"}  # the four-colour deck


def card_label(card: int) -> str:
    """The text of a card, rank then suit: "Th" for the ten of hearts."""
    return CARD_LABELS[card]


def parse_card(text: str) -> int:
    """The id of a card text such as "Th", "10h" or "tH".

    Raises:
        DeckError: the text names no card.
    """
    key = text.strip().lower().replace("10", "t")
    if key not in _IDS:
        raise DeckError(f"{text!r} is no card; a card is a rank of {RANKS} (or 10) and a suit of {SUITS}, as in Th")
    return _IDS[key]


def parse_cards(text: str) -> list[int]:
    """The ids of cards separated by blanks or commas."""
    return [parse_card(part) for part in text.replace(",", " ").split()]


def card_markup(card: int) -> str:
    """The card for a terminal, as rich markup: rank, suit symbol, four colours."""
    label = CARD_LABELS[card]
    colour = _COLOURS[label[1]]
    text = label[0] + _SYMBOLS[label[1]]
    return text if colour == "default" else f"[{colour}]{text}[/{colour}]"


def cards_of(bits: int) -> list[int]:
    """The ids in a bit set of cards, ascending."""
    return [card for card in range(NUM_CARDS) if int(bits) >> card & 1]


def bits_of(cards: list[int]) -> np.int64:
    """The bit set (int64) of some card ids."""
    return np.int64(sum(1 << card for card in cards))


@kernel
def lowest_card(bits):
    """The lowest card id in a bit set (int64) that is not empty: its lowest bit, as a float, has it as exponent."""
    return (np.float64(bits & -bits).view(np.int64) >> 52) - 1023


@kernel
def count_bits(bits):
    """How many bits of an int64 set are set."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number


# ---------------------------------------------------------------------------------------------------------------
# The ranks of the small research poker games: J Q K, then further ones above the king

SMALL_RANKS = ("J", "Q", "K", *(f"R{rank}" for rank in range(3, 11)))
