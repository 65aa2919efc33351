"""Spades: partners bid how many tricks they will win, and spades are trumps. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.spades import belief, heuristic, observation, outcomes, rules, state, view, worlds

GAME = Game.of("spades_v0", "Spades", state, rules, worlds, observation, outcomes, heuristic, belief, view)
