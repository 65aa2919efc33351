"""Blackjack: one to seven players against the bank. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.blackjack import heuristic, observation, rules, state, view

GAME = Game.of(
    "blackjack_v0",
    "Blackjack",
    state,
    rules,
    observation,
    heuristic,
    view,
    hidden_phases=("insurance", "play"),  # while bets are made, the composition of the shoe is all there is to know
    given_fields=("deck",),
    policies_need_legal=False,
)
