"""Opponents, the scale of returns, the magnet, the teacher and embeddings of actions."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.network import Embeddings, Network, log_policy  # noqa: E402
from cardenvs.agents.ppo import load_agent  # noqa: E402
from cardenvs.core.errors import FormatError, PolicyNotFoundError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.training.cfr import Tree  # noqa: E402
from cardenvs.training.config import CONFIG_FOLDER, Config, read_config  # noqa: E402
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import Run, train  # noqa: E402
from cardenvs.training.ppo.begin import shaped_like  # noqa: E402
from cardenvs.training.ppo.evaluate import Score, warning  # noqa: E402
from cardenvs.training.ppo.evaluator import nash_conv  # noqa: E402
from cardenvs.training.ppo.league import EVERY_PLAYER, Pool, Tables  # noqa: E402
from cardenvs.training.ppo.losses import divergence, imitation_loss, mirror_loss  # noqa: E402
from cardenvs.training.ppo.merging import merged  # noqa: E402
from cardenvs.training.ppo.returns import ReturnScale  # noqa: E402
from cardenvs.training.ppo.run import scheduled  # noqa: E402
from cardenvs.training.ppo.trajectories import Trajectories  # noqa: E402

KUHN, LEDUC = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0")
TINY = Config(num_envs=16, rollout_steps=8, hidden=(16,), epochs=2, minibatches=2, lr=1e-3, final_deals=8)


pytestmark = pytest.mark.usefixtures("one_thread")


# -- opponents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_games_against_others_have_one_learner_in_every_seat(num_players):
    config = Config(pool_share=0.25, rule_share=0.5)
    tables = Tables(config, 120, num_players, ["greedy", "planner"])
    assert (tables.learner[:30] == EVERY_PLAYER).all()
    assert set(tables.learner[30:90]) == set(tables.learner[90:]) == set(range(num_players))
    assert tables.is_ruled.tolist() == [30 <= k < 90 for k in range(120)]
    rows = dict(tables.rules)
    assert sorted([*rows["greedy"], *rows["planner"]]) == list(range(30, 90))
    assert set(tables.learner[rows["planner"]]) == set(range(num_players))  # each policy meets every seat
    learning = tables.learning(np.zeros(120, np.int64))
    assert learning.tolist() == [k < 30 or tables.learner[k] == 0 for k in range(120)]


def test_a_game_without_rule_policies_has_no_such_games():
    assert not Tables(Config(rule_share=0.5), 10, 2, []).is_ruled.any()


def test_unknown_rule_opponents_and_teachers_are_refused():
    for values in ({"rule_opponents": "nobody"}, {"teacher": "nobody"}):
        with pytest.raises(PolicyNotFoundError, match="has no policy 'nobody'"):
            Run(KUHN, TINY.changed(values), Limits(64))


def test_hard_opponents_are_drawn_more_often():
    network = Network(3, 2, (4,))
    pool = Pool(network, 3, priority=2.0)
    pool.add(network)
    pool.add(network)
    pool.choose(1)
    pool.note(np.full(1000, 5.0))  # the learner always beats number 1
    pool.choose(2)
    pool.note(np.full(1000, -5.0))  # and always loses to number 2
    pool.note(np.zeros(0))
    assert pool.lost.tolist() == pytest.approx([0.5, 1.0, 0.0], abs=0.01)
    generator, chosen = torch.Generator().manual_seed(0), []
    for _ in range(400):
        pool.draw(generator)
        chosen.append(pool._chosen)
    first, second, third = np.bincount(chosen, minlength=3)
    assert second < 10 < first < third
    pool.add(network)  # the oldest goes, with its record
    assert pool.lost.tolist() == pytest.approx([1.0, 0.0, 0.5], abs=0.01)


def test_the_chosen_rule_policy_plays_the_other_seats(monkeypatch):
    """A rule policy that always passes: nobody but learners bets in its games."""
    run = Run(KUHN, TINY.changed({"rule_share": 1.0, "pool_share": 0.0, "rule_opponents": "random"}), Limits(64))
    vec, others, calls = run.player.vec, [], []

    def passes(name, rows, seed, step):
        others.extend(zip(rows, vec.batch.current_player[rows], strict=True))
        calls.append(step)
        return np.zeros(len(rows), np.int32)

    monkeypatch.setattr(vec, "policy_actions", passes)
    metrics = run.player.play()
    assert others
    assert all(player != env % 2 for env, player in others)
    assert calls == sorted(set(calls))
    closed = run.player.trajectories.closed()
    assert len(closed)
    assert metrics["games/return_vs_rules"] > 0  # a Kuhn player who always passes loses to any other


def test_an_exploiter_finds_a_weakness_and_joins_the_pool():
    config = TINY.changed(
        {"exploiter_share": 16, "num_envs": 64, "pool_share": 0, "exploiter_interval": 30, "pool_interval": 1000}
        | {"exploiter_share": 1.0, "lr": 3e-3, "lr_schedule": "constant"}
    )
    run = Run(KUHN, config, Limits(1e9))
    run.learner.update = lambda *_: {}  # the network itself does not learn
    with torch.no_grad():
        run.network.policy.weight.zero_()
        run.network.policy.bias.copy_(torch.tensor([10.0, -10.0]))  # it passes and folds, whatever it holds
    before = run.exploiter.advance(scheduled(run.config, run.fraction()))["games/exploiter_return"]
    for _ in range(28):
        run.exploiter.advance(scheduled(run.config, run.fraction()))
    assert run.exploiter.advance(scheduled(run.config, run.fraction()))["games/exploiter_return"] > before + 0.2
    found = torch.nn.utils.parameters_to_vector(run.exploiter.network.parameters()).clone()
    run.updates = 30
    run.fill_pool()
    assert torch.equal(run.pool.selves[-1], found)
    assert torch.equal(run.exploiter.network.policy.bias, run.network.policy.bias)


def test_an_exploiter_starts_again_with_the_scale_of_the_network_that_it_copies():
    run = Run(KUHN, TINY.changed({"exploiter_share": 1.0, "exploiter_interval": 1}), Limits(1e9))
    run.advance()
    main, exploiter = run.learner.returns, run.exploiter
    main.factor = 4 * exploiter.learner.returns.factor
    values = exploiter.player.store.value.fill_(2).clone()
    run.fill_pool()
    assert exploiter.learner.returns.get_state() == main.get_state()
    assert torch.equal(exploiter.network.value.weight, run.network.value.weight)
    assert torch.allclose(exploiter.player.store.value, 4 * values)


def test_an_exploiter_of_a_network_to_start_with_has_its_scale(tmp_path):
    first = Run(KUHN, TINY, Limits(1e9))
    first.learner.returns.factor = 0.25
    first.save(tmp_path / "latest.pt")
    start = read_checkpoint(tmp_path / "latest.pt")
    run = Run(KUHN, TINY.changed({"exploiter_share": 1.0}), Limits(1e9), start=start)
    assert run.exploiter.learner.returns.factor == run.learner.returns.factor == 0.25


# -- returns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "shift"), [(1, 0), (250, 0), (0.01, 0), (1, 7)])
def test_scaled_returns_have_a_root_mean_square_of_one(size, shift):
    rng, scale = np.random.default_rng(0), ReturnScale()
    for _ in range(50):
        scale.update(size * rng.normal(size=(40, 3)) + shift)
    assert scale.factor * np.hypot(size, shift) == pytest.approx(1, rel=0.1)


def test_the_scale_follows_returns_that_change():
    rng, scale = np.random.default_rng(0), ReturnScale()
    for _ in range(50):
        scale.update(rng.normal(size=(40, 2)))
    ratios = [scale.update(10 * rng.normal(size=(40, 2))) for _ in range(500)]
    assert np.prod(ratios) == pytest.approx(scale.factor, rel=0.1)
    assert scale.factor == pytest.approx(0.1, rel=0.1)


def test_a_scale_without_returns_or_a_fixed_one_stays():
    for scale, factor in ((ReturnScale(), 1.0), (ReturnScale(0.3), 0.3)):
        assert scale.update(np.zeros((0, 2))) == 1
        assert scale.factor == factor
    assert scale.update(np.array([[100.0, -100.0]])) == 1


@pytest.mark.parametrize(
    "state", [{}, {"factor": 1.0, "sums": [1.0]}, {"factor": -1.0, "sums": [1.0, 1.0]},
              {"factor": 1.0, "sums": [1.0, float("nan")]}, {"factor": True, "sums": [1.0, 1.0]}]
)  # fmt: skip
def test_a_damaged_scale_is_refused(state):
    with pytest.raises(FormatError, match="scale of returns"):
        ReturnScale().set_state(state)


def test_a_new_scale_changes_no_prediction():
    run = Run(LEDUC, TINY, Limits(1e9))
    run.advance()
    features = torch.rand(5, run.network.scale.shape[0])
    before = run.network.value_of(features) / run.learner.returns.factor
    ratio = run.learner.returns.update(np.full((50, 2), [90.0, -90.0]))
    assert ratio < 0.5
    run.learner._rescale(ratio, run.player.store, run.player.trajectories)
    torch.testing.assert_close(run.network.value_of(features) / run.learner.returns.factor, before)


def test_advantages_scale_rewards_and_not_values():
    cuts = Trajectories(1, 1, 2)
    for step in range(2):
        cuts.act(step, np.array([0]), np.array([True]))
        cuts.credit(np.array([[10.0]], np.float32), np.array([step == 1]))
    values = np.array([0, 3, 4], np.float32)
    assert cuts.advantages(values, 1, 0, 0.5)[1:].tolist() == [5 + 4 - 3, 5 - 4]


# -- losses -----------------------------------------------------------------------------------------------------


def test_divergence_is_that_of_the_legal_actions():
    mask = torch.tensor([[True, True, False], [True, True, True]])
    one, other = log_policy(torch.randn(2, 3), mask), log_policy(torch.randn(2, 3), mask)
    expected = [
        sum(float(one[i, k].exp() * (one[i, k] - other[i, k])) for k in range(3) if mask[i, k]) for i in range(2)
    ]
    assert float(divergence(one, other, mask, torch.ones(2))) == pytest.approx(np.mean(expected), rel=1e-5)
    assert float(divergence(one, one, mask, torch.ones(2))) == 0


def test_imitation_is_cross_entropy_and_ignores_rows_without_advice():
    logits = torch.randn(3, 2, requires_grad=True)
    mask, legal = torch.tensor([[True, True], [True, True], [True, False]]), torch.tensor([[4, 7], [4, 7], [5, 0]])
    loss = imitation_loss(logits, mask, legal, torch.tensor([7, -1, 0]))  # 0 fills the list and is not legal
    loss.backward()
    assert loss.item() == pytest.approx(-logits[0].log_softmax(0)[1].item() / 3)
    assert logits.grad is not None
    assert (logits.grad[1:] == 0).all()


def test_a_teacher_is_imitated(monkeypatch):
    """A teacher who always passes: after a few updates the network does, although that loses."""
    run = Run(KUHN, TINY.changed({"teacher": "random", "teacher_weight": 10.0, "lr": 1e-2}), Limits(1e9))
    monkeypatch.setattr(run.player.vec, "policy_actions", lambda name, rows, seed, step: np.zeros(len(rows), np.int32))
    for _ in range(20):
        run.advance()
    assert scheduled(run.config, run.fraction())["teacher"] == pytest.approx(10, rel=0.01)
    observation = torch.from_numpy(run.player.vec.batch.observation)
    legal = torch.zeros(len(observation), 2, dtype=torch.int64) + torch.arange(2)
    logits, _ = run.network(run.network.features(observation), legal)
    assert (logits.softmax(-1)[:, 0] > 0.9).all()
    run.steps = int(0.5e9)
    assert scheduled(run.config, run.fraction())["teacher"] == 0


def test_a_strong_magnet_holds_the_policy():
    far = []
    for magnet in (0.0, 100.0):
        settings = {"magnet": magnet, "magnet_end": max(magnet, 1e-9), "magnet_interval": 0, "lr": 3e-3}
        run = Run(LEDUC, TINY.changed(settings), Limits(1e9))
        for _ in range(15):
            metrics = run.advance()
        far.append(metrics["policy/kl_to_magnet"])
    assert far[1] < 0.1 * far[0]


def solved_mirror(previous, reference, mask, action, estimate, weight, step, magnet, entropy):
    """The logits that minimise the loss of mirror descent over some turns of one information state."""
    logits = torch.zeros_like(previous[:1], requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=100)

    def closure():
        optimizer.zero_grad()
        rows = logits.expand(len(action), -1)
        loss = mirror_loss(rows, mask, action, estimate, weight, previous, reference, step, magnet, entropy)
        loss.backward()
        return loss

    optimizer.step(closure)
    return log_policy(logits.detach(), mask[:1])


def test_mirror_descent_takes_the_step_of_its_formula_whatever_the_probabilities():
    mask = torch.tensor([[True, True, False]]).expand(2, 3)
    previous = log_policy(torch.tensor([[0.0, -3.0, 9.0]]), mask[:1]).expand(2, 3)
    reference = log_policy(torch.tensor([[1.0, 0.5, 9.0]]), mask[:1]).expand(2, 3)
    probs, advantage = (
        previous[0, :2].exp(),
        torch.tensor([0.3, -0.2]),
    )
    estimate = advantage / probs
    found = solved_mirror(previous, reference, mask, torch.tensor([0, 1]), estimate, 2 * probs, 0.5, 0.4, 0.1)
    wanted = (previous[0, :2] + 0.5 * (advantage + 0.4 * reference[0, :2])) / (1 + 0.5 * 0.5)
    torch.testing.assert_close(found[0, :2], wanted.log_softmax(-1), atol=1e-4, rtol=1e-3)


def test_mirror_descent_bounds_logits_and_what_one_sample_does():
    mask, one = torch.ones(1, 2, dtype=torch.bool), torch.ones(1)
    rare = log_policy(torch.tensor([[0.0, -12.0]]), mask)
    up = solved_mirror(rare, rare, mask, torch.tensor([1]), one * 1e5, one, 0.1, 0.0, 0.0)
    assert float(up[0, 1] - up[0, 0]) == pytest.approx(-12 + 0.1 * 20, abs=1e-3)  # not 1e5 / 10
    down = solved_mirror(rare, rare, mask, torch.tensor([0]), one, one, 0.1, 0.0, 0.0)
    assert float(down[0, 1] - down[0, 0]) == pytest.approx(-10, abs=1e-3)


def test_turns_that_look_alike_are_merged_into_their_number_and_mean():
    rng = np.random.default_rng(0)
    observation, choice = rng.integers(0, 2, (300, 3)).astype(np.int8), rng.integers(0, 2, 300) * 256
    advantage = rng.normal(size=300).astype(np.float32)
    rows, weights, mean, shares = merged(observation, choice, advantage)
    assert len(rows) == 16
    for row, weight, average, share in zip(rows, weights, mean, shares, strict=True):
        alike = (observation == observation[row]).all(1)
        same = np.flatnonzero(alike & (choice == choice[row]))
        assert row == same[-1]
        assert weight == pytest.approx(len(same) / alike.sum() ** 0.5)
        assert share == pytest.approx(len(same) / alike.sum())
        assert average == pytest.approx(advantage[same].mean(), abs=1e-6)


def test_a_run_learns_from_each_kind_of_turn_once():
    settings = {"merge_turns": True, "minibatches": 1, "num_envs": 64, "pool_share": 0.0}
    run = Run(KUHN, TINY.changed(settings), Limits(1e9))
    assert 12 < run.advance()["transitions"] <= 24  # 12 information states with 2 actions


def test_the_moving_average_is_what_plays_and_what_is_resumed(tmp_path):
    config = TINY.changed({"magnet": 0.2, "magnet_decay": 0.9, "policy_loss": "mirror"})
    run = Run(KUHN, config, Limits(1e9))
    average = torch.nn.utils.parameters_to_vector(run.network.policy.parameters()).clone()
    for updates in range(1, 4):
        run.advance()
        decay = (1 + updates) / (10 + updates)  # below 0.9 at first
        latest = torch.nn.utils.parameters_to_vector(run.network.policy.parameters())
        average = decay * average + (1 - decay) * latest
    run.save(tmp_path / "latest.pt")
    torch.testing.assert_close(torch.nn.utils.parameters_to_vector(run.policy.policy.parameters()), average)
    assert not torch.equal(average, latest)
    played = load_agent(tmp_path / "latest.pt")._network.policy
    torch.testing.assert_close(torch.nn.utils.parameters_to_vector(played.parameters()).float(), average)
    again = Run.restore(tmp_path / "latest.pt")
    run.advance(), again.advance()
    for one, other in ((run.network, again.network), (run.policy, again.policy)):
        assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    checkpoint = torch.load(tmp_path / "latest.pt", weights_only=True)
    checkpoint["training"]["network"] = None
    torch.save(checkpoint, tmp_path / "latest.pt")
    with pytest.raises(FormatError, match="a network besides the policy without the setting, or the reverse"):
        Run.restore(tmp_path / "latest.pt")


def test_the_mean_over_the_end_of_a_run_is_what_plays_and_what_is_resumed(tmp_path):
    config = TINY.changed({"magnet": 0.2, "magnet_decay": 0.9, "average_share": 0.5, "reward_scale": 1.0})
    updates = 6
    run = Run(KUHN, config, Limits(updates * config.num_envs * config.rollout_steps))
    weights = []
    for update in range(1, updates + 1):
        run.advance()
        weights.append(vector(run.network))
        if update == 3:  # at half of the run the mean has not begun
            assert torch.equal(vector(run.policy), vector(run.learner.magnet))
        if update == 5:
            run.save(tmp_path / "latest.pt")
    torch.testing.assert_close(vector(run.policy), torch.stack(weights[3:]).mean(0))
    again = Run.restore(tmp_path / "latest.pt")
    torch.testing.assert_close(vector(again.network), weights[4])
    torch.testing.assert_close(vector(again.policy), torch.stack(weights[3:5]).mean(0))
    played = load_agent(tmp_path / "latest.pt")._network
    assert torch.equal(vector(played), vector(again.policy))
    again.advance()
    assert torch.equal(vector(again.policy), vector(run.policy))


def test_the_mean_follows_the_scale_of_returns():
    run = Run(KUHN, TINY.changed({"average_share": 1.0, "reward_scale": 2.0}), Limits(1e9))
    run.advance()
    before = run.policy.value.weight.clone()
    run.learner.adopt_scale(1.0)  # of a network whose values were half as large
    assert before.any()
    assert torch.equal(run.policy.value.weight, 2 * before)


@pytest.mark.parametrize(
    ("average", "message"),
    [
        (None, "an average of weights without the setting, or the reverse"),
        ({"model": {}, "count": 2}, "weight"),
        (lambda state: {**state, "count": -1}, "the count of averaged updates is -1"),
    ],
)
def test_a_wrong_mean_in_a_checkpoint_is_refused(tmp_path, average, message):
    run = Run(KUHN, TINY.changed({"average_share": 1.0}), Limits(1e9))
    run.advance()
    run.save(tmp_path / "latest.pt")
    checkpoint = torch.load(tmp_path / "latest.pt", weights_only=True)
    learner = checkpoint["training"]["learner"]
    learner["average"] = average(learner["average"]) if callable(average) else average
    torch.save(checkpoint, tmp_path / "latest.pt")
    with pytest.raises(FormatError, match=message):
        Run.restore(tmp_path / "latest.pt")


def vector(network):
    return torch.nn.utils.parameters_to_vector(network.parameters()).clone()


def test_mirror_descent_comes_near_an_equilibrium_of_kuhn_poker():
    config = read_config(CONFIG_FOLDER / "leduc_magnet.yaml").changed({"game": "", "num_envs": 256, "hidden": (32,)})
    run = Run(KUHN, config.changed({"rollout_steps": 8, "magnet_decay": 0.95, "lr": 5e-3}), Limits(120 * 256 * 8))
    before = run.evaluator.nash_conv(run.policy)
    while run.fraction() < 1:
        run.advance()
    assert before == pytest.approx(0.917, abs=0.02)  # of uniform play
    assert run.evaluator.nash_conv(run.policy) < 0.15


# -- embeddings of actions --------------------------------------------------------------------------------------


def test_every_head_gives_the_logits_of_listed_actions(heads):
    hidden, legal = torch.randn(6, 8), torch.randint(50, (6, 4))
    for head in heads(8, 50):
        torch.testing.assert_close(head(hidden, legal), head(hidden).gather(1, legal))


def test_a_policy_with_embeddings_is_trained_and_plays(tmp_path):
    config = TINY.changed({"action_embedding": 4, "precision": "bfloat16"})
    path = train("leduc_poker_v0", config, out=tmp_path, total_steps=256, show=False)
    agent = load_agent(path)
    state = LEDUC.new_state(seed=0)
    probs = np.exp(agent.log_probs(state.observation(0)[None], state.action_mask()[None]))[0]
    assert probs.sum() == pytest.approx(1)
    assert (probs > 0).tolist() == state.action_mask().astype(bool).tolist()
    assert "policy.embedding.weight" in torch.load(path, weights_only=True)["model"]


def test_embeddings_know_what_the_game_says_about_actions(tmp_path):
    canasta = get_game("canasta_v0")
    config = TINY.changed({"action_embedding": 4, "action_features": True})
    run, path = Run(canasta, config, Limits(1e9)), tmp_path / "latest.pt"
    run.save(path)
    features, embedding = canasta.action_features(canasta.options()), load_agent(path)._network.policy.embedding
    np.testing.assert_allclose(embedding.features, features / np.maximum(features.max(0), 1))
    torch.testing.assert_close(embedding.table(), embedding.weight + embedding.features @ embedding.mix.weight.T)
    start = read_checkpoint(path)
    again = Run(canasta, shaped_like(TINY, start), Limits(1e9), start=start)
    torch.testing.assert_close(again.network.state_dict(), run.network.state_dict())


def test_embeddings_of_like_actions_are_learnt_together():
    embeddings = Embeddings(3, 2, 1)
    embeddings.describe(np.array([[1], [1], [0]]))
    embeddings.begin(0.1)
    before = embeddings.table().detach().clone()
    embeddings.table()[0].sum().backward()
    torch.optim.SGD(embeddings.parameters(), lr=1.0).step()
    moved = (embeddings.table() - before).abs().sum(1)
    assert moved[0] > moved[1] > 0 == moved[2]


# -- NashConv and warnings --------------------------------------------------------------------------------------


def test_nash_conv_is_that_of_the_sampled_policy(tmp_path):
    run = Run(KUHN, TINY.changed({"nash_conv": True}), Limits(64))
    torch.nn.init.zeros_(run.network.policy.weight)
    tree = Tree(KUHN)
    assert run.evaluator.nash_conv(run.policy) == pytest.approx(tree.nash_conv(tree.uniform()))
    torch.nn.init.normal_(run.network.policy.weight)
    greedy, sampled = (nash_conv(run.policy, tree, threshold=threshold) for threshold in (1.0, 0.0))
    assert greedy == nash_conv(run.policy, tree, greedy=True) != sampled
    run = Run(KUHN, TINY.changed({"nash_conv": True, "eval_threshold": 1.0}), Limits(64))
    run.policy.load_state_dict(run.network.state_dict())
    assert run.evaluator.nash_conv(run.policy) == nash_conv(run.policy, tree, greedy=True)
    train("kuhn_poker_v0", TINY.changed({"nash_conv": True}), out=tmp_path, total_steps=128, show=False)
    assert 0 < json.loads((tmp_path / "evaluation.json").read_text())["nash_conv"] < 5


def test_a_policy_no_better_than_chance_is_warned_about():
    good = Score(-20.0, 1.0, -50.0, 1.5, 100)
    level = Score(-0.5, 1.0, 0.0, 1.0, 100)
    assert warning({"heuristic": good}) is None
    text = warning({"heuristic": good, "random": level})
    assert text is not None
    assert text.startswith("Warning: the policy is no better than random play: it scores -0.50 ± 1.00 against random")
    assert "heuristic" not in text


def test_a_run_that_learns_nothing_says_so_once(tmp_path, capsys):
    config = TINY.changed(
        {"lr": 0.0, "lr_end": 0.0, "eval_interval": 1, "eval_deals": 100} | {"eval_sample": True, "final_deals": 100}
    )
    train("kuhn_poker_v0", config, out=tmp_path, total_steps=16 * 8 * 6)
    said = capsys.readouterr().err
    assert said.count("Warning: the policy is no better than random play") == 2  # during the run, and at its end
