"""What the calls of an auction say about the hands."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.bridge import meanings as m
from cardenvs.games.bridge.promises import (
    MOST_POINTS,
    promise,
)
from cardenvs.games.bridge.state import (
    BID_0,
    DOUBLE,
    MAX_CALLS,
    NO_BID,
    NO_TRUMP,
    NUM_DENOMINATIONS,
    PASS,
)

READING = packed(
    [
        ("meanings", "u1", (MAX_CALLS,)),
        ("lows", "i1", (MAX_CALLS,)),  # points promised by each call
        ("highs", "i1", (MAX_CALLS,)),
        ("named", "i1", (MAX_CALLS,)),  # denomination whose length a call promises, or -1
        ("numbers", "i1", (MAX_CALLS,)),  # of its cards
        ("low", "i1", (4,)),  # points promised by player
        ("high", "i1", (4,)),
        ("high_cards", "i1", (4,)),  # of these, at least in high cards
        ("balanced", "u1", (4,)),  # whether a balanced hand is promised
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


@kernel
def read_auction(s, r):
    """Fill `r`, a READING, with the meanings of all calls so far, and what they promise."""
    begin_reading(r)
    for k in range(s.num_calls):
        read_call(r, k, (s.dealer + k) & 3, np.int64(s.calls[k]))


@kernel
def begin_reading(r):
    """Fill `r` with what is known before the first call."""
    r.bid, r.bidder, r.doubled, r.opener, r.since = NO_BID, -1, 0, -1, 0
    for p in range(4):
        r.low[p], r.high[p], r.calls[p], r.last[p], r.suits[p] = 0, MOST_POINTS, 0, m.NOTHING, -1
        r.high_cards[p] = r.balanced[p] = 0
        for denomination in range(4):
            r.lengths[p, denomination] = 0


@kernel
def read_call(r, k, player, call):
    """Add the k-th call of an auction to `r`."""
    if not promise(r, player, call):
        r.p_meaning, r.p_low, r.p_high, r.p_suit, r.p_length = m.NATURAL, 0, MOST_POINTS, -1, 0
        r.p_balanced = 0
    r.meanings[k], r.lows[k], r.highs[k] = r.p_meaning, r.p_low, r.p_high
    r.named[k], r.numbers[k] = r.p_suit, r.p_length
    _note(r, player, call)


@kernel(inline=True)
def _note(r, player, call):
    """Take note of a call whose promise has been looked up."""
    r.low[player] = min(max(r.low[player], r.p_low), MOST_POINTS)
    r.high[player] = max(min(r.high[player], r.p_high), r.low[player])
    if r.p_suit < 0 and r.p_meaning != m.OPEN_2C:
        r.high_cards[player] = max(r.high_cards[player], r.p_low)
    r.balanced[player] |= r.p_balanced
    if r.p_suit >= 0 and call != DOUBLE:
        r.lengths[player, r.p_suit] = max(r.lengths[player, r.p_suit], r.p_length)
    r.since += 1
    if call == PASS:
        return
    r.since = 0
    r.calls[player] += 1
    r.last[player] = r.p_meaning
    if call < BID_0:
        r.doubled = 1 if call == DOUBLE else 2
        return
    if r.opener < 0:
        r.opener = player
    r.bid, r.bidder, r.doubled = call - BID_0, player, 0
    denomination = r.bid % NUM_DENOMINATIONS
    if denomination != NO_TRUMP and r.last[player] not in (
        m.STAYMAN,
        m.STAYMAN_NO,
        m.TRANSFER,
        m.OPEN_2C,
        m.WAITS,
        m.ACCEPTS,
    ):
        r.suits[player] = denomination
        r.lengths[player, denomination] = max(r.lengths[player, denomination], 3)
