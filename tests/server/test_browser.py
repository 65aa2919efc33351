"""The pages in a browser: whole games by clicking, by keyboard, on a phone, in the dark."""

import json
import urllib.request
from importlib.metadata import entry_points

import pytest
from served import Served, free_port, until

pytest.importorskip("websockets")
GAMES = sorted(one.name for one in entry_points(group="cardenvs.games") if one.value.startswith("cardenvs.games."))

# Clicks whatever is marked as clickable, drawn from a seed, until the game is over.
CLICK_ALONG = """async ([seed, most]) => {
  const draw = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
  const wait = () => new Promise(done => setTimeout(done, 8));
  let clicks = 0;
  for (let tries = 0; tries < most; tries++) {
    if (!document.getElementById("end").hidden) return clicks;
    if (!document.getElementById("round").hidden) document.getElementById("next").click();
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
        if page.is_visible("#round"):
            assert page.evaluate("document.activeElement.id") == "next"
            page.keyboard.press("Enter")
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


def play_until(page, condition):
    """Click whatever may be clicked first, until something is true."""
    for _ in range(2000):
        if page.evaluate(condition):
            return
        if page.get_attribute("#prompt", "class") == "yours":
            page.locator("#picture [role=button], #choices button").first.dispatch_event("click")
        page.wait_for_timeout(10)
    raise AssertionError(f"it never came true that {condition}")


def test_after_a_round_the_page_shows_the_scores_and_waits(served, page):
    page.goto(person_link(served, "katko_v0", options={"num_players": 2, "target": 9}))
    page.wait_for_selector("#parts rect")
    play_until(page, "!document.getElementById('round').hidden")
    assert page.inner_text("#roundtitle") == "Round 1 is over"
    assert "score" in page.inner_text("#scores")
    assert page.inner_text("#prompt").startswith("Event ")
    page.click("#next")
    until(page, "document.getElementById('round').hidden")
    assert not page.inner_text("#prompt").startswith("Event ")
    page.evaluate("localStorage.setItem('cardenvs-stops', 'false')")
    page.reload()
    play_until(page, "document.getElementById('log').textContent.includes('Deal 3')")
    assert not page.is_visible("#round")


def test_who_comes_late_steps_back_to_the_deal_and_plays_on_from_there(served, page):
    link = person_link(served, "leduc_poker_v0", seats=["person", "person"])
    page.goto(link)
    page.wait_for_selector("#choices button")
    page.locator("#choices button").first.click()
    until(page, "document.getElementById('prompt').className !== 'yours'")
    page.goto("about:blank")
    page.goto(link)  # as somebody who has seen nothing yet
    page.wait_for_selector("#parts rect")
    events = int(page.get_attribute("#place", "max"))
    assert events > 4
    for back in range(1, events):
        page.click("#back")
        until(page, f"document.getElementById('prompt').textContent.startsWith('Event {events - back} of {events}')")
    assert page.locator("#picture [data-token]").count() == 0
    assert page.is_disabled("#back")
    page.select_option("#speed", "200")
    page.click("#play")
    until(page, "document.getElementById('now').disabled")
    assert page.locator("#picture [data-token]").count() == 1
    assert page.inner_text("#play") == "Play"


BY_PLACE = """() => [...document.querySelectorAll("#picture [data-pile='hand.0'] [data-token]")]
  .map(card => [card.getBoundingClientRect().x, card.querySelector("title").textContent, card.dataset.token])
  .sort((a, b) => a[0] - b[0])"""


def test_the_hand_is_sorted_on_the_page_and_a_click_still_means_the_card_under_it(served, page):
    ranks = "23456789TJQKA"
    page.goto(person_link(served, "katko_v0", seats=["person", "person"], options={"num_players": 2}, seed=5))
    page.wait_for_selector("#parts [data-token]")
    orders = {}
    for order in ("", "suit", "rank"):
        page.select_option("#sort", order)
        orders[order] = page.evaluate(BY_PLACE)
        assert len(orders[order]) == 5
    for order, key in (("rank", lambda t: (ranks.index(t[0]), t[1])), ("suit", lambda t: (t[1], ranks.index(t[0])))):
        texts = [card[1] for card in orders[order]]
        assert texts == sorted(texts, key=key)
    assert [card[1] for card in orders["suit"]] != [card[1] for card in orders["rank"]]
    assert len({tuple(round(card[0]) for card in cards) for cards in orders.values()}) == 1  # the same places
    assert page.get_attribute("#prompt", "class") == "yours"  # with this seed
    x, text, _ = orders["rank"][0]
    box = page.locator("#picture [data-pile='hand.0']").bounding_box()
    page.mouse.click(x + 8, box["y"] + box["height"] / 2)
    until(page, "document.querySelectorAll('#picture [data-pile=\"hand.0\"] [data-token]').length === 4")
    assert text not in [card[1] for card in page.evaluate(BY_PLACE)]


def test_rules_seats_and_layouts(served, page):
    page.goto(person_link(served, "gin_rummy_v0", seats=["person", "person"]))
    page.wait_for_selector("#parts rect")
    page.click("#tab-rules")
    until(page, "document.getElementById('panel-rules').textContent.includes('knock limit')")
    assert page.locator("#panel-rules strong").count() > 0
    page.press("#tab-rules", "ArrowRight")
    page.click("#seatlist button:text-is('Let it play for me')")
    page.wait_for_selector("#seatlist button:text-is('Play again')")
    page.click("#seatlist button:text-is('Play again')")
    page.wait_for_selector("#seatlist button:text-is('Let it play for me')")
    page.select_option("#layout", "narrow")
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 480')")
    page.reload()  # the choice is kept
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 480')")
    page.select_option("#layout", "wide")
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 960')")


@pytest.mark.parametrize("page", [{}, {"viewport": {"width": 390, "height": 800}}], indirect=True)
def test_a_model_that_cannot_be_reached_is_tried_again_looked_at_and_left(tmp_path, page):
    env = {"LLM_BASE_URL": f"http://127.0.0.1:{free_port()}/v1", "LLM_MODEL": "dead", "BACKEND_LLM_ENABLED": "1"}
    served = Served(tmp_path / "tables.db", "--pace", "0", "--agent", "mini=llm:env,transport_retries=0", env=env)
    try:
        page.goto(person_link(served, "kuhn_poker_v0", seats=["mini", "person"]))
        page.wait_for_selector("#stopped:not([hidden])")
        assert page.inner_text("#stoptitle") == "mini cannot play for player_0"
        page.click("#retry")
        until(page, "!document.getElementById('stopped').hidden && !document.getElementById('retry').disabled")
        page.click("#stoplog")
        until(page, "document.getElementById('asked').textContent.includes('cannot be reached')")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click("#stopped a")
        page.wait_for_selector("#seats select")
        page.select_option("#game", "kuhn_poker_v0")
        assert "model" in page.locator("#seats select").first.inner_text().split()
    finally:
        served.kill()
