"""What the player of one-player poker observes."""

import numpy as np

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, RANKS, SUITS
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.games.one_player_poker.categories import CATEGORIES
from cardenvs.games.one_player_poker.rules import HAND_SIZE, MAX_PLAYS, PLAY_SIZE

_MAX_DISCARDS = NUM_CARDS - HAND_SIZE - PLAY_SIZE

_PLACES = range(HAND_SIZE)
LAYOUT = Layout(
    (
        Section(
            "ranks", HAND_SIZE * 13, "one-hot rank of each card in hand, left to right",
            labels=tuple(f"{k}:{rank}" for k in _PLACES for rank in RANKS),
        ),
        Section(
            "suits", HAND_SIZE * 4, "one-hot suit of each card in hand, left to right",
            labels=tuple(f"{k}:{suit}" for k in _PLACES for suit in SUITS),
        ),
        Section("mates", HAND_SIZE, "for each card, the others of its rank in hand", high=3),
        Section("suited", HAND_SIZE, "for each card, the others of its suit in hand", high=HAND_SIZE - 1),
        Section("runs", HAND_SIZE, "for each card, the most ranks in hand among five in a row with its own", high=5),
        Section("left", NUM_CARDS, "cards to come", labels=CARD_LABELS),
        Section("played", NUM_CARDS, "cards played", labels=CARD_LABELS),
        Section("plays_left", MAX_PLAYS, "one-hot number of plays left less one, zeros if none"),
        Section("discards_left", 1, "discards left", high=_MAX_DISCARDS),
        Section("can_discard", HAND_SIZE, "1 for each number of cards up to seven that may be discarded"),
        Section("categories", len(CATEGORIES), "plays of each category", high=MAX_PLAYS, labels=CATEGORIES),
    )
)  # fmt: skip
(
    _RANKS, _SUITS, _MATES, _SUITED, _RUNS, _LEFT, _PLAYED, _PLAYS_LEFT, _DISCARDS_LEFT, _CAN_DISCARD,
    _CATEGORIES,
) = LAYOUT.starts  # fmt: skip


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
_BITS = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.int8)  # of a byte, one a column
_ALL_CARDS = (1 << NUM_CARDS) - 1

# By card, because a division takes longer than a load. Counters have three bits: 13 ranks, then four suits.
_CARDS = np.arange(NUM_CARDS)
_RANK = _CARDS % 13
_RANK_COUNT = 3 * _RANK
_SUIT_COUNT = 39 + 3 * (_CARDS // 13)
_COUNTS = (1 << _RANK_COUNT | 1 << _SUIT_COUNT).astype(np.int64)
_RANK_PLACES = (_RANKS + 13 * np.arange(HAND_SIZE)[:, None] + _CARDS % 13).astype(np.uint64)
_SUIT_PLACES = (_SUITS + 4 * np.arange(HAND_SIZE)[:, None] + _CARDS // 13).astype(np.uint64)


def layout(options):
    """The sections of an observation, int8, the same for all options."""
    return LAYOUT


@kernel
def observe(s, player, out):
    """Write the hand, the cards to come and the budgets into `out`, int8 (LAYOUT.size,)."""
    out[:] = 0
    hand, ranks, counts = np.int64(0), np.int64(0), np.int64(0)
    for k in range(HAND_SIZE):
        card = np.uint64(s.hand[k])  # unsigned, so that Numba skips the check for negative indices
        out[_RANK_PLACES[k, card]] = 1
        out[_SUIT_PLACES[k, card]] = 1
        hand |= np.int64(1) << np.int64(card)
        ranks |= np.int64(1) << _RANK[card]
        counts += _COUNTS[card]
    in_a_row = _IN_A_ROW[ranks]
    for k in range(HAND_SIZE):
        card = np.uint64(s.hand[k])
        out[_MATES + k] = (counts >> _RANK_COUNT[card] & 7) - 1
        out[_SUITED + k] = (counts >> _SUIT_COUNT[card] & 7) - 1
        out[_RUNS + k] = in_a_row >> _RANK_COUNT[card] & 7
    _write_cards(s.left, _LEFT, out)
    _write_cards(_ALL_CARDS & ~(s.left | s.discarded | hand), _PLAYED, out)
    plays_left = s.rules.plays - s.num_played
    if plays_left > 0:
        out[_PLAYS_LEFT + plays_left - 1] = 1
    out[_DISCARDS_LEFT] = s.discards_left
    for k in range(HAND_SIZE):
        out[_CAN_DISCARD + k] = k < s.discards_left
    categories = np.int64(0)
    for k in range(MAX_PLAYS):
        categories += np.int64(k < s.num_played) << 4 * np.int64(s.categories[k])
    for category in range(len(CATEGORIES)):
        out[_CATEGORIES + category] = categories >> 4 * category & 15


@kernel(inline=True)
def _write_cards(cards, start, out):
    """Write the bits of a set into out[start:start + NUM_CARDS], eight at a time."""
    for k in range(NUM_CARDS // 8):
        byte = np.uint64(cards >> 8 * k & 255)
        for bit in range(8):
            out[start + 8 * k + bit] = _BITS[byte, bit]
    byte = np.uint64(cards >> NUM_CARDS // 8 * 8)
    for bit in range(NUM_CARDS % 8):
        out[start + NUM_CARDS // 8 * 8 + bit] = _BITS[byte, bit]
