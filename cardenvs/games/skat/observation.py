"""What a player of Skat observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.skat import state
from cardenvs.games.skat.cards import TRICKS
from cardenvs.games.skat.state import GAMES, MAX_DEALS, NUM_PLAYERS, NUM_TRICKS, NUM_VALUES, PACK, PHASES, STATE
from cardenvs.games.skat.worlds import is_open, knows_skat
from cardenvs.kits.sections import Observation, cards, number, one_hot, one_seat, only, per_seat
from cardenvs.kits.tricks import trick_sections

_ANNOUNCEMENTS = ("schneider", "schwarz", "ouvert")


@kernel(inline=True)
def _seen_skat(s, p):
    return s.skat if knows_skat(s, p) else np.int64(0)


@kernel(inline=True)
def _open_hand(s, p):
    return s.hands[s.soloist] if s.soloist >= 0 and is_open(s, s.soloist) else np.int64(0)


@kernel(inline=True)
def _plays_hand(s, p):
    return s.phase > state.SKAT and s.soloist >= 0 and not s.took_skat


@kernel(inline=True)
def _announced(s, p):
    return (np.int64(1) << s.announced) - 1


def _most_points(options):
    return int(590 * options.deals)


OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    per_seat(cards("won", PACK.labels, "cards in tricks that a player has won", "won")),
    cards("skat", PACK.labels, "cards in the skat, if the observer knows them", _seen_skat),
    cards("open_hand", PACK.labels, "cards of a soloist who plays ouvert", _open_hand),
    one_hot("phase", PHASES, "one-hot phase", "phase"),
    one_seat("dealer", "the dealer", "dealer"),
    per_seat(number("bids", "number of the highest value named or accepted, 0 if none", "bids", high=NUM_VALUES)),
    per_seat(number("passed", "1 for each player who has passed", "passed")),
    one_seat("speaker", "the player who names values", "speaker"),
    one_seat("listener", "the player who answers", "listener"),
    one_seat("soloist", "the soloist", "soloist"),
    one_hot("game", GAMES, "one-hot game, zeros if none has been named", "game"),
    number("plays_hand", "1 if the soloist plays without the skat", _plays_hand),
    cards("announced", _ANNOUNCEMENTS, "1 for each level announced", _announced),
    per_seat(number("points", "card points in tricks", "points", high=120)),
    per_seat(number("tricks", "tricks won in this deal", "tricks_won", high=NUM_TRICKS)),
    *only(
        lambda options: options.deals > 1,
        number("deal_number", "deals begun", "num_deals", high=MAX_DEALS),
        per_seat(number("scores", "score", "scores", low=lambda options: -_most_points(options), high=_most_points)),
        per_seat(cards("last_won", PACK.labels, "cards in tricks that a player won in the deal before", "last_won")),
        cards("last_skat", PACK.labels, "the skat of the deal before, if it was shown", "last_skat"),
        cards("last_hand", PACK.labels, "own cards at the end of the deal before", "last_hands"),
        cards("last_open", PACK.labels, "cards at its end of a soloist who played ouvert", "last_open"),
    ),
    dtype=lambda options: "int16" if options.deals > 1 else "int8",
    players=NUM_PLAYERS,
)  # fmt: skip
