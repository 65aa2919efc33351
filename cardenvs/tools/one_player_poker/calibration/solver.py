"""The best total of a deck whose order is known.

With the order known, a game comes down to four sets of five cards and the number of discards before each. A play takes
five of the seven cards in hand and leaves two; whatever else was drawn since the last play has been discarded. The two
cards left and the number of discards so far therefore describe a position between plays completely. The table
`worth[play, used, a, b]` holds the most points from a play on if the cards at places a < b of the deck were left, after
`used` discards. It is filled from the last play backwards.

No needed card ever has to be discarded: once all seven are in hand, playing at once and discarding later is as good.
"""

from pathlib import Path

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games import one_player_poker
from cardenvs.games.one_player_poker.rules import HAND_SIZE, MODEL_POINTS, PLAY_SIZE, POINTS
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.poker_hands import FLUSH, STRAIGHT_FLUSH, best_category, best_model_category

_FOLDER = Path(one_player_poker.__file__).parent
_STAY = HAND_SIZE - PLAY_SIZE


def most_points(deck: np.ndarray, plays: int = 4, discards: int = 10, model: bool = True) -> int:
    """Return the most points that can be made of a deck with the budgets `plays` and `discards`.

    `deck` has ids of the full deck in the order of drawing, at least 7 + 5 * plays + discards. With `model`, straight
    flushes count as flushes.
    """
    worth = np.zeros((plays, discards + 1, NUM_CARDS, NUM_CARDS), np.int32)
    points = np.ascontiguousarray(MODEL_POINTS if model else POINTS)
    return int(_solve(np.ascontiguousarray(deck, np.int8), plays, discards, points, worth))


@kernel(folder=_FOLDER, entry=True)
def _solve(deck, plays, discards, points, worth):
    """Fill `worth`, int32 (plays, discards + 1, 52, 52), from the last play to the second; return that of the first."""
    for play in range(plays - 1, 0, -1):
        for used in range(discards + 1):
            seen = _seen(play - 1, used)  # when the two cards stayed
            for b in range(1, seen):
                for a in range(b):
                    worth[play, used, a, b] = _best(deck, play, used, a, b, plays, discards, points, worth)
    return _best(deck, 0, 0, 0, 1, plays, discards, points, worth)


@kernel(folder=_FOLDER, inline=True)
def _seen(play, used):
    """How many cards have been drawn before a play, with `used` discards so far."""
    return HAND_SIZE + PLAY_SIZE * play + used


@kernel(folder=_FOLDER)
def _best(deck, play, used, a, b, plays, discards, points, worth):
    """The most points from `play` on if the cards at places a and b stayed; a, b = 0, 1 before the first play."""
    cards = _bit(deck, a) | _bit(deck, b)
    first = _seen(play - 1, used) if play else _STAY
    for place in range(first, _seen(play, used)):
        cards |= _bit(deck, place)
    best = 0
    if play == plays - 1:
        for place in range(_seen(play, used), _seen(play, discards)):
            cards |= _bit(deck, place)
        return _points(cards, points)
    for now in range(used, discards + 1):
        if now > used:
            cards |= _bit(deck, _seen(play, now) - 1)
        best = max(best, _best_pair(deck, play, now, a, b, first, cards, best, points, worth))
    return best


@kernel(folder=_FOLDER)
def _best_pair(deck, play, now, a, b, first, cards, best, points, worth):
    """The most points if `play` is made after `now` discards, over all pairs that stay; 0 if not above `best`."""
    end = _seen(play, now)
    most = _points(cards, points)  # what the play makes if nothing is held back
    found = 0
    for y in range(first - 1, end):  # places a, b, first, ..., end - 1: a stands for first - 2, b for first - 1
        high = b if y == first - 1 else y
        for x in range(first - 2, y):
            low = x
            if x < first:
                low = a if x == first - 2 else b
            later = worth[play + 1, now, low, high]
            if later + most > best:
                total = later + _points(cards & ~(_bit(deck, low) | _bit(deck, high)), points)
                if total > best:
                    best = found = total
    return found


@kernel(folder=_FOLDER, inline=True)
def _bit(deck, place):
    return np.int64(1) << deck[place]


@kernel(folder=_FOLDER, inline=True)
def _points(cards, points):
    """The points of the best five cards, whether or not a straight flush counts as a flush."""
    counts_as_flush = points[STRAIGHT_FLUSH] == points[FLUSH]
    return points[best_model_category(cards) if counts_as_flush else best_category(cards)]
