"""Katko, the Finnish game of the last trick. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.katko import heuristic, observation, rules, state, view

GAME = Game.of("katko_v0", "Katko", state, rules, observation, heuristic, view)
