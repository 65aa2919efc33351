"""Pinnacola for two, or four in partnerships: runs and sets with jokers, and a row of discards. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.pinnacola import actions, legal, observation, outcomes, rules, state, table, view
from cardenvs.games.pinnacola.heuristic import heuristic, melder

GAME = Game.of(
    "pinnacola_v0",
    "Pinnacola",
    state,
    table,
    actions,
    legal,
    rules,
    observation,
    outcomes,
    view,
    policies={"heuristic": heuristic, "melder": melder},
)
