"""What the agents of a match of one-player poker score, side by side on the same deals."""

from dataclasses import dataclass

import numpy as np

from cardenvs.arena.results.statistics import summarise
from cardenvs.arena.store import Store
from cardenvs.core.errors import ArenaError
from cardenvs.tools.one_player_poker.api.pools import Pools
from cardenvs.tools.one_player_poker.api.session import GAME


@dataclass(frozen=True)
class Score:
    """Points of one agent."""

    name: str  # of the agent
    deals: int  # how many
    # mean points a game, and half its 95% interval
    mean: float
    half: float
    sd: float  # standard deviation of the points of a game
    success: dict[int, float]  # by target of the server's tiers: the share of games that reach it


def scores_of(store: Store) -> list[Score]:
    """Return the scores of the agents of a store's match, best first.

    Raises:
        ArenaError: the store holds no match of one-player poker, several of them, or no complete deal.
    """
    matches = [match for match in map(store.match, store.match_ids()) if match.game.name == GAME]
    if len(matches) != 1:
        raise ArenaError(f"the store should hold one match of {GAME}; it holds {len(matches)}")
    summary = summarise(matches[0], store.results(matches[0].id))
    if len(summary.deals) < 2:
        raise ArenaError("fewer than two deals of the match are complete")
    targets = sorted(tier.target_score for tier in Pools.load().manifest.tiers.values())
    return [
        Score(
            one.name, one.mean.deals, one.mean.mean, one.mean.high - one.mean.mean, float(one.by_deal.std(ddof=1)),
            {target: float(np.mean(one.by_deal >= target - 1e-6)) for target in targets},
        )
        for one in summary.ranking
    ]  # fmt: skip
