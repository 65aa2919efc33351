"""The TorchRL example: what each seat's tensors contain, and that its network learns."""

import pytest
from worlds import LEDUC3, load, recorded, replay, right_in_kuhn, twins

import cardenvs

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
example = load("examples/trainers/torchrl_ppo.py")

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested")
HOLDEM = ("texas_holdem_v0", {"num_players": 3, "format": "cash"})


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("name", "options"), [LEDUC3, HOLDEM], ids=["leduc", "holdem"])
def test_each_seat_is_given_its_own_turns_and_rewards(name, options, monkeypatch):
    games = recorded(monkeypatch)
    env = example.make_env(name, **options)
    actor, _ = example.make_networks(env)
    data = env.rollout(300, actor, break_when_any_done=False)
    steps = iter(data)
    assert len(games) > 10
    for seed, actions in games:
        state = cardenvs.get_game(name).new_state(seed=seed, **options)
        for action in actions:
            step, to_act = next(steps), state.current_player
            seats = step["agents"]
            for player in range(state.num_players):
                assert seats["observation", "observation"][player].tolist() == state.observation(player).tolist()
                assert seats["mask"][player] == (player == to_act)
            assert seats["action_mask"][to_act].tolist() == state.action_mask().astype(bool).tolist()
            assert seats["action"][to_act] == action
            assert seats["action"].sum() == action  # that of idle seats is 0
            state.apply(action)
            assert step["next", "agents", "reward"][:, 0].tolist() == pytest.approx(state.rewards)
            assert step["next", "agents", "done"].all() == state.is_terminal
        assert replay(name, seed, actions, **options).returns == state.returns


def test_a_seat_is_given_the_same_in_twin_worlds():
    name, options = LEDUC3
    env = example.make_env(name, **options)

    def given(seed, actions, player):
        step = env.reset(seed=seed)
        received = [step["agents"][player]]
        for action in actions:
            step["agents", "action"] = torch.full((3,), action)
            step = env.step(step)["next"]
            received.append(step["agents"][player])
        return [part.to_dict() for part in received]

    for pair in twins(name, **options):
        one, two = (given(seed, pair.actions, pair.player) for seed in pair.seeds)
        assert str(one) == str(two)


def test_idle_seats_do_not_train_the_actor():
    env = example.make_env("leduc_poker_v0")
    actor, critic = example.make_networks(env)
    loss = example.make_loss(actor, critic)
    with torch.no_grad():
        data = env.rollout(20, actor, break_when_any_done=False)
    idle = ~data["agents", "mask"]
    data["advantage"] = torch.where(idle.unsqueeze(-1), 1.0, 0.0)
    data["value_target"] = torch.zeros_like(data["advantage"])
    loss.normalize_advantage = False
    loss(data)["loss_objective"].backward()
    assert all(parameter.grad.abs().max() < 1e-7 for parameter in actor.parameters())


def test_it_learns_where_the_reward_is():
    torch.manual_seed(0)
    actor = example.train(example.make_env("kuhn_poker_v0"), steps=5000)
    assert right_in_kuhn(lambda *seen: example.choose(actor, *seen)) > 0.7
    assert abs(example.mean_return(actor, "kuhn_poker_v0", games=20)) <= 2
