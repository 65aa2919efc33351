"""Replay files: what is written, what is refused, and the golden replays."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, GameNotFoundError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.replay import Replay

GOLDEN = Path(__file__).parent.parent / "golden"
LEDUC = cardenvs.get_game("leduc_poker_v0")
FOLD, CALL, RAISE = 0, 1, 2
ACTIONS = [RAISE, RAISE, CALL, CALL, RAISE, FOLD]


@pytest.fixture
def state():
    state = LEDUC.new_state(seed=7, deck="K Q", ante=2)
    for action in ACTIONS:
        state.apply(action)
    return state


@pytest.fixture
def path(state, tmp_path):
    """A saved replay."""
    Replay.of(state, ["Ann", "Bob"]).save(tmp_path / "game.json")
    return tmp_path / "game.json"


def edit(path, **changes):
    """Change fields of the file; "a.b" is field b of field a."""
    data = json.loads(path.read_text())
    for name, value in changes.items():
        *outer, last = name.split("__")
        target = data
        for key in outer:
            target = target[key]
        target[last] = value(target[last]) if callable(value) else value
    path.write_text(json.dumps(data))
    return path


def test_a_replay_comes_back_as_it_was(state, path):
    replay = Replay.load(path)
    assert replay == Replay.of(state, ["Ann", "Bob"])
    assert replay.game is LEDUC
    assert replay.players == ("Ann", "Bob")
    assert replay.actions == tuple(ACTIONS)
    assert replay.returns == tuple(state.returns) == (-6, 6)
    assert replay.setup == {"seed": 7, "deck": [2, 1]}
    replay.verify()


def test_the_file_says_what_it_is(path):
    data = json.loads(path.read_text())
    assert data["format"] == "cardenvs-replay"
    assert data["game"] == "leduc_poker_v0"
    assert data["options"]["ante"] == 2
    assert data["layout"] == LEDUC.layout(LEDUC.make_options(ante=2)).hash
    assert set(data) == {
        "format", "format_version", "game", "options", "layout", "setup", "players", "actions", "returns", "digest",
    }  # fmt: skip


def test_every_position_can_be_seen_again(state, path):
    replay, again = Replay.load(path), LEDUC.new_state(seed=7, deck="K Q", ante=2)
    for k, action in enumerate([*ACTIONS, None]):
        assert replay.state_at(k).record_bytes() == again.record_bytes()
        assert replay.state_at(k).actions == ACTIONS[:k]
        if action is not None:
            again.apply(action)
    for k in (-1, len(ACTIONS) + 1):
        with pytest.raises(IndexError, match="positions 0 to 6"):
            replay.state_at(k)


def test_events_as_each_viewer_saw_them(state, path):
    replay = Replay.load(path)
    for player in (0, 1, SPECTATOR):
        assert replay.events(player) == state.events(player)
    assert replay.events() == state.events()
    assert replay.events(0) != replay.events(1)


@pytest.mark.parametrize("options", [{}, {"num_players": 3}])
def test_unfinished_games_and_forfeits_are_recorded_too(tmp_path, options):
    state = LEDUC.new_state(seed=3, **options)
    state.apply(RAISE)
    Replay.of(state).save(tmp_path / "open.json")
    assert not Replay.load(tmp_path / "open.json").state_at(1).is_terminal
    state.apply(FORFEIT + 1)
    Replay.of(state).save(tmp_path / "left.json")
    replay = Replay.load(tmp_path / "left.json")
    assert replay.actions == (RAISE, FORFEIT + 1)
    assert replay.state_at(2).active[1] is False
    assert replay.players[0] == "player_0"


def test_a_replay_of_every_game(every_game, tmp_path):
    state = every_game.new_state(seed=11)
    while not state.is_terminal:
        state.apply(state.policy_action("random", state.ply))
    Replay.of(state).save(tmp_path / "game.json")
    replay = Replay.load(tmp_path / "game.json")
    assert replay.state_at(len(replay.actions)).record_bytes() == state.record_bytes()


def test_names_must_be_as_many_as_players(state):
    for names in ("ab", [1, 2]):
        with pytest.raises(ValueError, match="2 players need a list of 2 names"):
            Replay.of(state, names)
    with pytest.raises(ValueError, match="2 players need a list of 2 names"):
        Replay.of(state, ["Ann"])


def test_what_has_no_history_cannot_be_recorded(state):
    vec = cardenvs.make_vec("leduc_poker_v0", 1)
    vec.reset()
    for other in (LEDUC.new_state(seed=1).determinize(0, 1), vec.state(0)):
        with pytest.raises(ValueError, match="does not go back to the deal"):
            Replay.of(other)


# ---------------------------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": lambda a: [*a[:5], CALL]}, "replaying it returns"),
        ({"actions": lambda a: a[:-1]}, "replaying it returns"),
        ({"actions": lambda a: [*a, CALL]}, "recorded action 6 is illegal: leduc_poker_v0: action 1 after"),
        ({"actions": lambda a: [FOLD, *a]}, "recorded action 0 is illegal: .* nothing is owed"),
        ({"actions": lambda a: ["call", *a]}, "is damaged: 'actions' has 'call'"),
        ({"actions": lambda a: [1.0, *a]}, "is damaged: 'actions' has 1.0"),
        ({"actions": lambda a: [10**40, *a]}, "recorded action 0 is illegal"),
        ({"actions": "rrc"}, "is damaged: 'actions' should be of type list"),
        ({"returns": [5, -5]}, r"it returns \[-6.0, 6.0\], but \[5, -5\] is recorded"),
        ({"returns": ["-6", "6"]}, "is damaged: 'returns' has '-6'"),
        ({"digest": "0" * 64}, "its events do not match the recorded digest; it was edited"),
        ({"digest": 3}, "'digest' should be of type str, but is 3"),
        ({"setup__seed": 8}, "its events do not match the recorded digest"),
        ({"setup__seed": -1}, "its setup cannot be dealt: a seed is an integer"),
        ({"setup__seed": True}, "in 'setup', is damaged: 'seed' should be of type int, but is True"),
        ({"setup__seed": "7"}, "in 'setup', is damaged: 'seed' should be of type int, but is '7'"),
        ({"setup__deck": [2, 0]}, "its events do not match the recorded digest"),
        ({"setup__deck": [1, 2]}, "returns|events do not match"),
        ({"setup__deck": [2, 99]}, "its setup cannot be dealt: .* token 99 is not in this game"),
        ({"setup__deck": [[4]]}, "its setup cannot be dealt"),
        ({"setup__deck": ["K"]}, "its setup cannot be dealt"),
        ({"setup__deck": [4.5]}, "its setup cannot be dealt"),
        ({"setup": {}}, "in 'setup', is damaged: 'seed' should be of type int"),
        ({"options__ante": 3}, "replaying it returns"),
        ({"options__ante": -3}, "option ante takes an integer"),
        ({"options__blind": 3}, "unknown option 'blind'"),
        ({"options__num_players": 3}, "2 names for 3 players"),
        ({"options__max_raises": 3}, r"recorded with another version of leduc_poker_v0 \(its observation differs\)"),
        ({"options": []}, "'options' should be of type dict"),
        ({"layout": "0" * 12}, r"recorded with another version of leduc_poker_v0 \(its observation differs\)"),
        ({"players": ["Ann"]}, "1 names for 2 players"),
        ({"players": None}, "'players' should be of type list, but is None"),
        ({"game": "leduc_poker"}, "'game' should include the version, as in 'leduc_poker_v0'"),
        ({"format": "other"}, 'is not a cardenvs replay: it lacks "format": "cardenvs-replay"'),
        ({"format_version": 2}, "has replay format 2; this cardenvs reads format 1"),
        ({"format_version": "1"}, "'format_version' should be of type int"),
    ],
)
def test_an_edited_file_is_refused(path, change, message):
    with pytest.raises(FormatError, match=message) as caught:
        Replay.load(edit(path, **change))
    assert str(path) in str(caught.value)


def test_a_replay_of_a_game_that_is_not_installed_says_so(path):
    with pytest.raises(GameNotFoundError, match="no game named 'whist_v0'"):
        Replay.load(edit(path, game="whist_v0"))


def test_a_truncated_file_is_refused_wherever_it_was_cut(path):
    whole = path.read_bytes()
    for cut in range(0, len(whole) - 2, 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=r"is not a replay: it cannot be read as JSON .* it may be truncated"):
            Replay.load(path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[1, 2]", b"null", b'"text"', b"{}", b'{"format": "pgn"}'])
def test_a_foreign_file_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"is not a (cardenvs )?replay"):
        Replay.load(path)


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Replay.load(tmp_path / "nothing.json")


def test_a_digest_covers_events_not_bytes(state):
    # Another seed of what is never dealt leaves a replay valid: the digest is over what happened.
    replay = Replay.of(state)
    whole = dataclasses.replace(replay, setup={"seed": 0, "deck": state.record.deck[:6].tolist()})
    whole.verify()
    with pytest.raises(FormatError):
        dataclasses.replace(replay, digest=Replay.of(LEDUC.new_state(seed=1)).digest).verify()


# ---------------------------------------------------------------------------------------------------------------
# Saving


def test_saving_replaces_a_file_in_one_go(path, state, monkeypatch):
    before = path.read_text()

    def fail(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        Replay.of(state).save(path)
    assert path.read_text() == before
    monkeypatch.undo()
    Replay.of(state).save(path)
    assert Replay.load(path).players == ("player_0", "player_1")
    assert [one.name for one in path.parent.iterdir()] == ["game.json"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(state, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError("busy")))
    with pytest.raises(OSError, match="busy"):
        Replay.of(state).save(tmp_path / "game.json")
    assert list(tmp_path.iterdir()) == []


def test_numbers_in_the_file_are_plain(tmp_path):
    state = LEDUC.new_state(seed=np.int64(7), deck=np.array([2, 1], np.int16))
    state.apply(np.int32(RAISE))
    Replay.of(state).save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json").setup == {"seed": 7, "deck": [2, 1]}


# ---------------------------------------------------------------------------------------------------------------
# Golden replays: python tests/golden/regenerate.py


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden_replays_still_verify(path):
    replay = Replay.load(path)
    assert path.stem.startswith(replay.game.name)
    assert replay.state_at(len(replay.actions)).is_terminal


def test_every_game_has_a_golden_replay(every_game):
    assert (GOLDEN / f"{every_game.name}-0.json").exists(), "run: python tests/golden/regenerate.py " + every_game.name


def test_players_whose_names_a_terminal_would_act_upon_are_refused(tmp_path):
    game = cardenvs.get_game("kuhn_poker_v0")
    Replay.of(game.new_state(seed=1)).save(tmp_path / "game.json")
    data = json.loads((tmp_path / "game.json").read_text())
    data["players"] = ["a\x1b[2J", "b\u202e"]
    (tmp_path / "game.json").write_text(json.dumps(data))
    with pytest.raises(FormatError, match=r"a player is called 'a.x1b.2J'; a name has no control"):
        Replay.load(tmp_path / "game.json")


@pytest.mark.parametrize("name", ["", " ", "a\tb", "a\nb", "x" * 101])
def test_names_that_cannot_be_loaded_are_not_saved(name, tmp_path):
    replay = Replay.of(cardenvs.get_game("leduc_poker_v0").new_state(seed=1), [name, "me"])
    with pytest.raises(FormatError, match="a player"):
        replay.save(tmp_path / "replay.json")
    assert list(tmp_path.iterdir()) == []
