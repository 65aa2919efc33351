"""Casino, the fishing game with builds. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.casino import heuristic, legal, observation, outcomes, rules, state, table, view

GAME = Game.of("casino_v0", "Casino", state, table, legal, rules, observation, outcomes, heuristic, view)
