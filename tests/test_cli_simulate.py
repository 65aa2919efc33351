"""`cardenvs simulate`: many games at one table."""

import dataclasses
import json
import re
import shlex

import pytest
import simulate_agents
from toys.high_card import GAME, changed
from typer.testing import CliRunner

from cardenvs.agents import kinds
from cardenvs.agents.seeds import guest_seed
from cardenvs.arena.simulate import GameSeeds, Simulation, Tally, simulate
from cardenvs.cli import app
from cardenvs.core.kernel import kernel
from cardenvs.core.registry import get_game, register_game
from cardenvs.core.rng import derived_seed
from cardenvs.core.view import GameStatistics

KEY = f"{2:032x}"
GIVEN = ("--seed", "0", "--guests-key", KEY)
RAISING, CHEATING, DYING, WATCHING = (
    f"python:simulate_agents:{name}" for name in ("raising", "cheating", "dying", "watching")
)


def call(*words):
    result = CliRunner().invoke(app, ["simulate", *words], env={"COLUMNS": "160", "TERM": "dumb"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*words):
    result = call(*words)
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    return line


def played(path, *words):
    """Exit code and machine form of a run."""
    code = call(*words, "--quiet", "--json", str(path)).exit_code
    return code, json.loads(path.read_text())


def failing_seeds(seeds, player):
    """The seeds of the games in which an agent of simulate_agents fails in the place of `player`."""
    return [seed for seed in seeds if guest_seed(KEY, seed, player) % simulate_agents.FAILS_AT == 0]


def table(name, *agents, **options):
    game = get_game(name)
    return Simulation(game, game.make_options(num_players=len(agents), **options), agents)


def without_times(games):
    """Games as far as they are the same whoever plays them."""
    plain = []
    for game in games:
        failure = game.failure and dataclasses.replace(game.failure, traceback="")
        plain.append(dataclasses.replace(game, ms=0, failure=failure))
    return plain


# ---------------------------------------------------------------------------------------------------------------
# Games and sums


def test_a_line_for_each_game_then_the_summary():
    result = call("kuhn_poker", "--games", "5", "-p", "1", "--seed", "4")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    for number, seed in enumerate(list(GameSeeds(4, 5)), 1):
        assert lines[number - 1].split()[:3] == [str(number), "seed", str(seed)]
        assert re.search(r"won by player_[01] random  returns [+-]\d [+-]\d  \d plies  \d+\.\d ms$", lines[number - 1])
    assert "Kuhn poker: 5 games" in result.stdout
    assert "games/s" in result.stdout
    assert "mean return (chips)" in result.stdout
    assert "failed" not in result.stdout


def test_quiet_prints_the_summary_only():
    text = call("kuhn_poker", "--games", "3", "-p", "1", "--quiet").stdout
    assert "seed " not in text
    assert "Kuhn poker: 3 games" in text


def test_sums_are_those_of_the_games(tmp_path):
    code, written = played(tmp_path / "k.json", "kuhn_poker", "--games", "40", "-p", "1", "--players", "3", *GIVEN)
    assert code == 0
    games, summary = written["games"], written["summary"]
    assert [game["seed"] for game in games] == list(GameSeeds(0, 40))
    assert written["agents"] == ["random"] * 3
    for seat, row in enumerate(summary["seats"]):
        returns = [game["returns"][seat] for game in games]
        assert row["returns"]["mean"] == pytest.approx(sum(returns) / 40)
        assert row["returns"]["low"] < row["returns"]["mean"] < row["returns"]["high"]
        assert (row["returns"]["min"], row["returns"]["max"]) == (min(returns), max(returns))
        assert row["won"] == sum(game["winners"] == [seat] for game in games)
    (agent,) = summary["agents"]
    assert agent["seats"] == [0, 1, 2]
    assert agent["won"] == sum(row["won"] for row in summary["seats"]) == 40
    assert agent["returns"]["mean"] == 0
    assert summary["plies"]["mean"] == pytest.approx(sum(game["plies"] for game in games) / 40)
    for game in games:
        assert sum(game["returns"]) == 0
        assert game["returns"][game["winners"][0]] == max(game["returns"])


def test_a_game_can_be_played_again_by_its_seed(tmp_path):
    words = ["leduc_poker", "--agents", "random,search:simulations=2", "-p", "1", "-o", "ante=2"]
    _, written = played(tmp_path / "all.json", *words, "--games", "4", "--seed", "9")
    game = written["games"][2]
    _, again = played(tmp_path / "one.json", *words, "--seeds", str(game["seed"]))
    (same,) = again["games"]
    assert {**same, "ms": 0} == {**game, "ms": 0}
    program, command, *rest = shlex.split(written["command"])
    assert (program, command) == ("cardenvs", "simulate")
    _, all_again = played(tmp_path / "again.json", *rest, "-p", "1")
    assert [g["returns"] for g in all_again["games"]] == [g["returns"] for g in written["games"]]


def test_fewer_agents_are_repeated_round_the_table(tmp_path):
    specs = "search:simulations=2,random"
    _, written = played(
        tmp_path / "k.json", "kuhn_poker", "--games", "2", "-p", "1", "--players", "3", "--agents", specs
    )
    assert written["agents"] == ["search:simulations=2", "random", "search:simulations=2"]
    assert [row["seats"] for row in written["summary"]["agents"]] == [[0, 2], [1]]


def test_processes_play_the_same_games_in_the_same_order():
    seeds = list(GameSeeds(1, 30))
    two = table("kuhn_poker", "random", RAISING)
    alone, apart = list(simulate(two, seeds)), list(simulate(two, seeds, processes=2))
    assert [game.seed for game in apart] == seeds
    assert without_times(alone) == without_times(apart)
    assert any(game.failure for game in alone)


def test_observers_are_told_what_they_see():
    watched = table("leduc_poker", WATCHING, "random")
    assert not any(game.failure for game in simulate(watched, list(GameSeeds(0, 5))))


# ---------------------------------------------------------------------------------------------------------------
# Failures


@pytest.mark.parametrize(
    ("agent", "kind", "message"),
    [
        (RAISING, "AgentFailureError", "ValueError: it has had enough"),
        (CHEATING, "AgentFailureError", "it chose what is not legal"),
    ],
)
def test_a_failing_agent_spoils_its_games_only(tmp_path, agent, kind, message):
    code, written = played(
        tmp_path / "f.json", "kuhn_poker", "--games", "12", "-p", "1", "--agents", f"{agent},random", *GIVEN
    )
    expected = failing_seeds(list(GameSeeds(0, 12)), 0)
    assert 0 < len(expected) < 12
    assert code == 1
    assert written["summary"]["failed_seeds"] == expected
    for game in written["games"]:
        failure = game["failure"]
        assert (failure is not None) == (game["seed"] in expected)
        if failure is not None:
            assert failure["kind"] == kind
            assert failure["message"].startswith(message)
            assert failure["player"] == 0
            assert failure["traceback"].splitlines()[-1].endswith("enough") or kind == "AgentFailureError"
            assert game["returns"] == game["winners"] == []


def test_a_failure_is_told_with_the_command_that_repeats_it():
    result = call("leduc_poker", "--games", "6", "-p", "1", "--agents", f"random,{RAISING}", "-o", "ante=2", *GIVEN)
    assert result.exit_code == 1
    failed = failing_seeds(list(GameSeeds(0, 6)), 1)
    assert f"{len(failed)} of 6 games failed" in result.stdout
    assert "ValueError: it has had enough" in result.stdout
    assert "Traceback" in result.stdout
    (command,) = re.findall(rf"cardenvs simulate .*--seeds {failed[0]} .*", result.stdout)
    again = call(*shlex.split(command)[2:], "-p", "1")
    assert again.exit_code == 1
    assert "1 of 1 games failed" in again.stdout
    assert "Traceback" in again.stdout


def test_many_failures_are_told_in_one_command():
    result = call("kuhn_poker", "--games", "60", "-p", "1", "--agents", f"{RAISING},{RAISING}", "--quiet", *GIVEN)
    seeds = list(GameSeeds(0, 60))
    first, second = (failing_seeds(seeds, player) for player in range(2))
    told = [int(seed) for seed in re.findall(r"--seeds (\S+,\S+)", result.stdout)[-1].split(",")]
    assert len(told) > 10
    assert set(first) <= set(told) <= {*first, *second}  # player_1 may not come to act
    assert result.stdout.count("ValueError: it has had enough") == 10
    assert result.stdout.count("Traceback") == 2  # of the first: here, and in its process


def test_a_process_that_dies_is_a_failed_game_and_the_others_go_on():
    rest = list(GameSeeds(2, 60))
    healthy = [seed for seed in rest if seed not in failing_seeds(rest, 0)]
    deadly = failing_seeds(rest, 0)[:2]
    seeds = [healthy[0], *healthy[1:5], deadly[0], *healthy[5:9], deadly[1], *healthy[9:12]]
    given = dataclasses.replace(table("kuhn_poker", DYING, "random"), guests_key=KEY)
    games = list(simulate(given, seeds, processes=2))
    assert [game.seed for game in games] == seeds
    assert [game.seed for game in games if game.failure] == deadly
    assert {game.failure.kind for game in games if game.failure} == {"AgentFailureError"}
    assert "exit code 7" in next(game.failure.message for game in games if game.failure)


def test_an_agent_that_takes_its_process_along_is_a_failed_game_and_the_others_go_on(monkeypatch):
    """An agent in the worker's own process, so that the worker dies with it."""
    monkeypatch.setitem(kinds._added, "dying", simulate_agents.DYING_KIND)
    plain = table("kuhn_poker", "dying", "random")
    given = simulate_agents.WithDying(plain.game, plain.options, plain.agents)
    rest = list(GameSeeds(2, 60))
    deadly = [seed for seed in rest if derived_seed(seed, "player", 0) % simulate_agents.FAILS_AT == 0][:2]
    healthy = [seed for seed in rest if derived_seed(seed, "player", 0) % simulate_agents.FAILS_AT != 0]
    seeds = [*healthy[:5], deadly[0], *healthy[5:9], deadly[1], *healthy[9:12]]
    games = list(simulate(given, seeds, processes=2))
    assert [game.seed for game in games] == seeds
    assert [game.seed for game in games if game.failure] == deadly
    for game in games:
        if game.failure:
            assert game.failure.kind == "ProcessDied"
            assert game.failure.message == "the process that played it ended (exit code 7)"


def toy(name, **changes):
    """A High Card with something replaced, registered."""
    made = changed(name, **changes)
    register_game(name, f"{__name__}:{name}")
    globals()[name] = made
    return name


@kernel
def endless(s, action, log):
    s.current_player = 1 - s.current_player


def test_rules_that_never_end_are_a_failed_game():
    name = toy("simulated_endless_v0", apply_action=endless)
    result = call(name, "--games", "2", "-p", "1", "--quiet")
    assert result.exit_code == 1
    assert "2 of 2 games failed" in result.stdout
    assert "the game is not over after" in result.stdout


class LeakyView(type(GAME.view)):
    def conserved(self, s):
        return {"cards": 5.0 - bool(s.terminal)}


def test_what_is_not_conserved_is_a_failed_game():
    result = call(toy("simulated_leaky_v0", view=LeakyView()), "--games", "1", "-p", "1")
    assert result.exit_code == 1
    assert "what should be conserved has changed: cards from 5.0 to 4.0" in result.stdout


# ---------------------------------------------------------------------------------------------------------------
# What a game tells of itself


class CountingView(type(GAME.view)):
    def statistics(self, state):
        kept = sum(action == 0 for action in state.actions)
        return GameStatistics({"tricks": [1, kept]}, {"moves": {"kept": kept, "flew": 0}}, winners=[1])


def test_figures_and_counts_of_a_game_are_summed_up(tmp_path):
    name = toy("simulated_counting_v0", view=CountingView())
    code, written = played(tmp_path / "c.json", name, "--games", "20", "-p", "1", *GIVEN)
    assert code == 0
    kept = [game["figures"]["tricks"][1] for game in written["games"]]
    counts = written["summary"]["counts"]["moves"]
    assert counts == {"kept": {"total": sum(kept), "games": sum(k > 0 for k in kept)}, "flew": {"total": 0, "games": 0}}
    assert 0 < sum(kept) < 40
    assert written["summary"]["seats"][1]["won"] == 20
    assert written["summary"]["seats"][1]["figures"]["tricks"]["mean"] == pytest.approx(sum(kept) / 20)
    text = call(name, "--games", "20", "-p", "1", *GIVEN).stdout
    assert "moves: 1 of 2 reached" in text
    assert "never: flew" in text
    assert f"tricks 1 {kept[0]}" in text.splitlines()[0]


def test_wingspan_tells_points_by_category_and_coverage():
    tally = Tally(table("wingspan", "random", "random", "random"))
    for game in simulate(tally.simulation, list(GameSeeds(5, 6))):
        assert game.failure is None
        figures = game.statistics.figures
        for seat in range(3):
            assert figures["points"][seat] == sum(figures[part][seat] for part in figures if part != "points")
        assert game.statistics.winners
        counts = game.statistics.counts
        assert sum(counts["powers used, by bird"].values()) == sum(counts["powers used, by handler"].values())
        assert sum(counts["turns"].values()) == 3 * 26
        assert sum(counts["round goals"].values()) == 4
        tally.add(game)
    summary = tally.summary()
    handlers, birds = (summary["counts"][group] for group in ("powers used, by handler", "birds played"))
    assert (len(handlers), len(birds)) == (29, 170)
    assert 0 < sum(count["total"] > 0 for count in handlers.values()) <= 29
    assert list(summary["seats"][0]["figures"])[:2] == ["points", "birds"]


def test_wingspan_counts_the_power_that_was_used():
    state = get_game("wingspan").new_state(seed=3, num_players=2)
    used = []
    while not state.is_terminal:
        action = state.policy_action("random", derived_seed(3, state.ply))
        label = state.action_label(action)
        if label.startswith(("use ", "react with ")):
            used.append(label.removeprefix("use ").removeprefix("react with "))
        state.apply(action)
    counts = state.game.view.statistics(state).counts
    assert used
    for bird in used:
        assert counts["powers used, by bird"][bird] >= used.count(bird)


# ---------------------------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["castle"], "no game named 'castle'"),
        (["kuhn_poker", "--seeds", "1,x"], "separated by commas; got 'x'"),
        (["kuhn_poker", "--seeds", "1", "--games", "2"], "leave out --games and --seed"),
        (
            ["kuhn_poker", "--agents", "random,random,random"],
            "3 agents for 2 players of kuhn_poker_v0; add --players 3",
        ),
        (["kuhn_poker", "--agents", "nosuch"], "no agent 'nosuch' for kuhn_poker_v0"),
        (["kuhn_poker", "--players", "99"], "num_players takes an integer from 2 to 10; got 99"),
        (["kuhn_poker", "--players", "3", "-o", "num_players=3"], "give one of them"),
        (["kuhn_poker", "--json", "no/such/folder/x.json"], "there is no folder no/such/folder"),
    ],
)
def test_refusals(words, told):
    assert told in refused(*words)


def test_help_has_examples():
    text = call("--help").stdout
    assert "cardenvs simulate wingspan" in text
    assert "Examples" in text
