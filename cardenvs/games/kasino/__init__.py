"""Kasino, the Finnish game of capturing cards by their sums. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.kasino import heuristic, legal, observation, outcomes, rules, state, table, view

GAME = Game.of("kasino_v0", "Kasino", state, table, legal, rules, observation, outcomes, heuristic, view)
