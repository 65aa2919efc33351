"""Liar's dice: bids on hidden dice. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.liars_dice import belief, heuristic, observation, rules, view

GAME = Game.of("liars_dice_v0", "Liar's dice", rules, observation, heuristic, belief, view)
