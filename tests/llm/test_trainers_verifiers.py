import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from scripted import fallible, good, play

pytest.importorskip("verifiers.v1")

import verifiers.v1 as vf
from pydantic import ValidationError

from cardenvs.core.errors import OptionError
from cardenvs.llm import TextSeatEnv

LEDUC = "leduc_poker_v0"


class Endpoint:
    """A chat endpoint whose model is a function of the messages."""

    def __init__(self, model):
        self.asked, endpoint = [], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(body["messages"])
                choice = {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": model(body["messages"])},
                }
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                reply = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
                data = json.dumps({**reply, "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.context = vf.ModelContext(
            model="m", client=vf.EvalClientConfig(base_url=f"http://127.0.0.1:{self.server.server_port}/v1")
        )

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


def load(agent=None, **taskset):
    taskset = {"id": "cardenvs-verifiers", "game": LEDUC, **taskset}
    return vf.load_environment(vf.resolve_env_config({"taskset": taskset, "agent": agent or {}}))


def run(env, endpoint, tasks):
    async def episodes():
        async with env.serving():
            return [await env.run_episode(task, endpoint.context) for task in tasks]

    return asyncio.run(episodes())


@pytest.mark.parametrize("game", [LEDUC, "gin_rummy_v0"])
def test_a_rollout_asks_and_scores_what_the_text_environment_does(game):
    env = load(game=game, opponents="random", max_plies=40, failure_reward=-0.5)
    assert type(env).__name__ == "CardEnv"
    tasks = list(env.taskset.take(4 if game == LEDUC else 2))
    assert [task.data.seat for task in tasks] == [0, 1, 0, 1][: len(tasks)]
    with Endpoint(fallible) as endpoint:
        episodes = run(env, endpoint, tasks)
    asked = []
    for task, episode in zip(tasks, episodes, strict=True):
        text_env = TextSeatEnv(game, task.data.seat, "random", max_plies=40, failure_reward=-0.5)
        messages, rewards, infos = play(text_env, fallible, seed=task.data.seed)
        asked += messages
        assert episode.ok, episode.errors
        (trace,) = episode.traces
        assert trace.reward == sum(rewards)
        assert trace.info["returns"] == infos[-1]["returns"]
        outcomes = {name.removeprefix("outcome/"): int(count) for name, count in trace.metrics.items() if count}
        assert outcomes == infos[-1]["outcomes"]
        sampled = [[(m.role, m.content) for m in branch.messages] for branch in trace.branches]
        for one in messages:  # each reply is the end of a branch, or of a prompt that its retry goes on from
            prompt = [(message["role"], message["content"]) for message in one]
            assert any(branch[: len(prompt)] == prompt for branch in sampled)
        assert len(trace.calls) == len(messages)
    assert endpoint.asked == asked


def test_who_is_stopped_by_a_limit_forfeits():
    env = load(agent={"max_turns": 1}, game="gin_rummy_v0", opponents="random")
    with Endpoint(good) as endpoint:
        (episode,) = run(env, endpoint, env.taskset.take(1))
    (trace,) = episode.traces
    assert trace.stop_condition == "max_turns"
    assert len(endpoint.asked) == 1
    assert trace.reward == trace.info["returns"][0] < 0
    assert trace.metrics["outcome/forfeit"] == 1


def test_who_runs_out_of_time_forfeits():
    slow = threading.Event()

    def model(messages):
        slow.wait(3)
        return good(messages)

    env = load(agent={"timeout": {"rollout": 0.5}}, opponents="random")
    with Endpoint(model) as endpoint:
        (episode,) = run(env, endpoint, env.taskset.take(1))
        slow.set()
    (trace,) = episode.traces
    assert trace.is_timeout
    assert trace.reward == trace.info["returns"][0] < 0


def test_an_endpoint_that_fails_is_an_error_and_no_loss():
    def model(messages):
        raise ConnectionError

    env = load(opponents="random")
    with Endpoint(model) as endpoint:
        endpoint.server.handle_error = lambda *args: None
        (episode,) = run(env, endpoint, env.taskset.take(1))
    assert not episode.ok
    assert episode.traces[0].rewards.get("seat_return") is None


def test_tasks_repeat_and_hold_no_cards():
    tasks, again = (list(load(first_seed=100).taskset.take(5)) for _ in range(2))
    assert [task.hash for task in tasks] == [task.hash for task in again]
    assert [task.data.seed for task in tasks] == [100, 101, 102, 103, 104]
    assert {task.data.prompt for task in tasks} == {"Play a game of Leduc poker."}


def test_a_system_prompt_of_the_user_replaces_that_of_matches(tmp_path):
    (tmp_path / "prompt.txt").write_text("Answer with tags.")
    env = load(opponents="random", system_prompt=str(tmp_path / "prompt.txt"))
    with Endpoint(good) as endpoint:
        run(env, endpoint, env.taskset.take(1))
    assert {messages[0]["content"] for messages in endpoint.asked} == {"Answer with tags."}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"game": "bridge"}, "bridge"),
        ({"seat": 5}, "seat takes a player from 0 to 1"),
        ({"opponents": "nobody"}, "nobody"),
        ({"options": {"colour": 1}}, "colour"),
        ({"prompt": {"colour": 1}}, "fields of PromptSettings.*colour"),
        ({"prompt": {"answer": "song"}}, "answer is one of"),
        ({"first_seed": -1}, "first_seed"),
    ],
)
def test_settings_that_cannot_be_used(settings, text):
    with pytest.raises(ValidationError, match=text):
        load(**settings)


def test_a_game_has_to_be_chosen():
    with pytest.raises(OptionError, match=r"set taskset\.game to one of .*gin_rummy_v0"):
        load(game="")


def test_the_harness_says_where_it_runs():
    env = load(agent={"runtime": {"type": "docker"}})
    harness = env._harnesses["agent"]
    runtime, data = SimpleNamespace(config=vf.DockerConfig()), next(iter(env.taskset)).data
    with pytest.raises(vf.HarnessError, match=r"set runtime\.type to subprocess"):
        asyncio.run(harness.launch(None, None, runtime, "", "", {}, data))
