"""What the rule agents would play, as a part of observations (option `outcomes`): the play of most tiles."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes, Section
from cardenvs.games.rummikub import problem
from cardenvs.games.rummikub.actions import COMMIT, LAY_0, NUM_ACTIONS, TAKE_0
from cardenvs.games.rummikub.catalogue import MELD_SIZE
from cardenvs.games.rummikub.rules import legal_actions
from cardenvs.games.rummikub.strategy import new_position, new_work, next_step, set_position, simplify, waits
from cardenvs.games.rummikub.tiles import MAX_MELDS
from cardenvs.kits.listing import legal_list

_NUM_ROWS = 128
STEPS = ("idle", "take", "lay", "done")
_IDLE, _TAKE, _LAY, _DONE = range(4)
_MOST_TILES = 127
_SECTIONS = (
    Section("plan_step", 4, "own turn, next step of the play that lays most tiles; idle: no play", labels=STEPS),
    Section("plan_tiles", 1, "tiles of the rack that it lays in all", high=_MOST_TILES),
    Section("plan_waits", 1, "1 if the planner would wait instead"),
)
_AT_STEP = _NUM_ROWS
_AT_TILES = _AT_STEP + len(STEPS)
_AT_WAITS = _AT_TILES + 1
_new_list = legal_list(NUM_ACTIONS)


@kernel
def _write_outcomes(s, p, out, at):
    """Write the next step of the play, and whether the planner would wait, if player `p` is to act."""
    if s.terminal or p != s.current_player:
        return
    work, position, legal = new_work(), new_position(), _new_list()
    number = legal_actions(s, legal.actions)
    set_position(s, position, problem.TILES_FIRST)
    if waits(s, work, position):
        out[at + _AT_WAITS] = 1
        simplify(position)
    action = next_step(s, work, position, legal.actions, number)
    for k in range(min(number, _NUM_ROWS)):
        out[at + k] = legal.actions[k] == action
    step = _step(action)
    out[at + _AT_STEP + step] = 1
    if step != _IDLE:
        out[at + _AT_TILES] = min(_num_laid(work, position), _MOST_TILES)


@kernel(inline=True)
def _step(action):
    if action >= LAY_0:
        return _LAY
    if action == COMMIT:
        return _DONE
    return _TAKE if TAKE_0 <= action < TAKE_0 + MAX_MELDS else _IDLE


@kernel
def _num_laid(w, p):
    """Return how many tiles of the rack the play lays."""
    number = np.int64(0)
    for k in range(w.num_melds):
        number += MELD_SIZE[w.melds[k]]
    for k in range(p.num_melds):
        number -= 0 if p.kept[k] else MELD_SIZE[p.melds[k]]
    return number


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, {"next": (0, 1)}, "whether the play that lays most tiles goes on with it", _write_outcomes, _SECTIONS
)
