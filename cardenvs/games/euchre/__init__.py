"""Euchre, the game of bowers for two partnerships. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.euchre import belief, heuristic, observation, rules, state, view, worlds

GAME = Game.of("euchre_v0", "Euchre", state, rules, worlds, observation, heuristic, belief, view)
