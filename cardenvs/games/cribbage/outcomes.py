"""What each card of Cribbage would bring, laid away or played: for the observation (option `outcomes`)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.cribbage.counting import play_points
from cardenvs.games.cribbage.discards import new_means, note_means
from cardenvs.games.cribbage.heuristic import begin_line, new_line, worth_of_card
from cardenvs.games.cribbage.state import FITTING, LAY_AWAY, MAX_SUM, PLAY, VALUES
from cardenvs.games.cribbage.worlds import hidden_cards
from cardenvs.kits.cards import lowest_card

_NUM_ROWS = 6
_MOST, _MOST_LESS = 100, 20
_BOUNDS = {
    "value": (0, 10),
    "points": (0, 20),
    "count": (0, MAX_SUM),
    "worth": (-_MOST, _MOST),
    "less than best": (0, _MOST_LESS),
    "best": (0, 1),
}
_WIDTH = len(_BOUNDS)
_new_worths = stack_record(packed([("of", "f8", (_NUM_ROWS,))]))
_POINTS, _COUNT, _WORTH, _LESS, _BEST = 1, 2, 3, 4, 5


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each card that player `p` may lay away or play, if it is to act."""
    if p != s.current_player:
        return
    if s.phase == LAY_AWAY:
        _write_discards(s, p, out, at)
    elif s.phase == PLAY:
        _write_cards(s, p, out, at)


@kernel
def _write_discards(s, p, out, at):
    m, w = new_means(), _new_worths()
    note_means(s, p, m)
    hand, k = s.hands[p], 0
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        w.of[k] = m.best[card]
        out[at + k * _WIDTH] = VALUES[card]
        k += 1
    _write_worths(w, k, out, at)


@kernel
def _write_cards(s, p, out, at):
    line, w = new_line(), _new_worths()
    begin_line(s, line)
    hidden = hidden_cards(s, p)
    hand, k, number = s.hands[p] & FITTING[MAX_SUM - s.total], 0, line.number
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        w.of[k] = worth_of_card(s, line, p, card, hidden)
        line.sequence[number] = card
        count, row = s.total + VALUES[card], at + k * _WIDTH
        out[row] = VALUES[card]
        out[row + _POINTS] = min(play_points(line, number + 1, count), 20)
        out[row + _COUNT] = count
        k += 1
    _write_worths(w, k, out, at)


@kernel(inline=True)
def _write_worths(w, number, out, at):
    """Write what each card should bring, by how much that is less than the best, and which are best."""
    best = -1e9
    for k in range(number):
        best = max(best, w.of[k])
    for k in range(number):
        row = at + k * _WIDTH
        out[row + _WORTH] = min(max(np.int64(np.rint(10 * w.of[k])), -_MOST), _MOST)
        out[row + _LESS] = min(np.int64(np.rint(10 * (best - w.of[k]))), _MOST_LESS)
        out[row + _BEST] = w.of[k] == best


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "value of the card; in the play its points now and the count after it; in tenths, what it should bring: laid away, "
    "the mean of hand and crib, played, its points less those that follow; by how much that is less than the best card "
    "brings, at most two points, and whether it is the best",
    _write_outcomes,
)  # fmt: skip
