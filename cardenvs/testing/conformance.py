"""`check_game`: all checks of a game, over random options, seeds and random play.

Hypothesis draws the cases and reduces a failing one to simple options and small seeds. Each check is a function of one
game (a `Case`). Counts over many games are in `Report`.
"""

import contextlib
import dataclasses
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from scipy.special import chdtrc  # chi-square, upper tail

from cardenvs.core.errors import CardenvsError, OptionError, require
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.testing import doors, faces, knowledge, leaks, processes, worlds
from cardenvs.testing.case import Case, ConformanceError, Report, fail, phase_of
from cardenvs.testing.leaving import check_price_of_leaving
from cardenvs.testing.positions import STATE_CHECKS
from cardenvs.testing.recoverable import check_recoverable

_DOORS_EVERY = 3  # about one game in three goes through the checks of doors.py
_TOLERANCE = 1e-9
_SECOND_HISTORIES = 8  # of the deals that fit a position, in which all that a player gets is compared


@dataclasses.dataclass(frozen=True)
class _Effort:
    """How much to check."""

    default_games: int = 10  # number of games with default options
    states: int = 12  # states per game
    sought_games: int = 200  # number of games that are searched for rare phases
    sought_plies: int | None = None  # most plies of each that are searched; None: all
    seconds: float = processes.SECONDS  # time in each other mode
    compared: worlds.WorldsEffort = worlds.FULL  # how many twins to compare with real histories


_FULL = _Effort()
_SAMPLE = _Effort(default_games=2, states=4, sought_games=100, sought_plies=500, seconds=1.5, compared=worlds.SAMPLE)
_SAMPLE_EXAMPLES = 2  # most `examples` of a sample


def check_game(
    game: Game | str,
    *,
    examples: int = 25,
    seed: int = 0,
    subprocesses: bool = True,
    effort: Literal["sample", "auto", "full"] = "auto",
    worlds_error: float = 0.0,
) -> Report:
    """Check that a registered game conforms.

    Args:
        game: name of a game, or a Game.
        examples: number of games with random options, in addition to some with the defaults.
        seed: seed of the random cases.
        subprocesses: whether to play a sample in separate processes with the compiler off and with bounds checked.
        effort: "full" checks a game as closely as possible, which takes minutes for a large one, with more than 250
            events. "sample" checks fewer games, options and positions. "auto" samples large games only.
        worlds_error: for a game whose worlds are only nearly uniform, as its page must say: how far the share of twins
            in which a token, or two, lie in a pile may be from that of real histories.

    Returns:
        statistics of the run.

    Raises:
        ConformanceError: a check failed.
        MissingExtraError: hypothesis is not installed.
    """
    require("hypothesis", "test")
    game = get_game(game) if isinstance(game, str) else game
    report, checked = Report(), _FULL
    faces.check_option_names(game)
    first = next(_default_cases(game, seed, 1))
    if first.start().is_terminal:
        raise ConformanceError(f"{first}: the deal ends the game; somebody must be to act")
    if effort == "sample" or (effort == "auto" and any(case.is_large() for case in _default_cases(game, seed, 2))):
        checked, examples = _SAMPLE, min(examples, _SAMPLE_EXAMPLES)
    for case in _default_cases(game, seed, checked.default_games):
        if case.start().is_terminal:
            raise ConformanceError(f"{case}: the deal ends the game; somebody must be to act")
        check_case(case, report, checked)
    _for_random_cases(game, examples, seed, lambda case: check_case(case, report, checked))
    _check_rare_phases(game, seed, report, checked)
    _check_seeds_differ(game)
    leaks.check_hidden_places_vary(game, report)
    if game.can_list_deals():
        _check_uniform(game, report)
    worlds.check_worlds(game, report, seed, checked.compared, worlds_error)
    faces.check_pettingzoo(game)
    faces.check_single_seat(game)
    if subprocesses:
        cases = _default_cases(game, seed + 1, min(3, checked.default_games))
        processes.check_other_modes(game, [*cases], checked.seconds)
    return report


def check_case(case: Case, report: Report, effort: _Effort = _FULL) -> None:
    """Run all checks of one game."""
    report.games += 1
    trackers = [knowledge.Tracker(case.game, case.options) for _ in range(case.options.num_players)]
    for state in case.sampled(effort.states):
        report.states += 1
        report.phases[phase_of(case, state)] += 1
        for check in STATE_CHECKS:
            check(case, state)
        for player in range(state.num_players):
            leaks.check_no_leak(case, state, player, report)
            if wrong := knowledge.check_twins(state, player, trackers[player], case.play_seed + 7 * state.ply):
                fail(case, state, wrong)
    leaks.check_deal(case)
    check_returns(case)
    for state in case.sampled(effort.states // 2):
        check_price_of_leaving(case, state)
    check_recoverable(case, report.shown)
    report.longest = max(report.longest, sum(1 for _ in case.positions()) - 1)
    faces.check_aec(case)
    faces.check_batch(case)
    if (case.seed + case.play_seed) % _DOORS_EVERY == _DOORS_EVERY - 1:
        doors.check_doors(case)


def _default_cases(game: Game, seed: int, number: int) -> Iterator[Case]:
    return (Case(game, game.make_options(), 1000 * seed + k, k) for k in range(number))


def _for_random_cases(game: Game, examples: int, seed: int, check: Callable[[Case], None]) -> None:
    """Call `check` for games with random options."""
    import hypothesis

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,  # several bugs would be raised as an ExceptionGroup
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(_case_strategy(game))
    def run(case: Case) -> None:
        check(case)

    run()


def _check_rare_phases(game: Game, seed: int, report: Report, effort: _Effort) -> None:
    """Search more games, whose play makes for rare phases, and check those that reach one not seen so far."""
    rare = frozenset(game.phases) - set(report.phases)  # one of them may lead to another

    def check(case: Case) -> None:
        missing = rare - set(report.phases)
        case = dataclasses.replace(case, sought=rare)
        searched = itertools.islice(case.positions(), effort.sought_plies)
        if missing and any(state.phase in missing for state in searched):
            check_case(case, report, effort)
            for options in _changed_in_one(case.options):
                check(dataclasses.replace(case, options=options))

    if rare:
        _for_random_cases(game, effort.sought_games, seed + 1, check)


def _changed_in_one(options: Options) -> Iterator[Options]:
    """Yield valid options that differ in one option: another choice, or an end of its range."""
    for field in dataclasses.fields(options):
        meta, value = field.metadata, getattr(options, field.name)
        low, high = _range(field)
        others = [not value] if isinstance(field.default, bool) else meta["choices"] or meta["values"] or (low, high)
        for other in others:
            if other != value and meta["length"] is None:
                with contextlib.suppress(OptionError):
                    changed = dataclasses.replace(options, **{field.name: other})
                    changed.check_environment()
                    yield changed


def _case_strategy(game: Game) -> Any:
    """Return a strategy for cases with each option at its default or in its range (the low end of a wide range)."""
    from hypothesis import assume
    from hypothesis import strategies as st

    seeds = st.integers(0, 2**63 - 1)

    @st.composite
    def cases(draw: Callable[..., Any]) -> Case:
        values = {f.name: draw(_option_strategy(f, st)) for f in dataclasses.fields(game.options)}
        try:
            options = game.make_options(**values)
            options.check_environment()
        except OptionError:
            assume(False)
        return Case(game, options, draw(seeds), draw(st.integers(0, 2**32)))

    return cases()


def _option_strategy(field: dataclasses.Field[Any], st: Any) -> Any:
    meta, default = field.metadata, st.just(field.default)
    if meta["choices"] or meta["values"]:
        return st.sampled_from([field.default, *(meta["choices"] or meta["values"])])
    if isinstance(field.default, bool):
        return st.booleans()
    number = st.integers(*_range(field))
    if meta["length"] is not None:
        return default | st.lists(number, max_size=meta["length"])
    return default | (number | st.none() if meta["optional"] else number)


def _range(field: dataclasses.Field[Any]) -> tuple[int, int]:
    """Return the least and the largest number to try for a numeric option: its range, or the low end of a wide one."""
    low = field.metadata["low"] or 0
    high = field.metadata["high"]
    return low, low + 200 if high is None else min(high, low + 200)


# -- checks of a whole game ---------------------------------------------------------------------------------------


def check_returns(case: Case) -> None:
    """Check that returns are the summed rewards, within their bounds, and add up to their declared sum."""
    sums = np.zeros(case.options.num_players)
    state = case.start()
    for state in case.positions():
        if state.ply:
            sums += state.rewards
    promise = case.game.returns(case.options)
    returns = np.array(state.returns)
    if not np.allclose(returns, sums, atol=_TOLERANCE):
        fail(case, state, f"returns {returns} are not the summed rewards {sums}")
    if (returns < promise.low - _TOLERANCE).any() or (returns > promise.high + _TOLERANCE).any():
        fail(case, state, f"returns {returns} leave the bounds {promise.low} to {promise.high}")
    if promise.cooperative and returns.min() != returns.max():
        fail(case, state, f"returns {returns} differ in a game that is declared to be cooperative")
    if promise.total is not None and abs(returns.sum() - promise.total) > _TOLERANCE * max(1, abs(returns).max()):
        fail(case, state, f"returns {returns} add up to {returns.sum()}, not to {promise.total}")


def _check_seeds_differ(game: Game) -> None:
    if not len(game.deck(game.make_options())):
        return  # nothing is dealt
    states = {game.new_state(seed=seed).table(OMNISCIENT).normal() for seed in range(30)}
    if len(states) < 2:
        raise ConformanceError(f"{game.name}: thirty seeds deal the same cards")
    if game.new_state(seed=5).record_bytes() != game.new_state(seed=5).record_bytes():
        raise ConformanceError(f"{game.name}: the same seed deals different cards")


# -- uniformity, for games whose deals can be listed --------------------------------------------------------------


def _check_uniform(game: Game, report: Report, positions: int = 6, draws: int = 600) -> None:
    """Check with chi-square tests that `determinize` draws fitting deals as often as chance would."""
    for k in range(positions):
        case = Case(game, game.make_options(), k, k)
        states = [state.clone() for state in case.positions() if not state.is_terminal]
        state = states[k % len(states)]
        for player in range(state.num_players):
            if _others_chose_in_secret(case, state, player):
                continue  # the player must think other actions possible, too
            wanted = _consistent_deals(case, state, player, report)
            found = Counter(state.determinize(player, seed).table(OMNISCIENT).normal() for seed in range(draws))
            if set(found) - set(wanted):
                fail(case, state, f"determinize deals what player {player} knows to be impossible")
            _check_chi_square(case, state, wanted, found, draws)


def _others_chose_in_secret(case: Case, state: State, player: int) -> bool:
    """Return whether another player has chosen between actions that look the same to `player`."""
    past = case.start()
    for action in state.actions:
        if past.current_player != player:
            legal, followers = past.legal_actions(), set()
            for other in legal:
                follower = past.clone()
                follower.apply(other)
                followers.add(follower.information_state_key(player))
            if len(followers) < len(legal):
                return True
        past.apply(action)
    return False


def _consistent_deals(case: Case, state: State, player: int, report: Report) -> dict[tuple[Any, ...], float]:
    """Return the probability of each table that fits everything `player` has seen, and check what it gets in some."""
    key, compared = state.information_state_key(player), 0
    weights: dict[tuple[Any, ...], float] = defaultdict(float)
    for deck, probability in case.game.enumerate_deals(**case.options.as_dict()):
        other = case.game.new_state(seed=0, deck=deck, **case.options.as_dict())
        try:
            for action in state.actions:
                other.apply(action)
        except CardenvsError:
            continue
        if other.information_state_key(player) == key:
            weights[other.table(OMNISCIENT).normal()] += probability
            if compared < _SECOND_HISTORIES:
                worlds.check_seen(case, state, player, [other], report)
                compared += 1
    total = sum(weights.values())
    return {table: weight / total for table, weight in weights.items()}


def _check_chi_square(
    case: Case, state: State, wanted: dict[tuple[Any, ...], float], found: Counter[tuple[Any, ...]], draws: int
) -> None:
    statistic = sum((found[table] - draws * p) ** 2 / (draws * p) for table, p in wanted.items())
    freedom = len(wanted) - 1
    if freedom and chdtrc(freedom, statistic) < 1e-6:
        fail(case, state, f"determinize is not uniform: chi-square {statistic:.1f} with {freedom} degrees of freedom")
