"""Hands with which natural bidders make the calls of an auction, as `phase="play"` begins with one (rules.md 7.1)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.bidding import makes_call
from cardenvs.games.bridge.reading import begin_reading, new_reading, read_call
from cardenvs.games.bridge.state import BID_0, NO_BID, NO_TRUMP, ONLY_PLAY, PASS


@kernel(inline=True)
def has_natural_auction(s):
    """Whether the calls were made by natural bidders, with the hands that were dealt."""
    return s.rules.phase == ONLY_PLAY and s.rules.auction[0] < 0


@kernel
def missed_calls(s, most):
    """Return how many calls of the auction natural bidders do not make with the hands in `s`; stop above `most`."""
    r = new_reading()
    begin_reading(r)
    missed = 0
    for k in range(s.num_calls):
        player, call = (s.dealer + k) & 3, np.int64(s.calls[k])
        cards = s.hands[player] | s.cards_played[player]
        if k == 3 and r.bid == NO_BID and makes_call(r, player, cards, np.int64(PASS)):
            # A fourth pass becomes one no-trump, and all pass.
            return missed if _is_forced(s) else missed + 1
        missed += 0 if makes_call(r, player, cards, call) else 1
        if missed > most:
            return missed
        read_call(r, k, player, call)
    return missed


@kernel(inline=True)
def _is_forced(s):
    """Whether an auction with three passes goes on as the fourth player must if they would pass, too."""
    for k in range(4, s.num_calls):
        if s.calls[k] != PASS:
            return False
    return s.calls[3] == BID_0 + NO_TRUMP
