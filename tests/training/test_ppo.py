"""PPO: whose transition is whose, masks, the pool, resuming, settings, and that it learns."""

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nested import tensors  # noqa: E402

from cardenvs.agents.checkpoint_file import read_checkpoint  # noqa: E402
from cardenvs.agents.kinds import kind_names  # noqa: E402
from cardenvs.agents.network import Network, log_policy  # noqa: E402
from cardenvs.cli import app  # noqa: E402
from cardenvs.core.errors import FormatError, OptionError  # noqa: E402
from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.envs.vector import VectorEnv  # noqa: E402
from cardenvs.training.cfr import Tree  # noqa: E402
from cardenvs.training.config import (  # noqa: E402
    CONFIG_FOLDER,
    Config,
    chosen_config,
    config_for,
    parse_settings,
    read_config,
    settings_text,
)
from cardenvs.training.limits import Limits  # noqa: E402
from cardenvs.training.ppo import (  # noqa: E402
    Run,
    devices,
    resume,
    train,
)
from cardenvs.training.ppo.collect import Collector, is_listed, sample  # noqa: E402
from cardenvs.training.ppo.evaluate import Evaluation, Score  # noqa: E402
from cardenvs.training.ppo.league import Pool  # noqa: E402
from cardenvs.training.ppo.learn import Learner  # noqa: E402
from cardenvs.training.ppo.losses import policy_loss_and_metrics, value_loss_of  # noqa: E402
from cardenvs.training.ppo.processes import Context  # noqa: E402
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories  # noqa: E402
from cardenvs.training.progress import METRICS  # noqa: E402

LEDUC, KUHN = get_game("leduc_poker_v0"), get_game("kuhn_poker_v0")
TINY = Config(
    num_envs=16, rollout_steps=8, hidden=(16,), epochs=2, minibatches=2, lr=1e-3, pool_share=0.5, pool_interval=2,
    pool_size=3, eval_interval=4, eval_deals=8, final_deals=8,
)  # fmt: skip

WEIGHTS = {"lr": 0.5, "entropy": 0.0, "magnet": 0.0, "teacher": 0.0}


@pytest.fixture(autouse=True)
def _one_thread(one_thread, monkeypatch):
    """Bitwise repeatable, and no waiting for a second core that others use."""
    monkeypatch.setattr(devices, "MOST_THREADS", 1)


# -- trajectories -----------------------------------------------------------------------------------------------


def play_one(num_players, turns, values, num_steps=None):
    """Trajectories of one environment.

    turns: (player, rewards, end) a step, end being "", "end" or the values of a truncation.
    Returns a Trajectories and values by slot.
    """
    cuts = Trajectories(1, num_players, num_steps or len(turns))
    for step, (player, rewards, end) in enumerate(turns):
        cuts.act(step, np.array([player]), np.array([True]))
        if end and end != "end":
            cuts.truncate(np.array([0]), np.array([end], np.float32))
        cuts.credit(np.array([rewards], np.float32), np.array([bool(end)]))
    return cuts, np.array([0.0] * num_players + list(values), np.float32)


def test_the_next_observation_of_a_player_is_its_own_next_turn():
    nothing = (0, 0, 0)
    cuts, _ = play_one(
        3, [(0, nothing, ""), (1, nothing, ""), (1, nothing, ""), (2, nothing, ""), (0, nothing, "")], [0] * 5
    )
    assert cuts.next_slot[3:].tolist() == [7, 5, cuts.OPEN, cuts.OPEN, cuts.OPEN]


def test_rewards_during_others_turns_go_to_the_latest_action():
    cuts, _ = play_one(
        3,
        [
            (0, (1, 10, 100), ""),  # player_1 and player_2 have not acted: their rewards go nowhere
            (1, (2, 20, 200), ""),
            (0, (4, 40, 400), ""),
            (2, (8, 80, 800), "end"),
        ],
        [0] * 4,
    )
    assert cuts.reward[3:].tolist() == [1 + 2, 20 + 40 + 80, 4 + 8, 800]
    assert cuts.next_slot[3:].tolist() == [5, cuts.ENDED, cuts.ENDED, cuts.ENDED]


def test_advantages_by_hand_with_three_players():
    gamma, lam = 0.5, 0.5
    cuts, values = play_one(
        3,
        [(0, (0, 0, 0), ""), (1, (0, 0, 0), ""), (2, (0, 0, 0), ""), (0, (0, 4, 0), ""), (1, (8, -4, -4), "end")],
        [1, 2, 3, 6, 5],
    )
    # player_0: turns at steps 0 and 3, +8 at the end. player_1: steps 1 and 4, +4 before its second turn, -4 at the
    # end. player_2: step 2, -4 at the end.
    second_0, second_1 = 8 - 6, -4 - 5
    first_0 = 0 + gamma * 6 - 1 + gamma * lam * second_0
    first_1 = 4 + gamma * 5 - 2 + gamma * lam * second_1
    assert cuts.advantages(values, gamma, lam)[3:].tolist() == [first_0, first_1, -4 - 3, second_0, second_1]


def test_a_player_who_never_acts_contributes_nothing():
    cuts, values = play_one(3, [(0, (0, 0, 0), ""), (1, (5, -2, -3), "end"), (2, (0, 0, 0), "")], [0] * 3)
    assert cuts.closed().tolist() == [3, 4]
    assert cuts.advantages(values, 1, 1)[3:].tolist() == [5, -2, 0]


def test_an_episode_does_not_leak_into_the_next():
    cuts, _ = play_one(2, [(0, (1, -1), "end"), (0, (0, 0), ""), (1, (3, -3), "end")], [0] * 3)
    assert cuts.reward[2:].tolist() == [1, 3, -3]
    assert (cuts.next_slot[2:] == cuts.ENDED).all()


def test_a_truncation_bootstraps_from_each_players_value():
    cuts, values = play_one(2, [(0, (0, 0), ""), (1, (1, 2), (10, 20))], [3, 4])
    assert cuts.advantages(values, 0.5, 1)[2:].tolist() == [1 + 0.5 * 10 - 3, 2 + 0.5 * 20 - 4]


def test_open_transitions_are_carried_into_the_next_rollout():
    cuts, values = play_one(2, [(0, (0, 0), ""), (1, (1, 2), ""), (0, (0, 4), "")], [7, 8, 9])
    assert cuts.closed().tolist() == [2]
    assert cuts.advantages(values, 1, 1)[2] == 1 + 9 - 7  # bootstraps from the open transition's value
    source, target = cuts.carry()
    assert source.tolist() == [4, 3]
    assert target.tolist() == [0, 1]
    values = np.array([9, 8, 5, 0, 0], np.float32)  # moved, then what the new rollout brings
    cuts.act(0, np.array([1]), np.array([True]))
    cuts.credit(np.array([[100, -100]], np.float32), np.array([True]))
    assert cuts.closed().tolist() == [0, 1, 2]
    assert cuts.advantages(values, 1, 1)[:3].tolist() == [100 - 9, 2 + 4 + 5 - 8 + (-100 - 5), -100 - 5]


def test_what_is_not_learnt_from_leaves_no_transition():
    cuts = Trajectories(2, 2, 2)
    cuts.act(0, np.array([0, 0]), np.array([True, False]))
    cuts.credit(np.ones((2, 2), np.float32), np.array([False, False]))
    cuts.act(1, np.array([1, 1]), np.array([False, True]))
    cuts.credit(np.ones((2, 2), np.float32), np.array([True, True]))
    assert cuts.closed().tolist() == [4, 7]
    assert cuts.reward[[4, 7]].tolist() == [2, 1]


class SlowReference:
    """The same, as plain lists: a chain of turns for each player of each environment's running episode."""

    def __init__(self, num_envs, num_players):
        self.chains = [[[] for _ in range(num_players)] for _ in range(num_envs)]
        self.finished = []  # chains that need no further turn

    def step(self, env, player, slot, value, learning, rewards, ended, end_values):
        if learning:
            self.chains[env][player].append({"slot": slot, "value": value, "reward": 0.0})
        for p, chain in enumerate(self.chains[env]):
            if chain:
                chain[-1]["reward"] += rewards[p]
        if ended:
            for p, chain in enumerate(self.chains[env]):
                self.finished.append((chain, end_values[p]))
            self.chains[env] = [[] for _ in self.chains[env]]

    def advantages(self, gamma, lam):
        """{slot: advantage} of all closed turns, which are then forgotten."""
        result = {}
        for chain, end_value in self.finished:
            self._walk(chain, end_value, gamma, lam, result)
        for chains in self.chains:
            for p, chain in enumerate(chains):
                if chain:
                    self._walk(chain[:-1], chain[-1]["value"], gamma, lam, result)
                chains[p] = chain[-1:]
        self.finished = []
        return result

    @staticmethod
    def _walk(chain, next_value, gamma, lam, result):
        advantage = 0.0
        for turn in reversed(chain):
            delta = turn["reward"] + gamma * next_value - turn["value"]
            advantage = delta + gamma * lam * advantage
            next_value = turn["value"]
            result[turn["slot"]] = advantage

    def carry(self, num_players):
        for env, chains in enumerate(self.chains):
            for p, chain in enumerate(chains):
                for turn in chain:
                    turn["slot"] = env * num_players + p


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_trajectories_agree_with_a_slow_reference_on_random_play(num_players):
    rng = np.random.default_rng(num_players)
    n, steps, gamma, lam = 17, 11, 0.97, 0.9
    cuts, slow = Trajectories(n, num_players, steps), SlowReference(n, num_players)
    values = np.zeros(cuts.num_slots, np.float32)
    learnt = 0
    for _ in range(6):
        source, target = cuts.carry()
        values[target] = values[source]
        slow.carry(num_players)
        for step in range(steps):
            players, learning = rng.integers(num_players, size=n), rng.random(n) < 0.8
            rewards = rng.normal(size=(n, num_players)).astype(np.float32)
            terminated = rng.random(n) < 0.15
            truncated = (rng.random(n) < 0.1) & ~terminated
            end_values = np.where(truncated[:, None], rng.normal(size=(n, num_players)), 0).astype(np.float32)
            rows = cuts.rows(step)
            values[rows] = rng.normal(size=n)
            cuts.act(step, players, learning)
            cuts.truncate(np.flatnonzero(truncated), end_values[truncated])
            cuts.credit(rewards, terminated | truncated)
            for i in range(n):
                slow.step(
                    i, players[i], rows.start + i, float(values[rows.start + i]), learning[i], rewards[i],
                    terminated[i] or truncated[i], end_values[i],
                )  # fmt: skip
        expected = slow.advantages(gamma, lam)
        assert sorted(expected) == cuts.closed().tolist()
        advantages = cuts.advantages(values, gamma, lam)
        np.testing.assert_allclose(advantages[list(expected)], list(expected.values()), rtol=1e-4, atol=1e-4)
        assert np.count_nonzero(advantages) <= len(expected)
        learnt += len(expected)
    assert learnt > 0.7 * 6 * steps * n


def test_trajectories_go_on_from_their_state():
    cuts, _ = play_one(2, [(0, (0, 0), ""), (1, (1, 2), ""), (0, (0, 4), "")], [0] * 3)
    cuts.carry()
    twin = Trajectories(1, 2, 3)
    twin.set_state(cuts.get_state())
    for one in (cuts, twin):
        one.act(0, np.array([1]), np.array([True]))
        one.credit(np.array([[1, 1]], np.float32), np.array([True]))
    assert cuts.reward.tolist() == twin.reward.tolist()
    assert cuts.next_slot.tolist() == twin.next_slot.tolist()


# -- masks ------------------------------------------------------------------------------------------------------


def random_masks(n, k, seed=0):
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(n, k, generator=generator) < 0.2
    mask[torch.arange(n), torch.randint(k, (n,), generator=generator)] = True
    return mask


def test_only_legal_actions_are_drawn():
    mask = random_masks(2000, 9)
    logits = torch.randn(2000, 9) * 30
    generator = torch.Generator().manual_seed(1)
    log_probs = log_policy(logits, mask)
    for _ in range(20):
        assert mask[torch.arange(2000), sample(log_probs, generator)].all()


def test_actions_are_drawn_with_their_probabilities():
    probs = torch.tensor([0.5, 0.0, 0.3, 0.15, 0.05])
    drawn = sample(probs.log().expand(200_000, 5), torch.Generator().manual_seed(1))
    observed = torch.bincount(drawn, minlength=5).double()
    expected = probs.double() * 200_000
    kept = expected > 0
    chi_square = ((observed - expected)[kept].square() / expected[kept]).sum()
    assert observed[1] == 0
    assert chi_square < 16.3  # the 0.1% point for 3 degrees of freedom


@pytest.mark.parametrize("num_legal", [1, 2, 9])
def test_losses_and_gradients_are_finite_however_few_are_legal(num_legal):
    mask = torch.zeros(64, 9, dtype=torch.bool)
    mask[:, :num_legal] = True
    logits = (torch.randn(64, 9) * 50).requires_grad_()
    action = torch.zeros(64, dtype=torch.int64)
    loss, entropy, kl, clipped = policy_loss_and_metrics(
        logits, mask, action, torch.full((64,), -1.0), torch.randn(64), torch.ones(64), 0.2
    )
    (loss - 0.01 * entropy).backward()
    assert all(torch.isfinite(x) for x in (loss, entropy, kl, clipped))
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[~mask] == 0).all()
    if num_legal == 1:
        assert entropy == 0


def test_the_loss_is_schulmans():
    logits, mask = torch.randn(50, 4, dtype=torch.float64), random_masks(50, 4)
    action = mask.int().argmax(1)
    log_probs = log_policy(logits, mask)
    old = log_probs[torch.arange(50), action] + torch.randn(50, dtype=torch.float64) * 0.3
    advantage = torch.randn(50, dtype=torch.float64)
    loss, entropy, kl, clipped = policy_loss_and_metrics(logits, mask, action, old, advantage, torch.ones(50), 0.2)
    expected, expected_entropy = [], []
    for i in range(50):
        p = torch.softmax(logits[i][mask[i]], 0)
        ratio = float(torch.exp(log_probs[i, action[i]] - old[i]))
        expected.append(-min(ratio * float(advantage[i]), min(max(ratio, 0.8), 1.2) * float(advantage[i])))
        expected_entropy.append(-float((p * p.log()).sum()))
    assert float(loss) == pytest.approx(np.mean(expected))
    assert float(entropy) == pytest.approx(np.mean(expected_entropy))
    assert 0 < float(clipped) < 1
    assert float(kl) > 0


def test_a_clipped_value_gains_nothing_by_moving_on():
    value, old, target = torch.tensor([1.5, 0.1]), torch.tensor([0.0, 0.0]), torch.tensor([2.0, 2.0])
    assert float(value_loss_of(value, old, target, torch.ones(2), 0)) == pytest.approx(0.25 * (0.5**2 + 1.9**2))
    assert float(value_loss_of(value, old, target, torch.ones(2), 0.2)) == pytest.approx(0.25 * (1.8**2 + 1.9**2))


def test_listed_entries_are_the_first_ones():
    assert is_listed(torch.zeros(2, 3), torch.tensor([1, 3])).tolist() == [[True, False, False], [True, True, True]]


# -- playing ----------------------------------------------------------------------------------------------------


def player_for(game, config, seed=0, **vec_arguments):
    torch.manual_seed(seed)
    options = game.make_options(**config.options)
    network = Network.for_game(game, options, config.hidden, config.activation)
    vec = VectorEnv(game, config.num_envs, seed, 1, mask=False, **vec_arguments, **config.options)
    vec.reset()
    pool = Pool(network, config.pool_size)
    return Collector(vec, network, Context(config, torch.Generator().manual_seed(seed)), pool), network


def test_what_is_stored_is_what_was_seen_and_done():
    config = TINY.changed({"pool_share": 0.0, "rollout_steps": 3, "options": {"num_players": 3}})
    player, network = player_for(LEDUC, config)
    seeds = player.vec.batch.episode_seed.copy()
    player.play()
    store, cuts = player.store, player.trajectories
    for env in range(config.num_envs):  # three players, so no game is over within three steps
        state = LEDUC.new_state(seed=int(seeds[env]), num_players=3)
        for step in range(3):
            slot = cuts.rows(step).start + env
            legal = store.legal[slot, : store.num_legal[slot]].tolist()
            observation = torch.from_numpy(state.observation(state.current_player))
            assert store.observation[slot].tolist() == observation.tolist()
            assert legal == state.legal_actions()
            with torch.no_grad():
                logits, value = network(network.features(observation).unsqueeze(0))
            log_probs = logits[0][legal].log_softmax(0)
            assert store.log_prob[slot] == pytest.approx(float(log_probs[store.choice[slot]]), abs=1e-5)
            assert store.value[slot] == pytest.approx(float(value), abs=1e-5)
            state.apply(legal[store.choice[slot]])


def test_games_that_look_alike_are_played_by_one_evaluation_each():
    players = {}
    for merge in (False, True):
        config = TINY.changed({"merge_turns": merge, "num_envs": 64, "pool_share": 0.5})
        players[merge], network = player_for(KUHN, config)
        sizes, forward = [], network.forward
        network.forward = lambda features, *lists, sizes=sizes, forward=forward: (
            sizes.append(len(features)) or forward(features, *lists)
        )
        players[merge].play()
        assert max(sizes) <= 12 if merge else min(sizes) == 64  # Kuhn poker has 12 information states
    merged, alone = (players[merge].store for merge in (True, False))
    assert torch.equal(merged.choice, alone.choice)
    for name in ("value", "log_prob"):
        torch.testing.assert_close(getattr(merged, name), getattr(alone, name))


def test_a_truncation_asks_for_the_values_of_the_final_observations():
    config = TINY.changed({"pool_share": 0.0, "rollout_steps": 2})
    player, network = player_for(LEDUC, config, max_plies=2)
    seeds = player.vec.batch.episode_seed.copy()
    player.play()
    store, cuts, truncated = player.store, player.trajectories, 0
    for env in range(config.num_envs):
        state = LEDUC.new_state(seed=int(seeds[env]))
        slots = [cuts.rows(step).start + env for step in range(2)]
        for slot in slots:
            state.apply(int(store.legal[slot, store.choice[slot]]))
        assert (cuts.next_slot[slots] == cuts.ENDED).all()
        for p, slot in enumerate(slots):
            with torch.no_grad():
                value = float(network(network.features(torch.from_numpy(state.observation(p))))[1])
            assert cuts.end_value[slot] == pytest.approx(0.0 if state.is_terminal else value, abs=1e-5)
        truncated += not state.is_terminal
    assert truncated


def test_the_last_transitions_of_a_rollout_reach_the_next_update():
    config = TINY.changed({"pool_share": 0.0})
    player, _ = player_for(LEDUC, config)
    learnt = 0
    for _ in range(5):
        player.play()
        learnt += len(player.trajectories.closed())
    left = int((player.trajectories.next_slot == Trajectories.OPEN).sum())
    assert 0 < left <= 2 * config.num_envs
    assert learnt + left == 5 * config.rollout_steps * config.num_envs


def test_a_past_self_plays_the_other_seats_and_is_not_learnt_from():
    config = TINY.changed({"pool_share": 0.5, "rollout_steps": 16})
    player, _ = player_for(LEDUC, config)
    player.pool.opponent.policy.bias.data[:] = torch.tensor([0.0, 0.0, 1000.0])  # raises whenever it may
    player.pool.draw = lambda generator: None
    player.play()
    store, cuts = player.store, player.trajectories
    stored = cuts.next_slot != cuts.UNUSED
    raised, learnt = 0, 0
    for step in range(config.rollout_steps):
        for env in range(config.num_envs):
            slot = cuts.rows(step).start + env
            legal = store.legal[slot, : store.num_legal[slot]].tolist()
            if stored[slot]:
                learnt += env >= 8
                continue
            assert env >= 8
            if 2 in legal:
                assert legal[store.choice[slot]] == 2
                raised += 1
    assert raised > 10
    assert learnt > 10


def test_the_pool_keeps_the_latest_selves():
    network = Network(3, 2, (4,))
    pool = Pool(network, 2)
    for k in range(3):
        torch.nn.init.constant_(network.value.bias, float(k + 1))
        pool.add(network)
    biases = []
    for number in range(len(pool.selves)):
        pool.choose(number)
        biases.append(float(pool.opponent.value.bias))
    assert biases == [2.0, 3.0]
    assert float(network.value.bias.detach()) == 3.0
    assert not any(parameter.requires_grad for parameter in pool.opponent.parameters())


def test_an_update_stops_at_the_target_kl():
    config = TINY.changed({"lr": 0.5, "target_kl": 1e-4, "epochs": 5})
    player, network = player_for(KUHN, config)
    learner = Learner(network, Context(config, torch.Generator().manual_seed(0)))
    player.play()
    metrics = learner.update(player.trajectories, player.store, player.returns, WEIGHTS)
    assert metrics["minibatches"] < 10


def evaluation_of(game, deals, seed, **arguments):
    return Evaluation(VectorEnv(game, deals, mask=False), seed, **arguments)


def test_evaluation_swaps_seats_on_the_same_deals():
    torch.manual_seed(0)
    network = Network.for_game(KUHN, KUHN.make_options(), (8,), "relu")
    score = evaluation_of(KUHN, 64, seed=5).score(network, "random")
    assert score.deals == 64
    assert score == evaluation_of(KUHN, 64, seed=5).score(network, "random")
    assert score != evaluation_of(KUHN, 64, seed=6).score(network, "random")
    assert evaluation_of(KUHN, 64, seed=5, sampled=True).score(network, "random") != score


def test_alone_at_the_table_a_score_is_the_difference_on_the_same_deals():
    game = get_game("one_player_poker_v0")
    torch.manual_seed(0)
    network = Network.for_game(game, game.make_options(), (8,), "relu")
    evaluation = evaluation_of(game, 64, seed=5)
    against = {name: evaluation.score(network, name) for name in ("random", "heuristic")}
    assert against["random"].mean - against["heuristic"].mean == pytest.approx(6.4, abs=1)
    assert against["heuristic"].verdict == "loses to"


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_chance_is_what_random_play_gets_in_the_networks_place(num_players):
    """At tables of any size a policy that plays at random is at the level of chance, and one that folds is not."""
    evaluation = Evaluation(VectorEnv(LEDUC, 400, mask=False, num_players=num_players), 5, sampled=True)
    torch.manual_seed(0)
    network = Network.for_game(LEDUC, LEDUC.make_options(num_players=num_players), (8,), "relu")
    torch.nn.init.zeros_(network.policy.weight)  # all legal actions alike
    score = evaluation.score(network, "random")
    assert abs(score.mean - score.chance) < 1.5 * score.gain_half
    network.policy.bias.data[0] = 100.0  # folds whenever it may
    score = evaluation.score(network, "random")
    assert score.mean < score.chance - score.gain_half
    assert not score.is_above_chance


def test_chance_counts_what_a_game_gives_to_everybody():
    """Alone at the table the score against a rule policy is negative, and still above what random play gets."""
    game = get_game("one_player_poker_v0")
    evaluation = evaluation_of(game, 64, seed=5)
    draw = lambda batch, rows, step: evaluation._vec.policy_actions("heuristic", rows, 1, step)  # noqa: E731
    score = Score.of(evaluation._returns(draw, "heuristic"), evaluation._chance_against("heuristic"))
    assert score.mean == 0
    assert score.chance == pytest.approx(-6.4, abs=1)
    assert score.is_above_chance


# -- whole runs -------------------------------------------------------------------------------------------------


EVERYTHING = TINY.changed(
    {"magnet": 0.1, "magnet_interval": 3, "exploiter_share": 0.3, "exploiter_interval": 3, "action_embedding": 4,
     "rule_share": 0.2, "rule_opponents": "random", "teacher": "random", "nash_conv": True}
)  # fmt: skip


@pytest.mark.parametrize(
    ("game", "config"),
    [
        ("leduc_poker_v0", TINY),
        ("kuhn_poker_v0", EVERYTHING),
        ("kuhn_poker_v0", EVERYTHING.changed({"overlap": True})),
        ("kuhn_poker_v0", TINY.changed({"reward_scale": 0.5})),
        ("katko_v0", TINY.changed({"skip_forced": True})),
    ],
)
def test_resuming_gives_the_numbers_of_an_uninterrupted_run(tmp_path, game, config):
    steps, half = 2048, 1024

    def stop(metrics):
        if metrics["steps"] == half:
            raise KeyboardInterrupt

    straight = train(game, config, out=tmp_path / "a", total_steps=steps, show=False)
    with pytest.raises(KeyboardInterrupt):
        train(game, config, out=tmp_path / "b", total_steps=steps, show=False, on_update=stop)
    assert read_checkpoint(tmp_path / "b" / "latest.pt")["steps"] == half
    resumed = resume(tmp_path / "b" / "latest.pt", show=False)
    one, other = read_checkpoint(straight), read_checkpoint(resumed)
    assert one["steps"] == other["steps"] == steps
    ones, others = tensors(one), tensors(other)
    assert ones.keys() == others.keys()
    assert len(ones) > 20
    for path, tensor in ones.items():
        assert torch.equal(tensor, others[path]), path
    rows = [[json.loads(line) for line in (tmp_path / f / "metrics.jsonl").open()] for f in ("a", "b")]
    for row, twin in zip(*rows, strict=True):
        for name, value in row.items():
            if not name.startswith(("time/", "speed/", "seconds")):
                assert value == twin[name], name


def test_another_seed_gives_other_numbers(tmp_path):
    paths = [
        train("kuhn_poker_v0", TINY.changed({"seed": k}), out=tmp_path / str(k), total_steps=128, show=False)
        for k in (1, 2)
    ]
    one, other = (tensors(read_checkpoint(path)["model"]) for path in paths)
    assert not torch.equal(one["/policy.weight"], other["/policy.weight"])


def test_evaluations_do_not_change_the_training(tmp_path):
    configs = (TINY, TINY.changed({"eval_interval": 0, "final_deals": 0}))
    paths = [
        train("kuhn_poker_v0", config, out=tmp_path / str(k), total_steps=1024, show=False)
        for k, config in enumerate(configs)
    ]
    one, other = (tensors(read_checkpoint(path)) for path in paths)
    assert all(torch.equal(tensor, other[path]) for path, tensor in one.items())


def test_a_failed_write_keeps_the_old_checkpoint(tmp_path, monkeypatch):
    run = Run(KUHN, TINY, Limits(256))
    path = tmp_path / "latest.pt"
    run.save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    run.advance()
    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        run.save(path)
    assert path.read_bytes() == before


def test_every_metric_is_described(tmp_path):
    train("kuhn_poker_v0", EVERYTHING, out=tmp_path, total_steps=1024, show=False)
    names = {name for line in (tmp_path / "metrics.jsonl").open() for name in json.loads(line)}
    described = {name.replace("NAME", "random") for name in METRICS if not name.startswith("time/")}
    assert {name for name in names if not name.startswith("time/")} == described


def test_a_run_in_the_way_is_not_overwritten(tmp_path):
    train("kuhn_poker_v0", TINY, out=tmp_path, total_steps=128, show=False)
    with pytest.raises(OptionError, match="resume it, choose another folder or overwrite"):
        train("kuhn_poker_v0", TINY, out=tmp_path, total_steps=128, show=False)
    train("kuhn_poker_v0", TINY, out=tmp_path, total_steps=128, show=False, overwrite=True)
    assert len((tmp_path / "metrics.jsonl").read_text().splitlines()) == 1


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = train("kuhn_poker_v0", TINY, out=tmp_path, total_steps=128, show=False)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="is damaged"):
        resume(path, show=False)


def test_a_checkpoint_of_other_environments_is_refused(tmp_path):
    path = train("kuhn_poker_v0", TINY, out=tmp_path, total_steps=128, show=False)
    checkpoint = torch.load(path, weights_only=True)
    checkpoint["config"]["num_envs"] = 8
    torch.save(checkpoint, path)
    with pytest.raises(FormatError, match=r"episodes should be \[8\] torch.int64; it is \[16\]"):
        resume(path, show=False)


def test_training_for_a_time_ends_by_the_clock(tmp_path):
    path = train("kuhn_poker_v0", TINY, out=tmp_path, seconds=0.5, show=False)
    checkpoint = read_checkpoint(path)
    assert checkpoint["training"]["seconds"] >= 0.5
    assert 128 <= checkpoint["steps"] < TINY.total_steps


def test_it_learns_kuhn_poker(tmp_path):
    """Against random play, and towards an equilibrium: the sampled policy's NashConv falls well below uniform's."""
    config = config_for("kuhn_poker_v0").changed({"eval_interval": 0, "nash_conv": True})
    train("kuhn_poker_v0", config, out=tmp_path, total_steps=100_000, show=False)
    result = json.loads((tmp_path / "evaluation.json").read_text())
    score = result["scores"]["random"]
    assert score["mean"] - score["half"] > 0.05
    tree = Tree(KUHN)
    assert result["nash_conv"] < 0.6 < tree.nash_conv(tree.uniform())


# -- settings and command line ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"learning_rate": 1e-3}, "learning_rate: there is no such setting.*settings are"),
        ({"minibatch": 3}, "did you mean 'minibatches'"),
        ({"lr": "fast"}, r"lr: .* valid number.*\(got 'fast'\)"),
        ({"epochs": 1.5}, r"epochs: .* valid integer.*\(got 1\.5\)"),
        ({"epochs": 0}, r"epochs: .* greater than or equal to 1 \(got 0\)"),
        ({"gamma": 1.5}, r"gamma: .* less than or equal to 1 \(got 1\.5\)"),
        ({"lr_schedule": "step"}, r"lr_schedule: .* 'linear', 'cosine' or 'constant' \(got 'step'\)"),
        ({"hidden": []}, "hidden: .* at least 1 item"),
        ({"hidden": [256, "wide"]}, r"hidden\.1: .* valid integer.*\(got 'wide'\)"),
        ({"hidden": "a"}, r"^settings: hidden\.0: [^;]*\(got 'a'\)$"),
        ({"hidden": "70000"}, r"^settings: hidden\.0: [^;]* less than or equal to 65536 \(got '70000'\)$"),
        ({"final_deals": 1}, "final_deals: .* give 0 or at least 2"),
        ({"final_deals": -1}, "final_deals: .* greater than or equal to 0"),
        ({"eval_sample": "maybe"}, "eval_sample: .* valid boolean"),
        ({"options": 3}, "options: .* a mapping"),
        ({"lr": True}, r"lr: .* a number \(got True\)"),
        ({"seed": 16**20_000}, "seed: .* a very long int"),
        ({"lr\x1b[2J": 1}, r"settings: lr\\x1b\[2J: there is no such setting"),
    ],
)
def test_settings_are_checked(values, message):
    with pytest.raises(OptionError, match=message):
        Config.make(values)


def test_settings_are_read_from_texts(tmp_path):
    changes = parse_settings(["lr=3e-4", "num_envs=2_048", "hidden=128,64", "eval_sample=True", "total_steps=2e6"])
    config = Config().changed(changes)
    assert (config.lr, config.num_envs, config.hidden, config.eval_sample) == (3e-4, 2048, (128, 64), True)
    assert config.total_steps == 2_000_000
    (tmp_path / "c.yaml").write_text("lr: 3e-4\nhidden: [8, 8]\n")  # 3e-4 is a text in YAML 1.1
    assert read_config(tmp_path / "c.yaml") == Config(lr=3e-4, hidden=(8, 8))
    with pytest.raises(OptionError, match="takes NAME=VALUE"):
        parse_settings(["lr"])


@pytest.mark.parametrize(
    ("game", "given", "options"),
    [
        ("texas_holdem", ["num_players=6"], {"format": "cash", "num_players": 6, "outcomes": True}),
        ("texas_holdem", ["format=tournament"], {"format": "tournament", "num_players": 2, "outcomes": True}),
        ("rummikub", ["num_players=2"], {"steps": "loose", "num_players": 2, "outcomes": True}),
        ("casino", ["num_players=3"], {"match": False, "num_players": 3, "outcomes": True}),
        ("casino", ["match=true"], {"match": True, "outcomes": True}),
        ("scopa", ["num_players=3"], {"target": None, "num_players": 3, "outcomes": True}),
        ("kuhn_poker", ["num_players=3", "num_players=2"], {"num_players": 2}),
    ],
)
def test_options_change_those_of_the_games_config(game, given, options):
    game = get_game(game)
    config = chosen_config(game.name, None, [], given)
    assert game.make_options(**config.options) == game.make_options(**options)
    with pytest.raises(OptionError, match="did you mean 'num_players'"):
        chosen_config(game.name, None, [], ["num_player=2"])


def test_a_config_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(OptionError, match=r"no_such\.yaml cannot be read"):
        read_config(tmp_path / "no_such.yaml")
    (tmp_path / "bad.yaml").write_text("lr: [")
    with pytest.raises(OptionError, match=r"bad\.yaml cannot be read"):
        read_config(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- lr")
    with pytest.raises(OptionError, match="must be a mapping"):
        read_config(tmp_path / "list.yaml")


@pytest.mark.parametrize("path", sorted(CONFIG_FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_config_is_valid(path):
    config = read_config(path)
    get_game(config.game).make_options(**config.options)


@pytest.mark.parametrize("path", sorted(CONFIG_FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_players_from_outside_are_held_out_of_training(path):
    outside = {"openspiel_bot", "rlcard", "always", "plain_equity", "pimc"}
    assert outside <= set(kind_names(own=True))  # another name would be found nowhere
    texts = texts_in(read_config(path).model_dump(mode="json"))
    assert path.stem.split("_")[0] in texts[0]  # the game
    assert not outside & {word for text in texts for word in re.findall(r"\w+", text)}


def texts_in(values):
    """Return all texts among JSON values."""
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, list):
        return [text for value in values for text in texts_in(value)]
    return [values] if isinstance(values, str) else []


def test_a_game_gets_the_config_of_its_own_name_and_not_a_variant():
    for path in CONFIG_FOLDER.glob("*.yaml"):
        plain = CONFIG_FOLDER / f"{re.sub('_(magnet|teacher|outcomes|longer|dmc|limit)$', '', path.stem)}.yaml"
        assert config_for(read_config(path).game) == read_config(plain)


def test_settings_of_another_game_are_refused():
    with pytest.raises(OptionError, match="for leduc_poker_v0, not for kuhn_poker_v0"):
        train("kuhn_poker_v0", Config(game="leduc_poker_v0"), show=False)
    with pytest.raises(OptionError, match="which game"):
        train(show=False)


@pytest.mark.parametrize("limit", [{"seconds": 0}, {"total_steps": -1}])
def test_a_run_without_end_is_refused(limit):
    with pytest.raises(OptionError, match="must be above 0"):
        train("kuhn_poker_v0", **limit, show=False)


def test_all_settings_are_listed():
    text = settings_text(width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert all(name in text for name in Config.model_fields)


def main(words):
    """The exit code of `cardenvs train`."""
    with pytest.raises(SystemExit) as ended:
        app(["train", *words])
    return ended.value.code


def test_the_command_line_trains_and_resumes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code, said = main(arguments), capsys.readouterr()
        assert said.out == ""
        return code, said.err

    settings = [f"--set={name}={value}" for name, value in (("num_envs", 16), ("hidden", 8), ("final_deals", 16))]
    code, said = run("kuhn_poker_v0", "--out", str(tmp_path), "--total-steps", "1024", *settings)
    assert code == 0
    assert "against random" in said
    assert "network alone would allow" in said
    assert run("--resume", "--out", str(tmp_path), "--total-steps", "2048", "--quiet") == (0, "")
    assert read_checkpoint(tmp_path / "latest.pt")["steps"] == 2048
    code, said = run("kuhn_poker_v0", "--set", "lrr=1")
    assert code == 2
    assert "Error: --set: lrr: there is no such setting; did you mean 'lr'?" in said
    assert run("--resume", "--out", str(tmp_path), "--set", "lr=1")[0] == 2
    assert run("kuhn_poker_v0", "--option", "num_players=3", "--total-steps", "1", "--quiet", *settings) == (0, "")
    assert [path.name[:14] for path in (tmp_path / "runs").iterdir()] == ["kuhn_poker_v0-"]


def test_the_command_line_lists_settings(capsys):
    assert main(["--settings"]) == 0
    assert "reward_scale" in capsys.readouterr().out


def test_store_moves_whole_transitions():
    vec = VectorEnv(KUHN, 2, mask=False)
    store = RolloutBuffer(6, vec, torch.device("cpu"))
    for array in vars(store).values():
        array[4] = 1
    store.move(torch.tensor([4]), torch.tensor([0]))
    assert all((array[0] == 1).all() for array in vars(store).values())


def test_the_page_describes_every_metric():
    page = (CONFIG_FOLDER.parent / "docs" / "training-metrics.md").read_text(encoding="utf-8")
    for name, meaning in METRICS.items():
        assert f"| `{name}` | {meaning} |" in page


def test_ctrl_c_stops_cleanly(tmp_path):
    command = [sys.executable, "-m", "cardenvs", "train", "kuhn_poker_v0", "--out", str(tmp_path), "--threads", "1"]
    process = subprocess.Popen([*command, "--total-steps", "1e9"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "steps" not in process.stderr.readline():  # until the first update is shown
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"To resume: cardenvs train --out {tmp_path} --resume" in said
    assert Run.restore(tmp_path / "latest.pt").steps > 0
