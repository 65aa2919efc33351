"""Three policies for Texas hold'em, each built on the previous one.

* `push_fold` goes all-in or folds, before the flop and after it, which costs little with short stacks. If all before
  have folded, it follows an equilibrium chart. Against a raise it compares the pot odds with its equity against the
  hands that the raiser goes all-in with.
* `tight_aggressive` plays the same with short stacks. With deeper ones it plays few hands and raises with them: before
  the flop by position and pot odds, later by its equity against the others' ranges, sampled from a few deals.
* `equity` plays the same before the flop. Later it samples more deals, narrows the others' ranges by their bets, and
  compares the values of folding, calling and raises of several sizes.

With fixed limit, the last two play as limit_strategy.py says, with few and many deals sampled, and `push_fold` raises
where it would go all-in. With pot limit, all go as far as they may.

The range of an opponent follows from its betting in this hand, as if everybody played like `tight_aggressive`; an
opponent who raises with anything therefore gets too much credit. All three maximise chips and ignore what a place in a
tournament is worth.

The principles are common knowledge: starting hands by position, pot odds and equity, the push-or-fold equilibrium of
short stacks (make_charts.py). How often a bet makes others fold is a share of the minimum defence: a bet of b into a
pot of p pays as a pure bluff if opponents fold more than b / (b + p) of the time. The constants were tuned on duplicate
deals; most can change by a third at little cost.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem.actions import CHECK_CALL, FOLD, FULL_RAISE_0, asked_total
from cardenvs.games.texas_holdem.charts import ALL_HANDS, equity_against_best, jam_width, jams, standing, starting_hand
from cardenvs.games.texas_holdem.equity import equity as sampled_equity
from cardenvs.games.texas_holdem.equity import with_picks, with_width
from cardenvs.games.texas_holdem.legal import largest_raise, owed, smallest_raise, winnable
from cardenvs.games.texas_holdem.limit_strategy import play_limit
from cardenvs.games.texas_holdem.state import EVERYBODY_ANTES, FLOP, FULL, LIMIT, PREFLOP
from cardenvs.kits.cards import count_bits

# Before the flop. Widths are thousandths of all hands (charts.py).
_SHORT = 10.0  # up to this many big blinds: all-in or fold
_OPEN_WIDTH = np.array((240, 850, 600, 400, 300, 240, 200, 180, 160, 150))  # hands to open with, by players behind
_OPEN_SIZE = 2.5  # big blinds, plus one for each caller
_LIMP_WIDTH = 600  # hands that call the big blind
_RERAISE_WIDTH, _THIRD_RAISE_WIDTH = 100, 50
_CALL_SHARE = 0.8  # width of the hands that call a raise, as a share of the raiser's width
_STRONGEST = 45  # width of the hands that always raise again
_RERAISE_SIZE = 3  # times the bet
_CALL_MARGIN = 0.1  # equity needed above the pot odds to call, while more can be bet
_MARGIN_PER_PLAYER = 0.04  # the same, for each player still to act
_SHARE_PER_CALLER = 0.8  # factor on equity, and on the opening width, for each further opponent

# tight_aggressive after the flop
_FEW_SAMPLES = 32
_BET_SHARE = 1.2  # bet with this many times the fair share of the pot
_CONTINUE_SHARE = 0.7  # the same on the flop after raising before it
_RAISE_EQUITY = 0.82
_BET_MARGIN = 0.12  # equity needed above the pot odds to call, as a bettor's hand is better than his range
_BET_SIZE = 0.66  # of the pot after a call
_COMMITTED = 0.4  # a raise to this share of the stack goes all-in

# equity after the flop
_PICKS_PER_BET, _PICKS_PER_RAISE = 1, 3  # picks for a bet and for a raise of a bet (equity.py)
_MANY_SAMPLES = 500
_SIZES = np.array((0.5, 1.0, 2.0))  # of the pot after a call
_FOLD_SHARE = 0.4  # how often the others fold, as a share of the folds that the minimum defence allows
_PICKS_CALLED = 2  # picks for a call of our raise


@kernel
def push_fold(s, legal, n, rng):
    """Go all-in, fold or check.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: uint64 (4,), random generator; it is advanced.

    Returns:
        One of the legal actions.
    """
    player = np.int64(s.current_player)
    if s.street == PREFLOP:
        return _push_or_fold(s, legal, n, player, depth(s, player))
    return _all_in_by_odds(s, legal, n, player, rng)


@kernel
def tight_aggressive(s, legal, n, rng):
    """Play few hands aggressively. Arguments as for `push_fold`."""
    if s.rules.betting == LIMIT:
        return play_limit(s, legal, n, _FEW_SAMPLES, rng)
    player = np.int64(s.current_player)
    if s.street == PREFLOP:
        return _play_before_flop(s, legal, n, player)
    return _play_by_equity(s, legal, n, player, rng)


@kernel
def equity(s, legal, n, rng):
    """Choose the most valuable action by Monte Carlo equity. Arguments as for `push_fold`."""
    if s.rules.betting == LIMIT:
        return play_limit(s, legal, n, _MANY_SAMPLES, rng)
    player = np.int64(s.current_player)
    if s.street == PREFLOP:
        return _play_before_flop(s, legal, n, player)
    return _play_by_worth(s, legal, n, player, rng)


# ---------------------------------------------------------------------------------------------------------------
# Figures of the situation


@kernel
def depth(s, player):
    """Return the effective stack at the start of the hand, in big blinds: what an opponent in the hand can match.

    Antes count like higher blinds, which makes the stack shallower.
    """
    deepest = np.int64(0)
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1 and p != player:
            deepest = max(deepest, np.int64(s.stacks[p]) + s.chips_in[p])
    chips = min(deepest, np.int64(s.stacks[player]) + s.chips_in[player])
    blinds = 1.5 * s.big_blind
    antes = s.rules.ante * (count_bits(s.dealt) if s.rules.ante_type == EVERYBODY_ANTES else 1)
    return chips / s.big_blind * blinds / (blinds + antes)


@kernel
def _deepest_total(s, player):
    """Return the largest total that another player in the hand can put in on this street."""
    total = np.int64(0)
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1 and p != player:
            total = max(total, np.int64(s.stacks[p]) + s.bets[s.street, p])
    return total


@kernel
def _behind(s, player):
    """Return how many act after `player` in the first round before the flop."""
    n = np.int64(s.rules.num_players)
    number, seat = 0, player
    while seat != s.big_blind_seat:
        seat = wrap(seat + 1, n)
        number += s.dealt >> seat & 1
    return number


@kernel
def _raises_before_flop(s):
    """Return the number of raises before the flop, and the widest range of the raisers."""
    number, width = 0, np.int64(0)
    for p in range(s.rules.num_players):
        if s.raises[PREFLOP, p] > 0:
            number += s.raises[PREFLOP, p]
            width = max(width, _raiser_width(s, p))
    return number, width


@kernel
def _raiser_width(s, player):
    """Return the width with which `player` raised first; another one if that took a large part of the stack."""
    behind = max(1, _behind(s, player))
    if s.bets[PREFLOP, player] < _COMMITTED * (s.stacks[player] + s.chips_in[player]):
        return _OPEN_WIDTH[behind]
    return max(_RERAISE_WIDTH, jam_width(behind, depth(s, player)))


@kernel
def _range(s, player, num_raises, width):
    """Return the range of `player` by the betting before the flop, as a width.

    Args:
        s: one record.
        player: a player in the hand.
        num_raises, width: as returned by `_raises_before_flop`.
    """
    if s.raises[PREFLOP, player] >= 2:
        return _THIRD_RAISE_WIDTH
    if s.raises[PREFLOP, player] == 1:
        return min(_raiser_width(s, player), _RERAISE_WIDTH) if num_raises > 1 else width
    if s.bets[PREFLOP, player] > s.big_blind:
        return _RERAISE_WIDTH if num_raises > 1 else np.int64(_CALL_SHARE * width)
    return ALL_HANDS if player == s.big_blind_seat else _LIMP_WIDTH


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel
def _give_up(s, legal):
    """Check if that is free, else fold."""
    return np.int64(legal[0])  # FOLD is legal only if there is something to call; it is then the lowest id


@kernel
def _raise_to(s, legal, n, player, total):
    """Return the legal raise closest to `total`, all-in if little would be left, or a call if no raise is legal."""
    if legal[n - 1] <= CHECK_CALL:
        return CHECK_CALL
    low, high = smallest_raise(s, player), largest_raise(s, player)
    if total >= _COMMITTED * high:
        total = high
    if s.rules.betting == FULL:
        return FULL_RAISE_0 + min(max(total, low), high)
    pot_after_call = np.int64(s.pot) + owed(s, player)
    best, least = np.int64(legal[n - 1]), abs(high - total)
    for k in range(n - 1):
        if legal[k] > CHECK_CALL:
            distance = abs(asked_total(s, np.int64(legal[k]), pot_after_call, low, high) - total)
            if distance < least:
                best, least = np.int64(legal[k]), distance
    return best


@kernel(inline=True)
def _all_in(s, legal, n):
    """Return all in, or a call if no raise is legal."""
    return np.int64(legal[n - 1]) if legal[n - 1] > CHECK_CALL else CHECK_CALL


# ---------------------------------------------------------------------------------------------------------------
# All-in or fold


@kernel
def _push_or_fold(s, legal, n, player, deep):
    """Choose before the flop: by the chart if nobody has raised, else by the pot odds of going all-in."""
    hand = starting_hand(s.deck[2 * player], s.deck[2 * player + 1])
    num_raises, width = _raises_before_flop(s)
    others = s.in_hand & ~(1 << player)
    if num_raises == 0:
        return _all_in(s, legal, n) if jams(hand, count_bits(others), deep) else _give_up(s, legal)
    won = _equity_before_flop(s, player, hand, num_raises, width)
    return _all_in(s, legal, n) if won >= _price_of_all_in(s, player) else _give_up(s, legal)


@kernel
def _equity_before_flop(s, player, hand, num_raises, width):
    """Return the equity of a kind of hand against the last raiser, reduced for each caller."""
    raiser = np.int64(s.aggressor)
    won = equity_against_best(hand, _range(s, raiser, num_raises, width))
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1 and p != player and p != raiser and s.bets[PREFLOP, p] > s.big_blind:
            won *= _SHARE_PER_CALLER
    return won


@kernel
def _price_of_all_in(s, player):
    """Return the equity needed to go all-in against one opponent who calls."""
    to_call = owed(s, player)
    rest = _deepest_total(s, player) - s.bets[s.street, player] - to_call  # beyond the call
    rest = max(0, min(rest, s.stacks[player] - to_call))
    return (to_call + rest) / (winnable(s, player) + to_call + 2.0 * rest)


@kernel
def _all_in_by_odds(s, legal, n, player, rng):
    """Choose after the flop, by the pot odds of going all-in."""
    won = _equity_now(s, player, _FEW_SAMPLES, rng)
    return _all_in(s, legal, n) if won >= _price_of_all_in(s, player) + _BET_MARGIN else _give_up(s, legal)


# ---------------------------------------------------------------------------------------------------------------
# tight_aggressive


@kernel
def _play_before_flop(s, legal, n, player):
    """Choose before the flop: open by position; after a raise, raise with the best hands and call by pot odds."""
    deep = depth(s, player)
    if deep <= _SHORT:
        return _push_or_fold(s, legal, n, player, deep)
    hand = starting_hand(s.deck[2 * player], s.deck[2 * player + 1])
    num_raises, width = _raises_before_flop(s)
    if num_raises == 0:
        return _open(s, legal, n, player, hand)
    to_call = owed(s, player)
    if standing(hand) <= _STRONGEST:
        return _raise_to(s, legal, n, player, _RERAISE_SIZE * np.int64(s.to_match))
    won = _equity_before_flop(s, player, hand, num_raises, width)
    price = to_call / (winnable(s, player) + to_call)
    if not _is_last_bet(s, player, to_call):
        price += _CALL_MARGIN + _MARGIN_PER_PLAYER * count_bits(s.pending & ~(1 << player))
    return CHECK_CALL if won >= price else _give_up(s, legal)


@kernel
def _open(s, legal, n, player, hand):
    """Raise or fold when nobody has raised."""
    behind = count_bits(s.pending & ~(1 << player))
    callers = count_bits(s.in_hand) - 1 - behind
    if standing(hand) <= _OPEN_WIDTH[behind] * _SHARE_PER_CALLER**callers:
        return _raise_to(s, legal, n, player, np.int64((_OPEN_SIZE + callers) * s.big_blind))
    return _give_up(s, legal)


@kernel
def _is_last_bet(s, player, to_call):
    """Return whether nothing more can be bet after a call."""
    return s.stacks[player] <= to_call or s.can_act & ~(1 << player) == 0


@kernel
def _play_by_equity(s, legal, n, player, rng):
    """Choose after the flop: bet and raise with more than a fair share, call by pot odds."""
    won = _equity_now(s, player, _FEW_SAMPLES, rng)
    to_call = owed(s, player)
    pot = np.int64(s.pot) + to_call
    bet = np.int64(s.to_match) + np.int64(_BET_SIZE * pot)
    if to_call == 0:
        share = _CONTINUE_SHARE if s.street == FLOP and s.aggressor == player else _BET_SHARE
        return _raise_to(s, legal, n, player, bet) if won * count_bits(s.in_hand) >= share else CHECK_CALL
    if won >= _RAISE_EQUITY:
        return _raise_to(s, legal, n, player, bet)
    return CHECK_CALL if won >= to_call / (winnable(s, player) + to_call) + _BET_MARGIN else FOLD


@kernel
def _equity_now(s, player, samples, rng):
    """Return the equity against all others in the hand, with ranges by their betting before the flop."""
    widths, picks = _ranges(s, False)
    return sampled_equity(s, player, s.in_hand & ~(1 << player), widths, picks, 0, samples, rng)


@kernel
def _ranges(s, closely):
    """Return the range of each seat, packed for equity.py; `closely` includes the betting since the flop."""
    num_raises, width = _raises_before_flop(s)
    widths = picks = np.int64(0)
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1:
            widths = with_width(widths, p, _range(s, p, num_raises, width))
            picks = with_picks(picks, p, _picks(s, p) if closely else 1)
    return widths, picks


@kernel
def _picks(s, player):
    """Return the number of picks that stands for the bets and raises of `player` since the flop."""
    number = 1
    for street in range(FLOP, s.street + 1):
        if s.raises[street, player] > 0:
            is_only_bet = _raises(s, street) == 1
            number += _PICKS_PER_BET if is_only_bet else _PICKS_PER_RAISE
    return number


@kernel(inline=True)
def _raises(s, street):
    number = 0
    for p in range(s.rules.num_players):
        number += s.raises[street, p]
    return number


# ---------------------------------------------------------------------------------------------------------------
# equity


@kernel
def _play_by_worth(s, legal, n, player, rng):
    """Choose after the flop the fold, call or raise that wins most chips on average."""
    widths, picks = _ranges(s, True)
    others = np.int64(s.in_hand) & ~(1 << player)
    to_call = owed(s, player)
    pot = np.int64(s.pot) + to_call
    won = sampled_equity(s, player, others, widths, picks, 0, _MANY_SAMPLES, rng)
    most, best = won * (winnable(s, player) + to_call) - to_call, np.int64(CHECK_CALL)
    if legal[n - 1] > CHECK_CALL:
        called = sampled_equity(s, player, others, widths, picks, _PICKS_CALLED, _MANY_SAMPLES, rng)
        high = min(largest_raise(s, player), _deepest_total(s, player))
        for k in range(len(_SIZES)):
            total = min(high, np.int64(s.to_match) + np.int64(_SIZES[k] * pot))
            worth = _worth_of_raise(s, player, total, to_call, called)
            if worth > most:
                most, best = worth, _raise_to(s, legal, n, player, total)
    return FOLD if most < 0.0 else best  # a free check is never worth less than 0


@kernel
def _worth_of_raise(s, player, total, to_call, called):
    """Return the average gain of a raise: the pot if all fold, else the share of a pot that one opponent calls."""
    cost = total - s.bets[s.street, player]
    fold = _FOLD_SHARE * cost / (s.pot + cost)
    all_fold = 1.0
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1 and p != player:
            all_fold *= fold if s.stacks[p] > 0 else 0.0
    pot_when_called = s.pot + cost + (cost - to_call)
    return all_fold * s.pot + (1.0 - all_fold) * (called * pot_when_called - cost)
