"""Effects on goals, rounds, turns, debts and scores."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import state, table
from cardenvs.games.wingspan.cards import NUM_BIRDS, NUM_BONUSES
from cardenvs.games.wingspan.events import log_move, log_set

# ---------------------------------------------------------------------------------------------------------------
# The setup


@kernel
def lay_out_goals(s, tiles, log):
    """Lay out the goals in s.goals, one for each round, from a box with all goals (2.1)."""
    for goal in range(tiles.shape[0]):
        token, box = state.GOAL_TOKEN + goal, table.GOAL_BOX
        ev.log_event(log, table.NEW_GOAL, ev.NO_PLAYER, token, ev.NO_PLACE, box, 1, ev.EVERYBODY, ev.EVERYBODY)
    for k in range(s.goals.shape[0]):
        token = state.GOAL_TOKEN + s.goals[k]
        log_move(log, table.LAY_GOAL, ev.NO_PLAYER, token, table.GOAL_BOX, table.GOALS, ev.EVERYBODY)


@kernel
def new_decks(s, log):
    """Put all cards in the decks, which are shuffled."""
    s.num_deck = NUM_BIRDS
    s.num_bonus_deck = NUM_BONUSES
    ev.log_create(log, table.NEW_DECK, table.DECK, NUM_BIRDS)
    ev.log_create(log, table.NEW_BONUS_DECK, table.BONUS_DECK, NUM_BONUSES)


# ---------------------------------------------------------------------------------------------------------------
# Rounds and turns


@kernel
def set_first_player(s, player, log):
    """Give the first player token to `player`."""
    s.first_player = player
    log_set(log, table.IS_FIRST, player, table.FIRST, player)


@kernel
def set_round(s, number, log):
    """Begin a round, counted from 0."""
    s.round_number = number
    log_set(log, table.NEW_ROUND, ev.NO_PLAYER, table.ROUND, number + 1)


@kernel
def set_turns(s, player, turns, log):
    """Set the turns that `player` has left in this round."""
    s.turns_left[player] = turns
    log_set(log, table.TURNS, player, table.TURNS_LEFT + player, turns)


@kernel
def give_goal_points(s, player, points, log):
    """Give `player` points for the goal of this round."""
    number = np.int64(s.round_number)
    s.goal_points[number, player] = points
    log_set(log, table.NEW_POINTS, player, table.GOAL_POINTS + state.MAX_PLAYERS * number + player, points)


@kernel
def set_debt(s, player, cards, log):
    """Set the discards that `player` owes at the end of the turn (11.10)."""
    s.debts[player] = cards
    log_set(log, table.NOW_OWED, player, table.OWED + player, cards)


@kernel
def set_score(s, player, points, log):
    """Set the final score of `player`."""
    s.scores[player] = points
    log_set(log, table.NEW_SCORE, player, table.SCORE + player, points)


@kernel
def leave(s, player, log):
    """Take `player` out of the game (15)."""
    s.active[player] = 0
    set_turns(s, player, 0, log)
    set_debt(s, player, 0, log)
    log_set(log, table.FORFEIT, player, table.OUT + player, 1)
