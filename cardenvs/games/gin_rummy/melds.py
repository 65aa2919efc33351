"""Melds of gin rummy: deadwood, knocks, arrangements and lay-offs, over bit sets of cards (rules.md 1 and 4).

A bit set is an int64; bit suit * 13 + rank is a card, suits s c d h, rank 0 the ace (low only) to 12 the king.
A meld is the bit set of its cards.

Why this is short and fast: once the sets are chosen, the runs are determined. Every stretch of three or more
neighbouring cards of a suit can be melded whole, and since each card counts at least one point, it is best to do so. An
arrangement is therefore a choice of sets, and only ranks whose cards could also be in a run leave a choice.
"""

import numpy as np

from cardenvs.core.kernel import kernel

NUM_RANKS = 13
NUM_SUITS = 4
MAX_CARD_POINTS = 10
MAX_MELDS = 3  # eleven cards: 3 melds * 3 cards = 9, a fourth would need 12

_SUIT = (1 << NUM_RANKS) - 1  # all ranks of one suit
_COLUMN = sum(1 << NUM_RANKS * suit for suit in range(NUM_SUITS))  # all suits of one rank; times a set of ranks
_ALL_RANKS = _COLUMN * _SUIT
_ACES = _COLUMN
_QUEENS = _COLUMN << 11
_KINGS = _COLUMN << 12
_RUN_STARTS = _COLUMN * (_SUIT >> 2)  # a run starts at the ace to the jack: Q-K-A is not a run (rules.md 1.2)
_MORE_THAN_ANY_HAND = 1 << 20  # above every key that is minimised below


def _suit_points() -> np.ndarray:
    """Return the points of each of the 8,192 holdings in a suit. int16: 16 KB, which fit the first-level cache."""
    held = np.arange(1 << NUM_RANKS)[:, None] >> np.arange(NUM_RANKS) & 1
    return (held @ np.minimum(np.arange(1, NUM_RANKS + 1), MAX_CARD_POINTS)).astype(np.int16)


def _all_melds() -> np.ndarray:
    sets = []
    for rank in range(NUM_RANKS):
        four = _COLUMN << rank
        sets += [four ^ 1 << NUM_RANKS * suit + rank for suit in range(NUM_SUITS)] + [four]
    runs = [
        ((1 << length) - 1) << NUM_RANKS * suit + low
        for length in range(3, NUM_RANKS + 1)
        for suit in range(NUM_SUITS)
        for low in range(NUM_RANKS - length + 1)
    ]
    return np.array(sets + runs, dtype=np.int64)


_SUIT_POINTS = _suit_points()

MELDS = _all_melds()
"""Every meld, int64 of shape (329,); a meld's id is its index.

    0..64     sets: rank * 5 + k, k = 0..3 the three without suit k, k = 4 all four
    65..328   runs, by length (3 to 13), then suit, then lowest rank

The first 185 (sets, and runs of 3, 4 and 5 cards) are OpenSpiel's melds in OpenSpiel's order.
"""

# ---------------------------------------------------------------------------------------------------------------
# Deadwood


@kernel
def hand_points(hand):
    """Count the points of the cards in `hand`: ace 1, deuce to nine their pips, ten to king 10 (rules.md 1.1)."""
    return (
        int(_SUIT_POINTS[hand & _SUIT])
        + int(_SUIT_POINTS[hand >> 13 & _SUIT])
        + int(_SUIT_POINTS[hand >> 26 & _SUIT])
        + int(_SUIT_POINTS[hand >> 39 & _SUIT])
    )


@kernel
def highest_points(cards):
    """Return the points of the highest of `cards`, or 0 if there are none."""
    ranks = _ranks(cards)
    if ranks == 0:
        return 0
    highest = (np.float64(ranks).view(np.int64) >> 52) - 1023  # the exponent is the number of the highest bit
    return min(highest + 1, MAX_CARD_POINTS)


@kernel
def cards_up_to(points):
    """Return the cards of at most `points` points, as a bit set; none if that is below 1."""
    if points >= MAX_CARD_POINTS:
        return _ALL_RANKS
    return _COLUMN * ((1 << max(0, points)) - 1)


@kernel
def min_deadwood(hand):
    """Count the deadwood of `hand` under the melds that leave least (rules.md 1.4).

    Exact for any hand; quick for up to some 14 cards, as it tries all sets of the ranks that could also be in runs.
    """
    return hand_points(hand ^ best_melded(hand))


@kernel
def best_melded(hand):
    """Find the melded cards in the arrangement of `hand` that `arrangement` lays, as a bit set."""
    sets = _best_sets(hand)
    return sets | _run_cards(hand ^ sets)


@kernel
def meldable(hand):
    """Find the cards of `hand` that are in at least one possible meld of it, as a bit set."""
    return _set_cards(hand) | _run_cards(hand)


@kernel
def meld_outs(hand):
    """Find the cards outside `hand` that would be in a meld with cards of it, as a bit set."""
    pairs = hand & hand >> 1 & ~_KINGS
    split_pairs = hand & hand >> 2 & _RUN_STARTS
    run_outs = (pairs & ~_QUEENS) << 2 | (pairs & ~_ACES) >> 1 | split_pairs << 1
    spades, clubs, diamonds, hearts = hand & _SUIT, hand >> 13 & _SUIT, hand >> 26 & _SUIT, hand >> 39
    paired_ranks = spades & clubs | (spades | clubs) & (diamonds | hearts) | diamonds & hearts
    return (run_outs | paired_ranks * _COLUMN) & ~hand


@kernel
def related(cards):
    """Find the cards of the same rank as one of `cards`, or next to one in its suit, as a bit set."""
    return _ranks(cards) * _COLUMN | _neighbours(cards)


@kernel
def min_deadwood_after_discard(hand):
    """Count the least deadwood that one discard from `hand` can leave. `hand` must not be empty.

    With given sets it is best to meld whole runs and to discard the highest loose card, if there is one.
    """
    contested = _contested_ranks(hand)
    num_choices = _num_set_choices(hand, contested)
    least = _MORE_THAN_ANY_HAND
    for choice in range(num_choices):
        rest = hand ^ _chosen_sets(hand, contested, num_choices, choice)
        loose = rest ^ _run_cards(rest)
        if loose == 0:
            return _min_deadwood_without_a_melded_card(hand)
        least = min(least, hand_points(loose) - highest_points(loose))
    return least


@kernel
def _min_deadwood_without_a_melded_card(hand):
    """Count the least deadwood after a discard from a hand of which all cards can be melded."""
    least = _MORE_THAN_ANY_HAND
    cards = hand
    while cards:
        least = min(least, min_deadwood(hand ^ cards & -cards))
        cards &= cards - 1
    return least


@kernel
def knock_discards(hand, limit, forbidden):
    """Find the cards that may be discarded with a knock (rules.md 4.1), as a bit set.

    Args:
        hand: int64 bit set, the eleven cards held after drawing.
        limit: int, the most deadwood that a knock allows.
        forbidden: int64 bit set of cards that may not be discarded now, such as the upcard just taken.

    Returns:
        The cards c of `hand` outside `forbidden` with min_deadwood(hand without c) <= limit.

    Discarding c lowers the least deadwood by at most the points of c, because every arrangement of the rest is also
    possible with c loose. If c is loose in a best arrangement, it lowers it by exactly that.
    """
    loose = hand ^ best_melded(hand)
    deadwood = hand_points(loose)
    found = 0
    rest = hand & ~forbidden if deadwood - MAX_CARD_POINTS <= limit else 0
    while rest:
        card = rest & -rest
        rest ^= card
        if deadwood - hand_points(card) <= limit and (card & loose or min_deadwood(hand ^ card) <= limit):
            found |= card
    return found


@kernel
def _run_cards(cards):
    """Return the cards in stretches of three or more neighbours of a suit."""
    starts = cards & cards >> 1 & cards >> 2 & _RUN_STARTS
    return starts | starts << 1 | starts << 2


@kernel
def _set_cards(cards):
    """Return the cards of ranks held three or four times."""
    return cards & _set_ranks(cards) * _COLUMN


@kernel
def _set_ranks(cards):
    """Return the ranks held three or four times, as 13 bits."""
    spades, clubs, diamonds, hearts = cards & _SUIT, cards >> 13 & _SUIT, cards >> 26 & _SUIT, cards >> 39
    return spades & clubs & (diamonds | hearts) | diamonds & hearts & (spades | clubs)


@kernel
def _ranks(cards):
    """Return the ranks in `cards`, as 13 bits."""
    return (cards | cards >> 13 | cards >> 26 | cards >> 39) & _SUIT


# ---------------------------------------------------------------------------------------------------------------
# The choice of sets. Ranks held three or four times are *contested* if one of their cards could be in a run.
# Sets of the other ranks are laid whole in every best arrangement.


@kernel
def _best_sets(hand):
    """Return the cards of the sets in the best arrangement; ties go to the first in the order of _chosen_sets."""
    sets = _set_cards(hand)
    if sets == 0:
        return sets
    contested = _contested_ranks(hand)
    if contested == 0:
        return sets
    num_choices = _num_set_choices(hand, contested)
    best = sets
    least = _MORE_THAN_ANY_HAND
    for choice in range(num_choices):
        chosen = _chosen_sets(hand, contested, num_choices, choice)
        deadwood = _deadwood_with_sets(hand, chosen)
        if deadwood < least:
            best, least = chosen, deadwood
    return best


@kernel
def _contested_ranks(hand):
    return _set_ranks(hand) & _ranks(_run_cards(hand))


@kernel
def _deadwood_with_sets(hand, sets):
    """Return the deadwood if the cards `sets` are melded as sets and the rest in runs as well as possible."""
    rest = hand ^ sets
    return hand_points(rest ^ _run_cards(rest))


@kernel
def _num_set_choices(hand, contested):
    """Return the number of choices of sets: 6 for a contested rank held four times, 2 for one held three times."""
    num_choices = 1
    while contested:
        rank = contested & -contested
        contested ^= rank
        num_choices *= _num_set_options(hand, rank)
    return num_choices


@kernel
def _num_set_options(hand, rank):
    return 2 if _COLUMN * rank & ~hand else 6


@kernel
def _chosen_sets(hand, contested, num_choices, choice):
    """Return the cards of the sets in one of the choices 0..num_choices-1.

    The options of a rank are its sets in the order of their ids, then none. The option of the lowest rank changes
    last. So of two choices with the same deadwood, the lower one has the lower meld ids, compared in sorted order.
    (The ids of runs never decide, since the sets determine the runs.)
    """
    sets = hand & (_set_ranks(hand) & ~contested) * _COLUMN
    while contested:
        rank = contested & -contested
        contested ^= rank
        num_options = _num_set_options(hand, rank)
        num_choices = num_choices // 6 if num_options == 6 else num_choices // 2  # twice as fast as by a variable
        option = choice // num_choices if contested else choice
        choice -= option * num_choices
        if num_options == 6 and option < 4:
            sets |= rank * _COLUMN ^ rank << NUM_RANKS * option
        elif option < num_options - 1:
            sets |= hand & rank * _COLUMN
    return sets


# ---------------------------------------------------------------------------------------------------------------
# Arrangements


@kernel
def arrangement(hand, out):
    """Lay the best arrangement of `hand`: least deadwood, then the lowest meld ids.

    Args:
        hand: int64 bit set.
        out: int64 array with an entry for each three cards of `hand` (MAX_MELDS for up to eleven), overwritten:
            the melds, sets by rank, then runs by suit and rank, then zeros. Neighbouring cards form one run,
            however long: a run of seven is not split into three and four.

    Returns:
        The number of melds.
    """
    return _lay(hand, _best_sets(hand), out)


@kernel
def knocker_arrangement(hand, seen_mask, out):
    """Lay the knocker's melds (rules.md 4.4): least deadwood, then fewest open points, then the lowest meld ids.

    Args:
        hand: int64 bit set, the ten cards left after the discard.
        seen_mask: int64 bit set of the cards that the knocker knows cannot be laid off: `hand` and the discard pile,
            including the discard of the knock. The cards that the defender really holds must not matter.
        out: int64 array of MAX_MELDS, overwritten as by `arrangement`.

    Returns:
        The number of melds.

    The *open points* are the points of all cards outside `seen_mask` that could be laid off if the defender held
    them all: the fourth card of each set of three, and the cards beyond each end of each run, up to but not including
    the first card in `seen_mask`. A card that fits on two melds counts once.
    """
    contested = _contested_ranks(hand)
    num_choices = _num_set_choices(hand, contested)
    best = 0
    least = _MORE_THAN_ANY_HAND
    for choice in range(num_choices):
        sets = _chosen_sets(hand, contested, num_choices, choice)
        num_melds = _lay(hand, sets, out)
        key = _deadwood_with_sets(hand, sets) * 1000 + open_points(out, num_melds, seen_mask)  # 340 in the whole deck
        if key < least:
            best, least = sets, key
    return _lay(hand, best, out)


@kernel
def open_points(melds, num_melds, seen_mask):
    """Count the open points of the first `num_melds` of `melds`, as defined at `knocker_arrangement`."""
    return hand_points(_reach(melds, num_melds, ~seen_mask))


@kernel
def _lay(hand, sets, out):
    """Write the melds when the cards `sets` are laid as sets and the rest in runs; return their number."""
    out[:] = 0
    num_melds = 0
    ranks = _ranks(sets)
    while ranks:
        rank = ranks & -ranks
        ranks ^= rank
        out[num_melds] = sets & rank * _COLUMN
        num_melds += 1
    runs = _run_cards(hand ^ sets)
    while runs:
        lowest = runs & -runs
        out[num_melds] = lowest | layoffs(lowest, runs)
        runs ^= out[num_melds]
        num_melds += 1
    return num_melds


# ---------------------------------------------------------------------------------------------------------------
# Lay-offs


@kernel
def is_set(meld):
    """Return whether `meld` is a set rather than a run: it has no neighbouring cards."""
    return meld & meld >> 1 == 0


@kernel
def next_layoffs(meld):
    """Find the cards that can be laid off on `meld` next: the fourth of a set, or those beside a run's ends."""
    if is_set(meld):
        return _ranks(meld) * _COLUMN ^ meld
    return _neighbours(meld)


@kernel
def layoffs(run, available):
    """Find the cards of `available` that extend `run`, or a single card, at either end without a gap."""
    grown = run
    more = _neighbours(grown) & available
    while more:
        grown |= more
        more = _neighbours(grown) & available
    return grown ^ run


@kernel
def lay_off(cards, melds, num_melds, laid_off):
    """Lay off all of `cards` that fit on `melds`, on runs before sets and on earlier melds before later ones.

    Args:
        cards: int64 bit set.
        melds: int64 array, the knocker's melds.
        num_melds: int, their number.
        laid_off: int64 array as long as `melds`, overwritten: the cards laid off on each meld, zeros after the last.

    Returns:
        The cards that could not be laid off. If any way of laying off places all `cards`, this one does: a card that
        goes to a run instead of a set is needed nowhere else, and it may let the run take more cards.
    """
    laid_off[:] = 0
    for i in range(num_melds):
        if not is_set(melds[i]):
            laid_off[i] = layoffs(melds[i], cards)
            cards ^= laid_off[i]
    for i in range(num_melds):
        if is_set(melds[i]):
            laid_off[i] = next_layoffs(melds[i]) & cards
            cards ^= laid_off[i]
    return cards


@kernel
def best_defence(hand, melds, num_melds, laid_off, own_melds):
    """Find the defender's melds and lay-offs that leave the least deadwood (rules.md 4.7).

    Args:
        hand: int64 bit set, the defender's cards.
        melds: int64 array, the knocker's melds as laid.
        num_melds: int, their number; 0 against gin and big gin, where nothing may be laid off.
        laid_off: int64 array as long as `melds`, overwritten: the cards laid off on each meld.
        own_melds: int64 array of MAX_MELDS, overwritten: the defender's melds, as by `arrangement`.

    Returns:
        The deadwood left.

    Exact: it tries all sets of cards that might be laid off. Ties in deadwood go to the lowest bit set, so no card is
    laid off needlessly. The cards go where `lay_off` puts them.
    """
    cards = best_layoffs(hand, melds, num_melds)
    lay_off(cards, melds, num_melds, laid_off)
    arrangement(hand ^ cards, own_melds)
    return min_deadwood(hand ^ cards)


@kernel
def best_layoffs(hand, melds, num_melds):
    """Find the cards of `hand` that the best defence lays off (see `best_defence`), as a bit set."""
    candidates = _reach(melds, num_melds, hand)
    best = 0
    least = _MORE_THAN_ANY_HAND
    cards = 0
    while True:
        if _left_over(cards, melds, num_melds) == 0:
            deadwood = min_deadwood(hand ^ cards)
            if deadwood < least:
                best, least = cards, deadwood
        cards = (cards - candidates) & candidates  # the next subset in ascending order; 0 after the last
        if cards == 0:
            break
    return best


@kernel
def _left_over(cards, melds, num_melds):
    """Return those of `cards` that `lay_off` cannot lay off."""
    for i in range(num_melds):
        if not is_set(melds[i]):
            cards ^= layoffs(melds[i], cards)
    for i in range(num_melds):
        if is_set(melds[i]):
            cards &= ~next_layoffs(melds[i])
    return cards


@kernel
def _reach(melds, num_melds, available):
    """Return the cards of `available` that fit on any of the melds, if each meld could use all of them."""
    cards = 0
    for i in range(num_melds):
        cards |= next_layoffs(melds[i]) & available if is_set(melds[i]) else layoffs(melds[i], available)
    return cards


@kernel
def _neighbours(run):
    """Return the cards below and above a run, or beside a single card; none below an ace or above a king."""
    return ((run & ~_KINGS) << 1 | (run & ~_ACES) >> 1) & ~run
