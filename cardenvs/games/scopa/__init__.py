"""Scopa and Scopone, the Italian games of taking cards from the table. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.scopa import heuristic, observation, outcomes, rules, state, view

GAME = Game.of("scopa_v0", "Scopa", state, rules, observation, outcomes, heuristic, view)
