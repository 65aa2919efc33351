"""Matches, boards and evaluations of cooperative games, in which all players get the same."""

import dataclasses
import io

import pytest
from rich.console import Console

from cardenvs.agents.network import Network
from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.output.page import page
from cardenvs.arena.output.site import write_site
from cardenvs.arena.output.terminal import print_board, print_summary
from cardenvs.arena.results.board import board_of
from cardenvs.arena.results.document import board_document, summary_document
from cardenvs.arena.schedule import Schedule
from cardenvs.core.registry import get_game
from cardenvs.core.returns import Returns
from cardenvs.envs.vector import VectorEnv
from cardenvs.testing.case import Case, ConformanceError
from cardenvs.testing.conformance import check_returns
from cardenvs.training.ppo.evaluate import Evaluation, meaning

SMALL = {"preset": "very_small"}


def cooperative_match(*agents, deals=20, **options):
    return Match.of("hanabi_v0", list(agents), deals=deals, seed=1, **SMALL | options)


def printed(show, document):
    console = Console(file=io.StringIO(), width=160)
    show(document, console)
    return console.file.getvalue()


def test_a_round_robin_seats_copies_together():
    schedule = Schedule()
    assert schedule.lineups(2, 2, cooperative=True) == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert schedule.lineups(2, 2) == ((0, 1), (1, 0))
    groups = {tuple(sorted(lineup)) for lineup in schedule.lineups(2, 4, cooperative=True)}
    assert groups == {(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1), (1, 1, 1, 1)}


def test_cross_play_is_the_mean_result_of_each_pair(tmp_path):
    match = cooperative_match("heuristic", "random")
    summary = run_match(match, store=tmp_path / "games.db")
    with Store(tmp_path / "games.db") as store:
        games = list(store.records(match.id))
    for pair in ((0, 0), (0, 1), (1, 1)):
        together = [game.returns[0] for game in games if tuple(sorted(game.seating)) == pair]
        assert summary.cross_play[pair].mean == pytest.approx(sum(together) / len(together))
    assert summary.cross_play[0, 0].mean > summary.cross_play[0, 1].mean
    assert summary.advantages == {}
    assert [standing.games for standing in summary.standings] == [60, 60]


def test_one_agent_is_enough_for_a_match():
    summary = run_match(cooperative_match("heuristic", deals=5))
    assert list(summary.cross_play) == [(0, 0)]
    assert summary.games == 5


def test_the_terminal_and_the_page_show_cross_play_and_no_winners():
    document = summary_document(run_match(cooperative_match("heuristic", "random")))
    assert document["head_to_head"] == []
    assert document["display"]["seating"] == "in every seating"
    for text in (printed(print_summary, document), page(document)):
        assert "Cross-play" in text
        assert "Head to head" not in text
        assert "won" not in text


def test_a_match_of_another_game_has_no_cross_play():
    document = summary_document(run_match(Match.of("kuhn_poker_v0", ["random", "random"], deals=5, seed=1)))
    assert "cross_play" not in document
    assert "Head to head" in printed(print_summary, document)


def test_boards_rate_nobody_in_cooperative_games(tmp_path):
    path = tmp_path / "games.db"
    run_match(cooperative_match("heuristic", "random"), store=path)
    with Store(path) as store:
        alone = board_of(store)
        write_site(store, board_document(alone), tmp_path / "site")
    run_match(Match.of("kuhn_poker_v0", ["random", "search:simulations=5"], deals=20, seed=1), store=path)
    with Store(path) as store:
        board = board_of(store)
        write_site(store, board_document(board), tmp_path / "both")
    assert alone.overall == ()
    assert alone.games[0].ratings == ()
    assert {rating.name for rating in board.overall} == {"random", "search:simulations=5"}
    assert board.unconnected == ()
    assert any("Cross-play" in page.read_text() for page in (tmp_path / "site" / "games").glob("*.html"))
    assert "Cross-play" in printed(print_board, board_document(board))


def test_returns_that_differ_are_reported():
    game = get_game("kuhn_poker_v0")
    lied = dataclasses.replace(game, returns=lambda options: Returns(-2, 2, 0, "chips", cooperative=True))
    with pytest.raises(ConformanceError, match="declared to be cooperative"):
        check_returns(Case(lied, lied.make_options(), seed=0, play_seed=0))


def test_training_evaluates_a_network_in_all_seats():
    evaluation = Evaluation(VectorEnv(get_game("hanabi_v0"), 20, mask=False, **SMALL), 1)
    network = Network.for_game(get_game("hanabi_v0"), get_game("hanabi_v0").make_options(**SMALL), (8,), "relu")
    ended = []
    evaluation.on_games = ended.append
    assert evaluation.num_games("heuristic") == 60  # of the network, of the policy, of random play; 20 deals each
    score = evaluation.score(network, "heuristic")
    assert sum(ended) == 60
    returns = evaluation.returns(network, "heuristic", sampled=False)
    assert score.mean == pytest.approx((returns - evaluation.own_returns("heuristic")).mean())
    assert "in all seats" in meaning({"heuristic": score}, get_game("hanabi_v0").returns(evaluation._vec.options))
