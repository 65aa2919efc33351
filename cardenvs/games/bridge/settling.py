"""What a deal or a rubber pays. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.games.bridge import state, table
from cardenvs.games.bridge.cards import ACES, trump_suit
from cardenvs.games.bridge.dealing import deal_hands
from cardenvs.games.bridge.scoring import (
    GAME_POINTS,
    above_line,
    contract_worth,
    duplicate_score,
    imps,
    matchpoints,
    penalty,
)
from cardenvs.games.bridge.state import NO_BID, NUM_DENOMINATIONS, NUM_PLAYERS, NUM_SIDES
from cardenvs.kits.cards import count_bits
from cardenvs.kits.matches import pay_sides
from cardenvs.kits.tricks import SUIT_SIZE

MOST_IN_RUBBER = 10_000  # points that a rubber pays, however large the difference (6.6)
_HONOURS = 0b1111000000001  # A, T, J, Q, K of a suit, by rank


@kernel
def end_deal(s, tricks, log):
    """Score the deal; `tricks` are those of declarer's side (5, 6)."""
    k = s.num_deals - 1
    s.contracts[k], s.declarers[k], s.doubles[k], s.tricks_made[k] = s.contract, s.declarer, s.doubled, tricks
    s.points[k] = 0
    if s.rules.scoring == state.RUBBER:
        _score_rubber(s, tricks, log)
        return
    if s.contract != NO_BID:
        side = s.declarer & 1
        points = duplicate_score(np.int64(s.contract), s.doubled, s.vulnerable >> side & 1, tricks)
        s.points[k] = points if side == 0 else -points
        ev.log_note(log, table.SCORES, s.declarer, points)
    pay_sides(s, _worth(s, np.int64(s.points[k])))
    s.terminal = 1


@kernel(inline=True)
def _worth(s, points):
    """Return what points of North and South are worth in the unit of the returns (5.5, 5.6)."""
    if s.rules.result == state.IMPS:
        return imps(points - s.rules.datum)
    if s.rules.result == state.MATCHPOINTS:
        return matchpoints(points, s.rules.other_scores)
    return points


@kernel
def _score_rubber(s, tricks, log):
    """Score a deal of a rubber; then end it or deal again (6)."""
    if s.contract != NO_BID:
        before = np.int64(s.totals[0] - s.totals[1])
        if s.rules.honours:
            _score_honours(s, log)
        side, bid = np.int64(s.declarer) & 1, np.int64(s.contract)
        missing = bid // NUM_DENOMINATIONS + 7 - tricks
        is_vulnerable = s.vulnerable >> side & 1
        if missing > 0:
            _add(s, 1 - side, penalty(missing, s.doubled, is_vulnerable), log)
        else:
            worth = contract_worth(bid, s.doubled)
            s.below[side] += worth
            ev.log_set(log, table.BELOW_LINE, side, table.BELOW + side, s.below[side])
            _add(s, side, worth + above_line(bid, s.doubled, is_vulnerable, tricks), log)
            if s.below[side] >= GAME_POINTS:
                _win_game(s, side, log)
        s.points[s.num_deals - 1] = s.totals[0] - s.totals[1] - before
    if max(s.games[0], s.games[1]) == 2:
        _end_rubber(s)
    elif s.num_deals == s.rules.max_deals:
        _score_unfinished(s, log)
        _end_rubber(s)
    else:
        _deal_again(s, log)


@kernel(inline=True)
def _deal_again(s, log):
    """Gather the cards; the next player deals (6.1)."""
    for p in range(NUM_PLAYERS):
        s.last_played[p] = s.cards_played[p]
    ev.log_clear(log, table.CLEAR_TABLE)
    s.declarer = ev.NO_PLAYER
    ev.log_set(log, table.DECLARES, ev.NO_PLAYER, table.DECLARER, 0)
    deal_hands(s, np.int64(s.dealer + 1) & 3, NO_DECK, log)


@kernel(inline=True)
def _add(s, side, points, log):
    """Add points to the total of a side."""
    s.totals[side] += points
    ev.log_set(log, table.HAS_TOTAL, side, table.TOTAL + side, s.totals[side])


@kernel(inline=True)
def _win_game(s, side, log):
    """Both sides begin again below the line; the second game wins the rubber's bonus (6.2, 6.4)."""
    s.games[side] += 1
    s.vulnerable |= 1 << side
    for k in range(NUM_SIDES):
        s.below[k] = 0
        ev.log_set(log, table.BELOW_LINE, k, table.BELOW + k, 0)
    ev.log_set(log, table.WINS_GAME, side, table.GAMES + side, s.games[side])
    if s.games[side] == 2:
        _add(s, side, 500 if s.games[1 - side] else 700, log)


@kernel(inline=True)
def _score_honours(s, log):
    """Four or five of the highest trumps in a hand, or four aces at no-trump (6.5)."""
    trump = trump_suit(s)
    for p in range(NUM_PLAYERS):
        cards = s.hands[p] | s.cards_played[p]
        if trump < 0:
            worth = 150 if cards & ACES == ACES else 0
        else:
            number = count_bits(cards >> SUIT_SIZE * trump & _HONOURS)
            worth = 150 if number == 5 else 100 if number == 4 else 0
        if worth:
            ev.log_note(log, table.HONOURS, p, worth)
            _add(s, p & 1, worth, log)


@kernel(inline=True)
def _score_unfinished(s, log):
    """A game or a part-score that only one side has is worth something (6.7)."""
    for side in range(NUM_SIDES):
        if s.games[side] > s.games[1 - side]:
            _add(s, side, 300, log)
        if s.below[side] > 0 and s.below[1 - side] == 0:
            _add(s, side, s.rules.partscore_bonus, log)


@kernel(inline=True)
def _end_rubber(s):
    """The difference is won, up to a limit (6.6)."""
    s.terminal = 1
    pay_sides(s, max(-MOST_IN_RUBBER, min(np.int64(s.totals[0] - s.totals[1]), MOST_IN_RUBBER)))
