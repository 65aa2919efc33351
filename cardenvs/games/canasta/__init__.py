"""Canasta for two, three or four players, of whom four form partnerships. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.canasta import actions, legal, observation, rules, state, table
from cardenvs.games.canasta.heuristic import heuristic, melder
from cardenvs.games.canasta.view import CanastaView

GAME = Game(
    name="canasta_v0",
    title="Canasta",
    rules=Rules.of(state, table, actions, legal, rules, observation, options=state.CanastaOptions),
    view=CanastaView(),
    phases=state.PHASES,
    policies={"heuristic": heuristic, "melder": melder},
    playout_policy="heuristic",
)
