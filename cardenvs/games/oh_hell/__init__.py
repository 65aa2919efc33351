"""Oh Hell: win exactly as many tricks as you bid. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.oh_hell import belief, heuristic, observation, outcomes, rules, view

GAME = Game.of("oh_hell_v0", "Oh Hell", rules, observation, outcomes, heuristic, belief, view)
