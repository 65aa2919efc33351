"""Two agents against each other as teams play: every deal at two tables, with the pairs exchanged."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cardenvs.agents.seeds import MatchSeed
from cardenvs.arena.match import Match
from cardenvs.arena.results.statistics import Estimate, estimate
from cardenvs.arena.run import run
from cardenvs.arena.schedule import FIXED
from cardenvs.arena.store import Store
from cardenvs.arena.verify import replay_of
from cardenvs.core.errors import ArenaError
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.games.bridge.scoring import imps
from cardenvs.tools.bridge.boards import Board
from cardenvs.tools.bridge.deals import GAME

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """What the first agent won."""

    agents: tuple[str, str]
    seed: str  # of the deals, as text
    imps: np.ndarray  # by deal that was played at both tables: what the first agent's team won, positive or negative
    points: np.ndarray  # (deals, 2): North and South's points where the first agent sat there, and where the second did

    @property
    def mean(self) -> Estimate | None:
        """IMPs a deal with their 95% interval; None with fewer than two deals."""
        return estimate(self.imps.tolist()) if len(self.imps) > 1 else None


def tables_of(agents: tuple[str, str], options: Options, deals: int, seed: str | None = None) -> tuple[Match, Match]:
    """Return the matches of both tables: with the first agent as North and South, and as East and West.

    Raises:
        ArenaError: the agents are the same, or the options are not of duplicate deals in points.
    """
    if agents[0] == agents[1]:
        raise ArenaError(f"a duel is between two different agents; got {agents[0]} twice")
    values = options.as_dict()
    if values["scoring"] != "duplicate":
        raise ArenaError("a duel compares single deals; it has no rubbers")
    if values["result"] != "points":
        raise ArenaError("a duel needs result=points; it converts them to IMPs itself")
    drawn = MatchSeed.of(seed)
    game = get_game(GAME)
    first, second = (
        Match.make(game, options, (one, other, one, other), deals, drawn, schedule=FIXED)
        for one, other in (agents, agents[::-1])
    )
    return first, second


def play(
    tables: tuple[Match, Match], store: Store, resume: bool = False, processes: int = 1,
    progress: Progress = lambda done, total: None,
) -> None:  # fmt: skip
    """Play all deals at both tables, or those that the store lacks."""
    run(list(tables), store, resume=resume, processes=processes, progress=progress)


def result_of(tables: tuple[Match, Match], store: Store) -> Result:
    """Return what has been won in the deals that were played at both tables."""
    first, second = ({game.deal: game.returns[0] for game in store.results(table.id)} for table in tables)
    deals = sorted(first.keys() & second.keys())
    points = np.array([(first[deal], second[deal]) for deal in deals], np.int64).reshape(-1, 2)
    won = np.array([int(imps(int(here - there))) for here, there in points], np.int64)
    return Result((tables[0].specs[0], tables[0].specs[1]), tables[0].seed_text, won, points)


def seeded(tables: tuple[Match, Match], store: Store, resume: bool) -> tuple[Match, Match]:
    """Return the matches with the seed of those in the store, if the duel is resumed and no seed was chosen."""
    first = store.seeded(tables[0], resume)
    return first, tables[1].changed(seed=first.seed)


def boards_of(tables: tuple[Match, Match], store: Store) -> list[Board]:
    """Return all boards played, those of the first table first."""
    return [
        dataclasses.replace(Board.of(replay_of(table, game)), number=game.deal + 1)
        for table in tables
        for game in store.records(table.id)
    ]
