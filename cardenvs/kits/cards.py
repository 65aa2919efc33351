"""The 52 cards: ids, texts and colours, the same in every game.

id = suit * 13 + rank, with suits s c d h and ranks from 0, the ace, to 12, the king. Games in which the ace is high
order the ranks in their own rules.
"""

from typing import Any

import numpy as np

from cardenvs.core.cards import SUIT_SIGNS, folded, written
from cardenvs.core.errors import DeckError
from cardenvs.core.kernel import kernel
from cardenvs.core.view import View

SUITS = "scdh"
RANKS = "A23456789TJQK"
NUM_CARDS = 52
SUIT_SETS = np.array([((1 << 13) - 1) << 13 * suit for suit in range(4)])  # the cards of each suit, as bit sets (int64)
RANK_SETS = np.array([sum(1 << 13 * suit + rank for suit in range(4)) for rank in range(13)])  # the same by rank
CARD_LABELS = tuple(rank + suit for suit in SUITS for rank in RANKS)
CARD_TEXTS = tuple(map(written, CARD_LABELS))
_IDS = {folded(label): card for card, label in enumerate(CARD_LABELS)}


def card_label(card: int) -> str:
    """Return a card as programs write it for programs: "Th" for the ten of hearts."""
    return CARD_LABELS[card]


def card_text(card: int) -> str:
    """Return a card for people: "10♥" for the ten of hearts."""
    return CARD_TEXTS[card]


def suit_text(suit: int) -> str:
    """Return the sign of a suit, by its place in SUITS: "♥" for 3."""
    return SUIT_SIGNS[SUITS[suit]]


def parse_card(text: str) -> int:
    """Return the id of a card text such as "10♥", "Th", "10h" or "tH".

    Raises:
        DeckError: the text names no card.
    """
    key = folded(text)
    if key not in _IDS:
        raise DeckError(f"{text!r} is not a card; a card is a rank of {RANKS} (or 10) and a suit, as in 10♥, 10h or Th")
    return _IDS[key]


def parse_cards(text: str) -> list[int]:
    """Return the ids of cards separated by whitespace or commas.

    Raises:
        DeckError: a text names no card.
    """
    return [parse_card(part) for part in text.replace(",", " ").split()]


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


@kernel(inline=True)
def highest_card(bits):
    """Return the highest card of a non-empty bit set (int64), as a bit set."""
    while bits & (bits - 1):
        bits &= bits - 1
    return bits


@kernel
def count_bits(bits):
    """Return the number of cards in a bit set (int64)."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number


@kernel
def chance_of_none(wanted, drawn, cards):
    """Return the chance that none of `wanted` among some cards is drawn, if `drawn` of them are drawn at random."""
    chance = 1.0
    for k in range(wanted):
        chance *= max(cards - drawn - k, 0) / max(cards - k, 1)
    return chance


def card_face(label: str) -> dict[str, Any]:
    """Return the face of a playing card from a text such as "Td"; from "K", of one without a suit."""
    return {"kind": "card", "rank": label[0], **({"suit": label[1]} if label[1:] else {})}


class CardView(View):
    """View of a game whose tokens are the 52 cards."""

    tokens = CARD_TEXTS

    def token_code(self, token: int) -> str:
        """Return a card as in "Th"."""
        return card_label(token)

    def parse_token(self, text: str) -> int:
        """Return the card of a text.

        Raises:
            DeckError: the text names no card.
        """
        return parse_card(text)

    def token_face(self, token: int) -> dict[str, Any]:
        """Return a card as rank and suit."""
        return card_face(card_label(token))
