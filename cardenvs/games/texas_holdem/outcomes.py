"""How strong the own hand is, as a part of observations of Texas hold'em (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes, Section
from cardenvs.core.record import packed
from cardenvs.core.rng import mix64, seed_xoshiro
from cardenvs.core.scratch import stack_record
from cardenvs.games.texas_holdem.charts import ALL_HANDS, equity_against_best, starting_hand
from cardenvs.games.texas_holdem.equity import MOST_HANDS, cards_at, equities
from cardenvs.games.texas_holdem.state import BOARD_CARDS, PREFLOP

_SAMPLES = 128
_LABELS = ("ahead", "any hand", "best of 2", "best of 4", "best of 8")
_new_generator = stack_record(packed([("rng", "u8", (4,))]))


@kernel
def _write_outcomes(s, p, out, at):
    """Write the equities of the hand of player `p`, if it is to act."""
    if s.terminal or p != s.current_player:
        return
    if s.street == PREFLOP:
        hand, place, number = starting_hand(s.deck[2 * p], s.deck[2 * p + 1]), at + 1, 1
        while number <= MOST_HANDS:
            out[place] = equity_against_best(hand, ALL_HANDS // number)
            place += 1
            number *= 2
        return
    generator = _new_generator()
    seed_xoshiro(generator.rng, _seed(s, p))
    equities(s, p, _SAMPLES, generator.rng, out, at)


@kernel(inline=True)
def _seed(s, p):
    """Return a seed made of the cards that the player sees: the same cards have the same equities."""
    own, _ = cards_at(s.deck, 2 * p, 2)
    board, _ = cards_at(s.deck, 2 * np.int64(s.rules.num_players), BOARD_CARDS[s.street])
    return mix64(mix64(np.uint64(own)) + np.uint64(board))


OUTCOMES = Outcomes(
    (
        Section(
            "equity", len(_LABELS),
            "own turn, how the hand stands against one other hand: after the flop the share of all hands that it beats "
            "now, and its share of the pot against any hand, and against the best on this board of 2, 4 and 8, "
            f"estimated from {_SAMPLES} deals; before it, 0 and the shares against the best hands, all to an eighth",
            labels=_LABELS,
        ),
    ),
    _write_outcomes,
)  # fmt: skip
