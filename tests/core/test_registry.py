"""Finding games."""

import importlib.metadata
import pickle

import pytest

import cardenvs
from cardenvs.core import registry
from cardenvs.core.errors import GameNotFoundError


@pytest.fixture
def added(monkeypatch):
    """Registered games that are forgotten after the test."""
    monkeypatch.setattr(registry, "_added", dict(registry._added))


def test_the_games_of_this_package_are_found_by_their_entry_points():
    points = {point.name: point.value for point in importlib.metadata.entry_points(group="cardenvs.games")}
    assert {"kuhn_poker_v0", "leduc_poker_v0", "gin_rummy_v0"} <= set(points)
    assert set(points) <= set(cardenvs.list_games())
    assert cardenvs.list_games() == sorted(cardenvs.list_games())


def test_every_entry_point_is_a_game_of_that_name():
    for name in cardenvs.list_games():
        game = cardenvs.get_game(name)
        assert game.name == name
        assert game.version == int(name.rsplit("_v", 1)[1])
        assert cardenvs.get_game(name) is game
        assert pickle.loads(pickle.dumps(game)) is game


def test_a_game_of_another_package_is_registered_by_name(added):
    cardenvs.register_game("prize_v0", "toys.prize:GAME")
    from toys.prize import GAME

    assert "prize_v0" in cardenvs.list_games()
    assert cardenvs.get_game("prize_v0") is GAME


def test_registering_imports_nothing(added):
    cardenvs.register_game("absent_v0", "no_such_module:GAME")
    assert "absent_v0" in cardenvs.list_games()
    with pytest.raises(ModuleNotFoundError):
        cardenvs.get_game("absent_v0")


def test_a_name_without_version_means_the_newest(added):
    cardenvs.register_game("prize_v0", "no_such_module:GAME")
    cardenvs.register_game("prize_v9", "no_such_module:GAME")
    cardenvs.register_game("prize_v10", "toys.prize:GAME")
    assert cardenvs.get_game("prize").title == "Prize"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leduc_pokre_v0", "no game named 'leduc_pokre_v0'; did you mean 'leduc_poker_v0'? games are: "),
        ("kuhn_poker_v99", "did you mean 'kuhn_poker_v0'?"),
        ("zzz", "no game named 'zzz'; games are: "),
        ("", "no game named ''"),
    ],
)
def test_an_unknown_name_is_refused_and_the_nearest_suggested(name, message):
    with pytest.raises(GameNotFoundError) as caught:
        cardenvs.get_game(name)
    assert message in str(caught.value)
    assert "kuhn_poker_v0" in str(caught.value)


@pytest.mark.parametrize("name", ["prize", "prize_v", "prize_vx", "Prize_v0", "prize-v0", "3_v0"])
def test_a_name_that_is_none_is_refused(added, name):
    with pytest.raises(ValueError, match="a game's name is"):
        cardenvs.register_game(name, "toys.prize:GAME")
    assert name not in cardenvs.list_games()


@pytest.mark.parametrize("target", ["toys.prize", "toys.prize:", ":GAME"])
def test_a_target_that_is_none_is_refused(added, target):
    with pytest.raises(ValueError, match="module:attribute"):
        cardenvs.register_game("prize_v0", target)


def test_the_public_names_of_the_package():
    for name in cardenvs.__all__:
        assert getattr(cardenvs, name) is not None
    assert cardenvs.kuhn_poker_v0.env is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cardenvs.nothing
