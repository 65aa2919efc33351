"""Wingspan, the base game for two to five. Rules: rules.md."""

from cardenvs.core.game import Game, Returns
from cardenvs.games.wingspan import rules, strategy, worlds
from cardenvs.games.wingspan.actions import max_legal, num_actions
from cardenvs.games.wingspan.observation import layout, observe
from cardenvs.games.wingspan.state import PHASES, STATE, TABLE, WingspanOptions, deck
from cardenvs.games.wingspan.view import WingspanView

_MOST_POINTS = 1000  # far above what anybody can score
_MOST_DECISIONS = 4000  # of one player


def _returns(options):
    if options.reward == "score":
        return Returns(0, _MOST_POINTS, None, "points")
    return Returns(-1 if options.reward == "placement" else -1 / (options.num_players - 1), 1, 0, "points")


GAME = Game(
    name="wingspan_v0",
    title="Wingspan",
    options=WingspanOptions,
    state_dtype=STATE,
    table=TABLE,
    view=WingspanView(),
    deal=rules.deal,
    legal_actions=rules.legal_actions,
    apply_action=rules.apply_action,
    forfeit=rules.forfeit,
    observe=observe,
    determinize=worlds.determinize,
    explain_illegal=rules.explain_illegal,
    num_actions=num_actions,
    max_legal=max_legal,
    max_length=lambda options: _MOST_DECISIONS * options.num_players,
    layout=layout,
    returns=_returns,
    deck=deck,
    phases=PHASES,
    hidden_phases=PHASES,
    policies={"greedy": strategy.greedy, "planner": strategy.planner},
    playout="planner",
)
