"""Wingspan, the base game for two to five. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.returns import Returns, by_place, win_or_loss
from cardenvs.games.wingspan import actions, deal, observation, outcomes, rules, state, strategy, table, view, worlds

_MOST_POINTS = 1000  # far above any possible score
_MOST_DECISIONS = 4000  # per player


def _returns(options):
    if options.reward == "score":
        return Returns(0, _MOST_POINTS, None, "points")
    if options.reward == "placement":
        return by_place(options.num_players)
    return win_or_loss(options.num_players)


GAME = Game.of(
    "wingspan_v0",
    "Wingspan",
    rules,
    deal,
    actions,
    observation,
    outcomes,
    state,
    table,
    view,
    determinize=worlds.determinize,
    max_length=lambda options: _MOST_DECISIONS * options.num_players,
    returns=_returns,
    policies={"greedy": strategy.greedy, "planner": strategy.planner},
    playout_policy="planner",
)
