"""Monte Carlo equity: the share of the pot that a hand wins against hands drawn from the others' ranges.

A range is a width (how many of the best hands of charts.py) and a number of picks: that many hands are drawn, and the
one that is best on the current board is kept. One pick is the plain range; more picks stand for a player who bet, and
so tends to have the better hands of the range. The widths of all seats are packed into one integer, and so are the
picks, because kernels cannot create arrays.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.games.texas_holdem.charts import ALL_HANDS, NUM_PAIRS, PAIRS
from cardenvs.games.texas_holdem.evaluator import KEYS, rank_of
from cardenvs.games.texas_holdem.state import BOARD_CARDS, NUM_BOARD, PREFLOP
from cardenvs.kits.cards import NUM_CARDS, lowest_card

_WIDTH_BITS, _WIDTH_UNIT = 6, 20  # widths are kept in 50ths of all hands
_PICK_BITS = 4
MOST_PICKS = (1 << _PICK_BITS) - 1
_MOST_TRIES = 40  # draws from a range before falling back to any pair, if all of them contain a used card

_PAIR_KEYS = KEYS[PAIRS[:, 0]] + KEYS[PAIRS[:, 1]]
_PAIR_CARDS = 1 << PAIRS[:, 0].astype(np.int64) | 1 << PAIRS[:, 1].astype(np.int64)


@kernel(inline=True)
def with_width(widths, player, width):
    """Return `widths` with a width 1..1000 added for `player`, who must not have one yet."""
    return widths | max(1, width // _WIDTH_UNIT) << _WIDTH_BITS * player


@kernel(inline=True)
def with_picks(picks, player, number):
    """Return `picks` with a number 1..MOST_PICKS added for `player`, who must not have one yet."""
    return picks | min(number, MOST_PICKS) << _PICK_BITS * player


@kernel
def equity(s, player, others, widths, picks, more_picks, samples, rng):
    """Return the share of the pot that the hand of `player` wins on average.

    Args:
        s: one record; no cards are read but the hand of `player` and the board.
        player: int, dealt in.
        others: int, bit set of the opponents' seats.
        widths, picks: their ranges, packed.
        more_picks: int, added to the picks of each opponent.
        samples: int, number of deals.
        rng: uint64 (4,), drawn from.

    Returns:
        float, 0.0 to 1.0; a tie counts as the share of the pot.
    """
    own_cards, own_key = cards_at(s.deck, 2 * player, 2)
    first = 2 * np.int64(s.rules.num_players)
    board_cards, board_key = cards_at(s.deck, first, BOARD_CARDS[s.street])
    to_come = NUM_BOARD - BOARD_CARDS[s.street]
    by_board = s.street != PREFLOP
    won = 0.0
    for _ in range(samples):
        cards, key = _complete(board_cards, board_key, own_cards, to_come, rng)
        used = own_cards | cards
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


MOST_HANDS = 8  # of which `equities` keeps the best


@kernel
def equities(s, player, samples, rng, out, at):
    """Write how the hand of `player` stands against one hand of any opponent, once there is a flop.

    out[at] is the share of hands that it beats now; then come its shares of the pot against any hand, and against the
    best, on the present board, of 2, 4 and MOST_HANDS of them. Arguments as for `equity`.
    """
    own_cards, own_key = cards_at(s.deck, 2 * player, 2)
    board_cards, board_key = cards_at(s.deck, 2 * np.int64(s.rules.num_players), BOARD_CARDS[s.street])
    own_now = rank_of(own_cards | board_cards, own_key + board_key)
    ahead, weight = 0.0, np.float32(1.0 / samples)
    for _ in range(samples):
        cards, key = _complete(board_cards, board_key, own_cards, NUM_BOARD - BOARD_CARDS[s.street], rng)
        used = own_cards | cards
        own_rank = rank_of(own_cards | cards, own_key + key)
        best, place, share = np.int64(-1), at + 1, np.float32(0.0)
        for number in range(1, MOST_HANDS + 1):
            pair = _draw_one(ALL_HANDS, used, rng)
            now = rank_of(_PAIR_CARDS[pair] | board_cards, _PAIR_KEYS[pair] + board_key)
            if number == 1:
                ahead += _share(own_now, now)
            if now > best:
                best = now
                share = _share(own_rank, rank_of(_PAIR_CARDS[pair] | cards, _PAIR_KEYS[pair] + key))
            if number & (number - 1) == 0:  # 1, 2, 4, 8
                out[place] += share * weight
                place += 1
    out[at] = ahead * weight


@kernel(inline=True)
def _complete(cards, key, own_cards, to_come, rng):
    """Return the bit set and the key of a board after `to_come` random cards that are not one's own."""
    for _ in range(to_come):
        card = random_below(rng, NUM_CARDS)
        while (own_cards | cards) >> card & 1:
            card = random_below(rng, NUM_CARDS)
        cards |= 1 << card
        key += KEYS[card]
    return cards, key


@kernel(inline=True)
def _share(own, other):
    """Return what a hand wins of a pot by its rank and that of another: 1, 0.5 or 0."""
    return np.float32(0.5) * np.float32(np.int64(own >= other) + np.int64(own > other))


@kernel(inline=True)
def cards_at(deck, first, number):
    """Return the bit set and the key of `number` cards of the deck, from index `first`."""
    cards, key = np.int64(0), np.int64(0)
    for k in range(first, first + number):
        cards |= 1 << np.int64(deck[k])
        key += KEYS[deck[k]]
    return cards, key


@kernel
def _draw(width, number, used, board_cards, board_key, rng):
    """Draw `number` pairs without `used` cards from a range; return the one that is best on the board."""
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
    """Draw a pair without `used` cards from a range; return its index in PAIRS."""
    size = width * NUM_PAIRS // ALL_HANDS
    for _ in range(_MOST_TRIES):
        pair = random_below(rng, size)
        if not _PAIR_CARDS[pair] & used:
            return pair
    pair = random_below(rng, NUM_PAIRS)
    while _PAIR_CARDS[pair] & used:
        pair = random_below(rng, NUM_PAIRS)
    return pair
