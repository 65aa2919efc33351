"""The 40 cards of Italian games: A 2 3 4 5 6 7 J Q K in each suit, numbered suit * 10 + rank."""

from typing import Any

from cardenvs.core.cards import written
from cardenvs.core.errors import DeckError
from cardenvs.core.view import View
from cardenvs.kits.cards import SUITS, card_face, card_label, parse_card

NUM_ITALIAN = 40
ITALIAN_RANKS = "A234567JQK"
ITALIAN_LABELS = tuple(rank + suit for suit in SUITS for rank in ITALIAN_RANKS)
ITALIAN_TEXTS = tuple(map(written, ITALIAN_LABELS))


def parse_italian_card(text: str) -> int:
    """Return which of the 40 cards a text names, as in "7d".

    Raises:
        DeckError: it names none of them.
    """
    label = card_label(parse_card(text))
    if label not in ITALIAN_LABELS:
        raise DeckError(f"{text!r} is not in the deck of 40 cards, which has the ranks {ITALIAN_RANKS}")
    return ITALIAN_LABELS.index(label)


class ItalianCardView(View):
    """View of a game whose tokens are the 40 Italian cards."""

    tokens = ITALIAN_TEXTS

    def token_code(self, token: int) -> str:
        """Return a card as in "7d"."""
        return ITALIAN_LABELS[token]

    def parse_token(self, text: str) -> int:
        """Return the card of a text.

        Raises:
            DeckError: the text names none of the 40 cards.
        """
        return parse_italian_card(text)

    def token_face(self, token: int) -> dict[str, Any]:
        """Return a card as rank and suit."""
        return card_face(ITALIAN_LABELS[token])
