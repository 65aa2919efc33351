"""Calls, and what ends an auction. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.bridge import state, table
from cardenvs.games.bridge.bidding import natural_call
from cardenvs.games.bridge.estimate import tricks_of
from cardenvs.games.bridge.settling import end_deal
from cardenvs.games.bridge.state import (
    AUCTION,
    BID_0,
    DOUBLE,
    NO_BID,
    NO_TRUMP,
    NUM_DENOMINATIONS,
    PASS,
    PLAY,
    REDOUBLE,
)


@kernel(inline=True)
def can_double(s):
    """Whether the player to call may double (3.2)."""
    return s.contract != NO_BID and s.doubled == 0 and (s.bidders[s.contract] ^ s.current_player) & 1


@kernel(inline=True)
def can_redouble(s):
    """Whether the player to call may redouble (3.3)."""
    return s.contract != NO_BID and s.doubled == 1 and (s.doublers[s.contract] ^ s.current_player) & 1


@kernel
def make_call(s, call, log):
    """The player to act calls; the last pass ends the auction (3)."""
    player = np.int64(s.current_player)
    s.calls[s.num_calls] = call
    s.num_calls += 1
    s.current_player = s.turn = (player + 1) & 3
    if call == PASS:
        s.num_passes += 1
        s.opening_passes += s.contract == NO_BID
        ev.log_note(log, table.CALLS, player, call)
        if s.num_passes == 4 or (s.num_passes == 3 and s.contract != NO_BID):
            _end_auction(s, log)
        return
    s.num_passes = 0
    if call == DOUBLE:
        s.doublers[s.contract] = player
        s.doubled = 1
    elif call == REDOUBLE:
        s.redoublers[s.contract] = player
        s.doubled = 2
    else:
        bid = call - BID_0
        s.contract = bid
        s.doubled = 0
        s.bidders[bid] = player
        if s.named[player & 1, bid % NUM_DENOMINATIONS] == ev.NO_PLAYER:
            s.named[player & 1, bid % NUM_DENOMINATIONS] = player
        ev.log_set(log, table.BIDS, player, table.CONTRACT, bid + 1)
        ev.log_set(log, table.DOUBLES, player, table.DOUBLED, 0)
        return
    ev.log_note(log, table.CALLS, player, call)
    ev.log_set(log, table.DOUBLES, player, table.DOUBLED, s.doubled)


@kernel
def _end_auction(s, log):
    """The play begins with the lead on declarer's left, or the deal is over (3.4, 3.5, 4.1, 7)."""
    if s.contract == NO_BID:
        ev.log_note(log, table.PASSED_OUT, ev.NO_PLAYER, 0)
        end_deal(s, 0, log)
        return
    s.declarer = s.named[s.bidders[s.contract] & 1, s.contract % NUM_DENOMINATIONS]
    ev.log_set(log, table.DECLARES, s.declarer, table.DECLARER, s.declarer + 1)
    if s.rules.phase == state.ONLY_AUCTION:
        end_deal(s, tricks_of(s, np.int64(s.contract % NUM_DENOMINATIONS), np.int64(s.declarer)), log)
        return
    s.leader = s.turn = s.current_player = (s.declarer + 1) & 3
    s.phase = PLAY


@kernel
def given_auction(s, log):
    """Make all calls: those of the options, or as the natural bidder does (7.1)."""
    is_forced = False
    while s.phase == AUCTION:
        if s.rules.auction[0] >= 0:
            call = np.int64(s.rules.auction[s.num_calls])
        else:
            call = np.int64(PASS) if is_forced else np.int64(natural_call(s))
            if call == PASS and s.num_passes == 3 and s.contract == NO_BID:
                call, is_forced = np.int64(BID_0 + NO_TRUMP), True
        make_call(s, call, log)
