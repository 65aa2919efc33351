"""Comparing agents on the same deals.

    from cardenvs.arena import Match, run_match

    summary = run_match(Match.of("my_game_v0", ["random", "search"], deals=500, seed=0))
    for standing in summary.standings:
        print(standing.name, standing.mean)

A `Match` is a value that says what is played, `run_match` plays it, and a `Store` keeps finished games. `schedule`
pairs and seats the agents, `plan` lists the games left to play and decides when to stop, `play` and `backends` play
them, `luck` corrects their results for luck, `verify` replays them, and `submit` checks submissions to a board.
`experiment` combines several matches. `results` computes means, intervals, ratings and boards; `output` shows them in
the terminal and writes pages, sites and files.
"""

from cardenvs.arena.match import Match
from cardenvs.arena.results.statistics import Estimate, Summary, summarise
from cardenvs.arena.run import run_match
from cardenvs.arena.store import Store

__all__ = ["Estimate", "Match", "Store", "Summary", "run_match", "summarise"]
