"""Kasino, the Finnish game of capturing cards by their sums. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.kasino import legal, observation, rules, state, table
from cardenvs.games.kasino.heuristic import heuristic
from cardenvs.games.kasino.view import KasinoView

GAME = Game(
    name="kasino_v0",
    title="Kasino",
    rules=Rules.of(state, table, legal, rules, observation, options=state.KasinoOptions),
    view=KasinoView(),
    phases=state.PHASES,
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
