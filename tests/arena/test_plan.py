"""What is left to play, when it is enough, and how many deals that takes."""

import math
import time

import numpy as np
import pytest

from cardenvs import get_game
from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.plan import Plan, Stop, deals_needed
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.statistics import Tally, bootstrap_estimates, estimate, estimates, summarise, t_quantile
from cardenvs.core.errors import ArenaError


def bootstrap_estimate(values):
    """Of one column."""
    (found,) = bootstrap_estimates(np.array(values)[:, None])
    return found


MATCH = Match.of("leduc_poker_v0", ["random", "search"], deals=1000)


def game(deal, lineup, value):
    returns = (value, -value) if lineup == 0 else (-value, value)
    return GameRecord(deal, lineup, 0, MATCH.lineups[lineup], returns, (), (1, 1), (0.0, 0.0))


def play_out(plan, value, order=lambda jobs: jobs):
    """Play until nothing is left; returns the games in the order of play."""
    played = []
    while (taken := plan.take(7)) is not None:
        number, jobs = taken
        for deal, lineup in order(jobs):
            played.append((deal, lineup))
            plan.finished(number, game(deal, lineup, value(deal)))
    return played


def test_without_a_stop_all_is_handed_out_once():
    plan = Plan([MATCH], [[game(0, 0, 1), game(3, 1, 1)]])
    assert (plan.left, plan.games_done, plan.num_games) == (1998, 2, 2000)
    played = play_out(plan, lambda deal: 1)
    assert sorted([*played, (0, 0), (3, 1)]) == [(deal, lineup) for deal in range(1000) for lineup in (0, 1)]
    assert plan.is_over


def test_an_early_stop_comes_at_a_look_and_not_before_its_deals_are_complete():
    stop = Stop(half_width=0.25, min_deals=20, intervals="student")
    plan = Plan([MATCH], [[]], stop)
    assert plan.left == 40
    taken = plan.take(40)[1]
    assert plan.take(1) is None
    assert not plan.is_over
    for deal, lineup in taken[:-1]:
        plan.finished(0, game(deal, lineup, (-1) ** deal))
    assert plan.take(1) is None  # a game is still out
    assert not plan.is_over
    plan.finished(0, game(*taken[-1], (-1) ** taken[-1][0]))
    # advantages of +1 and -1: t(19) * 1.03 / sqrt(20) = 0.48 is too wide, so another quarter of deals is opened
    assert plan.left == 10
    played = play_out(plan, lambda deal: (-1) ** deal)
    deals = 20 + len(played) // 2
    looks = [20, 25, 32, 40, 50, 63, 79]
    spread = math.sqrt(deals / (deals - 1))
    assert deals in looks
    assert t_quantile(deals - 1) * spread / math.sqrt(deals) <= 0.25
    before = looks[looks.index(deals) - 1]
    assert t_quantile(before - 1) * math.sqrt(before / (before - 1)) / math.sqrt(before) > 0.25
    assert plan.num_games == plan.games_done == 2 * deals


@pytest.mark.parametrize("cut", [1, 13, 39, 41, 60])
def test_where_a_match_stops_does_not_depend_on_interruptions_or_order(cut):
    stop = Stop(half_width=0.25, min_deals=20)
    whole = play_out(Plan([MATCH], [[]], stop), lambda deal: deal % 3)
    records = [game(deal, lineup, deal % 3) for deal, lineup in whole[:cut]]
    resumed = play_out(
        Plan([MATCH], [sorted(records, key=lambda r: (r.deal, r.lineup))], stop), lambda deal: deal % 3, reversed
    )
    assert sorted(whole) == sorted([*whole[:cut], *resumed])


def test_out_of_time_nothing_more_is_handed_out():
    plan = Plan([MATCH], [[]], seconds=1e-6)
    time.sleep(0.001)  # a coarse clock may stand still for longer than the limit
    assert plan.take(1) is None
    assert plan.is_over
    assert plan.out_of_time


def test_a_senseless_stop_is_refused():
    for arguments in ({"half_width": 0}, {"half_width": 1, "min_deals": 1}):
        with pytest.raises(ArenaError, match="half-width above 0 and at least 2 deals"):
            Stop(**arguments)


def test_how_many_deals_are_needed():
    tally = Tally(MATCH)
    generator = np.random.default_rng(0)
    for deal in range(400):
        value = float(generator.normal(0.3, 2.0))
        tally.add([game(deal, 0, value), game(deal, 1, value)])
    # lineup 1 pays the same to the player, so each deal's advantage is its value: spread 2
    (need,) = deals_needed(tally, 0.1)
    assert need.what == "random - search"
    assert need.spread == pytest.approx(2.0, rel=0.1)
    assert need.deals == pytest.approx((1.96 * need.spread / 0.1) ** 2, rel=0.01)
    assert need.deals < need.safe_deals < 1.2 * need.deals
    assert t_quantile(need.deals - 1) * need.spread / math.sqrt(need.deals) <= 0.1
    assert t_quantile(need.deals - 2) * need.spread / math.sqrt(need.deals - 1) > 0.1
    means = deals_needed(tally, 0.2, "means")
    assert {found.what for found in means} == {"random", "search"}
    assert means[0].deals == pytest.approx(need.deals / 4, rel=0.02)
    with pytest.raises(ArenaError, match="needs at least two deals"):
        deals_needed(Tally(MATCH), 0.2)
    with pytest.raises(ArenaError, match="a half-width must be a number above 0"):
        deals_needed(tally, -1)


def test_the_safe_number_of_deals_is_safe_about_as_often_as_it_says():
    generator = np.random.default_rng(1)
    true_need = (1.96 / 0.25) ** 2
    safe = 0
    for _ in range(200):
        tally = Tally(MATCH)
        for deal in range(25):
            value = float(generator.normal(0, 1))
            tally.add([game(deal, 0, value), game(deal, 1, value)])
        safe += deals_needed(tally, 0.25)[0].safe_deals >= true_need
    assert 0.83 <= safe / 200 <= 0.97


def test_bootstrap_and_student_agree_where_both_hold():
    generator = np.random.default_rng(2)
    values = list(generator.normal(1, 3, 300))
    drawn, exact = bootstrap_estimate(values), estimate(values)
    assert drawn.mean == pytest.approx(exact.mean)
    assert drawn.low == pytest.approx(exact.low, abs=0.05)
    assert drawn.high == pytest.approx(exact.high, abs=0.05)
    assert bootstrap_estimate(values) == drawn


def test_bootstrap_intervals_hold_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(4)
    for deals in (15, 40):
        held = sum(
            found.low <= 1.0 <= found.high
            for found in (bootstrap_estimate(list(generator.exponential(1.0, deals))) for _ in range(300))
        )
        assert 0.89 <= held / 300 <= 0.99


def test_very_many_deals_are_drawn_in_groups():
    values = list(np.random.default_rng(6).normal(0, 1, 9001))
    drawn, exact = bootstrap_estimate(values), estimate(values)
    assert drawn.high - drawn.low == pytest.approx(exact.high - exact.low, rel=0.08)


def test_columns_of_any_lengths_together():
    generator = np.random.default_rng(8)
    columns = [list(generator.normal(0, 1, length)) for length in (40, 3, 40, 20, 0)]
    found = estimates(columns, "bootstrap")
    for number in (0, 2, 3):
        alone = bootstrap_estimate(columns[number])
        assert (found[number].mean, found[number].deals) == (alone.mean, alone.deals)
        assert (found[number].low, found[number].high) == pytest.approx((alone.low, alone.high))
    assert found[1] == estimate(columns[1])
    assert found[4].deals == 0


def test_few_deals_get_students_interval():
    records = [game(deal, lineup, deal % 3) for deal in range(10) for lineup in (0, 1)]
    assert (
        summarise(MATCH, records, "bootstrap").standings[0].mean
        == summarise(MATCH, records, "student").standings[0].mean
    )


@pytest.mark.parametrize("name", ["hanabi_v0", "blackjack_v0"])
def test_a_match_without_pairs_stops_by_its_means(name, tmp_path):
    match = Match.of(name, ["random", get_game(name).default_opponent], 12, seed=1)
    stop, wide = Stop(half_width=1e-3, min_deals=2), Stop(half_width=1e6, min_deals=2)
    run_match(match, tmp_path / "games.db")
    with Store(tmp_path / "games.db") as store:
        tally = Tally.of(match, store.results(match.id))
    assert not stop.is_met(tally)
    assert wide.is_met(tally)
    assert deals_needed(tally, 10.0)
