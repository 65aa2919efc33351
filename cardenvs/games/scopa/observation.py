"""What a player of Scopa observes."""

from cardenvs.games.scopa.state import NUM_CARDS, STATE
from cardenvs.kits.cards import ITALIAN
from cardenvs.kits.fishing.observation import took_last
from cardenvs.kits.matches import count_sides
from cardenvs.kits.sections import Observation, cards, hand_size, in_stock, number, one_seat, per_seat, per_side

_MOST_SCORE = 127  # scores are clipped here
_MOST_HAND = 10


def _by_side(part):
    return per_side(part, count_sides, "the observer's first, then in turn")


OBSERVATION = Observation(
    STATE,
    cards("hand", ITALIAN.labels, "own cards", "hands"),
    cards("table", ITALIAN.labels, "cards on the table", "table"),
    _by_side(cards("won", ITALIAN.labels, "cards that each side has taken", "won")),
    _by_side(cards("last_won", ITALIAN.labels, "the same at the end of the hand before", "last_won")),
    cards("last_table", ITALIAN.labels, "cards that nobody got in the hand before", "last_table"),
    _by_side(number("scope", "scope of this hand", "sweeps", high=NUM_CARDS // 2)),
    _by_side(number("scores", f"points in the match, clipped at {_MOST_SCORE}", "scores", clip=_MOST_SCORE)),
    _by_side(number("last_taker", "1 for the side that took last in this hand", took_last)),
    per_seat(number("hand_sizes", "cards in hand", hand_size, high=_MOST_HAND)),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("dealer", "the dealer", "dealer"),
    number("stock", "cards still to be dealt", in_stock, high=NUM_CARDS),
)
