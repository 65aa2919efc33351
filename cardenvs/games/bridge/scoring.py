"""What a contract is worth (rules.md 5, 6)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.state import NO_TRUMP, NUM_DENOMINATIONS

GAME_POINTS = 100  # worth of a contract that is a game, and what wins a game below the line
IMP_STEPS = np.array(
    [20, 50, 90, 130, 170, 220, 270, 320, 370, 430, 500, 600, 750, 900, 1100, 1300, 1500, 1750, 2000, 2250, 2500, 3000,
     3500, 4000], np.int32
)  # fmt: skip
"""The least differences that are worth 1, 2, ... 24 international match points (Law 78)."""


@kernel
def trick_points(denomination):
    """Return the worth of a trick beyond the first, undoubled (5.1)."""
    return 30 if denomination >= 2 else 20


@kernel
def contract_worth(bid, doubled):
    """Return the worth of a contract made, without bonus and overtricks (5.1).

    Args:
        bid: 0..34.
        doubled: 0, 1 or 2 (redoubled).
    """
    level, denomination = bid // NUM_DENOMINATIONS + 1, bid % NUM_DENOMINATIONS
    return (trick_points(denomination) * level + (10 if denomination == NO_TRUMP else 0)) << doubled


@kernel
def slam_bonus(bid, is_vulnerable):
    """Return the bonus for a slam made (5.2)."""
    level = bid // NUM_DENOMINATIONS + 1
    if level == 6:
        return 750 if is_vulnerable else 500
    if level == 7:
        return 1500 if is_vulnerable else 1000
    return 0


@kernel
def above_line(bid, doubled, is_vulnerable, tricks):
    """Return what a contract made scores beside its worth: slam, doubled contract, overtricks (5.2, 5.3).

    Args:
        bid: 0..34.
        doubled: 0, 1 or 2 (redoubled).
        is_vulnerable: whether declarer's side is.
        tricks: of declarer's side.
    """
    overtricks = tricks - 6 - (bid // NUM_DENOMINATIONS + 1)
    each = trick_points(bid % NUM_DENOMINATIONS)
    if doubled:
        each = (200 if is_vulnerable else 100) * doubled
    return slam_bonus(bid, is_vulnerable) + 50 * doubled + overtricks * each


@kernel
def penalty(undertricks, doubled, is_vulnerable):
    """Return the points that a contract costs that fails by some tricks (5.4)."""
    if not doubled:
        return undertricks * (100 if is_vulnerable else 50)
    cost = 0
    for k in range(undertricks):
        if is_vulnerable:
            cost += 200 if k == 0 else 300
        else:
            cost += 100 if k == 0 else 200 if k < 3 else 300
    return cost * doubled


@kernel
def duplicate_score(bid, doubled, is_vulnerable, tricks):
    """Return the duplicate score of declarer's side, negative if the contract fails (5.1 to 5.4).

    Args:
        bid: 0..34.
        doubled: 0, 1 or 2 (redoubled).
        is_vulnerable: whether declarer's side is.
        tricks: of declarer's side, 0..13.
    """
    undertricks = 6 + bid // NUM_DENOMINATIONS + 1 - tricks
    if undertricks > 0:
        return -penalty(undertricks, doubled, is_vulnerable)
    worth = contract_worth(bid, doubled)
    bonus = (500 if is_vulnerable else 300) if worth >= GAME_POINTS else 50
    return worth + bonus + above_line(bid, doubled, is_vulnerable, tricks)


@kernel
def imps(difference):
    """Return a difference of points in international match points, negative for a negative one (5.5)."""
    points, won = abs(difference), 0
    while won < IMP_STEPS.shape[0] and points >= IMP_STEPS[won]:
        won += 1
    return won if difference >= 0 else -won


@kernel
def matchpoints(points, others):
    """Return North and South's matchpoints above average: tables beaten less tables that are better (5.6).

    Args:
        points: of North and South.
        others: their points at the other tables, from the first entry to -1, which is no score.
    """
    won = 0
    for k in range(others.shape[0]):
        if others[k] == -1:
            break
        won += (1 if points > others[k] else 0) - (1 if points < others[k] else 0)
    return won
