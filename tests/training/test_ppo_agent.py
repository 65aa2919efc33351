"""The trained policy as an agent: loading, refusing, playing."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cardenvs.agents.base import Turn  # noqa: E402
from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.network import log_policy  # noqa: E402
from cardenvs.agents.ppo import load_agent  # noqa: E402
from cardenvs.agents.specs import make_agent  # noqa: E402
from cardenvs.core.errors import AgentError, FormatError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run  # noqa: E402

LEDUC, KUHN = get_game("leduc_poker_v0"), get_game("kuhn_poker_v0")
OPTIONS = LEDUC.make_options()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A checkpoint of a hardly trained policy for Leduc poker."""
    path = tmp_path_factory.mktemp("ppo") / "latest.pt"
    run = Run(LEDUC, Config(num_envs=8, rollout_steps=8, hidden=(16, 16)), Limits(64))
    run.advance()
    run.save(path)
    return path


def turns(count=200):
    """Turns from random play of many deals, no two from the same state."""
    found = []
    rng = np.random.default_rng(0)
    for seed in range(count // 3):
        state = LEDUC.new_state(seed=seed)
        while not state.is_terminal:
            found.append(Turn(state.clone(), seed))
            state.apply(int(rng.choice(state.legal_actions())))
    return found[:count]


def test_it_plays_legally_and_the_same_alone_or_in_a_batch(path):
    for sample in (False, True):
        agent, asked = load_agent(path, LEDUC, OPTIONS, sample=sample), turns()
        together = agent.act_batch(asked)
        assert together == [agent.act(turn) for turn in asked]
        assert together == agent.act_batch(asked[::-1])[::-1]
        assert all(action in turn.legal_actions for action, turn in zip(together, asked, strict=True))


def test_it_takes_the_most_likely_action_or_draws_one(path):
    greedy, drawing = load_agent(path), load_agent(path, sample=True)
    for turn in turns(10):
        probs = np.exp(greedy.log_probs(turn.observation[None], turn.action_mask[None].astype(bool))[0])
        assert probs.sum() == pytest.approx(1)
        assert (probs[turn.action_mask == 0] == 0).all()
        assert greedy.act(turn) == probs.argmax()
        drawn = []
        for seed in range(400):
            turn.seed = seed
            drawn.append(drawing.act(turn))
        share = np.bincount(drawn, minlength=3) / 400
        assert share == pytest.approx(probs, abs=0.1)


def test_it_states_the_probabilities_by_which_it_acts(path):
    greedy, drawing = load_agent(path), load_agent(path, sample=True)
    for turn in turns(30):
        probs = np.exp(greedy.log_probs(turn.observation[None], turn.action_mask[None].astype(bool))[0])
        assert drawing.probabilities(turn) == pytest.approx(probs[turn.legal_actions], abs=1e-6)
        assert greedy.probabilities(turn).tolist() == [float(a == greedy.act(turn)) for a in turn.legal_actions]


def test_its_exploitability_is_exact(path):
    from cardenvs.training.cfr import Tree, agent_policy

    tree = Tree(LEDUC)
    policy, exact = agent_policy(tree, load_agent(path, sample=True))
    assert exact
    assert 2 < tree.nash_conv(policy) < 6  # uniform play: 4.75


def test_it_is_made_from_a_spec(path):
    agent = make_agent(f"ppo:{path}", LEDUC, OPTIONS)
    assert agent.name == f"ppo:{path}"
    assert not agent.sample
    assert make_agent(f"ppo:{path},sample=true", LEDUC, OPTIONS).sample
    for wrong in ("2", "nan", "-0.1", "few"):
        with pytest.raises(AgentError, match="ppo takes a number from 0 to 1 for threshold"):
            make_agent(f"ppo:{path},threshold={wrong}", LEDUC, OPTIONS)


def test_a_threshold_leaves_out_what_is_less_likely():
    logits = torch.log(torch.tensor([[0.6, 0.3, 0.1, 0.0], [0.4, 0.3, 0.3, 9.0]]))
    mask = torch.tensor([[True, True, True, True], [True, True, True, False]])
    for threshold, wanted in [
        (0.0, [[0.6, 0.3, 0.1, 0], [0.4, 0.3, 0.3, 0]]),
        (0.2, [[2 / 3, 1 / 3, 0, 0], [0.4, 0.3, 0.3, 0]]),
        (0.35, [[1, 0, 0, 0], [1, 0, 0, 0]]),
        (1.0, [[1, 0, 0, 0], [1, 0, 0, 0]]),  # the likeliest stays
    ]:
        torch.testing.assert_close(log_policy(logits, mask, threshold).exp(), torch.tensor(wanted).float())


def test_its_probabilities_are_above_its_threshold(path):
    turn = Turn(LEDUC.new_state(seed=1), 0)
    usual = load_agent(path, sample=True).probabilities(turn)
    threshold = float(np.sort(usual)[-2]) + 1e-6
    found = load_agent(path, sample=True, threshold=threshold).probabilities(turn)
    assert len(usual) > 1
    assert found.tolist() == np.equal(np.arange(len(usual)), usual.argmax()).tolist()


def test_a_checkpoint_of_another_game_is_refused(path):
    with pytest.raises(FormatError, match=r"was trained on leduc_poker_v0; it cannot play kuhn_poker_v0"):
        load_agent(path, KUHN, KUHN.make_options())
    with pytest.raises(FormatError, match="cannot play kuhn_poker_v0"):
        load_agent(path).act(Turn(KUHN.new_state(seed=1), 0))


def test_options_that_change_what_is_seen_are_refused(path):
    with pytest.raises(FormatError, match=r"observation entries \d+, not \d+; it was trained with num_players=2$"):
        load_agent(path, LEDUC, LEDUC.make_options(num_players=3))
    load_agent(path, LEDUC, LEDUC.make_options(ante=5))  # changes only what is paid


def test_another_observation_layout_is_refused(path, tmp_path):
    checkpoint = read_checkpoint(path)
    torch.save({**checkpoint, "layout": "0" * 12}, tmp_path / "old.pt")
    with pytest.raises(FormatError, match=r"layout 000000000000, not \w+; .* another version of the game"):
        load_agent(tmp_path / "old.pt", LEDUC, OPTIONS)


@pytest.mark.parametrize("what", ["cut", "flipped", "empty", "text", "foreign", "other weights", "no weights"])
def test_damage_is_reported(path, tmp_path, what):
    data, broken = path.read_bytes(), tmp_path / "broken.pt"
    if what == "cut":
        broken.write_bytes(data[: len(data) // 3])
    elif what == "flipped":
        place = data.index(read_checkpoint(path)["model"]["policy.weight"].numpy().tobytes())
        broken.write_bytes(data[: place + 5] + bytes([data[place + 5] ^ 1]) + data[place + 6 :])
    elif what == "empty":
        broken.write_bytes(b"")
    elif what == "text":
        broken.write_text("no checkpoint")
    elif what == "foreign":
        torch.save({"weights": torch.zeros(3)}, broken)
    elif what == "other weights":
        checkpoint = read_checkpoint(path)
        torch.save({**checkpoint, "shape": {**checkpoint["shape"], "hidden": [8]}}, broken)
    else:
        torch.save({k: v for k, v in read_checkpoint(path).items() if k != "model"}, broken)
    with pytest.raises(FormatError, match=r"broken.pt (is damaged|is not a checkpoint)"):
        load_agent(broken)


def test_nothing_in_a_checkpoint_is_executed(tmp_path):
    class Trap:
        def __reduce__(self):
            return print, ("executed",)

    torch.save({"format": "cardenvs-ppo-1", "trap": Trap()}, tmp_path / "trap.pt")
    with pytest.raises(FormatError, match="is damaged, or is not a checkpoint"):
        load_agent(tmp_path / "trap.pt")


def test_a_missing_file_is_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_agent(tmp_path / "nowhere.pt")
