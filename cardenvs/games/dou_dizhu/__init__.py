"""Dou Dizhu, the Chinese climbing game of a landlord against two peasants. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.dou_dizhu import actions, heuristic, observation, rules, state, table, view, worlds

GAME = Game.of("dou_dizhu_v0", "Dou Dizhu", state, table, rules, actions, worlds, observation, heuristic, view)
