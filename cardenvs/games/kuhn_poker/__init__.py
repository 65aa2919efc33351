"""Kuhn poker, 2 to 10 players. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.kuhn_poker import observation, rules, view

GAME = Game.of("kuhn_poker_v0", "Kuhn poker", rules, observation, view)
