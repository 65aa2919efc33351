"""How playing cards are written: 10♠ for people, "Ts" in what programs write for programs. Both are read everywhere.

Programs use the second form in names of observation features, deck texts, hand histories and records.
"""

import re

SUIT_SIGNS = {"s": "♠", "c": "♣", "d": "♦", "h": "♥"}
_SIGNS = "".join(SUIT_SIGNS.values())
_LETTERS = str.maketrans({sign: letter for letter, sign in SUIT_SIGNS.items()} | {"\ufe0e": None, "\ufe0f": None})
_TEN = re.compile(r"\bt(?=[scdh]\b)")
_CARD = re.compile(rf"(\w+[{_SIGNS}]?)")


def written(label: str) -> str:
    """Return a card for people: "10♠" for "Ts", "K♥" for "Kh", "10" for "T". Other texts stay as they are."""
    rank, suit = label[:1], label[1:]
    if len(label) > 2 or (suit and suit not in SUIT_SIGNS):
        return label
    return ("10" if rank == "T" else rank) + SUIT_SIGNS.get(suit, "")


def folded(text: str) -> str:
    """Return what all spellings of a text have in common: "play 10s" for "play 10♠", "Play T♠", "play Ts", "play 10s".

    Case, extra whitespace, the form of suit signs (♠ or an emoji), and how cards are written do not matter.
    """
    return _TEN.sub("10", " ".join(text.translate(_LETTERS).lower().split()))


def words_and_gaps(text: str) -> list[str]:
    """Return the words of a text, a card being one, and what is between them, which together are the text."""
    return _CARD.split(text)
