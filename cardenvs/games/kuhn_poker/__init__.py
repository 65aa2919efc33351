"""Kuhn poker, 2 to 10 players. Rules: rules.md."""

import numpy as np

from cardenvs.core.game import Game, Returns
from cardenvs.games.kuhn_poker import rules
from cardenvs.games.kuhn_poker.observation import layout, observe
from cardenvs.games.kuhn_poker.view import KuhnView

GAME = Game(
    name="kuhn_poker_v0",
    title="Kuhn poker",
    options=rules.KuhnOptions,
    state_dtype=rules.STATE,
    table=rules.TABLE,
    view=KuhnView(),
    deal=rules.deal,
    legal_actions=rules.legal_actions,
    apply_action=rules.apply_action,
    forfeit=rules.forfeit,
    observe=observe,
    determinize=rules.determinize,
    explain_illegal=rules.explain_illegal,
    num_actions=lambda options: rules.NUM_ACTIONS,
    max_legal=lambda options: rules.NUM_ACTIONS,
    max_length=lambda options: 2 * options.num_players - 1,
    layout=layout,
    returns=lambda options: Returns(-2, 2 * (options.num_players - 1), 0, "chips"),
    deck=lambda options: np.arange(options.num_players + 1, dtype=np.int16),
    deals=rules.deals,
)
