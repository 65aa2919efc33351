"""The table of Kasino, and the kinds of event that change it."""

from cardenvs.core.events import Op
from cardenvs.kits.fishing.table import new_table

TABLE = new_table()

DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
SWEEPS_CANCEL = TABLE.event("sweeps_cancel", Op.NOTE, "Every side has a sweep: {value} of each counts no more.")
