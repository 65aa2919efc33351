"""Choosing a call: the one that describes the own hand best (see promises.py)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge import meanings as m
from cardenvs.games.bridge.cards import SUIT_OF_DENOMINATION
from cardenvs.games.bridge.evaluation import hand_points, high_card_points, is_balanced, is_stopped, length_of
from cardenvs.games.bridge.promises import (
    HEARTS,
    SPADES,
    promise,
)
from cardenvs.games.bridge.reading import (
    new_reading,
    read_auction,
)
from cardenvs.games.bridge.state import (
    BID_0,
    DOUBLE,
    NO_BID,
    NO_TRUMP,
    NUM_CALLS,
    NUM_DENOMINATIONS,
    PASS,
    REDOUBLE,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.tricks import heights

_NEVER = 50  # misfit of a call that would mislead partner
_MOST_LEVEL = 3  # of a bid that is forced, and fits badly


@kernel
def natural_call(s):
    """Return the call of the player to act by the system of `promises`."""
    r = new_reading()
    read_auction(s, r)
    return choose_call(r, np.int64(s.current_player), s.hands[s.current_player])


@kernel
def choose_call(r, player, cards):
    """Return the call of a player with some cards after the auction that `r` has read."""
    pass_value = _value_of_pass(r, player, cards)
    best, best_value = PASS, pass_value
    forced, least = PASS, _NEVER
    for call in range(DOUBLE, NUM_CALLS):
        if not _is_possible(r, player, call) or not promise(r, player, call):
            continue
        wrong = _misfit(r, cards)
        if wrong == 0:
            value = _value_of_call(r, player, cards, call)
            if value > best_value:
                best, best_value = call, value
        elif wrong < least and BID_0 <= call < BID_0 + _MOST_LEVEL * NUM_DENOMINATIONS:
            forced, least = call, wrong
    return forced if best == PASS and pass_value < 0 else best


@kernel
def makes_call(r, player, cards, call):
    """Whether `choose_call` returns `call`. It stops at the first reason why not, so it is faster for other hands."""
    value = _value_of_pass(r, player, cards)
    if value < 0:
        return choose_call(r, player, cards) == call
    if call != PASS:
        if not _is_possible(r, player, call) or not promise(r, player, call) or _misfit(r, cards) != 0:
            return False
        best = _value_of_call(r, player, cards, call)
        if best <= value:
            return False
        value = best
    for other in range(DOUBLE, NUM_CALLS):
        if other == call or not _is_possible(r, player, other) or not promise(r, player, other):
            continue
        if _misfit(r, cards) == 0 and _value_of_call(r, player, cards, other) >= value + (call == PASS or other > call):
            return False
    return True


@kernel(inline=True)
def _is_possible(r, player, call):
    """Whether a call, which is no pass, is legal; the system has no use for most redoubles."""
    if call == DOUBLE:
        return r.bid != NO_BID and r.doubled == 0 and (r.bidder ^ player) & 1 != 0
    return call > BID_0 + r.bid and call != REDOUBLE


@kernel
def _misfit(r, cards):
    """Return by how much a hand misses what the promise in `r` says: points, and three for each card; 0 if it fits."""
    points, wrong = high_card_points(cards), 0
    if r.p_suit >= 0:
        wrong += 3 * max(r.p_length - length_of(cards, r.p_suit), 0)
        points = hand_points(cards, r.p_support, r.p_suit)
    elif r.p_meaning == m.OPEN_2C:
        points = hand_points(cards, 0, -1)
    wrong += max(r.p_low - points, 0) + max(points - r.p_high, 0)
    if r.p_balanced and not is_balanced(cards):
        wrong += 3
    if r.p_stop >= 0 and not is_stopped(cards, r.p_stop):
        wrong += 3
    if r.p_meaning == m.STAYMAN and length_of(cards, HEARTS) != 4 and length_of(cards, SPADES) != 4:
        wrong += _NEVER
    if r.p_short >= 0 and not _is_takeout(r, cards, points):
        wrong += _NEVER
    if r.p_meaning in (m.WEAK_TWO, m.PREEMPT, m.WEAK_JUMP):
        honours = heights(cards, np.int64(SUIT_OF_DENOMINATION[r.p_suit])) >> 8  # from the ten
        if count_bits(honours) < 2:
            wrong += _NEVER
    return wrong


@kernel
def _is_takeout(r, cards, points):
    """Whether a hand is short in their suit and has the others, or is strong."""
    if points >= 17:
        return r.p_meaning == m.TAKEOUT
    if length_of(cards, r.p_short) > 2:
        return False
    for denomination in range(4):
        if denomination == r.p_short or r.lengths[r.opener, denomination] >= 3:
            continue
        if length_of(cards, denomination) < (4 if r.p_meaning == m.NEGATIVE and denomination >= HEARTS else 3):
            return False
    return True


@kernel
def _value_of_pass(r, player, cards):
    """Return how good a pass is: very bad if partner's call asks for an answer, or game has not been reached."""
    partner = (player + 2) & 3
    if r.since != 1 or r.calls[partner] == 0:
        return 30
    theirs, mine = r.last[partner], r.last[player]  # partner's call, and a pass after it
    if theirs in (m.STAYMAN, m.TRANSFER, m.OPEN_2C, m.WAITS, m.TAKEOUT, m.NEGATIVE):
        return -100
    if theirs in (m.NEW_SUIT, m.NEW_SUIT_AT_TWO, m.SECOND_SUIT) and r.opener == player:
        return -100
    strong = m.OPEN_2C in (mine, theirs) or r.low[partner] >= 22 or r.low[player] >= 22
    if strong and r.bidder == partner and _is_below_game(r.bid):
        return -100
    if theirs == m.ACCEPTS and high_card_points(cards) >= 8:
        return -50
    return 30


@kernel(inline=True)
def _is_below_game(bid):
    """Whether a contract is no game."""
    level, denomination = bid // NUM_DENOMINATIONS + 1, bid % NUM_DENOMINATIONS
    return level < (3 if denomination == NO_TRUMP else 4 if denomination >= HEARTS else 5)


@kernel
def _value_of_call(r, player, cards, call):
    """Return how well a call that fits describes the hand; higher is better."""
    meaning, suit = r.p_meaning, r.p_suit
    number = length_of(cards, suit) if suit >= 0 else 0
    partner = (player + 2) & 3
    value = 40
    if meaning in (m.OPEN_1NT, m.OPEN_2NT, m.OPEN_2C, m.NT_OVERCALL):
        return 90
    if meaning in (m.OPEN_MAJOR, m.OPEN_MINOR):
        # The longest suit; of two long ones the higher, of short minors the lower.
        return 50 + 4 * number + (suit if number >= 5 else -suit)
    if meaning in (m.STAYMAN, m.TRANSFER, m.STAYMAN_YES):
        return 80 + number
    if meaning in (m.GAME_RAISE, m.LIMIT_RAISE, m.RAISE, m.SLAM, m.INVITES):
        value = 60 + (8 if suit >= HEARTS else -8) + number
        if meaning == m.SLAM:
            value += 10
        if meaning == m.RAISE and r.calls[player] and r.bidder == partner and r.bid % NUM_DENOMINATIONS == suit:
            value = 0  # nothing new
    elif meaning in (m.NEW_SUIT, m.NEW_SUIT_AT_TWO):
        value = 55 + number + (0 if number >= 5 else -suit) - 2 * (meaning == m.NEW_SUIT_AT_TWO)
    elif meaning == m.SECOND_SUIT:
        value = 48 + number
        settled = r.last[partner] in (m.RAISE, m.LIMIT_RAISE, m.WEAK_NT, m.INVITES_NT, m.ANSWER, m.TO_PLAY)
        if (
            settled
            or r.last[player] in (m.RAISE, m.LIMIT_RAISE, m.GAME_RAISE)
            or (r.low[partner] < 6 and r.high[partner] < 37)
        ):
            value = 20
    elif meaning in (m.REBID, m.JUMP_REBID):
        value = 46 + number
        if r.last[partner] in (m.RAISE, m.LIMIT_RAISE, m.INVITES_NT, m.TO_PLAY, m.ANSWER) or r.low[partner] < 6:
            value = 20 if number < 7 else 35
    elif meaning in (m.NT_REBID, m.NT_JUMP):
        value = 45 + (15 if is_balanced(cards) else -10)
    elif meaning in (m.TO_PLAY, m.INVITES_NT):
        value = 58 if suit < 0 else 66 + (4 if suit >= HEARTS else -20)
        if suit >= 0 and r.last[partner] == m.TO_PLAY and r.bidder == partner:
            value = 20  # partner knows the contract
        if suit < 0 and not is_balanced(cards):
            value -= 8
    elif meaning in (m.WEAK_NT, m.WAITS, m.STAYMAN_NO):
        value = 42
    elif meaning == m.TAKEOUT:
        value = 56
    elif meaning == m.NEGATIVE:
        value = 52
    elif meaning in (m.OVERCALL, m.WEAK_JUMP, m.WEAK_TWO, m.PREEMPT):
        value = 55 + 2 * number
    elif meaning in (m.ANSWER, m.ANSWER_JUMP, m.ANSWER_GAME):
        value = 45 + 2 * number + (3 if suit >= HEARTS else 0) if suit >= 0 else 47
    elif meaning == m.PENALTY:
        value = 38 if suit >= 0 else 50
    return value - 3 * max((call - BID_0) // NUM_DENOMINATIONS - 3, 0)
