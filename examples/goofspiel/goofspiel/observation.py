"""What a player of Goofspiel observes."""

from cardenvs.core.kernel import kernel
from cardenvs.kits.sections import Observation, cards, number, one_hot, own_seat, per_seat

from goofspiel.rules import MAX_CARDS, NO_BID, NUM_PLAYERS, STATE

_MOST = MAX_CARDS * (MAX_CARDS + 1) // 2
NUMBERS = tuple(str(card + 1) for card in range(MAX_CARDS))


@kernel(inline=True)
def _prizes_left(s, p):
    left = 0
    for k in range(s.num_dealt, s.rules.num_cards):
        left |= 1 << s.deck[k]
    return left


@kernel(inline=True)
def _has_bid(s, p):
    return s.bids[p] != NO_BID


@kernel(inline=True)
def _lead(s, p):
    return s.returns[p]


OBSERVATION = Observation(
    STATE,
    per_seat(cards("hand", NUMBERS, "cards not yet turned over", "hands")),
    one_hot("prize", NUMBERS, "one-hot prize turned up last", "prize"),
    cards("prizes_left", NUMBERS, "prizes still face down", _prizes_left),
    one_hot("own_bid", NUMBERS, "one-hot card chosen last, zeros before a choice", "bids"),
    per_seat(number("has_bid", "1 for each player who has chosen", _has_bid)),
    number("lead", "points won less points lost", _lead, low=-_MOST, high=_MOST),
    number("position", "number of the observer; player 0 chooses first", own_seat, high=NUM_PLAYERS - 1),
)
