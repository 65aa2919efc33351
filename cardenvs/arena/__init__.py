"""Comparing agents on the same deals.

    from cardenvs.arena import Match

    summary = Match.of("my_game_v0", ["random", "search"], deals=500, seed=0).run()
    for standing in summary.standings:
        print(standing.name, standing.mean)

`Match` says what is played, `Store` keeps finished games. `schedule` says who meets whom, `plan` what is left to play
and when it is enough, `play` and `run` play it, `verify` plays it again, and `submit` checks what others hand in.
Several matches make an experiment (`experiment`). Means, intervals, ratings and boards are in `results`; what shows
them, in the terminal, as pages, as sites and as files, is in `output`.
"""

from cardenvs.arena.match import Match
from cardenvs.arena.results.statistics import Estimate, Summary, summarise
from cardenvs.arena.store import Store

__all__ = ["Estimate", "Match", "Store", "Summary", "summarise"]
