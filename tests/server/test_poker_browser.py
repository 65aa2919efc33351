"""The page of one-player poker in a browser: by keyboard alone, by clicks, on a phone, after a reload."""

import json

import pytest
from served import Served, until

pytest.importorskip("websockets")

pytestmark = pytest.mark.rotating


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("served") / "tables.db")
    yield server
    server.kill()


@pytest.fixture
def page(browser, served):
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    opened = context.new_page()
    wrong = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    opened.goto(f"{served.url}/game")
    until(opened, "document.querySelectorAll('#tier option').length === 3")
    yield opened
    context.close()
    assert not wrong


def deal(page, seed, mode="practice", tier="easy"):
    page.select_option("#mode", mode)
    page.select_option("#tier", tier)
    page.fill("#seed", str(seed))
    page.click("#start")
    until(page, "document.querySelectorAll('#hand button').length === 7")


def number(page, place):
    return int(page.inner_text(place).replace(",", ""))


def press(page, keys):
    shown = "['jumpnote', 'plays', 'discards', 'said'].map(id => document.getElementById(id).innerText).join()"
    before = page.evaluate(shown)
    for key in keys:
        page.keyboard.press(key)
    until(page, f"{shown} !== {json.dumps(before)}")


def test_a_game_by_keyboard_alone(page):
    deal(page, 123)
    assert page.evaluate("document.activeElement.dataset.place") == "0"
    press(page, "13d")
    assert number(page, "#discards") == 8
    page.keyboard.press("h")
    until(page, "document.querySelectorAll('#hand button.hinted').length > 0")
    assert page.inner_text("#said").startswith("Hint: ")
    chosen = page.evaluate("[...document.querySelectorAll('#hand button')].map(one => one.ariaPressed === 'true')")
    assert chosen == page.evaluate(
        "[...document.querySelectorAll('#hand button')].map(one => one.classList.contains('hinted'))"
    )
    page.keyboard.press("Escape")
    for _ in range(4):
        press(page, "12345p")
    assert "The game is over" in page.inner_text("#verdict")
    assert page.evaluate("document.activeElement.id") == "reveal"
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('#trace li').length === 5")
    assert len(page.query_selector_all("#story li")) == 5


def test_jumps_by_the_slider_and_what_they_cut_off(page):
    deal(page, 5)
    press(page, "12345p")
    press(page, "12345p")
    score = number(page, "#score")
    page.locator("#jump").focus()
    page.keyboard.press("ArrowLeft")
    until(page, "document.getElementById('plays').textContent === '3'")
    assert number(page, "#score") < score
    page.locator("body").click(position={"x": 5, "y": 5})
    press(page, "1d")
    assert "Step 2 of 2" in page.inner_text("#jumpnote")


def test_clicks_and_a_reload(page):
    deal(page, 9, "challenge", "medium")
    assert number(page, "#target") > 0
    for card in page.query_selector_all("#hand button")[:5]:
        card.click()
    assert page.is_enabled("#play")
    page.click("#play")
    until(page, "document.getElementById('plays').textContent === '3'")
    hand = page.inner_text("#hand")
    page.reload()
    until(page, "document.querySelectorAll('#hand button').length === 7")
    assert page.inner_text("#hand") == hand
    assert page.inner_text("#plays") == "3"
    until(page, "document.querySelectorAll('#games button').length === 1")


def test_a_game_begun_while_the_page_still_loads_keeps_what_is_chosen(browser, served):
    context = browser.new_context()
    page = context.new_page()
    held = []
    page.route("**/game/list", lambda route: held.append(route) if not held else route.continue_())
    page.goto(f"{served.url}/game")
    until(page, "document.querySelectorAll('#tier option').length === 3")
    deal(page, 77)
    page.keyboard.press("2")
    with page.expect_response("**/game/list"):
        held[0].continue_()
    page.wait_for_timeout(300)
    assert page.get_attribute("#hand button:nth-child(2)", "aria-pressed") == "true"
    context.close()


def test_a_reader_hears_every_card_and_what_is_chosen(page):
    deal(page, 1)
    cards = page.query_selector_all("#hand button")
    assert [card.get_attribute("aria-pressed") for card in cards] == ["false"] * 7
    names = [card.get_attribute("aria-label") for card in cards]
    assert all(" of " in name for name in names)
    page.keyboard.press("4")
    assert cards[3].get_attribute("aria-pressed") == "true"
    assert page.get_attribute("#said", "aria-live") == "polite"
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, select, button')].filter(one => !one.labels?.length"
        " && !one.textContent.trim() && !one.ariaLabel).length"
    )
    assert unnamed == 0


def test_a_hard_challenge_has_neither_hints_nor_jumps(page):
    deal(page, 2, "challenge", "hard")
    press(page, "12345p")
    assert not page.is_visible("#hint")
    assert not page.is_visible("#jump")


def test_the_page_fits_a_phone_and_the_dark(browser, served):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{served.url}/game")
    until(page, "document.querySelectorAll('#tier option').length === 3")
    deal(page, 4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in background[4:-1].split(",")) < 64
    context.close()
