"""What an endpoint may not do: give back a key, hide text from readers, or write without bounds."""

import base64
import copy
import json
import pickle
from urllib.parse import quote

import pytest

import cardenvs
from cardenvs.agents import Turn
from cardenvs.core.errors import AgentError
from cardenvs.llm import LLMAgent, LLMConfig
from cardenvs.llm.agent import config_of
from cardenvs.llm.answers import OUTCOMES
from cardenvs.llm.client import LONGEST_REPLY, Call, _cleaned, _read_body
from cardenvs.llm.transcript import read_calls, transcript_of

KUHN = cardenvs.get_game("kuhn_poker_v0")
KEY = 'sk-"live"/0123456789\u00e9'
SECRETS = (KEY, "pass word", "user:pass word")


def body(text="x", finish="stop", **further):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return json.dumps({"choices": [choice], **further}).encode()


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "written",
    [
        str,
        lambda key: json.dumps(key)[1:-1],
        lambda key: repr(key)[1:-1],
        lambda key: quote(key, safe=""),
        lambda key: base64.b64encode(key.encode()).decode(),
    ],
    ids=["plain", "json", "repr", "quoted", "base64"],
)
def test_secrets_do_not_come_back_by_any_member(secret, written):
    told = written(secret)
    for call in (
        _read_body(body(f"a {told} b")),
        _read_body(body("x", told)),
        _read_body(body("x", "x" * 30 + told)),
        Call("transport", reason=f"HTTP 500: {told}"),
    ):
        kept = _cleaned(call, SECRETS, 0.0)
        text = f"{kept.reply} {kept.reason} {kept.finish_reason}"
        assert told not in text
        assert secret not in text


def test_what_is_kept_of_a_call_is_bounded_and_plain():
    call = _read_body(body("x" * (3 << 20), "f" * 100_000 + "\x1b[2J", usage={"prompt_tokens": 10**30}))
    kept = _cleaned(call, SECRETS, 0.0)
    assert len(kept.reply) <= LONGEST_REPLY
    assert len(kept.finish_reason) <= 40
    assert kept.finish_reason.isprintable()
    assert kept.tokens == {}
    odd = _cleaned(Call("transport", reason="\x1b[2J\u202e" * 10_000), SECRETS, 0.0)
    assert odd.reason.isprintable()
    assert len(odd.reason) <= 500


def test_a_password_in_the_address_is_shown_nowhere(tmp_path):
    config = LLMConfig.of(
        {"base_url": "http://user:pass%20word@127.0.0.1:9/v1?api-key=hidden", "model": "m", "transport_retries": 0,
         "attempts": 1, "transcript": str(tmp_path / "calls.jsonl")},
        {"LLM_API_KEY": KEY},
    )  # fmt: skip
    agent, turn = LLMAgent(KUHN, KUHN.make_options(), config), Turn(KUHN.new_state(seed=1), 1)
    with pytest.raises(AgentError) as failed:
        agent.act(turn)
    shown = " ".join(
        map(str, [
            config, [config], vars(agent), agent, config.conditions(), config.fingerprint(), failed.value, turn.notes,
            turn.failures, pickle.dumps(config), list(read_calls(tmp_path / "calls.jsonl")), config.base_url,
        ])
    )  # fmt: skip
    for secret in ("pass%20word", "pass word", "user:", KEY, "sk-"):
        assert secret not in shown
    assert "hidden" not in str(config)
    assert config.credentials.reveal() == "user:pass%20word"
    assert set(config.secrets) >= {KEY, "pass word", "user:pass%20word", "api-key=hidden"}


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://x", "x", "http://[", "http://x:99999999", "javascript:alert(1)"]
)
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(AgentError, match="base_url is"):
        LLMConfig.of({"base_url": address, "model": "m"}, {})


@pytest.mark.parametrize("setting", ["base_url=http://192.0.2.1", "api_key_env=HOME", "transcript=/tmp/x", "extra={}"])
def test_a_spec_says_neither_address_nor_key_nor_file(setting):
    with pytest.raises(AgentError, match="cannot be set in a spec, which may come from anybody"):
        config_of(f"first_candidate,{setting}")


def test_names_of_models_are_plain():
    with pytest.raises(AgentError, match=r"a language model is called 'a.x1b.0m'; a name has no control"):
        LLMConfig.of({"name": "a\x1b[0m", "policy": "first_candidate"}, {})


FAULTS = {
    "nothing": b"", "no_json": b"<html>", "null": b"null", "list": b"[]", "text": b'"x"', "number": b"7",
    "no_choices": b"{}", "choices_null": b'{"choices": null}', "choices_empty": b'{"choices": []}',
    "choices_object": b'{"choices": {"0": 1}}', "choice_null": b'{"choices": [null]}',
    "choice_list": b'{"choices": [[]]}',
    "message_null": b'{"choices": [{"message": null}]}', "message_text": b'{"choices": [{"message": "x"}]}',
    "content_number": body(7), "content_list": body([{"type": "text", "text": "x"}]), "content_object": body({"a": 1}),
    "content_null": body(None), "blank": body(" \n\t"), "finish_number": body("x", 7),
    "finish_list": body("x", ["stop"]),
    "length": body("x", "length"), "deep": b"[" * 200_000, "deep_content": b'{"choices": ' + b"[" * 100_000,
    "long_number": b'{"choices": ' + b"9" * 10_000 + b"}", "no_utf8": b'{"choices": "\xff"}', "zeros": bytes(1000),
    "usage_odd": body(usage=[1]), "usage_negative": body(usage={"prompt_tokens": -5}), "half": body()[:20],
    "usage_true": body(usage={"prompt_tokens": True}), "surrogates": body("\ud800"),
    "escapes": body("\x1b[2J\x00\u202e"),
    "nan": b'{"choices": NaN}',
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_response_is_a_call_like_others(fault):
    call = _cleaned(_read_body(FAULTS[fault]), SECRETS, 0.0)
    assert call.outcome in OUTCOMES
    assert call.reason.isprintable()
    json.dumps(call.reply).encode()
    assert all(count >= 0 for count in call.tokens.values())
    assert call.finish_reason is None or call.finish_reason.isprintable()


def test_there_are_many_faults():
    assert len(FAULTS) >= 25


@pytest.mark.parametrize("setting", ["path=/etc/passwd", "environ=x", "name=x"])
def test_a_spec_does_not_choose_the_file_of_models(setting):
    with pytest.raises(AgentError, match=f"{setting.partition('=')[0]} is no setting of a language model"):
        config_of(f"mini,{setting}")


def test_a_copy_has_the_key_and_a_pickle_has_not():
    config = LLMConfig.of({"base_url": "http://x", "model": "m"}, {"LLM_API_KEY": "K"})
    assert config.api_key.reveal() == "K"
    assert copy.deepcopy(config).api_key.reveal() == copy.copy(config).api_key.reveal() == "K"
    assert pickle.loads(pickle.dumps(config)).api_key.reveal() == ""


def test_a_transcript_stays_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    transcript = transcript_of("t.jsonl")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    transcript.add("system", {"reply": "c0"})
    assert [call["system_text"] for call in read_calls(tmp_path / "t.jsonl")] == ["system"]
