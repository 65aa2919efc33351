"""Checkpoints from anybody: whatever is in one, it is loaded or refused in a line."""

import copy
import math
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.ppo import load_agent  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.errors import CardenvsError, FormatError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run  # noqa: E402

KUHN = get_game("kuhn_poker_v0")
TINY = Config(num_envs=4, rollout_steps=4, hidden=(8,), epochs=1, minibatches=1, pool_size=2)
GONE = object()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A checkpoint in the middle of a run, with carried transitions and moments of the optimiser."""
    path = tmp_path_factory.mktemp("checkpoints") / "latest.pt"
    run = Run(KUHN, TINY, Limits(64))
    run.advance()
    run.save(path)
    return path


def changed(path, tmp_path, where, value):
    """The checkpoint with one place changed: to a value, or by a function of the old one."""
    checkpoint = copy.deepcopy(read_checkpoint(path))
    *parents, last = [int(name) if name.isdecimal() else name for name in where.split("/")]
    place = checkpoint
    for name in parents:
        place = place[name]
    if value is GONE:
        del place[last]
    else:
        place[last] = value(place[last]) if callable(value) else value
    other = tmp_path / "changed.pt"
    torch.save(checkpoint, other)
    return other


def filled(number):
    return lambda tensor: torch.full_like(tensor, number)


def endless(tensor):
    """One entry that stands for 10**12."""
    return torch.zeros(1, dtype=tensor.dtype).expand(10**12)


def test_it_is_resumed_as_it_is(path):
    run = Run.restore(path)
    assert run.steps == 16
    run.advance()


ARRAYS = "training/player/env/arrays"
RUINED = [
    *((f"{ARRAYS}/{name}", filled(127)) for name in ("actions", "plies")),
    (f"{ARRAYS}/plies", filled(-1)),
    (f"{ARRAYS}/plies", lambda t: t.double()),
    (f"{ARRAYS}/reward", filled(math.nan)),
    (f"{ARRAYS}/actions", GONE),
    (ARRAYS, 5),
    ("training/player/env/seed", -1),
    ("training/player/env/seed", "x"),
    ("training/player/env/num_envs", 10**12),
    ("training/player/trajectories/slots", lambda t: t + 10**9),
    ("training/player/trajectories/slots", lambda t: t - 10**9),
    ("training/player/trajectories/slots", lambda t: t.double()),
    ("training/player/trajectories/slots", endless),
    ("training/player/trajectories/reward", filled(math.inf)),
    ("training/player/trajectories", GONE),
    ("training/player/store/legal", filled(10**9)),
    ("training/player/store/num_legal", filled(10**6)),
    ("training/player/store/num_legal", filled(0)),
    ("training/player/store/choice", filled(-5)),
    ("training/player/store/log_prob", filled(math.nan)),
    ("training/player/store/observation", lambda t: t[:, :1]),
    ("training/player/store/value", GONE),
    ("training/player/pool/selves", []),
    ("training/player/pool/selves/0", filled(math.nan)),
    ("training/player/pool/selves/0", lambda t: t[:5]),
    ("training/player/pool/selves/0", endless),
    ("training/player/pool/lost", filled(2)),
    ("training/player/pool/lost", lambda t: t.float()),
    ("training/player/rule_calls", -1),
    ("training/exploiter", {}),
    ("training/learner/magnet", {}),
    ("training/learner/average", {"model": {}, "count": 1}),
    ("training/learner/returns/factor", 0.0),
    ("training/learner/returns/factor", math.nan),
    ("training/learner/returns/sums", [1.0]),
    ("shape/action_embedding", -1),
    ("shape/action_embedding", 3),
    ("training/learner/optimizer/state/0/exp_avg", lambda t: torch.zeros(3)),
    ("training/learner/optimizer/state/0/exp_avg_sq", filled(-1)),
    ("training/learner/optimizer/state/0/step", filled(math.nan)),
    ("training/learner/optimizer/state/0", GONE),
    ("training/generator", lambda t: t[:10]),
    ("training/generator", filled(255)),
    ("training/updates", -1),
    ("training/seconds", math.nan),
    ("training/total_steps", "many"),
    ("training/total_seconds", -5),
    ("training", GONE),
    ("config/num_envs", 1 << 20),
    ("config/num_envs", 10**12),
    ("config/rollout_steps", 10**9),
    ("config/hidden", [10**12]),
    ("config/hidden", [8] * 1000),
    ("config", {"nonsense": 1}),
    ("config/options", {"num_players": 10**9}),
    ("steps", -3),
    ("steps", 1.5),
    ("steps", 10**400),
    ("reward_scale", 10**400),
    ("training/unlogged", {"steps": 1, "updates": 1, "time/play": 10**400}),
    ("shape/hidden", [10**9]),
    ("shape/hidden", []),
    ("shape/hidden", "8"),
    ("shape/num_actions", 10**12),
    ("shape/observation_size", -1),
    ("shape/activation", "__import__"),
    ("model/policy.weight", filled(math.nan)),
    ("model/value.bias", filled(math.inf)),
    ("model/scale", filled(math.nan)),
    ("model/policy.weight", lambda t: t.double()),
    ("model/policy.weight", lambda t: t.to_sparse()),
    ("model/policy.weight", endless),
    ("model/policy.weight", "weights"),
    ("model/policy.weight", GONE),
    ("options", {"num_players": {"a": {}}}),
    ("options", [1]),
    ("layout", 7),
    ("game", "\x1b[31mred"),
    ("game", GONE),
    ("model", GONE),
]


@pytest.mark.parametrize(("where", "value"), RUINED, ids=[f"{k} {where}" for k, (where, _) in enumerate(RUINED)])
def test_a_ruined_checkpoint_is_refused_in_a_line(path, tmp_path, where, value):
    other = changed(path, tmp_path, where, value)
    with pytest.raises(CardenvsError) as refused:
        Run.restore(other).advance()
    assert str(refused.value).isprintable()
    if where.split("/")[0] in ("model", "shape"):
        with pytest.raises(FormatError):
            load_agent(other)


def test_the_command_says_so_and_ends(path, tmp_path, capsys):
    wrong = changed(path, tmp_path, f"{ARRAYS}/actions", filled(127))
    wrong.rename(wrong.with_name("latest.pt"))
    with pytest.raises(SystemExit) as ended:
        app(["train", "--resume", "--out", str(wrong.parent)])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1


def test_an_archive_that_unpacks_to_more_is_refused(tmp_path):
    bomb = tmp_path / "bomb.pt"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(20 << 20))
    with pytest.raises(FormatError, match="it is compressed"):
        load_agent(bomb)


def test_a_pickle_that_calls_for_memory_is_refused(path, tmp_path):
    bomb, large = tmp_path / "bomb.pt", (10**15).to_bytes(8, "little")
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(bomb, "w") as archive:
        for entry in whole.infolist():
            hostile = entry.filename.endswith("data.pkl")
            data = b"\x80\x02c__builtin__\nbytearray\n(\x8a\x08" + large + b"tR." if hostile else whole.read(entry)
            archive.writestr(entry.filename, data)
    with pytest.raises(FormatError, match=r"it names .__builtin__ bytearray., which no checkpoint needs"):
        load_agent(bomb)


def test_flipped_bytes_are_refused_or_harmless(path, tmp_path):
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    other = tmp_path / "flipped.pt"
    for _ in range(60):
        data = bytearray(whole)
        for place in rng.integers(len(data), size=rng.integers(1, 4)):
            data[place] ^= 1 << int(rng.integers(8))
        other.write_bytes(data[: rng.integers(len(data))] if rng.random() < 0.2 else data)
        try:
            Run.restore(other)
        except CardenvsError as error:
            assert str(error).isprintable()  # noqa: PT017  it may be accepted, too
