"""What a hand is worth if all cards dealt so far lie open and nothing more is bet: for variance reduction."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.games.texas_holdem.evaluator import KEYS, rank_of
from cardenvs.games.texas_holdem.state import BOARD_CARDS, CASH, CHIPS, NUM_BOARD
from cardenvs.kits.cards import NUM_CARDS

_BOARDS = 64  # drawn with two or more cards to come


@kernel
def worth(s, rng, out):
    """Write the chips that each player wins on average, as a share of all chips in tournaments that do not pay chips.

    The players in the hand share the pot by their equity, as if they could bet no more: chips that nobody has matched
    go back first, and side pots are divided like the main pot. With one card to come all boards are counted, with more
    some are drawn.

    Args:
        s: one record, not terminal. Of the deck, only cards that have been dealt are read.
        rng: uint64 (4,), drawn from.
        out: float64 (at least num_players,), overwritten.
    """
    n = np.int64(s.rules.num_players)
    excess, leader = _unmatched(s, n)
    pot = np.int64(s.pot) - excess
    _write_equities(s, n, rng, out)
    total = np.int64(s.pot)
    for p in range(n):
        total += s.stacks[p]
    for p in range(n):
        stack = np.int64(s.stacks[p]) + (excess if p == leader else 0)
        chips = stack + out[p] * pot
        if s.rules.format == CASH or s.rules.returns == CHIPS:
            out[p] = s.returns[p] + chips - s.start_stacks[p]
        else:
            out[p] = 2.0 * chips / total - 1.0


@kernel(inline=True)
def _unmatched(s, n):
    """Return the chips that one player has put in above everybody else, and the player."""
    leader, most, second = np.int64(0), np.int64(-1), np.int64(0)
    for p in range(n):
        chips = np.int64(s.chips_in[p])
        if chips > most:
            second = max(second, most)
            leader, most = p, chips
        else:
            second = max(second, chips)
    return most - second, leader


@kernel
def _write_equities(s, n, rng, out):
    """Write the share of the pot that each player wins on average."""
    used, board_key, num_board = np.int64(0), np.int64(0), np.int64(BOARD_CARDS[s.street])
    for p in range(n):
        out[p] = 0.0
        if s.dealt >> p & 1:
            used |= 1 << np.int64(s.deck[2 * p]) | 1 << np.int64(s.deck[2 * p + 1])
    board = np.int64(0)
    for k in range(2 * n, 2 * n + num_board):
        board |= 1 << np.int64(s.deck[k])
        board_key += KEYS[s.deck[k]]
    used |= board
    to_come = NUM_BOARD - num_board
    if to_come == 0:
        _add_shares(s, n, board, board_key, 1.0, out)
    elif to_come == 1:
        left = NUM_CARDS
        for card in range(NUM_CARDS):
            left -= used >> card & 1
        for card in range(NUM_CARDS):
            if not used >> card & 1:
                _add_shares(s, n, board | 1 << card, board_key + KEYS[card], 1.0 / left, out)
    else:
        for _ in range(_BOARDS):
            cards, key, taken = board, board_key, used
            for _ in range(to_come):
                card = random_below(rng, NUM_CARDS)
                while taken >> card & 1:
                    card = random_below(rng, NUM_CARDS)
                taken |= 1 << card
                cards |= 1 << card
                key += KEYS[card]
            _add_shares(s, n, cards, key, 1.0 / _BOARDS, out)


@kernel
def _add_shares(s, n, board, board_key, weight, out):
    """Add the shares of the pot on a full board, times a weight."""
    best, winners = np.int64(-1), np.int64(0)
    for p in range(n):
        if s.in_hand >> p & 1:
            first, second = np.int64(s.deck[2 * p]), np.int64(s.deck[2 * p + 1])
            rank = rank_of(board | 1 << first | 1 << second, board_key + KEYS[first] + KEYS[second])
            if rank > best:
                best, winners = rank, np.int64(0)
            if rank == best:
                winners |= 1 << p
    sharers = np.int64(0)
    for p in range(n):
        sharers += winners >> p & 1
    for p in range(n):
        if winners >> p & 1:
            out[p] += weight / sharers
