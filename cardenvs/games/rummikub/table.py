"""The table of Rummikub, and the kinds of event that change it."""

from cardenvs.core.events import Op, Table
from cardenvs.games.rummikub.ruleset import MAX_PLAYERS
from cardenvs.games.rummikub.tiles import MAX_MELDS
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(MAX_PLAYERS)

POOL = TABLE.pile("pool", layout="stack")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
ON_TABLE = TABLE.pile("table", layout="sets")

SET, *_ = [TABLE.counter(f"set_{k + 1}", use="none") for k in range(MAX_MELDS)]
"""Counter SET + k: catalogue number of set k plus 1, or 0 for no set."""
OPENED = TABLE.counter("opened", per_player=True, use="flag")

NEW_POOL = TABLE.event("new_pool", Op.CREATE, "{value} tiles are mixed.")
DRAW_TO_BEGIN = TABLE.event("draw_to_begin", Op.NOTE, "{player} draws {token} to see who begins.")
BEGIN = TABLE.event("begin", Op.NOTE, "{player} begins.")
DEAL = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
DRAW = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
PASS = TABLE.event("pass", Op.NOTE, "{player} passes.")
STEP_TAKE_APART = TABLE.event("step_take_apart", Op.NOTE, "{player} takes set {value} apart.")
STEP_LAY = TABLE.event("step_lay", Op.NOTE, "{player} lays {value}.")
STEP_UNDO = TABLE.event("step_undo", Op.NOTE, "{player} gives the play up; the table is as it was.")
PUT_DOWN = TABLE.event("put_down", Op.MOVE, "{player} puts {token} on the table.")
TAKE_APART = TABLE.event("take_apart", Op.SET, "{player} takes {source} apart.")
LAY = TABLE.event("lay", Op.SET, "{player} lays {value} as {source}.")
OPEN = TABLE.event("open", Op.SET, "{player} has opened.")
OUT = TABLE.event("out", Op.NOTE, "{player} is out.")
BLOCKED = TABLE.event("blocked", Op.NOTE, "Nobody can or will play; the game is blocked.")
RACK = TABLE.event("rack", Op.NOTE, "{player} is left with {value:point}.", reveals_hidden_value=True)
FORFEIT = declare_forfeit(TABLE)
