"""The position of a turn."""

from dataclasses import dataclass

from cardenvs.games.rummikub.melds import Table
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.tiles import Multiset


@dataclass(frozen=True)
class Position:
    """The rack of a player, the table in canonical form, and whether the player has opened."""

    rules: Ruleset
    rack: Multiset
    table: Table
    opened: bool
