"""Texts of positions for terminals: whole, narrow, and showing no more than the view."""

import re

import pytest

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.registry import get_game
from cardenvs.pictures import draw_text
from cardenvs.pictures.terminal import WIDTH, token_span

COLOUR = re.compile(r"\x1b\[\d*m")


def positions(game, most=12):
    """Yield states of a game of the default opponent, spread over it."""
    state = game.new_state(seed=8)
    policy = game.default_opponent if game.default_opponent in game.policies else "random"
    for k in range(most * 7):
        if k % 7 == 0 or state.is_terminal:
            yield state
        if state.is_terminal:
            return
        state.apply(state.policy_action(policy, k))


def words(text):
    return re.sub(r"[\s│─]+", " ", text)


def expected(view):
    """Return the texts that a view must be shown with, in the order of no place in particular."""
    found = [note for player in view["players"] for note in player["notes"]]
    for counter in view["counters"]:
        values = counter["value"] if isinstance(counter["value"], list) else [counter["value"]]
        if counter["use"] in ("number", "chips"):
            found += [str(value) for value in values if value not in (None, 0)]
    for pile in view["piles"]:
        in_columns = pile["layout"] == "grid"
        if not in_columns and (pile["count"] or pile["owner"] is None):
            found.append(pile["label"])
        if pile["layout"] == "stack":
            found += [str(pile["count"])] if pile["count"] else []
        elif not in_columns:
            found += [token_span(token)[0] for token in pile["tokens"] if "id" in token]
    return [words(text) for text in found]


def test_all_that_a_view_says_is_in_its_text(every_game):
    for state in positions(every_game):
        for viewer in (*range(state.num_players), SPECTATOR, OMNISCIENT):
            view = state.view(viewer)
            text = draw_text(view)
            assert max(map(len, text.split("\n"))) <= WIDTH
            assert not [part for part in expected(view) if part not in words(text)]
            assert text.count("▶") == (not state.is_terminal)
            to_play = view.get("turn", state.current_player)  # in bridge dummy, for whom its partner plays
            assert state.is_terminal or f"▶ player_{to_play}" in text


def test_nothing_but_the_view_is_in_its_text(every_game):
    for state in positions(every_game, most=5):
        for player in range(state.num_players):
            text = state.render(player)
            assert text == draw_text(state.view(player))
            assert state.determinize(player, 1).render(player) == text


def test_colours_change_no_letter(every_game):
    for state in positions(every_game, most=3):
        plain, coloured = state.render(SPECTATOR), state.render(SPECTATOR, colour=True)
        assert "\x1b" not in plain
        assert COLOUR.sub("", coloured) == plain


def test_cards_of_grids_stand_below_their_row_with_what_lies_on_them():
    state = get_game("wingspan_v0").new_state(seed=3)
    while not any(pile["tokens"] for pile in state.view(0)["piles"] if pile["name"] == "forest"):
        state.apply(state.policy_action("greedy", state.ply))
    text = state.render(0)
    for pile in state.view(0)["piles"]:
        if pile["layout"] == "grid":
            assert f"─ {pile['label']} ─" in text
            for token in pile["tokens"]:
                assert token["face"]["title"].split()[-1] in text
                assert all(mark in text for mark in token["marks"])


@pytest.mark.parametrize(("deck", "shown"), [("K Q J", ["hand K", "hand ▒▒"]), ("J Q K", ["hand J", "hand ▒▒"])])
def test_players_of_a_ring_have_a_line_each_and_the_viewer_the_last(deck, shown):
    lines = get_game("kuhn_poker_v0").new_state(deck=deck).render(0).split("\n")
    assert lines[0] == "Kuhn poker"
    assert lines[-2:] == [f"  player_1  chips in 1    {shown[1]}", f"▶ player_0  chips in 1    {shown[0]}"]


def test_sets_and_what_lies_on_piles():
    view = get_game("durak_v0").new_state(seed=1).view(0)
    face = {"id": "", "text": "7♠", "face": {"kind": "card", "rank": "7", "suit": "s"}}
    other = {"id": "", "text": "Q♥", "face": {"kind": "card", "rank": "Q", "suit": "h"}, "marks": ["high"]}
    common = {"id": "x", "name": "x", "owner": None, "label": "melds", "ordered": False, "count": 3}
    view["piles"] = [common | {"layout": "sets", "tokens": [face, other, face], "groups": [2, 1]}]
    assert "    melds 7♠ Q♥(high) │ 7♠" in draw_text(view).split("\n")
    view["piles"][0]["captions"] = ["1", "2"]
    assert "    melds 1 7♠ Q♥(high) │ 2 7♠" in draw_text(view).split("\n")
    view["piles"] = [common | {"layout": "fan", "ordered": True, "tokens": [face, {"hidden": 1}, other]}]
    assert "    melds (3) Q♥(high) on ▒▒ 7♠" in draw_text(view).split("\n")
    view["piles"] = [common | {"layout": "hand", "tokens": [face, {"hidden": 20}], "count": 21}]
    assert "    melds 7♠ 20 x ▒▒" in draw_text(view).split("\n")
