"""Networks that read what observations say about legal actions (option `outcomes`)."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cardenvs.agents.base import Turn  # noqa: E402
from cardenvs.agents.checkpoint_file import read_checkpoint, write_weights  # noqa: E402
from cardenvs.agents.network import Network  # noqa: E402
from cardenvs.agents.plain_policy import PlainPolicy  # noqa: E402
from cardenvs.agents.playouts import NetworkPlayouts  # noqa: E402
from cardenvs.agents.ppo import load_agent  # noqa: E402
from cardenvs.agents.tree import NetworkTree  # noqa: E402
from cardenvs.arena.luck.values import NetworkValue  # noqa: E402
from cardenvs.core.errors import FormatError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.envs.vector import make_vec  # noqa: E402
from cardenvs.training.config import Config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run, train  # noqa: E402
from cardenvs.training.ppo.opponents import make_opponent  # noqa: E402

SCOPA = get_game("scopa_v0")
OPTIONS = {"outcomes": True, "target": None}
TINY = Config(
    options=OPTIONS, num_envs=16, rollout_steps=8, hidden=(16,), epochs=1, minibatches=2, lr=1e-2, action_embedding=8,
    eval_interval=0, final_deals=8,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("one_thread")


def trained(path, **settings):
    run = Run(SCOPA, TINY.changed(settings), Limits(1e9))
    for _ in range(3):
        run.advance()
    run.save(path)
    return run.network


@pytest.mark.parametrize("head", ["product", "layer"])
def test_a_row_is_added_to_the_embedding_of_its_action(head):
    torch.manual_seed(1)
    network = Network(20, 30, (8,), "relu", 4, head, outcomes=(10, 3, 2))
    features, legal = torch.randn(5, 20), torch.randint(30, (5, 4))
    query = network.policy.query(network._hidden(features))
    embedded = network.policy.embedding.of(legal)
    for k in range(3):
        embedded[:, k] += features[:, 10 + 2 * k : 12 + 2 * k] @ network.outcomes.weight.T
    expected = (
        (embedded @ query.unsqueeze(-1)).squeeze(-1) + network.policy.bias[legal]
        if head == "product"
        else network.policy.score((query.unsqueeze(1) + embedded).relu()).squeeze(-1)
    )
    torch.testing.assert_close(network(features, legal)[0], expected)
    torch.testing.assert_close(network(features, legal[:, :2])[0], expected[:, :2])
    with pytest.raises(ValueError, match="scores legal actions only"):
        network(features)


@pytest.mark.parametrize("settings", [{}, {"method": "dmc", "action_head": "layer"}], ids=["ppo", "dmc"])
def test_it_is_learnt_saved_and_played_with_and_without_torch(tmp_path, settings):
    network = trained(tmp_path / "latest.pt", **settings)
    start, rows, width = SCOPA.layout(SCOPA.make_options(**OPTIONS)).outcomes
    assert network.shape["outcomes"] == [start, rows, width]
    assert (network.outcomes.weight.abs().sum(0) > 0.02).any()
    weights = tmp_path / "latest.safetensors"
    write_weights(read_checkpoint(tmp_path / "latest.pt"), weights)
    options = SCOPA.make_options(**OPTIONS)
    agent, plain = load_agent(weights), PlainPolicy(weights, SCOPA, options)
    state = SCOPA.new_state(seed=2, **OPTIONS)
    while not state.is_terminal:
        action = agent.act(Turn(state, 1))
        assert action == plain.act(Turn(state, 1))
        state.apply(action)


def test_without_the_option_the_network_has_no_such_weights(tmp_path):
    network = trained(tmp_path / "latest.pt", options={"target": None})
    assert network.outcomes is None
    with pytest.raises(FormatError, match="does not fit scopa_v0 as played here"):
        train("scopa_v0", TINY, out=tmp_path / "run", init=tmp_path / "latest.pt", total_steps=128, show=False)


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([1, 2], "three whole numbers"),
        ([0, 16, 1.5], "three whole numbers"),
        ([450, 16, 11], "do not lie within the observation"),
        ([-1, 16, 11], "do not lie within the observation"),
        ([293, 16, 10], r"outcomes.weight should be \[8, 10\]"),
        ([], "not those of the network described: 'outcomes.weight'"),
        ("all", "needs outcomes, of type list"),
    ],
)
def test_a_file_with_wrong_outcomes_is_refused(tmp_path, outcomes, message):
    trained(tmp_path / "latest.pt")
    checkpoint = torch.load(tmp_path / "latest.pt", weights_only=True)
    torch.save({**checkpoint, "shape": {**checkpoint["shape"], "outcomes": outcomes}}, tmp_path / "other.pt")
    with pytest.raises(FormatError, match=message):
        load_agent(tmp_path / "other.pt")


def test_files_of_networks_without_outcomes_need_not_name_them(tmp_path):
    trained(tmp_path / "latest.pt", options={"target": None})
    checkpoint = torch.load(tmp_path / "latest.pt", weights_only=True)
    del checkpoint["shape"]["outcomes"]
    torch.save(checkpoint, tmp_path / "other.pt")
    assert read_checkpoint(tmp_path / "other.pt")["shape"]["outcomes"] == []
    state = SCOPA.new_state(seed=1, target=None)
    assert load_agent(tmp_path / "other.pt").act(Turn(state, 1)) in state.legal_actions()


def played(state, agent):
    while not state.is_terminal:
        state.apply(agent.act(Turn(state, 1)))
    return state.actions


@pytest.mark.parametrize(("trained_with", "played_with"), [(True, False), (False, True)])
def test_it_plays_the_same_where_the_option_differs(tmp_path, trained_with, played_with):
    """What it reads follows from what the player knows, so any table will do: with and without torch, in searches."""
    trained(tmp_path / "latest.pt", options=OPTIONS | {"outcomes": trained_with})
    write_weights(read_checkpoint(tmp_path / "latest.pt"), tmp_path / "latest.safetensors", "float32")
    here, there = OPTIONS | {"outcomes": played_with}, OPTIONS | {"outcomes": trained_with}
    agent = load_agent(tmp_path / "latest.pt", SCOPA, SCOPA.make_options(**here))
    plain = PlainPolicy(tmp_path / "latest.safetensors", SCOPA, SCOPA.make_options(**here))
    actions = played(SCOPA.new_state(seed=5, **there), agent)
    assert played(SCOPA.new_state(seed=5, **here), agent) == actions == played(SCOPA.new_state(seed=5, **here), plain)
    found = []
    for options in (here, there):
        state = SCOPA.new_state(seed=5, **options)
        tree = NetworkTree(state, 1, agent)
        tree.grow(20)
        plays = [(action,) for action in state.legal_actions()]
        returns = NetworkPlayouts(agent).returns(state, plays, 2, 4, 0, None)
        value = NetworkValue(SCOPA, state.options, agent, "it").of(state.records, (0, 1))
        found.append((tree.root_actions().visits.tolist(), returns.tolist(), value.tolist()))
    assert found[0] == found[1]


def test_an_opponent_may_read_what_the_learner_does_not(tmp_path):
    trained(tmp_path / "latest.pt")
    options = SCOPA.make_options(target=None)
    opponent = make_opponent(f"ppo:{tmp_path / 'latest.pt'}", SCOPA, options)
    vec = make_vec("scopa_v0", 3, seed=3, target=None, legal_lists=True, resumable=True)
    vec.reset()
    actions = opponent.actions(vec, np.arange(3), 1, 0)
    states = [SCOPA.new_state(seed=vec.state(env).seed, **OPTIONS) for env in range(3)]
    agent = load_agent(tmp_path / "latest.pt")
    assert actions.tolist() == [agent.act(Turn(state, 1)) for state in states]


@pytest.mark.parametrize("skip_forced", [False, True])
def test_a_batch_and_a_state_observe_the_same(skip_forced):
    vec = make_vec("scopa_v0", 4, seed=3, resumable=True, skip_forced=skip_forced, **OPTIONS)
    batch = vec.reset()
    for _ in range(8):
        for env in range(4):
            state = vec.state(env)
            np.testing.assert_array_equal(batch.observation[env], state.observation(state.current_player))
        assert batch.observation[:, -vec.layout.sections[-1].size :].any(1).all()
        batch = vec.step(vec.sample_actions())
