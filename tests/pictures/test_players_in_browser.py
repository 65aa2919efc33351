"""Every page that plays a game, clicked through in a browser: in a notebook's output, in a file, on a board's site."""

import json
from pathlib import Path

import numpy as np
import pytest

import cardenvs
from cardenvs.core.replay import Replay

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def page(browser):
    opened = browser.new_page(reduced_motion="reduce")
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    yield opened
    opened.close()
    assert wrong == []


@pytest.fixture(scope="module")
def replay():
    state = cardenvs.get_game("leduc_poker_v0").new_state(seed=3)
    rng = np.random.default_rng(3)
    while not state.is_terminal:
        state.apply(int(rng.choice(state.legal_actions())))
    return Replay.of(state)


def click_through(player):
    """Use every control of a player (a page or a frame) and check that it shows the right position."""
    player.wait_for_selector("#count:not(:empty)")
    last = int(player.get_attribute("#place", "max"))
    assert last > 0

    def at(number):
        return player.inner_text("#count") == f"{number} of {last}" and player.input_value("#place") == str(number)

    assert at(0)
    for control, number in (("next", 1), ("back", 0), ("end", last), ("first", 0)):
        player.click(f"#{control}")
        assert at(number), control
    shown = player.inner_html("#picture")
    player.fill("#place", str(last))
    assert at(last)
    assert player.inner_html("#picture") != shown
    assert player.inner_text("#said")
    player.select_option("#speed", "300")
    player.click("#first")
    player.click("#play")
    assert player.inner_text("#play") == "Pause"
    player.wait_for_selector(f"#count:not(:text-is('0 of {last}'))")
    for _ in range(2):  # if the replay ends just before the click, the click starts it again
        if player.inner_text("#play") == "Pause":
            player.click("#play")
    assert player.inner_text("#play") == "Play"


def test_a_page_in_a_file(page, replay, tmp_path):
    file = tmp_path / "game.html"
    file.write_text(replay.page(), encoding="utf-8")
    page.goto(file.as_uri())
    click_through(page)


def test_keys_of_a_page(page, replay):
    page.set_content(replay.page())
    page.wait_for_selector("#count:not(:empty)")
    last = int(page.get_attribute("#place", "max"))
    for key, number in (("End", last), ("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        assert page.inner_text("#count") == f"{number} of {last}", key


def test_the_output_of_a_notebook(page, replay):
    page.set_content(replay._repr_html_())
    click_through(page.frames[1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_of_a_notebook(page, path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [
        "".join(output.get("data", {}).get("text/html", "")) for cell in cells for output in cell.get("outputs", ())
    ]
    players = [output for output in outputs if "srcdoc" in output]
    page.set_content("".join(players))
    assert len(page.frames) == 1 + len(players)
    for frame in page.frames[1:]:
        click_through(frame)
