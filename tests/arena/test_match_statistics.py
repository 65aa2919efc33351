"""Means and intervals, against numbers worked out by hand."""

import dataclasses
import math

import pytest

from cardenvs.arena import Match, run_match, summarise
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.document import summary_document
from cardenvs.arena.results.ratings import BY_RESULTS, evidence_for, fit
from cardenvs.arena.results.statistics import Estimate, complete_deals, estimate, t_quantile


def games(match, results, decisions=(2, 2), seconds=(0.5, 0.25)):
    """Records of a match from {deal: [returns by player, for each lineup]}."""
    return [
        GameRecord(deal, lineup, 0, match.lineups[lineup], tuple(returns), (), decisions, seconds)
        for deal, lineups in results.items()
        for lineup, returns in enumerate(lineups)
    ]


@pytest.mark.parametrize(
    ("freedom", "tabled"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (9, 2.262),
        (30, 2.042),
        (120, 1.980),
        (10**5, 1.960),
    ],
)
def test_the_t_table(freedom, tabled):
    assert t_quantile(freedom) == pytest.approx(tabled, abs=5e-4)


def test_other_levels():
    assert t_quantile(10, 0.99) == pytest.approx(3.169, abs=5e-4)
    assert t_quantile(1, 0.5) == pytest.approx(1.0)


def test_an_interval_by_hand():
    # mean 2, deviations -1 0 1, spread 1, t(2) = 4.3027, half = 4.3027 / sqrt(3)
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - 2.0 == pytest.approx(4.302653 / math.sqrt(3))
    assert 2.0 - found.low == pytest.approx(4.302653 / math.sqrt(3))
    assert estimate([4.0]) == Estimate(4.0, -math.inf, math.inf, 1)
    assert estimate([]).deals == 0


def test_a_deal_counts_once_whatever_the_luck_of_its_cards():
    match = Match.of("leduc_poker_v0", ["random", "search"], deals=3)
    assert match.lineups == ((0, 1), (1, 0))
    # The first player's cards win 9, 1 and 5 chips; the second agent makes 1, 2, 3 more of it a game.
    results = {0: [(9, -9), (11, -11)], 1: [(1, -1), (5, -5)], 2: [(5, -5), (11, -11)]}
    summary = summarise(match, games(match, results))
    first, second = summary.standings
    assert second.by_deal.tolist() == [1.0, 2.0, 3.0]
    assert first.by_deal.tolist() == [-1.0, -2.0, -3.0]
    assert second.mean == estimate([1.0, 2.0, 3.0])
    assert summary.advantage(1, 0) == summary.standings[1].mean
    assert summary.advantage(0, 1) == summary.standings[0].mean
    assert [standing.name for standing in summary.ranking] == ["search", "random"]
    assert (first.won, second.won) == (0.5, 0.5)
    assert (first.games, first.decision_seconds) == (6, pytest.approx(0.1875))


def test_round_robin_and_ties():
    match = Match.of("leduc_poker_v0", ["random", "search", "random"], deals=1)
    # lineups: 01 10 02 20 12 21
    summary = summarise(match, games(match, {0: [(1, -1), (3, -3), (0, 0), (0, 0), (2, -2), (-4, 4)]}))
    assert [standing.mean.mean for standing in summary.standings] == [-0.5, (-1 + 3 + 2 + 4) / 4, (-2 - 4) / 4]
    assert {pair: found.mean for pair, found in summary.advantages.items()} == {(0, 1): -1.0, (0, 2): 0.0, (1, 2): 3.0}
    assert [standing.won for standing in summary.standings] == [0.5, 0.75, 0.25]


def test_three_at_a_table():
    match = Match.of("kuhn_poker_v0", ["random"] * 3, deals=1, num_players=3)
    # every seating with the same returns by player: each agent sits in each place twice
    summary = summarise(match, games(match, {0: [(4, -2, -2)] * 6}, (1, 1, 0), (1, 1, 0)))
    assert [standing.mean.mean for standing in summary.standings] == [0.0] * 3
    assert [standing.won for standing in summary.standings] == [pytest.approx(1 / 3)] * 3
    only = summarise(match, games(match, {0: [(4, -2, -2)] + [(0, 0, 0)] * 5}, (1, 1, 1), (1, 1, 1)))
    assert only.advantage(0, 2).mean == pytest.approx(3 / 6)
    assert only.advantage(0, 0) is None


def test_where_returns_do_not_sum_to_zero_the_advantage_is_half_the_difference():
    match = Match.of("wingspan_v0", ["random", "heuristic"], deals=2, reward="score")
    summary = summarise(match, games(match, {0: [(50, 80), (70, 40)], 1: [(60, 60), (90, 70)]}))
    assert [standing.mean.mean for standing in summary.standings] == [(50 + 40 + 60 + 70) / 4, (80 + 70 + 60 + 90) / 4]
    assert summary.advantage(1, 0).mean == (30 + 30 + 0 + 20) / 4 / 2
    note = summary_document(summary)["display"]["head_to_head"]
    assert note.startswith("half the difference between the row's and the column's results")
    zero_sum = dataclasses.replace(summary, match=Match.of("wingspan_v0", ["random", "heuristic"], deals=2))
    note = summary_document(zero_sum)["display"]["head_to_head"]
    assert note == "the row's mean result against the column, in wins a deal"


def test_incomplete_deals_and_deals_beyond_the_match_do_not_count():
    match = Match.of("leduc_poker_v0", ["random", "search"], deals=3)
    results = {0: [(1, -1), (-1, 1)], 1: [(9, -9)], 2: [(2, -2), (2, -2)], 3: [(5, -5), (-5, 5)]}
    summary = summarise(match, games(match, results))
    assert summary.deals == (0, 2)
    assert (summary.games, summary.unfinished) == (4, 2)
    assert summary.standings[0].by_deal.tolist() == [1.0, 0.0]
    empty = summarise(match, [])
    assert (empty.deals, empty.games, empty.unfinished) == ((), 0, 6)


def test_search_is_clearly_stronger_than_random_on_leduc():
    summary = run_match(Match.of("leduc_poker_v0", ["search", "random"], deals=250, seed=11))
    assert summary.standings[0].mean.low > 1.0
    assert summary.standings[0].mean.mean == -summary.standings[1].mean.mean


def test_agents_share_a_rank_where_their_intervals_overlap():
    match = Match.of("leduc_poker_v0", ["random", "search", "random", "search"], deals=3)
    summary = summarise(match, games(match, {deal: [(0, 0)] * 12 for deal in range(3)}))
    bounds = [(4.0, 6.0), (5.0, 9.0), (1.0, 4.5), (-3.0, 0.0)]
    standings = tuple(
        dataclasses.replace(standing, mean=Estimate((low + high) / 2, low, high, 3))
        for standing, (low, high) in zip(summary.standings, bounds, strict=True)
    )
    summary = dataclasses.replace(summary, standings=standings)
    # The third overlaps the first, but not the second; the last lies below all.
    assert [summary.rank(standing) for standing in standings] == [1, 1, 2, 4]


def test_in_games_for_one_agents_meet_on_the_deal():
    match = Match.of("one_player_poker_v0", ["random", "heuristic"], deals=2)
    results = {0: [(3.0,), (5.0,)], 1: [(4.0,), (4.0,)]}
    summary = summarise(match, games(match, results, decisions=(4,), seconds=(0.5,)))
    assert [standing.won for standing in summary.standings] == [0.25, 0.75]
    ahead = summary.advantage(1, 0)
    assert (ahead.mean, ahead.deals) == (100.0, 2)  # two rewards' worth on the first deal, in points
    evidence = evidence_for(match, match.names, BY_RESULTS)
    for deal in complete_deals(match, games(match, results, (4,), (0.5,))):
        evidence.add(deal)
    random, heuristic = fit([evidence], match.names)
    assert heuristic.rating > random.rating
