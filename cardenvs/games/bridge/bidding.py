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
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.bridge.cards import SUIT_OF_DENOMINATION, heights, high_card_points, length
from cardenvs.games.bridge.state import (
    BID_0,
    DOUBLE,
    MAX_CALLS,
    NO_BID,
    NO_TRUMP,
    NUM_CALLS,
    NUM_DENOMINATIONS,
    PASS,
    REDOUBLE,
)

MEANINGS = (
    "no agreement",
    "nothing to say",
    "12 to 21 points, at least three cards of the minor",
    "12 to 21 points, at least five cards of the major",
    "balanced, 15 to 17 points",
    "strong: 22 points or more, asks partner to go on",
    "weak: 6 to 10 points, six cards of the suit",
    "balanced, 20 or 21 points",
    "preempt: 5 to 10 points, seven cards of the suit or more",
    "Stayman: asks for a major of four cards",
    "no major of four cards",
    "four cards of the major",
    "transfer: at least five cards of the next suit",
    "accepts the transfer",
    "invites partner to game",
    "to play",
    "raise: support and 6 to 9 points",
    "limit raise: support and 10 to 12 points",
    "raise to game",
    "new suit: at least four cards, 6 points or more",
    "new suit: at least four cards, 11 points or more",
    "no better bid, 6 to 10 points",
    "balanced, an invitation",
    "waits: says nothing about diamonds",
    "overcall: at least five cards, 8 to 16 points",
    "balanced, 15 to 18 points, their suit stopped",
    "weak jump: six cards, 6 to 10 points",
    "takeout double: opening values, asks partner for the best suit",
    "negative double: the unbid suits, 6 points or more",
    "penalty double",
    "answers the double: up to 8 points",
    "answers the double: 9 to 11 points",
    "answers the double: 12 points or more",
    "a longer suit, minimum",
    "a longer suit, 16 to 18 points",
    "a second suit",
    "balanced, minimum",
    "balanced, 18 or 19 points",
    "slam try or slam",
    "at least 10 points",
)
(
    NATURAL, NOTHING, OPEN_MINOR, OPEN_MAJOR, OPEN_1NT, OPEN_2C, WEAK_TWO, OPEN_2NT, PREEMPT, STAYMAN, STAYMAN_NO,
    STAYMAN_YES, TRANSFER, ACCEPTS, INVITES, TO_PLAY, RAISE, LIMIT_RAISE, GAME_RAISE, NEW_SUIT, NEW_SUIT_AT_TWO,
    WEAK_NT, INVITES_NT, WAITS, OVERCALL, NT_OVERCALL, WEAK_JUMP, TAKEOUT, NEGATIVE, PENALTY, ANSWER, ANSWER_JUMP,
    ANSWER_GAME, REBID, JUMP_REBID, SECOND_SUIT, NT_REBID, NT_JUMP, SLAM, STRENGTH,
) = range(len(MEANINGS))  # fmt: skip

_MOST = 37  # points of a hand
_CLUBS, _DIAMONDS, _HEARTS, _SPADES = range(4)  # denominations
# Points of both hands that a level needs, from the first, with a fit and at no-trump.
_SUIT_POINTS = np.array([18, 20, 23, 25, 28, 32, 36], np.int8)
_NT_POINTS = np.array([20, 23, 25, 28, 30, 33, 37], np.int8)

READING = packed(
    [
        ("meanings", "u1", (MAX_CALLS,)),
        ("low", "i1", (4,)),  # points promised by player
        ("high", "i1", (4,)),
        ("lengths", "i1", (4, 4)),  # least lengths promised, by player and suit, clubs first
        ("calls", "i1", (4,)),  # other than passes
        ("last", "i1", (4,)),  # meaning of the last call other than a pass
        ("suits", "i1", (4,)),  # the last suit bid naturally, or -1
        ("bid", "i1"),  # the last bid, or NO_BID
        ("bidder", "i1"),
        ("doubled", "i1"),
        ("opener", "i1"),  # or -1
        ("since", "i1"),  # calls since the last one that was not a pass
        # The promise of a call
        ("p_meaning", "i1"),
        ("p_low", "i1"),
        ("p_high", "i1"),
        ("p_suit", "i1"),  # denomination whose length is promised, or -1
        ("p_length", "i1"),
        ("p_balanced", "i1"),
        ("p_short", "i1"),  # denomination that is short, or -1
        ("p_stop", "i1"),  # denomination that is stopped, or -1
        ("p_support", "i1"),  # whether short suits count
    ]
)
new_reading = stack_record(READING)


@kernel(inline=True)
def _length_of(cards, denomination):
    return length(cards, np.int64(SUIT_OF_DENOMINATION[denomination]))


@kernel
def _hand_points(cards, is_support, trump):
    """Return high-card points and those for long suits, or for short suits next to a trump suit."""
    points = high_card_points(cards)
    for denomination in range(4):
        number = _length_of(cards, denomination)
        if is_support:
            if denomination != trump:
                points += 3 if number == 0 else 2 if number == 1 else 1 if number == 2 else 0
        else:
            points += max(number - 4, 0)
    return points


@kernel
def _is_balanced(cards):
    """Whether no suit is shorter than two cards, and at most one has two."""
    doubletons = 0
    for denomination in range(4):
        number = _length_of(cards, denomination)
        if number < 2 or number > 5:
            return False
        doubletons += number == 2
    return doubletons <= 1


@kernel
def _is_stopped(cards, denomination):
    """Whether a suit has the ace, a guarded king, or a queen with two more."""
    suit = np.int64(SUIT_OF_DENOMINATION[denomination])
    ranks, number = heights(cards, suit), length(cards, suit)
    return (
        (ranks >> 12 & 1) != 0
        or ((ranks >> 11 & 1) != 0 and number >= 2)
        or ((ranks >> 10 & 1) != 0 and number >= 3)
        or ((ranks >> 9 & 1) != 0 and number >= 4)
    )


# ---------------------------------------------------------------------------------------------------------------
# What a call promises


@kernel(inline=True)
def _say(r, meaning, low, high, suit, number):
    r.p_meaning, r.p_low, r.p_high, r.p_suit, r.p_length = meaning, max(low, 0), min(high, _MOST), suit, number
    return True


@kernel
def promise(r, player, call):
    """Write what `call` would promise to the fields p_ of `r`; return False if the system has no such call."""
    r.p_balanced = r.p_support = 0
    r.p_short = r.p_stop = -1
    partner = (player + 2) & 3
    if call == PASS:
        return _say(r, NOTHING, 0, _MOST if r.opener >= 0 else 11, -1, 0)
    if call == REDOUBLE:
        return r.calls[player] == 0 and _say(r, STRENGTH, 10, _MOST, -1, 0)
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
        if meaning in (OPEN_1NT, OPEN_2NT) and r.bid == 4 + 5 * (meaning == OPEN_2NT) and not r.doubled:
            return _promise_after_no_trump(r, level, denomination, 1 + (meaning == OPEN_2NT))
        if meaning == OPEN_2C:
            return _promise_after_2c(r, level, denomination, jump)
        if meaning in (TAKEOUT, NEGATIVE):
            return _promise_answer(r, level, denomination, jump)
        return _promise_response(r, player, partner, level, denomination, jump)
    return _promise_later(r, player, partner, level, denomination, jump)


@kernel
def _promise_opening(r, level, denomination):
    if denomination == NO_TRUMP:
        r.p_balanced = 1
        if level == 1:
            return _say(r, OPEN_1NT, 15, 17, -1, 0)
        return level == 2 and _say(r, OPEN_2NT, 20, 21, -1, 0)
    if level == 1:
        if denomination >= _HEARTS:
            return _say(r, OPEN_MAJOR, 12, 21, denomination, 5)
        return _say(r, OPEN_MINOR, 12, 21, denomination, 3)
    if level == 2:
        if denomination == _CLUBS:
            return _say(r, OPEN_2C, 22, _MOST, -1, 0)
        return _say(r, WEAK_TWO, 6, 10, denomination, 6)
    return level <= 4 and _say(r, PREEMPT, 5, 10, denomination, 4 + level)


@kernel
def _promise_double(r, player, partner):
    """Takeout, unless partner has bid: then negative if it is the first call at a low level, else for penalties."""
    level, denomination = r.bid // NUM_DENOMINATIONS + 1, r.bid % NUM_DENOMINATIONS
    if denomination != NO_TRUMP and level <= 3 and r.calls[player] == 0:
        r.p_short = denomination
        if r.calls[partner] == 0:
            return _say(r, TAKEOUT, 12, _MOST, -1, 0)
        if r.last[partner] in (OPEN_MINOR, OPEN_MAJOR) and level <= 2:
            return _say(r, NEGATIVE, 6 + 2 * level, _MOST, -1, 0)
        return False
    if r.calls[player] == 0 and r.calls[partner] == 0:
        return _say(r, PENALTY, 16, _MOST, -1, 0)
    # Enough for the level with what partner has, and length in their suit.
    low = 21 - r.low[partner] if denomination == NO_TRUMP else 20 - r.low[partner]
    return _say(r, PENALTY, low, _MOST, -1 if denomination == NO_TRUMP else denomination, 4)


@kernel
def _promise_overcall(r, level, denomination, jump):
    theirs = r.suits[r.opener]
    if denomination == NO_TRUMP:
        r.p_balanced, r.p_stop = 1, theirs
        return level == 1 and _say(r, NT_OVERCALL, 15, 18, -1, 0)
    if denomination == theirs or level > 4:
        return False
    if jump == 0 and level <= 3:
        low = 8 if level == 1 else 11 if level == 2 else 14
        return _say(r, OVERCALL, low, 17, denomination, 5 + (level > 1 and r.last[r.opener] == OPEN_1NT) + (level == 3))
    return jump == 1 and _say(r, WEAK_JUMP, 6, 10, denomination, 4 + level)


@kernel
def _promise_after_no_trump(r, level, denomination, opened):
    """Stayman, transfers, and quantitative raises of 1NT or 2NT."""
    partner_low = 15 if opened == 1 else 20
    game = 25 - partner_low
    if level == opened + 1:
        if denomination == _CLUBS:
            return _say(r, STAYMAN, 23 - partner_low, _MOST, -1, 4)
        if denomination in (_DIAMONDS, _HEARTS):
            return _say(r, TRANSFER, 0, _MOST, denomination + 1, 5)
        if denomination == NO_TRUMP and opened == 1:
            return _say(r, INVITES_NT, 8, 9, -1, 0)
    if denomination == NO_TRUMP:
        if level == 3:
            return _say(r, TO_PLAY, game, 32 - partner_low, -1, 0)
        if level == 6:
            return _say(r, SLAM, 33 - partner_low, 36 - partner_low, -1, 0)
        return level == 7 and _say(r, SLAM, 37 - partner_low, _MOST, -1, 0)
    return False


@kernel
def _promise_after_2c(r, level, denomination, jump):
    if jump:
        return False
    if denomination == _DIAMONDS and level == 2:
        return _say(r, WAITS, 0, 7, -1, 0)
    if denomination == NO_TRUMP:
        r.p_balanced = 1
        return _say(r, NATURAL, 8, _MOST, -1, 0)
    return _say(r, NEW_SUIT_AT_TWO, 8, _MOST, denomination, 5)


@kernel
def _promise_answer(r, level, denomination, jump):
    """Answers to partner's double: the best suit that they have not bid."""
    if denomination == NO_TRUMP:
        r.p_stop = r.bid % NUM_DENOMINATIONS
        if level == 1:
            return _say(r, ANSWER, 6, 10, -1, 0)
        if level == 2:
            return _say(r, ANSWER_JUMP, 10, 12, -1, 0)
        return level == 3 and _say(r, ANSWER_GAME, 13, 19, -1, 0)
    if denomination == r.bid % NUM_DENOMINATIONS:
        return False
    if jump == 0:
        return level <= 3 and _say(r, ANSWER, 0, 8, denomination, 4 - (level == 1))
    if level == 4 and denomination >= _HEARTS:
        return _say(r, ANSWER_GAME, 12, 19, denomination, 4)
    return jump == 1 and level <= 3 and _say(r, ANSWER_JUMP, 9, 11 + 8 * (denomination < _HEARTS), denomination, 4)


@kernel
def _promise_response(r, player, partner, level, denomination, jump):
    """First calls of a player whose partner has bid a suit, or no-trump with an opponent in between."""
    meaning, suit = r.last[partner], r.suits[partner]
    if meaning in (NT_OVERCALL, OPEN_1NT, OPEN_2NT):
        return _promise_later(r, player, partner, level, denomination, jump)
    opened = meaning in (OPEN_MINOR, OPEN_MAJOR)
    is_weak = meaning in (WEAK_TWO, PREEMPT, WEAK_JUMP)
    if denomination == suit:
        r.p_support = 1
        need = 8 - r.lengths[partner, suit]
        if is_weak:
            if level == 4 + (suit < _HEARTS):
                return _say(r, GAME_RAISE, 15, _MOST, suit, max(need, 2))
            return level == 3 and _say(r, RAISE, 6, 14, suit, 3)
        minimum = 6 if opened else 7
        if jump == 0 and level <= 3:
            return _say(r, RAISE, minimum + 2 * (level == 3), 10 - (level == 2), suit, max(need, 3))
        if jump == 1 and level == 3:
            return _say(r, LIMIT_RAISE, 10, 12, suit, max(need, 3))
        if level == 4 and suit >= _HEARTS:
            return _say(r, GAME_RAISE, 13, 17, suit, max(need, 3))
        return level == 5 and suit < _HEARTS and _say(r, GAME_RAISE, 16, 19, suit, need)
    if denomination == NO_TRUMP:
        if is_weak:
            return level == 3 and _say(r, TO_PLAY, 16, 21, -1, 0)
        if r.bidder != partner:
            r.p_stop = min(r.bid % NUM_DENOMINATIONS, 3)
        if level == 1:
            return _say(r, WEAK_NT, 6 if opened else 9, 10 if opened else 12, -1, 0)
        if level == 2:
            r.p_balanced = opened
            return _say(r, INVITES_NT, 11 if opened else 13, 12 if opened else 14, -1, 0)
        return level == 3 and _say(r, TO_PLAY, 13 if opened else 15, 17, -1, 0)
    if jump:
        return False
    if is_weak:
        return level <= 3 and _say(r, NEW_SUIT_AT_TWO, 16, _MOST, denomination, 5)
    if not opened:
        return level <= 2 and _say(r, NEW_SUIT, 9, 15, denomination, 5)
    if level == 1:
        return _say(r, NEW_SUIT, 6, _MOST, denomination, 4)
    return level == 2 and _say(r, NEW_SUIT_AT_TWO, 11, _MOST, denomination, 4 + (denomination == _HEARTS))


@kernel
def _promise_later(r, player, partner, level, denomination, jump):
    """Calls of a player who has bid before, and those without an agreement of their own: what the level needs."""
    mine, theirs = r.last[player], r.last[partner]
    no_trump_opened = mine in (OPEN_1NT, OPEN_2NT)
    if no_trump_opened and theirs == STAYMAN and r.bidder == partner and level <= 3:
        if denomination == _DIAMONDS and jump == 0:
            return _say(r, STAYMAN_NO, r.low[player], r.high[player], -1, 0)
        if denomination in (_HEARTS, _SPADES) and jump == 0:
            return _say(r, STAYMAN_YES, r.low[player], r.high[player], denomination, 4)
        return False
    if no_trump_opened and theirs == TRANSFER and r.bidder == partner:
        accepts = r.bid % NUM_DENOMINATIONS + 1 == denomination and jump == 0
        return accepts and _say(r, ACCEPTS, r.low[player], r.high[player], -1, 0)
    partner_low, own_low = np.int64(r.low[partner]), np.int64(r.low[player])
    if denomination == NO_TRUMP:
        return _promise_no_trump(r, player, partner, level, jump)
    together = r.lengths[partner, denomination]
    if together >= 3 or (together >= 2 and no_trump_opened):
        # A fit: the level tells the points.
        r.p_support = mine not in (OPEN_1NT, OPEN_2NT)
        is_game = level == 4 + (denomination < _HEARTS)
        low = _SUIT_POINTS[level - 1] - partner_low
        high = _SUIT_POINTS[min(level, 6)] - partner_low - 1
        if level <= 2:
            low = own_low
        if is_game:
            high = 31 - partner_low
        elif level == 5 or (level == 4 and denomination < _HEARTS):
            return False
        own = max(8 - together, 0)
        meaning = SLAM if level >= 6 else TO_PLAY if is_game else INVITES if level == 3 else RAISE
        return _say(r, meaning, low, high if level < 7 else _MOST, denomination, own)
    known = r.lengths[player, denomination]
    if known >= 4:
        # The own suit again: a card more than promised.
        if level >= 6:
            return False
        if level == 4 + (denomination < _HEARTS):
            return _say(r, TO_PLAY, 26 - partner_low, _MOST, denomination, known + 1 + (known < 6))
        if jump == 1:
            return level <= 3 and _say(r, JUMP_REBID, max(own_low + 4, 22 - partner_low), own_low + 6, denomination, 6)
        return (
            jump == 0
            and level <= 3
            and _say(r, REBID, own_low + 3 * (level == 3), own_low + 5, denomination, min(known + 1, 7))
        )
    if jump or level > 3 or r.lengths[player ^ 1, denomination] >= 4 or r.lengths[partner ^ 1, denomination] >= 4:
        return False
    if r.suits[player] >= 0 and level == 2 and denomination > r.suits[player]:
        return _say(r, SECOND_SUIT, max(own_low, 16), _MOST, denomination, 4)  # a reverse
    return _say(r, SECOND_SUIT, own_low + 3 * (level == 3), _MOST, denomination, 4)


@kernel
def _promise_no_trump(r, player, partner, level, jump):
    """No-trump bids of the second round and later."""
    partner_low, own_low = np.int64(r.low[partner]), np.int64(r.low[player])
    if r.bidder != partner and r.bid % NUM_DENOMINATIONS != NO_TRUMP:
        r.p_stop = r.bid % NUM_DENOMINATIONS
    if level == 1:
        return _say(r, NT_REBID, own_low, own_low + 2, -1, 0)
    if level == 2:
        if r.last[player] in (OPEN_MINOR, OPEN_MAJOR) and jump:
            return _say(r, NT_JUMP, 18, 19, -1, 0)
        return _say(r, INVITES_NT, max(23 - partner_low, own_low), 24 - partner_low, -1, 0)
    if level == 3:
        return _say(r, TO_PLAY, 25 - partner_low, 32 - partner_low, -1, 0)
    if level >= 6:
        return _say(r, SLAM, _NT_POINTS[level - 1] - partner_low, 36 - partner_low if level == 6 else _MOST, -1, 0)
    return False


# ---------------------------------------------------------------------------------------------------------------
# Reading an auction


@kernel
def read_auction(s, r):
    """Fill `r`, a READING, with the meanings of all calls so far, and what they promise."""
    r.bid, r.bidder, r.doubled, r.opener, r.since = NO_BID, -1, 0, -1, 0
    for p in range(4):
        r.low[p], r.high[p], r.calls[p], r.last[p], r.suits[p] = 0, _MOST, 0, NOTHING, -1
        for denomination in range(4):
            r.lengths[p, denomination] = 0
    for k in range(s.num_calls):
        player, call = (s.dealer + k) & 3, np.int64(s.calls[k])
        is_known = promise(r, player, call)
        r.meanings[k] = r.p_meaning if is_known else NATURAL
        _note(r, player, call, is_known)


@kernel(inline=True)
def _note(r, player, call, is_known):
    """Take note of a call whose promise has been looked up."""
    if is_known:
        r.low[player] = min(max(r.low[player], r.p_low), _MOST)
        r.high[player] = max(min(r.high[player], r.p_high), r.low[player])
        if r.p_suit >= 0 and call != DOUBLE:
            r.lengths[player, r.p_suit] = max(r.lengths[player, r.p_suit], r.p_length)
    r.since += 1
    if call == PASS:
        return
    r.since = 0
    r.calls[player] += 1
    r.last[player] = r.p_meaning if is_known else NATURAL
    if call < BID_0:
        r.doubled = 1 if call == DOUBLE else 2
        return
    if r.opener < 0:
        r.opener = player
    r.bid, r.bidder, r.doubled = call - BID_0, player, 0
    denomination = r.bid % NUM_DENOMINATIONS
    if denomination != NO_TRUMP and r.last[player] not in (STAYMAN, STAYMAN_NO, TRANSFER, OPEN_2C, WAITS, ACCEPTS):
        r.suits[player] = denomination
        r.lengths[player, denomination] = max(r.lengths[player, denomination], 3)


# ---------------------------------------------------------------------------------------------------------------
# Choosing a call


@kernel
def natural_call(s):
    """Return the call of the player to act by the system of this module."""
    r = new_reading()
    read_auction(s, r)
    player, cards = np.int64(s.current_player), s.hands[s.current_player]
    best, best_value = PASS, _value_of_pass(r, player, cards)
    for call in range(DOUBLE, NUM_CALLS):
        if call == DOUBLE and not (r.bid != NO_BID and r.doubled == 0 and (r.bidder ^ player) & 1):
            continue
        if call == REDOUBLE or BID_0 <= call <= BID_0 + r.bid:
            continue
        if promise(r, player, call) and _fits(r, cards):
            value = _value_of_call(r, player, cards, call)
            if value > best_value:
                best, best_value = call, value
    return best


@kernel
def _fits(r, cards):
    """Whether a hand is what the promise in `r` says."""
    points = high_card_points(cards)
    if r.p_suit >= 0:
        if _length_of(cards, r.p_suit) < r.p_length:
            return False
        points = _hand_points(cards, r.p_support, r.p_suit)
    elif r.p_meaning == OPEN_2C:
        points = _hand_points(cards, 0, -1)
    if not r.p_low <= points <= r.p_high:
        return False
    if r.p_balanced and not _is_balanced(cards):
        return False
    if r.p_stop >= 0 and not _is_stopped(cards, r.p_stop):
        return False
    if r.p_meaning == STAYMAN:
        return _length_of(cards, _HEARTS) == 4 or _length_of(cards, _SPADES) == 4
    if r.p_short >= 0:
        return _is_takeout(r, cards, points)
    if r.p_meaning in (WEAK_TWO, PREEMPT, WEAK_JUMP):
        suit = heights(cards, np.int64(SUIT_OF_DENOMINATION[r.p_suit]))
        return (suit >> 8 & 1) + (suit >> 9 & 1) + (suit >> 10 & 1) + (suit >> 11 & 1) + (suit >> 12 & 1) >= 2
    return True


@kernel
def _is_takeout(r, cards, points):
    """Whether a hand is short in their suit and has the others, or is strong."""
    if points >= 17:
        return r.p_meaning == TAKEOUT
    if _length_of(cards, r.p_short) > 2:
        return False
    for denomination in range(4):
        if denomination == r.p_short or r.lengths[r.opener, denomination] >= 3:
            continue
        if _length_of(cards, denomination) < (4 if r.p_meaning == NEGATIVE and denomination >= _HEARTS else 3):
            return False
    return True


@kernel
def _value_of_pass(r, player, cards):
    """Return how good a pass is: very bad if partner's call asks for an answer."""
    partner = (player + 2) & 3
    theirs, is_fresh = r.last[partner], r.since == 1 and r.calls[partner] > 0  # partner's call and a pass after it
    if is_fresh and theirs in (STAYMAN, TRANSFER, OPEN_2C, WAITS, TAKEOUT, NEGATIVE):
        return -100
    if is_fresh and theirs in (NEW_SUIT, NEW_SUIT_AT_TWO) and r.opener == player:
        return -100
    if is_fresh and theirs == ACCEPTS and high_card_points(cards) >= 8:
        return -50
    return 30


@kernel
def _value_of_call(r, player, cards, call):
    """Return how well a call that fits describes the hand; higher is better."""
    meaning, suit = r.p_meaning, r.p_suit
    number = _length_of(cards, suit) if suit >= 0 else 0
    partner = (player + 2) & 3
    value = 40
    if meaning in (OPEN_1NT, OPEN_2NT, OPEN_2C, NT_OVERCALL):
        return 90
    if meaning in (OPEN_MAJOR, OPEN_MINOR):
        # The longest suit; of two long ones the higher, of short minors the lower.
        return 50 + 4 * number + (suit if number >= 5 else -suit)
    if meaning in (STAYMAN, TRANSFER, STAYMAN_YES):
        return 80 + number
    if meaning in (GAME_RAISE, LIMIT_RAISE, RAISE, SLAM, INVITES):
        value = 60 + (8 if suit >= _HEARTS else -8) + number
        if meaning == SLAM:
            value += 10
        if meaning == RAISE and r.calls[player] and r.bidder == partner and r.bid % NUM_DENOMINATIONS == suit:
            value = 0  # nothing new
    elif meaning in (NEW_SUIT, NEW_SUIT_AT_TWO):
        value = 55 + number + (0 if number >= 5 else -suit) - 2 * (meaning == NEW_SUIT_AT_TWO)
    elif meaning == SECOND_SUIT:
        value = 48 + number
        if r.last[partner] in (RAISE, LIMIT_RAISE, WEAK_NT, INVITES_NT, ANSWER, TO_PLAY) or r.low[partner] < 6:
            value = 20
    elif meaning in (REBID, JUMP_REBID):
        value = 46 + number
        if r.last[partner] in (RAISE, LIMIT_RAISE, INVITES_NT, TO_PLAY, ANSWER) or r.low[partner] < 6:
            value = 20 if number < 7 else 35
    elif meaning in (NT_REBID, NT_JUMP):
        value = 45 + (15 if _is_balanced(cards) else -10)
    elif meaning in (TO_PLAY, INVITES_NT):
        value = 58 if suit < 0 else 66 + (4 if suit >= _HEARTS else -12)
        if suit < 0 and not _is_balanced(cards):
            value -= 8
    elif meaning in (WEAK_NT, WAITS, STAYMAN_NO):
        value = 42
    elif meaning == TAKEOUT:
        value = 56
    elif meaning == NEGATIVE:
        value = 52
    elif meaning in (OVERCALL, WEAK_JUMP, WEAK_TWO, PREEMPT):
        value = 55 + 2 * number
    elif meaning in (ANSWER, ANSWER_JUMP, ANSWER_GAME):
        value = 45 + 2 * number + (3 if suit >= _HEARTS else 0) if suit >= 0 else 47
    elif meaning == PENALTY:
        value = 38 if suit >= 0 else 50
    return value - 3 * max((call - BID_0) // NUM_DENOMINATIONS - 3, 0)
