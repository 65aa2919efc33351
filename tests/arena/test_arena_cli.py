"""The commands of the arena."""

import json
import re
import sqlite3

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app

pytest.importorskip("pydantic")

FILE = """
name: by command
deals: 12
seed: 1
games: [kuhn_poker_v0]
agents: [random, {name: search, spec: "search:simulations=4"}]
anchors: {random: 1000}
guard: {isolation: none}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with an experiment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(FILE)
    return tmp_path


def call(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output + str(result.exception)
    return result.output


def test_run_report_verify_and_everything_they_write(folder):
    text = call("arena", "run", "small.yaml", "--json", "a.json", "--csv", "a.csv", "--html", "site")
    for shown in ("Kuhn poker", "search", "random (anchor)", "12 deals, 24 games (2 a deal)", "site/index.html"):
        assert shown in text
    assert (folder / "small.db").exists()
    again = call("arena", "report", "small.db", "--json", "b.json")
    assert "random (anchor)" in again
    first, second = (json.loads((folder / name).read_text()) for name in ("a.json", "b.json"))
    assert first == second
    assert "already has 24 games of this match" in call("arena", "run", "small.yaml", code=2)
    call("arena", "run", "small.yaml", "--resume")
    shown = call("verify", "small.db")
    assert "24 games replayed; all match their records" in shown
    digest = re.search(r"digest is (\w+)", shown).group(1)
    assert digest in call("arena", "list", "small.db")
    assert "5 games replayed" in call("verify", "small.db", "--sample", "5", "-p", "2")


def test_a_mismatch_is_named_and_the_exit_code_says_so(folder):
    call("arena", "run", "small.yaml")
    connection = sqlite3.connect("small.db")
    connection.execute("UPDATE games SET returns = '[9.0, -9.0]' WHERE deal = 7 AND lineup = 1")
    connection.commit()
    text = call("verify", "small.db", code=1)
    assert re.search(r"match \w+, deal 7, lineup 1: it returns", text)
    assert "24 games replayed; 1 row differs from the record" in text


def test_a_game_of_a_store_becomes_a_replay(folder):
    call("arena", "run", "small.yaml")
    match_id = sqlite3.connect("small.db").execute("SELECT id FROM matches").fetchone()[0]
    call("arena", "replay", "small.db", match_id[:5], 3, 1, "--out", "game.json")
    assert "play to the recorded events and returns" in call("replay", "game.json", "--verify")
    assert "0 matches that begin with 'zz'" in call("arena", "replay", "small.db", "zz", 3, 1, "--out", "x", code=2)


def test_plan(folder):
    text = call("arena", "plan", "small.yaml", "--half-width", "0.1", "--pilot", "6")
    assert "from 6 deals" in text
    assert "deals needed" in text
    assert "give the --half-width" in call("arena", "plan", "small.yaml", code=2)
    for tiny in ("1e-300", "5e-324", "1e-9"):
        text = call("arena", "plan", "small.yaml", "--half-width", tiny, "--pilot", "6", code=2)
        assert f"a half-width of {float(tiny):g} needs more than 1e+15 deals; choose a larger one" in text
    call("arena", "plan", "small.yaml", "--half-width", "0.1", "--pilot", "6", "--store", "pilot.db")
    call("arena", "plan", "small.yaml", "--half-width", "0.1", "--pilot", "9", "--store", "pilot.db")
    assert sqlite3.connect("pilot.db").execute("SELECT count(*) FROM games").fetchone() == (18,)


def test_schema(folder):
    assert "games.options" in call("arena", "schema")
    assert json.loads(call("arena", "schema", "--json"))["properties"]["deals"]["default"] == 1000


def test_submit(folder):
    text = call("submit", "check", "search:simulations=2", "--board", "small.yaml", "--deals", "4", "--json", "s.json")
    assert "search:simulations=2: no faults" in text
    assert {row["agent"] for row in json.loads((folder / "s.json").read_text())["overall"]} == {
        "random",
        "search:simulations=2",
    }
    (folder / "bundle").mkdir()
    (folder / "bundle" / "submission.yaml").write_text("name: bad\nagent: python:nowhere_to_be_found:make\n")
    assert "nowhere_to_be_found" in call("submit", "check", "bundle", "--board", "small.yaml", code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["arena", "run", "none.yaml"], "cannot read none.yaml"),
        (["arena", "run", "small.yaml", "--backend", "moon"], "--backend is local or ray"),
        (["arena", "run", "small.yaml", "--json", "/no/where/x.json"], "there is no folder /no/where"),
        (["arena", "run", "small.yaml", "--html", "."], "is not empty and does not contain a site"),
        (["arena", "run", "small.yaml", "--store", "/no/where/x.db"], "there is no folder /no/where"),
        (["arena", "report", "small.db", "--intervals", "wide"], "--intervals is bootstrap or student"),
        (["arena", "report", "small.db", "--experiment", "x"], "has no experiment 'x'; there are: by command"),
        (["arena", "plan", "small.yaml", "--of", "x"], "--of is pairs or means"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(folder, words, message):
    call("arena", "run", "small.yaml")
    text = call(*words, code=2)
    assert message in " ".join(text.split())
    assert "Traceback" not in text
