"""The command line."""

import json
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app, plugins
from cardenvs.cli.progress import ProgressBar
from cardenvs.core.replay import Replay

COMMANDS = [
    "games", "info", "play", "match", "simulate", "arena", "verify", "submit", "train", "bench", "replay", "prompt",
    "llm-stub", "warmup",
]  # fmt: skip


def call(*words, typed=""):
    result = CliRunner().invoke(app, list(words), input=typed, env={"COLUMNS": "160", "TERM": "dumb"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*words):
    """The one line that a command is refused with."""
    result = call(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    return lines[0]


def test_help_of_every_command_has_an_example():
    listed = call("--help").stdout
    for command in COMMANDS:
        assert command in listed
        result = call(command, "--help")
        assert result.exit_code == 0
        assert f"cardenvs {command}" in result.stdout
        assert "Example" in result.stdout


def test_version():
    assert call("--version").stdout.strip() == f"cardenvs {version('cardenvs')}"


def test_help_is_quick_and_imports_little():
    program = (
        "import sys; from typer.testing import CliRunner; from cardenvs.cli import app\n"
        "assert CliRunner().invoke(app, ['match', '--help']).exit_code == 0\n"
        "print([m for m in ('numba', 'torch', 'matplotlib', 'sqlite3', 'cardenvs.arena') if m in sys.modules])"
    )
    started = time.perf_counter()
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]", f"imported for help alone, {time.perf_counter() - started:.1f} s: {loaded}"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """An installed package that brings the commands of a game, and an entry point whose module is missing."""
    (tmp_path / "toy_game").mkdir()
    (tmp_path / "toy_game" / "__init__.py").write_text("")
    (tmp_path / "toy_game" / "commands.py").write_text(
        '"""Toys, counted and broken.\n\nMore words.\n"""\n'
        "import typer\nfrom cardenvs.core.errors import FormatError\napp = typer.Typer()\n"
        "@app.command()\ndef count(number: int) -> None:\n    'Count toys. Example: `cardenvs toy count 3`'\n"
        "    typer.echo(f'{number} toys')\n    if number > 3:\n        raise FormatError('too many toys')\n"
        "@app.command()\ndef drop() -> None:\n    'Drop a toy.'\n"
    )
    info = tmp_path / "toy_game-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-game\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{plugins.GROUP}]\ntoy = toy_game.commands:app\ngone = no_such_toy.commands:app\nlost = toy_game.lost:app\n"
        "bare = toy_game.commands:commands\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plugins.game_commands.cache_clear()
    yield
    plugins.game_commands.cache_clear()
    for name in ("toy_game", "toy_game.commands"):
        sys.modules.pop(name, None)


def test_commands_of_a_game_are_listed_and_called(toy):
    text = call("--help").stdout
    assert "Toys, counted and broken." in text
    assert "More words." not in text
    assert "toy_game" not in sys.modules  # not loaded to be listed
    assert "count" in call("toy", "--help").stdout
    assert "cardenvs toy count 3" in call("toy", "count", "--help").stdout
    assert call("toy", "count", "3").stdout == "3 toys\n"
    assert refused("toy", "count", "4") == "Error: too many toys"
    assert call("toy", "juggle").exit_code == 2
    assert call("toys").exit_code == 2


def test_commands_that_cannot_be_loaded_are_listed_and_refused(toy):
    text = call("--help").stdout
    assert "there is no module no_such_toy.commands" in text
    assert "there is no module toy_game.lost" in text
    assert "the commands of gone cannot be loaded from no_such_toy.commands:app" in refused("gone", "count")
    assert "the commands of lost cannot be loaded" in refused("lost", "--help")
    assert "has no attribute 'commands'" in refused("bare", "count")


def test_listing_the_commands_of_games_loads_no_game():
    program = (
        "import sys; from typer.testing import CliRunner; from cardenvs.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print([m for m in sys.modules if m == 'numba' or m.startswith(('cardenvs.games', 'cardenvs.tools'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_games_are_listed():
    text = call("games").stdout
    assert "leduc_poker_v0" in text
    assert "Kuhn poker" in text


def test_info_shows_numbers_options_and_sections():
    text = call("info", "leduc_poker", "-o", "num_players=3").stdout
    for shown in ("3 (2 to 10 possible)", "raise_size", "max_raises", "public_card", "chips; they add up to 0"):
        assert shown in text
    assert "ante" in call("info", "leduc_poker", "--rules").stdout.lower()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["info", "ludec_poker_v0"], "no game named 'ludec_poker_v0'; did you mean 'leduc_poker_v0'?"),
        (["info", "leduc_poker", "-o", "antes=2"], "leduc_poker_v0: unknown option 'antes'; did you mean 'ante'?"),
        (["info", "leduc_poker", "-o", "ante=no"], "leduc_poker_v0: option ante takes an integer from 1 to 1000"),
        (["info", "leduc_poker", "-o", "ante"], "--option takes NAME=VALUE, as in --option num_players=2; got 'ante'"),
        (["match", "leduc_poker", "--agents", "random"], "needs at least as many agents; got 1"),
        (["match", "leduc_poker", "--agents", "random", "--field"], "--field needs other agents after the first"),
        (["match", "leduc_poker", "--agents", "random,serch"], "no agent 'serch' for leduc_poker_v0; did you mean"),
        (["match", "leduc_poker", "--agents", "random,,random"], "separated by single commas"),
        (["match", "leduc_poker", "--agents", "random,random", "--on-failure", "cry"], "--on-failure is stop, forf"),
        (["match", "leduc_poker", "--agents", "random,random", "--keep-env", "NO_SUCH"], "no such environment"),
        (["match", "leduc_poker", "--agents", "random,random", "--keep-env", "PATH"], "--keep-env needs --on-failure"),
        (
            ["match", "leduc_poker", "--agents", "random,random", "--resume"],
            "--resume needs the --store of the games to resume",
        ),
        (["match", "leduc_poker", "--agents", "random,random", "--html", "/no/where/x.html"], "no folder /no/where"),
        (["play", "leduc_poker", "--seat", "2"], "--seat 2 is out of range: leduc_poker_v0 has players 0 to 1 here"),
        (["play", "leduc_poker", "--against", "random,random"], "one for each of the 1 other players; got 2"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(words, message):
    assert message in refused(*words)


def test_a_progress_bar_is_drawn_from_the_first_report_on(capsys):
    with ProgressBar("refused", unit="games", total=4):
        pass
    with ProgressBar("hidden", unit="games", total=4, hidden=True) as bar:
        bar.show(2)
    assert capsys.readouterr() == ("", "")
    with ProgressBar("playing", unit="games") as bar:
        bar.show(2, 4)
        bar.show(3, title="hands", unit="hands")
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"hands .* 3/4 hands ", err)


def test_an_error_of_the_command_line_itself_is_told_by_it():
    result = call("match", "leduc_poker")
    assert result.exit_code == 2
    assert "--agents" in result.stderr


def test_match_prints_and_writes_its_result(tmp_path):
    words = [
        "match",
        "leduc_poker",
        "--agents",
        "random,search:simulations=5,playout=random",
        "--deals",
        "6",
        "--seed",
        "0",
    ]
    words += ["--store", str(tmp_path / "r.db"), "--json", str(tmp_path / "r.json"), "--html", str(tmp_path / "r.html")]
    result = call(*words)
    assert result.exit_code == 0
    assert "search:simulations=5,playout=random" in result.stdout
    assert "6 deals, 12 games (2 a deal), seed 0" in result.stdout
    assert json.loads((tmp_path / "r.json").read_text())["games"] == 12
    assert "<svg" in (tmp_path / "r.html").read_text()
    assert "already has 12 games of this match; resume it" in refused(*words)
    again = call(*words, "--resume", "-p", "2")
    assert again.stdout == result.stdout


def test_a_match_goes_on_when_an_agent_fails(tmp_path, monkeypatch):
    (tmp_path / "failing_agents.py").write_text(
        "class Bad:\n    name = 'bad'\n    def reset(self, seed): pass\n    def act(self, turn): return -1\n"
        "def make(game, options): return Bad()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["match", "kuhn_poker", "--agents", "random,python:failing_agents:make", "--deals", "3"]
    assert call(*words).exit_code == 2
    result = call(*words, "--on-failure", "forfeit")
    assert result.exit_code == 0
    assert "3 deals, 6 games" in result.stdout
    assert "failed tries of python:failing_agents:make: illegal 18; games forfeited: 6" in result.stdout


@pytest.mark.parametrize(
    "more", [["-o", "num_players=3"], ["--field", "-o", "num_players=2"], ["--on-failure", "forfeit", "--field"]]
)
def test_the_same_match_again_by_the_command_it_names(tmp_path, more):
    import shlex

    words = ["match", "kuhn_poker", "--agents", "random,random,search", "--deals", "5", "--seed", "4", *more, "--json"]
    call(*words, str(tmp_path / "one.json"))
    one = json.loads((tmp_path / "one.json").read_text())
    call(*shlex.split(one["command"])[1:], "--json", str(tmp_path / "two.json"))
    two = json.loads((tmp_path / "two.json").read_text())
    for data in (one, two):
        for row in data["leaderboard"]:
            del row["decision_ms"]
    assert one == two


def test_only_the_first_agent_meets_a_field(tmp_path):
    words = ["match", "durak", "--agents", "heuristic,random,search:simulations=2", "--deals", "3", "--field"]
    call(*words, "--json", str(tmp_path / "one.json"))
    found = json.loads((tmp_path / "one.json").read_text())
    assert found["games"] == 3 * 2 * 2  # two opponents, each in two seatings
    met = [row["agents"] for row in found["head_to_head"]]
    assert met == [["heuristic", "random"], ["heuristic", "search:simulations=2"]]


def test_play_to_the_end_and_replay_it(tmp_path):
    path = tmp_path / "game.json"
    words = ["play", "kuhn_poker", "--against", "random", "--seed", "3", "--seat", "1", "--save", str(path)]
    result = call(*words, typed="1\n1\n1\n")
    assert result.exit_code == 0
    assert "you are player_1, player_0 is random" in result.stdout
    assert "The game is over:" in result.stdout
    assert "cardenvs play kuhn_poker_v0 --seed 3 --seat 1 --against random" in result.stdout
    assert call(*words, typed="1\n1\n1\n").stdout == result.stdout
    assert Replay.load(path).players == ("random", "you")

    assert "play to the recorded events and returns" in call("replay", str(path), "--verify").stdout
    everything = call("replay", str(path)).stdout
    assert "player_0 is dealt a card" not in everything
    assert "player_0 is dealt a card" in call("replay", str(path), "--player", "1").stdout
    assert "0 of" in call("replay", str(path), "--at", "0").stdout
    stepped = call("replay", str(path), "--step", typed="\nb\n2\nq\n").stdout
    assert stepped.count("0 of") == 2
    assert stepped.count("actions") == 4
    assert "positions 0 to" in refused("replay", str(path), "--at", "99")
    assert "--player 2 is out of range: this replay has players 0 to 1" in refused("replay", str(path), "--player", "2")
    path.write_text(path.read_text().replace('"actions"', '"acts"'))
    assert "is damaged: 'actions' should be of type list" in refused("replay", str(path))


def test_a_replay_becomes_a_picture_an_animation_and_a_page(tmp_path):
    path = tmp_path / "game.json"
    call("play", "kuhn_poker", "--against", "random", "--seed", "3", "--save", str(path), typed="1\n1\n1\n")
    out = {kind: tmp_path / f"game.{kind}" for kind in ("svg", "gif", "html")}
    words = [word for kind, file in out.items() for word in (f"--{kind}", str(file))]
    assert call("replay", str(path), *words).exit_code == 0
    assert out["svg"].read_text().startswith("<svg")
    assert out["gif"].read_bytes().startswith(b"GIF8")
    assert "<!doctype html>" in out["html"].read_text()
    everything, first = out["svg"].read_text(), tmp_path / "first.svg"
    assert call("replay", str(path), "--player", "0", "--at", "0", "--svg", str(first)).exit_code == 0
    assert everything.count("data-token") > first.read_text().count("data-token") > 0
    for option, name in (("--svg", "a.png"), ("--gif", "a.svg"), ("--svg", "game.json")):
        assert f"should end in .{option[2:]}" in refused("replay", str(path), option, str(tmp_path / name))
        assert name == "game.json" or not (tmp_path / name).exists()
    named = path.rename(tmp_path / "game.svg")
    assert "FILE" in refused("replay", str(named), "--svg", str(named))
    assert Replay.load(named)


def test_serve_refuses_what_it_cannot_serve(tmp_path):
    assert "nothing.json" in refused("serve", "--replay", str(tmp_path / "nothing.json"))
    assert "--agent" in refused("serve", "--agent", "trained")
    (tmp_path / "text.db").write_text("this is no database, but it is long enough to look like one" * 20)
    assert "cannot keep tables in" in refused("serve", "--data", str(tmp_path / "text.db"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--bind", ""), "0.0.0.0 means"),
        (("--bind", " "), "0.0.0.0 means"),
        (("--bind", "no such address"), "cannot listen on"),
        (("--agent", "="), "--agent takes NAME=SPEC"),
        (("--agent", "a="), "--agent takes NAME=SPEC"),
        (("--agent", "=random"), "--agent takes NAME=SPEC"),
        (("--agent", "person=random"), 'a name other than "person"'),
        (("--agent", "a=nope"), "there is no agent 'nope'"),
        (("--agent", "a=ppo:nothing.pt"), "nothing.pt"),
        (("--name", ""), "cards.example.org"),
        (("--name", "a.*"), "cards.example.org"),
        (("--name", "cards.example.org:80"), "cards.example.org"),
    ],
)
def test_serve_refuses_wrong_values(words, says):
    assert says in " ".join(refused("serve", *words).split())


def test_leaving_a_game_is_clean_and_keeps_the_replay(tmp_path):
    path = tmp_path / "game.json"
    result = call(
        "play", "leduc_poker", "--against", "search", "--seed", "3", "--save", str(path), typed="check\nquit\n"
    )
    assert result.exit_code == 0
    assert "You leave the game." in result.stdout
    assert len(Replay.load(path).actions) >= 2


def test_a_person_never_sees_the_other_hand():
    for seed in range(8):
        text = call("play", "leduc_poker", "--seed", str(seed), typed="2\n" * 8).stdout
        assert "player_1  chips in 1    hand ▒▒" in text
        assert "player_1 is dealt a card" in text


def test_warmup_compiles_and_says_so():
    text = call("warmup", "kuhn_poker").stdout
    for step in ("deal", "observation", "simulate with random", "batches", "total"):
        assert step in text
    assert " s  " in text


def test_the_installed_program_refuses_cleanly():
    command = [sys.executable, "-m", "cardenvs", "info", "castle"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: no game named 'castle'")
    assert "Traceback" not in result.stderr


def test_train_hands_everything_to_the_trainer(monkeypatch):
    pytest.importorskip("torch")
    import cardenvs.training.ppo as ppo

    handed = []
    monkeypatch.setattr(ppo, "train", lambda game, config, **given: handed.append((game, config, given)))
    words = ["train", "leduc_poker_v0", "--seconds", "2", "--set", "lr=3e-4", "--set", "num_envs=8", "-o", "ante=2"]
    assert call(*words, "--out", "runs/x", "--quiet").exit_code == 0
    ((game, config, given),) = handed
    assert (game, config.lr, config.num_envs, config.options) == ("leduc_poker_v0", 3e-4, 8, {"ante": 2})
    assert (given["seconds"], given["out"], given["show"]) == (2.0, Path("runs/x"), False)


def test_train_works_beside_a_training_folder_of_the_user(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "training").mkdir()
    for name in ("training/__init__.py", "config.py", "ppo.py"):
        (tmp_path / name).write_text("raise RuntimeError('not for cardenvs')")
    settings = ["--set=num_envs=8", "--set=hidden=8", "--set=final_deals=0"]
    words = ["train", "kuhn_poker_v0", "--total-steps", "64", *settings, "--quiet", "--out", "run"]
    command = [sys.executable, "-m", "cardenvs", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / "run" / "latest.pt").exists()


def test_train_without_torch_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "pip install 'cardenvs[train]'" in refused("train", "leduc_poker_v0")


def test_who_busts_gets_the_result_in_words_and_the_rest_summed_up():
    words = ["texas_holdem_v0", "--seed", "2", "--against", "random", "-o", "num_players=4", "-o", "starting_stack=60"]
    lines = call("play", *words, typed="2\n" * 80).output.splitlines()
    out = next(k for k, line in enumerate(lines) if "You are out. The others play on; 22 lines are left out." in line)
    shown = "\n".join(lines[:out])
    assert "You show" in shown or "You do not show" in shown  # the own showdown stays visible
    assert "You finish in place 3, and share it." in shown
    assert "The game is over: you finish 3rd of 4, -0.6667 points." in "\n".join(lines[out:])
    assert len(lines) - out < 12
