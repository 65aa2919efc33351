"""What is left to play, deal by deal, and when enough has been played.

A `Plan` hands out games and counts those that are over. Where a match may stop early it hands out no deal beyond the
next look; a look comes when all deals before it are complete, and depends on them alone. So which games a match
consists of does not depend on who plays them, in which order, or on how often the run was interrupted.
"""

import math
import secrets
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.special import chdtri  # of the upper tail

from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.results.statistics import Intervals, Tally, t_quantile
from cardenvs.core.errors import ArenaError

_BLOCK = 8  # deals, at most, that are played in one lineup before they come in the next
_LOOK_GROWTH = 1.25  # each look comes after this many times the deals of the last one


@dataclass(frozen=True)
class Stop:
    """When enough has been played: when every interval reaches no further than `half_width` from its middle.

    The rule looks at widths, never at who is ahead, so stopping by it favours nobody.

    Attributes:
        half_width: in the unit of the game's results.
        of: the intervals of which figures: "means" of the agents, or the advantages in "pairs" of agents.
        min_deals: deals before the first look; later looks come after a quarter more deals each.
        intervals: how intervals are computed.
    """

    half_width: float
    of: Literal["means", "pairs"] = "pairs"
    min_deals: int = 100
    intervals: Intervals = "bootstrap"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 0 < self.half_width < math.inf or self.min_deals < 2:
            raise ArenaError(
                f"an early stop needs a half-width above 0 and at least 2 deals; got {self.half_width} and "
                f"{self.min_deals}"
            )

    def is_met(self, tally: Tally) -> bool:
        """Whether the figures of the deals in `tally` are as certain as wanted."""
        if self.of == "means":
            found = [standing.mean for standing in tally.standings(self.intervals)]
        else:
            found = list(tally.advantages(self.intervals).values())
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
        only: Sequence[int] | None = None,
    ) -> None:
        """Plan `matches`. No game is listed before it is handed out: a match may have more than memory can hold.

        Args:
            matches: what is to be played.
            done: the finished games of each.
            stop: when to stop a match early.
            seconds: hand out nothing after so long.
            only: play these deals, in ascending order; None: all.

        Raises:
            ArenaError: `seconds` is not a positive number.
        """
        if seconds is not None and not 0 < seconds < math.inf:
            raise ArenaError(f"a run has a number of seconds above 0, or no limit; got {seconds}")
        self._courses = [
            _MatchProgress(match, records, stop, only) for match, records in zip(matches, done, strict=True)
        ]
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

    def jobs(self) -> tuple[int, Iterator[Job]] | None:
        """The number of the first match with games to take now, and these, taken one by one. None: nothing now."""
        if self.check_time():
            return None
        for number, course in enumerate(self._courses):
            if course.left:
                return number, self._one_by_one(number)
        return None

    def _one_by_one(self, number: int) -> Iterator[Job]:
        while jobs := self.take_of(number, 1):
            yield from jobs

    def check_time(self) -> bool:
        """Whether time is up. Once it is, nothing is handed out any more."""
        self.out_of_time = self.out_of_time or time.monotonic() >= self._deadline
        return self.out_of_time

    def finished(self, number: int, record: GameRecord) -> None:
        """A game of match `number` is over."""
        self._played += 1
        self._courses[number].finished(record)

    def put_back(self, jobs: Iterable[tuple[int, Job]]) -> None:
        """Take back games, each with the number of its match, that were handed out and will not be finished."""
        for number, job in jobs:
            self._courses[number].put_back(job)

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


def _in_blocks(deals: Sequence[int], lineups: int) -> Iterator[Job]:
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


class _MatchProgress:
    """One match under way."""

    def __init__(self, match: Match, done: Iterable[GameRecord], stop: Stop | None, only: Sequence[int] | None) -> None:
        self._match, self._stop = match, stop
        self._lineups = len(match.lineups)
        self._deals: Sequence[int] = range(match.deals) if only is None else only
        self._place = None if only is None else {deal: place for place, deal in enumerate(only)}
        self._end = len(self._deals)  # no deal from this place on will be played
        self._open = self._end if stop is None else min(self._end, stop.look_after(0))  # nor yet from this place on
        self._jobs: deque[Iterator[Job]] = deque()  # one after another, made as they are taken
        self._jobs.append(_in_blocks(self._deals[: self._open], self._lineups))
        self._passed = 0  # games of these that have been handed out or were finished before
        self._complete = 0  # the deals of all places before this one are
        self._begun: dict[int, set[int]] = {}  # by place: the finished lineups of deals not complete, or to come
        self._ahead: set[Job] = set()  # games that were finished before and not passed yet
        self._open_ahead = 0  # how many of these are open
        self._waiting: dict[int, list[GameRecord]] = {}  # their records, where a look will need them
        self._tally = None if stop is None else Tally(match)
        self.games_done = 0
        for record in done:
            if self._place_of(record.deal) is not None and record.lineup < self._lineups:
                self._ahead.add((record.deal, record.lineup))
                self._note(record)
        self._count_ahead()

    def _count_ahead(self) -> None:
        self._open_ahead = sum((self._place_of(deal) or 0) < self._open for deal, _ in self._ahead)

    def _place_of(self, deal: int) -> int | None:
        """Where a deal comes among those to be played; None: nowhere."""
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
        """Up to `most` games."""
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
        self._note(record)

    def _note(self, record: GameRecord) -> None:
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


# ---------------------------------------------------------------------------------------------------------------
# How many deals are needed


@dataclass(frozen=True)
class RequiredDeals:
    """How many deals a figure needs.

    Attributes:
        what: the figure: an agent's name, or "A - B".
        spread: the standard deviation over deals that this is based on.
        pilot: deals that it was found in.
        deals: as many deals as the wanted half-width needs if the spread is right.
        safe_deals: as many as it needs if the spread is as large as such a pilot leaves likely (90%).
    """

    what: str
    spread: float
    pilot: int
    deals: int
    safe_deals: int


def deals_needed(tally: Tally, half_width: float, of: Literal["means", "pairs"] = "pairs") -> list[RequiredDeals]:
    """How many deals bring each 95% interval to `half_width`, judging from the deals in `tally`; the most first.

    Raises:
        ArenaError: fewer than two deals, or a half-width that is not above 0.
    """
    if not 0 < half_width < math.inf:
        raise ArenaError(f"a half-width is a number above 0; got {half_width}")
    if len(tally.deals) < 2:
        raise ArenaError(f"two deals at least are needed to judge by; there are {len(tally.deals)}")
    names = tally.match.names
    columns = tally.advantages_by_deal() if of == "pairs" else tally.means_by_deal()
    needs = []
    for who, values in columns.items():
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
