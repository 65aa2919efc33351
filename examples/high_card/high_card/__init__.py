"""High Card, a toy game: keep your card or swap it, the higher card wins. Rules: rules.md."""

import numpy as np
from cardenvs.core.game import Game, Returns

from high_card import rules
from high_card.observation import layout, observe
from high_card.view import HighCardView

GAME = Game(
    name="high_card_v0",
    title="High Card",
    options=rules.HighCardOptions,
    state_dtype=rules.STATE,
    table=rules.TABLE,
    view=HighCardView(),
    deal=rules.deal,
    legal_actions=rules.legal_actions,
    apply_action=rules.apply_action,
    forfeit=rules.forfeit,
    observe=observe,
    determinize=rules.determinize,
    explain_illegal=rules.explain_illegal,
    num_actions=lambda options: rules.NUM_ACTIONS,
    max_legal=lambda options: rules.NUM_ACTIONS,
    max_length=lambda options: rules.NUM_PLAYERS,
    layout=layout,
    returns=lambda options: Returns(-options.stake, options.stake, 0, "points"),
    deck=lambda options: np.arange(rules.NUM_CARDS, dtype=np.int16),
    policies={"heuristic": rules.heuristic},
    playout="heuristic",
)
