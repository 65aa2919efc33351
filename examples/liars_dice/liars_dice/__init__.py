"""Liar's dice: a game with hidden dice and bids, without cards. Rules: rules.md."""

from cardenvs.core.game import Game

from liars_dice import observation, rules
from liars_dice.policy import heuristic
from liars_dice.view import LiarsDiceView

GAME = Game.of(
    "liars_dice_v0",
    "Liar's dice",
    rules,
    observation,
    options=rules.LiarsDiceOptions,
    view=LiarsDiceView(),
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
