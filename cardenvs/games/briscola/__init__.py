"""Briscola, the Italian trick-taking game. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.briscola import observation, rules
from cardenvs.games.briscola.heuristic import heuristic
from cardenvs.games.briscola.view import BriscolaView

GAME = Game(
    name="briscola_v0",
    title="Briscola",
    rules=Rules.of(rules, observation, options=rules.BriscolaOptions),
    view=BriscolaView(),
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
