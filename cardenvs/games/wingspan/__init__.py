"""Wingspan, the base game for two to five. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Returns, Rules, by_place, win_or_loss
from cardenvs.games.wingspan import actions, deal, observation, rules, state, strategy, table, worlds
from cardenvs.games.wingspan.state import PHASES
from cardenvs.games.wingspan.view import WingspanView

_MOST_POINTS = 1000  # far above any possible score
_MOST_DECISIONS = 4000  # per player


def _returns(options):
    if options.reward == "score":
        return Returns(0, _MOST_POINTS, None, "points")
    if options.reward == "placement":
        return by_place(options.num_players)
    return win_or_loss(options.num_players)


GAME = Game(
    name="wingspan_v0",
    title="Wingspan",
    rules=Rules.of(
        rules,
        deal,
        actions,
        observation,
        state,
        table,
        options=state.WingspanOptions,
        determinize=worlds.determinize,
        max_length=lambda options: _MOST_DECISIONS * options.num_players,
        returns=_returns,
    ),
    view=WingspanView(),
    phases=PHASES,
    policies={"greedy": strategy.greedy, "planner": strategy.planner},
    playout_policy="planner",
)
