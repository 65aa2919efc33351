import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from typer.testing import CliRunner

import cardenvs
from cardenvs.agents import Turn
from cardenvs.cli import app
from cardenvs.core.rng import derived_seed
from cardenvs.core.text import printable
from cardenvs.llm import LLMAgent, LLMConfig, PromptSettings
from cardenvs.llm.prompt import write_prompt
from cardenvs.llm.transcript import Transcript, read_calls

LEDUC = cardenvs.get_game("leduc_poker_v0")


def call(*words, **environ):
    environ = {"COLUMNS": "160", "TERM": "dumb", **environ}
    result = CliRunner().invoke(app, list(words), env=environ)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# ---------------------------------------------------------------------------------------------------------------
# prompt


def test_prompt_prints_exactly_what_a_model_gets(every_game):
    state = every_game.new_state(seed=7)
    for k in range(2):
        if not state.is_terminal:
            state.apply(state.policy_action("random", derived_seed(7, "prompt", k)))
    if state.is_terminal:
        pytest.skip("over after two actions")
    words = ["prompt", every_game.name, "--seed", "7", "--ply", "2", "--player", str(state.current_player)]
    wanted = write_prompt(Turn(state, 7), PromptSettings())
    assert json.loads(call(*words, "--json").stdout) == wanted.messages
    shown = call(*words).stdout
    assert shown == f"--- system ---\n{wanted.system}\n--- user ---\n{wanted.user}\n"


def test_prompt_takes_settings_options_and_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["prompt", "texas_holdem_v0", "-o", "num_players=3", "-o", "format=cash"]
    shown = call(*words, "--set", "answer=game", "--set", "candidates=false", "--set", "rules=false").stdout
    assert '{"action": "raise", "amount": N}' in shown
    assert '- format: "cash"' in shown
    assert "# Rules" not in shown
    (tmp_path / "llm.yaml").write_text("models: {m: {base_url: 'http://h/v1', model: m, prompt: {recap: 2}}}\n")
    assert "earlier events are left out" in call(*words, "--model", "m").stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--ply", "99"], "the game is over after"),
        (
            ["--set", "rule=false"],
            "no such setting of prompts; did you mean 'rules'? they are candidates, rules, recap,",
        ),
        (["--set", "base_url=http://h"], "--set base_url: no such setting of prompts"),
        (["--player", "1"], "player_0 is to act, not player_1"),
        (["--set", "recap"], "--set takes NAME=VALUE"),
        (["--set", "recap=lots"], "recap"),
        (["--set", "candidates=false"], "not listed"),
    ],
)
def test_prompt_refuses_what_it_cannot_show(words, reason):
    result = call("prompt", "leduc_poker_v0", *words)
    assert result.exit_code == 2
    assert reason in result.stderr
    assert "Traceback" not in result.output


# ---------------------------------------------------------------------------------------------------------------
# transcript


@pytest.fixture
def transcript(tmp_path):
    file = tmp_path / "calls.jsonl"
    script = ["nothing\x1b[2J", '<answer>{"id":"c0"}</answer>', "[red]no[/red]", '<answer>{"id":"c1"}</answer>']
    for name in ("a", "b"):
        config = LLMConfig.of({"name": name, "policy": "scripted", "script": script, "transcript": str(file)}, {})
        agent = LLMAgent(LEDUC, LEDUC.make_options(), config)
        for seed in range(2):
            agent.reset(seed)
            agent.act(Turn(LEDUC.new_state(seed=seed), seed))
    return file


def test_transcript_show_lists_counts_and_filters(transcript):
    shown = call("transcript", "show", str(transcript)).stdout
    assert len(re.findall(r"^ +\d+ [ab] ", shown, re.MULTILINE)) == 8
    assert re.search(r"^a +unparsable 2, ok 2 +4 ", shown, re.MULTILINE)
    only = call("transcript", "show", str(transcript), "--agent", "b", "--outcome", "ok").stdout
    assert len(re.findall(r"^ +\d+ b ", only, re.MULTILINE)) == 2
    assert "unparsable" not in only


def test_transcript_show_prints_a_call_whole_and_printable(transcript):
    shown = call("transcript", "show", str(transcript), "--call", "1").stdout
    assert "You are a player in a game of Leduc poker" in shown
    assert "# Candidates" in shown
    assert "nothing\\x1b[2J" in shown
    assert "\x1b" not in shown
    assert "[red]no[/red]" in call("transcript", "show", str(transcript), "--call", "3").stdout
    result = call("transcript", "show", str(transcript), "--call", "9")
    assert result.exit_code == 2
    assert "8 such calls" in result.stderr
    result = call("transcript", "show", str(transcript), "--outcome", "nope")
    assert result.exit_code == 2
    assert "--outcome nope: no call in" in result.stderr
    assert "there are ok, unparsable" in " ".join(result.stderr.split())


def test_a_transcript_that_was_cut_short_is_read_up_to_there(transcript):
    whole = transcript.read_bytes()
    transcript.write_bytes(whole[:-40])
    assert len(list(read_calls(transcript))) == 7
    transcript.write_bytes(b"{]\n" + whole)
    result = call("transcript", "show", str(transcript))
    assert result.exit_code == 2
    assert "line 1 does not belong to a transcript" in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "system"}',
        '{"type": "system", "id": [], "text": ""}',
        '{"type": ["call"]}',
        '{"type": "call", "system": {}}',
        '{"type": "call", "seconds": "x"}',
        '{"type": "call", "tokens": 5}',
        '{"type": "call", "tokens": {"prompt": 1e999}}',
    ],
)
def test_a_line_that_nobody_would_have_written_is_refused_in_words(transcript, line):
    transcript.write_text(line + "\n")
    for words in ([], ["--call", "1"]):
        result = call("transcript", "show", str(transcript), *words)
        assert result.exit_code == 2
        assert "line 1 does not belong to a transcript" in result.stderr


def test_what_a_terminal_would_act_upon_is_written_out():
    assert printable("a\x1b[31m\x00\x9b\u202eb\tc\nd") == "a\\x1b[31m\\x00\\x9b\\u202eb\tc\nd"


def test_transcripts_of_many_writers_have_whole_lines(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    one, other = Transcript(tmp_path / "t.jsonl"), Transcript(tmp_path / "t.jsonl")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda k: (one, other)[k % 2].add("system", {"k": k, "reply": "x" * 20_000}), range(200)))
    calls = list(read_calls(tmp_path / "t.jsonl"))
    assert sorted(call["k"] for call in calls) == list(range(200))
    assert {call["system_text"] for call in calls} == {"system"}


# ---------------------------------------------------------------------------------------------------------------
# llm-stub


def test_llm_stub_serves_anybody(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["llm-stub", "--port", str(port), "--fault", "garbage=0.2", "--fault", "broken=0.1", "--seed", "3"]
    server = subprocess.Popen([sys.executable, "-m", "cardenvs", *words], stderr=subprocess.PIPE)
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while True:
            try:
                models = json.load(urllib.request.urlopen(f"{url}/v1/models"))
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert models["data"][0]["id"] == "stub"
        file = tmp_path / "calls.jsonl"
        environ = {"LLM_BASE_URL": f"{url}/v1", "LLM_MODEL": "stub", "LLM_TRANSCRIPT": str(file)}
        environ["CARDENVS_QUIET"] = "1"
        done = subprocess.run(
            [sys.executable, "-m", "cardenvs", "match", "kuhn_poker_v0", "--agents", "llm:env,attempts=9,random",
             "--deals", "8", "--seed", "1"],
            env={**os.environ, **environ}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "llm:env,attempts=9" in done.stdout
        served = json.load(urllib.request.urlopen(f"{url}/stub/served"))
        assert served["requests"] == len(list(read_calls(file))) > 8
        assert set(served["served"]) <= {"good", "garbage", "broken"}
        reset = urllib.request.Request(f"{url}/stub/reset", method="POST")
        assert json.load(urllib.request.urlopen(reset)) == {"requests": 0, "served": {}}
        wrong = urllib.request.Request(f"{url}/v1/chat/completions", data=b"[]", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(wrong)
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--fault", "slow"], "--fault takes NAME=VALUE"),
        (["--fault", "lazy=0.1"], "no fault lazy"),
        (["--fault", "slow=0.7", "--fault", "empty=0.7"], "add up to 1 at most"),
        (["--pick", "best"], "pick is first, last or random"),
    ],
)
def test_llm_stub_refuses_what_it_cannot_serve(words, reason):
    result = call("llm-stub", *words)
    assert result.exit_code == 2
    assert reason in result.stderr
