"""What each legal action of gin rummy leaves and risks: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.gin_rummy import melds
from cardenvs.games.gin_rummy.actions import BIG_GIN, KNOCK_0, TAKE_UPCARD
from cardenvs.games.gin_rummy.heuristic import (
    burden_of,
    burden_with_upcard,
    draws_ahead,
    gin_outs,
    risk_of,
    unseen_cards,
)
from cardenvs.games.gin_rummy.heuristic import heuristic as rule_agent
from cardenvs.games.gin_rummy.legal import knocking_hand, legal_actions
from cardenvs.games.gin_rummy.state import LAYOFF
from cardenvs.kits.cards import NUM_CARDS, count_bits

_NUM_ROWS = 24
_MOST = 127
_BOUNDS = {
    "best": (0, 1),
    "burden": (-_MOST, _MOST),
    "more than least": (0, _MOST),
    "deadwood": (0, _MOST),
    "outs": (0, NUM_CARDS),
    "gin outs": (0, 3),
    "risk": (0, 100),
}
_WIDTH = len(_BOUNDS)
_BEST, _BURDEN, _MORE, _DEADWOOD, _OUTS, _GIN_OUTS, _RISK = range(_WIDTH)
_STEPS = 2.0  # of a point
_MOST_ACTIONS = 2 * 23
_new_list = stack_record(packed([("actions", "i4", (_MOST_ACTIONS,)), ("burdens", "f8", (_NUM_ROWS,))]))
_UNKNOWN = 1e9  # burden of an action that leaves none


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each action of player `p`, if it is to act."""
    if s.terminal or p != s.current_player:
        return
    legal = _new_list()
    n = legal_actions(s, legal.actions)
    choice = rule_agent(s, legal.actions, n, s.rng)
    rows = min(n, _NUM_ROWS)
    for k in range(rows):
        out[at + k * _WIDTH + _BEST] = legal.actions[k] == choice
    if s.phase != LAYOFF:
        _write_hands(s, p, legal, rows, out, at)
        _write_burdens(legal, rows, out, at)


@kernel
def _write_hands(s, p, legal, rows, out, at):
    """Write what is said of the ten cards that each action leaves, and note their burdens."""
    hand, unseen, draws, limit = s.hands[p], unseen_cards(s), draws_ahead(s), np.int64(s.knock_limit)
    for k in range(rows):
        action, row, burden = np.int64(legal.actions[k]), at + k * _WIDTH, _UNKNOWN
        if action == BIG_GIN:
            ten = np.int64(0)
        elif action >= KNOCK_0:
            ten = knocking_hand(s) ^ 1 << action - KNOCK_0
            out[row + _GIN_OUTS] = gin_outs(ten, unseen)
        elif action == TAKE_UPCARD:
            burden, ten = burden_with_upcard(s, hand, unseen, limit, draws)
        elif action > TAKE_UPCARD:
            burden, ten = burden_of(hand, unseen, limit, draws + 1.0), hand
        else:
            ten = hand ^ 1 << action
            burden = burden_of(ten, unseen, limit, draws)
            out[row + _RISK] = np.int64(100.0 * risk_of(s, action, unseen))
        legal.burdens[k] = burden
        if ten:
            out[row + _DEADWOOD] = min(melds.min_deadwood(ten), _MOST)
            out[row + _OUTS] = count_bits(melds.meld_outs(ten) & unseen)


@kernel
def _write_burdens(legal, rows, out, at):
    """Write burdens, and by how much they are more than the least."""
    least = _UNKNOWN
    for k in range(rows):
        least = min(least, legal.burdens[k])
    for k in range(rows):
        if legal.burdens[k] < _UNKNOWN:
            row = at + k * _WIDTH
            out[row + _BURDEN] = _steps(legal.burdens[k])
            out[row + _MORE] = _steps(legal.burdens[k] - least)


@kernel(inline=True)
def _steps(points):
    """Return half points, within bounds: after a draw that makes gin they are far below."""
    return np.int64(np.rint(min(max(_STEPS * points, -_MOST), _MOST)))


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "whether the rule agent chooses it, and of the ten cards that it leaves: the burden, which is the deadwood less"
    " what draws should save, in half points, unless it knocks, and by how much that is more than the least; the "
    "deadwood; unseen cards that make a meld, and after a knock those that would have made gin, three at most; the "
    "chance in percent that the opponent melds the discard",
    _write_outcomes,
)  # fmt: skip
