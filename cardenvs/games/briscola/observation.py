"""What a player of Briscola observes."""

from cardenvs.core.kernel import kernel
from cardenvs.games.briscola.rules import MAX_TARGET, MOST_POINTS, NUM_SIDES, STATE, trump_suit
from cardenvs.kits.cards import ITALIAN, SUITS
from cardenvs.kits.sections import Observation, cards, in_stock, number, one_hot, one_seat, per_seat, per_side


@kernel(inline=True)
def _trump_suit(s, p):
    return trump_suit(s)


def _by_side(part):
    return per_side(part, NUM_SIDES, "the observer's side first")


OBSERVATION = Observation(
    STATE,
    cards("hand", ITALIAN.labels, "own cards", "hands"),
    one_hot("trump_card", ITALIAN.labels, "one-hot card that was turned up", "trump"),
    one_hot("trump_suit", SUITS, "one-hot suit of trumps", _trump_suit),
    one_seat("trump_holder", "who has drawn and not played the turned-up card", "trump_holder"),
    per_seat(one_hot("trick", ITALIAN.labels, "one-hot card in the trick", "trick")),
    per_seat(cards("played", ITALIAN.labels, "cards played in this deal", "played")),
    per_seat(cards("won", ITALIAN.labels, "cards in tricks won in this deal", "won")),
    per_seat(cards("last_won", ITALIAN.labels, "cards in tricks won in the deal before", "last_won")),
    one_seat("leader", "the leader of the trick", "leader"),
    one_seat("to_act", "the player to act", "current_player"),
    number("stock", "cards to draw, the turned-up one included", in_stock, high=ITALIAN.size),
    _by_side(number("points", "points won in this deal", "points", high=MOST_POINTS)),
    _by_side(number("deals_won", "deals won", "deals_won", high=MAX_TARGET)),
)
