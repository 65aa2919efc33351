"""Saved states, replays and batches that were cut, edited or made up: refused in words, or the same game again.

Edits come with a digest that fits, as from somebody who means it.
"""

import copy
import hashlib
import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cardenvs
from cardenvs.core.errors import FormatError
from cardenvs.core.saved_state import _MAGIC
from cardenvs.envs.raw_aec import _MAGIC as _AEC_MAGIC
from cardenvs.envs.raw_aec import RawEnv
from fuzz import ANYTHING, VALUES, long, says_why, short

LEDUC, KUHN = cardenvs.get_game("leduc_poker_v0"), cardenvs.get_game("kuhn_poker_v0")
_DIGEST = 32


def played(game=LEDUC, seed=4, plies=5):
    """A state in the middle of a game."""
    state, chooser = game.new_state(seed=seed), random.Random(seed)
    for _ in range(plies):
        state.apply(chooser.choice(state.legal_actions()))
        if state.is_terminal:
            state = game.new_state(seed=seed + 1)
    return state


def resealed(magic, body):
    return magic + hashlib.sha256(body).digest() + body


def body_of(data, magic):
    return data[len(magic) + _DIGEST :]


def refused_or_whole(load):
    """Load, play what was loaded to its end, and show it; or be refused by a FormatError of a line."""
    try:
        state = load()
    except FormatError as error:
        says_why(error)
        return
    while not state.is_terminal:
        state.observation(0)
        state.apply(state.legal_actions()[-1])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def edited(draw, header):
    """A header with an entry changed, dropped or added, or an action."""
    header = copy.deepcopy(header)
    name = draw(st.sampled_from([*header, "more"]))
    way = draw(st.sampled_from(["value", "drop", "entry", "longer"]))
    if way == "drop":
        header.pop(name, None)
    elif way == "entry" and isinstance(header.get(name), list) and header[name]:
        header[name][draw(st.integers(0, len(header[name]) - 1))] = draw(JSON | st.integers(-2, 2**31))
    elif way == "longer" and isinstance(header.get(name), list):
        header[name] += draw(st.lists(st.integers(-1, 3), max_size=4))
    elif isinstance(header.get(name), dict) and header[name] and way != "value":
        header[name][draw(st.sampled_from([*header[name], "x"]))] = draw(JSON)
    else:
        header[name] = draw(JSON)
    return header


# ---------------------------------------------------------------------------------------------------------------
# States


def try_state_header(draw, game=LEDUC):
    line, _, rest = body_of(played(game).to_bytes(), _MAGIC).partition(b"\n")
    data = resealed(_MAGIC, json.dumps(edited(draw, json.loads(line))).encode() + b"\n" + rest)
    refused_or_whole(lambda: game.from_bytes(data))


def try_state_bytes(draw, game=LEDUC):
    body = bytearray(body_of(played(game).to_bytes(), _MAGIC))
    for _ in range(draw(st.integers(1, 4))):
        body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    body = bytes(body[: draw(st.integers(0, len(body)))] if draw(st.booleans()) else body)
    refused_or_whole(lambda: game.from_bytes(resealed(_MAGIC, body)))


def try_position(draw):
    env = RawEnv(LEDUC, num_players=3)
    env.reset(seed=5)
    for _ in range(draw(st.integers(0, 3))):
        env.step(1)
    line, _, rest = body_of(env.get_state(), _AEC_MAGIC).partition(b"\n")
    data = resealed(_AEC_MAGIC, json.dumps(edited(draw, json.loads(line))).encode() + b"\n" + rest)
    try:
        env.set_state(data)
    except FormatError as error:
        says_why(error)
    for _ in range(60):
        if not env.agents:
            break
        _, _, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else int(np.argmax(info["action_mask"])))
    assert not env.agents


@pytest.mark.parametrize(("name", "agent"), [("terminations", "player_0"), ("truncations", "player_1")])
def test_a_position_cannot_put_a_player_out_who_is_in_the_game(name, agent):
    env = RawEnv(LEDUC, num_players=3)
    env.reset(seed=5)
    before = env.get_state()
    line, _, rest = body_of(before, _AEC_MAGIC).partition(b"\n")
    header = json.loads(line)
    header[name][agent] = True
    with pytest.raises(FormatError, match="are out among"):
        env.set_state(resealed(_AEC_MAGIC, json.dumps(header).encode() + b"\n" + rest))
    assert env.get_state() == before


TRIALS = {"header": try_state_header, "bytes": try_state_bytes, "position": try_position}


@pytest.mark.parametrize("name", TRIALS)
def test_saved_state(name):
    given(st.data())(short(80)(lambda data: TRIALS[name](data.draw)))()


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIALS)
def test_saved_state_long(name):
    given(st.data())(long(80)(lambda data: TRIALS[name](data.draw)))()


@pytest.mark.parametrize("name", cardenvs.list_games())
@pytest.mark.slow
def test_saved_states_of_every_game(name):
    game = cardenvs.get_game(name)
    given(st.data())(short(200)(lambda data: try_state_header(data.draw, game)))()
    given(st.data())(short(200)(lambda data: try_state_bytes(data.draw, game)))()


def test_every_truncation_is_refused():
    data = played().to_bytes()
    body = body_of(data, _MAGIC)
    for cut in range(len(body)):
        with pytest.raises(FormatError):
            LEDUC.from_bytes(resealed(_MAGIC, body[:cut]))


def test_an_edited_record_is_refused():
    body = body_of(played().to_bytes(), _MAGIC)
    start = body.index(b"\n") + 1
    for value in (0, 127, 128, 255):
        record = bytes([value]) * (len(body) - start)
        with pytest.raises(FormatError, match="lead to another position"):
            LEDUC.from_bytes(resealed(_MAGIC, body[:start] + record))


def test_a_header_nested_beyond_recursion_is_refused():
    deep = b"[" * 100_000 + b"]" * 100_000
    for body in (deep, b'{"game": ' + deep + b"}", b'{"seed": ' + b"9" * 10_000 + b"}", b"\xff", b"[]", b"null"):
        with pytest.raises(FormatError):
            LEDUC.from_bytes(resealed(_MAGIC, body + b"\n"))
        env = RawEnv(LEDUC)
        env.reset(seed=1)
        with pytest.raises(FormatError):
            env.set_state(resealed(_AEC_MAGIC, body + b"\n"))


def test_what_cannot_be_played_again_is_taken_from_a_trusted_source_only():
    state = played()
    twin = state.determinize(state.current_player, 1)
    vec = cardenvs.make_vec("leduc_poker_v0", 2)
    vec.reset()
    for one in (twin, vec.state(0)):
        with pytest.raises(FormatError, match="trusted=True"):
            LEDUC.from_bytes(one.to_bytes())
        assert LEDUC.from_bytes(one.to_bytes(), trusted=True).record_bytes() == one.record_bytes()


@pytest.mark.parametrize(
    "data", [None, "text", 3, b"", bytearray(b"x"), memoryview(b"x"), [b"x"]], ids=lambda data: type(data).__name__
)
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(FormatError):
        LEDUC.from_bytes(data)


# ---------------------------------------------------------------------------------------------------------------
# Replays


@pytest.fixture(scope="module")
def replay(tmp_path_factory):
    path = tmp_path_factory.mktemp("replays") / "game.json"
    cardenvs.Replay.of(played()).save(path)
    return path


def try_replay(draw, path):
    target = path.with_name("edited.json")
    if draw(st.booleans()):
        text = json.dumps(edited(draw, json.loads(path.read_text()))).encode()
    else:
        text = bytearray(path.read_bytes())
        text[draw(st.integers(0, len(text) - 1))] = draw(st.integers(0, 255))
    target.write_bytes(text)
    try:
        found = cardenvs.Replay.load(target)
    except (FormatError, cardenvs.core.errors.GameNotFoundError) as error:
        says_why(error)
        return
    found.state_at(len(found.actions)).recap(0)


def test_replay(replay):
    given(st.data())(short(80)(lambda data: try_replay(data.draw, replay)))()


@pytest.mark.slow
def test_replay_long(replay):
    given(st.data())(long(80)(lambda data: try_replay(data.draw, replay)))()


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"format": ' + b"[" * 100_000, b"9" * 10_000, b"\x00", b"\xed\xa0\x80"], ids=range(5)
)
def test_a_replay_that_is_no_json_is_refused(tmp_path, content):
    path = tmp_path / "game.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"is not a (cardenvs )?replay"):
        cardenvs.Replay.load(path)


# ---------------------------------------------------------------------------------------------------------------
# Batches


def saved_batch(steps=7, **options):
    vec = cardenvs.make_vec("leduc_poker_v0", 3, seed=2, num_threads=1, resumable=True, **options)
    vec.reset()
    for _ in range(steps):
        vec.step(vec.sample_actions())
    return vec, vec.get_state()


def try_batch(draw):
    vec, saved = saved_batch()
    fields = ["arrays", "arrays", "arrays", *saved]
    name = draw(st.sampled_from(fields))
    if name == "arrays":
        name = draw(st.sampled_from([*saved["arrays"], "more"]))
        saved["arrays"] = dict(saved["arrays"])
        array = saved["arrays"].get(name)
        if array is not None and array.size and draw(st.booleans()):
            array = array.copy()
            array.flat[draw(st.integers(0, array.size - 1))] = draw(st.integers(-2, 100))
            saved["arrays"][name] = array
        else:
            saved["arrays"][name] = draw(ANYTHING)
    elif draw(st.booleans()):
        del saved[name]
    else:
        saved[name] = draw(VALUES)
    before = vec._states.tobytes()
    try:
        vec.set_state(saved)
    except FormatError as error:
        says_why(error)
        assert vec._states.tobytes() == before
    for _ in range(5):
        vec.step(vec.sample_actions())


def test_batch():
    given(st.data())(short(80)(lambda data: try_batch(data.draw)))()


@pytest.mark.slow
def test_batch_long():
    given(st.data())(long(80)(lambda data: try_batch(data.draw)))()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 2**63}, "samples takes an integer"),
        ({"samples": -1}, "samples takes an integer"),
        ({"samples": 1.0}, "'samples' should be of type int"),
        ({"seed": 2**63}, "a seed is an integer"),
        ({"seed": True}, "'seed' should be of type int"),
        ({"arrays": None}, "'arrays' should be of type dict"),
        ({"plies": np.full(3, 127)}, "plies takes integers from 0 to"),
        ({"plies": np.full(3, -1)}, "plies takes integers from 0 to"),
        ({"episodes": np.full(3, -1)}, "episodes takes integers from 0 to"),
        ({"actions": np.full((3, 9), 1)}, "actions takes integers"),
        ({"actions": np.zeros((3, 0), np.int64)}, "actions takes integers"),
        ({"reward": np.full((3, 2), np.nan, np.float32)}, "reward is not finite"),
        ({"reward": np.zeros((3, 2))}, "reward should be"),
        ({"reward": None}, "reward should be"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_edited_batch_is_refused(change, message):
    vec, saved = saved_batch()
    (name,) = change
    target = saved if name in saved else saved["arrays"]
    target[name] = change[name]
    before = vec._states.tobytes()
    with pytest.raises(FormatError, match=message):
        vec.set_state(saved)
    assert vec._states.tobytes() == before


def test_actions_of_a_saved_batch_are_checked_by_the_rules():
    vec, saved = saved_batch()
    plies = saved["arrays"]["plies"]
    assert plies.max() > 0
    for action in (-1, 0):
        arrays = dict(saved["arrays"])
        arrays["actions"] = np.full_like(arrays["actions"], action)
        arrays["plies"] = np.full_like(plies, arrays["actions"].shape[1])
        with pytest.raises(FormatError, match=r"damaged: (no action at ply 0|environment 0|an episode is over)"):
            vec.set_state(saved | {"arrays": arrays})


def test_a_saved_batch_with_the_greatest_number_of_samples_goes_on():
    vec, saved = saved_batch()
    saved["samples"] = 2**63 - 1
    vec.set_state(saved)
    for _ in range(3):
        vec.step(vec.sample_actions())


def test_only_a_resumable_batch_is_saved():
    vec = cardenvs.make_vec("leduc_poker_v0", 3)
    vec.reset()
    with pytest.raises(ValueError, match="resumable=True"):
        vec.get_state()


def test_a_batch_with_held_environments_comes_back():
    vec, _ = saved_batch()
    for step in range(40):
        actions = vec.sample_actions().copy()
        actions[step % 3] = -1
        actions[0] = -1 if step > 5 else actions[0]
        vec.step(actions)
        other, _ = saved_batch(0)
        other.set_state(copy.deepcopy(vec.get_state()))
        assert other._states.tobytes() == vec._states.tobytes()
        assert other.batch.legal_actions.tobytes() == vec.batch.legal_actions.tobytes()
        assert other.batch.observation.tobytes() == vec.batch.observation.tobytes()
