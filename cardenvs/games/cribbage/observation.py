"""What a player of Cribbage observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.cribbage.state import MAX_SUM, ONE, PACK, PHASES, SHOW, STATE, in_count, seen_in_crib
from cardenvs.kits.matches import count_sides
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    per_side,
    written,
)

_NEWEST = 6  # cards before the next one that can be part of a run: the longest is A to 7
_MOST_POINTS = 127
_rank_of = PACK.rank_of
_NUM_RANKS = len(PACK.ranks)


@kernel(inline=True)
def _write_newest(s, p, out, at):
    """Write the ranks of the newest cards of the count, one-hot each."""
    for k in range(min(np.int64(s.num_played - s.count_start), _NEWEST)):
        out[np.uint64(at + _NUM_RANKS * k + _rank_of(s.sequence[s.num_played - 1 - k]))] = 1


@kernel(inline=True)
def _count_cards(s, p):
    return in_count(s)


@kernel(inline=True)
def _has_said_go(s, p):
    return s.goes >> p & 1


@kernel(inline=True)
def _shows(s, p):
    return s.show_step if s.phase == SHOW else -1


@kernel(inline=True)
def _goes_on(rules):
    return rules.deals != ONE


OBSERVATION = Observation(
    STATE,
    cards("hand", PACK.labels, "cards in the observer's hand", "hands"),
    cards("crib", PACK.labels, "cards in the crib that the observer has laid away, or all once they are shown",
          seen_in_crib),
    one_hot("starter", PACK.labels, "one-hot starter, zeros before the play", "starter"),
    per_seat(cards("played", PACK.labels, "cards played in this deal", "played")),
    cards("count", PACK.labels, "those of them in the present count", _count_cards),
    written("newest", [f"{k}:{rank}" for k in range(_NEWEST) for rank in PACK.ranks],
            "one-hot ranks of the last six cards of the count, newest first", _write_newest),
    one_hot("total", [str(k) for k in range(MAX_SUM + 1)], "one-hot count", "total"),
    one_hot("phase", PHASES, "one-hot phase", "phase"),
    one_seat("dealer", "the dealer", "dealer"),
    per_seat(number("go", "1 for each player who has said go in this count", _has_said_go)),
    per_seat(number("floor", "a player holds only cards that add more than this", "floors", high=10)),
    per_side(number("score", "points", "scores", clip=_MOST_POINTS), count_sides,
             "the observer's side first, then in turn"),
    *only(lambda options: options.muggins,
          one_hot("shown", ["0", "1", "2", "3", "4"], "one-hot number of hands counted in the show", _shows)),
    *only(lambda options: options.deals != "one",
          per_seat(cards("last_hand", PACK.labels, "hands of the deal before", "last_hands")),
          cards("last_crib", PACK.labels, "the crib of the deal before", "last_crib"),
          one_hot("last_starter", PACK.labels, "the starter of the deal before", "last_starter"),
          rules=_goes_on),
)  # fmt: skip
