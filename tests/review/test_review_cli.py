"""`cardenvs review`: a game and a store, on the terminal, as JSON and as a page; and what it refuses."""

import json
import re

import pytest
from typer.testing import CliRunner

import cardenvs
from cardenvs.cli import app
from cardenvs.core.replay import Replay
from cardenvs.review import many


def run(*arguments):
    done = CliRunner().invoke(app, ["review", *map(str, arguments)], env={"COLUMNS": "80"})
    return done.exit_code, done.output


@pytest.fixture
def game(tmp_path):
    """A replay of Kuhn poker in which a jack called."""
    state = cardenvs.get_game("kuhn_poker_v0").new_state(seed=0, deck=[2, 0])
    for label in ("bet", "call"):
        state.apply(state.action_from_label(label))
    path = tmp_path / "game.json"
    Replay.of(state, ["Anna", "Bert"]).save(path)
    return path


def test_a_game_is_reviewed_in_80_columns(game, tmp_path):
    code, output = run(game, "--by", "random", "--json", tmp_path / "review.json")
    assert code == 0
    assert max(map(len, output.replace(str(tmp_path), "").splitlines())) <= 80
    assert re.search(r"player_1 Bert +-2 +-100% +1 of 1 +1 +\+0", output)
    assert re.search(r"1 +1 ± 0 +player_1 +call +fold", output)
    review = json.loads((tmp_path / "review.json").read_text())
    assert review["format"] == "cardenvs-review"
    assert [one["name"] for one in review["players"]] == ["Anna", "Bert"]
    (call,) = (one for one in review["decisions"] if one["player"] == 1)
    assert (call["played"], call["best"], call["loss"]) == ("call", "fold", 1)
    assert sorted(call["values"]) == [["call", -2.0], ["fold", -1.0]]


def test_one_player_is_reviewed_alone(game):
    code, output = run(game, "--by", "random", "--player", 1)
    assert code == 0
    assert "Anna" not in output


def test_the_page_holds_all_it_needs(game, tmp_path):
    pytest.importorskip("matplotlib")
    code, _ = run(game, "--by", "random", "--html", tmp_path / "review.html")
    assert code == 0
    page = (tmp_path / "review.html").read_text()
    assert "player_1 chose “call”; “fold” was worth 1 more." in page
    assert not re.search(r"(src|href)=\"https?:", page)


def test_the_games_of_an_agent_are_reviewed(tmp_path):
    store = tmp_path / "games.db"
    done = CliRunner().invoke(
        app,
        ["match", "leduc_poker_v0", "--agents", "random,random", "--deals", "6", "--seed", "1", "--store", str(store)],
    )
    assert done.exit_code == 0, done.output
    code, output = run(store, "--agent", "random", "--worlds", 20, "--json", tmp_path / "found.json")
    assert code == 0, output
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["games"] == 12
    assert found["mistakes"] == sum(len(kind["mistakes"]) for kind in found["kinds"]) > 0
    assert found["loss"] == pytest.approx(sum(kind["loss"] for kind in found["kinds"]))
    code, output = run(store, "--agent", "random", "--worlds", 20, "--games", 4, "-p", 2)
    assert code == 0
    assert "random in 4 games of Leduc" in output


def test_after_ctrl_c_the_games_reviewed_by_then_are_reported(tmp_path, monkeypatch):
    store = tmp_path / "games.db"
    CliRunner().invoke(
        app, ["match", "kuhn_poker_v0", "--agents", "random,random", "--deals", "4", "--store", str(store)]
    )
    judged = many._judged
    calls = []

    def interrupted_at_the_third(game, **settings):
        calls.append(game)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return judged(game, **settings)

    monkeypatch.setattr(many, "_judged", interrupted_at_the_third)
    code, output = run(store, "--agent", "random", "--json", tmp_path / "found.json")
    assert code == 130
    assert "Stopped after 2 of 8 games." in output
    assert json.loads((tmp_path / "found.json").read_text())["games"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--player", "5"], "--player 5 is out of range"),
        (["--agent", "random"], "is no store: --agent and --games are for stores"),
        (["--by", "search:seconds=1"], "leave out 'seconds'"),
        (["--by", "nobody"], "no agent 'nobody'"),
        (["--worlds", "3"], "greater than or equal to 10"),
    ],
)
def test_what_cannot_be_reviewed_is_refused(game, arguments, message):
    code, output = run(game, *arguments)
    assert code == 2
    assert message in re.sub(r"[\s│]+", " ", output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the agent to review by --agent: random, random#2"),
        (["--agent", "nobody"], "the store has no agent 'nobody'; its agents are: random, random#2"),
        (["--agent", "random", "--player", "0"], "is a store: --player and --html are for one game"),
    ],
)
def test_what_a_store_does_not_have_is_refused(tmp_path, arguments, message):
    store = tmp_path / "games.db"
    CliRunner().invoke(
        app, ["match", "kuhn_poker_v0", "--agents", "random,random", "--deals", "2", "--store", str(store)]
    )
    code, output = run(store, *arguments)
    assert code == 2
    assert message in re.sub(r"[\s│]+", " ", output)
