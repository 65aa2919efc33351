"""What the player of one-player poker observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.one_player_poker.rules import HAND_SIZE, MAX_PLAYS, PLAY_SIZE, STATE
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS, RANKS, SUITS
from cardenvs.kits.poker_hands import CATEGORIES
from cardenvs.kits.sections import Observation, cards, entries, number, one_hot, together, written

_MAX_DISCARDS = NUM_CARDS - HAND_SIZE - PLAY_SIZE


def _most_in_a_row() -> np.ndarray:
    """Return for each set of ranks, 13 bits, and each rank: the most of them in five in a row with it; 3 bits a rank.

    The ace is low and high.
    """
    present = np.arange(1 << 13)[:, None] >> np.arange(13) & 1
    most = np.zeros((1 << 13, 13), np.int64)
    for low in range(10):
        row = [(low + step) % 13 for step in range(5)]
        most[:, row] = np.maximum(most[:, row], present[:, row].sum(1, keepdims=True))
    return (most << 3 * np.arange(13)).sum(1)


_IN_A_ROW = _most_in_a_row()
_ALL_CARDS = (1 << NUM_CARDS) - 1

# By card, because a division takes longer than a load. Counters have three bits: 13 ranks, then four suits.
_CARDS = np.arange(NUM_CARDS)
_RANK = _CARDS % 13
_RANK_COUNT = 3 * _RANK
_SUIT = _CARDS // 13
_SUIT_COUNT = 39 + 3 * _SUIT
_COUNTS = (1 << _RANK_COUNT | 1 << _SUIT_COUNT).astype(np.int64)


@kernel(inline=True)
def _write_hand(s, player, out, rank_of, suit_of, mates, suited, runs):
    ranks, counts = np.int64(0), np.int64(0)
    for k in range(HAND_SIZE):
        card = np.uint64(s.hand[k])  # unsigned, so that Numba skips the check for negative indices
        out[rank_of + np.uint64(13 * k + _RANK[card])] = 1
        out[suit_of + np.uint64(4 * k + _SUIT[card])] = 1
        ranks |= np.int64(1) << _RANK[card]
        counts += _COUNTS[card]
    in_a_row = _IN_A_ROW[ranks]
    for k in range(HAND_SIZE):
        card, place = np.uint64(s.hand[k]), np.uint64(k)
        out[mates + place] = (counts >> _RANK_COUNT[card] & 7) - 1
        out[suited + place] = (counts >> _SUIT_COUNT[card] & 7) - 1
        out[runs + place] = in_a_row >> _RANK_COUNT[card] & 7


@kernel(inline=True)
def _played(s, p):
    rest = s.left | s.discarded
    for k in range(HAND_SIZE):
        rest |= np.int64(1) << np.int64(s.hand[k])
    return _ALL_CARDS & ~rest


@kernel(inline=True)
def _plays_left(s, p):
    return s.rules.plays - s.num_played - 1


@kernel(inline=True)
def _can_discard(s, p, k):
    return k < s.discards_left


@kernel(inline=True)
def _write_categories(s, p, out, at):
    categories = np.int64(0)
    for k in range(MAX_PLAYS):
        categories += np.int64(k < s.num_played) << 4 * np.int64(s.categories[k])
    for category in range(len(CATEGORIES)):
        out[at + category] = categories >> 4 * category & 15


def _by_place(labels):
    return tuple(f"{k}:{label}" for k in range(HAND_SIZE) for label in labels)


OBSERVATION = Observation(
    STATE,
    *together(
        _write_hand,
        written("ranks", _by_place(RANKS), "one-hot rank of each card in hand, left to right"),
        written("suits", _by_place(SUITS), "one-hot suit of each card in hand, left to right"),
        written("mates", None, "for each card, the others of its rank in hand", high=3, size=HAND_SIZE),
        written("suited", None, "for each card, the others of its suit in hand", high=HAND_SIZE - 1, size=HAND_SIZE),
        written("runs", None, "for each card, the most ranks in hand among five in a row with its own", high=5,
                size=HAND_SIZE),
    ),
    cards("left", CARD_LABELS, "cards to come", "left"),
    cards("played", CARD_LABELS, "cards played", _played),
    one_hot("plays_left", None, "one-hot number of plays left less one, zeros if none", _plays_left, size=MAX_PLAYS),
    number("discards_left", "discards left", "discards_left", high=_MAX_DISCARDS),
    entries("can_discard", None, "1 for each number of cards up to seven that may be discarded", _can_discard,
            size=HAND_SIZE),
    written("categories", CATEGORIES, "plays of each category", _write_categories, high=MAX_PLAYS),
)  # fmt: skip
layout, observe = OBSERVATION.layout, OBSERVATION.observe
