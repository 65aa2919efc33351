"""What a player of Hearts observes."""

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.games.hearts.rules import TRICKS, received_by, receiver_of
from cardenvs.games.hearts.state import JACK_BONUS, MAX_HANDS, MAX_QUEEN_POINTS, NUM_HEARTS, PACK, PHASES, STATE
from cardenvs.kits.sections import Observation, cards, number, one_hot, one_seat, only, per_seat, tens_and_ones
from cardenvs.kits.tricks import trick_sections

_MOST_POINTS = NUM_HEARTS + MAX_QUEEN_POINTS
_LEAST_POINTS = -_MOST_POINTS - JACK_BONUS  # of a moon that is subtracted


@kernel(inline=True)
def _passes_to(s, p):
    return receiver_of(s, p) if s.distance else -1


@kernel(inline=True)
def _is_match(rules):
    return rules.target != NONE


OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    one_seat("only_points", "who has shown to hold nothing but hearts and perhaps the queen of spades", "only_points"),
    one_hot("phase", PHASES, "one-hot phase", "phase"),
    one_seat("passes_to", "the player to whom the observer passes cards in this hand", _passes_to),
    cards("passed", PACK.labels, "cards that the observer has passed in this hand, or chosen to pass", "passed"),
    cards("received", PACK.labels, "cards that the observer has received in this hand", received_by),
    one_seat("opener", "the player who leads to the first trick, once that is known", "opener"),
    number("hearts_broken", "1 if hearts are broken", "is_broken"),
    per_seat(cards("won", PACK.labels, "cards in tricks won in this hand", "won")),
    per_seat(number("points", "points of this hand", "points", low=_LEAST_POINTS, high=_MOST_POINTS)),
    *only(lambda options: options.target is not None,
          per_seat(cards("last_won", PACK.labels, "cards in tricks won in the hand before", "last_won")),
          *map(per_seat, tens_and_ones("points of all hands")),
          number("hand_number", "number of this hand", "num_hands", high=MAX_HANDS),
          rules=_is_match),
)  # fmt: skip
