"""Comparing agents on the same deals.

    from cardenvs.arena import Match

    summary = Match.of("my_game_v0", ["random", "search"], deals=500, seed=0).run()
    for standing in summary.standings:
        print(standing.name, standing.mean)

`Match` says what is played, `Store` keeps finished games, `summarise` works out means and intervals over deals, and
`report` and `page` show them.
"""

from cardenvs.arena.match import Match
from cardenvs.arena.statistics import Estimate, Summary, summarise
from cardenvs.arena.store import Store

__all__ = ["Estimate", "Match", "Store", "Summary", "summarise"]
