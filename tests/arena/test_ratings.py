"""Ratings, against closed forms, against choix, and on worlds with known strengths."""

import itertools
import math

import numpy as np
import pytest

from cardenvs.arena import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.ratings import Places, Results, _Model, choices, cycles, fit, places_of
from cardenvs.arena.results.statistics import complete_deals


def record(match, deal, lineup, returns):
    seating = match.lineups[lineup]
    return GameRecord(deal, lineup, 0, seating, tuple(returns), (), (1,) * len(seating), (0.0,) * len(seating))


def counted(evidence, match, records):
    for games in complete_deals(match, records):
        evidence.add(games)
    return evidence


def two(results, kind=Places, *session):
    """Evidence of two agents from the results of the first, a deal of two games each."""
    match = Match.of("leduc_poker_v0", ["random", "random"], deals=len(results))
    records = [
        record(match, deal, lineup, (value, -value) if lineup == 0 else (-value, value))
        for deal, value in enumerate(results)
        for lineup in (0, 1)
    ]
    return counted(kind(match, match.names, *session), match, records), match.names


def test_places():
    assert places_of([3, 5, 3, 1]) == (1, 0, 1, 3)


def test_two_players_are_rated_by_their_odds():
    # 60 games won, 20 lost, and the drawn game that every pair gets: odds of 60.5 to 20.5
    evidence, names = two([1] * 30 + [-1] * 10)
    first, second = fit([evidence], names)
    assert first.rating - second.rating == pytest.approx(400 * math.log10(60.5 / 20.5), abs=0.01)
    assert first.rating + second.rating == pytest.approx(3000)
    assert (first.games, first.anchored) == (80, False)
    assert first.low < first.rating < first.high
    assert second.high < first.low


def test_a_tie_is_half_a_win_and_all_wins_stay_finite():
    even, names = two([0] * 20)
    assert [rating.rating for rating in fit([even], names)] == pytest.approx([1500, 1500])
    always, names = two([1] * 20)
    first, second = fit([always], names)
    assert first.rating - second.rating == pytest.approx(400 * math.log10(40.5 / 0.5), abs=0.05)


def test_the_same_rankings_as_choix():
    choix = pytest.importorskip("choix")
    generator = np.random.default_rng(1)
    strengths = np.array([0.0, 0.5, -1.0, 1.2, 0.3])
    rankings = []
    for _ in range(150):
        group = generator.choice(5, 4, replace=False)
        noisy = strengths[group] + generator.gumbel(size=4)
        rankings.append(tuple(int(agent) for agent in group[np.argsort(-noisy)]))
    found = {}
    for ranking in rankings:
        for choice, weight in choices(ranking, (0, 1, 2, 3)):
            found[choice] = found.get(choice, 0.0) + weight
    model = _Model(list(found), 5, {})
    model._draws[:], model._draw_sets[:] = 0.0, 0.0  # choix has no drawn game for every pair
    mine = model.strengths(np.array([list(found.values())]))[0]
    theirs = choix.opt_rankings(5, rankings)
    assert mine - mine.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-4)
    pairs = [(a, b) for ranking in rankings for a, b in itertools.combinations(ranking[:2], 2)]
    found = {}
    for pair in pairs:
        for choice, weight in choices(pair, (0, 1)):
            found[choice] = found.get(choice, 0.0) + weight
    model = _Model(list(found), 5, {})
    model._draws[:], model._draw_sets[:] = 0.0, 0.0
    mine = model.strengths(np.array([list(found.values())]))[0]
    theirs = choix.opt_pairwise(5, pairs)
    assert mine - mine.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-4)


def test_ties_count_as_all_orders_alike():
    by_orders = {}
    for order in ((0, 1, 2), (1, 0, 2)):
        for choice, weight in choices(tuple(order), (0, 1, 2)):
            by_orders[choice] = by_orders.get(choice, 0.0) + weight / 2
    assert dict(choices((0, 1, 2), (0, 0, 2))) == pytest.approx(by_orders)
    three = dict(choices((0, 1, 2), (0, 0, 0)))
    assert sum(weight for (among, _), weight in three.items() if len(among) == 3) == pytest.approx(1)
    assert sum(weight for (among, _), weight in three.items() if len(among) == 2) == pytest.approx(1)
    assert choices((1, 1), (0, 1)) == ()  # two copies of one agent say nothing


def test_copies_at_a_table_count_as_the_agent():
    # one against two copies; it wins half its games: as strong as one of the copies would have to win a third
    found = dict(choices((0, 1, 1), (0, 1, 2)))
    assert found == {((0, 1, 1), 0): 1.0}
    model = _Model([((0, 1, 1), 0), ((0, 1, 1), 1)], 2, {})
    model._draws[:], model._draw_sets[:] = 0.0, 0.0
    strengths = model.strengths(np.array([[50.0, 50.0]]))[0]
    assert strengths[0] - strengths[1] == pytest.approx(math.log(2), abs=1e-3)


def test_anchors_stay_and_the_others_follow():
    evidence, names = two([1] * 30 + [-1] * 10)
    free = fit([evidence], names)
    held = fit([evidence], names, {names[1]: 1000.0})
    assert held[1].rating == pytest.approx(1000)
    assert held[1].anchored
    assert held[1].low == held[1].high == pytest.approx(1000)
    assert held[0].rating - 1000 == pytest.approx(free[0].rating - free[1].rating, abs=0.01)
    both = fit([evidence], names, {names[0]: 1200.0, names[1]: 1000.0})
    assert [rating.rating for rating in both] == pytest.approx([1200, 1000])


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(3)
    chance = 0.7
    truth = 400 * math.log10(chance / (1 - chance))
    held = 0
    worlds = 150
    for _ in range(worlds):
        evidence, names = two(np.where(generator.random(60) < chance, 1, -1))
        first, second = fit([evidence], names, {"random": 0.0}, resamples=200)
        held += second.low <= -truth <= second.high
        assert first.anchored
    assert 0.89 <= held / worlds <= 0.99


def test_matches_weigh_the_same_however_long():
    short, names = two([1] * 15 + [-1] * 5)
    long, _ = two([-1] * 150 + [1] * 50)
    overall = fit([short, long], names)
    assert overall[0].rating == pytest.approx(overall[1].rating, abs=0.5)


def test_without_enough_deals_there_is_no_interval():
    evidence, names = two([1, -1, 1])
    assert all(math.isinf(rating.low) and math.isinf(rating.high) for rating in fit([evidence], names))


def test_by_results_it_matters_how_far_ahead():
    # nine small wins and a large loss: ahead in nine of ten games, and behind on the whole
    results = [1] * 9 + [-13]
    by_places, names = two(results * 3)
    assert fit([by_places], names)[0].rating > 1600
    by_results, names = two(results * 3, Results)
    first, second = fit([by_results], names)
    mean, spread = 2 * -0.4, 2 * 4.2
    chance = 0.5 * math.erfc(-mean / spread / math.sqrt(2))
    won = (60 * chance + 0.5) / (60 * (1 - chance) + 0.5)
    assert first.rating - second.rating == pytest.approx(400 * math.log10(won), abs=0.1)
    assert first.low < first.rating < first.high
    longer, names = two(results * 3, Results, 10)
    chance = 0.5 * math.erfc(-math.sqrt(10) * mean / spread / math.sqrt(2))
    won = (60 * chance + 0.5) / (60 * (1 - chance) + 0.5)
    assert fit([longer], names)[0].rating - 1500 == pytest.approx(200 * math.log10(won), abs=0.1)


def test_by_results_draws_and_certain_wins():
    even, names = two([0] * 20, Results)
    assert [rating.rating for rating in fit([even], names)] == pytest.approx([1500, 1500])
    always, names = two([1] * 20, Results)  # no spread at all
    first, second = fit([always], names)
    assert first.rating - second.rating == pytest.approx(400 * math.log10(40.5 / 0.5), abs=0.05)


def test_circles():
    beats = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)]
    assert cycles(beats) == [(0, 1, 2), (1, 2, 3)]
    assert cycles([(0, 1), (1, 2), (0, 2)]) == []
    assert cycles([(0, 1), (1, 2), (2, 3), (3, 0)]) == [(0, 1, 2, 3)]
    assert cycles([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]) == []
