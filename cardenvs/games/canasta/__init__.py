"""Canasta for two, three or four players, of whom four form partnerships. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.canasta import actions, legal, observation, rules, state, table, view
from cardenvs.games.canasta.heuristic import heuristic, melder

GAME = Game.of(
    "canasta_v0",
    "Canasta",
    state,
    table,
    actions,
    legal,
    rules,
    observation,
    view,
    policies={"heuristic": heuristic, "melder": melder},
)
