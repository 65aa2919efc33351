"""The par of a deal: what both sides get if they bid as if they saw all cards."""

import functools
from dataclasses import dataclass

import numpy as np

from cardenvs.games.bridge.scoring import duplicate_score
from cardenvs.games.bridge.state import BID_0, NUM_BIDS, NUM_DENOMINATIONS, NUM_PLAYERS, SEATS, call_label


@dataclass(frozen=True)
class Par:
    """A par result.

    Attributes:
        score: points of North and South.
        bid: 0..34, or None if all pass.
        doubled: 0 or 1; a contract that fails is doubled.
        declarer: player, or -1.
        tricks: of declarer's side, or 0.
    """

    score: int
    bid: int | None = None
    doubled: int = 0
    declarer: int = -1
    tricks: int = 0

    def __str__(self) -> str:
        """As people write it: "4Sx by W, 9 tricks, +100"."""
        if self.bid is None:
            return "passed out, 0"
        contract = call_label(BID_0 + self.bid) + "x" * self.doubled
        return f"{contract} by {SEATS[self.declarer]}, {self.tricks} tricks, {self.score:+d}"


def par_of(table: np.ndarray, dealer: int, vulnerable: int) -> Par:
    """Return the par result.

    Each side in turn, dealer's first, leaves the last bid or makes a higher one; a contract that fails is doubled. The
    result is the minimax of this auction, the lowest contract where several are as good.

    Args:
        table: (5, 4) tricks by denomination and declarer, as from `double_dummy.tables`.
        dealer: 0..3.
        vulnerable: bit set of sides, 1 for North and South, 2 for East and West.
    """

    @functools.cache
    def stays(bid: int, side: int) -> Par:
        """Return the result of the best declarer of a side in a contract."""
        results = []
        for declarer in range(side, NUM_PLAYERS, 2):
            tricks = int(table[bid % NUM_DENOMINATIONS, declarer])
            doubled = int(tricks < 7 + bid // NUM_DENOMINATIONS)
            points = int(duplicate_score(bid, doubled, vulnerable >> side & 1, tricks))
            results.append(Par(-points if side else points, bid, doubled, declarer, tricks))
        return _best(results, side)

    @functools.cache
    def after(bid: int, side: int) -> Par:
        """Return the result if a side has just made a bid: the other leaves it or bids higher."""
        return _best([stays(bid, side), *(after(higher, 1 - side) for higher in range(bid + 1, NUM_BIDS))], 1 - side)

    first = dealer & 1
    passed = _best([Par(0), *(after(bid, 1 - first) for bid in range(NUM_BIDS))], 1 - first)
    return _best([passed, *(after(bid, first) for bid in range(NUM_BIDS))], first)


def _best(results: list[Par], side: int) -> Par:
    """Return the first of the results that are best for a side."""
    return max(results, key=lambda one: -one.score if side else one.score)
