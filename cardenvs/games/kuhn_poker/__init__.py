"""Kuhn poker, 2 to 10 players. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.kuhn_poker import observation, rules
from cardenvs.games.kuhn_poker.view import KuhnView

GAME = Game(
    name="kuhn_poker_v0",
    title="Kuhn poker",
    rules=Rules.of(rules, observation, options=rules.KuhnOptions),
    view=KuhnView(),
)
