"""Boards and training on a Ray cluster of two nodes, one of which is killed in the middle."""

import threading
import time

import pytest

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.arena import Store  # noqa: E402
from cardenvs.arena.experiment import Experiment  # noqa: E402
from cardenvs.cli.main import app  # noqa: E402
from cardenvs.core.errors import OptionError  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.folder import RunFolder  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import train  # noqa: E402
from cardenvs.training.remote import RemoteRun, train_on_ray  # noqa: E402

pytestmark = pytest.mark.slow  # starting and killing nodes takes a minute

BOARD = {
    "name": "on a cluster",
    "deals": 3000,
    "seed": 5,
    "games": ["kuhn_poker_v0"],
    "agents": ["random", {"name": "search", "spec": "search:simulations=20"}],
    "guard": {"on_failure": "stop"},
}
TINY = Config(
    num_envs=16, rollout_steps=8, hidden=(8,), epochs=1, minibatches=1, eval_interval=50, eval_deals=8, final_deals=16,
    checkpoint_interval=1.0,
)  # fmt: skip


@pytest.fixture
def cluster():
    """Two nodes with a CPU each, joined; the second one may be killed."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


def test_a_board_survives_the_loss_of_a_node(cluster, tmp_path):
    nodes, second = cluster
    experiment, killed = Experiment.of(BOARD), []

    def progress(done, total):
        if done > 200 and not killed:
            killed.append(done)
            nodes.remove_node(second, allow_graceful=False)

    with Store(tmp_path / "ray.db") as store, Store(tmp_path / "here.db") as local:
        assert experiment.run(store, processes=2, backend="ray", progress=progress)
        experiment.run(local)
        assert killed
        assert killed[0] < experiment.num_games
        assert store.digest() == local.digest()


def test_training_survives_the_loss_of_a_node(cluster, tmp_path):
    nodes, second = cluster
    steps = 150_000
    runs = [
        RemoteRun("kuhn_poker_v0", TINY.changed({"seed": seed}), RunFolder(tmp_path / f"seed-{seed}"), Limits(steps))
        for seed in (1, 2)
    ]

    def kill():
        while not all(run.folder.checkpoint.exists() for run in runs):
            time.sleep(0.05)
        killed.append([read_checkpoint(run.folder.checkpoint)["steps"] for run in runs])
        nodes.remove_node(second, allow_graceful=False)

    killed = []
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    train_on_ray(runs, show=False)
    killer.join(60)
    assert all(done < steps for done in killed[0])
    for run in runs:
        alone = train(
            "kuhn_poker_v0",
            run.config,
            out=tmp_path / "alone",
            total_steps=steps,
            threads=1,
            show=False,
            overwrite=True,
        )
        one, other = read_checkpoint(alone), read_checkpoint(run.folder.checkpoint)
        assert one["steps"] == other["steps"] >= steps
        assert all(torch.equal(tensor, other["model"][name]) for name, tensor in one["model"].items())
        assert (tmp_path / "alone" / "evaluation.json").exists()
        assert run.folder.result.exists()
        folders = (tmp_path / "alone", run.folder.path)
        rows = [len((folder / "metrics.jsonl").read_text().splitlines()) for folder in folders]
        assert rows[0] == rows[1]


def test_seeds_on_ray_from_the_command_line(tmp_path, cluster):
    from typer.testing import CliRunner

    words = ["train", "kuhn_poker_v0", "--seeds", "1:3", "--backend", "ray", "--out", str(tmp_path), "--threads", "1"]
    settings = [f"--set={setting}" for setting in ("num_envs=16", "hidden=8", "rollout_steps=8", "final_deals=16")]
    said = CliRunner().invoke(app, [*words, *settings, "--total-steps", "1024"])
    assert said.exit_code == 0, said.output
    assert "mean" in said.output
    assert CliRunner().invoke(app, ["train", "kuhn_poker_v0", "--backend", "ray"]).exit_code == 2


def test_what_a_run_raises_is_raised_here(tmp_path, cluster):
    wrong = TINY.changed({"game": "leduc_poker_v0"})
    with pytest.raises(OptionError, match="these settings are for leduc_poker_v0"):
        train_on_ray([RemoteRun("kuhn_poker_v0", wrong, RunFolder(tmp_path / "run"))], show=False)
