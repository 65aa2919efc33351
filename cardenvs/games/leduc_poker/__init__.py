"""Leduc poker, 2 to 10 players. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.leduc_poker import observation, rules, view

GAME = Game.of("leduc_poker_v0", "Leduc poker", rules, observation, view)
