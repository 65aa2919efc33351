"""Skat, the German game of one soloist against two opponents. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.skat import belief, heuristic, observation, rules, state, view, worlds

GAME = Game.of("skat_v0", "Skat", state, rules, worlds, belief, observation, heuristic, view)
