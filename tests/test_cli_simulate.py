"""`cardenvs simulate`: many games at one table."""

import json
import re
import shlex

import pytest
import simulate_agents
from toys.high_card import GAME, changed
from toys.high_card import deal as high_card_deal
from typer.testing import CliRunner

from cardenvs.agents import kinds
from cardenvs.agents.seeds import MatchSeed, guest_seed
from cardenvs.arena.match import Match
from cardenvs.arena.results.sums import GameSums
from cardenvs.arena.run import run
from cardenvs.arena.schedule import FIXED
from cardenvs.arena.store import Store
from cardenvs.cli import app
from cardenvs.core.kernel import kernel
from cardenvs.core.registry import get_game, register_game
from cardenvs.core.rng import derived_seed
from cardenvs.core.view import GameStatistics

KEY = f"{2:032x}"
SEED = f"0-{KEY}"
GIVEN = ("--seed", SEED)
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


def seeds(number, seed=0):
    """The seeds of the cards of games 0 to `number` - 1."""
    return [MatchSeed.of(seed).deal(deal) for deal in range(number)]


def failing(games, player):
    """The games in which an agent of simulate_agents fails in the place of `player`."""
    return [game for game in games if guest_seed(KEY, game, 0, player) % simulate_agents.FAILS_AT == 0]


def table(name, *agents, games=30, seed=SEED, **options):
    game = get_game(name)
    return Match.make(game, game.make_options(num_players=len(agents), **options), agents, games, seed, schedule=FIXED)


def games_of(match, **how):
    """The finished games, and (number, error) of those that failed."""
    with Store() as store:
        assert run([match], store, keep_going=True, statistics=True, **how)
        return list(store.records(match.id)), [(deal, error) for _, deal, _, error in store.failed(match.id)]


def untimed(games):
    """Games as far as they are the same whoever plays them."""
    return [(g.deal, g.seed, g.returns, g.actions, g.winners, g.statistics) for g in games]


# ---------------------------------------------------------------------------------------------------------------
# Games and sums


def test_a_line_for_each_game_then_the_summary():
    result = call("kuhn_poker", "--games", "5", "-p", "1", "--seed", "4")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    for number, seed in enumerate(seeds(5, 4)):
        assert lines[number].split()[:3] == [str(number), "seed", str(seed)]
        assert re.search(r"won by player_[01] random  returns [+-]\d [+-]\d  \d plies$", lines[number])
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
    assert [game["number"] for game in games] == list(range(40))
    assert [game["seed"] for game in games] == seeds(40)
    assert written["agents"] == ["random"] * 3
    *seats, everybody = summary["agents"]
    assert [row["agent"] for row in seats] == ["random", "random#2", "random#3"]
    for seat, row in enumerate(seats):
        returns = [game["returns"][seat] for game in games]
        assert row["returns"]["mean"] == pytest.approx(sum(returns) / 40)
        assert row["returns"]["low"] < row["returns"]["mean"] < row["returns"]["high"]
        assert (row["returns"]["min"], row["returns"]["max"]) == (min(returns), max(returns))
        assert row["won"] == sum(game["winners"] == [seat] for game in games)
    assert everybody["agent"] == "all random"
    assert everybody["numbers"] == [0, 1, 2]
    assert everybody["won"] == sum(row["won"] for row in seats) == 40
    assert everybody["returns"]["mean"] == 0
    assert summary["plies"]["mean"] == pytest.approx(sum(game["plies"] for game in games) / 40)
    for game in games:
        assert sum(game["returns"]) == 0
        assert game["returns"][game["winners"][0]] == max(game["returns"])


def test_a_game_can_be_played_again_by_its_number(tmp_path):
    words = ["leduc_poker", "--agents", "random,search:simulations=2", "-p", "1", "-o", "ante=2", "--seed", "9"]
    _, written = played(tmp_path / "all.json", *words, "--games", "4")
    _, again = played(tmp_path / "some.json", *words, "--only", "3,2")
    assert again["games"] == written["games"][2:]
    program, command, *rest = shlex.split(written["command"])
    assert (program, command) == ("cardenvs", "simulate")
    _, all_again = played(tmp_path / "again.json", *rest, "-p", "1")
    assert all_again["games"] == written["games"]


def test_fewer_agents_are_repeated_round_the_table(tmp_path):
    specs = "search:simulations=2,random"
    _, written = played(
        tmp_path / "k.json", "kuhn_poker", "--games", "2", "-p", "1", "--players", "3", "--agents", specs
    )
    assert written["agents"] == ["search:simulations=2", "random", "search:simulations=2"]
    assert [row["numbers"] for row in written["summary"]["agents"]] == [[0], [1], [2], [0, 2]]


@pytest.mark.rotating
def test_processes_play_the_same_games():
    two = table("kuhn_poker", "random", RAISING)
    (alone, failed), (apart, failed_apart) = games_of(two), games_of(two, processes=2)
    assert untimed(alone) == untimed(apart)
    lines = [[(deal, error.partition("\n")[0]) for deal, error in errors] for errors in (failed, failed_apart)]
    assert lines[0] == lines[1]
    assert failed


def test_observers_see_all_events():
    games, failed = games_of(table("leduc_poker", WATCHING, "random", games=5))
    assert len(games) == 5
    assert not failed


# ---------------------------------------------------------------------------------------------------------------
# Failures


FAIL = ("--on-failure", "fail")


@pytest.mark.parametrize(("agent", "kind"), [(RAISING, "exception"), (CHEATING, "illegal")])
def test_an_agent_that_fails_three_times_forfeits(tmp_path, agent, kind):
    code, written = played(
        tmp_path / "f.json", "kuhn_poker", "--games", "12", "-p", "1", "--agents", f"{agent},random", *GIVEN
    )
    forfeited = failing(range(12), 0)
    assert code == 1
    assert written["failures"] == []
    assert len(written["games"]) == 12
    mine, other = written["summary"]["agents"][:2]
    assert mine["failures"] == {kind: 3 * len(forfeited)}
    assert mine["outcomes"] == {"forfeit": len(forfeited)}
    assert other["failures"] == other["outcomes"] == {}
    for game in written["games"]:
        assert game["plies"] == 1 or game["number"] not in forfeited
    result = call(*shlex.split(written["command"])[2:], "-p", "1")
    assert f"failed tries of {agent}: {kind} {3 * len(forfeited)}; games forfeited: {len(forfeited)}" in result.stdout
    assert f"the first in game {forfeited[0]}, ply 0: " in result.stdout


def test_with_three_players_the_game_goes_on_without_the_one_that_fails(tmp_path):
    words = ("leduc_poker", "--players", "3", "--games", "9", "-p", "1", "--agents", f"{RAISING},random,random")
    _, written = played(tmp_path / "f.json", *words, *GIVEN)
    lost = [game for game in written["games"] if game["number"] in failing(range(9), 0)]
    assert lost
    assert all(game["plies"] > 1 for game in lost)


@pytest.mark.parametrize("agent", [RAISING, CHEATING])
def test_an_agent_that_fails_may_be_made_to_play_safely(tmp_path, agent):
    words = ("kuhn_poker", "--games", "12", "-p", "1", "--agents", f"{agent},random", "--on-failure", "forced_action")
    code, written = played(tmp_path / "f.json", *words, "--tries", "2", *GIVEN)
    assert code == 0
    mine = written["summary"]["agents"][0]
    assert set(mine["outcomes"]) == {"forced"}
    assert sum(mine["failures"].values()) == 2 * mine["outcomes"]["forced"]
    assert "--on-failure forced_action --tries 2" in written["command"]


def test_a_slow_agent_is_out_of_time(tmp_path):
    _, written = played(
        tmp_path / "f.json", "kuhn_poker", "--games", "1", "--agents", "python:simulate_agents:sleeping,random",
        "--time-limit", "0.2", "--tries", "1", "-p", "1", *GIVEN,
    )  # fmt: skip
    assert written["summary"]["agents"][0]["failures"] == {"timeout": 1}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--on-failure", "stop"], "--on-failure is forfeit, forced_action or fail; got 'stop'"),
        (["--narrate", "--quiet"], "leave out --quiet and --processes"),
        (["--narrate", "-p", "2"], "leave out --quiet and --processes"),
    ],
)
def test_limits_and_narration_that_cannot_be_are_refused(words, message):
    assert message in refused("kuhn_poker", *words)


def test_games_are_told_as_they_are_played():
    result = call("kuhn_poker", "--games", "2", "--narrate", *GIVEN)
    assert result.exit_code == 0
    assert result.stdout.count("Kuhn poker\n  A deck of 3 cards is shuffled.") == 2
    assert result.stdout.count("Returns: player_0 ") == 2


@pytest.mark.parametrize(
    ("agent", "message"), [(RAISING, "ValueError: it has had enough"), (CHEATING, "its choice is not legal")]
)
def test_a_failing_agent_spoils_its_games_only(tmp_path, agent, message):
    code, written = played(
        tmp_path / "f.json", "kuhn_poker", "--games", "12", "-p", "1", "--agents", f"{agent},random", *FAIL, *GIVEN
    )
    expected = failing(range(12), 0)
    assert 0 < len(expected) < 12
    assert code == 1
    assert [failure["deal"] for failure in written["failures"]] == expected
    assert [game["number"] for game in written["games"]] == [game for game in range(12) if game not in expected]
    for failure in written["failures"]:
        assert f"agent '{agent}' failed in deal {failure['deal']} " in failure["error"]
        assert f"as player_0 of ['{agent}', 'random']: {message}" in failure["error"]
        if agent == RAISING:
            assert failure["traceback"].splitlines()[-1].endswith("enough")


def test_a_failure_comes_with_the_command_that_repeats_it():
    words = ("--agents", f"random,{RAISING}", "-o", "ante=2", *FAIL, *GIVEN)
    result = call("leduc_poker", "--games", "6", "-p", "1", *words)
    assert result.exit_code == 1
    failed = failing(range(6), 1)
    assert f"{len(failed)} of 6 games failed" in result.stdout
    assert "ValueError: it has had enough" in result.stdout
    assert "Traceback" in result.stdout
    (command,) = re.findall(rf"cardenvs simulate .*--only {','.join(map(str, failed))} .*", result.stdout)
    again = call(*shlex.split(command)[2:], "-p", "1")
    assert again.exit_code == 1
    assert f"{len(failed)} of {len(failed)} games failed" in again.stdout


@pytest.mark.rotating
def test_of_many_failures_some_are_printed():
    result = call("kuhn_poker", "--games", "40", "-p", "1", "--agents", f"{RAISING},{RAISING}", "-q", *FAIL, *GIVEN)
    first, second = (failing(range(40), player) for player in range(2))
    named = [int(number) for number in re.findall(r"--only (\S+)", result.stdout)[-1].split(",")]
    assert len(named) > 10
    assert set(first) <= set(named) <= {*first, *second}  # player_1 may not come to act
    assert result.stdout.count(": ValueError: it has had enough") == 10
    assert result.stdout.count("Traceback") == 1  # of the first


@pytest.mark.rotating
def test_a_program_that_dies_is_a_failed_game_and_the_others_go_on():
    match = table("kuhn_poker", DYING, "random", games=12)
    games, failed = games_of(match, processes=2)
    deadly = failing(range(12), 0)
    assert [deal for deal, _ in failed] == deadly
    assert [game.deal for game in games] == [game for game in range(12) if game not in deadly]
    assert all("exit code 7" in error for _, error in failed)


@pytest.mark.rotating
def test_an_agent_that_takes_its_process_along_is_a_failed_game_and_the_others_go_on(monkeypatch):
    """An agent in the worker's own process, so that the worker dies with it."""
    monkeypatch.setitem(kinds._added, "dying", simulate_agents.DYING_KIND)
    plain = table("kuhn_poker", "dying", "random")
    seed = next(seed for seed in range(50) if not dies(plain, seed, 0) and 1 < deaths(plain, seed, 12) < 4)
    match = simulate_agents.WithDying.make(plain.game, plain.options, plain.specs, 12, seed, schedule=FIXED)
    games, failed = games_of(match, processes=2)
    deadly = [game for game in range(12) if dies(plain, seed, game)]
    assert [deal for deal, _ in failed] == deadly
    assert [game.deal for game in games] == [game for game in range(12) if game not in deadly]
    for _, error in failed:
        assert "the process that played it ended (exit code 7)" in error


def dies(match, seed, game):
    """Whether the agent "dying", player 0 of `match` with a seed, ends its process in a game."""
    return derived_seed(MatchSeed.of(seed).deal(game), "agent", "dying") % simulate_agents.FAILS_AT == 0


def deaths(match, seed, games):
    return sum(dies(match, seed, game) for game in range(games))


def test_a_match_keeps_going_when_asked_to(tmp_path):
    """In a match of duplicate deals those with a failed game do not count."""
    words = ["match", "kuhn_poker", "--agents", f"{RAISING},random", "--deals", "8", "--seed", SEED]
    stopped = CliRunner().invoke(app, words)
    assert stopped.exit_code == 2
    written = tmp_path / "match.json"
    result = CliRunner().invoke(app, [*words, "--keep-going", "--statistics", "--json", str(written)])
    assert result.exit_code == 1
    found = json.loads(written.read_text())
    spoilt = {failure["deal"] for failure in found["failures"]}
    assert 0 < len(spoilt) < 8
    assert found["deals"] == 8 - len(spoilt)
    assert f"{len(found['failures'])} of 16 games failed" in result.stdout
    assert found["statistics"]["games"] == 16 - len(found["failures"])
    assert [row["agent"] for row in found["statistics"]["agents"]] == [RAISING, "random"]


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
    assert "is not over after" in result.stdout


@kernel
def failing_deal(s, given, log):
    if s.seed > 1 << 40:  # not in the warm-up
        raise ValueError("there are no cards")
    high_card_deal(s, given, log)


def test_rules_that_cannot_deal_are_a_failed_game():
    name = toy("simulated_undealt_v0", deal=failing_deal)
    result = call(name, "--games", "2", "-p", "1", "--quiet")
    assert result.exit_code == 1
    assert "2 of 2 games failed" in result.stdout
    assert "cannot deal seed" in result.stdout
    assert "there are no cards" in result.stdout


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
    assert written["summary"]["agents"][1]["won"] == 20
    assert written["summary"]["agents"][1]["figures"]["tricks"]["mean"] == pytest.approx(sum(kept) / 20)
    text = call(name, "--games", "20", "-p", "1", *GIVEN).stdout
    assert "moves: 1 of 2 reached" in text
    assert "never: flew" in text
    assert f"tricks 1 {kept[0]}" in text.splitlines()[0]


def test_wingspan_has_points_by_category_and_coverage():
    match = table("wingspan", "random", "random", "random", games=6)
    games, failed = games_of(match)
    assert not failed
    for game in games:
        figures = game.statistics.figures
        for seat in range(3):
            assert figures["points"][seat] == sum(figures[part][seat] for part in figures if part != "points")
        assert game.statistics.winners
        counts = game.statistics.counts
        assert sum(counts["powers used, by bird"].values()) == sum(counts["powers used, by handler"].values())
        assert sum(counts["turns"].values()) == 3 * 26
        assert sum(counts["round goals"].values()) == 4
    summary = GameSums.of(match, games).as_dict()
    handlers, birds = (summary["counts"][group] for group in ("powers used, by handler", "birds played"))
    assert (len(handlers), len(birds)) == (29, 170)
    assert 0 < sum(count["total"] > 0 for count in handlers.values()) <= 29
    assert list(summary["agents"][0]["figures"])[:2] == ["points", "birds"]


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
        (["kuhn_poker", "--seed", "1", "--only", "1,x"], "separated by commas; got 'x'"),
        (["kuhn_poker", "--seed", "1", "--only", "1", "--games", "2"], "give its --seed, and leave out --games"),
        (["kuhn_poker", "--only", "1"], "give its --seed, and leave out --games"),
        (["kuhn_poker", "--seed", "x"], "a match's seed is a number"),
        (
            ["kuhn_poker", "--agents", "random,random,random"],
            "3 agents for 2 players of kuhn_poker_v0; add --players 3",
        ),
        (["kuhn_poker", "--agents", "nosuch"], "no agent 'nosuch' for kuhn_poker_v0"),
        (["kuhn_poker", "--players", "99"], "num_players takes an integer from 2 to 10; got 99"),
        (["kuhn_poker", "--players", "3", "-o", "num_players=3"], "give only one of them"),
        (["kuhn_poker", "--json", "no/such/folder/x.json"], "there is no folder no/such/folder"),
    ],
)
def test_refusals(words, told):
    assert told in refused(*words)


def test_help_has_examples():
    text = call("--help").stdout
    assert "cardenvs simulate wingspan" in text
    assert "Examples" in text
