"""Hanabi: build fireworks together from cards that everybody sees but their owners. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.hanabi import heuristic, observation, outcomes, rules, state, view, worlds

GAME = Game.of(
    "hanabi_v0", "Hanabi",
    state, rules, observation, outcomes, heuristic, view, dealing_order=worlds.dealing_order,
)  # fmt: skip
