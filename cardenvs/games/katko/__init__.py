"""Katko, the Finnish game of the last trick. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.katko import observation, rules, state, table
from cardenvs.games.katko.heuristic import heuristic
from cardenvs.games.katko.view import KatkoView

GAME = Game(
    name="katko_v0",
    title="Katko",
    rules=Rules.of(state, table, rules, observation, options=state.KatkoOptions),
    view=KatkoView(),
    phases=state.PHASES,
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
