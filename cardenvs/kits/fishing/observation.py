"""The first sections of observations of fishing games."""

from cardenvs.core.kernel import kernel
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS
from cardenvs.kits.fishing.rules import count_sides
from cardenvs.kits.fishing.state import ROUND_SIZE
from cardenvs.kits.sections import cards, hand_size, in_stock, number, one_seat, per_seat, per_side

_MOST = 127  # scores are clipped here


@kernel(inline=True)
def _score(s, side):
    return min(max(s.scores[side], -_MOST), _MOST)


@kernel(inline=True)
def took_last(s, side):
    """Whether a side captured last in this hand."""
    return side == s.last_taker


def _by_side(part):
    return per_side(part, count_sides, "the observer's first, then in turn")


SECTIONS = (
    cards("hand", CARD_LABELS, "own cards", "hands"),
    cards("table", CARD_LABELS, "loose cards on the table", "table"),
    cards("last_table", CARD_LABELS, "cards that nobody got in the hand before", "last_table"),
    _by_side(cards("won", CARD_LABELS, "cards captured in this hand", "won")),
    _by_side(cards("last_won", CARD_LABELS, "the same at the end of the hand before", "last_won")),
    _by_side(number("sweeps", "sweeps of this hand that count", "sweeps", high=NUM_CARDS // 2)),
    _by_side(number("scores", f"points, clipped at {_MOST}", _score, low=-_MOST, high=_MOST)),
    _by_side(number("last_taker", "1 for the side that captured last in this hand", took_last)),
    per_seat(number("hand_sizes", "cards in hand", hand_size, high=ROUND_SIZE)),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("dealer", "the dealer", "dealer"),
    number("stock", "cards still to be dealt", in_stock, high=NUM_CARDS),
)
