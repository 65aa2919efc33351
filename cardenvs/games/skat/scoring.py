"""The score of Skat, and the price of leaving. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.games.skat import state
from cardenvs.games.skat.auction import bid_of_soloist
from cardenvs.games.skat.cards import (
    base_of,
    cards_of_soloist,
    level_of,
    null_value,
    points_in,
    raised,
    tops,
)
from cardenvs.games.skat.state import (
    GRAND,
    NULL,
    NUM_PLAYERS,
    NUM_TRICKS,
    OPENSPIEL,
    OUVERT,
    PLAY,
    SCHNEIDER,
    SCHWARZ,
    SEEGER_FABIAN,
)

HALF = 60  # points; the soloist needs more
SCHNEIDER_POINTS = 90  # with which the other side has at most 30
_DURCHMARSCH = 120
_BONUS = 50  # of a soloist with Seeger-Fabian, won or lost
_OPPONENTS_BONUS = 40  # of each opponent if the soloist loses
_MOST_RAISED = 270  # of a game lost: hearts or diamonds bid at 264 (6.6)
_MOST_RAMSCH = 240  # all points, doubled for a player without a trick
_MOST_TOPS, _MOST_TOPS_IN_GRAND = 11, 4
_OPENSPIEL_UNIT = 120.0  # points above 60 for a return of 1 (10.2)
_OPENSPIEL_NULL = 30  # points above 60 that a null counts (10.2)


@kernel
def _score(s, player, points, log):
    """Add to a score; in returns, each opponent pays half of it (6.7)."""
    s.scores[player] += points
    ev.log_set(log, state.SCORES, player, state.SCORE + player, s.scores[player])
    amount = points / _OPENSPIEL_UNIT if s.rules.bidding == OPENSPIEL else np.float64(points)
    _pay(s, player, amount)


@kernel(inline=True)
def _pay(s, player, amount):
    """Pay an amount to a player, at the expense of the two others."""
    for p in range(NUM_PLAYERS):
        s.rewards[p] += amount if p == player else -amount / 2


@kernel
def points_of_soloist(s):
    """Return the soloist's points in tricks and skat (5.4)."""
    return s.points[s.soloist] + points_in(s.skat)


# ---------------------------------------------------------------------------------------------------------------
# Games with a soloist


@kernel
def score_game(s, log):
    """Score a game with a soloist (6)."""
    if s.rules.bidding == OPENSPIEL:
        _score_by_points(s, log)
        return
    soloist, value, bid = np.int64(s.soloist), value_of_game(s), bid_of_soloist(s)
    has_won = is_made(s) and value >= bid
    ev.log_note(log, state.IS_WORTH, ev.NO_PLAYER, value)
    if value < bid:
        value = raised(s.game, bid)
        ev.log_note(log, state.OVERBIDS, soloist, value)
    ev.log_note(log, state.WINS if has_won else state.LOSES, soloist, 0)
    result = value if has_won else -2 * value
    if s.rules.scoring == SEEGER_FABIAN:
        result += _BONUS if has_won else -_BONUS
        for p in range(NUM_PLAYERS):
            if p != soloist and not has_won:
                _score(s, p, np.int64(_OPPONENTS_BONUS), log)
    _score(s, soloist, result, log)


@kernel
def _score_by_points(s, log):
    """Score the soloist's points, or a null game, as OpenSpiel does (10.2)."""
    soloist = np.int64(s.soloist)
    points = points_of_soloist(s) - HALF
    if s.game == NULL:
        points = np.int64(_OPENSPIEL_NULL if is_made(s) else -_OPENSPIEL_NULL)
    if points != 0:
        ev.log_note(log, state.WINS if points > 0 else state.LOSES, soloist, 0)
    _score(s, soloist, points, log)


@kernel
def is_made(s):
    """Return whether the soloist has enough points, and all that was announced; in null, no trick (6.5)."""
    if s.game == NULL:
        return s.tricks_won[s.soloist] == 0
    points = points_of_soloist(s)
    if s.announced >= SCHWARZ:
        return s.tricks_won[s.soloist] == NUM_TRICKS
    return points >= SCHNEIDER_POINTS if s.announced == SCHNEIDER else points > HALF


@kernel
def value_of_game(s):
    """Return the value of the game that has been played (6.1 to 6.4)."""
    is_hand = np.int64(not s.took_skat)
    if s.game == NULL:
        return null_value(is_hand, s.announced == OUVERT)
    points, tricks = points_of_soloist(s), s.tricks_won[s.soloist]
    is_schwarz = tricks in (0, NUM_TRICKS)
    is_schneider = is_schwarz or points >= SCHNEIDER_POINTS or points <= 2 * HALF - SCHNEIDER_POINTS
    num_tops = tops(s.game, cards_of_soloist(s))
    return base_of(s.game) * level_of(num_tops, is_hand, np.int64(s.announced), is_schneider, is_schwarz)


# ---------------------------------------------------------------------------------------------------------------
# Ramsch


@kernel
def score_ramsch(s, last, log):
    """Score a round of ramsch whose last trick player `last` has won (7)."""
    without = 0
    for p in range(NUM_PLAYERS):
        if s.tricks_won[p] == NUM_TRICKS:
            ev.log_note(log, state.TAKES_ALL, p, 0)
            _score(s, p, np.int64(_DURCHMARSCH), log)
            return
        without += s.tricks_won[p] == 0
    most = np.int64(0)
    for p in range(NUM_PLAYERS):
        most = max(most, _points_in_ramsch(s, p, last))
    last_loses = s.rules.ramsch_tie == state.LAST_LOSES and _points_in_ramsch(s, last, last) == most
    for p in range(NUM_PLAYERS):
        points = _points_in_ramsch(s, p, last)
        if points == most and (p == last or not last_loses):
            if s.rules.ramsch_skat == state.TO_LOSER:
                points += points_in(s.skat)
            ev.log_note(log, state.TAKES_POINTS, p, points)
            _score(s, p, -points * (1 + without), log)


@kernel
def _points_in_ramsch(s, player, last):
    """Return a player's points, with the skat if it goes to the winner of the last trick (7.2)."""
    points = np.int64(s.points[player])
    if player == last and s.rules.ramsch_skat == state.LAST_TRICK:
        points += points_in(s.skat)
    return points


# ---------------------------------------------------------------------------------------------------------------
# The price of leaving


def most_lost(by_points, with_bonus):
    """Return the most that a player can lose in a deal, with bidding=openspiel or Seeger-Fabian scores or neither.

    A soloist loses most by bidding 264 and naming hearts or diamonds: twice 270, and with Seeger-Fabian 50, and half of
    the 80 that the opponents score. In ramsch nobody loses more than 240.
    """
    if by_points:
        return HALF / _OPENSPIEL_UNIT
    return 2.0 * _MOST_RAISED + (_BONUS + _OPPONENTS_BONUS if with_bonus else 0)


_most_lost = kernel(most_lost, inline=True)


@kernel
def charge_leaver(s, player):
    """Let a player pay the most that staying could cost, in this deal and those to come (8.1)."""
    most = _most_lost(s.rules.bidding == OPENSPIEL, s.rules.scoring == SEEGER_FABIAN)
    this_deal = _most_lost_in_play(s, player) if s.phase == PLAY else most
    _pay(s, player, -(this_deal + (s.rules.deals - s.num_deals) * most))


@kernel
def _most_lost_in_play(s, player):
    """Return the most that a player can lose in this deal once it is known what is played, by what all can see.

    A soloist loses twice the value or the raised bid, an opponent half of what the soloist wins. The level is at most
    that of all trumps as tops, and of schneider and schwarz.
    """
    if s.soloist == NO_PLAYER:
        return np.float64(_MOST_RAMSCH)
    if s.rules.bidding == OPENSPIEL:
        return HALF / _OPENSPIEL_UNIT / (1.0 if player == s.soloist else 2.0)
    bid, is_hand = bid_of_soloist(s), np.int64(not s.took_skat)
    has_bonus = s.rules.scoring == SEEGER_FABIAN
    if s.game == NULL:
        most = raised_most = null_value(is_hand, s.announced == OUVERT)
    else:
        most_tops = _MOST_TOPS if s.game < GRAND else _MOST_TOPS_IN_GRAND
        most = base_of(s.game) * level_of(most_tops, is_hand, np.int64(s.announced), True, True)
        raised_most = max(most, raised(s.game, bid))
    if player != s.soloist:
        return (most + (_BONUS if has_bonus else 0)) / 2.0
    return 2.0 * raised_most + (_BONUS + _OPPONENTS_BONUS if has_bonus else 0)
