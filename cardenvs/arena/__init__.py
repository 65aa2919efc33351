"""Comparing agents on the same deals.

    from cardenvs.arena import Match

    summary = Match.of("my_game_v0", ["random", "search"], deals=500, seed=0).run()
    for standing in summary.standings:
        print(standing.name, standing.mean)

`Match` says what is played, `Store` keeps finished games, `summarise` works out means and intervals over deals, and
`report` and `page` show them. Several matches make an experiment (`experiment`), which is summed up as a board
(`board`, `ratings`) and shown in the terminal, as files or as a site (`terminal`, `export`, `site`). `schedule` says
who meets whom, `plan` what is left to play and when it is enough, `play` and `run` play it, `verify` plays it again,
and `submit` checks what others hand in.
"""

from cardenvs.arena.match import Match
from cardenvs.arena.statistics import Estimate, Summary, summarise
from cardenvs.arena.store import Store

__all__ = ["Estimate", "Match", "Store", "Summary", "summarise"]
