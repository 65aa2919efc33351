"""What cards to lay away: the exact expectation of the hand that is kept, and of the crib.

All cards that are not seen are equally likely to be the starter, or in the crib. Of a hand, the starter is unknown;
of the crib, it is the *rest*: the starter and two or three cards more. Fifteens, pairs and runs depend on ranks only,
so their mean is a sum over the ranks of the rest, each with the chance to draw it; flushes and nobs are added by
themselves.
"""

import itertools

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.cribbage.counting import SUIT_JACKS, rank_points
from cardenvs.games.cribbage.state import FOUR, LAID_EACH, PACK, SUIT_SETS
from cardenvs.games.cribbage.worlds import hidden_cards
from cardenvs.kits.cards import RANKS, count_bits, lowest_card
from cardenvs.kits.matches import num_sides, side_of

_NUM_RANKS = len(RANKS)
_rank_of = PACK.rank_of


def _rests(size):
    """Return the ranks of all rests of some cards: int8 (rests, size), each ascending."""
    return np.array(list(itertools.combinations_with_replacement(range(_NUM_RANKS), size)), np.int8)


def _points_of_ranks(own, rests):
    """Return int8 (own, rests): the points of fifteens, pairs and runs of five cards, by ranks laid and the rest."""
    number, shape = own.shape[1], (len(own), len(rests))
    columns = [np.broadcast_to(own[:, k, None], shape) for k in range(number)]
    columns += [np.broadcast_to(rests[None, :, k], shape) for k in range(5 - number)]
    values = [np.minimum(column + 1, 10) for column in columns]
    points = np.zeros(shape, np.int8)
    for size in range(2, 6):
        for chosen in itertools.combinations(range(5), size):
            points += 2 * (sum(values[k] for k in chosen) == 15)
    for one, other in itertools.combinations(columns, 2):
        points += 2 * (one == other)
    copies = [sum((column == rank).astype(np.int8) for column in columns) for rank in range(_NUM_RANKS)]
    for first in range(_NUM_RANKS):
        ways, before = np.ones(shape, np.int8), copies[first - 1] if first else np.zeros(shape, np.int8)
        for length in range(1, 6):
            last = first + length - 1
            if last >= _NUM_RANKS:
                break
            ways = ways * copies[last]
            after = copies[last + 1] if last + 1 < _NUM_RANKS else np.zeros(shape, np.int8)
            if length >= 3:
                points += (length * ways * ((before == 0) & (after == 0))).astype(np.int8)
    return points


RESTS = {3: _rests(3), 4: _rests(4)}  # by size
_THREE, _FOUR = RESTS[3], RESTS[4]
_PAIRS = np.array(list(itertools.product(range(_NUM_RANKS), repeat=2)), np.int8)  # row 13 a + b for ranks a and b
_AFTER_TWO = _points_of_ranks(_PAIRS, _THREE)
_AFTER_ONE = _points_of_ranks(np.arange(_NUM_RANKS, dtype=np.int8)[:, None], _FOUR)

# What is not seen: in all, by suit and by rank; and in how many ways each rest can be drawn, as a share of all.
UNSEEN = packed(
    [
        ("cards", "i8"),
        ("number", "i8"),
        ("suits", "i8", (4,)),
        ("ranks", "i8", (_NUM_RANKS,)),
        ("examples", "i8", (_NUM_RANKS,)),  # a card of the rank, as a bit set
        ("shares", "f8", (len(_FOUR),)),
    ]
)
new_unseen = stack_record(UNSEEN)
new_means = stack_record(packed([("best", "f8", (PACK.size,))]))  # by card
_WORST = -1e9


@kernel
def note_unseen(u, cards):
    """Fill an UNSEEN but for its shares, from the bit set of cards that are not seen."""
    u.cards, u.number = cards, count_bits(cards)
    for suit in range(4):
        u.suits[suit] = count_bits(cards & SUIT_SETS[suit])
    for rank in range(_NUM_RANKS):
        u.ranks[rank] = u.examples[rank] = 0
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        u.ranks[_rank_of(card)] += 1
        u.examples[_rank_of(card)] = np.int64(1) << card


@kernel
def note_shares(u, rests):
    """Fill the shares: the chance that each of `rests` is drawn."""
    size = rests.shape[1]
    total = 1.0
    for k in range(size):
        total *= (u.number - k) / (k + 1)
    for j in range(rests.shape[0]):
        ways, copies = 1.0, 0
        for k in range(size):
            rank = np.int64(rests[j, k])
            copies = copies + 1 if k and rests[j, k - 1] == rank else 1
            ways *= max(u.ranks[rank] - copies + 1, 0) / copies
        u.shares[j] = ways / total


@kernel
def mean_of_hand(u, hand):
    """Return the mean points of a hand of four over all starters."""
    total = 0.0
    for rank in range(_NUM_RANKS):
        if u.ranks[rank]:
            total += u.ranks[rank] * rank_points(hand | u.examples[rank])
    for suit in range(4):
        if hand >> SUIT_JACKS[suit] & 1:
            total += u.suits[suit]
        if hand & ~SUIT_SETS[suit] == 0:
            total += 4 * u.number + u.suits[suit]
    return total / u.number


@kernel
def mean_of_crib(u, laid, points, row, rests, crib_flush):
    """Return the mean points of the crib over all rests.

    Args:
        u: an UNSEEN with shares.
        laid: bit set of the cards that are laid away.
        points, row, rests: the table, the row for their ranks, and the rests.
        crib_flush: the option in a record.
    """
    mean, size = 0.0, rests.shape[1]
    for j in range(rests.shape[0]):
        mean += u.shares[j] * points[row, j]
    for suit in range(4):
        number = u.suits[suit]
        jack = np.int64(1) << SUIT_JACKS[suit]
        if laid & jack:
            mean += number / u.number
        elif u.cards & jack:  # another card of the suit is the starter, and the jack is in the crib
            mean += (number - 1) / u.number * (size - 1) / (u.number - 1)
        if laid & ~SUIT_SETS[suit] == 0:
            in_crib = 1.0
            for k in range(size - 1):
                in_crib *= max(number - k, 0) / (u.number - k)
            starter = max(number - size + 1, 0) / (u.number - size + 1)
            mean += 5 * in_crib * starter
            if crib_flush == FOUR:
                mean += 4 * in_crib * (1 - starter)
    return mean


@kernel
def mean_of_laying(s, u, player, laid):
    """Return the mean points for the side of `player`, less those of the others' crib, if the cards `laid` go there.

    Args:
        s: the record, in which `player` has laid away some of these cards.
        u: an UNSEEN with shares.
        player: the player.
        laid: bit set of one or two cards, as many as there are to lay away.
    """
    hand = (s.hands[player] | s.laid[player]) & ~laid
    first = _rank_of(lowest_card(laid))
    rest = laid & (laid - 1)
    if rest:
        row = _NUM_RANKS * first + _rank_of(lowest_card(rest))
        crib = mean_of_crib(u, laid, _AFTER_TWO, row, _THREE, s.rules.crib_flush)
    else:
        crib = mean_of_crib(u, laid, _AFTER_ONE, first, _FOUR, s.rules.crib_flush)
    sides = num_sides(s)
    is_own = side_of(player, sides) == side_of(np.int64(s.dealer), sides)
    return mean_of_hand(u, hand) + (crib if is_own else -crib / (sides - 1))


@kernel
def note_means(s, player, m):
    """Write to m.best, for each card in hand, the mean if it is laid away now, with the best other one if two go."""
    u = new_unseen()
    note_unseen(u, hidden_cards(s, player))
    is_pair = LAID_EACH[s.rules.num_players] == 2
    if is_pair:
        note_shares(u, _THREE)
    else:
        note_shares(u, _FOUR)
    hand = left = s.hands[player]
    while left:
        m.best[lowest_card(left)] = _WORST
        left &= left - 1
    left = hand
    while left:
        card = left & -left
        left ^= card
        if is_pair and s.laid[player] == 0:
            others = left
            while others:
                other = others & -others
                others ^= other
                mean = mean_of_laying(s, u, player, card | other)
                m.best[lowest_card(card)] = max(m.best[lowest_card(card)], mean)
                m.best[lowest_card(other)] = max(m.best[lowest_card(other)], mean)
        else:
            m.best[lowest_card(card)] = mean_of_laying(s, u, player, card | s.laid[player])


@kernel
def best_to_lay(s, player):
    """Return the card to lay away now: of the best two, or the best with the one that is away, or the best one."""
    m = new_means()
    note_means(s, player, m)
    best, left = lowest_card(s.hands[player]), s.hands[player]
    while left:
        card = lowest_card(left)
        left &= left - 1
        if m.best[card] > m.best[best]:
            best = card
    return best
