"""Riichi mahjong: one round, or a match for the east wind or two. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.riichi import (
    actions,
    effects,
    heuristic,
    legal,
    observation,
    outcomes,
    rules,
    state,
    table,
    view,
    winning,
    worlds,
)

GAME = Game.of(
    "riichi_v0", "Riichi Mahjong",
    state, table, actions, effects, legal, winning, rules, worlds, observation, outcomes, heuristic, view,
)  # fmt: skip
