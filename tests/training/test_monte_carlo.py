"""Deep Monte Carlo: how it chooses, what it learns from, its files, and that it learns."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cardenvs.agents.base import Turn  # noqa: E402
from cardenvs.agents.checkpoint_file import read_checkpoint, write_weights  # noqa: E402
from cardenvs.agents.network import Embeddings, LayerHead  # noqa: E402
from cardenvs.agents.ppo import load_agent  # noqa: E402
from cardenvs.core.errors import FormatError, OptionError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.training.cfr import Tree, agent_policy  # noqa: E402
from cardenvs.training.config import CONFIG_FOLDER, Config, chosen_config, config_for  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run, train  # noqa: E402
from cardenvs.training.ppo.collect import epsilon_greedy  # noqa: E402

CASINO, KUHN, LEDUC = get_game("casino_v0"), get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
TINY = Config(
    method="dmc", num_envs=16, rollout_steps=8, hidden=(16,), epochs=2, minibatches=2, lr=1e-3, action_embedding=8,
    action_head="layer", eval_interval=4, eval_deals=8, final_deals=8,
)  # fmt: skip


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A checkpoint of a hardly trained network for Leduc poker."""
    path = tmp_path_factory.mktemp("dmc") / "latest.pt"
    run = Run(LEDUC, TINY, Limits(1e9))
    for _ in range(5):
        run.advance()
    run.save(path)
    return path


def test_it_takes_the_best_legal_action_or_at_times_any():
    values = torch.tensor([[0.0, 1.0, 5.0]]).expand(6000, 3)
    listed = torch.tensor([[True, True, False]]).expand(6000, 3)
    generator = torch.Generator().manual_seed(1)
    assert (epsilon_greedy(values, listed, 0.0, generator) == 1).all()
    share = np.bincount(epsilon_greedy(values, listed, 0.3, generator), minlength=3) / 6000
    assert share == pytest.approx([0.15, 0.85, 0], abs=0.02)
    assert share[2] == 0


def test_layer_heads_score_listed_actions_only_and_as_all_of_them(heads):
    hidden, legal, listed = torch.randn(6, 8), torch.randint(50, (6, 4)), torch.rand(6, 4) < 0.6
    layers = [head for head in heads(8, 50) if isinstance(head, LayerHead)]
    assert len(layers) == 3
    for head in layers:
        torch.nn.init.normal_(head.score.weight)
        every = head(hidden).gather(1, legal)
        torch.testing.assert_close(head(hidden, legal), every)
        torch.testing.assert_close(head(hidden, legal, listed)[listed], every[listed])
        assert (head(hidden, legal, listed)[~listed] == 0).all()


def test_a_head_of_features_has_no_weights_of_single_actions(tmp_path):
    """A run with such a head is written and read again, and its size does not depend on the number of actions."""
    config = TINY.changed({"action_head": "features", "action_features": True})
    run, path = Run(CASINO, config, Limits(1e9)), tmp_path / "latest.pt"
    run.advance()
    run.save(path)
    network = load_agent(path)._network
    learnt = [tuple(weights.shape) for weights in network.policy.parameters()]
    assert CASINO.num_actions(CASINO.options()) not in {size for shape in learnt for size in shape}
    known = CASINO.action_features(CASINO.options())
    features = torch.from_numpy(known / np.maximum(np.abs(known).max(0), 1))
    torch.testing.assert_close(network.policy.embedding.table(), features @ network.policy.embedding.mix.weight.T)
    checkpoint = torch.load(path, weights_only=True)
    torch.save({**checkpoint, "shape": {**checkpoint["shape"], "action_features": 0}}, tmp_path / "other.pt")
    with pytest.raises(FormatError, match="action_head is features, but action_features is 0"):
        read_checkpoint(tmp_path / "other.pt")


def test_a_head_of_features_needs_features():
    for lacking in ({"action_features": False}, {"action_embedding": 0, "action_features": True}):
        with pytest.raises(OptionError, match="action_head features needs embeddings and features of actions; add"):
            TINY.changed({"action_head": "features", **lacking})
    with pytest.raises(OptionError, match="needs features of actions, and leduc_poker_v0 has none"):
        Run(LEDUC, TINY.changed({"action_head": "features", "action_features": True}), Limits(1e9))


def test_rescaling_a_head_multiplies_its_scores(heads):
    hidden = torch.randn(6, 8)
    for head in heads(8, 5):
        before = head(hidden).detach()
        head.rescale(2.5)
        torch.testing.assert_close(head(hidden), 2.5 * before)


def test_it_learns_from_the_returns_of_each_players_own_turns():
    """In Leduc poker, all turns of a player in a game have its result as their target."""
    run = Run(LEDUC, TINY.changed({"pool_share": 0.0, "num_envs": 64}), Limits(1e9))
    run.player.play()
    cuts, store = run.player.trajectories, run.player.store
    targets = cuts.advantages(store.value.numpy(), 1.0, run.learner._gae_lambda) + store.value.numpy()
    ended = np.flatnonzero(cuts.next_slot == cuts.ENDED)
    first = np.flatnonzero(np.isin(cuts.next_slot, ended))
    assert len(first) > 20
    assert targets[ended] == pytest.approx(cuts.reward[ended], abs=1e-6)
    assert targets[first] == pytest.approx(targets[cuts.next_slot[first]], abs=1e-6)


def test_it_learns_kuhn_poker():
    config = TINY.changed({"num_envs": 128, "rollout_steps": 16, "hidden": (32,), "lr": 5e-3, "epsilon": 0.1})
    run = Run(KUHN, config, Limits(40 * 128 * 16))
    before = dict(run.evaluator.scores(run.policy, 1000))["random"]
    while run.fraction() < 1:
        metrics = run.advance()
    score = dict(run.evaluator.scores(run.policy, 1000))["random"]
    assert not before.is_above_chance
    assert score.is_above_chance
    assert score.mean > 0.2  # chips a deal; an equilibrium gets less
    assert metrics["value/explained_variance"] > 0.2


def test_the_same_seed_gives_the_same_network_and_another_does_not():
    networks = []
    for seed in (1, 1, 2):
        run = Run(LEDUC, TINY.changed({"seed": seed, "pool_share": 0.5}), Limits(1e9))
        run.advance(), run.advance()
        networks.append(torch.nn.utils.parameters_to_vector(run.network.parameters()))
    assert torch.equal(networks[0], networks[1])
    assert not torch.equal(networks[0], networks[2])


def test_a_resumed_run_goes_on_bit_for_bit(path):
    straight = Run(LEDUC, TINY, Limits(1e9))
    for _ in range(7):
        straight.advance()
    resumed = Run.restore(path)
    resumed.advance(), resumed.advance()
    assert all(
        torch.equal(one, other)
        for one, other in zip(straight.network.parameters(), resumed.network.parameters(), strict=True)
    )


def test_its_choice_depends_on_nothing_hidden(path):
    agent, varied = load_agent(path, LEDUC, LEDUC.make_options()), 0
    rng = np.random.default_rng(0)
    for seed in range(40):
        state = LEDUC.new_state(seed=seed)
        while not state.is_terminal:
            twin = state.determinize(state.current_player, seed=seed + 1)
            varied += twin.to_bytes() != state.to_bytes()
            action = agent.act(Turn(state.clone(), seed))
            assert action in state.legal_actions()
            assert action == agent.act(Turn(twin, seed))
            state.apply(int(rng.choice(state.legal_actions())))
    assert varied > 20


def test_its_agent_plays_the_best_action_and_has_no_policy(path, tmp_path):
    agent, tree = load_agent(path), Tree(LEDUC)
    policy, exact = agent_policy(tree, agent)
    assert exact
    assert set(policy.tolist()) == {0.0, 1.0}
    with pytest.raises(FormatError, match="was trained by dmc and has no policy to sample from; leave out sample=true"):
        load_agent(path, sample=True)
    with pytest.raises(FormatError, match="was trained by dmc and has no policy to evaluate positions"):
        agent.evaluate(np.zeros((1, 36), np.int8), np.ones((1, 3), np.int8))
    write_weights(read_checkpoint(path), tmp_path / "best.safetensors", "float32")
    again = load_agent(tmp_path / "best.safetensors")
    assert agent_policy(tree, again)[0].tolist() == policy.tolist()
    with pytest.raises(FormatError, match="has no policy to sample from"):
        load_agent(tmp_path / "best.safetensors", sample=True)


def test_files_with_an_unknown_method_or_head_are_refused(tmp_path):
    run = Run(LEDUC, TINY.changed({"method": "ppo"}), Limits(1e9))
    run.save(tmp_path / "latest.pt")
    checkpoint = torch.load(tmp_path / "latest.pt", weights_only=True)
    assert read_checkpoint(tmp_path / "latest.pt")["method"] == "ppo"
    torch.save({**checkpoint, "method": "magic"}, tmp_path / "other.pt")
    with pytest.raises(FormatError, match="method is one of ppo, dmc; got 'magic'"):
        read_checkpoint(tmp_path / "other.pt")
    torch.save({**checkpoint, "shape": {**checkpoint["shape"], "action_head": "both"}}, tmp_path / "other.pt")
    with pytest.raises(FormatError, match="action_head is one of product, layer, features; got 'both'"):
        read_checkpoint(tmp_path / "other.pt")


def test_settings_that_need_a_policy_are_refused():
    with pytest.raises(OptionError, match="method dmc has no policy for magnet, teacher"):
        TINY.changed({"magnet": 0.1, "teacher": "random"})
    with pytest.raises(OptionError, match="no policy for eval_sample"):
        chosen_config("leduc_poker_v0", None, ["method=dmc", "eval_sample=true"], [])


def test_the_config_of_every_game_trains_with_this_method(every_game):
    config = chosen_config(every_game.name, None, ["method=dmc"], [])
    own = config_for(every_game.name)
    assert (config.method, config.game, config.hidden) == ("dmc", own.game, own.hidden)


@pytest.mark.parametrize("name", ["leduc", "leduc_magnet", "gin_rummy_teacher", "gin_rummy_outcomes"])
def test_the_error_of_a_file_that_needs_a_policy_says_which_flags_to_add(name):
    file = str(CONFIG_FOLDER / f"{name}.yaml")
    with pytest.raises(OptionError, match="leave that out, or add --set ") as caught:
        chosen_config(None, file, ["method=dmc"], [])
    flags = str(caught.value).split(" --set ")[1:]
    assert chosen_config(None, file, ["method=dmc", *flags], []).method == "dmc"


def test_a_run_shows_its_progress_and_evaluates_itself(tmp_path, capsys):
    train("kuhn_poker_v0", TINY.changed({"nash_conv": True}), out=tmp_path, total_steps=16 * 8 * 8)
    said = capsys.readouterr().err
    assert "explained" in said
    assert "kl" not in said
    assert "NashConv of the policy, greedy:" in said
    assert (tmp_path / "evaluation.json").exists()


def test_embeddings_of_some_actions_are_those_of_the_table():
    embedding = Embeddings(40, 6, 3)
    embedding.describe(np.arange(120, dtype=np.int8).reshape(40, 3))
    embedding.begin(0.1)
    for actions in (torch.tensor([[3, 3], [39, 0]]), torch.arange(40), torch.zeros(0, dtype=torch.int64)):
        assert torch.allclose(embedding.of(actions), embedding.table()[actions])
