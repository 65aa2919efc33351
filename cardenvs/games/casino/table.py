"""The table of Casino, and the kinds of event that change it."""

from cardenvs.core.events import Op
from cardenvs.games.casino.state import MAX_BUILDS
from cardenvs.kits.fishing.table import new_table

TABLE = new_table()

BUILD, *_ = [TABLE.pile(f"build_{k}", layout="fan", cards=lambda s, k=k: s.builds[k]) for k in range(MAX_BUILDS)]
SHOWN = TABLE.pile("shown", tokens="playing")  # the card with which a capture or a build is being put together


def _counters(name, field):
    """Declare a counter of each build that shows an entry of a field."""
    return [TABLE.counter(f"{name}_{k}", use="none", value=lambda s, k=k: s[field][k]) for k in range(MAX_BUILDS)]


VALUE, *_ = _counters("value", "build_values")
OWNER, *_ = _counters("owner", "build_owners")
SETS, *_ = _counters("sets", "build_sets")

BUILDS = TABLE.event("build", Op.MOVE, "{player} builds with {token}.")
GATHERS = TABLE.event("gather", Op.MOVE, "{token} is built in.")
NEW_VALUE = TABLE.event("build_value", Op.SET, "{player} builds {value}.")
NEW_SETS = TABLE.event("build_sets", Op.SET, "The build has {value:set}.", is_detail=True)
NEW_OWNER = TABLE.event("build_owner", Op.SET, "The build is {player}'s.", is_detail=True)
SHOWS = TABLE.event("show", Op.MOVE, "{player} plays {token}.")
TAKES_BUILD = TABLE.event("take_build", Op.MOVE_ALL, "{player} takes a build.")
BREAKS_UP = TABLE.event("break_up", Op.MOVE_ALL, "A build is left over.", is_detail=True)
BUILD_GONE = TABLE.event("build_gone", Op.SET, "The build is gone.", is_detail=True)
