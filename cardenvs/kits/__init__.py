"""Parts that several games share: decks, lists of legal cards, observations, matches, tricks, fishing.

Kits stand between core and games: core knows no kit, and a kit knows no game.
"""
