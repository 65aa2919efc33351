"""What each legal action of Pinnacola is worth to the rule agent: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.games.pinnacola import state
from cardenvs.games.pinnacola.actions import END_OF_IDS, RUN_0
from cardenvs.games.pinnacola.heuristic import choose, new_worths, note_worths
from cardenvs.games.pinnacola.legal import legal_actions
from cardenvs.kits.listing import legal_list

_NUM_ROWS = 40
_MOST = 100
_BOUNDS = {"draw": (-_MOST, _MOST), "lay": (-_MOST, _MOST), "discard": (0, _MOST), "best": (0, 1)}
_WIDTH = len(_BOUNDS)
_LAY, _DISCARD, _BEST = 1, 2, 3
_new_list = legal_list(END_OF_IDS)


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each legal action of player `p`, if it is to act."""
    if s.terminal or p != s.current_player:
        return
    legal, w = _new_list(), new_worths()
    number = min(legal_actions(s, legal.actions), _NUM_ROWS)
    note_worths(s, legal.actions, number, w)
    best = choose(s, legal.actions, number, w)
    out[at + best * _WIDTH + _BEST] = 1
    best_discard = -1e9
    for k in range(number):
        if legal.actions[k] < RUN_0:
            best_discard = max(best_discard, w.of[k])
    for k in range(number):
        row = at + k * _WIDTH
        if s.phase == state.DRAW:
            out[row] = _points(w.of[k])
        elif legal.actions[k] >= RUN_0:
            out[row + _LAY] = _points(w.of[k])
        else:
            out[row + _DISCARD] = _points(best_discard - w.of[k])


@kernel(inline=True)
def _points(worth):
    return min(max(np.int64(np.rint(worth)), -_MOST), _MOST)


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "what the rule agent takes it to be worth in points: a card of the stock or of the row, what a lay adds to the "
    "position, and how much worse a discard is than the best one; and whether the rule agent would choose it",
    _write_outcomes,
)  # fmt: skip
