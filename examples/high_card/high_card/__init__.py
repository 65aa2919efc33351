"""High Card, a toy game: keep your card or swap it, the higher card wins. Rules: rules.md."""

from cardenvs.core.game import Game

from high_card import observation, rules, view

GAME = Game.of("high_card_v0", "High Card", rules, observation, view)
