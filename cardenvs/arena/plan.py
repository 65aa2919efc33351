"""What is left to play, deal by deal, and when enough has been played.

A `Plan` hands out games and is told of each that is over. Where a match may stop early it hands out no deal beyond the
next look; a look comes when all deals before it are complete, and depends on them alone. So which games a match
consists of does not depend on who plays them, in which order, or on how often the run was interrupted.
"""

import math
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from cardenvs.arena.match import Match
from cardenvs.arena.statistics import Intervals, Tally, t_quantile
from cardenvs.arena.store import GameRecord
from cardenvs.core.errors import ArenaError

_BLOCK = 8  # deals, at most, that are played in one lineup before they come in the next
_LOOK_GROWTH = 1.25  # each look comes after so many times the deals of the last one

Job = tuple[int, int]  # (deal, lineup)


@dataclass(frozen=True)
class Stop:
    """When enough has been played: when every interval reaches no further than `half_width` from its middle.

    The rule looks at widths, never at who is ahead, so stopping by it favours nobody.

    Attributes:
        half_width: in the unit in which the game tells results.
        of: the intervals of which figures: the agents' means, or the differences of pairs.
        min_deals: deals before the first look; later looks come after a quarter more deals each.
        intervals: how the intervals are worked out.
    """

    half_width: float
    of: Literal["means", "differences"] = "differences"
    min_deals: int = 100
    intervals: Intervals = "bootstrap"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not self.half_width > 0 or self.min_deals < 2:
            raise ArenaError(
                f"an early stop needs a half-width above 0 and at least 2 deals; got {self.half_width} and "
                f"{self.min_deals}"
            )

    def is_met(self, tally: Tally) -> bool:
        """Whether the figures of the deals in `tally` are as certain as wanted."""
        if self.of == "means":
            found = [standing.mean for standing in tally.standings(self.intervals)]
        else:
            found = list(tally.differences(self.intervals).values())
        return all((estimate.high - estimate.low) / 2 <= self.half_width for estimate in found)

    def look_after(self, deals: int) -> int:
        """How many deals the next look needs, after one at `deals` (0: none yet)."""
        return max(self.min_deals, math.ceil(deals * _LOOK_GROWTH))


class Plan:
    """The games of some matches that are left to play."""

    def __init__(
        self,
        matches: Sequence[Match],
        done: Sequence[Iterable[GameRecord]],
        stop: Stop | None = None,
        seconds: float | None = None,
    ) -> None:
        """Plan `matches`.

        Args:
            matches: what is to be played.
            done: the finished games of each.
            stop: when to stop a match early.
            seconds: hand out nothing after so long.
        """
        self._courses = [_Course(match, records, stop) for match, records in zip(matches, done, strict=True)]
        self._started = time.monotonic()
        self._deadline = math.inf if seconds is None else self._started + seconds
        self._played = 0
        self.out_of_time = False

    def take(self, most: int) -> tuple[int, list[Job]] | None:
        """Up to `most` games of one match: its number and the games. None: nothing now."""
        if self.check_time():
            return None
        for number, course in enumerate(self._courses):
            jobs = course.take(most)
            if jobs:
                return number, jobs
        return None

    def take_of(self, number: int, most: int) -> list[Job]:
        """Up to `most` games of match `number`."""
        return [] if self.check_time() else self._courses[number].take(most)

    def check_time(self) -> bool:
        """Whether time is up. Once it is, nothing is handed out any more."""
        self.out_of_time = self.out_of_time or time.monotonic() >= self._deadline
        return self.out_of_time

    def finished(self, number: int, record: GameRecord) -> None:
        """A game of match `number` is over."""
        self._played += 1
        self._courses[number].finished(record)

    @property
    def pace(self) -> float:
        """Games finished a second, so far."""
        return self._played / max(1e-9, time.monotonic() - self._started)

    @property
    def is_over(self) -> bool:
        """Whether nothing will be handed out any more, whatever is still to finish."""
        return self.out_of_time or all(course.is_over for course in self._courses)

    @property
    def left(self) -> int:
        """Games that can be taken now."""
        return sum(course.left for course in self._courses)

    @property
    def games_done(self) -> int:
        """Finished games, earlier runs included."""
        return sum(course.games_done for course in self._courses)

    @property
    def num_games(self) -> int:
        """Games in all, as far as is known: less once a match has stopped early."""
        return sum(course.num_games for course in self._courses)


def _in_blocks(deals: range, lineups: int) -> Iterator[Job]:
    """All games of these deals: a block of deals in one lineup, then in the next, each time in another order.

    So the games of one deal are far apart, and an agent that keeps something from game to game cannot tell from their
    order which deal comes back.
    """
    blocks = -(-len(deals) // _BLOCK)
    for k in range(blocks):
        block = list(deals[k * len(deals) // blocks : (k + 1) * len(deals) // blocks])
        for lineup in range(lineups):
            yield from ((deal, lineup) for deal in block)
            last = block[-1]
            secrets.SystemRandom().shuffle(block)
            if block[0] == last:
                block[0], block[-1] = block[-1], block[0]


class _Course:
    """One match under way."""

    def __init__(self, match: Match, done: Iterable[GameRecord], stop: Stop | None) -> None:
        self._match, self._stop = match, stop
        self._lineups = len(match.lineups)
        self._end = match.deals  # no deal from here on will be played
        self._open = match.deals if stop is None else min(match.deals, stop.look_after(0))  # nor yet from here on
        self._queued = 0  # deals before this one have been put into the queue
        self._complete = 0  # all deals before this one are
        self._begun: dict[int, set[int]] = {}  # the finished lineups of deals
        self._waiting: dict[int, list[GameRecord]] = {}  # their records, where a look will need them
        self._tally = None if stop is None else Tally(match)
        self._queue: list[Job] = []
        self._next = 0
        self.games_done = 0
        for record in done:
            if record.deal < match.deals:
                self._note(record)
        self._fill_queue()

    def _fill_queue(self) -> None:
        deals = range(self._queued, self._open)
        new = [job for job in _in_blocks(deals, self._lineups) if job[1] not in self._begun.get(job[0], ())]
        if new:
            self._queue, self._next = self._queue[self._next :] + new, 0
        self._queued = max(self._queued, self._open)

    @property
    def left(self) -> int:
        return len(self._queue) - self._next

    @property
    def is_over(self) -> bool:
        return self.left == 0 and self._open == self._end

    @property
    def num_games(self) -> int:
        return max(self._end * self._lineups, self.games_done)

    def take(self, most: int) -> list[Job]:
        jobs = self._queue[self._next : self._next + most]
        self._next += len(jobs)
        return jobs

    def finished(self, record: GameRecord) -> None:
        self._note(record)
        self._fill_queue()

    def _note(self, record: GameRecord) -> None:
        lineups = self._begun.setdefault(record.deal, set())
        if record.lineup in lineups:
            return
        lineups.add(record.lineup)
        self.games_done += 1
        if self._tally is not None:
            self._waiting.setdefault(record.deal, []).append(record)
        while len(self._begun.get(self._complete, ())) == self._lineups:
            self._complete_one()

    def _complete_one(self) -> None:
        deal = self._complete
        self._complete += 1
        if self._tally is None or self._stop is None:
            return
        self._tally.add(sorted(self._waiting.pop(deal), key=lambda record: record.lineup))
        if self._complete == self._open < self._end:
            if self._stop.is_met(self._tally):
                self._end = self._open
            else:
                self._open = min(self._end, self._stop.look_after(self._open))


# ---------------------------------------------------------------------------------------------------------------
# How many deals are needed


@dataclass(frozen=True)
class Need:
    """How many deals a figure needs.

    Attributes:
        what: the figure: an agent's name, or "A - B".
        spread: the standard deviation over deals that it was worked out from.
        pilot: deals that it was found in.
        deals: as many deals as the wanted half-width needs if the spread is right.
        safe_deals: as many as it needs if the spread is as large as such a pilot leaves likely (90%).
    """

    what: str
    spread: float
    pilot: int
    deals: int
    safe_deals: int


def deals_needed(tally: Tally, half_width: float, of: Literal["means", "differences"] = "differences") -> list[Need]:
    """How many deals bring each 95% interval to `half_width`, judging from the deals in `tally`; the most first.

    Raises:
        ArenaError: fewer than two deals, or a half-width that is not above 0.
    """
    if not half_width > 0:
        raise ArenaError(f"a half-width is above 0; got {half_width}")
    if len(tally.deals) < 2:
        raise ArenaError(f"two deals at least are needed to judge by; there are {len(tally.deals)}")
    names = tally.match.names
    columns = tally.differences_by_deal() if of == "differences" else tally.means_by_deal()
    needs = []
    for who, values in columns.items():
        spread = float(values.std(ddof=1))
        likely_most = spread / math.sqrt(_low_chi_square(len(values) - 1) / (len(values) - 1))
        what = names[who] if isinstance(who, int) else f"{names[who[0]]} - {names[who[1]]}"
        needs.append(
            Need(what, spread, len(values), _deals_for(spread, half_width), _deals_for(likely_most, half_width))
        )
    return sorted(needs, key=lambda need: -need.deals)


def _deals_for(spread: float, half_width: float) -> int:
    """The least n >= 2 with t(n - 1) * spread / sqrt(n) <= half_width."""
    low, high = 1, 2
    while _t(high) * spread / math.sqrt(high) > half_width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _t(middle) * spread / math.sqrt(middle) > half_width:
            low = middle
        else:
            high = middle
    return high


def _t(deals: int) -> float:
    return t_quantile(min(deals, 10_000) - 1)


def _low_chi_square(freedom: int) -> float:
    """The 10% quantile of chi-square, as Wilson and Hilferty approximate it."""
    share = 2 / (9 * freedom)
    return freedom * max(1e-3, 1 - share - 1.2815515655 * math.sqrt(share)) ** 3
