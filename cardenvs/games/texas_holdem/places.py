"""Places in a tournament and their rewards. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.texas_holdem import effects, state, table
from cardenvs.kits.cards import count_bits


@kernel
def eliminate_broke(s, log):
    """Eliminate players without chips; more chips at the start of the hand give a better place (8.1, 8.2)."""
    n = np.int64(s.rules.num_players)
    broke = np.int64(0)
    for p in range(n):
        if s.live >> p & 1 and s.stacks[p] == 0:
            broke |= 1 << p
    if broke == 0:
        return
    survivors = count_bits(s.live & ~broke)
    for p in range(n):
        if broke >> p & 1:
            effects.eliminate(s, p, log)
            if s.rules.format != state.CASH:
                finish(s, p, survivors + count_ahead(s, p, broke, s.start_stacks) + 1, broke, s.start_stacks, log)


@kernel
def count_ahead(s, player, seats, stacks):
    """Return how many of `seats` have more chips in `stacks` than `player`."""
    number = 0
    for p in range(s.rules.num_players):
        if seats >> p & 1 and stacks[p] > stacks[player]:
            number += 1
    return number


@kernel
def finish(s, player, place, seats, stacks, log):
    """Give `player` the `place`, shared with those of `seats` who have as many chips, and pay it (8.2, 8.5)."""
    sharers = 0
    for p in range(s.rules.num_players):
        if seats >> p & 1 and stacks[p] == stacks[player]:
            sharers += 1
    s.places[player] = place
    ev.log_note(log, table.PLACE if sharers == 1 else table.SHARED_PLACE, player, place)
    total = 0.0
    for k in range(sharers):
        total += _payment(s, place + k)
    s.rewards[player] += total / sharers


@kernel
def _payment(s, place):
    """Return the reward of a place (8.5)."""
    n = s.rules.num_players
    if s.rules.returns == state.PLACEMENT:
        return 1.0 - 2.0 * (place - 1) / (n - 1)
    if s.rules.returns == state.PAYOUTS:
        return float(max(0, s.rules.payouts[place - 1]))
    if s.rules.returns == state.CHIPS:
        return 0.0
    return 1.0 if place == 1 else -1.0 / (n - 1)
