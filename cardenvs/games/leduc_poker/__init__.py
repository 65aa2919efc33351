"""Leduc poker, 2 to 10 players. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.leduc_poker import observation, rules
from cardenvs.games.leduc_poker.view import LeducView

GAME = Game(
    name="leduc_poker_v0",
    title="Leduc poker",
    rules=Rules.of(rules, observation, options=rules.LeducOptions),
    view=LeducView(),
    phases=("first_round", "second_round"),
)
