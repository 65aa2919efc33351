"""Uno for two to ten players, with house rules and RLCard's rules as options. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.uno import actions, heuristic, legal, observation, rules, state, table, view, worlds

GAME = Game.of("uno_v0", "Uno", state, table, actions, legal, rules, worlds, observation, heuristic, view)
