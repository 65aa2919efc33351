"""`cardenvs solve` and `cardenvs exploitability` from the command line."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from cardenvs.agents.tabular import TabularPolicy
from cardenvs.cli import app

HANGS_AFTER_S = 300


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    return CliRunner().invoke(app, [*words], env={"COLUMNS": "80"})


def refused(*words):
    result = run(*words)
    assert result.exit_code == 2, result.output
    return result.stderr


def test_it_prints_sizes_and_the_curve_and_writes_a_policy_that_plays():
    result = run("solve", "kuhn_poker", "--iterations", "20", "--out", "kuhn", "--strategy")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "kuhn_poker_v0: 12 information states, 24 decisions, 30 ends"
    assert [line.split()[0] for line in lines[2:7]] == ["1", "2", "5", "10", "20"]
    assert "0.91666667" in lines[2]
    assert "tabular:kuhn/latest.policy" in lines[7]
    assert result.stdout.count("player_1: ") == 6
    assert max(map(len, lines[:8])) <= 80
    assert [json.loads(line)["iterations"] for line in open("kuhn/metrics.jsonl")][-1] == 20  # noqa: SIM115
    match = run("match", "kuhn_poker", "--agents", "tabular:kuhn/latest.policy,random", "--deals", "20")
    assert match.exit_code == 0, match.output
    gains = run("exploitability", "kuhn_poker", "--agent", "tabular:kuhn/latest.policy")
    assert gains.exit_code == 0, gains.output
    assert f"NashConv {json.loads(open('kuhn/metrics.jsonl').readlines()[-1])['nash_conv']:.6f}" in gains.stdout  # noqa: SIM115


def test_it_stops_at_a_nash_conv_and_goes_on():
    assert run("solve", "kuhn_poker", "--until", "0.05", "--out", "a").exit_code == 0
    first = TabularPolicy.load("a/latest.policy").iterations
    assert first < 50
    assert run("solve", "--out", "a", "--resume", "--iterations", "300").exit_code == 0
    assert TabularPolicy.load("a/latest.policy").iterations == 300
    assert "a/latest.policy has done 300 iterations" in refused("solve", "--out", "a", "--resume", "--iterations", "9")


def test_quiet_prints_nothing():
    result = run("solve", "kuhn_poker", "--iterations", "3", "--out", "a", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_mccfr_counts_information_states_of_games_that_cannot_be_listed(monkeypatch):
    monkeypatch.setattr("cardenvs.training.cfr.run._MOST_EVALUATED", 100)
    result = run("solve", "leduc_poker", "--method", "mccfr", "--iterations", "500", "--out", "a")
    assert result.exit_code == 0, result.output
    assert "too large to list: it has about 46 decisions a deal, of which a player tries about" in result.stdout
    assert "(estimated from 100 random games)" in result.stdout
    assert "NashConv" not in result.stdout
    message = refused("solve", "--out", "a", "--resume", "--until", "0.1")
    assert "too large to compute NashConv" in message


def test_mccfr_refuses_a_game_by_its_size_before_it_begins(tmp_path):
    message = refused("solve", "gin_rummy", "--method", "mccfr", "--out", "a")
    assert "gin_rummy_v0 is too large for mccfr with these options: about" in message
    assert "it takes up to 10,000,000 an iteration" in message
    assert not (tmp_path / "a").exists()


def test_random_play_is_as_exploitable_as_the_rules_say():
    result = run("exploitability", "kuhn_poker", "--agent", "random")
    assert "NashConv 0.916667, exploitability 0.458333" in result.stdout
    assert "+0.125000" in result.stdout


def test_an_agent_that_only_acts_is_estimated():
    result = run("exploitability", "kuhn_poker", "--agent", "search:simulations=20", "--draws", "3")
    assert result.exit_code == 0, result.output
    assert "estimated from 3 choices in each information state" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve"], "which game?"),
        (["solve", "kuhn_poker", "--method", "cfr++"], "there is no method 'cfr++'; methods are cfr, cfr+, linear"),
        (
            ["solve", "leduc_poker", "-o", "num_players=6"],
            "too many deals to list: 463,680; at most 10,000 can be listed",
        ),
        (["solve", "gin_rummy"], "gin_rummy_v0 has too many deals to list"),
        (["solve", "kuhn_poker", "--resume", "--out", "x"], "--resume takes game, options, --method and"),
        (["solve", "--resume", "--out", "x", "--method", "cfr"], "--resume takes game, options, --method and --seed"),
        (["solve", "--resume", "--out", "x", "--seed", "0"], "--resume takes game, options, --method and --seed"),
        (["solve", "--resume"], "--resume resumes the run in --out; give that"),
        (["solve", "--resume", "--out", "x"], "there is no such file"),
        (["solve", "kuhn_poker", "-o", "players"], "takes NAME=VALUE"),
        (["exploitability", "gin_rummy"], "gin_rummy_v0 has too many deals to list"),
        (["exploitability", "kuhn_poker", "--agent", "tabular:x"], "tabular: there is no file 'x'"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(words, message):
    assert message in " ".join(refused(*words).split())


@pytest.mark.parametrize("method", ["cfr+", "mccfr"])
def test_without_the_compiler_it_finds_the_same(method):
    words = ["solve", "kuhn_poker", "--method", method, "--iterations", "10", "--quiet", "--out"]
    assert run(*words, "compiled").exit_code == 0
    environment = {**os.environ, "CARDENVS_COMPILE": "0"}
    subprocess.run([sys.executable, "-m", "cardenvs", *words, "plain"], env=environment, check=True)
    one, two = (TabularPolicy.load(f"{folder}/latest.policy") for folder in ("compiled", "plain"))
    assert one.keys.tolist() == two.keys.tolist()
    assert one.weights == pytest.approx(two.weights, abs=1e-12)


def test_a_folder_with_a_run_is_not_overwritten_by_accident():
    assert run("solve", "kuhn_poker", "--iterations", "2", "--out", "a").exit_code == 0
    assert "a holds a run" in refused("solve", "kuhn_poker", "--out", "a")
    assert run("solve", "kuhn_poker", "--iterations", "3", "--out", "a", "--overwrite").exit_code == 0
    assert TabularPolicy.load("a/latest.policy").iterations == 3


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    words = [sys.executable, "-m", "cardenvs", "solve", "leduc_poker", "--iterations", "1000000000", "--out", "a"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ)
    try:
        until = time.monotonic() + HANGS_AFTER_S
        while not (tmp_path / "a/metrics.jsonl").is_file() or (tmp_path / "a/metrics.jsonl").stat().st_size == 0:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        error = process.stderr.read().decode()
        assert process.wait(HANGS_AFTER_S) == 130, error
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert "Traceback" not in error
    assert "Stopped. To resume: cardenvs solve --out a --resume --iterations 1000000000" in error
    done = TabularPolicy.load("a/latest.policy").iterations
    assert done > 0
    assert run("solve", "--out", "a", "--resume", "--iterations", str(done + 5), "--quiet").exit_code == 0
    assert TabularPolicy.load("a/latest.policy").iterations == done + 5
