"""Mahjong tiles: their faces, tokens that lie sideways or face down, and rows in lines of a fixed number.

The table is a view written by hand: what pictures of it need, whatever game makes it.
"""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import jsonschema_rs
import numpy as np
import pytest

from cardenvs.core.events import Pile, PileLayout
from cardenvs.core.game_view import Pose, game_view_schema
from cardenvs.core.registry import get_game
from cardenvs.pictures import draw_svg, draw_text, draw_thumbnail, faces
from cardenvs.pictures.mahjong_tiles import all_symbols, symbols_in
from cardenvs.pictures.piles import Marks, tokens_of
from cardenvs.pictures.player import Frame, player_page
from cardenvs.pictures.raster import rgb_array

NAMES = [f"{rank}{suit}" for suit in "mps" for rank in range(10)] + [f"{rank}z" for rank in range(1, 8)]
NO_MARKS = Marks(frozenset(), frozenset())
_COUNTER = itertools.count()


def tile(name, pose=""):
    """Return a token; "5m-" lies sideways, "5m+" sideways beyond the one before it, "5m_" face down."""
    pose = {"-": "sideways", "+": "atop", "_": "down"}.get(name[2:], pose)
    made = {"id": f"{next(_COUNTER):012x}", "text": name[:2],
            "face": {"kind": "mahjong", "text": name[:2]}}  # fmt: skip
    return made | ({"pose": pose} if pose else {})


def backs(number):
    """Return face-down tokens."""
    return [{"hidden": number}] if number else []


def pile(name, owner, tokens, layout, **more):
    """Return a pile."""
    count = sum(token.get("hidden", 1) for token in tokens)
    return {"id": name if owner is None else f"{name}.{owner}", "name": name, "owner": owner,
            "label": name.replace("_", " "), "layout": layout, "ordered": True, "count": count,
            "tokens": tokens, "back": "mahjong"} | more  # fmt: skip


def discards(owner, names):
    return pile("discards", owner, [tile(name) for name in names.split()], "row", row_length=6, slots=18)


def melds(owner, *groups):
    tokens = [[tile(name) for name in group.split()] for group in groups]
    sizes = {"groups": [len(group) for group in tokens]} if groups else {}
    return pile("melds", owner, [token for group in tokens for token in group], "sets", **sizes)


def table_view(viewer=0, shape="ring"):
    """Return a table of four in the middle of a hand."""
    own = [tile(name) for name in ("1m", "2m", "3m", "0p", "5p", "6p", "7s", "8s", "9s", "6z", "6z")]
    piles = [
        pile("wall", None, backs(38), "stack"),
        pile("dora_indicators", None, [*[tile("4s"), tile("1z")], *backs(3)], "row"),
        pile("hand", 0, own, "hand", groups=[10, 1]),
        pile("hand", 1, backs(13), "hand"),
        pile("hand", 2, backs(10), "hand"),
        pile("hand", 3, backs(7), "hand"),
        discards(0, "1z 9p 2z 5z 1s 9m 7z 8p 3p"),
        discards(1, "9m 1p 4z 3z 7z 2s 5s- 6m 8p 1s 1m 4p"),
        discards(2, "2z 3z 9s 1p 8m 7m 7p 2p 3s 4s"),
        discards(3, "5z 1m 9p 4z 6z 6z 2m 3m 4p 9s 8s 2s 1z"),
        melds(0, "6m- 7m 8m"),
        melds(1),
        melds(2, "5s 0s 5s- 5s+"),
        melds(3, "7p_ 7p 7p 7p_", "3p 4p- 5p"),
    ]
    notes = ["east"], ["south", "riichi"], ["west"], ["north"]
    players = [{"active": True, "return": 0.0, "notes": one} for one in notes]
    points = [25000, 24000, 31000, 20000]
    return {
        "format": "cardenvs-view", "format_version": 1, "game": "table_v0", "title": "Tiles", "viewer": viewer,
        "phase": "play", "current_player": 0, "terminal": False, "players": players, "piles": piles,
        "counters": [{"name": "points", "label": "points", "use": "number", "value": points}], "shape": shape,
        "prompt": "Discard a tile.",
        "choices": [{"action": k, "label": f"discard {token['text']}", "kind": "card", "tokens": [token["id"]],
                     "source": "hand.0"} for k, token in enumerate(own[:3])],
    }  # fmt: skip


# -- faces ------------------------------------------------------------------------------------------------------


def pixels(name, width=24):
    scale = width / faces.MAHJONG_WIDTH
    drawn = faces.draw(tile(name), 0, 0, scale)
    wide, high = (round(side) for side in faces.size_of(tile(name), scale))
    box = f'viewBox="0 0 {wide} {high}"'
    style = "<style>.cv-card{fill:#fffdf6}</style>"
    return rgb_array(
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{style}<defs>{symbols_in(drawn)}</defs>{drawn}</svg>',
        wide,
        high,
    ).astype(int)


def test_all_faces_differ_as_small_as_they_are_drawn():
    shown = {name: pixels(name) for name in [*NAMES, "1m_"]}
    for one, other in itertools.combinations(shown, 2):
        assert (np.abs(shown[one] - shown[other]).max(axis=2) > 60).sum() > 12, (one, other)


def test_the_white_dragon_is_an_empty_frame():
    shown = pixels("5z", 60)
    high, wide = shown.shape[:2]
    middle = shown[high // 3 : high // 2, wide // 3 : 2 * wide // 3]
    assert (middle == middle[0, 0]).all()
    assert (shown[..., 2] - shown[..., 0] > 60).any()  # blue


def test_a_picture_has_each_symbol_that_it_uses_once():
    drawn = draw_svg(table_view())
    used, defined = set(re.findall(r'href="#(cv-mj-\w+)"', drawn)), re.findall(r'symbol id="(cv-mj-\w+)"', drawn)
    assert set(defined) == used
    assert len(defined) == len(used)
    assert {"cv-mj-wan", "cv-mj-dot", "cv-mj-stick"} < used  # parts of faces
    assert "cv-mj" not in draw_svg(get_game("kuhn_poker_v0").new_state(seed=1).view(0))
    assert len(drawn) < 90_000
    assert sum(map(len, all_symbols().values())) < 34_000  # of the page of a table


def test_a_page_has_the_symbols_of_all_its_frames():
    first, last = table_view(), table_view()
    for one in last["piles"]:
        one["tokens"] = [token for token in one["tokens"] if token["text"] != "6z"] if one["id"] == "hand.0" else []
        one["count"] = len(one["tokens"])
        one.pop("groups", None)
    page = player_page("tiles", [Frame(first), Frame(last)])
    assert 'symbol id="cv-mj-6z"' in page


# -- how tokens lie ---------------------------------------------------------------------------------------------


def laid(*names, row_length=0, slots=0, scale=1.0):
    """Return a pile of tiles as drawn: its block, and left, top, width and height of each tile by its text."""
    more = {"row_length": row_length, "slots": slots} if row_length else {}
    shown = pile("discards", 0, [tile(name) for name in names], "row", **more)
    block = tokens_of(shown, scale, NO_MARKS, 1000)
    found = []
    places_of(ElementTree.fromstring(f"<svg>{''.join(block.parts)}</svg>"), 0.0, 0.0, found)
    return block, found


def places_of(element, x, y, found):
    moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)$", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.get("data-token"):
        below = next(one for one in element if one.tag == "rect")  # the lower side of a tile
        found.append((x + float(below.get("x")), y + float(below.get("y")), float(below.get("width")),
                      float(below.get("height"))))  # fmt: skip
        return
    for one in element:
        places_of(one, x, y, found)


def test_a_tile_that_lies_sideways_has_the_base_of_the_others():
    _, [first, turned, last] = laid("1m", "2m-", "3m")
    assert turned[2:] == (first[3], first[2])
    assert turned[1] + turned[3] == pytest.approx(first[1] + first[3], abs=0.2)
    assert first[0] + first[2] < turned[0]
    assert turned[0] + turned[2] < last[0]


def test_an_added_tile_lies_beyond_the_one_before_it():
    _, [_, below, added, right] = laid("5s", "5s-", "5s+", "0s")
    assert added[0] == below[0]
    assert added[2:] == below[2:]
    assert added[1] + added[3] < below[1] + 4
    assert right[0] > below[0] + below[2]


def test_a_tile_that_lies_face_down_can_still_be_named_and_clicked():
    block, _ = laid("7p_", "7p")
    root = ElementTree.fromstring(f"<svg>{''.join(block.parts)}</svg>")
    tiles = [one for one in root.iter("g") if one.get("data-token")]
    assert [one.find("title").text for one in tiles] == ["7p", "7p"]
    assert [one.find("use") is not None for one in tiles] == [False, True]


def test_a_playing_card_can_lie_sideways_too():
    face = {"kind": "card", "rank": "A", "suit": "s"}
    card = {"id": "0" * 12, "text": "A", "face": face, "pose": "sideways"}
    assert faces.size_of(card, 1) == (faces.CARD_HEIGHT, faces.CARD_WIDTH)
    assert "rotate(-90)" in faces.draw(card, 0, 0, 1)
    assert "cv-back" in faces.draw(card | {"pose": "down"}, 0, 0, 1)


def test_discards_lie_in_lines_of_six_and_keep_their_room():
    _, places = laid(*NAMES[:14], row_length=6, slots=18)
    assert [len(list(line)) for _, line in itertools.groupby(places, lambda place: place[1])] == [6, 6, 2]
    blocks = [laid(*names, row_length=6, slots=18)[0] for names in ((), ("1m",), ("1m-", *NAMES[1:18]))]
    assert len({(block.width, block.height) for block in blocks}) == 1
    assert laid(*NAMES[:19], row_length=6, slots=18)[0].height > blocks[0].height


@pytest.mark.parametrize("narrow", [False, True])
def test_tiles_are_large_enough_to_read(narrow):
    drawn = ElementTree.fromstring(draw_svg(table_view(), narrow=narrow))
    uses = [one for one in drawn.iter() if (one.get("href") or "").startswith("#cv-mj-") and one.get("x")]
    sizes = [float(one.get("width")) for one in uses if one.get("href")[-1] in "mz"]
    assert min(sizes) >= 24
    texts = [one for one in drawn.iter() if one.get("class") == "cv-index"]
    assert len(texts) == 11  # the viewer's hand
    assert all(float(one.get("font-size")) >= 12 for one in texts)


@pytest.mark.parametrize(("narrow", "rows"), [(False, 1), (True, 2)])
def test_a_hand_of_fourteen_fits(narrow, rows):
    view = table_view()
    (hand,) = [one for one in view["piles"] if one["id"] == "hand.0"]
    hand["tokens"], hand["count"], hand["groups"] = [tile(name) for name in NAMES[:14]], 14, [13, 1]
    root = ElementTree.fromstring(draw_svg(view, narrow=narrow))
    slots = [one for one in root.iter() if one.get("data-slot") is not None]
    lefts = [float(re.search(r"translate\(([-\d.]+)", one.get("transform"))[1]) for one in slots]
    assert len(slots) == 14
    assert lefts.count(0) == rows
    step = lefts[1]
    assert step >= 40
    assert max(lefts) + step <= (344 if narrow else 720)
    assert lefts[-1] - lefts[-2] > 1.2 * step  # the tile that was drawn lies apart


def test_what_lies_face_down_has_the_back_of_a_tile():
    for draw in (draw_svg, draw_thumbnail):
        assert 'class="cv-back' not in draw(table_view())
    assert draw_svg(table_view()).count('class="cv-tile-back"') == 13 + 10 + 7 + 2 + 3 + 3


def test_text_shows_how_tiles_lie():
    shown = draw_text(table_view())
    assert "5s 0s 5s' 5s''" in shown
    assert "3p 4p' 5p" in shown
    assert "7p▒ 7p 7p 7p▒" in shown


@pytest.mark.parametrize("shape", ["ring", "rows"])
@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_is_left_out(shape, narrow):
    view = table_view(shape=shape)
    root = ElementTree.fromstring(draw_svg(view, narrow=narrow))
    drawn = sorted(one.get("data-token") for one in root.iter() if one.get("data-token"))
    assert drawn == sorted(token["id"] for one in view["piles"] for token in one["tokens"] if "id" in token)


# -- the document -----------------------------------------------------------------------------------------------


def test_the_schema_knows_tiles():
    validator = jsonschema_rs.validator_for(game_view_schema())
    validator.validate(table_view())
    for key, wrong in (("pose", "upside down"), ("face", {"kind": "mahjong", "text": "8z"})):
        view = table_view()
        view["piles"][1]["tokens"][0][key] = wrong
        assert not validator.is_valid(view)


def test_a_game_says_how_its_tokens_lie(monkeypatch):
    game = get_game("kuhn_poker_v0")

    def arrange(self, s, viewer, scene):
        scene.piles["hand", 0].poses = {0: Pose.SIDEWAYS}
        scene.piles["hand", 1].pile = Pile("hand", ordered=True, layout=PileLayout.ROW, slots=12, row_length=6)

    monkeypatch.setattr(type(game.view), "arrange", arrange)
    monkeypatch.setattr(type(game.view), "back", "mahjong")
    view = game.new_state(seed=1).view(0)
    jsonschema_rs.validator_for(game_view_schema()).validate(view)
    hands = [one for one in view["piles"] if one["name"] == "hand"]
    assert hands[0]["tokens"][0]["pose"] == "sideways"
    assert (hands[1]["row_length"], hands[1]["slots"], hands[1]["back"]) == (6, 12, "mahjong")
