"""Rummikub (Sabra rules): environment and exact solver. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.games.rummikub import observation, outcomes, rules, state, strategy, table, view
from cardenvs.games.rummikub.actions import NUM_ACTIONS, action_features
from cardenvs.games.rummikub.replace_table import (
    IllegalPlayError,
    actions_of,
    play_turns,
    replace_table,
    state_key,
    table_key,
    turns_of,
)
from cardenvs.games.rummikub.solve import Solution, solve
from cardenvs.games.rummikub.tiles import MAX_MELDS

__all__ = [
    "GAME",
    "IllegalPlayError",
    "Solution",
    "actions_of",
    "play_turns",
    "replace_table",
    "solve",
    "state_key",
    "table_key",
    "turns_of",
]


def _max_length(options):
    """Return a bound on the number of actions.

    Each play moves a tile to the table, each draw moves one to a rack, and between plays each player passes at most
    once. A turn takes each set apart at most once, lays at most as many melds as fit on a table, and ends.
    """
    plays = draws = options.num_tiles
    passes = (plays + 1) * options.num_players
    most_sets = min(MAX_MELDS, options.num_tiles // 3)
    return (plays + draws + passes) * (2 * most_sets + 1)


def _returns(options):
    if options.returns == "win":
        return win_or_loss(options.num_players, low=-1)
    faces = options.colors * options.copies * options.values * (options.values + 1) // 2
    most = faces + options.jokers * options.joker_value_at_end
    return Returns(-most, (options.num_players - 1) * most, 0, "points")  # players who forfeit pay one after the other


GAME = Game.of(
    "rummikub_v0",
    "Rummikub",
    rules,
    observation,
    outcomes,
    state,
    table,
    view,
    num_actions=NUM_ACTIONS,
    action_features=action_features,
    max_length=_max_length,
    returns=_returns,
    sample_belief=strategy.sample_belief,
    policies={"greedy": strategy.greedy, "max_tiles": strategy.max_tiles, "planner": strategy.planner},
    policies_need_legal=False,
    playout_policy="planner",
)
