"""Marjapussi, the Finnish game of marriages for two partnerships. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.marjapussi import heuristic, observation, rules, state, view, worlds

GAME = Game.of("marjapussi_v0", "Marjapussi", state, rules, worlds, observation, heuristic, view)
