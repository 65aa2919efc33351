"""Durak for two to six players, with throw-ins or transfers. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.returns import Returns
from cardenvs.games.durak import actions, heuristic, legal, observation, rules, state, table, view
from cardenvs.games.durak.state import NUM_RANKS, TEAM_SIZES


def _max_length(options):
    """Return the most actions of a game.

    A bout has at most k = max_attack_cards attack cards, transfers included. Each is beaten once, or the defender takes
    once and then beats no more: at most 2 k plays and takes. All n - 1 attackers can pass when everything is beaten
    and fewer than k cards were played, k - 1 times, and once more after a take: at most k (n - 1) passes. Showing a
    trump adds one action for each of the 13 trumps in a whole game.
    """
    bout = options.max_attack_cards * (options.num_players + 1)
    return options.max_bouts * bout + (NUM_RANKS if options.show_trump_transfer else 0)


def _returns(options):
    team = TEAM_SIZES[options.teams]
    share = team / (options.num_players - team)
    return Returns(-1, share, 0, "points", meaning=f"-1 for a durak, {share:.3g} for the others")


GAME = Game.of(
    "durak_v0",
    "Durak",
    rules,
    legal,
    actions,
    observation,
    heuristic,
    state,
    table,
    view,
    max_length=_max_length,
    returns=_returns,
)
