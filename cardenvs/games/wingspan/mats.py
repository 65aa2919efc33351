"""Effects on the mats: food, eggs and birds."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import hands, memory, state, table
from cardenvs.games.wingspan.cards import BIRD_EGG_LIMIT, NUM_SLOTS
from cardenvs.games.wingspan.events import log_move, log_set

# ---------------------------------------------------------------------------------------------------------------
# Food and eggs


@kernel
def add_food(s, player, food, amount, kind, log):
    """Give `player` tokens of a food, or take them: GAIN_FOOD, PAY_FOOD or DEAL_FOOD."""
    s.food[player, food] += amount
    log_set(log, kind, player, table.FOOD + state.MAX_PLAYERS * food + player, s.food[player, food])


@kernel
def cache_food(s, player, slot, amount, kind, log):
    """Cache food on the bird in a slot: CACHE_FOOD, or CATCH if a hunt with dice caught it (11.8)."""
    s.cached[player, slot] += amount
    log_set(log, kind, player, table.CACHED + state.MAX_PLAYERS * slot + player, s.cached[player, slot])


@kernel
def add_egg(s, player, slot, amount, kind, log):
    """Lay an egg on the bird in a slot, or discard one: LAY_EGG or LOSE_EGG."""
    s.eggs[player, slot] += amount
    log_set(log, kind, player, table.EGGS + state.MAX_PLAYERS * slot + player, s.eggs[player, slot])


@kernel
def has_room(s, who, slots):
    """Return those of some slots, as bits, whose birds have room for an egg."""
    open_slots = np.int64(0)
    for k in range(state.MAT_SLOTS):
        bird = s.birds[who, k]
        if slots >> k & 1 and bird != state.NO_BIRD and s.eggs[who, k] < BIRD_EGG_LIMIT[bird]:
            open_slots |= 1 << k
    return open_slots


# ---------------------------------------------------------------------------------------------------------------
# Birds


@kernel
def show_bird(s, player, bird, log):
    """Show everybody the bird that `player` is about to play."""
    s.known[bird] = state.KNOWN_TO_ALL
    memory.no_longer_hidden(s, player, bird)
    s.taken[bird] = 1 + s.num_tucks[player]
    ev.log_reveal(log, table.SHOW_BIRD, player, bird, table.HAND + player, 1, ev.EVERYBODY)


@kernel
def place_bird(s, player, bird, habitat, log):
    """Move a bird from the hand to the leftmost free slot of a habitat; returns the slot (4.1, 4.4)."""
    slot = NUM_SLOTS * habitat + s.row_size[player, habitat]
    hands.take_out(s, player, bird)
    memory.no_longer_hidden(s, player, bird)
    s.place[bird] = state.ON_MAT + player
    s.known[bird] = state.KNOWN_TO_ALL
    s.row_size[player, habitat] += 1
    s.birds[player, slot] = bird
    row = table.ROW + state.MAX_PLAYERS * habitat + player
    log_move(log, table.PLACE_BIRD, player, bird, table.HAND + player, row, ev.EVERYBODY)
    return slot


@kernel
def move_bird(s, player, slot, habitat, log):
    """Move the rightmost bird of a row to another row, with everything on it (11.22)."""
    old = slot // NUM_SLOTS
    target = NUM_SLOTS * habitat + s.row_size[player, habitat]
    bird = s.birds[player, slot]
    s.row_size[player, old] -= 1
    s.row_size[player, habitat] += 1
    s.birds[player, target] = bird
    s.birds[player, slot] = state.NO_BIRD
    source = table.ROW + state.MAX_PLAYERS * old + player
    log_move(log, table.MOVE_BIRD, player, bird, source, source + state.MAX_PLAYERS * (habitat - old), ev.EVERYBODY)
    _carry(s.eggs, player, slot, target, table.EGGS, log)
    _carry(s.cached, player, slot, target, table.CACHED, log)
    _carry(s.tucked, player, slot, target, table.TUCKED_AT, log)


@kernel
def _carry(what, player, slot, target, counter, log):
    amount = what[player, slot]
    if amount == 0:
        return
    what[player, target] = amount
    what[player, slot] = 0
    log_set(log, table.CARRY, player, counter + state.MAX_PLAYERS * slot + player, 0)
    log_set(log, table.CARRY, player, counter + state.MAX_PLAYERS * target + player, amount)
