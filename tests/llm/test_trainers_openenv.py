import socket
import threading
import time

import pytest
from scripted import fallible, good, play

pytest.importorskip("openenv.core")

import uvicorn
from openenv.core import GenericEnvClient
from openenv.core.env_server import Environment

import cardenvs
from cardenvs.core.errors import AgentError, GameNotFoundError, OptionError
from cardenvs.llm import TextSeatEnv
from cardenvs.llm.trainers.openenv import CardAction, CardEnvClient, CardEnvironment, create_app

LEDUC = "leduc_poker_v0"


def episode(env, model, **reset):
    """Play an episode of an environment or, by its results, of a client."""
    observation = env.reset(**reset)
    seen, rewards = [], []
    while True:
        observation = getattr(observation, "observation", observation)
        if observation.done:
            return seen, rewards, observation
        seen.append(observation.messages)
        result = env.step(CardAction(text=model(observation.messages)))
        rewards.append(result.reward)
        observation = result


@pytest.fixture(scope="module")
def server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = create_app(LEDUC, opponents="random", max_concurrent_envs=4)
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    running.should_exit = True
    thread.join()


@pytest.mark.parametrize("name", cardenvs.list_games())
def test_every_game_plays_as_the_text_environment(name):
    env = CardEnvironment(name, seat=1, opponents="random", max_plies=40)
    assert isinstance(env, Environment)
    seen, rewards, last = episode(env, fallible, seed=3)
    messages, expected, infos = play(TextSeatEnv(name, seat=1, opponents="random", max_plies=40), fallible, seed=3)
    assert (seen, rewards) == (messages, expected)
    assert (last.returns, last.outcomes, last.player) == (infos[-1]["returns"], infos[-1]["outcomes"], 1)
    env.close()


def test_a_client_plays_through_a_server(server):
    with CardEnvClient(server).sync() as client, CardEnvClient(server).sync() as other:
        other.reset(seed=1)
        seen, rewards, last = episode(client, fallible, seed=7, episode_id="mine")
        assert (seen, rewards) == episode(CardEnvironment(LEDUC, opponents="random"), fallible, seed=7)[:2]
        assert sum(rewards) == last.returns[last.player]
        state = client.state()
        assert (state.episode_id, state.step_count, state.game) == ("mine", len(seen), LEDUC)
        assert {episode(client, good, seed=seed)[2].player for seed in range(8)} == {0, 1}
        assert client.reset(seed=7, seat=1, options={"num_players": 3}).observation.player == 1
        with pytest.raises(Exception, match="unknown option"):
            client.reset(options={"prompt": 1})
        with pytest.raises(Exception, match="seat takes a player from 0 to 1"):
            client.reset(seat=4)
        assert client.reset(seed=7).observation.messages == seen[0]
    with GenericEnvClient(base_url=server).sync() as generic:
        assert generic.reset(seed=7).observation["messages"] == seen[0]
        assert generic.step({"text": "?"}).observation["outcome"] == "unparsable"


def test_a_step_without_a_reset_is_an_error_with_words(server):
    with CardEnvClient(server).sync() as client, pytest.raises(Exception, match="call reset"):
        client.step(CardAction(text="x"))


@pytest.mark.parametrize("opponents", ["python:os:getcwd", "process:true", ["llm:env"], "search:simulations=1000000"])
def test_clients_cannot_choose_agents_that_run_programs(opponents):
    env = CardEnvironment(LEDUC)
    with pytest.raises(AgentError, match="among the policies of leduc_poker_v0, random; got"):
        env.reset(opponents=opponents)
    assert env.reset(seed=1, opponents="random").messages


def test_neither_observation_nor_state_depends_on_what_the_seat_cannot_see():
    env, twin = CardEnvironment(LEDUC, opponents="random"), CardEnvironment(LEDUC, opponents="random")
    differing = 0
    for seed in range(20):
        observation = env.reset(seed=seed, episode_id="e")
        twin.reset(seed=seed, episode_id="e")
        inner = twin._env._env
        inner._state = inner._state.determinize(observation.player, seed + 1)
        differing += inner._state.to_bytes() != env._env.game_state.to_bytes()
        twin._env._ask()
        action = CardAction(text="?")
        assert twin.step(action) == env.step(action)
        assert twin.state == env.state
    assert differing > 5


def test_settings_that_cannot_be_used_fail_when_the_server_is_made():
    with pytest.raises(GameNotFoundError):
        create_app("bridge")
    with pytest.raises(OptionError, match="retries"):
        create_app(LEDUC, retries=-1)
