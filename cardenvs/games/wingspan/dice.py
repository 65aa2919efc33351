"""Effects on the dice in the birdfeeder and outside (rules.md 7)."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, start_stream
from cardenvs.games.wingspan import state, table
from cardenvs.games.wingspan.cards import DUAL_FACE, NUM_DICE, NUM_FACES
from cardenvs.games.wingspan.events import log_set
from cardenvs.games.wingspan.mats import add_food


@kernel
def roll_feeder(s, log):
    """Roll all dice into the birdfeeder (7.3, 7.4)."""
    ev.log_note(log, table.ROLL, ev.NO_PLAYER, NUM_DICE)
    start_stream(s, state.ROLLS, np.int64(s.num_rolls))
    s.num_rolls += 1
    for face in range(NUM_FACES):
        _set_outside(s, face, 0, log)
    _roll(s, s.feeder, NUM_DICE, table.DIE_IN, table.FEEDER, log)


@kernel
def roll_outside(s, player, log):
    """Roll the dice outside the birdfeeder; they stay outside (11.8)."""
    number = num_outside(s)
    ev.log_note(log, table.ROLL_OUTSIDE, player, number)
    start_stream(s, state.HUNTS, np.int64(s.num_hunts))
    s.num_hunts += 1
    _roll(s, s.outside, number, table.DIE_OUT, table.OUTSIDE, log)


@kernel
def _roll(s, dice, number, kind, counter, log):
    """Set `dice`, the counts of faces, to a roll of a number of dice."""
    rolled = np.int64(0)  # 4 bits per face
    for _ in range(number):
        rolled += 1 << 4 * random_below(s.rng, NUM_FACES)
    for face in range(NUM_FACES):
        count = rolled >> 4 * face & 15
        if dice[face] != count:
            dice[face] = count
            log_set(log, kind, ev.NO_PLAYER, counter + face, count)


@kernel(inline=True)
def _set_outside(s, face, count, log):
    if s.outside[face] != count:
        s.outside[face] = count
        log_set(log, table.DIE_OUT, ev.NO_PLAYER, table.OUTSIDE + face, count)


@kernel
def num_outside(s):
    """Return the number of dice outside the birdfeeder."""
    number = np.int64(0)
    for face in range(NUM_FACES):
        number += s.outside[face]
    return number


@kernel
def take_die(s, player, face, food, log):
    """Take a die for a token of one of its foods; returns whether the birdfeeder was refilled (7.4)."""
    ev.log_note(log, table.TAKE_DIE, player, face)
    s.feeder[face] -= 1
    log_set(log, table.DIE_IN, ev.NO_PLAYER, table.FEEDER + face, s.feeder[face])
    _set_outside(s, face, s.outside[face] + 1, log)
    add_food(s, player, food, 1, table.GAIN_FOOD, log)
    if num_outside(s) < NUM_DICE:
        return False
    roll_feeder(s, log)
    return True


@kernel(inline=True)
def food_of_choice(choice):
    """Return the food of a choice at the birdfeeder: 0..4 for a die of one food, then two for the dual face."""
    return choice if choice < DUAL_FACE else choice - DUAL_FACE
