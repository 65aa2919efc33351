"""Liar's dice: a game with hidden dice and bids, without cards. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.rules import Rules

from liars_dice import observation, rules
from liars_dice.policy import heuristic
from liars_dice.view import LiarsDiceView

GAME = Game(
    name="liars_dice_v0",
    title="Liar's dice",
    rules=Rules.of(rules, observation, options=rules.LiarsDiceOptions),
    view=LiarsDiceView(),
    policies={"heuristic": heuristic},
    playout_policy="heuristic",
)
