"""Pictures of every game: valid, self-contained, and showing no more than the view."""

import re
import xml.etree.ElementTree as ElementTree

import gymnasium
import numpy as np
import pytest

import cardenvs
from cardenvs.arena import Match, run_match
from cardenvs.core.errors import OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.envs.arguments import table_image
from cardenvs.envs.single import SeatEnv
from cardenvs.pictures import draw_animation, draw_svg, draw_thumbnail, pictograms
from cardenvs.pictures.player import Frame, in_notebook, player_page
from cardenvs.pictures.raster import gif, png, rgb_array
from cardenvs.pictures.svg import WIDTH
from cardenvs.pictures.text import cut, escaped, text_width, wrapped

TITLE = "{http://www.w3.org/2000/svg}title"


def positions(game, seed, most=25):
    """Yield states of a game of the default opponent, spread over it."""
    state = game.new_state(seed=seed)
    policy = game.default_opponent if game.default_opponent in game.policies else "random"
    for k in range(most * 4):
        if k % 4 == 0 or state.is_terminal:
            yield state
        if state.is_terminal:
            return
        state.apply(state.policy_action(policy, k))


def played(game, seed=3):
    state = game.new_state(seed=seed)
    while not state.is_terminal:
        state.apply(state.policy_action(game.default_opponent, state.ply))
    return Replay.of(state)


def test_every_position_is_a_valid_picture_of_all_that_is_seen(every_game):
    for state in positions(every_game, seed=5):
        for viewer in (*range(state.num_players), SPECTATOR, OMNISCIENT):
            view = state.view(viewer)
            root = ElementTree.fromstring(draw_svg(view))
            shown = sorted(element.text for element in root.iter(TITLE))
            stacks = {pile["name"] for pile in view["piles"] if pile["layout"] in ("stack", "won")}
            seen = [
                token["text"]
                for pile in view["piles"]
                for token in pile["tokens"]
                if "id" in token and pile["name"] not in stacks
            ]
            assert not set(seen) - set(shown)
            assert len(shown) <= len(seen) + len(stacks) * (state.num_players + 1)


def test_twins_have_one_picture(every_game):
    for state in positions(every_game, seed=6, most=6):
        for player in range(state.num_players):
            twin = state.determinize(player, 1)
            for draw in (draw_svg, draw_thumbnail):
                assert draw(twin.view(player)) == draw(state.view(player))


def seats_of(picture):
    """Return the size of each seat's ground, by player."""
    seats = [element for element in ElementTree.fromstring(picture).iter() if element.get("data-seat")]
    return {seat.get("data-seat"): (seat[0].get("width"), seat[0].get("height")) for seat in seats}


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("game", ["gin_rummy_v0", "bridge_v0", "katko_v0", "durak_v0", "texas_holdem_v0"])
def test_seats_keep_their_size_as_hands_shrink(game, narrow):
    state = get_game(game).new_state(seed=5)
    view = state.view(0)
    before = seats_of(draw_svg(view, narrow=narrow))
    assert len(before) == state.num_players
    for _ in range(20):
        for pile in view["piles"]:
            if pile["name"] == "hand" and pile["count"] > 1:
                pile["count"] -= 1
                pile["tokens"] = pile["tokens"][1:] if "id" in pile["tokens"][0] else [{"hidden": pile["count"]}]
                if "groups" in pile:
                    pile["groups"] = [size for size in (pile["groups"][0] - 1, *pile["groups"][1:]) if size]
        after = seats_of(draw_svg(view, narrow=narrow))
        shown = after if not narrow else {seat: size for seat, size in after.items() if seat != "0"}
        assert shown == {seat: before[seat] for seat in shown}  # a phone's own hand may take two rows, and then one


@pytest.mark.parametrize(("num_players", "rows"), [(4, 3), (6, 3), (10, 5)])
def test_on_a_phone_many_opponents_sit_two_by_two(num_players, rows):
    state = get_game("texas_holdem_v0").new_state(seed=1, num_players=num_players)
    root = ElementTree.fromstring(draw_svg(state.view(0), narrow=True))
    moves = [
        element.get("transform")
        for element in root.iter()
        if any(child.get("data-seat") not in (None, "0") for child in element)
    ]
    assert len(moves) == num_players - 1
    assert len({move.split()[1] for move in moves}) == rows


def view_with_a_long_play():
    """Return a view of Dou Dizhu in which eight cards or more have been played, and their pile."""
    for seed in range(60):
        state = get_game("dou_dizhu_v0").new_state(seed=seed)
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic", state.ply))
            view = state.view(0)
            for pile in view["piles"]:
                if pile["layout"] == "trick" and pile["count"] >= 8:
                    return view, pile
    raise AssertionError("no play of eight cards in 60 games")


@pytest.mark.parametrize("narrow", [False, True])
def test_a_long_play_lies_in_one_line(narrow):
    view, pile = view_with_a_long_play()
    root = ElementTree.fromstring(draw_svg(view, narrow=narrow))
    cards = [element for element in root.iter() if element.get("data-token") in {one["id"] for one in pile["tokens"]}]
    boxes = [[float(card.find(".//{*}rect").get(name)) for name in "xy"] for card in cards]
    assert len(boxes) == pile["count"]
    assert len({y for _, y in boxes}) == 1
    steps = np.diff([x for x, _ in boxes])
    assert (steps > 0.4 * 52 * 0.8).all()  # of each, its rank is seen


def test_the_ring_is_around_the_hand_that_must_play():
    state = get_game("bridge_v0").new_state(seed=3)
    while "turn" not in state.view(SPECTATOR):
        state.apply(state.policy_action("random", state.ply))
    view = state.view(state.current_player)
    root = ElementTree.fromstring(draw_svg(view))
    seats = {one.get("data-seat"): one for one in root.iter() if one.get("data-seat")}
    marked = [seat for seat, one in seats.items() if one[0].get("class") == "cv-panel-act"]
    assert marked == [str(view["turn"])]
    assert view["turn"] != view["current_player"]


def test_a_hand_that_lies_open_is_drawn_in_columns_as_large_as_the_cards_of_the_trick():
    state = get_game("bridge_v0").new_state(seed=3)
    while "turn" not in state.view(SPECTATOR):
        state.apply(state.policy_action("random", state.ply))
    view = state.view(state.current_player)
    root = ElementTree.fromstring(draw_svg(view))
    (dummy,) = [one for one in root.iter() if one.get("data-pile") == f"hand.{view['turn']}"]
    cards = [one for one in dummy.iter() if (one.get("class") or "").startswith("cv-card")]
    assert {card.get("width") for card in cards} == {"52"}
    assert len({card.get("y") for card in cards}) > 1


@pytest.mark.parametrize(
    ("game", "stock", "card"), [("durak_v0", "talon", "turn_up"), ("briscola_v0", "stock", "turned_up")]
)
def test_the_trump_card_lies_crosswise_under_the_stock(game, stock, card):
    view = get_game(game).new_state(seed=1).view(0)
    root = ElementTree.fromstring(draw_svg(view))
    (trump,) = [pile["tokens"][0] for pile in view["piles"] if pile["name"] == card]
    (below,) = [one for one in root.iter() if one.get("data-pile") == card]
    turned = [one for one in below.iter() if "rotate(90)" in one.get("transform", "")]
    assert [one[0].get("data-token") for one in turned] == [trump["id"]]
    order = [one.get("data-pile") or one.get("data-token") for one in below.iter()]
    assert order.index(trump["id"]) < order.index(stock)  # what comes later lies above


def test_no_deck_of_unseen_cards_lies_on_a_poker_table():
    state = get_game("texas_holdem_v0").new_state(seed=1)
    assert "deck" not in {pile["name"] for pile in state.view(0)["piles"]}
    assert "deck" in {pile["name"] for pile in state.view(OMNISCIENT)["piles"]}


def test_dice_have_pips_and_hidden_ones_have_none():
    state = get_game("liars_dice_v0").new_state(seed=3)
    drawn = draw_svg(state.view(0))
    faces = [token["face"] for pile in state.view(0)["piles"] for token in pile["tokens"] if "id" in token]
    assert len(faces) == 5
    assert drawn.count('class="cv-s"') == sum(int(face["text"]) for face in faces)
    assert drawn.count('class="cv-back"') == 5


def test_texts_with_pictures_keep_their_words():
    for text in ("3 points, bowl nest for 4 eggs, 26 cm", "forest or wetland"):
        assert pictograms.is_pictured(text)
    for text in ("12 points", "When activated: gain 1 seed."):  # points are those of any game
        assert not pictograms.is_pictured(text)
    drawn = ElementTree.fromstring(pictograms.line(0, 0, "1 point, bowl nest for 2 eggs", 13, ""))
    assert drawn.get("aria-label") == "1 point, bowl nest for 2 eggs"
    assert [one.get("href") for one in drawn if one.get("href")] == [
        "#cv-pic-point",
        "#cv-pic-bowl_nest",
        "#cv-pic-egg",
    ]


def test_thumbnails_show_the_hand_and_nothing_hidden(every_game):
    for state in positions(every_game, seed=5):
        for viewer in (*range(state.num_players), SPECTATOR, OMNISCIENT):
            view = state.view(viewer)
            root = ElementTree.fromstring(draw_thumbnail(view))
            seen = {token["text"] for pile in view["piles"] for token in pile["tokens"] if "id" in token}
            assert {element.text for element in root.iter(TITLE)} <= seen
            own = [pile for pile in view["piles"] if pile["owner"] == viewer and pile["name"] == "hand"]
            hand = {token["text"] for pile in own for token in pile["tokens"] if "id" in token}
            assert hand <= {element.text for element in root.iter(TITLE)}


def test_thumbnails_show_chips():
    root = ElementTree.fromstring(draw_thumbnail(get_game("texas_holdem_v0").new_state(seed=1, num_players=10).view(0)))
    assert len([element for element in root.iter() if element.get("class") == "cv-chip"]) == 3  # the blinds and the pot


def test_pictures_and_pages_ask_no_host_for_anything(every_game):
    state = next(positions(every_game, seed=7))
    page = Replay.of(state).page()
    for text in (draw_svg(state.view(0), "auto"), draw_thumbnail(state.view(0), "auto"), page):
        assert set(re.findall(r"https?://[^\s\"')<]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert "@import" not in text
        assert "url(" not in text


def test_pictures_have_three_themes():
    view = get_game("leduc_poker_v0").new_state(seed=1).view(0)
    for draw in (draw_svg, draw_thumbnail):
        assert len({draw(view, theme) for theme in ("light", "dark", "auto")}) == 3
        with pytest.raises(ValueError, match="light, dark, auto"):
            draw(view, "sepia")


def test_names_in_a_picture_are_text_not_markup():
    view = get_game("leduc_poker_v0").new_state(seed=1).view(0)
    view["title"] = view["prompt"] = '<script>alert("1")</script>&\x00'
    for draw in (draw_svg, draw_thumbnail):
        ElementTree.fromstring(draw(view))
        assert "<script" not in draw(view)
    page = player_page("</title><script>", [Frame(view, ["</script><b>"])], ["<img src=x>"])
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "<script" not in in_notebook(page)


# -- notebooks and files ----------------------------------------------------------------------------------------


def test_a_state_shows_its_player_to_act_in_a_notebook():
    state = get_game("leduc_poker_v0").new_state(seed=1, deck="K Q J")
    texts = [element.text for element in ElementTree.fromstring(state._repr_svg_()).iter(TITLE)]
    assert texts == ["K"]
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert len(list(ElementTree.fromstring(state._repr_svg_()).iter(TITLE))) > 1


def test_a_replay_plays_in_a_notebook_apart_from_it():
    shown = played(get_game("kuhn_poker_v0"))._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in shown


def test_a_page_as_one_player_saw_it_hides_the_rest():
    replay = played(get_game("kuhn_poker_v0"))
    elements = [draw_svg(frame.view) for frame in replay.frames(0)]
    other = table_texts(replay.state_at(0).view(1))["piles"]["hand"][1][0]
    assert f"<title>{other}</title>" not in elements[0]


@pytest.mark.parametrize(("game", "most"), [("gin_rummy_v0", 200_000), ("wingspan_v0", 600_000)])
def test_pages_are_small(game, most):
    assert len(played(get_game(game)).page()) < most


def test_a_page_needs_a_position():
    with pytest.raises(ValueError, match="at least one frame"):
        player_page("nothing", [])


def test_an_animated_picture_shows_every_position_in_turn():
    replay = played(get_game("kuhn_poker_v0"))
    frames = [frame.view for frame in replay.frames()]
    root = ElementTree.fromstring(draw_animation(frames, seconds=1.5))
    assert len([element for element in root if "cv-frame" in element.get("class", "")]) == len(frames)


# -- pixels -----------------------------------------------------------------------------------------------------


def test_pixels_have_the_size_that_is_asked_for():
    svg = draw_svg(get_game("leduc_poker_v0").new_state(seed=1).view(0))
    assert png(svg, 320).startswith(b"\x89PNG")
    pixels = rgb_array(svg, 320, 240)
    assert (pixels.shape, pixels.dtype) == ((240, 320, 3), np.uint8)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
    assert rgb_array(svg, 320, 100).shape == (100, 320, 3)


def test_text_is_drawn_with_the_font_of_the_extra():
    words = '<text y="15" font-family="Hanken Grotesk">Q 10</text>'
    words = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 20">{words}</svg>'
    assert (rgb_array(words, 90, 20) < 128).any()


def test_signs_of_suits_are_drawn():
    drawn = [
        rgb_array(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><text y="30" '
                  f'font-family="Hanken Grotesk" font-size="30">{sign}</text></svg>', 40, 40).tobytes()
        for sign in "♠♥♦♣\ue000"
    ]  # fmt: skip
    assert len(set(drawn)) == 5  # the last has no glyph


def test_an_animation_has_a_frame_for_each_position():
    from io import BytesIO

    from PIL import Image

    replay = played(get_game("kuhn_poker_v0"))
    data = gif([draw_svg(frame.view) for frame in replay.frames()], 200, 100)
    with Image.open(BytesIO(data)) as image:
        assert image.n_frames == len(replay.actions) + 1


@pytest.mark.parametrize("game", ["kuhn_poker_v0", "wingspan_v0"])
def test_environments_render_pixels_of_one_size(game):
    env = SeatEnv(game, render_mode="rgb_array")
    env.reset(seed=1)
    sizes = set()
    for _ in range(4):
        sizes.add(env.render().shape)
        if env.step(int(np.flatnonzero(env.action_masks())[0]))[2]:
            break
    assert sizes == {(800 if game == "wingspan_v0" else 480, 640, 3)}


def test_the_aec_environment_renders_what_the_selected_agent_sees():
    env = cardenvs.make("leduc_poker_v0", render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    env.step(1)
    assert first.shape == env.render().shape
    assert not np.array_equal(first, env.render())


def test_gymnasium_records_a_video(tmp_path):
    env = gymnasium.wrappers.RecordVideo(
        gymnasium.make("cardenvs/leduc_poker-v0", render_mode="rgb_array"), str(tmp_path), lambda episode: True
    )
    env.reset(seed=1)
    for _ in range(20):
        mask = env.unwrapped.action_masks()
        if any(env.step(int(np.flatnonzero(mask)[0]))[2:4]):
            break
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1000


# -- text -------------------------------------------------------------------------------------------------------


def test_lines_fit():
    for line in wrapped("When activated: gain one seed from the birdfeeder, if there is one.", 10, 90):
        assert text_width(line, 10) <= 90
    assert wrapped("one two three four five six", 10, 40, 2)[-1].endswith("…")
    assert cut("abc", 10, 1000) == "abc"
    assert (
        len(wrapped("Great Crested Flycatcher", 11, 150))
        == 1
        < len(wrapped("Great Crested Flycatcher", 11, 150, bold=True))
    )
    assert escaped("a<b>\x07&\"'") == "a&lt;b&gt;&amp;&quot;&#39;"
    assert WIDTH == 960


def test_a_batch_of_games_is_recorded_and_tiled(tmp_path):
    envs = gymnasium.make_vec("cardenvs/leduc_poker-v0", num_envs=3, seat="rotate", render_mode="rgb_array")
    video = gymnasium.wrappers.vector.RecordVideo(envs, str(tmp_path), episode_trigger=lambda episode: True)
    video.reset(seed=1)
    for _ in range(6):
        video.step(np.array([mask.nonzero()[0][0] for mask in envs.action_masks()]))
    frames = envs.render()
    assert [frame.shape for frame in frames] == [(480, 640, 3)] * 3
    video.close()
    assert list(tmp_path.glob("*.mp4"))
    with pytest.raises(OptionError, match="render_mode takes None or rgb_array"):
        gymnasium.make_vec("cardenvs/leduc_poker-v0", num_envs=1, render_mode="human")


def test_the_first_games_of_a_batch_are_one_picture():
    vec = cardenvs.make_vec("gin_rummy_v0", num_envs=8, seed=3)
    vec.reset()
    picture = vec.render(most=5)
    assert picture.shape == (2 * 480, 3 * 640, 3)
    assert (picture[480:, 1280:] == 255).all()
    assert (picture[:480, :640] == table_image(vec.state(0), vec.state(0).current_player)).all()


def test_a_match_shows_its_table_and_plot_in_a_notebook():
    summary = run_match(Match.of("kuhn_poker_v0", ["random", "search:simulations=8"], deals=5, seed=1))
    shown = summary._repr_html_()
    assert "<table" in shown
    assert "search:simulations=8" in shown
    assert "<svg" in shown
    assert "var(" not in shown
