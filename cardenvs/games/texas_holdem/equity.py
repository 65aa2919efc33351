"""Monte Carlo equity: the share of the pot that a hand wins against hands drawn from the others' ranges.

A range is a width (how many of the best hands of charts.py) and a number of picks: that many hands are drawn, and the
one that is best on the board so far is kept. One pick is the plain range; a second one says that the player bet, and so
has rather the better of what he can have. Widths and picks of all seats are packed into an integer each, because
kernels cannot make arrays.
"""

import numpy as np

from cardenvs.core.cards import NUM_CARDS, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.games.texas_holdem.charts import ALL_HANDS, NUM_PAIRS, PAIRS
from cardenvs.games.texas_holdem.evaluator import KEYS, rank_of
from cardenvs.games.texas_holdem.state import BOARD_CARDS, NUM_BOARD, PREFLOP

_WIDTH_BITS, _WIDTH_UNIT = 6, 20  # widths are kept in 50ths of all hands
_PICK_BITS = 4
MOST_PICKS = (1 << _PICK_BITS) - 1
_MOST_TRIES = 40  # draws from a range until one has no card that lies elsewhere; then any pair will do

_PAIR_KEYS = KEYS[PAIRS[:, 0]] + KEYS[PAIRS[:, 1]]
_PAIR_CARDS = 1 << PAIRS[:, 0].astype(np.int64) | 1 << PAIRS[:, 1].astype(np.int64)


@kernel(inline=True)
def with_width(widths, player, width):
    """Give a player who has none yet a width, 1..1000."""
    return widths | max(1, width // _WIDTH_UNIT) << _WIDTH_BITS * player


@kernel(inline=True)
def with_picks(picks, player, number):
    """Give a player who has none yet a number of picks, 1..MOST_PICKS."""
    return picks | min(number, MOST_PICKS) << _PICK_BITS * player


@kernel
def equity(s, player, others, widths, picks, more_picks, samples, rng):
    """Return the share of the pot that the hand of `player` wins on average.

    Args:
        s: one record; of its cards only the hand of `player` and the board are read.
        player: int, dealt in.
        others: int bit set, the seats against which it plays.
        widths, picks: their ranges, packed.
        more_picks: int, added to the picks of each.
        samples: int, how often to deal the rest of the cards.
        rng: uint64 (4,), drawn from.

    Returns:
        0.0 to 1.0; ties count by their share.
    """
    own_cards, own_key = _cards_at(s.deck, 2 * player, 2)
    first = 2 * np.int64(s.rules.num_players)
    board_cards, board_key = _cards_at(s.deck, first, BOARD_CARDS[s.street])
    to_come = NUM_BOARD - BOARD_CARDS[s.street]
    by_board = s.street != PREFLOP
    won = 0.0
    for _ in range(samples):
        used = own_cards | board_cards
        cards, key = board_cards, board_key
        for _ in range(to_come):
            card = random_below(rng, NUM_CARDS)
            while used >> card & 1:
                card = random_below(rng, NUM_CARDS)
            used |= 1 << card
            cards |= 1 << card
            key += KEYS[card]
        own_rank = rank_of(own_cards | cards, own_key + key)
        left, sharers = others, 1
        while left:
            seat = lowest_card(left)
            left &= left - 1
            number = 1
            if by_board:
                number = (picks >> _PICK_BITS * seat & MOST_PICKS) + more_picks
            width = (widths >> _WIDTH_BITS * seat & (1 << _WIDTH_BITS) - 1) * _WIDTH_UNIT
            pair = _draw(width, number, used, board_cards, board_key, rng)
            used |= _PAIR_CARDS[pair]
            rank = rank_of(_PAIR_CARDS[pair] | cards, _PAIR_KEYS[pair] + key)
            if rank > own_rank:
                sharers = 0
                break
            sharers += rank == own_rank
        if sharers:
            won += 1.0 / sharers
    return won / samples


@kernel(inline=True)
def _cards_at(deck, first, number):
    """Return a set of cards that lie together in the deck, and its key."""
    cards, key = np.int64(0), np.int64(0)
    for k in range(first, first + number):
        cards |= 1 << np.int64(deck[k])
        key += KEYS[deck[k]]
    return cards, key


@kernel
def _draw(width, number, used, board_cards, board_key, rng):
    """Return the best on the board of `number` pairs from a range that have none of the cards `used`."""
    best = _draw_one(width, used, rng)
    if number > 1:
        best_rank = rank_of(_PAIR_CARDS[best] | board_cards, _PAIR_KEYS[best] + board_key)
        for _ in range(number - 1):
            pair = _draw_one(width, used, rng)
            rank = rank_of(_PAIR_CARDS[pair] | board_cards, _PAIR_KEYS[pair] + board_key)
            if rank > best_rank:
                best, best_rank = pair, rank
    return best


@kernel(inline=True)
def _draw_one(width, used, rng):
    """Return a pair from a range: its place in PAIRS."""
    size = width * NUM_PAIRS // ALL_HANDS
    for _ in range(_MOST_TRIES):
        pair = random_below(rng, size)
        if not _PAIR_CARDS[pair] & used:
            return pair
    pair = random_below(rng, NUM_PAIRS)
    while _PAIR_CARDS[pair] & used:
        pair = random_below(rng, NUM_PAIRS)
    return pair
