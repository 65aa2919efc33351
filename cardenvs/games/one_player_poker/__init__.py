"""One-player poker: play four hands of five cards from a hand of seven. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.one_player_poker import observation, outcomes, rules, view
from cardenvs.games.one_player_poker.heuristic import heuristic
from cardenvs.games.one_player_poker.planner import planner

GAME = Game.of(
    "one_player_poker_v0",
    "One-player poker",
    rules,
    observation,
    outcomes,
    view,
    policies={"heuristic": heuristic, "planner": planner},
)
