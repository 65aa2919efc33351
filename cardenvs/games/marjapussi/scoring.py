"""The score of Marjapussi. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.marjapussi import state
from cardenvs.games.marjapussi.state import MARKS, MATES, NO_TARGET, NUM_SIDES
from cardenvs.kits.cards import count_bits
from cardenvs.kits.matches import NO_SIDE, pay_winner

_FEW_POINTS = 20  # with which the other side gets 2 game points (7.2)


@kernel
def score_hand(s, last, log):
    """Score a hand whose last trick side `last` has won (7.1, 7.2)."""
    if s.rules.scoring == MARKS:
        _score_marks(s, last, log)
    else:
        _score_hand_points(s, last, log)


@kernel(inline=True)
def _score_marks(s, last, log):
    """The last trick, then the majority (7.1, 7.4)."""
    for side in range(NUM_SIDES):
        ev.log_note(log, state.TOTAL, side, s.points[side])
    score(s, last, 1, state.SCORES, log)
    majority = _majority(s)
    if majority != NO_SIDE and not s.terminal:
        score(s, majority, 1, state.SCORES, log)


@kernel(inline=True)
def _majority(s):
    """The side with more card points, or aces and tens; NO_SIDE if they are level (7.1)."""
    more = np.int64(s.points[0]) - s.points[1]
    if s.rules.majority == state.BY_MATES:
        mates = count_bits((s.won[0] | s.won[2]) & MATES) - count_bits((s.won[1] | s.won[3]) & MATES)
        more = mates if mates != 0 else more
    return NO_SIDE if more == 0 else 0 if more > 0 else 1


@kernel(inline=True)
def _score_hand_points(s, last, log):
    """A game point, or two, for the larger total (7.2)."""
    s.bonus[last] += s.rules.last_trick
    totals = np.int64(s.points[0]) + s.bonus[0], np.int64(s.points[1]) + s.bonus[1]
    for side in range(NUM_SIDES):
        ev.log_note(log, state.TOTAL, side, totals[side])
    if totals[0] != totals[1]:
        item = 2 if min(totals[0], totals[1]) < _FEW_POINTS else 1
        score(s, 0 if totals[0] > totals[1] else 1, item, state.SCORES, log)


@kernel
def score(s, side, item, kind, log):
    """A side scores an item, unless it is in the bag; it may win the match (7.3 to 7.5). `kind`: of the event."""
    if s.bagged[side]:
        return
    score, target = np.int64(s.scores[side]) + item, s.rules.match_target
    if target != NO_TARGET and s.rules.exact and score > target:
        ev.log_note(log, state.PASSES_TARGET, side, item)
        score = _overshot(s, score - item, score - target)
    s.scores[side] = score
    ev.log_set(log, kind, side, state.SCORE + side, score)
    if target != NO_TARGET and score >= target:
        ev.log_note(log, state.WINS, side, 0)
        pay_winner(s, side, NUM_SIDES)


@kernel(inline=True)
def _overshot(s, score, above):
    """The score of a side that would be `above` points above the target, and had `score` before (7.5)."""
    if s.rules.overshoot == state.BACK:
        return s.rules.match_target - above
    return np.int64(0) if s.rules.overshoot == state.ZERO else score
