"""Several seeds in one command, and pictures of runs."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.errors import FormatError, OptionError  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.curves import _band, draw, folders_of, read_metric  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo.evaluate import Evaluation  # noqa: E402
from cardenvs.training.seeds import parse_seeds, seed_runs, table  # noqa: E402

SETTINGS = [f"--set={setting}" for setting in ("num_envs=16", "hidden=8", "rollout_steps=8", "final_deals=16")]


def call(*words):
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.mark.parametrize(
    ("text", "seeds"), [("1:6", [1, 2, 3, 4, 5]), ("7", [7]), ("3,1,20", [3, 1, 20]), ("0:1", [0])]
)
def test_seeds_are_a_range_or_a_list(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "6:1", "1:1", "1,,2", "a", "1:2:3", "-1", "1,1", "0:1000000", "1.5", "1" * 40])
def test_other_seeds_are_refused(text):
    with pytest.raises(OptionError):
        parse_seeds(text)


def result(seed, mean, exploitability=None):
    scores = {"random": {"mean": mean}}
    return {"seed": seed, "steps": 2_000_000, "seconds": 61.0, "scores": scores, "nash_conv": exploitability}


def test_the_table_has_means_and_students_intervals():
    headings, rows = table([result(1, 1.0, 0.1), result(2, 2.0, 0.2), result(3, 3.0, 0.3)])
    assert headings == ["seed", "steps", "seconds", "against random", "NashConv"]
    assert rows[0] == ["1", "2,000,000", "61", "+1.00", "0.1000"]
    assert rows[-1] == ["mean", "2,000,000", "61", "+2.00 ± 2.48", "0.2000 ± 0.2484"]  # t(2) = 4.303, s = 1
    assert len(table([result(1, 1.0)])[1]) == 1


def test_finished_seeds_are_kept_and_begun_ones_go_on(tmp_path):
    words = ("train", "kuhn_poker_v0", "--seeds", "1:3", "--out", str(tmp_path), "--threads", "1", *SETTINGS)
    first = call(*words, "--total-steps", "256")
    assert first.exit_code == 0, first.output
    assert "mean" in first.output
    before = (tmp_path / "seed-1" / "latest.pt").read_bytes()
    (tmp_path / "seed-2" / "evaluation.json").unlink()
    again = call(*words, "--total-steps", "256")
    assert again.exit_code == 0
    assert (tmp_path / "seed-1" / "latest.pt").read_bytes() == before
    assert json.loads((tmp_path / "seed-2" / "evaluation.json").read_text())["seed"] == 2
    other = call(*words, "--set", "lr=0.5")
    assert other.exit_code == 2
    assert "holds a run with other settings (lr)" in other.output
    assert call("train", "--seeds", "1:3", "--resume", "--out", "x").exit_code == 2
    on_ray = call("train", "kuhn_poker_v0", "--seeds", "1:3", "--backend", "ray", "--init", __file__)
    assert on_ray.exit_code == 2
    assert "--init does not go with --backend ray" in on_ray.output


SEEDS = ("train", "kuhn_poker_v0", "--seeds", "1:3", "--threads", "1", *SETTINGS)


def steps_of(folder):
    return [read_checkpoint(folder / f"seed-{seed}" / "latest.pt")["steps"] for seed in (1, 2)]


def test_seeds_go_on_when_more_steps_are_asked_for(tmp_path):
    words = (*SEEDS, "--out", str(tmp_path), "--total-steps")
    assert call(*words, "256").exit_code == 0
    more = call(*words, "512")
    assert more.exit_code == 0, more.output
    assert steps_of(tmp_path) == [512, 512]
    assert more.stdout.count(" 512 ") == 3  # a row a seed, and the mean
    assert call(*words, "512", "--quiet").exit_code == 0
    fewer = call(*words, "256")
    assert fewer.exit_code == 2
    said = (
        "holds a run of 512 steps, beyond the limit of 256; raise the limit, choose another folder, or give --overwrite"
    )
    assert said in fewer.stderr
    timed = call(*SEEDS, "--out", str(tmp_path), "--seconds", "1e-9")
    assert "seconds, beyond the limit of 0" in timed.stderr
    assert steps_of(tmp_path) == [512, 512]
    assert call(*words, "256", "--overwrite").exit_code == 0
    assert steps_of(tmp_path) == [256, 256]


def test_seeds_that_stopped_go_on_by_the_same_command(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Evaluation, "score", stop)
        said = call(*SEEDS, "--total-steps", "256")
        assert said.exit_code == 130
        (folder,) = (tmp_path / "runs").iterdir()
        assert f"To resume: the same command with --out runs/{folder.name}\n" in said.stderr
        named = call(*SEEDS, "--total-steps", "256", "--out", "named", "--overwrite")
        assert "To resume: the same command, without --overwrite\n" in named.stderr
    assert call(*SEEDS, "--total-steps", "256", "--out", f"runs/{folder.name}").exit_code == 0
    assert steps_of(folder) == [256, 256]


def test_seeds_without_a_final_evaluation_say_so(tmp_path):
    said = call(*SEEDS, "--out", str(tmp_path), "--total-steps", "128", "--set", "final_deals=0")
    assert said.exit_code == 0
    assert said.stdout == ""
    assert said.stderr.splitlines()[-1] == "No results to show: with final_deals=0 there is no final evaluation."


def test_a_damaged_result_is_refused(tmp_path):
    call("train", "kuhn_poker_v0", "--out", str(tmp_path / "seed-1"), "--total-steps", "128", *SETTINGS)
    checkpoint = torch.load(tmp_path / "seed-1" / "latest.pt", weights_only=True)
    (tmp_path / "seed-1" / "evaluation.json").write_text("{")
    with pytest.raises(OptionError, match=r"evaluation\.json is damaged"):
        seed_runs(Config.make(checkpoint["config"]), [1], tmp_path, Limits(128))


def write(folder, rows):
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


def test_a_metric_is_read_by_steps(tmp_path):
    run = write(tmp_path / "a", [{"steps": 1}, {"steps": 2, "eval/random": 0.5}, {"steps": 4, "eval/random": None}])
    assert read_metric(run, "eval/random") == {2: 0.5}
    with pytest.raises(OptionError, match="its evaluations are eval/random"):
        read_metric(run, "eval/heuristic")
    with pytest.raises(OptionError, match="holds no run"):
        read_metric(tmp_path, "eval/random")


def test_a_solver_has_no_learning_curves(tmp_path):
    run = write(tmp_path / "a", [{"iterations": 1, "nash_conv": 0.5}])
    with pytest.raises(FormatError, match="is of a solver"):
        read_metric(run, "nash_conv")


@pytest.mark.parametrize(
    "line", ["{", "[1]", f'{{"steps": {"9" * 400}}}', '{"steps": "x"}', '{"steps": NaN}', "[" * 100_000, "\x00"]
)
def test_damaged_metrics_are_refused(tmp_path, line):
    run = write(tmp_path / "a", [{"steps": 1}])
    (run / "metrics.jsonl").write_text(f'{{"steps": 1}}\n{line}')
    with pytest.raises(FormatError, match="is damaged in line 2"):
        read_metric(run, "eval/random")


def test_seeds_become_a_band():
    steps, low, mean, high = _band([{0: 0.0, 2: 2.0, 4: 4.0}, {1: 3.0, 4: 6.0, 9: 0.0}])
    assert steps.tolist() == [1, 2, 4]
    assert low.tolist() == [1, 2, 4]
    assert high.tolist() == [3, 4, 6]
    assert mean.tolist() == [2, 3, 5]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_curves_are_drawn(tmp_path, ending):
    pytest.importorskip("matplotlib")
    for seed in (1, 2):
        write(tmp_path / "many" / f"seed-{seed}", [{"steps": k, "eval/random": k * seed} for k in range(3)])
    write(tmp_path / "o$n$e", [{"steps": 1, "eval/random": 0.5}])
    runs = [tmp_path / "many", tmp_path / "o$n$e"]
    assert [len(folders) for folders in folders_of(runs).values()] == [2, 1]
    out = tmp_path / f"curve.{ending}"
    said = call("curves", *map(str, runs), "--out", str(out))
    assert said.exit_code == 0, said.output
    assert out.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    if ending == "svg":
        assert ElementTree.parse(out)
        assert "prefers-color-scheme: dark" in out.read_text(encoding="utf-8")


def test_other_pictures_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"should end in \.svg, \.png, \.pdf"):
        draw({}, "eval/random", tmp_path / "curve.jpeg2")
