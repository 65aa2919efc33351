"""What each action of one-player poker keeps, and what that may become: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.games.one_player_poker.heuristic import SUIT_STARTS, chance_of, chance_of_flush, straight_outs
from cardenvs.games.one_player_poker.rules import (
    HAND_SIZE,
    MODEL_POINTS,
    NUM_LEGAL,
    NUM_PLAYS,
    NUM_TAKEN,
    POSITIONS,
    cards_taken,
    hand_cards,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.poker_hands import best_model_category, has_run, held_thrice, held_twice, suit_of_cards

_NUM_ROWS = len(POSITIONS)
_TENS = 10  # points in an entry are divided by this
_BOUNDS = {
    "points": (0, 73),
    "kept": (0, HAND_SIZE - 1),
    "pairs": (0, 3),
    "threes": (0, 2),
    "fours": (0, 1),
    "suited": (0, HAND_SIZE - 1),
    "flush": (0, 100),
    "row": (0, 5),
    "straight": (0, 100),
    "full house": (0, 100),
    "three": (0, 100),
    "pair": (0, 100),
}
_WIDTH = len(_BOUNDS)


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each action that is legal, if player `p` is to act."""
    if p != s.current_player:
        return
    hand, left = hand_cards(s), np.int64(s.left)
    for action in range(NUM_LEGAL[min(np.int64(s.discards_left), HAND_SIZE)]):
        taken = cards_taken(s, action)
        row = at + action * _WIDTH
        if action < NUM_PLAYS:
            out[row] = MODEL_POINTS[best_model_category(taken)] // _TENS
        _write_kept(hand ^ taken, left, np.int64(NUM_TAKEN[action]), out, row)


@kernel
def _write_kept(keep, left, number, out, at):
    """Write what is kept, and the chances of what it becomes with `number` of the cards that are left."""
    a, b, c, d = suit_of_cards(keep, 0), suit_of_cards(keep, 1), suit_of_cards(keep, 2), suit_of_cards(keep, 3)
    pairs, threes = held_twice(a, b, c, d), held_thrice(a, b, c, d)
    out[at + 1] = count_bits(keep)
    out[at + 2] = count_bits(pairs)
    out[at + 3] = count_bits(threes)
    out[at + 4] = a & b & c & d != 0
    _write_flush(keep, left, number, out, at + 5)
    _write_straight(a | b | c | d, left, number, out, at + 7)
    if threes:  # a pair beside it, or a fourth card
        is_full = pairs & (pairs - 1) != 0 or a & b & c & d != 0
        out[at + 9] = 100 if is_full else _percent_of_one(left & SUIT_STARTS * (a | b | c | d), left, number)
        out[at + 10] = 100
    elif pairs:
        percent = _percent_of_one(left & SUIT_STARTS * pairs, left, number)
        out[at + 9] = percent if pairs & (pairs - 1) else 0
        out[at + 10] = percent
    out[at + 11] = 100 if pairs else _percent_of_one(left & SUIT_STARTS * (a | b | c | d), left, number)


@kernel(inline=True)
def _percent_of_one(wanted, left, number):
    """Return the chance in percent that at least one of some cards is among `number` of those left."""
    return round(100 * (1 - chance_of(0, count_bits(wanted), count_bits(left), number)))


@kernel
def _write_flush(keep, left, number, out, at):
    """Write the most cards of a suit, and the best chance in percent of five."""
    most, best = np.int64(0), 0.0
    for suit in range(4):
        held, outs = count_bits(suit_of_cards(keep, suit)), count_bits(suit_of_cards(left, suit))
        most = max(most, held)
        if held + number >= 5:
            best = max(best, chance_of_flush(held, outs, count_bits(left), number))
    out[at] = most
    out[at + 1] = round(100 * best)


@kernel
def _write_straight(ranks, left, number, out, at):
    """Write the most ranks among five in a row, and the best chance in percent of all five.

    That is the chance of one of the cards that complete a straight, or of both ranks that one straight lacks.
    """
    most, best = np.int64(0), 0.0
    if has_run(ranks):
        best = 1.0
    elif number:
        best = 1 - chance_of(0, straight_outs(left, ranks), count_bits(left), number)
    for low in range(10):
        window = np.int64(31) << low
        window = (window | window >> 13) & (1 << 13) - 1  # the ace is also above the king
        held, lacking = count_bits(ranks & window), window & ~ranks
        most = max(most, held)
        if held == 3 and number >= 2:
            best = max(best, _chance_of_both(lacking & -lacking, lacking & (lacking - 1), left, number))
    out[at] = most
    out[at + 1] = round(100 * best)


@kernel
def _chance_of_both(one, other, left, number):
    """Return the chance that cards of both ranks are among `number` of those left."""
    total, ones, others = count_bits(left), count_bits(left & SUIT_STARTS * one), count_bits(left & SUIT_STARTS * other)
    return (
        1
        - chance_of(0, ones, total, number)
        - chance_of(0, others, total, number)
        + chance_of(0, ones + others, total, number)
    )


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "model points of the play in tens; of the cards kept: their number, ranks held twice, three and four times, most "
    "cards of a suit, the chance in percent of a flush with the cards drawn, most ranks of a straight, and the chances "
    "of a straight, of a full house or better, of three of a rank and of a pair, as far as they follow from one card "
    "(a straight: two)",
    _write_outcomes,
)  # fmt: skip
