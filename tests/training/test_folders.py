"""Two runs never write to one folder, and what a run logs goes on where its checkpoint ends."""

import json
import os
import shutil
import time

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app
from cardenvs.core.errors import FileError, OptionError
from cardenvs.core.files import locked_folder

torch = pytest.importorskip("torch")

from cardenvs.agents.checkpoint_file import read_checkpoint, write_checkpoint  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.folder import Logs, append_metrics, cut_metrics  # noqa: E402
from cardenvs.training.ppo import resume, train  # noqa: E402
from cardenvs.training.ppo.evaluate import Evaluation  # noqa: E402

SMALL = Config(num_envs=4, rollout_steps=8, hidden=(8,), final_deals=0, eval_interval=0, minibatches=1)
STEPS = 32
SET = [f"--set={name}" for name in ("num_envs=4", "rollout_steps=8", "hidden=8", "final_deals=0", "eval_interval=0")]


def begin(folder, updates=2, **more):
    return train("kuhn_poker_v0", SMALL, out=folder, total_steps=updates * STEPS, threads=1, show=False, **more)


def steps_in(folder):
    return [json.loads(line)["steps"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_second_run_in_a_folder_is_refused_with_the_process_of_the_first(alone, tmp_path):
    folder = tmp_path / "run"
    refused = []

    def second(metrics):
        for more in ({}, {"overwrite": True}):
            with pytest.raises(FileError) as error:
                begin(folder, **more)
            refused.append(str(error.value))

    begin(folder, updates=1, on_update=second)
    assert refused == [f"{folder} is in use by process {os.getpid()}; wait until it ends, or choose another path"] * 2
    assert steps_in(folder) == [STEPS]
    resume(folder / "latest.pt", total_steps=2 * STEPS, threads=1, show=False)  # it is free again


@pytest.mark.parametrize(
    "words",
    [
        ["train", "kuhn_poker", "--total-steps", "64", "--overwrite", *SET],
        ["train", "kuhn_poker", "--total-steps", "64", "--seeds", "1:2", *SET],
        ["exploit", "kuhn_poker", "--agent", "random", "--total-steps", "64", *SET[:3]],
        ["solve", "kuhn_poker", "--iterations", "2"],
        ["clone", "kuhn_poker", "--store", "games.db", "--agent", "random", "--epochs", "1"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_trains_respects_the_lock(words, alone, tmp_path):
    run = CliRunner().invoke
    if words[0] == "clone":
        run(app, ["simulate", "kuhn_poker", "--games", "9", "-p", "1", "--store", "games.db", "-q"])
    folder = tmp_path / ("out/seed-1" if "--seeds" in words else "out")
    with locked_folder(folder):
        ended = run(app, [*words, "--out", "out"], env={"COLUMNS": "200"})
        assert ended.exit_code == 2, (ended.output, ended.exception)
        assert f"is in use by process {os.getpid()}" in ended.stderr
        assert [path.name for path in folder.iterdir()] == [".lock"]


def test_training_and_solving_do_not_share_a_folder(alone, tmp_path):
    begin(tmp_path / "trained")
    words = ["solve", "kuhn_poker_v0", "--iterations", "2", "--quiet", "--out"]
    refused = CliRunner().invoke(app, [*words, str(tmp_path / "trained")])
    assert refused.exit_code == 2
    assert "holds a run of another command (latest.pt)" in refused.stderr
    assert CliRunner().invoke(app, [*words, str(tmp_path / "solved")]).exit_code == 0
    with pytest.raises(OptionError, match=r"another command \(latest.policy\)"):
        begin(tmp_path / "solved")
    assert len((tmp_path / "solved" / "metrics.jsonl").read_text().splitlines()) == 2
    begin(tmp_path / "solved", overwrite=True)
    assert not (tmp_path / "solved" / "latest.policy").exists()


def test_results_of_an_earlier_run_are_gone_once_another_takes_its_place(alone, tmp_path):
    for name in ("evaluation.json", "clone.json", "exploit.json"):
        (tmp_path / name).write_text("{}")
    begin(tmp_path, overwrite=True)
    assert not any((tmp_path / name).exists() for name in ("clone.json", "exploit.json"))


def test_a_full_disk_is_told_with_the_file(tmp_path):
    full = tmp_path / "metrics.jsonl"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: .*metrics\.jsonl"):
        append_metrics(full, {"steps": 1})


def test_a_resumed_run_drops_the_metrics_that_it_repeats(alone, tmp_path):
    path = begin(tmp_path / "run", updates=2)
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:  # as a killed process leaves it
        file.write(json.dumps({"steps": 3 * STEPS}) + "\n" + '{"steps": 128, "upd')
    resume(path, total_steps=4 * STEPS, threads=1, show=False)
    assert steps_in(tmp_path / "run") == [STEPS, 2 * STEPS, 3 * STEPS, 4 * STEPS]


def test_an_evaluation_that_a_kill_cut_short_is_made_on_resuming(alone, tmp_path, monkeypatch):
    config = SMALL.changed({"eval_interval": 2, "eval_deals": 8, "eval_opponents": ("random",)})
    how = {"total_steps": 2 * STEPS, "threads": 1, "show": False}
    train("kuhn_poker_v0", config, out="straight", **how)

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(Evaluation, "score", killed)
        with pytest.raises(SystemExit):
            train("kuhn_poker_v0", config, out="killed", **how)
    assert steps_in(tmp_path / "killed") == [STEPS]
    resume("killed/latest.pt", threads=1, show=False)
    lines = [
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("straight", "killed")
    ]
    for straight, resumed in zip(*lines, strict=True):
        assert straight.keys() == resumed.keys()
        assert straight["steps"] == resumed["steps"]
        assert straight.get("eval/random") == resumed.get("eval/random")
    assert read_checkpoint("killed/latest.pt")["training"]["unlogged"] is None


def test_an_update_is_logged_once_after_a_kill_before_the_next_checkpoint(alone, tmp_path, monkeypatch):
    config = SMALL.changed({"eval_interval": 2, "eval_deals": 8, "eval_opponents": ("random",)})
    write = Logs.write

    def killed(self, metrics):
        write(self, metrics)
        if "eval/random" in metrics:
            raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(Logs, "write", killed)
        with pytest.raises(SystemExit):
            train("kuhn_poker_v0", config, out="run", total_steps=3 * STEPS, threads=1, show=False)
    assert steps_in(tmp_path / "run") == [STEPS, 2 * STEPS]
    resume("run/latest.pt", threads=1, show=False)
    assert steps_in(tmp_path / "run") == [STEPS, 2 * STEPS, 3 * STEPS]
    assert "eval/random" in json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[1])


def test_a_run_that_goes_on_in_another_folder_does_not_overwrite_the_run_there(alone, tmp_path):
    one, two = begin(tmp_path / "one"), begin(tmp_path / "two", updates=1)
    before = two.read_bytes()
    with pytest.raises(OptionError, match="two holds a run"):
        resume(one, out=tmp_path / "two", total_steps=3 * STEPS, threads=1, show=False)
    assert two.read_bytes() == before
    resume(one, out=tmp_path / "three", total_steps=3 * STEPS, threads=1, show=False)
    assert steps_in(tmp_path / "three") == [3 * STEPS]


def test_metrics_are_cut_whatever_the_file_holds(tmp_path):
    path = tmp_path / "metrics.jsonl"
    cut_metrics(path, "steps", 3)
    assert not path.exists()
    lines = [
        '{"steps": 1}\n',
        "no json\n",
        "[]\n",
        '{"other": 1}\n',
        '{"steps": 3}\n',
        '{"steps": 4}\n',
        '{"steps": 2}',
    ]
    path.write_text("".join(lines))
    cut_metrics(path, "steps", 3)
    assert path.read_text() == lines[0] + lines[4]


def test_tensorboard_keeps_the_last_step_before_a_resumption(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for steps, written in ((0, (10, 20, 30)), (20, (30, 40))):
        time.sleep(1)  # files are read in the order of their names, which have the second
        logs = Logs(tmp_path, steps)
        for step in written:
            logs.write({"steps": step, "x": step + steps / 100})
        logs.close()
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    assert [(event.step, round(event.value, 2)) for event in events.Scalars("x")] == [
        (10, 10), (20, 20), (30, 30.2), (40, 40.2),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["meta", "cuda:99", "xla", "mps:7", "nonsense", "", "cpu:-1", "hpu", "\x1b"])
def test_a_device_that_cannot_train_is_refused_before_a_folder_is_made(name, alone, tmp_path):
    with pytest.raises(OptionError, match=r"cannot be used here: .*; choose cpu, cuda or auto"):
        begin(tmp_path / "run", device=name)
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_written_at_once_are_whole(alone, tmp_path):
    """As when two processes save to one path without a lock."""
    from concurrent.futures import ThreadPoolExecutor

    path = begin(tmp_path / "run", updates=1)
    saved = read_checkpoint(path)
    from cardenvs.core.registry import get_game

    game = get_game("kuhn_poker_v0")

    def write(steps):
        write_checkpoint(path, game, game.make_options(), saved["shape"], saved["model"], steps, 1.0, {})
        return read_checkpoint(path)["steps"]

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(write, range(40))) <= set(range(40))
    assert sorted(found.name for found in path.parent.iterdir() if "part" in found.name) == []
    shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    "name",
    ["clip", "minibatches", "epochs", "pool_priority", "final_deals", "eval_deals", "eval_interval", "magnet_interval"],
)
def test_settings_beyond_what_can_be_counted_are_refused(name):
    with pytest.raises(OptionError, match=f"{name}: Input should be less than or equal to"):
        Config.make({name: "9" * 31})
