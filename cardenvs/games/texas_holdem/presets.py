"""Options with which hold'em is that of other libraries: `cardenvs.make("texas_holdem_v0", **RLCARD)`."""

from typing import Any

_DEEP = {"format": "cash", "num_players": 2, "betting": "limit", "blinds": (1, 2)}

OPENSPIEL: dict[str, Any] = _DEEP | {"starting_stack": 100}
"""OpenSpiel's `universal_poker` with betting=limit, blind=2 1, raiseSize=2 2 4 4 and maxRaises=3 4 4 4 for two.

Its player 0 is seat 1 here. 24 big blinds are all that a hand can cost (rules.md 12.7).
"""

RLCARD: dict[str, Any] = _DEEP | {"starting_stack": 100, "blind_counts": False, "street_order": "after_last"}
"""RLCard's `limit-holdem` for two. It pays in big blinds, half of what is paid here.

25 big blinds are all that a hand can cost. Fold is not legal here where checking is free.
"""
