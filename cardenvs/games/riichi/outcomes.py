"""What each legal action of riichi promises and risks: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi.actions import CHI, CLOSED_KAN, NUM_ACTIONS, OPEN_KAN, PASS, RIICHI
from cardenvs.games.riichi.danger import assess, new_risk
from cardenvs.games.riichi.heuristic import (
    NO_ACTION,
    choice_in_riichi,
    choose_kan,
    plain_choice,
    value_of_call,
    value_of_discard,
    value_of_pass,
)
from cardenvs.games.riichi.legal import legal_actions
from cardenvs.games.riichi.prospects import begin, find_least, new_mind, num_wanted, shanten_of
from cardenvs.games.riichi.state import ASKED
from cardenvs.games.riichi.tiles import kind_of

_NUM_ROWS = 24
_MOST = 127
_STEP = 0.05  # thousands of points
_BOUNDS = {
    "valued": (0, 1),
    "worth": (-_MOST, _MOST),
    "less than best": (0, _MOST),
    "best": (0, 1),
    "danger": (0, _MOST),
    "shanten": (-1, 8),
    "ukeire": (0, _MOST),
}
_WIDTH = len(_BOUNDS)
_VALUED, _WORTH, _LESS, _BEST, _DANGER, _SHANTEN, _UKEIRE = range(_WIDTH)
_new_list = stack_record(packed([("actions", "i4", (NUM_ACTIONS,)), ("values", "f8", (_NUM_ROWS,))]))
_UNKNOWN = -1e9  # value of an action that is not valued


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each action of player `p`, if it has a choice."""
    if s.terminal or p != s.current_player:
        return
    legal = _new_list()
    n = legal_actions(s, legal.actions)
    if n == 1:
        return
    v, risk = new_mind(), new_risk()
    assess(s, p, risk)
    begin(s, v, risk)
    choice = plain_choice(s, legal.actions, n)
    rows = min(n, _NUM_ROWS)
    for k in range(rows):
        legal.values[k] = _UNKNOWN
    if s.phase >= ASKED:
        _value_answers(s, v, risk, legal, rows)
    elif s.riichi[p]:
        choice = choice_in_riichi(risk, legal.actions, n) if choice == NO_ACTION else choice
    else:
        find_least(s, v)
        choice = choose_kan(v, risk, legal.actions, n) if choice == NO_ACTION else choice
        _value_discards(s, v, risk, legal, rows, out, at)
    _write_values(legal, rows, choice, out, at)


@kernel
def _value_answers(s, v, risk, legal, rows):
    """Note what calls promise, and what they have to promise more than."""
    least = value_of_pass(s, v, risk)
    find_least(s, v)
    for k in range(rows):
        action = np.int64(legal.actions[k])
        if CHI <= action < OPEN_KAN:
            legal.values[k] = value_of_call(s, v, risk, action)
        elif action == PASS:
            legal.values[k] = least


@kernel
def _value_discards(s, v, risk, legal, rows, out, at):
    """Note what discards are worth, and write what they cost and leave."""
    for k in range(rows):
        action, row = np.int64(legal.actions[k]), at + k * _WIDTH
        if action >= CLOSED_KAN:
            continue
        kind = kind_of(action % RIICHI)
        legal.values[k] = value_of_discard(s, v, risk, action % RIICHI, action >= RIICHI)
        out[row + _DANGER] = min(np.int64(risk.loss[kind] / _STEP), _MOST)
        v.counts[kind] -= 1
        out[row + _SHANTEN] = shanten_of(v.counts, v.num_melds)
        out[row + _UKEIRE] = num_wanted(v, risk)
        v.counts[kind] += 1


@kernel
def _write_values(legal, rows, choice, out, at):
    """Write values, how much they are below the best, and which action the rule agent takes: `choice`, or the best."""
    best = 0
    for k in range(1, rows):
        best = k if legal.values[k] > legal.values[best] else best
    for k in range(rows):
        row, value = at + k * _WIDTH, legal.values[k]
        out[row + _BEST] = legal.actions[k] == choice if choice != NO_ACTION else k == best
        if value > _UNKNOWN:
            out[row + _VALUED] = 1
            out[row + _WORTH] = _steps(value)
            out[row + _LESS] = _steps(legal.values[best] - value)


@kernel(inline=True)
def _steps(value):
    return min(max(np.int64(np.rint(value / _STEP)), -_MOST), _MOST)


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "with a choice, whether it is a discard, a call or a pass, whose worth is said; what the rule agent takes it to"
    " be worth, in steps of 50 points; by how much that is less than the best; whether the rule agent takes it; "
    "what a discard may cost by dealing in; the shanten that it leaves, and how many unseen tiles lower that",
    _write_outcomes,
)  # fmt: skip
