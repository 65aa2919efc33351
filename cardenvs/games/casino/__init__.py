"""Casino, the fishing game with builds. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.casino import legal, observation, rules, state, table
from cardenvs.games.casino.heuristic import heuristic
from cardenvs.games.casino.view import CasinoView

GAME = Game(
    name="casino_v0",
    title="Casino",
    rules=Rules.of(state, table, legal, rules, observation, options=state.CasinoOptions),
    view=CasinoView(),
    phases=state.PHASES,
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
