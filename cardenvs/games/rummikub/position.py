"""The position of a turn: a rack before a table."""

from dataclasses import dataclass

from cardenvs.games.rummikub.melds import Table
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.tiles import Multiset


@dataclass(frozen=True)
class Position:
    """What a turn is judged by: the rack of the player, the table in canonical form, whether the player has opened."""

    rules: Ruleset
    rack: Multiset
    table: Table
    opened: bool
