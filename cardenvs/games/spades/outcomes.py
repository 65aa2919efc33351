"""What each bid and each card of Spades promises: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.spades.heuristic import (
    best_bid,
    danger,
    expected_tricks,
    new_chances,
    nil_chance,
    shortness,
    trick_chance,
    value_of_card,
    value_tricks,
)
from cardenvs.games.spades.rules import legal_actions, max_legal
from cardenvs.games.spades.state import BID_0, BIDDING, NUM_PLAYERS, PACK, PLAY
from cardenvs.games.spades.worlds import hidden_cards
from cardenvs.kits.listing import legal_list

_MOST = 100
_BOUNDS = {
    "bid": (0, 13),
    "tricks": (0, 127),
    "nil chance": (0, 100),
    "bid less rule": (-13, 13),
    "rank": (0, 12),
    **{f"seat {seat} wins": (0, 100) for seat in range(NUM_PLAYERS)},
    "wins later": (0, 100),
    "forced later": (0, 100),
    "value": (-_MOST, _MOST),
    "less than best": (0, _MOST),
    "best": (0, 1),
}
_WIDTH = len(_BOUNDS)
_TRICKS, _NIL, _LESS_RULE, _RANK, _WINS, _LATER, _FORCED, _VALUE, _LESS, _BEST = 1, 2, 3, 4, 5, 9, 10, 11, 12, 13
_NUM_ROWS = 14
_rank_of = PACK.rank_of
_new_list = legal_list(max_legal)
_new_values = stack_record(packed([("of", "f8", (_NUM_ROWS,))]))


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each bid or card of player `p`, if it is to bid or to play."""
    if p != s.current_player:
        return
    if s.phase == BIDDING:
        _write_bids(s, p, out, at)
    elif s.phase == PLAY:
        _write_cards(s, p, out, at)


@kernel
def _write_bids(s, p, out, at):
    legal, hand, hidden = _new_list(), s.hands[p], hidden_cards(s, p)
    tricks = np.int64(np.rint(10 * expected_tricks(hand, hidden)))
    nil, best = _percent(nil_chance(hand, hidden)), best_bid(s, p, hidden)
    for k in range(min(legal_actions(s, legal.actions), _NUM_ROWS)):
        row, bid = at + k * _WIDTH, legal.actions[k] - BID_0
        out[row] = bid
        out[row + _TRICKS] = min(tricks, 127)
        out[row + _NIL] = nil
        out[row + _LESS_RULE] = bid - best
        out[row + _BEST] = bid == best


@kernel
def _write_cards(s, p, out, at):
    legal, values, c = _new_list(), _new_values(), new_chances()
    hand, hidden = s.hands[p], hidden_cards(s, p)
    short, best = shortness(hand), -1e9
    value_tricks(s, p, c)
    number = min(legal_actions(s, legal.actions), _NUM_ROWS)
    for k in range(number):
        row, card = at + k * _WIDTH, np.int64(legal.actions[k])
        values.of[k] = value_of_card(s, p, card, hidden, c)
        best = max(best, values.of[k])
        out[row + _RANK] = _rank_of(card)
        for seat in range(NUM_PLAYERS):
            out[row + _WINS + seat] = _percent(c.wins[wrap(p + seat, NUM_PLAYERS)])
        out[row + _LATER] = _percent(trick_chance(hand, hidden, card, short))
        out[row + _FORCED] = _percent(danger(hand, hidden, card))
        out[row + _VALUE] = min(max(np.int64(np.rint(values.of[k])), -_MOST), _MOST)
    for k in range(number):
        out[at + k * _WIDTH + _LESS] = min(np.int64(np.rint(10 * (best - values.of[k]))), _MOST)
        out[at + k * _WIDTH + _BEST] = values.of[k] == best


@kernel(inline=True)
def _percent(chance):
    return np.int64(np.rint(100 * min(max(chance, 0.0), 1.0)))


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "in the bidding the bid, the tricks that the hand should win, in tenths, the chance of nil in percent, and the bid "
    "less that of the rule agent; in the play the card's rank, the chance of each player to win the trick, the "
    "observer first, and those of the card to win a trick later, and to be forced to, all in percent; the points that "
    "the rule agent expects, and how many tenths of a point less they are than those of the best card; and whether the "
    "rule agent would choose it",
    _write_outcomes,
)  # fmt: skip
