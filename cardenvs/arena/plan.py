"""Plan the games left to play, and stop matches early once their results are precise enough.

A `Plan` hands out games and counts finished ones. If a match may stop early, it hands out no deal beyond the next
check; a check happens once all deals before it are complete, and depends on them alone. So the set of games in a match
does not depend on which process plays them, in which order, or on interruptions.
"""

import math
import secrets
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import chdtri  # inverse of the upper tail

from cardenvs.arena.match import MOST_DEALS, Match
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.results.statistics import Intervals, Tally, t_quantile
from cardenvs.core.errors import ArenaError

_BLOCK = 8  # most deals played in one lineup before the next lineup plays them
_LOOK_GROWTH = 1.25  # factor of deals from one check to the next


@dataclass(frozen=True)
class Stop:
    """A rule to stop a match early: once every interval has at most the half-width `half_width`.

    The rule uses interval widths only, never who is ahead, so stopping early favours nobody.

    Attributes:
        half_width: largest half-width, in the unit of the game's results.
        of: which intervals: of the agents' "means", or of the advantages between "pairs" of agents. Where players win
            or lose together, or play alone, there are only means.
        min_deals: deals before the first check; each later check comes after a quarter more deals.
        intervals: how intervals are computed.
    """

    half_width: float
    of: Literal["means", "pairs"] = "pairs"
    min_deals: int = 100
    intervals: Intervals = "bootstrap"

    def __post_init__(self) -> None:
        """Check the fields."""
        if not 0 < self.half_width < math.inf or self.min_deals < 2:
            raise ArenaError(
                f"an early stop needs a half-width above 0 and at least 2 deals; got {self.half_width} and "
                f"{self.min_deals}"
            )

    def is_met(self, tally: Tally) -> bool:
        """Return whether all intervals of the deals in `tally` are narrow enough."""
        found = list(tally.advantages(self.intervals).values()) if self.of == "pairs" else []
        found = found or [standing.mean for standing in tally.standings(self.intervals)]
        return all((estimate.high - estimate.low) / 2 <= self.half_width for estimate in found)

    def look_after(self, deals: int) -> int:
        """Return the number of deals at the next check, after one at `deals` (0: no check yet)."""
        return max(self.min_deals, math.ceil(deals * _LOOK_GROWTH))


class Plan:
    """The games of several matches that are left to play."""

    def __init__(
        self,
        matches: Sequence[Match],
        done: Sequence[Iterable[GameRecord]],
        stop: Stop | None = None,
        seconds: float | None = None,
        only: Sequence[int] | None = None,
    ) -> None:
        """Plan `matches`. Games are generated lazily: a match may have more games than fit in memory.

        Args:
            matches: the matches to play.
            done: the finished games of each match.
            stop: rule that ends a match early.
            seconds: hand out nothing after this many seconds.
            only: play only these deals, in ascending order; None: all.

        Raises:
            ArenaError: `seconds` is not a positive finite number.
        """
        if seconds is not None and not 0 < seconds < math.inf:
            raise ArenaError(f"a run needs a number of seconds above 0, or no limit; got {seconds}")
        self._progress = [
            _MatchProgress(match, records, stop, only) for match, records in zip(matches, done, strict=True)
        ]
        self._started = time.monotonic()
        self._deadline = math.inf if seconds is None else self._started + seconds
        self._played = 0
        self.out_of_time = False

    def take(self, most: int) -> tuple[int, list[Job]] | None:
        """Take up to `most` games of one match. Return (number of the match, games), or None if there are none now."""
        if self.check_time():
            return None
        for number, progress in enumerate(self._progress):
            jobs = progress.take(most)
            if jobs:
                return number, jobs
        return None

    def take_of(self, number: int, most: int) -> list[Job]:
        """Take up to `most` games of match `number`."""
        return [] if self.check_time() else self._progress[number].take(most)

    def jobs(self) -> tuple[int, Iterator[Job]] | None:
        """Return the number of the first match with games left now and an iterator that takes them, or None."""
        if self.check_time():
            return None
        for number, progress in enumerate(self._progress):
            if progress.left:
                return number, self._one_by_one(number)
        return None

    def _one_by_one(self, number: int) -> Iterator[Job]:
        while jobs := self.take_of(number, 1):
            yield from jobs

    def check_time(self) -> bool:
        """Return whether time is up. From then on, no games are handed out."""
        self.out_of_time = self.out_of_time or time.monotonic() >= self._deadline
        return self.out_of_time

    def finished(self, number: int, record: GameRecord) -> None:
        """Record a finished game of match `number`."""
        self._played += 1
        self._progress[number].finished(record)

    def put_back(self, jobs: Iterable[tuple[int, Job]]) -> None:
        """Take back (number of the match, game) pairs that were handed out and will not be finished."""
        for number, job in jobs:
            self._progress[number].put_back(job)

    @property
    def pace(self) -> float:
        """Games finished per second so far."""
        return self._played / max(1e-9, time.monotonic() - self._started)

    @property
    def is_over(self) -> bool:
        """Whether no more games will be handed out; some may still be in progress."""
        return self.out_of_time or all(progress.is_over for progress in self._progress)

    @property
    def left(self) -> int:
        """Number of games that can be taken now."""
        return sum(progress.left for progress in self._progress)

    @property
    def games_done(self) -> int:
        """Number of finished games, earlier runs included."""
        return sum(progress.games_done for progress in self._progress)

    @property
    def num_games(self) -> int:
        """Total number of games; it falls when a match stops early."""
        return sum(progress.num_games for progress in self._progress)


def _in_blocks(deals: Sequence[int], lineups: int) -> Iterator[Job]:
    """Yield all games of these deals: a block of deals in one lineup, then in the next, in a new order each time.

    This keeps the games of one deal apart, so an agent with memory cannot recognise a deal by its position.
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


class _MatchProgress:
    """Progress of one match. A deal's *place* is its index among the deals to play."""

    def __init__(self, match: Match, done: Iterable[GameRecord], stop: Stop | None, only: Sequence[int] | None) -> None:
        self._match, self._stop = match, stop
        self._lineups = len(match.lineups)
        self._deals: Sequence[int] = range(match.deals) if only is None else only
        self._place = None if only is None else {deal: place for place, deal in enumerate(only)}
        self._end = len(self._deals)  # no deal from this place on is played
        self._open = self._end if stop is None else min(self._end, stop.look_after(0))  # end of the deals handed out
        self._jobs: deque[Iterator[Job]] = deque()  # games to hand out, in order, generated lazily
        self._jobs.append(_in_blocks(self._deals[: self._open], self._lineups))
        self._passed = 0  # games handed out, or skipped because they were finished
        self._complete = 0  # all deals at places before this one are complete
        self._begun: dict[int, set[int]] = {}  # finished lineups by place, of incomplete deals
        self._ahead: set[Job] = set()  # games finished in earlier runs and not skipped yet
        self._open_ahead = 0  # number of these below self._open
        self._waiting: dict[int, list[GameRecord]] = {}  # records by place of incomplete deals, for the next check
        self._tally = None if stop is None else Tally(match)
        self.games_done = 0
        for record in done:
            if self._place_of(record.deal) is not None and record.lineup < self._lineups:
                self._ahead.add((record.deal, record.lineup))
                self.finished(record)
        self._count_ahead()

    def _count_ahead(self) -> None:
        self._open_ahead = sum((self._place_of(deal) or 0) < self._open for deal, _ in self._ahead)

    def _place_of(self, deal: int) -> int | None:
        """Return the place of a deal among those to play, or None if it is not played."""
        if self._place is not None:
            return self._place.get(deal)
        return deal if deal < len(self._deals) else None

    @property
    def left(self) -> int:
        return self._open * self._lineups - self._passed - self._open_ahead

    @property
    def is_over(self) -> bool:
        return self.left == 0 and self._open == self._end

    @property
    def num_games(self) -> int:
        return max(self._end * self._lineups, self.games_done)

    def take(self, most: int) -> list[Job]:
        """Take up to `most` games."""
        jobs: list[Job] = []
        while len(jobs) < most and self._jobs:
            job = next(self._jobs[0], None)
            if job is None:
                self._jobs.popleft()
                continue
            self._passed += 1
            if job in self._ahead:
                self._ahead.remove(job)
                self._open_ahead -= 1
            else:
                jobs.append(job)
        return jobs

    def put_back(self, job: Job) -> None:
        self._jobs.appendleft(iter([job]))
        self._passed -= 1

    def finished(self, record: GameRecord) -> None:
        place = self._place_of(record.deal)
        if place is None or place < self._complete:
            return
        lineups = self._begun.setdefault(place, set())
        if record.lineup in lineups:
            return
        lineups.add(record.lineup)
        self.games_done += 1
        if self._tally is not None:
            self._waiting.setdefault(place, []).append(record)
        while len(self._begun.get(self._complete, ())) == self._lineups:
            self._complete_one()

    def _complete_one(self) -> None:
        place = self._complete
        self._complete += 1
        del self._begun[place]
        if self._tally is None or self._stop is None:
            return
        games = sorted(self._waiting.pop(place), key=lambda record: record.lineup)
        if not any(game.error for game in games):
            self._tally.add(games)
        if self._complete == self._open < self._end:
            if self._stop.is_met(self._tally):
                self._end = self._open
            else:
                opened = min(self._end, self._stop.look_after(self._open))
                self._jobs.append(_in_blocks(self._deals[self._open : opened], self._lineups))
                self._open = opened
                self._count_ahead()


# -- how many deals are needed ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RequiredDeals:
    """The number of deals that a mean or an advantage needs.

    Attributes:
        what: an agent's name, or "A - B" for an advantage.
        spread: standard deviation over the pilot's deals.
        pilot: number of deals in the pilot.
        deals: deals needed for the requested half-width if `spread` is the true standard deviation.
        safe_deals: deals needed at the upper 90% confidence bound of the standard deviation.
    """

    what: str
    spread: float
    pilot: int
    deals: int
    safe_deals: int


def deals_needed(tally: Tally, half_width: float, of: Literal["means", "pairs"] = "pairs") -> list[RequiredDeals]:
    """Estimate from the deals in `tally` how many deals bring each 95% interval to `half_width`; largest first.

    Raises:
        ArenaError: there are fewer than two deals, or the half-width is not above 0, or so small that no match could
            reach it.
    """
    if not 0 < half_width < math.inf:
        raise ArenaError(f"a half-width must be a number above 0; got {half_width}")
    if len(tally.deals) < 2:
        raise ArenaError(f"the estimate needs at least two deals; there are {len(tally.deals)}")
    names = tally.match.names
    columns: Mapping[Any, np.ndarray] = tally.advantages_by_deal() if of == "pairs" else {}
    needs = []
    for who, values in (columns or tally.means_by_deal()).items():
        spread = float(values.std(ddof=1))
        likely_most = spread / math.sqrt(chdtri(len(values) - 1, 0.9) / (len(values) - 1))
        what = names[who] if isinstance(who, int) else f"{names[who[0]]} - {names[who[1]]}"
        needs.append(
            RequiredDeals(
                what, spread, len(values), _deals_for(spread, half_width), _deals_for(likely_most, half_width)
            )
        )
    return sorted(needs, key=lambda need: -need.deals)


def _deals_for(spread: float, half_width: float) -> int:
    """Return the least n >= 2 with t(n - 1) * spread / sqrt(n) <= half_width."""
    low, high = 1, 2
    while _t(high) * spread / math.sqrt(high) > half_width:
        if high > MOST_DEALS:
            raise ArenaError(
                f"a half-width of {half_width:g} needs more than {MOST_DEALS:.0e} deals; choose a larger one"
            )
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
