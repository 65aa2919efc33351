"""Hearts, the trick-taking game in which points are to be avoided. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.hearts import heuristic, observation, rules, state, view, worlds

GAME = Game.of("hearts_v0", "Hearts", state, rules, worlds, observation, heuristic, view)
