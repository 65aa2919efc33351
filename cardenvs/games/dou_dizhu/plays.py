"""All plays of Dou Dizhu: patterns, the table of ids, and the plays that a hand holds. Paragraph numbers are those of
rules.md.

A *pattern* is a main part, as many cards of each of some consecutive ranks, with a number of kickers. It has a *block*
of consecutive ids for each rank in which its main part may begin, with a row for each choice of kickers. The order of
ids is that of RLCard's table, which this module generates:

    0..27470    plays, by pattern, then block
    27471       pass
    27472..4    bids of 1, 2, 3
    27475...    plays that `ambiguous_kickers` and `rocket_kicker` add

A list of the plays of a hand takes from the table only blocks whose main part the hand holds.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.shared_data import shared_bytes, shared_words
from cardenvs.games.dou_dizhu.cards import (
    ACE,
    NUM_LINKED,
    NUM_RANKS,
    NUM_SUITED,
    ROCKET,
    contains,
    ranks_with,
)
from cardenvs.kits.cards import lowest_card

KINDS = (
    "solo", "pair", "trio", "trio with a solo", "trio with a pair", "solo chain", "pair chain", "trio chain",
    "trio chain with solos", "trio chain with pairs", "four with two solos", "four with two pairs", "bomb", "rocket",
)  # fmt: skip
(
    SOLO, PAIR, TRIO, TRIO_SOLO, TRIO_PAIR, SOLO_CHAIN, PAIR_CHAIN, TRIO_CHAIN, TRIO_CHAIN_SOLOS, TRIO_CHAIN_PAIRS,
    FOUR_SOLOS, FOUR_PAIRS, BOMB, ROCKET_KIND,
) = range(len(KINDS))  # fmt: skip
NUM_KINDS = len(KINDS)

# What a pattern needs, as a bit set: options (3.2 to 3.4)
FOUR_WITH_TWO, AMBIGUOUS, ROCKET_KICKER = 1, 2, 4


@dataclass(frozen=True)
class Pattern:
    """A pattern of plays.

    Attributes:
        kind: index in KINDS. A play is beaten by plays with the same kind and width, whatever their pattern (4.3).
        copies: cards of each rank of the main part.
        width: number of ranks of the main part.
        kickers: how many there are.
        kicker_copies: cards of each kicker, 1 or 2; 0 without kickers.
        needs: options that allow it, a bit set.
    """

    kind: int
    copies: int
    width: int = 1
    kickers: int = 0
    kicker_copies: int = 0
    needs: int = 0

    @property
    def starts(self) -> int:
        """In how many ranks the main part may begin, from the 3."""
        if self.width > 1:
            return NUM_LINKED - self.width + 1
        return NUM_RANKS if self.copies == 1 else NUM_SUITED if self.kind != ROCKET_KIND else 1


_PATTERNS = (
    Pattern(SOLO, 1),
    Pattern(PAIR, 2),
    Pattern(TRIO, 3),
    Pattern(TRIO_SOLO, 3, 1, 1, 1),
    Pattern(TRIO_PAIR, 3, 1, 1, 2),
    *(Pattern(SOLO_CHAIN, 1, width) for width in range(5, 13)),
    *(Pattern(PAIR_CHAIN, 2, width) for width in range(3, 11)),
    *(Pattern(TRIO_CHAIN, 3, width) for width in range(2, 7)),
    *(Pattern(TRIO_CHAIN_SOLOS, 3, width, width, 1) for width in range(2, 6)),
    *(Pattern(TRIO_CHAIN_PAIRS, 3, width, width, 2) for width in range(2, 5)),
    Pattern(FOUR_SOLOS, 4, 1, 2, 1, FOUR_WITH_TWO),
    Pattern(FOUR_PAIRS, 4, 1, 2, 2, FOUR_WITH_TWO),
    Pattern(BOMB, 4),
    Pattern(ROCKET_KIND, 0),
)
_EXTRA_PATTERNS = (
    *(Pattern(TRIO_CHAIN_SOLOS, 3, width, width, 1, AMBIGUOUS) for width in range(3, 6)),
    *(Pattern(TRIO_CHAIN_SOLOS, 3, width, width, 1, ROCKET_KICKER) for width in range(2, 6)),
    Pattern(TRIO_CHAIN_SOLOS, 3, 5, 5, 1, AMBIGUOUS | ROCKET_KICKER),
    Pattern(FOUR_SOLOS, 4, 1, 2, 1, FOUR_WITH_TWO | ROCKET_KICKER),
)
PATTERNS = _PATTERNS + _EXTRA_PATTERNS
NUM_PATTERNS = len(PATTERNS)
FIRST_EXTRA = len(_PATTERNS)  # pattern
BOMB_PATTERN, ROCKET_PATTERN = FIRST_EXTRA - 2, FIRST_EXTRA - 1


# ---------------------------------------------------------------------------------------------------------------
# The table


def _kickers(pattern: Pattern) -> tuple[np.ndarray, np.ndarray]:
    """Return the kickers of a pattern in RLCard's order, and which of them are both jokers, (rows,) bool.

    Kickers are places, (rows, kickers), among the ranks that are not in the main part.
    """
    jokers = NUM_RANKS - pattern.width - 2  # the place of the black joker; that of the red one follows
    if pattern.kicker_copies == 2:
        rows = list(itertools.combinations(range(jokers), pattern.kickers))
        return np.array(rows), np.zeros(len(rows), bool)
    rows = list(itertools.combinations_with_replacement(range(jokers + 2), pattern.kickers))
    rows.sort(key=lambda row: _order(row, jokers))
    kickers = np.array(rows)
    black, red = (kickers == jokers).sum(1), (kickers == jokers + 1).sum(1)
    is_four = (kickers[:, 3:] == kickers[:, : max(pattern.kickers - 3, 0)]).any(1)
    possible = (black < 2) & (red < 2) & ~is_four
    return kickers[possible], (black & red == 1)[possible]


def _order(row: tuple[int, ...], jokers: int) -> tuple[int, ...]:
    """Return the key by which RLCard orders solos as kickers; within a group, they ascend."""
    if len(row) == 3:  # three ranks; three of a kind; by the rank of a pair
        kinds = len(set(row))
        return (0, *row) if kinds == 3 else (1, *row) if kinds == 1 else (2, row[1], *row)
    if len(row) > 3:  # those with jokers first
        return row[-1] < jokers, *row
    return row


def _block(pattern: Pattern, start: int, kickers: np.ndarray, both_jokers: np.ndarray) -> np.ndarray:
    """Return the plays of a block, (rows,) sets of cards."""
    if pattern.kind == ROCKET_KIND:
        return np.array([ROCKET])
    main = sum(pattern.copies << 4 * rank for rank in range(start, start + pattern.width))
    if not pattern.kickers:
        return np.array([main])
    kept = both_jokers == bool(pattern.needs & ROCKET_KICKER)
    if pattern.kind == TRIO_CHAIN_SOLOS:
        kept &= _reads_longer(pattern, start, kickers) == bool(pattern.needs & AMBIGUOUS)
    ranks = kickers[kept]
    ranks = ranks + pattern.width * (ranks >= start)
    return main + (np.int64(pattern.kicker_copies) << 4 * ranks).sum(1)


def _reads_longer(pattern: Pattern, start: int, kickers: np.ndarray) -> np.ndarray:
    """Return which kickers have three of a kind next to the chain, (rows,) bool (3.4)."""
    below, above = (kickers == start - 1).sum(1) >= 3, (kickers == start).sum(1) >= 3
    return below | above & (start + pattern.width <= ACE)


def _table() -> tuple[list[int], list[np.ndarray]]:
    """Return the first id of each block, and the plays of all blocks."""
    firsts, blocks, number = [], [], 0
    kickers_of = {p: _kickers(p) for p in PATTERNS}
    for k, pattern in enumerate(PATTERNS):
        if k == FIRST_EXTRA:
            blocks.append(np.zeros(1 + NUM_BIDS, np.int64))  # pass and bids have no cards
            number += 1 + NUM_BIDS
        for start in range(pattern.starts):
            blocks.append(_block(pattern, start, *kickers_of[pattern]))
            firsts.append(number)
            number += len(blocks[-1])
    return [*firsts, number], blocks


NUM_BIDS = 3
_FIRSTS, _BLOCKS = _table()
PLAYS = np.concatenate(_BLOCKS)
"""The cards of each play by its id, as sets; 0 for pass and bids."""
NUM_IDS = len(PLAYS)
PASS = _FIRSTS[sum(pattern.starts for pattern in _PATTERNS)] - 1 - NUM_BIDS
BID_0 = PASS  # plus 1, 2 or 3
NUM_USUAL = BID_0 + NUM_BIDS + 1  # ids without those of options

# By pattern
_STARTS = np.array([pattern.starts for pattern in PATTERNS], np.int64)
_FIRST_BLOCK = np.concatenate([[0], np.cumsum(_STARTS)])[:-1]
_KIND = np.array([pattern.kind for pattern in PATTERNS], np.int64)
_COPIES = np.array([pattern.copies for pattern in PATTERNS], np.int64)
_WIDTH = np.array([pattern.width for pattern in PATTERNS], np.int64)
_KICKERS = np.array([pattern.kickers for pattern in PATTERNS], np.int64)
_NEEDS = np.array([pattern.needs for pattern in PATTERNS], np.int64)
# By block
_FIRST_ID = np.array(_FIRSTS, np.int64)
_ROWS = np.array([len(block) for block in _BLOCKS if block.any()], np.int64)  # pass and bids are no block of a pattern


def _places() -> np.ndarray:
    """Return pattern and start of each play, (ids, 2) uint8."""
    places = np.zeros((NUM_IDS, 2), np.uint8)
    for k, pattern in enumerate(PATTERNS):
        for start in range(pattern.starts):
            block = _FIRST_BLOCK[k] + start
            places[_FIRST_ID[block] : _FIRST_ID[block] + _ROWS[block]] = k, start
    return places


_PLACES = _places()
_place_at, _ = shared_bytes("dou_dizhu_places", _PLACES)
_cards_at, _ = shared_words("dou_dizhu_plays", PLAYS)


@kernel(inline=True)
def cards_of_play(action):
    """Return the cards of a play as a set."""
    return _cards_at(np.int64(action))


@kernel(inline=True)
def pattern_of(action):
    """Return the pattern of a play."""
    return _place_at(2 * np.int64(action))


@kernel(inline=True)
def start_of(action):
    """Return the lowest rank of a play's main part, by which it is compared with others (4.3)."""
    return _place_at(2 * np.int64(action) + 1)


@kernel(inline=True)
def kind_of(action):
    """Return the kind of a play."""
    return np.int64(_KIND[pattern_of(action)])


@kernel(inline=True)
def copies_of(action):
    """Return how many cards of each rank are in the main part of a play; 0 for the rocket."""
    return np.int64(_COPIES[pattern_of(action)])


@kernel(inline=True)
def width_of(action):
    """Return the number of ranks of a play's main part."""
    return np.int64(_WIDTH[pattern_of(action)])


def kinds_and_starts() -> tuple[np.ndarray, np.ndarray]:
    """Return the kind and the lowest rank of the main part of all plays, by id."""
    return _KIND[_PLACES[:, 0]], _PLACES[:, 1].astype(np.int64)


def pattern_for(action: int) -> Pattern:
    """Return the pattern of a play."""
    return PATTERNS[int(_PLACES[action, 0])]


def main_part(action: int) -> int:
    """Return the main part of a play as a set of cards."""
    pattern, start = pattern_for(action), int(_PLACES[action, 1])
    if pattern.kind == ROCKET_KIND:
        return ROCKET
    return sum(pattern.copies << 4 * rank for rank in range(start, start + pattern.width))


# ---------------------------------------------------------------------------------------------------------------
# The plays of a hand


def allowed_needs(rules):
    """Return which `needs` the options fulfil; of options, or of a record."""
    allowed = FOUR_WITH_TWO if rules.four_with_two else 0
    allowed |= AMBIGUOUS if rules.ambiguous_kickers else 0
    return allowed | (ROCKET_KICKER if rules.rocket_kicker else 0)


needs_allowed = kernel(allowed_needs, inline=True)


@kernel(inline=True)
def _is_allowed(pattern, allowed):
    return _NEEDS[pattern] & ~allowed == 0


@kernel(inline=True)
def is_allowed_play(action, allowed):
    """Return whether the options allow a play (4.1, 4.3, 4.4)."""
    return _is_allowed(pattern_of(action), allowed)


@kernel
def _list_pattern(pattern, lowest, hand, ranks, out, n):
    """Append the plays of a pattern in a hand that begin with rank `lowest` or a higher one, and return their number.

    `ranks` has, as a bit set, the ranks of which the hand holds enough cards for the main part.
    """
    starts = ranks
    if _WIDTH[pattern] > 1:
        starts &= (1 << NUM_LINKED) - 1
        for _ in range(1, _WIDTH[pattern]):
            starts &= starts >> 1
    elif _COPIES[pattern] > 1:
        starts &= (1 << NUM_SUITED) - 1
    starts &= -(np.int64(1) << lowest)
    while starts:
        block = _FIRST_BLOCK[pattern] + lowest_card(starts)
        starts &= starts - 1
        first, rows = _FIRST_ID[block], _ROWS[block]
        if _KICKERS[pattern] == 0:
            out[n] = first
            n += 1
        else:
            for action in range(first, first + rows):
                if contains(hand, _cards_at(action)):
                    out[n] = action
                    n += 1
    return n


@kernel
def list_leads(hand, allowed, out):
    """Write all plays in a hand, ascending, and return their number (4.2)."""
    n = 0
    ones, pairs = ranks_with(hand, 1), ranks_with(hand, 2)
    trios, fours = ranks_with(hand, 3), ranks_with(hand, 4)
    for pattern in range(NUM_PATTERNS):
        copies = _COPIES[pattern]
        ranks = ones if copies == 1 else pairs if copies == 2 else trios if copies == 3 else fours
        if pattern == ROCKET_PATTERN:
            if contains(hand, ROCKET):
                out[n] = PASS - 1
                n += 1
        elif ranks and _is_allowed(pattern, allowed):
            n = _list_pattern(pattern, 0, hand, ranks, out, n)
    return n


@kernel
def list_answers(hand, to_beat, allowed, out):
    """Write pass and the plays in a hand that beat a play, ascending, and return their number (4.2, 4.3)."""
    n = 0
    pattern, lowest = pattern_of(to_beat), start_of(to_beat) + 1
    kind, width, copies = _KIND[pattern], _WIDTH[pattern], _COPIES[pattern]
    if kind != ROCKET_KIND:
        fours = ranks_with(hand, 4)
        ranks = ranks_with(hand, copies)
        for other in range(BOMB_PATTERN):
            if _KIND[other] == kind and _WIDTH[other] == width and _is_allowed(other, allowed):
                n = _list_pattern(other, lowest, hand, ranks, out, n)
        if fours:
            n = _list_pattern(BOMB_PATTERN, lowest if kind == BOMB else np.int64(0), hand, fours, out, n)
        if contains(hand, ROCKET):
            out[n] = PASS - 1
            n += 1
        out[n] = PASS
        n += 1
        for other in range(FIRST_EXTRA, NUM_PATTERNS):
            if _KIND[other] == kind and _WIDTH[other] == width and _is_allowed(other, allowed):
                n = _list_pattern(other, lowest, hand, ranks, out, n)
        return n
    out[0] = PASS
    return 1


@kernel
def beats(action, to_beat):
    """Return whether a play beats another one (4.3)."""
    pattern, other = pattern_of(action), pattern_of(to_beat)
    kind, other_kind = _KIND[pattern], _KIND[other]
    if kind == other_kind and _WIDTH[pattern] == _WIDTH[other]:
        return start_of(action) > start_of(to_beat)
    return kind == ROCKET_KIND or (kind == BOMB and other_kind != ROCKET_KIND)
