"""How each game looks is as its reference in docs/pictures/looks shows it."""

import sys

import pytest
from pages import ROOT

pytest.importorskip("resvg_py")
sys.path.insert(0, str(ROOT))  # for `docs`, which is not part of the package

from cardenvs.pictures import style
from docs import generate, looks

GAMES = generate.own_games()


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_game_looks_as_in_its_reference(game):
    assert not looks.difference(game), "if that is meant, run python -m docs.looks"


def test_every_game_has_a_reference_and_a_place_in_the_gallery():
    assert {path.stem for path in looks.FOLDER.glob("*.png")} == {game.name for game in GAMES}
    gallery = (generate.DOCS / "looks.md").read_text(encoding="utf-8")
    assert [game.name for game in GAMES if f"(pictures/looks/{game.name}.png)" not in gallery] == []


def test_a_change_of_look_is_seen(monkeypatch):
    game = generate.get_game("kuhn_poker_v0")
    assert not looks.difference(game)
    monkeypatch.setitem(style._LIGHT, "bg", "fill:#ffffff")
    assert "of the pixels differ" in looks.difference(game)
