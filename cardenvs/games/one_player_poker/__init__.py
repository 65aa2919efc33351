"""One-player poker: play four hands of five cards from a hand of seven. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules
from cardenvs.games.one_player_poker import observation, rules
from cardenvs.games.one_player_poker.heuristic import heuristic
from cardenvs.games.one_player_poker.planner import planner
from cardenvs.games.one_player_poker.view import OnePlayerPokerView

GAME = Game(
    name="one_player_poker_v0",
    title="One-player poker",
    rules=Rules.of(rules, observation, options=rules.OnePlayerPokerOptions),
    view=OnePlayerPokerView(),
    policies={"heuristic": heuristic, "planner": planner},
    playout_policy="heuristic",
)
