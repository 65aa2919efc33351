"""The cards of Uno. Paragraph numbers are those of rules.md.

A *kind* is a card as it looks; there are 54 kinds and 108 cards. Kinds 0 to 51 are 13 * colour + symbol, with colours
r g b y and symbols 0 to 9, Skip, Reverse, Draw Two; then come Wild and Wild Draw Four.
"""

import numpy as np

NUM_COLOURS = 4
COLOUR_NAMES = ("red", "green", "blue", "yellow")
COLOUR_CODES = "rgby"

SEVEN, ZERO = 7, 0
SKIP, REVERSE, DRAW_TWO, WILD_SYMBOL, WILD_FOUR_SYMBOL = range(10, 15)
NUM_SYMBOLS = 15  # of an action; a coloured card has one of the first 13
COLOURED = 13
SYMBOL_NAMES = (*"0123456789", "Skip", "Reverse", "Draw Two", "Wild", "Wild Draw Four")
SYMBOL_CODES = (*"0123456789", "skip", "reverse", "draw_2", "wild", "wild_draw_4")  # as in RLCard

WILD, WILD_FOUR = NUM_COLOURS * COLOURED, NUM_COLOURS * COLOURED + 1
NUM_KINDS = WILD_FOUR + 1
_SYMBOL_COPIES = (1, *[2] * 12)
_SYMBOL_POINTS = (*range(10), 20, 20, 20)
COPIES = np.array([*_SYMBOL_COPIES * NUM_COLOURS, 4, 4], np.int64)
"""How often each kind is in the deck (1.2)."""
POINTS = np.array([*_SYMBOL_POINTS * NUM_COLOURS, 50, 50], np.int64)
"""What each kind counts in a hand (1.2)."""
DECK_SIZE = int(COPIES.sum())
DECK_POINTS = int(COPIES @ POINTS)

CODES = (*(f"{c}-{symbol}" for c in COLOUR_CODES for symbol in SYMBOL_CODES[:COLOURED]), "wild", "wild_draw_4")
LABELS = (*(f"{c} {symbol}" for c in COLOUR_NAMES for symbol in SYMBOL_NAMES[:COLOURED]), "Wild", "Wild Draw Four")

# Sets of kinds, as bit sets
COLOUR_SETS = np.array([((1 << COLOURED) - 1) << COLOURED * c for c in range(NUM_COLOURS)], np.int64)
_SYMBOL_SETS = [sum(1 << COLOURED * c + symbol for c in range(NUM_COLOURS)) for symbol in range(COLOURED)]
MATCHING = np.array([[int(of) | symbols for symbols in (*_SYMBOL_SETS, 0, 0)] for of in COLOUR_SETS], np.int64)
"""Coloured cards that match a colour and a symbol, by these two (4.1)."""
SYMBOL_SETS = np.array([*_SYMBOL_SETS, 1 << WILD, 1 << WILD_FOUR], np.int64)
WILD_BIT, WILD_FOUR_BIT = np.int64(1 << WILD), np.int64(1 << WILD_FOUR)
ALL_KINDS = np.int64((1 << NUM_KINDS) - 1)

SYMBOL_OF = np.array([*list(range(COLOURED)) * NUM_COLOURS, WILD_SYMBOL, WILD_FOUR_SYMBOL], np.int64)
"""The symbol of each kind."""
