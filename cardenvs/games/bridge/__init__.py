"""Contract Bridge: auction, play, duplicate and rubber scores. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.bridge import belief, observation, rules, state, table, worlds
from cardenvs.games.bridge.heuristic import heuristic
from cardenvs.games.bridge.view import BridgeView

GAME = Game(
    name="bridge_v0",
    title="Contract Bridge",
    rules=Rules.of(state, table, rules, worlds, belief, observation, options=state.BridgeOptions),
    view=BridgeView(),
    phases=state.PHASES,
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
    default_opponent="heuristic",
)
