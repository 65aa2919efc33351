"""The observation of Uno."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.uno import state
from cardenvs.games.uno.cards import (
    CODES,
    COLOUR_NAMES,
    COLOUR_SETS,
    DECK_SIZE,
    NUM_COLOURS,
    NUM_KINDS,
    SYMBOL_CODES,
    SYMBOL_SETS,
    ZERO,
)
from cardenvs.kits.sections import (
    Observation,
    cards,
    copy_row,
    entries,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    steps,
    together,
    written,
)

_HAND_STEPS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 30, 40))
_STOCK_STEPS = np.array((1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 25, 30, 35, 40, 50, 60, 70, 80))
_OWED_STEPS = np.array((2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32))
_SCORE_STEPS = np.array((1, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 425, 450, 475, 500, 750, 1000, 2000, 4000))
_TENTHS = np.arange(1, 11)
_ZEROES = SYMBOL_SETS[ZERO]


@kernel(inline=True)
def _drawn(s, p):
    return s.drawn if s.current_player == p else -1


@kernel(inline=True)
def _phase(s, p):
    return -1 if s.terminal else s.phase


@kernel(inline=True)
def _named(s, p):
    return -1 if s.phase == state.NAME else s.colour


@kernel(inline=True)
def _old_colour(s, p):
    return s.old_colour if s.phase == state.CHALLENGE else -1


@kernel(inline=True)
def _is_reversed(s, p):
    return s.direction < 0


@kernel(inline=True)
def _turns(s, p):
    return 10 * s.num_turns // s.rules.max_turns


@kernel(inline=True)
def _rounds(s, p):
    return 10 * s.num_hands // state.MAX_ROUNDS


@kernel(inline=True)
def _write_seats(s, player, out, known_at, cannot_at):
    """Write what `player` knows of each other hand, and what its slots prove."""
    n = s.rules.num_players
    known, cannot = np.int64(known_at), np.int64(cannot_at)
    for seat in range(1, n):
        p = wrap(player + seat, n)
        if s.knowing[p] >> player & 1:
            copy_row(s.known[p, player], NUM_KINDS, out, known + (seat - 1) * NUM_KINDS)
    if s.is_plain:
        return
    for k in range(s.num_slots):
        barred = s.slot_barred[k]
        if barred & _ZEROES and s.slot_owner[k] != player:  # a colour that is barred has its 0 barred
            seat = wrap(s.slot_owner[k] - player + n, n)
            for colour in range(NUM_COLOURS):
                out[cannot + (seat - 1) * NUM_COLOURS + colour] += barred & COLOUR_SETS[colour] == COLOUR_SETS[colour]


def _of_others(part):
    return per_seat(part, first=1, apart=True)


def _is_match(options):
    return options.target is not None


_IS_MATCH = kernel(inline=True)(lambda rules: rules.target > 0)

OBSERVATION = Observation(
    state.STATE,
    entries("own_hand", CODES, "cards in the own hand", "hands", high=4),
    one_hot("drawn", CODES, "one-hot card that the observer has just drawn and may play or keep", _drawn),
    entries("discards", CODES, "cards in the discard pile", "discarded", high=4),
    one_hot("colour", COLOUR_NAMES, "one-hot colour in force", _named),
    one_hot("symbol", SYMBOL_CODES, "one-hot symbol of the card played last", "symbol"),
    one_hot("old_colour", COLOUR_NAMES, "one-hot colour before a Wild Draw Four that may be challenged", _old_colour),
    entries("recycled", CODES, "cards that went into the draw pile when it was last made again", "recycled", high=4),
    one_hot("phase", state.PHASES, "one-hot phase, zeros when the game is over", _phase),
    number("reversed", "1 if play goes to the right", _is_reversed),
    steps("draw_pile", "cards in the draw pile", _STOCK_STEPS, "num_stock"),
    steps("owed", "cards to draw that a stack has grown to", _OWED_STEPS, "owed"),
    steps("turns", "tenths of max_turns that have begun", _TENTHS, _turns),
    per_seat(steps("hand_size", "cards in the hand of seat {}", _HAND_STEPS, "hand_sizes"), apart=True),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("author", "who has played the last card", "author"),
    one_seat("dealer", "the dealer", "dealer"),
    *together(
        _write_seats,
        _of_others(written("known", CODES, "cards that the observer knows in the hand of seat {}", high=4)),
        _of_others(
            written("cannot_be", COLOUR_NAMES, "cards of seat {} that have proved not to have a colour", high=DECK_SIZE)
        ),
    ),
    _of_others(cards("guilty", COLOUR_NAMES, "colours of which seat {} has proved to hold a card", "guilty")),
    *only(
        _is_match,
        per_seat(steps("score", "points of seat {} in the match", _SCORE_STEPS, "scores"), apart=True),
        steps("rounds", "tenths of the most rounds that have begun", _TENTHS, _rounds),
        rules=_IS_MATCH,
    ),
)  # fmt: skip
