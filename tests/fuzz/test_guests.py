"""Fuzzers of what strangers send: bundles, checkpoints, answers of language models."""
# ruff: noqa: PT017  what is sent may be accepted, too

import contextlib
import io
import json
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardenvs.agents import Turn
from cardenvs.arena.bundle import check_agent, opened_bundle
from cardenvs.core.errors import ArenaError, CardenvsError
from cardenvs.core.registry import get_game
from cardenvs.core.text import check_name, csv_cell, one_line, printable
from fuzz import examples

pytest.importorskip("yaml")

KUHN = get_game("kuhn_poker_v0")
QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
TEXT = st.text(max_size=60) | st.sampled_from(
    ["../x", "/etc/passwd", "\x1b[2J", "a\u202eb", "x" * 5000, "{bundle}/../x"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SPECS = st.builds(
    "{}:{}".format, st.sampled_from(["python", "process", "ppo", "search", "llm", "random", "x"]), TEXT
) | st.sampled_from(["python:bot:make", "process:python3 bot.py", "random", "search"])


def opened(path):
    """Open and check a bundle. Whatever is wrong is said in a line."""
    try:
        with opened_bundle(str(path)) as bundle:
            if bundle.agent is not None:
                check_agent(bundle, KUHN)
            assert bundle.name.isprintable()
    except CardenvsError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 4000


@settings(max_examples=examples(60, 20_000), **QUICK)
@given(manifest=st.binary(max_size=200) | JSON.map(json.dumps).map(str.encode) | st.fixed_dictionaries(
    {"name": TEXT}, optional={"agent": SPECS, "further": JSON}).map(json.dumps).map(str.encode))  # fmt: skip
def test_manifests(tmp_path_factory, manifest):
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "submission.yaml").write_bytes(manifest)
    (folder / "bot.py").write_text("")
    opened(folder)


@settings(max_examples=examples(60, 20_000), **QUICK)
@given(
    entries=st.dictionaries(TEXT.filter(bool), st.binary(max_size=300), max_size=5),
    attributes=st.sampled_from([0, 0o120777, 0o010644, 0o060644, 0o100755, 0o040755]),
    flips=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), max_size=4),
    cut=st.none() | st.integers(0, 1 << 20),
)
def test_zip_files(tmp_path_factory, entries, attributes, flips, cut):
    folder = tmp_path_factory.mktemp("zip")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("submission.yaml", "name: x\nagent: random\n")
        for name, content in entries.items():
            with contextlib.suppress(UnicodeEncodeError):
                info = zipfile.ZipInfo(name)
                info.external_attr = attributes << 16
                archive.writestr(info, content)
    damaged = bytearray(data.getvalue())
    for place, bits in flips:
        damaged[place % len(damaged)] ^= bits
    path = folder / "bundle.zip"
    path.write_bytes(damaged[: None if cut is None else cut % len(damaged)])
    opened(path)
    assert [entry.name for entry in folder.iterdir()] == ["bundle.zip"]


@settings(max_examples=examples(100, 50_000), **QUICK)
@given(data=JSON.map(json.dumps).map(str.encode) | st.binary(max_size=300) | st.fixed_dictionaries({
    "choices": st.lists(st.fixed_dictionaries({}, optional={"message": JSON, "finish_reason": JSON}), max_size=2),
    "usage": JSON}).map(json.dumps).map(str.encode))  # fmt: skip
def test_responses_of_language_models(data):
    client = pytest.importorskip("cardenvs.llm.client")
    call = client._cleaned(client._read_body(data), ("sk-secret",), 0.0)
    json.dumps([call.reply, call.reason, call.finish_reason, call.tokens]).encode()
    assert call.reason.isprintable()
    assert call.finish_reason is None or (len(call.finish_reason) <= 40 and call.finish_reason.isprintable())


ANSWERS = st.lists(
    st.sampled_from(["<answer>", "</answer>", '{"id":"c0"}', '{"id":"c9"}', '{"move":"bet"}', "{", "}", "[", '"', "c0"])
    | TEXT | JSON.map(json.dumps),
    max_size=12,
).map("".join)  # fmt: skip


@settings(max_examples=examples(100, 50_000), **QUICK)
@given(reply=ANSWERS)
def test_answers_of_language_models(reply):
    from cardenvs.llm.answers import ILLEGAL, UNPARSABLE, AnswerError, read_answer
    from cardenvs.llm.prompt import PromptSettings, write_prompt

    for settings_ in (PromptSettings(), PromptSettings(answer="label")):
        turn = Turn(KUHN.new_state(seed=1), 1)
        try:
            actions = read_answer(reply, write_prompt(turn, settings_), turn)
            assert actions[0] in turn.legal_actions
        except AnswerError as error:
            assert error.outcome in (ILLEGAL, UNPARSABLE)


@settings(max_examples=examples(100, 100_000), **QUICK)
@given(text=st.text(max_size=300))
def test_texts(text):
    shown = printable(text)
    assert printable(shown) == shown
    assert one_line(text).isprintable()
    shown.encode()
    assert not str(csv_cell(text)).startswith(("=", "+", "-", "@", "\t", "\r"))
    with contextlib.suppress(ArenaError):
        assert printable(check_name(text, "it", ArenaError)) == text


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The bytes of a checkpoint."""
    pytest.importorskip("torch")
    from cardenvs.training.config import Config
    from cardenvs.training.limits import Limits
    from cardenvs.training.ppo import Run

    path = tmp_path_factory.mktemp("checkpoint") / "latest.pt"
    run = Run(KUHN, Config(num_envs=2, rollout_steps=2, hidden=(4,), epochs=1, minibatches=1), Limits(8))
    run.advance()
    run.save(path)
    return path


def places(tree, path=()):
    """Every place in a checkpoint."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for name, value in items:
        yield from places(value, (*path, name))


@settings(max_examples=examples(60, 20_000), **QUICK)
@given(data=st.data())
def test_checkpoints(checkpoint, data):
    import copy

    import torch

    from cardenvs.agents.checkpoint_file import read_checkpoint
    from cardenvs.training.ppo import Run

    tree = copy.deepcopy(read_checkpoint(checkpoint))
    for _ in range(data.draw(st.integers(1, 3))):
        *parents, last = data.draw(st.sampled_from([place for place in places(tree) if place]))
        place = tree
        for name in parents:
            place = place[name]
        old = place[last]
        if isinstance(old, torch.Tensor) and data.draw(st.booleans()):
            number = data.draw(st.sampled_from([0, 1, -1, 127, 255, float("nan"), 1e30]))
            changes = [
                lambda t, n=number: torch.full_like(t, n if t.is_floating_point() or t.dtype == torch.bool
                                                    else max(0, int(n) if n == n else 0) % 128),
                lambda t: t.reshape(-1)[:1], lambda t: t.double(), lambda t: t[..., None], lambda t: t.to(torch.int16),
            ]  # fmt: skip
            place[last] = data.draw(st.sampled_from(changes))(old)
        else:
            place[last] = data.draw(JSON)
    path = checkpoint.with_name("changed.pt")
    torch.save(tree, path)
    try:
        Run.restore(path).advance()
    except CardenvsError as error:
        assert len(str(error).splitlines()) == 1
