"""Contract Bridge: auction, play, duplicate and rubber scores. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.bridge import belief, heuristic, observation, rules, state, table, view, worlds

GAME = Game.of("bridge_v0", "Contract Bridge", state, table, rules, worlds, belief, observation, heuristic, view)
