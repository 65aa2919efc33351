"""What the player of one-player poker observes."""

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, RANKS, SUITS, mark_cards
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
        Section("left", NUM_CARDS, "cards to come", labels=CARD_LABELS),
        Section("played", NUM_CARDS, "cards played", labels=CARD_LABELS),
        Section("plays_left", MAX_PLAYS, "one-hot number of plays left less one, zeros if none"),
        Section("discards_left", 1, "discards left", high=_MAX_DISCARDS),
        Section("can_discard", HAND_SIZE, "1 for each number of cards up to seven that may be discarded"),
        Section("categories", len(CATEGORIES), "plays of each category", high=MAX_PLAYS, labels=CATEGORIES),
    )
)  # fmt: skip
_RANKS, _SUITS, _LEFT, _PLAYED, _PLAYS_LEFT, _DISCARDS_LEFT, _CAN_DISCARD, _CATEGORIES = LAYOUT.starts


def layout(options):
    """The sections of an observation, int8, the same for all options."""
    return LAYOUT


@kernel
def observe(s, player, out):
    """Write the hand, the cards to come and the budgets into `out`, int8 (LAYOUT.size,)."""
    out[:] = 0
    for k in range(HAND_SIZE):
        card = s.hand[k]
        out[_RANKS + 13 * k + card % 13] = 1
        out[_SUITS + 4 * k + card // 13] = 1
    mark_cards(s.left, out, _LEFT)
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
