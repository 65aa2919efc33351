"""What a player of Euchre observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.seats import wrap
from cardenvs.games.euchre.state import (
    MAX_TARGET,
    MOST_POINTS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_TRICKS,
    PACK,
    PHASES,
    STATE,
    TRICKS,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.sections import Observation, cards, number, one_hot, one_seat, only, per_seat, per_side, written
from cardenvs.kits.tricks import trick_sections

_SUITS = tuple(PACK.suits)


@kernel(inline=True)
def _laid_away(s, p):
    return s.laid_away if p == s.dealer else NO_CARD


@kernel(inline=True)
def _last_laid_away(s, p):
    return s.last_laid_away if p == wrap(s.dealer + NUM_PLAYERS - 1, NUM_PLAYERS) else NO_CARD


@kernel(inline=True)
def _write_played_in(s, p, out, at):
    for trick in range(min(s.trick + 1, NUM_TRICKS)):
        for p in range(NUM_PLAYERS):
            if s.played[p, trick] != NO_CARD:
                out[np.uint64(at + s.played[p, trick])] = trick + 1


@kernel(inline=True)
def _write_last_won(s, p, out, at):
    for seat in range(NUM_PLAYERS):
        left = s.last_won[wrap(p + seat, NUM_PLAYERS)]
        while left:
            out[np.uint64(at + lowest_card(left))] = seat + 1
            left &= left - 1


def _is_match(rules):
    return rules.target != NONE


def _by_side(part):
    return per_side(part, NUM_SIDES, "the observer's side first")


OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    written("played_in", PACK.labels, "number of the trick in which a card was played, 0 if it was not",
            _write_played_in, high=NUM_TRICKS),
    one_hot("phase", PHASES, "one-hot phase", "phase"),
    one_seat("dealer", "the dealer", "dealer"),
    one_hot("upcard", PACK.labels, "one-hot upcard", "upcard"),
    one_hot("suit_up", _SUITS, "one-hot suit of the upcard", "suit_up"),
    number("passes", "bids in this hand that were passes", "passes", high=2 * NUM_PLAYERS),
    one_hot("trump", _SUITS, "one-hot suit of trumps, zeros before it is made", "trump"),
    one_seat("maker", "who made trumps", "maker"),
    per_seat(number("alone", "1 for each player who plays alone", "alone")),
    one_hot("laid_away", PACK.labels, "one-hot card that the observer, as the dealer, has laid away", _laid_away),
    _by_side(number("tricks_won", "tricks won in this hand", "tricks_won", high=NUM_TRICKS)),
    *only(lambda options: options.target is not None,
          _by_side(number("scores", "points", "scores", high=MAX_TARGET + MOST_POINTS - 1)),
          written("last_won", PACK.labels, "who won a card in the hand before: 1 for the observer, then in turn",
                  _write_last_won, high=NUM_PLAYERS),
          cards("last_hand", PACK.labels, "cards that the observer had left at the end of the hand before",
                "last_hands"),
          one_hot("last_laid_away", PACK.labels, "one-hot card that the observer laid away in the hand before",
                  _last_laid_away),
          one_hot("last_upcard", PACK.labels, "one-hot upcard of the hand before", "last_upcard"),
          number("last_was_taken", "1 if the dealer took it", "last_was_taken"),
          rules=kernel(_is_match, inline=True)),
    players=NUM_PLAYERS,
)  # fmt: skip
