"""A rule agent for Cribbage: exact discards, and play that looks two cards ahead.

A card is worth what it scores, less what the next player should score on it, plus what can then be scored in return.
The next player is taken to hold random cards of those not seen, and to play the best of them.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.cribbage.counting import play_points
from cardenvs.games.cribbage.discards import best_to_lay
from cardenvs.games.cribbage.rules import points_to_show
from cardenvs.games.cribbage.state import COUNT_0, FITTING, LAY_AWAY, MAX_PLAYED, MAX_SUM, PACK, SHOW, VALUES
from cardenvs.games.cribbage.worlds import hidden_cards
from cardenvs.kits.cards import RANK_SETS, chance_of_none, count_bits, lowest_card

_NUM_RANKS = len(PACK.ranks)

# Found by duplicate games of rule agents with different values.
_REPLY, _RETURN, _LATER = 1.0, 0.7, 0.01

# The present count with cards added, and the replies to a card by rank, best first.
_LINE = packed(
    [
        ("sequence", "i1", (MAX_PLAYED + 4,)),
        ("count_start", "i1"),
        ("total", "i1"),
        ("number", "i8"),
        ("num_replies", "i8"),
        ("liked", "f8", (_NUM_RANKS,)),
        ("holders", "i8", (_NUM_RANKS,)),  # how many cards make the reply
    ]
)
new_line = stack_record(_LINE)


@kernel
def heuristic(s, legal, n, rng):
    """Lay away what leaves the best mean; play the card with the best prospects; count right."""
    player = np.int64(s.current_player)
    if s.phase == LAY_AWAY:
        return best_to_lay(s, player)
    if s.phase == SHOW:
        return COUNT_0 + points_to_show(s)
    if n == 1:
        return np.int64(legal[0])
    line = new_line()
    begin_line(s, line)
    hidden = hidden_cards(s, player)
    best, best_worth = np.int64(legal[0]), -1e9
    for k in range(n):
        worth = worth_of_card(s, line, player, np.int64(legal[k]), hidden)
        if worth > best_worth:
            best, best_worth = np.int64(legal[k]), worth
    return best


@kernel
def begin_line(s, line):
    """Write the present count to `line`."""
    line.count_start, line.total = 0, s.total
    line.number = 0
    for k in range(s.count_start, s.num_played):
        line.sequence[line.number] = s.sequence[k]
        line.number += 1


@kernel
def worth_of_card(s, line, player, card, hidden):
    """Return what playing a card should bring: its points less what follows."""
    start, before = line.number, np.int64(line.total)
    points = _add(line, card)
    worth = points + _LATER * VALUES[card]  # low cards fit later
    if line.total < MAX_SUM:
        left = s.hands[player] ^ np.int64(1) << card
        worth += _prospects(s, line, player, left, hidden)
    line.number, line.total = start, before
    return worth


@kernel(inline=True)
def _add(line, card):
    """Add a card to the line, and return its points."""
    line.sequence[line.number] = card
    line.number += 1
    line.total += VALUES[card]
    return play_points(line, line.number, np.int64(line.total))


@kernel
def _prospects(s, line, player, left, hidden):
    """Return what should follow: the best answers to the next player's replies less these, or more after a go."""
    q = _next_player(s, player)
    alone = _best_answer(line, left) if left & FITTING[MAX_SUM - line.total] else 1.0
    if q == player:
        return alone
    unseen = hidden & ~FITTING[s.floors[q]]
    number, held = count_bits(unseen), count_bits(s.hands[q])
    _find_replies(line, left, unseen)
    worth, before, worse = 0.0, 1.0, np.int64(0)
    for k in range(line.num_replies):
        worse += line.holders[k]
        none = chance_of_none(worse, held, number)
        worth -= (before - none) * line.liked[k]
        before = none
    return worth + before * alone


@kernel(inline=True)
def _next_player(s, player):
    """Return who plays after `player` in this count; `player` if nobody else does."""
    n = s.rules.num_players
    q = wrap(player + 1, n)
    while q != player and (s.hands[q] == 0 or s.goes >> q & 1):
        q = wrap(q + 1, n)
    return q


@kernel
def _best_answer(line, left):
    """Return the most points that a card of `left` scores now, 0 if none fits."""
    best, start, before = 0.0, line.number, np.int64(line.total)
    fitting = left & FITTING[MAX_SUM - line.total]
    while fitting:
        best = max(best, np.float64(_add(line, lowest_card(fitting))))
        line.number, line.total = start, before
        fitting &= fitting - 1
    return best


@kernel
def _find_replies(line, left, unseen):
    """List the replies to the line by rank, those first that are best for the player who makes them."""
    line.num_replies = 0
    start, before = line.number, np.int64(line.total)
    fitting = unseen & FITTING[MAX_SUM - line.total]
    for rank in range(_NUM_RANKS):
        cards = fitting & RANK_SETS[rank]
        if cards == 0:
            continue
        points = _REPLY * _add(line, lowest_card(cards))
        if line.total < MAX_SUM:
            points -= _RETURN * _best_answer(line, left)
        line.number, line.total = start, before
        k = line.num_replies
        while k > 0 and line.liked[k - 1] < points:
            line.liked[k], line.holders[k] = line.liked[k - 1], line.holders[k - 1]
            k -= 1
        line.liked[k], line.holders[k] = points, count_bits(cards)
        line.num_replies += 1
