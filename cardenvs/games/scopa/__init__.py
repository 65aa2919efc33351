"""Scopa and Scopone, the Italian games of taking cards from the table. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.scopa import observation, rules, state, table
from cardenvs.games.scopa.heuristic import heuristic
from cardenvs.games.scopa.view import ScopaView

GAME = Game(
    name="scopa_v0",
    title="Scopa",
    rules=Rules.of(state, table, rules, observation, options=state.ScopaOptions),
    view=ScopaView(),
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
