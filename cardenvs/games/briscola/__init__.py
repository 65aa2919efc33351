"""Briscola, the Italian trick-taking game. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.briscola import heuristic, observation, rules, view

GAME = Game.of("briscola_v0", "Briscola", rules, observation, heuristic, view)
