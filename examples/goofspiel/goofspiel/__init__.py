"""Goofspiel: blind bids for prizes, in turn and revealed together. Rules: rules.md."""

from cardenvs.core.game import Game

from goofspiel import observation, rules, view

GAME = Game.of("goofspiel_v0", "Goofspiel", rules, observation, view)
