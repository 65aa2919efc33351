"""The pages in a browser: whole games by clicking, by keyboard, on a phone, in the dark."""

import json
import urllib.request
from importlib.metadata import entry_points

import pytest
from served import Served, until

pytest.importorskip("websockets")
GAMES = sorted(one.name for one in entry_points(group="cardenvs.games") if one.value.startswith("cardenvs.games."))

# Clicks whatever is marked as clickable, drawn from a seed, until the game is over.
CLICK_ALONG = """async ([seed, most]) => {
  const draw = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
  const wait = () => new Promise(done => setTimeout(done, 8));
  let clicks = 0;
  for (let tries = 0; tries < most; tries++) {
    if (!document.getElementById("end").hidden) return clicks;
    const open = [...document.querySelectorAll("#picture [role=button], #choices button, #bet")].filter(
      place => place.id !== "bet" || !place.form.hidden);
    if (open.length && document.getElementById("prompt").className === "yours") {
      open[Math.floor(draw() * open.length)].dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
      clicks++;
    }
    await wait();
  }
  return -1;
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("served") / "tables.db", "--pace", "0", "--think", "0")
    yield server
    server.kill()


@pytest.fixture
def page(browser, request):
    context = browser.new_context(
        **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | getattr(request, "param", {})
    )
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    context.close()
    assert [text for text in wrong if "400 (Bad Request)" not in text] == []  # a request that was refused
    assert all(url.startswith(("http://127.0.0.1", "data:")) for url in asked), asked


def person_link(served, game, **more):
    body = json.dumps({"game": game, **more}).encode()
    request = urllib.request.Request(f"{served.url}/api/tables", body, {"content-type": "application/json"})
    table = json.load(urllib.request.urlopen(request))
    return next(f"{served.url}/t/{seat['link']}" for seat in table["seats"] if seat["by"] == "person")


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_is_played_by_clicking_and_replayed(served, page, game):
    page.goto(person_link(served, game, seats=None))
    page.wait_for_selector("#parts rect")
    assert page.evaluate(CLICK_ALONG, [17, 15_000]) > 0
    assert "The game is over" in page.inner_text("#prompt")
    assert page.locator("#log li").count() > 2
    page.click("#replay")
    page.wait_for_selector("#place")
    until(page, "document.getElementById('count').textContent.includes(' of ')")
    page.click("#end")
    page.click("#back")  # at the end some tables are empty
    assert page.locator("#picture [data-pile]").count() > 0


def test_a_game_is_played_by_keyboard_alone(served, page):
    page.goto(person_link(served, "gin_rummy_v0"))
    page.wait_for_selector("#parts rect")
    for _ in range(600):
        if page.is_visible("#end"):
            break
        if page.get_attribute("#prompt", "class") != "yours":
            page.wait_for_timeout(5)
            continue
        for _ in range(60):
            if page.evaluate("document.activeElement.matches('#picture [role=button], #choices button')"):
                page.keyboard.press("Enter")
                break
            page.keyboard.press("Tab")
    assert "The game is over" in page.inner_text("#prompt")


@pytest.mark.parametrize(
    "page", [{"viewport": {"width": 390, "height": 800}, "color_scheme": "dark", "has_touch": True}], indirect=True
)
@pytest.mark.parametrize("game", ["texas_holdem_v0", "wingspan_v0"])
def test_a_phone_in_the_dark(served, page, game):
    page.goto(person_link(served, game))
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 480')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, ground[4:-1].split(","))) < 60


def test_the_lobby_opens_a_table_with_options(served, page):
    page.goto(served.url)
    page.wait_for_selector("#seats select")
    page.select_option("#game", "leduc_poker_v0")
    page.click('summary:text-is("Options")')
    page.fill("#option-num_players", "3")
    page.press("#option-num_players", "Tab")
    assert page.locator("#seats select").count() == 3
    page.click('summary:text-is("Deal")')
    page.fill("#deck", "J Q Z")
    page.click("#open")
    page.wait_for_selector("#said:not([hidden])")
    assert "'Z' is not one of" in page.inner_text("#said")
    page.fill("#deck", "")
    page.fill("#option-ante", "3")
    page.click("#open")
    page.wait_for_url("**/t/*")
    page.wait_for_selector("#parts rect")
    assert "player_2" in page.inner_text("#seats")


def test_the_person_takes_a_move_back_and_asks_for_a_hint(served, page):
    page.goto(person_link(served, "gin_rummy_v0", seats=["person", "person"], seed=4))
    page.wait_for_selector("#parts rect")
    if page.get_attribute("#prompt", "class") != "yours":
        pytest.skip("the other person begins")
    page.click("#hint")
    until(page, "document.getElementById('said').textContent.includes('would choose')")
    page.click("#choices button:has-text('take')")
    until(page, "!document.getElementById('undo').disabled")
    page.click("#undo")
    page.wait_for_selector("#choices button:has-text('take')")


@pytest.fixture
def unhurried(tmp_path):
    server = Served(tmp_path / "tables.db", "--pace", "0.3")
    yield server
    server.kill()


def test_agents_are_watched_stepped_and_seen_through(unhurried, page):
    body = json.dumps({"game": "gin_rummy_v0", "seats": ["heuristic", "heuristic"], "options": {"match_target": 50}})
    request = urllib.request.Request(f"{unhurried.url}/api/tables", body.encode(), {"content-type": "application/json"})
    table = json.load(urllib.request.urlopen(request))
    page.goto(f"{unhurried.url}/t/{table['host']}")
    page.wait_for_selector("#watching:not([hidden])")
    page.click("#run")
    until(page, "document.getElementById('run').textContent === 'Go on'")
    page.select_option("#viewer", "everything")
    until(page, "document.querySelectorAll('#picture [data-token]').length > 20")
    page.wait_for_timeout(100)
    before = page.locator("#log li").count()
    page.click("#step")
    until(page, f"document.querySelectorAll('#log li').length > {before}")
    page.wait_for_timeout(100)
    page.fill("#pace", "0")
    page.press("#pace", "Tab")
    page.click("#run")
    page.wait_for_selector("#end:not([hidden])", timeout=60_000)
