"""Playing a rollout while the one before is learnt from."""

import copy
from concurrent.futures import Future

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.network import log_policy  # noqa: E402
from cardenvs.core.errors import FormatError, OptionError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run  # noqa: E402
from cardenvs.training.ppo.collect import is_listed  # noqa: E402
from cardenvs.training.ppo.processes import Processes  # noqa: E402

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
TINY = Config(
    num_envs=16, rollout_steps=8, hidden=(16,), epochs=2, minibatches=2, lr=1e-2, pool_share=0.5, pool_interval=2,
    pool_size=3, overlap=True,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("one_thread")


class InTurn:
    """An executor that works at once, or only when its result is wanted."""

    def __init__(self, at_once):
        self.at_once = at_once

    def submit(self, call, *arguments):
        if self.at_once:
            done = Future()
            done.set_result(call(*arguments))
            return done
        return Late(call, arguments)


class Late:
    def __init__(self, call, arguments):
        self.call, self.arguments, self.done = call, arguments, None

    def result(self):
        if self.done is None:
            self.done = self.call(*self.arguments)
        return self.done


def updates(run, number):
    return [
        {name: value for name, value in run.advance().items() if not name.startswith(("time/", "speed/"))}
        for _ in range(number)
    ]


def test_the_numbers_do_not_depend_on_which_is_done_first():
    runs = [Run(LEDUC, TINY, Limits(1e6)) for _ in range(3)]
    runs[1].player._thread, runs[2].player._thread = InTurn(at_once=True), InTurn(at_once=False)
    rows = [updates(run, 6) for run in runs]
    assert rows[0] == rows[1] == rows[2]
    for one, other in zip(runs[0].network.parameters(), runs[2].network.parameters(), strict=True):
        assert torch.equal(one, other)


def played_by(network, run):
    """How far the stored probabilities of learners' actions are from those of a network."""
    slots = torch.from_numpy(run.player.trajectories.closed())
    slots = slots[slots >= run.player.trajectories.num_carried]
    store = run.player.store
    legal, number = store.legal[slots], store.num_legal[slots]
    listed = is_listed(legal, number)
    with torch.no_grad():
        logits, _ = network(network.features(store.observation[slots]), legal, listed)
    log_probs = log_policy(logits, listed).gather(1, store.choice[slots].unsqueeze(1)).squeeze(1)
    return float((log_probs - store.log_prob[slots]).abs().max())


def test_what_is_learnt_from_was_played_by_the_network_one_update_earlier():
    run = Run(LEDUC, TINY, Limits(1e6))
    before = copy.deepcopy(run.network)
    run.advance()
    assert played_by(before, run) < 1e-6
    for _ in range(3):
        first = copy.deepcopy(run.network)
        run.advance()
        assert played_by(before, run) < 1e-6 < 1e-4 < played_by(first, run)
        before = first


def test_values_are_handed_over_in_the_present_scale_of_rewards():
    runs = [Run(LEDUC, TINY, Limits(1e6)) for _ in range(2)]
    for run in runs:
        run.advance()
    for run, factor in zip(runs, (1, 4), strict=True):
        run.learner.returns.factor *= factor
        run.player.play()
        run.player.wait()
    assert torch.equal(4 * runs[0].player.store.value, runs[1].player.store.value)
    assert torch.equal(runs[0].player.store.log_prob, runs[1].player.store.log_prob)


def test_it_learns():
    config = TINY.changed(
        {"num_envs": 256, "hidden": [32], "lr": 3e-3, "nash_conv": True, "eval_opponents": "random", "entropy": 0.05}
    )
    run = Run(KUHN, config, Limits(256 * 8 * 60))
    before = run.evaluator.nash_conv(run.policy)
    updates(run, 60)
    assert run.evaluator.nash_conv(run.policy) < 0.5 * before


def test_an_error_in_the_play_is_raised():
    run = Run(KUHN, TINY, Limits(1e6))
    run.advance()

    def broken(*_):
        raise ZeroDivisionError("in the thread")

    run.player.player.vec.step = broken
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        run.advance()


def test_checkpoints_with_and_without_it_are_not_mixed_up(tmp_path):
    paths = {}
    for overlap in (True, False):
        run = Run(KUHN, TINY.changed({"overlap": overlap}), Limits(1e6))
        run.advance()
        paths[overlap] = tmp_path / f"{overlap}.pt"
        run.save(paths[overlap])
    one, other = (read_checkpoint(path) for path in (paths[True], paths[False]))
    for checkpoint, ahead in ((one, None), (other, one["training"]["player"]["ahead"])):
        changed = copy.deepcopy(checkpoint)
        changed["training"]["player"]["ahead"] = ahead
        torch.save(changed, tmp_path / "changed.pt")
        with pytest.raises(FormatError, match="has play ahead without the setting, or the reverse"):
            Run.restore(tmp_path / "changed.pt")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("factor", -1.0), ("factor", float("nan")), ("factor", 1), ("generator", torch.zeros(3, dtype=torch.uint8)),
        ("network", {}), ("network", None),
    ],
)  # fmt: skip
def test_a_damaged_state_is_refused(tmp_path, name, value):
    run = Run(KUHN, TINY, Limits(1e6))
    run.advance()
    run.save(tmp_path / "latest.pt")
    checkpoint = read_checkpoint(tmp_path / "latest.pt")
    checkpoint["training"]["player"]["ahead"][name] = value
    torch.save(checkpoint, tmp_path / "latest.pt")
    with pytest.raises(FormatError):
        Run.restore(tmp_path / "latest.pt")


def test_a_checkpoint_is_of_the_rollout_that_is_played_ahead():
    run = Run(LEDUC, TINY, Limits(1e6))
    run.advance()
    state = run.player.get_state()
    again = Run(LEDUC, TINY, Limits(1e6))
    again.player.set_state(copy.deepcopy(state))
    again.learner.returns.factor = run.learner.returns.factor
    for one in (run, again):
        one.player.play()
        one.player.wait()
    for name, array in vars(run.player.store).items():
        closed = run.player.trajectories.closed()
        assert np.array_equal(array[closed], getattr(again.player.store, name)[closed]), name


@pytest.mark.parametrize("number", [3, 4], ids=["between", "where the pool grows"])
def test_a_run_that_is_saved_and_restored_goes_on_as_if_it_had_not_been(number, tmp_path):
    whole, part = Run(LEDUC, TINY, Limits(1e6)), Run(LEDUC, TINY, Limits(1e6))
    updates(whole, number + 2)
    updates(part, number)
    part.save(tmp_path / "latest.pt")
    restored = Run.restore(tmp_path / "latest.pt")
    updates(restored, 2)
    for name, weights in whole.network.state_dict().items():
        assert torch.equal(weights, restored.network.state_dict()[name]), name


def test_several_processes_do_not_play_ahead():
    with pytest.raises(OptionError, match="overlap works in one process only"):
        Processes(0, 2).check(TINY)
