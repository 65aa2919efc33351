"""One run in two processes gives what it gives in one."""

import json
import re
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nested import tensors  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.errors import OptionError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.envs.vector import VectorEnv  # noqa: E402
from cardenvs.training import torchrun  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run, resume, train  # noqa: E402
from cardenvs.training.ppo.collect import sample  # noqa: E402
from cardenvs.training.ppo.league import Tables  # noqa: E402
from cardenvs.training.ppo.opponents import PolicyOpponent  # noqa: E402
from cardenvs.training.ppo.processes import Processes, part_of, united  # noqa: E402
from cardenvs.training.ppo.trajectories import Trajectories  # noqa: E402

LEDUC = get_game("leduc_poker_v0")
CONFIG = Config(
    num_envs=17, rollout_steps=8, hidden=(16,), epochs=2, minibatches=3, pool_share=0.3, pool_interval=2, magnet=0.1,
    magnet_interval=2, exploiter_share=0.3, exploiter_interval=3, rule_share=0.2, rule_opponents=("random",),
    teacher="random", eval_interval=2, eval_deals=16, final_deals=32, target_kl=0.5,
)  # fmt: skip
MIRROR = CONFIG.changed({"policy_loss": "mirror", "magnet_decay": 0.9})
STEPS = 17 * 8  # of an update
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
TRAIN = ["-m", "cardenvs", "train"]


def in_two(*words, **how):
    """Run `cardenvs train` in two processes."""
    return subprocess.run([*TORCHRUN, *TRAIN, *words, "--threads", "1"], capture_output=True, text=True, **how)


def check_alike(one, other):
    """Whatever is whole numbers is the same, and so are floats but for rounding."""
    ones, others = tensors(one), tensors(other)
    assert ones.keys() == others.keys()
    for path, tensor in ones.items():
        if tensor.dtype.is_floating_point:
            torch.testing.assert_close(
                tensor, others[path], atol=1e-5, rtol=1e-5, msg=lambda why, path=path: f"{path}: {why}"
            )
        else:
            assert torch.equal(tensor, others[path]), path


def rows_of(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").open()]
    return [{k: v for k, v in row.items() if not k.startswith(("time/", "speed/", "seconds"))} for row in rows]


@pytest.mark.rotating
@pytest.mark.parametrize("config", [CONFIG, MIRROR], ids=["clip", "mirror"])
def test_two_processes_give_the_run_of_one(tmp_path, config):
    """A whole run: network, moments, scales, games, turns, pool, generator, evaluations and metrics."""
    begin = tmp_path / "begin.pt"
    Run(LEDUC, config.changed({"seed": 5}), Limits(STEPS)).save(begin)
    alone = train(LEDUC, config, init=begin, out=tmp_path / "one", total_steps=6 * STEPS, threads=1, show=False)
    (tmp_path / "config.yaml").write_text(json.dumps(config.as_dict()))
    limit = f"--total-steps={6 * STEPS}"
    words = ("leduc_poker_v0", "--config", str(tmp_path / "config.yaml"), "--init", str(begin), limit)
    said = in_two(*words, "--out", str(tmp_path / "two"))
    assert said.returncode == 0, said.stderr
    assert said.stderr.count("checkpoint: ") == 1  # only the first process speaks
    check_alike(read_checkpoint(alone), read_checkpoint(tmp_path / "two" / "latest.pt"))
    for row, twin in zip(rows_of(tmp_path / "one"), rows_of(tmp_path / "two"), strict=True):
        assert row == pytest.approx(twin, abs=1e-4, rel=1e-4)
    scores = [json.loads((tmp_path / k / "evaluation.json").read_text())["scores"] for k in ("one", "two")]
    assert scores[0] == scores[1]


@pytest.mark.slow
def test_two_processes_resume_the_run_of_one_and_the_reverse(tmp_path):
    path = train(LEDUC, CONFIG, out=tmp_path / "one", total_steps=2 * STEPS, threads=1, show=False)
    shutil.copytree(path.parent, tmp_path / "two")
    said = in_two("--resume", f"--total-steps={4 * STEPS}", "--out", str(tmp_path / "two"))
    assert said.returncode == 0, said.stderr
    here = resume(path, total_steps=4 * STEPS, threads=1, show=False, out=tmp_path / "here")
    for checkpoint, name in ((here, "1of1"), (tmp_path / "two" / "latest.pt", "1of2")):
        resume(checkpoint, total_steps=6 * STEPS, threads=1, show=False, out=tmp_path / name)
    check_alike(*(read_checkpoint(tmp_path / name / "latest.pt") for name in ("1of1", "1of2")))


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("steps", "shown"),
    [
        pytest.param("1e9", "steps", id="an update"),
        pytest.param("1", "final evaluation:", id="the final evaluation", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_stops_both_processes_with_a_checkpoint(tmp_path, steps, shown):
    command = [*TORCHRUN, *TRAIN, "kuhn_poker_v0", "--out", str(tmp_path), "--threads", "1", "--total-steps", steps]
    process = subprocess.Popen([*command, "--set", "final_deals=3_000_000"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while shown not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert said.count("To resume:") == 1
    assert not re.search(r'File ".*cardenvs/', said)
    assert Run.restore(tmp_path / "latest.pt").steps > 0
    assert not (tmp_path / "evaluation.json").exists()


def test_mistakes_are_told_in_a_line(tmp_path):
    said = in_two("kuhn_poker_v0", "--out", str(tmp_path), "--set", "num_envs=1")
    assert said.returncode != 0
    assert said.stderr.count("Error: 1 games are too few for 2 processes; raise num_envs") == 1
    assert not re.search(r'File ".*cardenvs/', said.stderr)


def test_a_mistake_of_one_process_alone_is_printed_after_a_wait(monkeypatch):
    waits = []
    monkeypatch.setattr(torchrun, "time", SimpleNamespace(sleep=waits.append))  # other threads go on sleeping
    for rank, expected in (("0", []), ("1", [5.0])):
        for name, value in (("RANK", rank), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "x"), ("MASTER_PORT", "1")):
            monkeypatch.setenv(name, value)
        said = CliRunner().invoke(app, ["train", "kuhn_poker_v0", "--set", "lrr=1"])
        assert said.exit_code == 2
        assert "Error: --set: lrr" in said.stderr
        assert waits == expected


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"merge_turns": True}, "merge_turns"),
        ({"method": "dmc"}, "method dmc"),
        ({"opponent": "random", "rule_share": 1.0, "pool_share": 0.0}, "a frozen opponent"),
    ],
)
def test_what_takes_one_process_is_refused_in_several(changes, what):
    config = Config(num_envs=8, rollout_steps=4, hidden=(8,)).changed(changes)
    opponent = PolicyOpponent("random") if config.opponent else None
    Run(LEDUC, config, Limits(32), opponent=opponent)
    with pytest.raises(OptionError, match=f"^{what} works in one process only; leave it out, or leave out torchrun$"):
        Run(LEDUC, config, Limits(32), opponent=opponent, processes=Processes(1, 2))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("number", [8, 17, 64])
def test_shares_are_all_games_once(size, number):
    shares = [Processes(rank, size).share(number) for rank in range(size)]
    assert [game for share in shares for game in range(number)[share]] == list(range(number))
    assert max(s.stop - s.start for s in shares) - min(s.stop - s.start for s in shares) <= 1
    with pytest.raises(OptionError, match="too few"):
        Processes(0, number + 1).share(number)


@pytest.mark.parametrize("game", ["leduc_poker_v0", "gin_rummy_v0"])
def test_a_part_of_a_batch_plays_as_in_the_whole(game):
    """Cards, rule policies and sampled actions of environments 5 to 8 of 9."""
    whole, part = (
        VectorEnv(get_game(game), number, seed=3, num_threads=1, first_env=first) for number, first in ((9, 0), (4, 5))
    )
    whole.reset(), part.reset()
    for step in range(200):
        for name in ("observation", "legal_actions", "current_player", "reward", "episode_seed"):
            np.testing.assert_array_equal(getattr(whole.batch, name)[5:], getattr(part.batch, name))
        drawn = (
            whole.policy_actions("random", np.arange(9), 7, step),
            part.policy_actions("random", np.arange(4), 7, step),
        )
        np.testing.assert_array_equal(drawn[0][5:], drawn[1])
        actions = whole.sample_actions().copy()
        np.testing.assert_array_equal(actions[5:], part.sample_actions())
        whole.step(actions), part.step(actions[5:])


def test_slots_of_all_processes_have_the_order_of_one():
    whole = Trajectories(9, 3, 4)
    parts = [Trajectories(4, 3, 4), Trajectories(5, 3, 4, first_env=4)]
    numbers = np.concatenate([part.numbers(np.arange(part.num_slots)) for part in parts])
    assert len(np.unique(numbers)) == whole.num_slots
    ranks = np.argsort(np.argsort(numbers))
    expected = []  # the slot of each in the whole
    for part, first, n in zip(parts, (0, 4), (4, 5), strict=True):
        expected += [first * 3 + k for k in range(part.num_carried)]
        expected += [27 + step * 9 + first + env for step in range(4) for env in range(n)]
    assert ranks.tolist() == expected


def test_tables_of_parts_are_parts_of_the_tables():
    whole = Tables(CONFIG, 17, 2, ["random", "other"])
    parts = [Tables(CONFIG, 17, 2, ["random", "other"], games) for games in (slice(0, 8), slice(8, 17))]
    np.testing.assert_array_equal(whole.learner, np.concatenate([part.learner for part in parts]))
    np.testing.assert_array_equal(whole.is_ruled, np.concatenate([part.is_ruled for part in parts]))
    for k, (name, rows) in enumerate(whole.rules):
        found = np.concatenate([part.rules[k][1] + first for part, first in zip(parts, (0, 8), strict=True)])
        assert parts[0].rules[k][0] == name
        np.testing.assert_array_equal(rows, found)


def test_states_of_parts_and_of_the_whole(tmp_path):
    run = Run(LEDUC, CONFIG, Limits(1e9))
    for _ in range(3):
        run.advance()
    state = run.player.get_state()
    parts = [part_of(state, games, 2) for games in (slice(0, 3), slice(3, 11), slice(11, 17))]
    check_alike(united(parts, 2), state)
    assert united(parts, 2)["env"]["num_envs"] == 17


def test_actions_are_drawn_by_their_probabilities():
    generator = torch.Generator().manual_seed(1)
    probabilities = torch.tensor([0.5, 0.0, 0.3, 0.2, 0.0])
    drawn = sample(probabilities.log().expand(200_000, 5), generator)
    shares = torch.bincount(drawn, minlength=5) / 200_000
    assert shares[1] == shares[4] == 0
    torch.testing.assert_close(shares, probabilities, atol=0.005, rtol=0)


def test_actions_of_parts_are_those_of_the_whole():
    """Parts have lists of legal actions of their own lengths, and draw as if they had those of the whole."""
    logits = torch.randn(1000, 9, generator=torch.Generator().manual_seed(2))
    logits[:600, 6:] = -torch.inf
    log_probs = logits.log_softmax(-1)
    whole = sample(log_probs, torch.Generator().manual_seed(1))
    parts = [
        sample(log_probs[rows, :width], torch.Generator().manual_seed(1), (1000, 9), rows)
        for rows, width in ((slice(0, 600), 6), (slice(600, 1000), 9))
    ]
    assert torch.equal(torch.cat(parts), whole)


def test_an_action_with_probability_is_drawn_even_by_the_largest_number(monkeypatch):
    largest = 1 - torch.finfo(torch.float32).eps / 2
    monkeypatch.setattr(torch, "rand", lambda size, **_: torch.full(size, largest))
    logits = torch.randn(10_000, 50)
    logits[:, 40:] = -torch.inf
    assert int(sample(logits.log_softmax(-1), torch.Generator()).max()) <= 39
