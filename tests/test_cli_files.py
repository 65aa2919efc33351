"""Outputs of commands: refused before play, and never lost after it."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardenvs.arena import Match
from cardenvs.arena.plan import Plan
from cardenvs.cli import app
from cardenvs.cli.files import Outputs
from cardenvs.core import files
from cardenvs.core.errors import ArenaError, FileError

MATCH = ["match", "kuhn_poker", "--agents", "random,random", "--deals", "2"]


def call(*words):
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("old")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "small.yaml").write_text(
        "name: s\ndeals: 1\ngames: [kuhn_poker]\nagents: [random, {spec: random, name: b}]"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no/such/x.json", "there is no folder no/such"), ("folder", "it is a folder"), ("pipe", "not a regular file"),
        ("", "it is a folder"), ("loop", "Too many levels"), ("x" * 300, "File name too long"),
        ("/dev/full", "not a regular file"), ("text/x.json", "Not a directory"),
        ("/proc/x.json", "nothing can be written"),
    ],
)  # fmt: skip
def test_an_output_that_cannot_be_written_is_refused_before_play(folder, path, message):
    for words in ([*MATCH, "--store", "kept.db", "--json"], ["arena", "run", "small.yaml", "--csv"]):
        result = call(*words, path)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stdout == ""
        assert sorted(p.name for p in folder.iterdir()) == ["folder", "loop", "pipe", "small.yaml", "text"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*MATCH, "--json", "a", "--html", "./a"], "--json and --html would both write a"),
        ([*MATCH, "--json", "a", "--store", "folder/../a"], "--json would overwrite a, which --store uses"),
        ([*MATCH, "--json", "a-wal", "--store", "a"], "which --store uses"),
        (["simulate", "kuhn_poker", "--json", "a", "--store", "a"], "which --store uses"),
        (["arena", "run", "small.yaml", "--json", "small.yaml"], "would overwrite small.yaml, which FILE uses"),
        (["arena", "run", "small.yaml", "--csv", "a", "--json", "a"], "--json and --csv would both write a"),
        (["arena", "run", "small.yaml", "--store", "small.yaml"], "would be its own store"),
        ([*MATCH, "--store", "pipe"], "it is not a file"),
        ([*MATCH, "--store", "folder"], "it is a folder"),
        ([*MATCH, "--store", ""], "cannot open . as a store"),
    ],
)  # fmt: skip
def test_no_two_outputs_share_a_path_and_none_is_an_input(folder, words, message):
    result = call(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (folder / "a").exists()


def failing(monkeypatch, refuses):
    """Let files that `refuses` picks be impossible to write, as on a disk that has become full."""
    whole = files.whole_file

    def whole_file(path, sync=False):
        if refuses(Path(path).absolute()):
            raise OSError(28, "No space left on device", str(path))
        return whole(path, sync)

    monkeypatch.setattr(files, "whole_file", whole_file)


def test_a_result_that_cannot_be_written_after_play_is_kept_elsewhere(folder, monkeypatch):
    failing(monkeypatch, lambda path: folder in path.parents)
    result = call(*MATCH, "--json", "result.json")
    assert result.exit_code == 2
    assert "mean result" in result.stdout
    assert "cannot write result.json (No space left on device): it is in " in result.stderr
    kept = Path(result.stderr.split("it is in ")[1].split(" instead")[0])
    assert json.loads(kept.read_text())["games"] == 4


def test_one_output_that_cannot_be_written_does_not_take_the_others_with_it(folder, monkeypatch):
    outputs = Outputs({"--json": Path("a.json"), "--csv": Path("b.csv")})
    (folder / "a.json").mkdir()  # meanwhile
    for name in ("a.json", "b.csv"):
        outputs.write("result", Path(name), lambda path: files.write_whole(path, "text"))
    assert (folder / f"a-{os.getpid()}.json").read_text() == "text"
    assert (folder / "b.csv").read_text() == "text"
    failing(monkeypatch, lambda path: True)
    outputs.write("result", Path("b.csv"), lambda path: files.write_whole(path, "new"))
    assert (folder / "b.csv").read_text() == "text"


def test_writing_whole_leaves_links_and_what_is_no_file_alone(folder):
    (folder / "link").symlink_to("text")
    files.write_whole(folder / "link", "new")
    assert (folder / "link").is_symlink()
    assert (folder / "text").read_text() == "new"
    with pytest.raises(OSError, match="Invalid argument"):
        files.write_whole(folder / "pipe", "text")
    assert (folder / "pipe").is_fifo()
    with pytest.raises(FileError, match="a device, a pipe or a socket; save its output to a file first"):
        files.check_input(folder / "pipe")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 5000, "nested too deeply"), ("a: &a [*a]\n", "contains itself"),
        ("a: 2024-13-45\n", "month must be in 1..12"),
        ("a: " + "9" * 5000, "cannot be read"), ("? [a]\n: 1\n", "cannot be read"), ("a: \x07", "cannot be read"),
        ("name: s\ngames: [kuhn_poker]\nagents: [random, random]\nbudget: {seconds: .inf}", "finite"),
        ("name: s\ngames: [kuhn_poker]\nagents: [random, random]\nstop: {half_width: .nan}", "finite"),
        ("a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 12)), "100000 values"),
    ],
)  # fmt: skip
def test_an_experiment_that_is_no_reasonable_file_is_refused_in_a_line(folder, text, message):
    (folder / "bad.yaml").write_text(text)
    result = call("arena", "run", "bad.yaml")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["train", "kuhn_poker", "--seconds", "inf"], ["train", "kuhn_poker", "--seconds", "nan"],
        ["train", "kuhn_poker", "--total-steps", "inf"], ["arena", "plan", "small.yaml", "--half-width", "nan"],
        [*MATCH, "--deals", "0"], [*MATCH, "--deals", str(10**30)], [*MATCH, "-p", "100000"],
        [*MATCH, "--batch", "99999"],
        ["llm-stub", "--latency", "nan"], ["llm-stub", "--slow-seconds", "inf"], ["llm-stub", "--fault", "slow=nan"],
        [*MATCH[:3], "search:seconds=inf,random"], ["simulate", "kuhn_poker", "--games", "0"],
        ["simulate", "kuhn_poker", "--seed", "1", "--only", "9" * 5000],
    ],
)  # fmt: skip
def test_numbers_without_sense_are_refused(folder, words):
    result = call(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


def test_a_plan_of_a_million_million_deals_is_made_and_gone_on_with_at_once():
    match = Match.of("kuhn_poker", ["random", "random"], deals=10**12)
    plan = Plan([match], [[]])
    assert plan.left == plan.num_games == 2 * 10**12
    assert plan.take(3) == (0, [(0, 0), (1, 0), (2, 0)])
    number, jobs = plan.jobs()
    assert (number, next(jobs)) == (0, (3, 0))
    with pytest.raises(ArenaError, match="at most 1,000,000,000,000,000"):
        Match.of("kuhn_poker", ["random", "random"], deals=10**16)
    for seconds in (float("nan"), float("inf"), 0, -1):
        with pytest.raises(ArenaError, match="a number of seconds above 0"):
            Plan([match], [[]], seconds=seconds)


def test_a_match_of_too_many_agents_is_refused_before_memory_is_short():
    with pytest.raises(ArenaError, match="more than 1,000,000 games a deal"):
        _ = Match.of("kuhn_poker", ["random"] * 3000, deals=1).lineups
