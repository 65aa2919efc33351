"""Ristiseiska, the Finnish game of sevens, for three to five players. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.ristiseiska import actions, heuristic, observation, rules, state, table, view, worlds

GAME = Game.of("ristiseiska_v0", "Ristiseiska", state, table, actions, rules, worlds, observation, heuristic, view)
