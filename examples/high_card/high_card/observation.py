"""What a player of High Card observes."""

from cardenvs.core.kernel import kernel
from cardenvs.kits.sections import Observation, number, one_hot, per_seat

from high_card.rules import NOT_SWAPPED, STATE, held

RANKS = tuple("23456789TJQKA")


@kernel(inline=True)
def _aside(s, p):
    return s.deck[p] if s.drawn_at[p] != NOT_SWAPPED else -1


@kernel(inline=True)
def _has_swapped(s, p):
    return s.drawn_at[p] != NOT_SWAPPED


@kernel(inline=True)
def _acts_first(s, p):
    return p == 0


OBSERVATION = Observation(
    STATE,
    one_hot("own_card", RANKS, "one-hot rank of the card in hand", held),
    one_hot("own_aside", RANKS, "one-hot rank of the card set aside, zeros if none", _aside),
    per_seat(number("swapped", "1 for each player who has swapped", _has_swapped)),
    number("acts_first", "1 if the observer acts before the other", _acts_first),
)
