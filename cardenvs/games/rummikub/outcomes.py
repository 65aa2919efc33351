"""What the rule agents would play, as a part of observations (option `outcomes`): the play of most tiles."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes, Section
from cardenvs.games.rummikub import problem
from cardenvs.games.rummikub.actions import COMMIT, LAY_0, NUM_ACTIONS, TAKE_0
from cardenvs.games.rummikub.catalogue import MELD_FACES, MELD_SIZE, MELD_TYPES
from cardenvs.games.rummikub.strategy import new_position, new_work, next_step, set_position, simplify, waits
from cardenvs.games.rummikub.tiles import MAX_MELDS, MOST_COPIES, NUM_NATURALS, NUM_TYPES, TILE_LABELS
from cardenvs.kits.listing import legal_list

STEPS = ("idle", "take", "lay", "done")
_IDLE, _TAKE, _LAY, _DONE = range(4)
_MOST_TILES = 127
_SECTIONS = (
    Section("plan_step", 4, "own turn, next step of the play that lays most tiles; idle: no play", labels=STEPS),
    Section("plan_take", MAX_MELDS, "the set that it takes apart next"),
    Section("plan_meld", NUM_TYPES, "tiles of the meld that it lays next", high=MOST_COPIES, labels=TILE_LABELS),
    Section("plan_types", NUM_NATURALS, "what these count as, jokers included", labels=TILE_LABELS[:NUM_NATURALS]),
    Section("plan_tiles", 1, "tiles of the rack that it lays in all", high=_MOST_TILES),
    Section("plan_waits", 1, "1 if the planner would wait instead"),
)
_AT_TAKE = _SECTIONS[0].size
_AT_MELD = _AT_TAKE + MAX_MELDS
_AT_TYPES = _AT_MELD + NUM_TYPES
_AT_TILES = _AT_TYPES + NUM_NATURALS
_AT_WAITS = _AT_TILES + 1
_new_list = legal_list(NUM_ACTIONS)


@kernel
def _write_outcomes(s, p, out, at):
    """Write the next step of the play, and whether the planner would wait, if player `p` is to act."""
    if s.terminal or p != s.current_player:
        return
    work, position, legal = new_work(), new_position(), _new_list()
    set_position(s, position, problem.TILES_FIRST)
    if waits(s, work, position):
        out[at + _AT_WAITS] = 1
        simplify(position)
    action = next_step(s, work, position, legal.actions, 0)
    if action >= LAY_0:
        out[at + _LAY] = 1
        meld = action - LAY_0
        for k in range(MELD_SIZE[meld]):
            out[at + _AT_MELD + MELD_FACES[meld, k]] += 1
            out[at + _AT_TYPES + MELD_TYPES[meld, k]] = 1
    elif action == COMMIT:
        out[at + _DONE] = 1
    elif TAKE_0 <= action < TAKE_0 + MAX_MELDS:
        out[at + _TAKE] = 1
        out[at + _AT_TAKE + action - TAKE_0] = 1
    else:
        out[at + _IDLE] = 1
        return
    out[at + _AT_TILES] = min(_num_laid(work, position), _MOST_TILES)


@kernel
def _num_laid(w, p):
    """Return how many tiles of the rack the play lays."""
    number = np.int64(0)
    for k in range(w.num_melds):
        number += MELD_SIZE[w.melds[k]]
    for k in range(p.num_melds):
        number -= 0 if p.kept[k] else MELD_SIZE[p.melds[k]]
    return number


OUTCOMES = Outcomes(_SECTIONS, _write_outcomes)
