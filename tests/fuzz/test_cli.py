"""The command line under attack: every option of every command with values at the edge of its type, and streams and
signals as they may come. Whatever is asked, it answers or refuses in words: no traceback, no wait without end.

By default a sample; all of it with CARDENVS_FUZZ=long.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import typer
from agents.untrained import untrained
from starlette.testclient import TestClient
from typer.testing import CliRunner

from cardenvs.agents.checkpoint_file import FORMAT
from cardenvs.agents.seeds import MatchSeed
from cardenvs.cli import app
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from fuzz import LONG

pytestmark = pytest.mark.rotating

HANGS_AFTER_S = 300  # waits are generous: machines may be slow
NUMBERS = ["0", "-1", "1", "", " ", "nan", "inf", "-inf", "1e999", "1e3", "0x10", "9" * 30, "9" * 5000, "½", "٣", "x"]
TEXTS = [
    "", " ", ",", "a,,b", "=", "a=", "=a", "random,", "x" * 3000, "../..", "[bold]", "[/]", "{}", "%s", "-1", "--", "é",
    "\x1b[2J", "a\0b", "\ud800", "\u202e", "python:os:getcwd", "python:nowhere:make", "python::", "ppo:", "ppo:pipe",
    "ppo:text.txt", "llm:nobody", "search:seconds=inf", "search:simulations=0", "search:depth=nan", "search:x=1",
    "num_players=0", "num_players=x", "ante=" + "9" * 5000, "random", "kuhn_poker",
]  # fmt: skip
PATHS = [
    "", ".", "/", "missing", "missing/x", "folder", "pipe", "loop", "dangling", "empty", "text.txt", "binary", "locked",
    "x" * 300, "x/" * 3000, "a\0b", "\ud800", "/dev/full", "/dev/null/x", "/proc/self/mem", "store.db", "store.db-wal",
    "small.yaml", "game.json", "deep.json", "bomb.yaml", "date.yaml", "deep.yaml", "inf.yaml", "foreign.db",
    "simulated.db", "~", "-",
]  # fmt: skip
HANDS = ("1m 9m 1p 9p 1s 9s E S W 2m 3m 4m 6m", "E E E S S S W W W N N N P", "P P P F F F F C C C C 1s 1s",
         "1m 1m 1m 9m 9m 9m 1p 1p 1p 9p 9p 9p 1s")  # fmt: skip
LOG = "\n".join(map(json.dumps, (  # a round of riichi that ends at once, with nine terminals and honours
    {"type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "scores": [25000] * 4,
     "dora_marker": "2m", "tehais": [hand.split() for hand in HANDS]},
    {"type": "tsumo", "actor": 0, "pai": "8p"},
    {"type": "ryukyoku", "deltas": [0] * 4},
)))  # fmt: skip
BASES = {  # words with which a command works, quickly
    "games": [],
    "info": ["kuhn_poker"],
    "play": ["kuhn_poker", "--seed", "1"],
    "match": ["kuhn_poker", "--agents", "random,random", "--deals", "2"],
    "simulate": ["kuhn_poker", "--games", "2", "-p", "1"],
    "arena run": ["small.yaml", "--store", "new.db"],
    "arena plan": ["small.yaml", "--half-width", "1", "--pilot", "2"],
    "arena report": ["store.db"],
    "arena list": ["store.db"],
    "arena replay": ["store.db", "", "0", "0", "--out", "out.json"],
    "arena adjust": ["store.db", "--deals", "2"],
    "arena schema": [],
    "submit check": ["random", "--board", "small.yaml", "--deals", "1"],
    "evaluate": ["random", "--games", "kuhn_poker"],
    "verify": ["store.db"],
    "trajectories": ["store.db", "--out", "new.parquet"],
    "train": ["kuhn_poker", "--settings"],
    "clone": ["kuhn_poker", "--store", "simulated.db", "--agent", "random", "--out", "new", "--epochs", "1"],
    "curves": ["run", "--out", "new.svg"],
    "solve": ["kuhn_poker", "--iterations", "2"],
    "exploitability": ["kuhn_poker", "--draws", "1"],
    "exploit": [
        "kuhn_poker",
        "--agent",
        "random",
        "--total-steps",
        "64",
        "--deals",
        "4",
        "--out",
        "new",
        "--set",
        "num_envs=4",
        "--set",
        "eval_interval=0",
    ],
    "bench": ["--help"],
    "replay": ["game.json"],
    "review": ["game.json", "--worlds", "10"],
    "serve": ["--data", "tables.db"],
    "site": ["new", "--games", "kuhn_poker", "--pyodide", "binary"],  # a whole build takes many seconds
    "mcp": ["kuhn_poker", "--deals", "1"],
    "new-game": ["tiny", "--package", "new"],
    "scenario run": ["scenario.yaml"],
    "scenario inspect": ["scenario.yaml"],
    "prompt": ["kuhn_poker"],
    "transcript show": ["calls.jsonl"],
    "llm-stub": [],
    "warmup": ["kuhn_poker", "--help"],
    "doctor": ["--json"],
    "zoo list": [],
    "zoo show": ["kuhn_poker_v0/ppo"],
    "zoo pack": ["latest.pt", "new.safetensors"],
    "blackjack edge": ["-o", "decks=0"],
    "bridge boards": ["boards.pbn"],
    "bridge solve": ["--seeds", "0:1", "-p", "1"],
    "bridge bank": ["--deals", "1", "--out", "new.npy", "-p", "1"],
    "bridge annotate": ["boards.pbn"],
    "bridge duel": ["--agents", "heuristic,random", "--boards", "1"],
    "poker calibrate": ["--seeds", "0:30", "--run-id", "a", "--pool", "1", "--gate", "heuristic", "--workers", "1"],
    "poker scores": ["store.db"],
    "riichi export": ["riichi.json"],
    "riichi import": ["game.mjai", "--out", "new.json"],
    "riichi check": ["game.mjai"],
    "riichi score": ["234m567m345p67s22s", "--win", "8s"],
    "riichi waits": ["234m567m345p67s22s"],
    "rummikub solve": ["--rack", "R1 R2 R3"],
    "texas_holdem play-match": ["--agents", "random,random", "-o", "format=cash", "-o", "num_hands=2", "--out", "new"],
    "texas_holdem stats": ["hand.json"],
    "texas_holdem exploit": ["--agent", "random", "--deals", "2"],
    "texas_holdem show": ["hand.json"],
    "texas_holdem export-phh": ["hand.json", "--out", "new.phh"],
    "texas_holdem replay-phh": ["hand.phh"],
}
# Games that take long to load: in the long form only.
LONGER = {"texas_holdem", "rummikub", "poker", "bridge", "blackjack", "riichi"}


def commands(group, path=()):
    """(words, parameters) of every command."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), [one for one in command.get_params(typer.Context(command)) if one.name != "help"]


def values_of(parameter):
    """Values at the edge of what a parameter takes."""
    kind = str(parameter.type_descriptor.annotation)
    if "int" in kind or "float" in kind:
        return NUMBERS
    return PATHS if "Path" in kind else TEXTS


def attacks():
    """(command, words): for every option and argument each of its values, the others as they should be."""
    for path, parameters in commands(typer.main.get_command(app)):
        name = " ".join(path)
        base = BASES[name]
        arguments = [p for p in parameters if p.param_type_name == "argument"]
        for parameter in parameters:
            flag = getattr(parameter, "is_flag", False)
            for value in [None] if flag else values_of(parameter):
                if parameter.param_type_name == "argument":
                    place = arguments.index(parameter)
                    words = [*base[:place], value, *base[place + 1 :]]
                else:
                    words = [*base, parameter.opts[0], *([] if flag else [value])]
                yield name, words
        yield name, []
        yield name, [*base, "surplus"]
        yield name, ["--no-such-option"]


def sample():
    found = list(attacks())
    if LONG:
        return found
    return [attack for number, attack in enumerate(found) if number % 13 == 0 and attack[0].split()[0] not in LONGER]


def save_checkpoint(path):
    """An untrained policy for Kuhn poker."""
    torch.save({"format": FORMAT, **untrained(get_game("kuhn_poker"), hidden=(4,))}, path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with something of every kind."""
    folder = tmp_path_factory.mktemp("files")
    with contextlib.chdir(folder):
        Path("folder").mkdir()
        os.mkfifo("pipe")
        Path("loop").symlink_to("loop")
        Path("dangling").symlink_to("gone/away")
        Path("empty").touch()
        Path("text.txt").write_text("some words\n")
        Path("binary").write_bytes(bytes(range(256)) * 20)
        Path("locked").write_text("{}")
        Path("locked").chmod(0)
        Path("deep.json").write_text("[" * 100_000)
        Path("deep.yaml").write_text("[" * 5_000)
        Path("date.yaml").write_text("name: 2024-13-45\n? [a]\n: 1\n")
        Path("inf.yaml").write_text(
            "name: x\ngames: [kuhn_poker]\nagents: [random, {spec: random, name: b}]\nbudget: {seconds: .inf}\n"
        )
        lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
        Path("bomb.yaml").write_text("a0: &a0 [lol]\n" + "\n".join(lines) + "\n")
        Path("small.yaml").write_text(
            "name: small\ndeals: 2\ngames: [kuhn_poker]\nagents: [random, {name: again, spec: random}]\n"
            "anchors: {random: 1000}\nguard: {isolation: none}\n"
        )
        Path("scenario.yaml").write_text(
            "game: kuhn_poker\nscenarios: [{name: pass, deck: K J, steps: [{do: [pass, pass], expect: {winner: 0}}]}]\n"
        )
        Path("boards.pbn").write_text(
            '[Board "1"]\n[Deal "N:AKQ2.543.KJ9.T86 J976.T98.T8.Q972 T54.AK2.AQ76.AK5 83.QJ76.5432.J43"]\n'
            '[Declarer "N"]\n[Contract "1NT"]\n[Result "9"]\n[Play "E"]\nS6 S4 S3 SA\n*\n'
        )
        Path("game.mjai").write_text(LOG)
        Path("calls.jsonl").write_text(json.dumps({"type": "call", "agent": "a", "outcome": "ok", "seconds": 1}) + "\n")
        Path("run").mkdir()
        Path("run/metrics.jsonl").write_text('{"steps": 1, "eval/random": 0}\n{"steps": 2, "eval/random": 1}\n')
        save_checkpoint("latest.pt")
        with sqlite3.connect("foreign.db") as connection:
            connection.execute("CREATE TABLE cheese (name TEXT)")
        connection.close()
        CliRunner().invoke(app, ["arena", "run", "small.yaml", "--store", "store.db"])
        CliRunner().invoke(app, ["simulate", "kuhn_poker", "--games", "2", "-p", "1", "--store", "simulated.db", "-q"])
        Replay.of(get_game("kuhn_poker").new_state(seed=1)).save("game.json")
        if LONG:
            hand = get_game("texas_holdem").new_state(seed=1)
            while not hand.is_terminal:
                hand.apply(hand.policy_action("random", hand.ply))
            Replay.of(hand).save("hand.json")
            CliRunner().invoke(app, ["texas_holdem", "export-phh", "hand.json", "--hand", "1", "--out", "hand.phh"])
            CliRunner().invoke(app, ["riichi", "import", "game.mjai", "--out", "riichi.json"])
    return folder


@contextlib.contextmanager
def no_hang():
    """Raise where a command waits for ever."""

    def alarm(*_):
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, alarm)
    signal.alarm(HANGS_AFTER_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(result, what):
    assert result.exception is None or isinstance(result.exception, SystemExit), (what, result.exception)
    assert result.exit_code in (0, 1, 2, 130), (what, result.exit_code)
    assert "Traceback" not in result.output, (what, result.output)
    if result.exit_code == 2:
        assert "error" in result.stderr.lower() or "Usage" in result.output, (what, result.output)


def starts_and_stops(served, **_):
    """Instead of `uvicorn.run`: an application is begun and ended as by a server that gets Ctrl-C at once."""
    with TestClient(served):
        pass


@pytest.mark.parametrize("command", BASES)
def test_no_input_gives_a_traceback_or_hangs(command, files, tmp_path, monkeypatch):
    monkeypatch.setattr("cardenvs.llm.stub.serve", lambda *_: None)  # it would serve until Ctrl-C
    monkeypatch.setattr("uvicorn.run", starts_and_stops)
    monkeypatch.setattr("cardenvs.server.wire._end_if_threads_go_on", lambda: None)  # of other tests
    monkeypatch.setattr("cardenvs.core.registry._added", {})  # games of other tests, which are meant to fail
    if command == "warmup":  # all games take a minute
        monkeypatch.setattr("cardenvs.core.registry.list_games", lambda: ["kuhn_poker_v0", "leduc_poker_v0"])
    chosen = [words for name, words in sample() if name == command]
    for number, words in enumerate(chosen):
        folder = tmp_path / str(number)
        shutil.copytree(files, folder, symlinks=True, ignore=lambda *_: {"pipe", "locked"})
        os.mkfifo(folder / "pipe")
        (folder / "locked").touch(0)
        monkeypatch.chdir(folder)
        with no_hang():
            result = CliRunner().invoke(app, [*command.split(), *words], input="", env={"COLUMNS": "120"})
        check(result, (command, words))
        assert stat.S_ISFIFO(os.lstat("pipe").st_mode), "what is no file stays what it is"
        shutil.rmtree(folder)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_every_command_is_attacked():
    assert {" ".join(path) for path, _ in commands(typer.main.get_command(app))} == set(BASES)


# ---------------------------------------------------------------------------------------------------------------
# Streams and signals: real processes

ENVIRONMENT = {**os.environ, "CARDENVS_COMPILE": "0", "PYTHONUNBUFFERED": ""}
PROGRAM = [sys.executable, "-m", "cardenvs"]


def run(*words, **options):
    return subprocess.run(
        [*PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=HANGS_AFTER_S, env=ENVIRONMENT,
        check=False, **options,
    )  # fmt: skip


def test_an_argument_that_is_not_utf_8_is_refused_in_a_line():
    ended = run("info", b"kuhn\xff")
    assert ended.returncode == 2
    assert ended.stderr.decode().strip() == r"Error: 'kuhn\udcff' is not UTF-8; arguments and file names must be"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["play kuhn_poker --seed 1", "match kuhn_poker --agents random,random --deals 2"])
def test_closed_streams_are_no_error(words, closed, tmp_path):
    ended = subprocess.run(
        ["bash", "-c", f'"$0" -m cardenvs {words} {closed}', sys.executable], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=HANGS_AFTER_S, env=ENVIRONMENT, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr


def test_a_full_device_is_said_in_a_line():
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [*PROGRAM, "games"], stdout=full, stderr=subprocess.PIPE, timeout=HANGS_AFTER_S, env=ENVIRONMENT,
            check=False,
        )  # fmt: skip
    assert ended.returncode == 2
    (line,) = ended.stderr.decode().splitlines()
    assert line.startswith("Error: ")
    assert line.endswith("No space left on device")


def test_a_reader_that_goes_away_is_no_error():
    started = subprocess.Popen(
        [*PROGRAM, "simulate", "kuhn_poker", "--games", "1000", "-p", "1"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=ENVIRONMENT,
    )  # fmt: skip
    assert started.stdout.readline()
    started.stdout.close()
    error = started.stderr.read()
    assert started.wait(HANGS_AFTER_S) in (0, 1)
    assert error == b""


def games_in(path, table_has):
    """How many games a store has by now."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as c:
        return c.execute(f"SELECT count(*) FROM games WHERE {table_has} IS NOT NULL").fetchone()[0]
    return 0


@contextlib.contextmanager
def begun(path, *words):
    """A command that has entered games into a store, and goes on."""
    process = subprocess.Popen(
        [*PROGRAM, *words, "--store", str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    try:
        until = time.monotonic() + HANGS_AFTER_S
        while games_in(path, "returns") < 3:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until, "nothing was played"
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


MANY = str(10**12)
ENDLESS = {
    "match": ["match", "kuhn_poker", "--agents", "random,random", "--deals", MANY],
    "simulate": ["simulate", "kuhn_poker", "--games", MANY, "-p", "1", "-q"],
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_million_million_games_start_at_once_and_end_with_ctrl_c(what, tmp_path):
    with begun(tmp_path / "store.db", *ENDLESS[what]) as process:
        process.send_signal(signal.SIGINT)
        error = process.stderr.read().decode()
        assert process.wait(HANGS_AFTER_S) == 130
    assert "Traceback" not in error
    assert "add --resume to play the rest" in error


@pytest.mark.parametrize("processes", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_killed_simulation_has_lost_nothing_that_was_kept_and_goes_on(tmp_path, processes):
    store, words = tmp_path / "store.db", ["simulate", "kuhn_poker", "-p", processes, "-q", "--seed", "5"]
    with begun(store, *words, "--games", MANY) as process:
        process.kill()
    kept = games_in(store, "returns")
    assert kept >= 3
    with contextlib.closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE games SET returns = '[7, 7]'")  # a game that is played again would have others
        connection.commit()
    for extra in (["--store", str(store), "--resume"], []):
        ended = run(*words, "--games", "40", "--json", str(tmp_path / f"{len(extra)}.json"), *extra)
        assert ended.returncode == 0, ended.stderr
    resumed, whole = (json.loads((tmp_path / f"{n}.json").read_text()) for n in (3, 0))
    by_number = {game["number"]: game for game in resumed["games"]}
    assert sum(by_number[number]["returns"] == [7, 7] for number in range(40)) >= 3
    assert [game["seed"] for game in whole["games"]] == [MatchSeed.of(5).deal(number) for number in range(40)]
    for game in whole["games"]:
        other = by_number[game["number"]]
        assert other["returns"] == [7, 7] or other == game
