"""What each bid and each card of Oh Hell promises: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.oh_hell.heuristic import (
    card_chance,
    chance_now,
    expected_tricks,
    harm,
    hidden_cards,
    shortness,
    value_of_bid,
    value_of_rest,
    worth_of_card,
)
from cardenvs.games.oh_hell.rules import BID_0, BIDDING, MAX_HAND, PACK, legal_actions, max_legal
from cardenvs.kits.cards import count_bits
from cardenvs.kits.listing import legal_list

_MOST = 100
_BOUNDS = {
    "bid": (0, MAX_HAND),
    "tricks": (0, _MOST),
    "rank": (0, 12),
    "wins": (0, 100),
    "wins later": (0, 100),
    "won": (-_MOST, _MOST),
    "lost": (-_MOST, _MOST),
    "worth": (-_MOST, _MOST),
    "less than best": (0, _MOST),
    "best": (0, 1),
}
_WIDTH = len(_BOUNDS)
_BID, _TRICKS, _RANK, _WINS, _LATER, _WON, _LOST, _WORTH, _LESS, _BEST = range(_WIDTH)
_rank_of = PACK.rank_of
_new_list = legal_list(max_legal)
_new_worths = stack_record(packed([("of", "f8", (max_legal,))]))


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each bid or card of player `p`, if it is to act."""
    if p != s.current_player:
        return
    legal, worths = _new_list(), _new_worths()
    number = legal_actions(s, legal.actions)
    if s.phase == BIDDING:
        _write_bids(s, p, legal, number, worths, out, at)
    else:
        _write_cards(s, p, legal, number, worths, out, at)
    best = -1e9
    for k in range(number):
        best = max(best, worths.of[k])
    for k in range(number):
        row = at + k * _WIDTH
        out[row + _WORTH] = _tenths(worths.of[k])
        out[row + _LESS] = _tenths(best - worths.of[k])
        out[row + _BEST] = worths.of[k] == best


@kernel
def _write_bids(s, p, legal, number, worths, out, at):
    hidden, tricks = hidden_cards(s, p), _tenths(expected_tricks(s, p))
    for k in range(number):
        row, bid = at + k * _WIDTH, np.int64(legal.actions[k] - BID_0)
        worths.of[k] = value_of_bid(s, p, bid, hidden)
        out[row + _BID] = bid
        out[row + _TRICKS] = tricks


@kernel
def _write_cards(s, p, legal, number, worths, out, at):
    hand, hidden, n = s.hands[p], hidden_cards(s, p), s.rules.num_players
    held, short = count_bits(hand) * (n - 1), shortness(s, hand)
    for k in range(number):
        row, card = at + k * _WIDTH, np.int64(legal.actions[k])
        rest = hand ^ np.int64(1) << card
        chance = chance_now(s, p, card, hidden)
        won, lost = value_of_rest(s, p, rest, hidden, True), value_of_rest(s, p, rest, hidden, False)
        worths.of[k] = worth_of_card(chance, won, lost, harm(s))
        out[row + _RANK] = _rank_of(card)
        out[row + _WINS] = _percent(chance)
        out[row + _LATER] = _percent(card_chance(s.trump, card, hidden, held, n - 1, short))
        out[row + _WON] = _tenths(won)
        out[row + _LOST] = _tenths(lost)


@kernel(inline=True)
def _percent(chance):
    return np.int64(np.rint(100 * min(max(chance, 0.0), 1.0)))


@kernel(inline=True)
def _tenths(points):
    return min(max(np.int64(np.rint(10 * points)), -_MOST), _MOST)


OUTCOMES = Outcomes.by_action(
    max_legal, _BOUNDS,
    "in the bidding the bid, and the tricks that the hand promises, in tenths; in the play the card's rank, its "
    "chances in percent to win this trick and to win a later one, and in tenths the points that the rule agent expects "
    "if it wins and if it does not; in both, in tenths, the points that the rule agent expects, and how many less they "
    "are than those of the best, ten points at most; and whether it is the best",
    _write_outcomes,
)  # fmt: skip
