"""Cards: packs with their ids and texts, the 52 cards, and bit sets of cards.

    PACK = Pack("789QKTAJ", "dhsc")  # 32 cards; id = suit * 8 + rank
    PACK = Pack("23456789TJQKA", "cdsh", by="rank")  # 52 cards; id = rank * 4 + suit
    PACK = Pack("9TJQKA", joker=True)  # 24 cards, and a joker with the id 24

Most games number the 52 cards as FULL does: id = suit * 13 + rank, with suits s c d h and ranks from 0, the ace, to 12,
the king. Games in which the ace is high order the ranks in their own rules.
"""

from typing import Any

import numpy as np

from cardenvs.core.cards import SUIT_SIGNS, folded, written
from cardenvs.core.errors import DeckError
from cardenvs.core.kernel import kernel
from cardenvs.core.view import View

SUITS = "scdh"
RANKS = "A23456789TJQK"
JOKER = "JK"  # label of a joker
NUM_CARDS = 52


class Pack:
    """A pack of cards: each of some ranks in each of some suits.

    Attributes:
        ranks, suits: a letter each, in the order of the ids.
        size: number of cards, the joker included.
        all_cards: all of them, as a bit set.
        labels: of the cards as programs write them, "Td".
        texts: of the cards for people, "10♦".
        suit_sets: int64 (suits,), the cards of each suit as bit sets.
        suit_index, rank_index: int8 (size,), suit and rank of each card, by their places in `suits` and `ranks`; -1 for
            the joker.
        suit_of, rank_of: the same as kernels of a card.
    """

    def __init__(self, ranks: str, suits: str = SUITS, by: str = "suit", joker: bool = False) -> None:
        """Number the cards.

        Args:
            ranks: letters of the ranks.
            suits: letters of the suits.
            by: "suit" if the cards of a suit have consecutive ids, "rank" if those of a rank have.
            joker: whether a joker is the last card. It belongs to no suit.
        """
        pairs = [(suit, rank) for suit in range(len(suits)) for rank in range(len(ranks))]
        if by == "rank":
            pairs.sort(key=lambda pair: pair[::-1])
        jokers = [JOKER] if joker else []
        self.ranks, self.suits, self.size = ranks, suits, len(pairs) + len(jokers)
        self.all_cards = np.int64((1 << self.size) - 1)
        self.labels = (*(ranks[rank] + suits[suit] for suit, rank in pairs), *jokers)
        self.texts = tuple(map(written, self.labels))
        self.suit_index = np.array([suit for suit, _ in pairs] + [-1] * len(jokers), np.int8)
        self.rank_index = np.array([rank for _, rank in pairs] + [-1] * len(jokers), np.int8)
        self.suit_sets = np.array(
            [sum(1 << card for card, (of, _) in enumerate(pairs) if of == suit) for suit in range(len(suits))]
        )
        self.suit_of, self.rank_of = _of_card(self.suit_index), _of_card(self.rank_index)

    def cards_of(self, bits: int) -> list[int]:
        """Return the ids in a bit set of cards, ascending."""
        return [card for card in range(self.size) if int(bits) >> card & 1]

    def parse(self, text: str) -> int:
        """Return the id of a card text such as "10♦", "Td" or "10d"; "JK" and "joker" name the joker.

        Raises:
            DeckError: it names none of these cards.
        """
        if JOKER in self.labels and folded(text) in ("jk", "joker"):
            return self.labels.index(JOKER)
        label = card_label(parse_card(text))
        if label not in self.labels:
            raise DeckError(f"{text!r} is not in the deck of {self.size} cards, which has the ranks {self.ranks}")
        return self.labels.index(label)


def _of_card(table: np.ndarray) -> Any:
    @kernel(inline=True)
    def of_card(card):
        return np.int64(table[card])

    return of_card


FULL, ITALIAN = Pack(RANKS), Pack("A234567JQK")
SUIT_SETS = FULL.suit_sets
RANK_SETS = np.array([sum(1 << 13 * suit + rank for suit in range(4)) for rank in range(13)])  # the same by rank
CARD_LABELS, CARD_TEXTS = FULL.labels, FULL.texts
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
    """Return the lowest card id in a non-empty bit set (int64)."""
    return count_bits(~bits & (bits - 1))  # one instruction: it counts the zeros below the lowest one


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
    """Return the face of a playing card from a text such as "Td"; from "K" or "JK", of one without a suit."""
    if label == JOKER:
        return {"kind": "card", "rank": JOKER}
    return {"kind": "card", "rank": label[0], **({"suit": label[1]} if label[1:] else {})}


class PackView(View):
    """View of a game whose tokens are the cards of a pack.

    Attributes:
        pack: the pack.
    """

    pack: Pack

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Take the texts of the tokens from the pack."""
        super().__init_subclass__(**arguments)
        cls.tokens = cls.pack.texts

    def token_code(self, token: int) -> str:
        """Return a card as in "Td"."""
        return self.pack.labels[token]

    def parse_token(self, text: str) -> int:
        """Return the card of a text.

        Raises:
            DeckError: the text names no card of the pack.
        """
        return self.pack.parse(text)

    def token_face(self, token: int) -> dict[str, Any]:
        """Return a card as rank and suit."""
        return card_face(self.pack.labels[token])


class CardView(PackView):
    """View of a game whose tokens are the 52 cards, numbered as in FULL."""

    pack = FULL


class ItalianCardView(PackView):
    """View of a game whose tokens are the 40 cards of Italian games."""

    pack = ITALIAN
