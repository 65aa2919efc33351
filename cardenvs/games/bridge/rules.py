"""Rules of Contract Bridge. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns
from cardenvs.core.rng import random_below, start_stream
from cardenvs.games.bridge import state, table
from cardenvs.games.bridge.auction import can_double, can_redouble, given_auction, make_call
from cardenvs.games.bridge.cards import TRICKS, playable
from cardenvs.games.bridge.dealing import board_vulnerable, deal_hands
from cardenvs.games.bridge.play import play_card
from cardenvs.games.bridge.scoring import matchpoints
from cardenvs.games.bridge.settling import MOST_IN_RUBBER
from cardenvs.games.bridge.state import (
    AUCTION,
    BID_0,
    CARD_0,
    DOUBLE,
    NUM_ACTIONS,
    NUM_BIDS,
    NUM_CALLS,
    NUM_PLAYERS,
    PASS,
    PLAY,
    REDOUBLE,
)
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave, pay_sides

BOARD = 1  # chance source
WORST = 7600  # 13 down, redoubled, vulnerable
MOST_IMPS = 24
_explain = TRICKS.explain


@kernel
def deal(s, given, log):
    """Deal for the first time (2)."""
    s.board = s.rules.board
    if s.rules.board < 0:
        start_stream(s, BOARD, 0)
        s.board = 1 + random_below(s.rng, 16)
    dealer = s.rules.dealer - 1 if s.rules.dealer else np.int64(s.board - 1) & 3
    if s.rules.vulnerable:
        s.vulnerable = s.rules.vulnerable - 1
    else:
        s.vulnerable = board_vulnerable(np.int64(s.board))
    if s.rules.scoring == state.RUBBER:
        s.vulnerable = 0
    ev.log_set(log, table.NEW_BOARD, ev.NO_PLAYER, table.BOARD, s.board)
    for p in range(NUM_PLAYERS):
        s.last_played[p] = 0
    deal_hands(s, dealer, given, log)
    if s.rules.phase == state.ONLY_PLAY:
        given_auction(s, log)


@kernel(inline=True)
def legal_actions(s, out):
    """Calls (3.1 to 3.3), or cards (4.2)."""
    if s.phase == PLAY:
        return list_bits(playable(s, np.int64(s.turn)), CARD_0, out, 0)
    out[0] = PASS
    n = 1
    if can_double(s):
        out[n] = DOUBLE
        n += 1
    if can_redouble(s):
        out[n] = REDOUBLE
        n += 1
    for bid in range(s.contract + 1, NUM_BIDS):
        out[n] = BID_0 + bid
        n += 1
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if (action < CARD_0) != (s.phase == AUCTION):
        return state.AUCTION_IS_ON if s.phase == AUCTION else state.AUCTION_IS_OVER
    if s.phase == PLAY:
        return _explain(s, np.int64(s.turn), action - CARD_0)
    if action == DOUBLE:
        return 0 if can_double(s) else state.NOTHING_TO_DOUBLE
    if action == REDOUBLE:
        return 0 if can_redouble(s) else state.NOTHING_TO_REDOUBLE
    return state.BID_TOO_LOW if BID_0 <= action <= BID_0 + s.contract else 0


@kernel(inline=True)
def apply_action(s, action, log):
    """Make a call, or play a card."""
    if s.phase == AUCTION:
        make_call(s, action, log)
    else:
        play_card(s, action - CARD_0, log)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the most that a deal, or a rubber, can cost (8)."""
    leave(s, player, table.FORFEITS, log)
    amount = MOST_IN_RUBBER if s.rules.scoring == state.RUBBER else WORST
    if s.rules.result == state.IMPS:
        amount = MOST_IMPS
    elif s.rules.result == state.MATCHPOINTS:
        amount = -matchpoints(-WORST - 10, s.rules.other_scores)
    pay_sides(s, amount if player & 1 else -amount)
    s.terminal = 1


num_actions = NUM_ACTIONS  # the calls, then the cards
max_legal = NUM_CALLS - 1  # pass, double and all bids


def max_length(options):
    """The longest auction and all cards, in the most deals."""
    most = {"play": NUM_CARDS, "auction": state.MAX_CALLS, "full": state.MAX_CALLS + NUM_CARDS}[options.phase]
    return most * (options.max_deals if options.scoring == "rubber" else 1)


def returns(options):
    """The points of a deal, or of a rubber, which are limited (6.6)."""
    if options.result == "imps":
        return Returns(-MOST_IMPS, MOST_IMPS, 0, "IMPs")
    if options.result == "matchpoints":
        return Returns(-len(options.other_scores), len(options.other_scores), 0, "matchpoints")
    most = WORST if options.scoring == "duplicate" else MOST_IN_RUBBER
    return Returns(-most, most, 0, "points")
