"""Plain Whist, a trick-taking game on the trick kit, in a package of its own. Rules: rules.md."""

from cardenvs.core.game import Game

from plain_whist import observation, rules, view

GAME = Game.of("plain_whist_v0", "Plain Whist", rules, observation, view)
