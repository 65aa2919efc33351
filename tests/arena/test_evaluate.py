"""Evaluations: protocols, scores and cards."""

import json
import re
from pathlib import Path

import pytest
from scipy.stats import t
from typer.testing import CliRunner

import cardenvs
from cardenvs.agents.seeds import MatchSeed
from cardenvs.arena.evaluation import check_card, evaluation_card, evaluation_of, read_protocol
from cardenvs.arena.evaluation.protocol import SIZES, Task, agent_spec
from cardenvs.arena.evaluation.scores import mean_of, scaled
from cardenvs.arena.results.statistics import Estimate, summarise
from cardenvs.arena.run import run
from cardenvs.arena.store import Store
from cardenvs.cli import app
from cardenvs.core.errors import ArenaError, FormatError

PROTOCOL = read_protocol()
FOLDER = Path(cardenvs.__file__).with_name("games")
GAMES = [name for name in cardenvs.list_games() if (FOLDER / name.rpartition("_v")[0]).is_dir()]  # none of other tests
KUHN, LEDUC = ("kuhn_poker_v0", "leduc_poker_v0")


def task_of(game):
    return next(task for task in PROTOCOL.tasks if task.game == game)


def lineups(game):
    task = task_of(game)
    return task.match("random", 1, MatchSeed.of(1), None).lineups


# ---------------------------------------------------------------------------------------------------------------
# The protocol


def test_the_protocol_has_every_game_of_the_suite_once():
    assert [task.game for task in PROTOCOL.tasks] == GAMES
    for size in SIZES:
        assert PROTOCOL.chosen(size)


@pytest.mark.parametrize("task", PROTOCOL.tasks, ids=lambda task: task.game)
def test_the_reference_player_can_play_and_is_better_than_random_play(task):
    game, options = task.resolved()
    returns = game.returns(options)
    match = task.match("random", 1, MatchSeed.of(1), PROTOCOL.limits)
    assert [entry.spec for entry in match.entries][1:2] in ([], [task.reference])
    assert returns.low <= task.random / returns.result_factor < task.best / returns.result_factor <= returns.high
    if returns.total is not None and not returns.cooperative and options.num_players > 1:
        assert task.best == pytest.approx(returns.total / options.num_players * returns.result_factor)
    match.entries[0].make(game, options)


def test_an_agent_takes_one_place_one_side_or_all_of_them():
    assert lineups("kuhn_poker_v0") == ((0, 1), (1, 0))
    assert lineups("skat_v0") == ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    assert lineups("hearts_v0") == ((0, 1, 1, 1), (1, 1, 1, 0), (1, 1, 0, 1), (1, 0, 1, 1))
    assert lineups("spades_v0") == ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))  # 0 and 2 are the agent
    assert lineups("hanabi_v0") == ((0, 0),)
    assert lineups("blackjack_v0") == ((0,),)
    match = task_of("spades_v0").match("random", 1, MatchSeed.of(1), None)
    assert match.specs == ("random", "heuristic", "random", "heuristic")


def test_the_name_of_the_game_takes_its_place_in_a_spec():
    assert agent_spec("zoo:{game}/ppo", "uno_v0") == "zoo:uno_v0/ppo"
    assert agent_spec("search:simulations=5", "uno_v0") == "search:simulations=5"


def test_unknown_sizes_games_and_versions_are_refused():
    with pytest.raises(ArenaError, match="the size is tiny or full; got 'small'"):
        PROTOCOL.chosen("small")
    with pytest.raises(ArenaError, match="has no bridge_v0 in the size tiny"):
        PROTOCOL.chosen("tiny", ["bridge"])
    with pytest.raises(ArenaError, match="there is no protocol 999"):
        read_protocol(999)
    assert [task.game for task in PROTOCOL.chosen("full", ["leduc_poker", "kuhn_poker"])] == [KUHN, LEDUC]


# ---------------------------------------------------------------------------------------------------------------
# Scores


def test_a_score_is_linear_between_random_play_and_the_reference_player():
    task = Task("kuhn_poker_v0", {}, "random", False, {}, random=-0.5, best=1.5)
    assert scaled(Estimate(-0.5, -1.0, 0.0, 9), task) == Estimate(0.0, -25.0, 25.0, 9)
    assert scaled(Estimate(1.5, 1.5, 2.5, 9), task) == Estimate(100.0, 100.0, 150.0, 9)


def test_the_mean_of_scores_has_the_interval_of_welch():
    half = [t.ppf(0.975, deals - 1) * error for deals, error in ((10, 2.0), (40, 1.0))]
    found = mean_of([Estimate(20.0, 20 - half[0], 20 + half[0], 10), Estimate(60.0, 60 - half[1], 60 + half[1], 40)])
    freedom = (4 + 1) ** 2 / (16 / 9 + 1 / 39)  # 13.86
    assert found.mean == 40.0
    assert found.deals == 50
    assert found.high - 40 == pytest.approx(t.ppf(0.975, int(freedom)) * 5**0.5 / 2)
    assert mean_of([Estimate(20.0, -float("inf"), float("inf"), 1), found]).high == float("inf")


def played(agent, games=(KUHN, LEDUC), store=None):
    tasks = PROTOCOL.chosen("tiny", games)
    matches = [task.match(agent, task.deals["tiny"], MatchSeed.of(PROTOCOL.seed), PROTOCOL.limits) for task in tasks]
    run(matches, store)
    return evaluation_of(PROTOCOL, "tiny", agent, list(zip(tasks, matches, strict=True)), {}, store)


def test_scores_are_those_of_the_agents_results_in_the_games():
    with Store() as store:
        found = played("random", store=store)
        for game in found.games:
            mean = summarise(game.match, store.results(game.match.id)).standings[0].mean.mean
            assert game.score.mean == pytest.approx(
                100 * (mean - game.task.random) / (game.task.best - game.task.random)
            )
            assert game.decisions > game.result.deals
            assert not game.failures
        assert not found.is_complete
        assert found.mean.mean == pytest.approx(sum(game.score.mean for game in found.games) / 2)


def test_failures_of_the_agent_are_counted_and_cost_it_points(tmp_path, monkeypatch):
    (tmp_path / "failing_agent.py").write_text("def make(game, options):\n    return lambda turn: -1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    task = Task("kuhn_poker_v0", {}, "random", False, {"tiny": 2}, random=0.0, best=1.0)
    match = task.match("python:failing_agent:make", 2, MatchSeed.of(1), PROTOCOL.limits)
    with Store() as store:
        run([match], store)
        found = evaluation_of(PROTOCOL, "tiny", "x", [(task, match)], {}, store).games[0]
    assert found.failures["forfeit"] == 4
    assert sum(found.failures.values()) == 4 + 3 * 4  # three tries each
    assert found.score.mean < -50


# ---------------------------------------------------------------------------------------------------------------
# Cards


@pytest.fixture(scope="module")
def card_and_store():
    with Store() as store:
        yield json.loads(json.dumps(evaluation_card(played("random", store=store), store.digest()))), store


def test_a_card_agrees_with_its_games(card_and_store):
    assert check_card(*card_and_store) == []


def test_a_card_still_agrees_when_its_store_has_got_other_games():
    with Store() as store:
        found = played("random", [KUHN], store)
        card = evaluation_card(found, store.digest([game.match.id for game in found.games]))
        played("search:simulations=4", [KUHN], store)
        assert check_card(card, store) == []


def change(card, *path, to):
    changed = json.loads(json.dumps(card))
    where = changed
    for key in path[:-1]:
        where = where[key]
    where[path[-1]] = to
    return changed


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("games", 0, "score", "mean"), 99.0, "kuhn_poker_v0: score on the card: 99.0 in 100 deals, by the games: "),
        (("games", 0, "result", "high"), 9.0, "kuhn_poker_v0: result on the card"),
        (("games", 1, "score", "deals"), 51, "leduc_poker_v0: score on the card: .* in 51 deals"),
        (("score", "mean"), 77.0, "the mean score is 77.0, but the games give"),
        (("is_complete",), True, "is_complete is True, but the store says False"),
        (("agent",), "heuristic", "kuhn_poker_v0: the match has other agents than heuristic"),
        (("games", 0, "failures"), {"forfeit": 1}, "kuhn_poker_v0: failures on the card"),
        (("games", 1, "decisions"), 1, "leduc_poker_v0: decisions on the card: 1, by the games"),
        (("games", 0, "match"), "0" * 16, "kuhn_poker_v0: the store does not have its match"),
        (("games", 0, "reference"), "heuristic", "kuhn_poker_v0: reference on the card: .heuristic., by"),
        (("games", 0, "fingerprint"), "f" * 64, "kuhn_poker_v0: fingerprint on the card"),
        (("games", 0, "conditions"), {"temperature": 0}, "kuhn_poker_v0: conditions on the card"),
        (("games", 0, "options"), {"num_players": 3}, "kuhn_poker_v0: options on the card"),
        (("games", 1, "decision_ms"), 0.001, "leduc_poker_v0: decision_ms on the card: 0.001"),
        (("seeds",), ["12345"], r"the seeds are .*12345.*, but the games have .'1'."),
        (("digest",), "0" * 64, "the digest is .*, but the games have"),
        (("games", 0, "game"), "uno_v1", "uno_v1: protocol 1 does not have it in the size tiny"),
    ],
)
def test_a_falsified_card_is_found_out(card_and_store, path, value, said):
    card, store = card_and_store
    found = check_card(change(card, *path, to=value), store)
    assert any(re.search(said, one) for one in found), found


@pytest.mark.parametrize(
    "card", [[], {}, {"format": "x", "format_version": 1}, None, {"format": "cardenvs evaluation"}]
)
def test_what_is_no_card_is_refused(card_and_store, card):
    with pytest.raises(FormatError, match="not a"):
        check_card(card, card_and_store[1])


# ---------------------------------------------------------------------------------------------------------------
# The command


def call(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_the_command_prints_scores_and_writes_a_card_that_verify_accepts(tmp_path):
    store, card, page = tmp_path / "games.db", tmp_path / "card.json", tmp_path / "page.html"
    words = ["evaluate", "random", "--games", "kuhn_poker,leduc_poker", "--store", store]
    result = call(*words, "--json", card, "--html", page)
    assert result.exit_code == 0, result.output
    assert "Kuhn poker" in result.stdout
    assert "mean of 2 games" in result.stdout
    assert "not the whole protocol" in result.stdout
    assert "Kuhn poker" in page.read_text()
    again = call(*words, "--resume", "--json", tmp_path / "again.json")
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("card.json", "again.json"))
    assert again.exit_code == 0
    assert [game["score"] for game in first["games"]] == [game["score"] for game in second["games"]]
    checked = call("verify", store, "--card", card)
    assert checked.exit_code == 0, checked.output
    assert "its scores are those of the games" in checked.stdout
    card.write_text(json.dumps(change(first, "score", "mean", to=100.0)))
    checked = call("verify", store, "--card", card)
    assert checked.exit_code == 1
    assert "the mean score is 100.0" in checked.stdout
    refused = call("verify", store, "--card", page)
    assert refused.exit_code == 2
    assert f"{page} is not a card" in refused.output.replace("\n", "")
    card.write_text("{}")
    assert f"{card}: this is not a whole card" in call("verify", store, "--card", card).output.replace("\n", "")


def test_secret_deals_are_drawn_and_public_ones_are_not(tmp_path):
    seeds = []
    for name, more in (("a", []), ("b", []), ("c", ["--secret"])):
        path = tmp_path / f"{name}.json"
        assert call("evaluate", "random", "--games", "kuhn_poker", "--json", path, *more).exit_code == 0
        seeds.append(json.loads(path.read_text())["seeds"])
    assert seeds[0] == seeds[1] == ["1"]
    assert len(seeds[2][0]) > 20


def test_games_that_an_agent_cannot_play_are_named_with_the_reason():
    result = call("evaluate", "heuristic", "--games", "kuhn_poker,liars_dice")
    assert result.exit_code == 0
    assert "not played: kuhn_poker_v0: no agent 'heuristic'" in result.stdout
    none = call("evaluate", "serch", "--games", "kuhn_poker")
    assert none.exit_code == 2
    assert "cannot play any of the 1 games" in none.stderr
    assert "did you mean 'search'" in none.stderr


def test_the_policy_of_a_game_needs_no_name_where_it_is_the_only_one():
    from cardenvs.agents.specs import agent_fingerprint

    assert agent_fingerprint("zoo:kuhn_poker_v0") == agent_fingerprint("zoo:kuhn_poker_v0/magnet")
