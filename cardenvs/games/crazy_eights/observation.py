"""The observation of Crazy Eights."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.crazy_eights import state
from cardenvs.games.crazy_eights.knowledge import MARKS
from cardenvs.games.crazy_eights.state import (
    MAX_CARDS,
    NUM_CARDS,
    PACK,
    SUIT_NAMES,
    num_packs,
    packs_of,
    passes_to_block,
    plays_in_hand,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    steps,
    tens_and_ones,
    together,
    written,
)

_HAND_STEPS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30))
_STOCK_STEPS = np.array((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75))
_OWED_STEPS = np.array((2, 4, 6, 8, 10, 12, 14, 16))
_DRAWN_STEPS = np.arange(1, 11)
_TENTHS = np.arange(1, 11)


@kernel(inline=True)
def _names_suit(s, p):
    return s.phase == state.NAME and not s.terminal


@kernel(inline=True)
def _is_reversed(s, p):
    return s.direction < 0


@kernel(inline=True)
def _passes_left(s, p):
    return passes_to_block(s.rules) - s.num_passes


@kernel(inline=True)
def _plays(s, p):
    return 10 * s.num_plays // plays_in_hand(s.rules)


@kernel(inline=True)
def _hands(s, p):
    return 10 * s.num_hands // state.MAX_HANDS


@kernel(inline=True)
def _write_new(s, player, out, at):
    """Write how many cards each other player has drawn from the present stock, and still holds."""
    n = s.rules.num_players
    if s.is_plain:
        if s.recycled:
            for seat in range(1, n):
                out[np.uint64(at + seat - 1)] = count_bits(s.hands[wrap(player + seat, n)] & s.recycled)
        return
    for k in range(s.num_slots):
        p = s.slot_owner[k]
        if p != player and s.stock_marks & MARKS & ~s.slot_barred[k] == s.stock_marks:
            out[np.uint64(at + wrap(p - player + n, n) - 1)] += 1


@kernel(inline=True)
def _write_cannot_be(s, player, out, at):
    """Write how many cards of each other player have proved not to be each card."""
    n = s.rules.num_players
    for k in range(s.num_slots):
        p = s.slot_owner[k]
        if p != player:
            first = at + (wrap(p - player + n, n) - 1) * NUM_CARDS
            barred = s.slot_barred[k]
            for card in range(NUM_CARDS):
                out[np.uint64(first + card)] += barred >> card & 1


def _has_two_packs(options):
    return num_packs(options) == 2


def _proves_by_drawing(options):
    return not options.draw_when_able


def _is_match(options):
    return options.target is not None


_IF_TWO_PACKS = kernel(inline=True)(lambda rules: packs_of(rules) == 2)
_IF_MATCH = kernel(inline=True)(lambda rules: rules.target > 0)

OBSERVATION = Observation(
    state.STATE,
    cards("own_hand", PACK.labels, "own cards", "hands"),
    cards("discards", PACK.labels, "cards in the discard pile", "discards"),
    cards("recycled", PACK.labels, "cards of which the stock was last made, or eights put back at first", "recycled"),
    cards("recycled_before", PACK.labels, "the same the time before", "recycled_before"),
    *only(
        _has_two_packs,
        cards("own_hand_twice", PACK.labels, "cards held twice", "doubles"),
        cards("discards_twice", PACK.labels, "cards that are twice in the discard pile", "double_discards"),
        cards("recycled_twice", PACK.labels, "cards that are twice among `recycled`", "double_recycled"),
        cards(
            "recycled_before_twice", PACK.labels, "cards twice among `recycled_before`", "double_recycled_before"
        ),
        rules=_IF_TWO_PACKS,
    ),
    one_hot("top", PACK.labels, "one-hot card played last", "top"),
    one_hot("suit", (*SUIT_NAMES, "any"), "one-hot suit to follow", "suit"),
    number("names_suit", "1 if a suit is to be named", _names_suit),
    number("reversed", "1 if play goes to the right", _is_reversed),
    steps("stock", "cards in the stock", _STOCK_STEPS, "num_stock"),
    steps("owed", "cards that the player to act must draw", _OWED_STEPS, "owed"),
    steps("drawn", "cards drawn in this turn", _DRAWN_STEPS, "num_drawn"),
    number("passes_left", "passes in a row with an empty stock that would end the hand", _passes_left, high=20),
    steps("plays", "tenths of the cards played that end the hand", _TENTHS, _plays),
    per_seat(steps("hand_size", "cards in the hand of seat {}", _HAND_STEPS, "hand_sizes"), apart=True),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("dealer", "the dealer", "dealer"),
    *together(
        _write_new,
        per_seat(
            written("new_cards", ("cards",), "cards drawn from a stock that was made again, of each other player",
                    high=MAX_CARDS),
            first=1,
        ),
    ),
    *only(
        _proves_by_drawing,
        *together(
            _write_cannot_be,
            per_seat(
                written("cannot_be", PACK.labels, "cards of seat {} that proved not to be this card", high=MAX_CARDS),
                first=1,
                apart=True,
            ),
        ),
    ),
    *only(
        _is_match,
        *(per_seat(part, apart=False) for part in tens_and_ones("points in the match")),
        steps("hands", "tenths of the most hands that have begun", _TENTHS, _hands),
        rules=_IF_MATCH,
    ),
)  # fmt: skip
