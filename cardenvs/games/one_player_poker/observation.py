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


def layout(options):
    """The sections of an observation, int8, the same for all options."""
    return LAYOUT


@kernel
def observe(s, player, out):
    """Write the hand, the cards to come and the budgets into `out`, int8 (LAYOUT.size,)."""
    out[:] = 0
    ranks, of_rank, of_suit = np.int64(0), np.int64(0), np.int64(0)  # a set, and counters of three bits
    for k in range(HAND_SIZE):
        card = np.int64(s.hand[k])
        rank, suit = card % 13, card // 13
        out[_RANKS + 13 * k + rank] = 1
        out[_SUITS + 4 * k + suit] = 1
        ranks |= np.int64(1) << rank
        of_rank += np.int64(1) << 3 * rank
        of_suit += np.int64(1) << 3 * suit
    in_a_row = _IN_A_ROW[ranks]
    for k in range(HAND_SIZE):
        card = np.int64(s.hand[k])
        rank, suit = card % 13, card // 13
        out[_MATES + k] = (of_rank >> 3 * rank & 7) - 1
        out[_SUITED + k] = (of_suit >> 3 * suit & 7) - 1
        out[_RUNS + k] = in_a_row >> 3 * rank & 7
    for card in range(NUM_CARDS):
        out[_LEFT + card] = s.left >> card & 1
    for k in range(PLAY_SIZE * s.num_played):
        out[_PLAYED + s.played[k]] = 1
    plays_left = s.rules.plays - s.num_played
    if plays_left > 0:
        out[_PLAYS_LEFT + plays_left - 1] = 1
    out[_DISCARDS_LEFT] = s.discards_left
    for k in range(min(s.discards_left, HAND_SIZE)):
        out[_CAN_DISCARD + k] = 1
    for k in range(s.num_played):
        out[_CATEGORIES + s.categories[k]] += 1
