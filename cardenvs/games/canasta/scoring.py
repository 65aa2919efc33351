"""The score of a deal. Paragraph numbers are those of rules.md (9)."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.canasta import state, table

NATURAL_CANASTA, MIXED_CANASTA, WILD_CANASTA = 500, 300, 1000
RED_THREE_POINTS, ALL_RED_THREES = 100, 800
OUT, CONCEALED = 100, 200


@kernel
def canasta_points(s, side):
    """Return the points of a side for canastas (4.4, 4.6)."""
    points = 0
    for m in range(state.NUM_MELDS):
        if state.meld_size(s, side, m) >= state.CANASTA_SIZE:
            if m == state.WILD_MELD:
                points += WILD_CANASTA
            else:
                points += NATURAL_CANASTA if state.wilds_in(s, side, m) == 0 else MIXED_CANASTA
    return points


@kernel
def num_red_threes(s, side):
    """Return the number of red threes that a side has laid out."""
    number = 0
    for p in range(s.rules.num_players):
        if state.side_of(s, p) == side:
            number += s.red_threes[p, 0] + s.red_threes[p, 1]
    return number


@kernel
def red_three_points(s, side):
    """Return the points of a side for red threes, negative if it has not melded (9.3)."""
    number = num_red_threes(s, side)
    points = ALL_RED_THREES if number == 4 else number * RED_THREE_POINTS
    return points if s.has_opened[side] else -points


@kernel
def melded_points(s, side):
    """Return the card points of all cards that a side has melded."""
    points = np.int64(0)
    for face in range(state.NUM_FACES):
        points += s.melded[side, face] * state.KIND_POINTS[state.KIND_OF[face]]
    return points


@kernel
def hand_points(s, player):
    """Return the card points in the hand of a player."""
    points = np.int64(0)
    for kind in range(state.NUM_KINDS):
        points += s.kinds[player, kind] * state.KIND_POINTS[kind]
    return points


@kernel
def score_side(s, side, out_points, log):
    """Return the score of a side in the deal, `out_points` for going out included, and log its parts (9.2)."""
    left = np.int64(0)
    for p in range(s.rules.num_players):
        if state.side_of(s, p) == side:
            left += hand_points(s, p)
    canastas, reds, melded = canasta_points(s, side), red_three_points(s, side), melded_points(s, side)
    _note(log, table.CANASTA_POINTS, side, canastas)
    _note(log, table.RED_POINTS, side, reds)
    _note(log, table.OUT_POINTS, side, out_points)
    _note(log, table.MELD_POINTS, side, melded)
    _note(log, table.LEFT_POINTS, side, left)
    score = canastas + reds + out_points + melded - left
    ev.log_note(log, table.DEAL_POINTS, side, score)
    return score


@kernel
def _note(log, kind, side, points):
    if points:
        ev.log_note(log, kind, side, points)


@kernel
def pay_scores(s, points, most):
    """Pay each player what the deal has changed in the result of the side (10.1, 10.4).

    Args:
        s: record with the scores after the deal, whose rewards are set.
        points: packed scores of the deal, see `pack`.
        most: the most that a player can win or lose.
    """
    for p in range(s.rules.num_players):
        s.rewards[p] = _result(s, state.side_of(s, p), most)
    for side in range(state.num_sides(s)):
        s.scores[side] -= unpack(points, side)
    for p in range(s.rules.num_players):
        s.rewards[p] -= _result(s, state.side_of(s, p), most)
    for side in range(state.num_sides(s)):
        s.scores[side] += unpack(points, side)


@kernel
def _result(s, side, most):
    """Return the score of a side less the mean of the others', all results scaled if one is beyond `most` (10.4)."""
    sides, total, largest = state.num_sides(s), np.int64(0), 0.0
    for k in range(sides):
        total += s.scores[k]
    for k in range(sides):
        largest = max(largest, abs(_margin(s, k, total, sides)))
    return _margin(s, side, total, sides) * (most / largest if largest > most else 1.0)


@kernel(inline=True)
def _margin(s, side, total, sides):
    own = np.int64(s.scores[side])
    return own - (total - own) / (sides - 1)


_OFFSET, _BITS = 1 << 15, 16


@kernel(inline=True)
def pack(score, side):
    """Return the score of a side as its part of a packed integer; parts are added."""
    return np.int64(score + _OFFSET) << _BITS * side


@kernel(inline=True)
def unpack(points, side):
    """Return the score of a side from a packed integer."""
    return (points >> _BITS * side & (1 << _BITS) - 1) - _OFFSET


@kernel
def leading_side(s):
    """Return the only side with the highest total, or -1 if several have it."""
    best, leader = np.int64(-(1 << 30)), -1
    for side in range(state.num_sides(s)):
        if s.scores[side] > best:
            best, leader = np.int64(s.scores[side]), side
        elif s.scores[side] == best:
            leader = -1
    return leader
