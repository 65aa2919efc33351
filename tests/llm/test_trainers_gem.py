import random

import pytest
from scripted import fallible, good, play

gem = pytest.importorskip("gem", exc_type=ImportError)

import cardenvs  # noqa: E402
import cardenvs.llm.trainers.gem  # noqa: E402
from cardenvs.core.errors import OptionError  # noqa: E402
from cardenvs.llm import TextSeatEnv  # noqa: E402
from cardenvs.llm.trainers import as_text  # noqa: E402

LEDUC = "cardenvs/leduc_poker_v0"


def episode(env, model, seed=None):
    observation, info = env.reset(seed=seed)
    seen, rewards, over = [], [], False
    while not over:
        assert observation == as_text(info["messages"])
        seen.append(info["messages"])
        observation, reward, terminated, truncated, info = env.step(model(info["messages"]))
        rewards.append(reward)
        over = terminated or truncated
    assert observation == ""
    return seen, rewards, info


@pytest.mark.parametrize("name", cardenvs.list_games())
def test_every_game_is_made_and_plays_as_the_text_environment(name):
    env = gem.make(f"cardenvs/{name}", seat=1, opponents="random", max_plies=40)
    assert isinstance(env, gem.Env)
    seen, rewards, info = episode(env, fallible, seed=3)
    expected = play(TextSeatEnv(name, seat=1, opponents="random", max_plies=40), fallible, seed=3)
    assert (seen, rewards) == expected[:2]
    assert info == {**expected[2][-1], "messages": []}


def test_the_seed_of_a_deal_determines_the_seat_and_no_global_generator():
    env = gem.make(LEDUC, opponents="random")
    random.seed(1)
    following = random.random()
    random.seed(1)
    episodes = [episode(env, good, seed=seed) for seed in range(8)]
    assert random.random() == following
    assert {info["player"] for *_, info in episodes} == {0, 1}
    assert episodes == [episode(env, good, seed=seed) for seed in range(8)]
    for _, rewards, info in episodes:
        assert sum(rewards) == info["returns"][info["player"]]


def test_vectors_of_environments_have_different_deals():
    vector = gem.make_vec([LEDUC] * 4, seed=5, opponents="random")
    observations, infos = vector.reset()
    assert len(set(observations)) > 1
    again, _ = gem.make_vec([LEDUC] * 4, seed=5, opponents="random").reset()
    assert again == observations
    for _ in range(20):
        observations, rewards, _, _, infos = vector.step(
            [good(info["messages"]) if info["messages"] else "" for info in infos]
        )
    assert rewards.shape == (4,)


def test_spawned_environments_have_the_same_settings_or_the_same_position():
    env = gem.make(LEDUC, opponents="random", retries=0)
    observation, info = env.reset(seed=2)
    twin, fresh = env.spawn(same_state=True), env.spawn(retries=5)
    assert fresh.text_env.retries == 5
    assert fresh.reset(seed=2)[0] == observation
    reply = good(info["messages"])
    assert twin.step(reply) == env.step(reply)
    with pytest.raises(ValueError, match="takes no other settings; got retries"):
        env.spawn(same_state=True, retries=1)
    with pytest.raises(OptionError, match="colour"):
        gem.make(LEDUC, colour=1)
