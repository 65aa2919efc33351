"""Comparing agents on the same deals.

    from cardenvs.arena import Match

    summary = Match.of("my_game_v0", ["random", "search"], deals=500, seed=0).run()
    for standing in summary.standings:
        print(standing.name, standing.mean)

`Match` describes what is played, and `Store` keeps finished games. `schedule` pairs and seats the agents, `plan` lists
the games left to play and decides when to stop, `play` and `run` play them, `verify` replays them, and `submit` checks
submissions to a board. `experiment` combines several matches. `results` computes means, intervals, ratings and boards;
`output` shows them in the terminal and writes pages, sites and files.
"""

from cardenvs.arena.match import Match
from cardenvs.arena.results.statistics import Estimate, Summary, summarise
from cardenvs.arena.store import Store

__all__ = ["Estimate", "Match", "Store", "Summary", "summarise"]
