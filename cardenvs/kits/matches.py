"""Sides, what they are paid, and players who leave.

Side k has the players k, k + sides, k + 2 * sides, ...: with two sides, partners sit opposite each other; with as many
sides as players, each plays alone.
"""

from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel

NO_SIDE = -1


def declare_forfeit(table: Table, closes: Part = Part.NONE) -> int:
    """Declare the event of a player who leaves the game, and return its id."""
    return table.event("forfeit", Op.NOTE, "{player} forfeits.", closes=closes)


def hands_over(s: Any, number: int) -> int:
    """Return how many of the `number` hands that were begun have been scored: not one that somebody left."""
    return int(number) - (0 if s.terminal and s.active[: s.rules.num_players].all() else 1)


@kernel(inline=True)
def leave(s, player, kind, log):
    """Take `player` out of the game, with an event of the kind that `declare_forfeit` returned."""
    s.active[player] = 0
    ev.log_note(log, kind, player, 0)


@kernel(inline=True)
def side_of(player, sides):
    """Return the side of a player."""
    return player & 1 if sides == 2 else player % sides


def count_sides(rules):
    """Return the number of sides if three players play alone and others form two sides; of options, or of a record."""
    return 3 if rules.num_players == 3 else 2


_count_sides = kernel(inline=True)(count_sides)


@kernel(inline=True)
def num_sides(s):
    """Return `count_sides` of a record."""
    return _count_sides(s.rules)


@kernel(inline=True)
def pay_sides(s, amount):
    """Of two sides, each player of side 0 gets `amount`, and each of side 1 loses it."""
    for p in range(s.rules.num_players):
        s.rewards[p] = amount if p & 1 == 0 else -amount


@kernel(inline=True)
def pay_winner(s, winner, sides):
    """End the game: each player of side `winner` gets 1, and the others pay for it in equal parts."""
    for p in range(s.rules.num_players):
        s.rewards[p] = 1 if side_of(p, sides) == winner else -1 / (sides - 1)
    s.terminal = 1


@kernel(inline=True)
def pay_scores(s, sign, sides):
    """End the game: each player gets the side's `scores` less the mean of the others', times `sign`."""
    total = np.int64(0)
    for side in range(sides):
        total += s.scores[side]
    for p in range(s.rules.num_players):
        own = np.int64(s.scores[side_of(p, sides)])
        s.rewards[p] = sign * (own - (total - own) / (sides - 1))
    s.terminal = 1


@kernel(inline=True)
def pay_stake(s, loser, stake, sides):
    """End the game: each player of side `loser` loses `stake`, and the others share it."""
    for p in range(s.rules.num_players):
        s.rewards[p] = -stake if side_of(p, sides) == loser else stake / (sides - 1)
    s.terminal = 1


@kernel
def _above_and_level(s, player):
    """Return how many players are above `player` in `s.scores`, and how many level with them; who has left is below."""
    above, level = np.int64(0), np.int64(0)
    for other in range(s.rules.num_players):
        if s.active[other] != s.active[player]:
            above += s.active[other]
        elif s.scores[other] > s.scores[player]:
            above += 1
        elif s.scores[other] == s.scores[player]:
            level += 1
    return above, level


@kernel
def pay_places(s):
    """End the game: places in `s.scores` pay from 1 to -1 in equal steps; players who are level share their places."""
    for p in range(s.rules.num_players):
        above, level = _above_and_level(s, p)
        s.rewards[p] = 1 - (2 * above + level - 1) / (s.rules.num_players - 1)
    s.terminal = 1


@kernel
def pay_best(s):
    """End the game: each player pays 1 / (players - 1), except for those with the best of `s.scores`, who share it."""
    n = s.rules.num_players
    for p in range(n):
        above, level = _above_and_level(s, p)
        s.rewards[p] = -1 / (n - 1) if above else (n / level - 1) / (n - 1)
    s.terminal = 1


@kernel(inline=True)
def best_side(s, sign, sides):
    """Return the side with the best of `s.scores`, or NO_SIDE if several are level; `sign` as in `goes_on`."""
    best, winner = np.int64(0), NO_SIDE
    for side in range(sides):
        score = sign * np.int64(s.scores[side])
        if side == 0 or score > best:
            best, winner = score, side
        elif score == best:
            winner = NO_SIDE
    return winner


@kernel(inline=True)
def goes_on(s, sign, sides, max_hands, wins, drawn, log):
    """Return whether a match to `s.rules.target` points goes on after a hand. If not, end it.

    The side with the best of `s.scores` wins once one has reached the target and none ties.

    Args:
        s: the record, with `num_hands` begun.
        sign: 1 if points are to be gained, -1 if they are to be avoided.
        sides: how many sides.
        max_hands: hands after which the match is drawn.
        wins, drawn: kinds of the events of its end, a NOTE each.
        log: for events.
    """
    is_over = False
    for side in range(sides):
        is_over = is_over or s.scores[side] >= s.rules.target
    winner = best_side(s, sign, sides)
    if is_over and winner != NO_SIDE:
        ev.log_note(log, wins, winner, 0)
        pay_winner(s, winner, sides)
    elif s.num_hands == max_hands:
        ev.log_note(log, drawn, ev.NO_PLAYER, s.num_hands)
        s.terminal = 1
    return not s.terminal
