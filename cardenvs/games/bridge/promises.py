"""A natural bidder, as it is taught first: five-card majors, a strong no-trump, and a few conventions.

Every call is a *promise*: a range of points and lengths of suits, which depends on the auction before it. `promise`
says what a call would promise; `natural_call` looks for the call that describes the own hand best, and `read_auction`
turns the calls of all players into what their hands must be. So partners understand each other, and the view can
explain any auction (`MEANINGS`).

The system: openings of 12 points, 1NT 15 to 17, 2NT 20 or 21, 2C 22 or more, weak twos and preempts; Stayman and
transfers over no-trump; limit raises; overcalls, takeout doubles and negative doubles. Points are high-card points (ace
4, king 3, queen 2, jack 1) and one for every card of a suit beyond the fourth; in a raise, short suits count instead.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge import meanings as m
from cardenvs.games.bridge.state import (
    BID_0,
    DOUBLE,
    NO_TRUMP,
    NUM_DENOMINATIONS,
    PASS,
    REDOUBLE,
)

MOST_POINTS = 37  # points of a hand
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)  # denominations
# Points of both hands that a level needs, from the first, with a fit and at no-trump.
_SUIT_POINTS = np.array([18, 20, 23, 25, 28, 32, 36], np.int8)
_NT_POINTS = np.array([20, 23, 25, 28, 30, 33, 37], np.int8)


@kernel(inline=True)
def _say(r, meaning, low, high, suit, number):
    r.p_meaning, r.p_low, r.p_high, r.p_suit, r.p_length = meaning, max(low, 0), min(high, MOST_POINTS), suit, number
    return True


@kernel
def promise(r, player, call):
    """Write what `call` would promise to the fields p_ of `r`; return False if the system has no such call."""
    r.p_balanced = r.p_support = 0
    r.p_short = r.p_stop = -1
    partner = (player + 2) & 3
    if call == PASS:
        return _say(r, m.NOTHING, 0, MOST_POINTS if r.opener >= 0 else 11, -1, 0)
    if call == REDOUBLE:
        return r.calls[player] == 0 and _say(r, m.STRENGTH, 10, MOST_POINTS, -1, 0)
    if call == DOUBLE:
        return _promise_double(r, player, partner)
    bid = call - BID_0
    level, denomination = bid // NUM_DENOMINATIONS + 1, bid % NUM_DENOMINATIONS
    jump = 0  # levels more than needed
    for lower in range(r.bid + 1, bid):
        jump += lower % NUM_DENOMINATIONS == denomination
    if r.opener < 0:
        return _promise_opening(r, level, denomination)
    if r.calls[player] == 0 and r.calls[partner] == 0:
        return _promise_overcall(r, level, denomination, jump)
    if r.calls[player] == 0:
        meaning = r.last[partner]
        if meaning in (m.OPEN_1NT, m.OPEN_2NT, m.NT_OVERCALL):
            if r.bidder == partner and not r.doubled:
                return _promise_after_no_trump(r, level, denomination, 1 + (meaning == m.OPEN_2NT))
            return _promise_over_interference(r, partner, level, denomination, jump)
        if meaning == m.OPEN_2C:
            return _promise_after_2c(r, level, denomination, jump)
        if meaning in (m.TAKEOUT, m.NEGATIVE):
            return _promise_answer(r, player, level, denomination, jump)
        return _promise_response(r, player, partner, level, denomination, jump)
    return _promise_later(r, player, partner, level, denomination, jump)


@kernel(inline=True)
def _is_theirs(r, player, denomination):
    """Whether an opponent has bid a suit."""
    left, right = (player + 1) & 3, (player + 3) & 3
    return r.lengths[left, denomination] >= 3 or r.lengths[right, denomination] >= 3


@kernel
def _promise_opening(r, level, denomination):
    if denomination == NO_TRUMP:
        r.p_balanced = 1
        if level == 1:
            return _say(r, m.OPEN_1NT, 15, 17, -1, 0)
        return level == 2 and _say(r, m.OPEN_2NT, 20, 21, -1, 0)
    if level == 1:
        if denomination >= HEARTS:
            return _say(r, m.OPEN_MAJOR, 12, 21, denomination, 5)
        return _say(r, m.OPEN_MINOR, 12, 21, denomination, 3)
    if level == 2:
        if denomination == CLUBS:
            return _say(r, m.OPEN_2C, 22, MOST_POINTS, -1, 0)
        return _say(r, m.WEAK_TWO, 6, 10, denomination, 6)
    return level <= 4 and _say(r, m.PREEMPT, 5, 10, denomination, 4 + level)


@kernel
def _promise_double(r, player, partner):
    """Takeout, unless partner has bid: then negative if it is the first call at a low level, else for penalties."""
    level, denomination = r.bid // NUM_DENOMINATIONS + 1, r.bid % NUM_DENOMINATIONS
    if denomination != NO_TRUMP and level <= 3 and r.calls[player] == 0:
        r.p_short = denomination
        if r.calls[partner] == 0:
            return _say(r, m.TAKEOUT, 12, MOST_POINTS, -1, 0)
        if r.last[partner] in (m.OPEN_MINOR, m.OPEN_MAJOR) and level <= 2:
            return _say(r, m.NEGATIVE, 6 + 2 * level, MOST_POINTS, -1, 0)
        return False
    if r.calls[player] == 0 and r.calls[partner] == 0:
        return _say(r, m.PENALTY, 16, MOST_POINTS, -1, 0)
    # Enough for the level with what partner has, and length in their suit.
    low = 21 - r.low[partner] if denomination == NO_TRUMP else 20 - r.low[partner]
    return _say(r, m.PENALTY, low, MOST_POINTS, -1 if denomination == NO_TRUMP else denomination, 4)


@kernel
def _promise_overcall(r, level, denomination, jump):
    theirs = r.suits[r.opener]
    if denomination == NO_TRUMP:
        r.p_balanced, r.p_stop = 1, theirs
        return level == 1 and _say(r, m.NT_OVERCALL, 15, 18, -1, 0)
    if denomination == theirs or level > 4:
        return False
    if jump == 0 and level <= 3:
        low = 8 if level == 1 else 11 if level == 2 else 14
        return _say(
            r, m.OVERCALL, low, 17, denomination, 5 + (level > 1 and r.last[r.opener] == m.OPEN_1NT) + (level == 3)
        )
    return jump == 1 and _say(r, m.WEAK_JUMP, 6, 10, denomination, 4 + level)


@kernel
def _promise_after_no_trump(r, level, denomination, opened):
    """Stayman, transfers, and quantitative raises of 1NT or 2NT."""
    partner_low = 15 if opened == 1 else 20
    game = 25 - partner_low
    if level == opened + 1:
        if denomination == CLUBS:
            return _say(r, m.STAYMAN, 23 - partner_low, MOST_POINTS, -1, 4)
        if denomination in (DIAMONDS, HEARTS):
            return _say(r, m.TRANSFER, 0, MOST_POINTS, denomination + 1, 5)
        if denomination == NO_TRUMP and opened == 1:
            return _say(r, m.INVITES_NT, 8, 9, -1, 0)
    if denomination == NO_TRUMP:
        if level == 3:
            return _say(r, m.TO_PLAY, game, 32 - partner_low, -1, 0)
        if level == 6:
            return _say(r, m.SLAM, 33 - partner_low, 36 - partner_low, -1, 0)
        return level == 7 and _say(r, m.SLAM, 37 - partner_low, MOST_POINTS, -1, 0)
    return False


@kernel
def _promise_over_interference(r, partner, level, denomination, jump):
    """Responses to no-trump after a bid or a double by an opponent: suits at the two level are to play."""
    partner_low = np.int64(r.low[partner])
    if denomination == NO_TRUMP:
        r.p_stop = r.bid % NUM_DENOMINATIONS if r.bidder != partner else -1
        if level == 2:
            return _say(r, m.INVITES_NT, 23 - partner_low, 24 - partner_low, -1, 0)
        return level == 3 and _say(r, m.TO_PLAY, 25 - partner_low, 32 - partner_low, -1, 0)
    if r.bidder != partner and denomination == r.bid % NUM_DENOMINATIONS:
        return False
    if level == 4 and denomination >= HEARTS:
        return _say(r, m.TO_PLAY, 25 - partner_low, 31 - partner_low, denomination, 6)
    if jump:
        return False
    if level == 2:
        return _say(r, m.TO_PLAY, 3, 24 - partner_low, denomination, 5)
    return level == 3 and _say(r, m.NEW_SUIT_AT_TWO, 25 - partner_low, MOST_POINTS, denomination, 5)


@kernel
def _promise_after_2c(r, level, denomination, jump):
    if denomination == DIAMONDS and level == 2:
        return _say(r, m.WAITS, 0, MOST_POINTS, -1, 0)
    if jump and not (denomination == DIAMONDS and level == 3):
        return False
    if denomination == NO_TRUMP:
        r.p_balanced = 1
        return _say(r, m.NATURAL, 8, MOST_POINTS, -1, 0)
    return _say(r, m.NEW_SUIT_AT_TWO, 8, MOST_POINTS, denomination, 5)


@kernel
def _promise_answer(r, player, level, denomination, jump):
    """Answers to partner's double: the best suit that they have not bid."""
    if denomination == NO_TRUMP:
        r.p_stop = r.bid % NUM_DENOMINATIONS
        if level == 1:
            return _say(r, m.ANSWER, 6, 10, -1, 0)
        if level == 2:
            return _say(r, m.ANSWER_JUMP, 10, 12, -1, 0)
        return level == 3 and _say(r, m.ANSWER_GAME, 13, 19, -1, 0)
    if _is_theirs(r, player, denomination):
        return False
    if jump == 0:
        return level <= 3 and _say(r, m.ANSWER, 0, 8, denomination, 4 - (level == 1))
    if level == 4 and denomination >= HEARTS:
        return _say(r, m.ANSWER_GAME, 12, 19, denomination, 4)
    return jump == 1 and level <= 3 and _say(r, m.ANSWER_JUMP, 9, 11 + 8 * (denomination < HEARTS), denomination, 4)


@kernel
def _promise_response(r, player, partner, level, denomination, jump):
    """First calls of a player whose partner has bid a suit, or no-trump with an opponent in between."""
    meaning, suit = r.last[partner], r.suits[partner]
    opened = meaning in (m.OPEN_MINOR, m.OPEN_MAJOR)
    is_weak = meaning in (m.WEAK_TWO, m.PREEMPT, m.WEAK_JUMP)
    most = 32 - np.int64(r.low[partner])  # with more, a slam is near
    if denomination == suit:
        r.p_support = 1
        need = 8 - r.lengths[partner, suit]
        if is_weak:
            if level == 4 + (suit < HEARTS):
                return _say(r, m.GAME_RAISE, 15, MOST_POINTS, suit, max(need, 2))
            return level == 3 and _say(r, m.RAISE, 6, 14, suit, 3)
        minimum = 6 if opened else 7
        if jump == 0 and level <= 3:
            return _say(r, m.RAISE, minimum + 2 * (level == 3), 10 - (level == 2), suit, max(need, 3))
        if jump == 1 and level == 3:
            return _say(r, m.LIMIT_RAISE, 10, 12, suit, max(need, 3))
        if level == 4 and suit >= HEARTS:
            return _say(r, m.GAME_RAISE, 13, most, suit, max(need, 3))
        if level == 6:
            return _say(r, m.SLAM, most + 1, most + 4, suit, max(need, 4))
        return level == 5 and suit < HEARTS and _say(r, m.GAME_RAISE, 16, most, suit, need)
    if denomination == NO_TRUMP:
        if is_weak:
            return level == 3 and _say(r, m.TO_PLAY, 16, 21, -1, 0)
        if r.bidder != partner:
            r.p_stop = min(r.bid % NUM_DENOMINATIONS, 3)
        if level == 1:
            return _say(r, m.WEAK_NT, 6 if opened else 9, 10 if opened else 12, -1, 0)
        if level == 2:
            r.p_balanced = opened
            return _say(r, m.INVITES_NT, 11 if opened else 13, 12 if opened else 14, -1, 0)
        return level == 3 and _say(r, m.TO_PLAY, 13 if opened else 15, most, -1, 0)
    if jump:
        return False
    if is_weak:
        return level <= 3 and _say(r, m.NEW_SUIT_AT_TWO, 16, MOST_POINTS, denomination, 5)
    if not opened:
        return level <= 2 and _say(r, m.NEW_SUIT, 9, 15, denomination, 5)
    if level == 1:
        return _say(r, m.NEW_SUIT, 6, MOST_POINTS, denomination, 4)
    return level == 2 and _say(r, m.NEW_SUIT_AT_TWO, 11, MOST_POINTS, denomination, 4 + (denomination == HEARTS))


@kernel
def _promise_later(r, player, partner, level, denomination, jump):
    """Calls of a player who has bid before, and those without an agreement of their own: what the level needs."""
    mine, theirs = r.last[player], r.last[partner]
    no_trump_opened = mine in (m.OPEN_1NT, m.OPEN_2NT, m.NT_OVERCALL)
    if no_trump_opened and theirs == m.STAYMAN and r.bidder == partner and level <= 3:
        if denomination == DIAMONDS and jump == 0:
            return _say(r, m.STAYMAN_NO, r.low[player], r.high[player], -1, 0)
        if denomination in (HEARTS, SPADES) and jump == 0:
            return _say(r, m.STAYMAN_YES, r.low[player], r.high[player], denomination, 4)
        return False
    if no_trump_opened and theirs == m.TRANSFER and r.bidder == partner:
        accepts = r.bid % NUM_DENOMINATIONS + 1 == denomination and jump == 0
        return accepts and _say(r, m.ACCEPTS, r.low[player], r.high[player], -1, 0)
    partner_low, own_low = np.int64(r.low[partner]), np.int64(r.low[player])
    if denomination == NO_TRUMP:
        return _promise_no_trump(r, player, partner, level, jump)
    together = r.lengths[partner, denomination]
    if together >= 3 or (together >= 2 and no_trump_opened):
        # A fit: the level tells the points.
        r.p_support = not no_trump_opened
        is_game = level == 4 + (denomination < HEARTS)
        low = _SUIT_POINTS[level - 1] - partner_low
        high = _SUIT_POINTS[min(level, 6)] - partner_low - 1
        if level <= 2:
            low = own_low
        if is_game:
            high = 31 - partner_low
        elif level == 5 or (level == 4 and denomination < HEARTS):
            return False
        own = max(8 - together, 0)
        meaning = m.SLAM if level >= 6 else m.TO_PLAY if is_game else m.INVITES if level == 3 else m.RAISE
        return _say(r, meaning, low, high if level < 7 else MOST_POINTS, denomination, own)
    known = r.lengths[player, denomination]
    if known >= 4:
        # The own suit again: a card more than promised.
        if level >= 6:
            return False
        if level == 4 + (denomination < HEARTS):
            return _say(r, m.TO_PLAY, 26 - partner_low, MOST_POINTS, denomination, known + 1 + (known < 6))
        if jump == 1:
            return level <= 3 and _say(
                r, m.JUMP_REBID, max(own_low + 4, 22 - partner_low), own_low + 6, denomination, 6
            )
        return (
            jump == 0
            and level <= 3
            and _say(r, m.REBID, own_low + 3 * (level == 3), own_low + 5, denomination, min(known + 1, 7))
        )
    if jump or level > 3 or _is_theirs(r, player, denomination):
        return False
    if mine in (m.OVERCALL, m.WEAK_JUMP):
        return _say(r, m.SECOND_SUIT, 14, MOST_POINTS, denomination, 5)
    if r.suits[player] >= 0 and level == 2 and denomination > r.suits[player]:
        return _say(r, m.SECOND_SUIT, max(own_low, 16), MOST_POINTS, denomination, 4)  # a reverse
    low = own_low + 3 * (level == 3)
    if r.opener == partner and r.last[partner] != m.OPEN_2C:
        low = max(low, 10)  # responder's second suit asks opener to go on
    return _say(r, m.SECOND_SUIT, low, MOST_POINTS, denomination, 4)


@kernel
def _promise_no_trump(r, player, partner, level, jump):
    """No-trump bids of the second round and later."""
    partner_low, own_low = np.int64(r.low[partner]), np.int64(r.low[player])
    if r.bidder != partner and r.bid % NUM_DENOMINATIONS != NO_TRUMP:
        r.p_stop = r.bid % NUM_DENOMINATIONS
    if level == 1:
        return _say(r, m.NT_REBID, own_low, own_low + 2, -1, 0)
    if level == 2:
        if r.last[player] in (m.OPEN_MINOR, m.OPEN_MAJOR) and jump:
            return _say(r, m.NT_JUMP, 18, 19, -1, 0)
        return _say(r, m.INVITES_NT, max(23 - partner_low, own_low), 24 - partner_low, -1, 0)
    if level == 3:
        return _say(r, m.TO_PLAY, 25 - partner_low, 32 - partner_low, -1, 0)
    if level >= 6:
        high = 36 - partner_low if level == 6 else MOST_POINTS
        return _say(r, m.SLAM, _NT_POINTS[level - 1] - partner_low, high, -1, 0)
    return False
