"""Cribbage: lay cards away, peg points in the play, and count hands and crib. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.cribbage import heuristic, observation, outcomes, rules, state, view, worlds

GAME = Game.of("cribbage_v0", "Cribbage", state, rules, worlds, heuristic, observation, outcomes, view)
