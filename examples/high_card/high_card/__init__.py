"""High Card, a toy game: keep your card or swap it, the higher card wins. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules

from high_card import observation, rules
from high_card.view import HighCardView

GAME = Game(
    name="high_card_v0",
    title="High Card",
    rules=Rules.of(rules, observation, options=rules.HighCardOptions),
    view=HighCardView(),
    policies={"heuristic": rules.heuristic},
    playout_policy="heuristic",
)
