"""The play of the policies of strategy.py with betting="limit".

Before the flop, hands open by position and go on by their equity against the last raiser's range. Later, equity is
sampled against the ranges that the betting leaves. Hands with about a fair share of the pot bet, better ones raise, and
the weakest bluff now and then. A semi-bluff on the flop may also buy a free card on the turn, where bets are double.
All else is called by pot odds. Ranges are wide, because with fixed bets it costs more to fold too often than to pay
off. The constants were tuned against each other, and against players who call, raise or choose at random.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.games.texas_holdem.actions import CHECK_CALL, LIMIT_RAISE
from cardenvs.games.texas_holdem.charts import ALL_HANDS, equity_against_best, standing, starting_hand
from cardenvs.games.texas_holdem.equity import equity, with_picks, with_width
from cardenvs.games.texas_holdem.legal import owed, winnable
from cardenvs.games.texas_holdem.state import FLOP, PREFLOP, RIVER
from cardenvs.kits.cards import count_bits

# Before the flop. Widths are thousandths of all hands (charts.py).
_OPEN_WIDTH = np.array((300, 850, 550, 380, 300, 240, 200, 180, 160, 150))  # hands to open with, by players behind
_RERAISE_WIDTH, _THIRD_RAISE_WIDTH = 500, 330  # ranges of those who raise again
_LIMP_WIDTH, _CALL_WIDTH, _CALL_AGAIN_WIDTH = 700, 800, 600  # ranges of those who call nothing, one raise, more
_RAISE_EQUITY = np.array((0.57, 0.55, 0.54))  # against the last raiser's range, to raise again, by raises
_CALL_MARGIN = 0.04  # equity needed above the pot odds, as not all of it will be won
_MARGIN_PER_PLAYER = 0.03  # the same, for each player still to act
_SHARE_PER_PLAYER = 0.8  # factor on equity, and on the opening width, for each further opponent

# After the flop; shares of the pot are in fair shares, of which each player in the hand has one
_BET_SHARE = 0.92  # to bet
_CONTINUE_SHARE = 0.7  # to bet on the flop after raising before it
_RAISE_SHARE = np.array((1.2, 1.34, 1.45))  # to raise, by bets made so far
_BLUFFS, _SEMI_BLUFFS = 25, 15  # of a hundred hands that would check, or call on the flop, bet or raise
_BLUFF_SHARE = 0.5  # below this a bet is a bluff; hands between are checked, to be shown down
_SEMI_BLUFF_EQUITY = 0.38  # to raise on the flop with a hand that can still improve
_MOST_PICKS = 2  # of a player who has bet or raised (equity.py); more would fold too often to one who always bets


@kernel
def play_limit(s, legal, n, samples, rng):
    """Choose an action. Arguments as for the policies, and the number of deals to sample."""
    player = np.int64(s.current_player)
    if s.street == PREFLOP:
        return _play_before_flop(s, legal, n, player)
    widths, picks = _ranges(s)
    others = np.int64(s.in_hand) & ~(1 << player)
    won = equity(s, player, others, widths, picks, 0, samples, rng)
    if owed(s, player) == 0:
        return _bet_or_check(s, legal, n, player, won, rng)
    return _raise_or_call(s, legal, n, player, won, rng)


@kernel(inline=True)
def _raise(legal, n):
    """Return a bet or raise, or a call if none is legal."""
    return LIMIT_RAISE if legal[n - 1] == LIMIT_RAISE else CHECK_CALL


@kernel(inline=True)
def _happens(percent, rng):
    return random_below(rng, 100) < percent


# ---------------------------------------------------------------------------------------------------------------
# Before the flop


@kernel
def _play_before_flop(s, legal, n, player):
    """Open by position; after a raise, raise again by equity and call by pot odds."""
    hand = starting_hand(s.deck[2 * player], s.deck[2 * player + 1])
    behind = count_bits(s.pending & ~(1 << player))
    others = count_bits(s.in_hand) - 1
    num_raises = _num_raises(s, PREFLOP)
    if num_raises == 0:
        is_open = standing(hand) <= _OPEN_WIDTH[behind] * _SHARE_PER_PLAYER ** (others - behind)
        return _raise(legal, n) if is_open else np.int64(legal[0])
    won = equity_against_best(hand, _width(s, np.int64(s.aggressor), num_raises))
    in_pot = max(1, others - behind)
    won *= _SHARE_PER_PLAYER ** (in_pot - 1)
    if won * (in_pot + 1) >= 2.0 * _RAISE_EQUITY[min(num_raises, len(_RAISE_EQUITY)) - 1]:
        return _raise(legal, n)
    to_call = owed(s, player)
    price = to_call / (winnable(s, player) + to_call) + _CALL_MARGIN + _MARGIN_PER_PLAYER * behind
    return CHECK_CALL if won >= price else np.int64(legal[0])


@kernel(inline=True)
def _num_raises(s, street):
    number = 0
    for p in range(s.rules.num_players):
        number += s.raises[street, p]
    return number


@kernel
def _width(s, player, num_raises):
    """Return the range of `player` by the betting before the flop, as a width."""
    own = s.raises[PREFLOP, player]
    if own >= 2:
        return _THIRD_RAISE_WIDTH
    if own == 1:
        if num_raises > 1:
            return _RERAISE_WIDTH
        return _OPEN_WIDTH[_behind(s, player)]
    if num_raises == 0:
        return ALL_HANDS if player == s.big_blind_seat else _LIMP_WIDTH
    return _CALL_WIDTH if num_raises == 1 else _CALL_AGAIN_WIDTH


@kernel
def _behind(s, player):
    """Return how many act after `player` in the first round before the flop."""
    n = np.int64(s.rules.num_players)
    number = 0
    for k in range((s.big_blind_seat - player + n) % n):
        number += s.dealt >> ((player + k + 1) % n) & 1
    return number


# ---------------------------------------------------------------------------------------------------------------
# After the flop


@kernel
def _ranges(s):
    """Return the range of each seat by all betting of the hand, packed for equity.py."""
    num_raises = _num_raises(s, PREFLOP)
    widths = picks = np.int64(0)
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1:
            widths = with_width(widths, p, _width(s, p, num_raises))
            picks = with_picks(picks, p, _picks(s, p))
    return widths, picks


@kernel
def _picks(s, player):
    """Return the number of picks of `player`: more than one after a bet or raise, except the usual bet on the flop."""
    for street in range(FLOP, s.street + 1):
        is_usual = street == FLOP and s.raises[PREFLOP, player] > 0 and _num_raises(s, street) == 1
        if s.raises[street, player] > 0 and not is_usual:
            return _MOST_PICKS
    return 1


@kernel
def _bet_or_check(s, legal, n, player, won, rng):
    """Bet for value, sometimes as a bluff, or check."""
    share = won * count_bits(s.in_hand)
    continues = s.street == FLOP and s.aggressor == player
    if share >= (_CONTINUE_SHARE if continues else _BET_SHARE):
        return _raise(legal, n)
    if share < _BLUFF_SHARE and count_bits(s.in_hand) == 2 and _happens(_BLUFFS, rng):
        return _raise(legal, n)
    return CHECK_CALL


@kernel
def _raise_or_call(s, legal, n, player, won, rng):
    """Raise for value or on the flop as a semi-bluff, call by pot odds, or fold."""
    share = won * count_bits(s.in_hand)
    bets = min(_num_raises(s, s.street), len(_RAISE_SHARE))
    if share >= _RAISE_SHARE[bets - 1]:
        return _raise(legal, n)
    to_call = owed(s, player)
    price = to_call / (winnable(s, player) + to_call)
    if s.street != RIVER:
        price += _MARGIN_PER_PLAYER * count_bits(s.pending & ~(1 << player))
    if won < price:
        return np.int64(legal[0])
    if s.street == FLOP and bets == 1 and won >= _SEMI_BLUFF_EQUITY and _happens(_SEMI_BLUFFS, rng):
        return _raise(legal, n)
    return CHECK_CALL
