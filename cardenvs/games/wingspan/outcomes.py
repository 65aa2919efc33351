"""What each choice in Wingspan is worth to the rule agents: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.wingspan import weights as w
from cardenvs.games.wingspan import worth
from cardenvs.games.wingspan.actions import max_legal
from cardenvs.games.wingspan.rules import legal_actions
from cardenvs.games.wingspan.strategy import value_of

_NUM_ROWS = 40
_MOST, _MOST_LESS = 1000, 100  # tenths of a point
_BOUNDS = {
    "worth": (-_MOST, _MOST),
    "less than best": (0, _MOST_LESS),
    "best": (0, 1),
    "less at once": (0, _MOST_LESS),
    "best at once": (0, 1),
}
_WIDTH = len(_BOUNDS)
_LESS, _BEST, _AT_ONCE = 1, 2, 2  # where they begin, and how far those of the present are behind those of the future
_new_list = stack_record(packed([("actions", "i4", (max_legal,)), ("values", "i8", (_NUM_ROWS,))]))


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each choice of player `p`, if it is to act."""
    if s.terminal or p != s.current_player:
        return
    legal = _new_list()
    number = min(legal_actions(s, legal.actions), _NUM_ROWS)
    _note_values(s, p, legal, number, w.PLANNER)
    for k in range(number):
        out[at + k * _WIDTH] = min(max(_tenths(legal.values[k]), -_MOST), _MOST)
    _write_losses(legal, number, out, at)
    _note_values(s, p, legal, number, w.GREEDY)
    _write_losses(legal, number, out, at + _AT_ONCE)


@kernel
def _note_values(s, p, legal, number, weights):
    turns = worth.turns_to_come(s, p)
    wanted = worth.wanted_bird(s, p, turns, weights)
    for k in range(number):
        legal.values[k] = value_of(s, p, np.int64(legal.actions[k]), turns, wanted, weights)


@kernel(inline=True)
def _write_losses(legal, number, out, at):
    """Write by how much each choice is worth less than the best, and which is the first of the best."""
    best = 0
    for k in range(1, number):
        best = k if legal.values[k] > legal.values[best] else best
    for k in range(number):
        row = at + k * _WIDTH
        out[row + _LESS] = min(_tenths(legal.values[best] - legal.values[k]), _MOST_LESS)
        out[row + _BEST] = k == best


@kernel(inline=True)
def _tenths(value):
    return np.int64(np.rint(value / 10))


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "what the planner takes it to be worth, in tenths of a point; by how much that is less than the best, at most ten "
    "points, and whether it is the best; the same by what it brings at once",
    _write_outcomes,
)  # fmt: skip
