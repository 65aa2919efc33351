"""The RLlib example: what each seat's episodes contain, and that its module learns."""

import pytest
from worlds import HOLDEM, LEDUC3, load, plain, recorded, replay, right_in_kuhn, twins

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib", exc_type=ImportError)
example = load("examples/trainers/rllib_ppo.py")
CASH = ("texas_holdem_v0", {"num_players": 3, "format": "cash"})  # a player may win without having acted


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield
    ray.shutdown()


def algorithm(name, num_envs=1, **options):
    config = example.make_config(name, **options).env_runners(num_envs_per_env_runner=num_envs)
    return config.training(train_batch_size_per_learner=300, minibatch_size=100).build_algo()


@pytest.mark.parametrize(("name", "options"), [LEDUC3, HOLDEM, CASH], ids=["leduc", "tournament", "cash"])
def test_each_seat_is_given_its_own_turns_and_rewards(name, options, monkeypatch):
    games = recorded(monkeypatch)
    trained = algorithm(name, **options)
    trained.train()  # from here on the policy is not that of the start
    games.clear()
    episodes = trained.env_runner.sample(num_episodes=150, random_actions=False)
    trained.stop()
    assert len(episodes) == len(games) == 150
    never_acted = 0
    for episode, (seed, actions) in zip(episodes, games, strict=True):
        game = replay(name, seed, actions, **options)
        for player, turns in enumerate(game.turns):
            if f"player_{player}" not in episode.agent_episodes:
                assert not turns
                never_acted += 1
                continue
            part = episode.agent_episodes[f"player_{player}"]
            assert part.is_done
            seen = part.get_observations()
            assert seen["observations"].tolist() == [*(turn.observation for turn in turns), game.last[player]]
            assert seen["action_mask"].tolist() == [*(turn.mask for turn in turns), [0] * len(turns[0].mask)]
            assert plain(part.get_actions()) == [turn.action for turn in turns]
            assert plain(part.get_rewards()) == pytest.approx([turn.reward for turn in turns])
    assert (never_acted > 0) == (options == CASH[1])


def test_a_seat_is_given_the_same_in_twin_worlds():
    name, options = LEDUC3
    env = example.make_env({"name": name, **options})

    def given(seed, actions, agent):
        observations, _ = env.reset(seed=seed)
        received = [observations.get(agent)]
        for action in actions:
            received.append([part.get(agent) for part in env.step({env.env.agent_selection: action})])
        return plain(received)

    for pair in twins(name, **options):
        one, two = (given(seed, pair.actions, f"player_{pair.player}") for seed in pair.seeds)
        assert one == two


def test_it_learns_where_the_reward_is():
    trained = algorithm("kuhn_poker_v0", num_envs=8)
    for _ in range(6):
        result = trained.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] >= 1800
    module = trained.get_module(example.MODULE)
    assert right_in_kuhn(lambda *seen: example.choose(module, *seen)) > 0.7
    assert abs(example.mean_return(module, "kuhn_poker_v0", games=20)) <= 2
    trained.stop()


def test_spaces_contain_what_is_given():
    env = example.make_env({"name": "leduc_poker_v0"})
    observations, _ = env.reset(seed=1)
    for agent, seen in observations.items():
        assert seen["observations"].dtype == "float32"
        assert env.observation_spaces[agent].contains(seen)
    assert env.action_spaces["player_0"].n == 3
