"""Texts of the games in the letters of the oracles: "lay Ts" for "lay 10♠"."""

import re

_LETTERS = {"♠": "s", "♣": "c", "♦": "d", "♥": "h"}
_CARD = re.compile(r"(10|[2-9JQKA])([♠♣♦♥])")


def in_ascii(text):
    return _CARD.sub(lambda card: ("T" if card[1] == "10" else card[1]) + _LETTERS[card[2]], text)
