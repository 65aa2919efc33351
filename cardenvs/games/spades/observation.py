"""What a player of Spades observes."""

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.games.spades.state import (
    BIDS,
    HAND_SIZE,
    MAX_HANDS,
    PACK,
    PHASES,
    STATE,
    TRICKS,
    count_sides,
    known_to_partner,
    partner_of,
)
from cardenvs.kits.bids import bid_sections
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    per_side,
    tens_and_ones,
)
from cardenvs.kits.tricks import trick_sections


@kernel(inline=True)
def _given(s, p):
    return known_to_partner(s, partner_of(p))


@kernel(inline=True)
def _is_match(rules):
    return rules.target != NONE


def _by_side(part):
    return per_side(part, count_sides, "the observer's side first, then in turn")


OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    per_seat(cards("won", PACK.labels, "cards in tricks won in this hand", "won")),
    *bid_sections(BIDS, HAND_SIZE),
    one_hot("phase", PHASES, "one-hot phase", "phase"),
    one_seat("dealer", "the dealer", "dealer"),
    number("is_broken", "1 if spades are broken", "is_broken"),
    *only(lambda options: options.blind_nil,
          per_seat(number("blind", "1 for each player who has bid blind nil", "blind"))),
    *only(lambda options: options.blind_nil_pass > 0,
          cards("given", PACK.labels, "cards given to the partner, who still holds them", _given)),
    *only(lambda options: options.target is not None,
          per_seat(cards("last_won", PACK.labels, "cards in tricks won in the hand before", "last_won")),
          *map(_by_side, tens_and_ones("points")),
          _by_side(number("bags", "bags since the last penalty", "bags", high=lambda options: options.bag_limit - 1)),
          number("hand_number", "number of this hand", "num_deals", high=MAX_HANDS),
          rules=_is_match),
    players=4,
)  # fmt: skip
