"""The pages in a browser: whole games by clicking, by keyboard, on a phone, in the dark."""

import json
import re
import urllib.request
from importlib.metadata import entry_points

import pytest
from served import Served, free_port, until

from cardenvs.core.registry import get_game

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

# Drags cards onto the table, and presses number keys where there is nothing to drag, until the game is over.
DRAG_ALONG = """async ([seed, most]) => {
  const draw = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
  const pick = list => list[Math.floor(draw() * list.length)];
  const wait = () => new Promise(done => setTimeout(done, 8));
  const picture = document.getElementById("picture");
  const middle = element => { const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const point = (type, target, [x, y]) => target.dispatchEvent(new PointerEvent(type, {bubbles: true, cancelable: true, pointerId: 1, button: 0, clientX: x, clientY: y}));
  picture.setPointerCapture = () => {};  // there is no such pointer
  const counts = {drags: 0, keys: 0, clicks: 0};
  for (let tries = 0; tries < most; tries++) {
    if (!document.getElementById("end").hidden) return counts;
    if (!document.getElementById("round").hidden) document.getElementById("next").click();
    if (document.getElementById("prompt").className === "yours") {
      const cards = [...picture.querySelectorAll("[data-slot] > [role=button]")];
      const bet = document.getElementById("bet"), number = String(1 + Math.floor(draw() * 4));
      if (!bet.form.hidden && draw() < 0.3) bet.click();
      else if (cards.length && draw() < 0.7) {
        const card = pick(cards), from = middle(card), targets = [...picture.querySelectorAll("[data-pile]")];
        const frame = picture.getBoundingClientRect(), to = draw() < 0.5 ? middle(pick(targets)) : [frame.x + frame.width / 2, frame.y + frame.height * 0.42];
        point("pointerdown", card.firstElementChild, from);
        point("pointermove", picture, [from[0] + 20, from[1] - 20]);
        point("pointermove", picture, to);
        point("pointerup", picture, to);
        counts.drags++;
      } else if (draw() < 0.7) {
        document.activeElement.blur?.();
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: number, bubbles: true}));
        counts.keys++;
      } else {
        pick([...document.querySelectorAll("#picture [role=button], #choices button")])?.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
        counts.clicks++;
      }
    }
    await wait();
  }
  return null;
}"""  # noqa: E501

# Unless a test wants to see every moment. Pages like about:blank have no storage.
MOVES_AT_ONCE = """
try { localStorage.getItem("cardenvs-motion") ?? localStorage.setItem("cardenvs-motion", "0"); } catch {}
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("served") / "tables.db", program="browser_server.py")
    yield server
    server.kill()


@pytest.fixture
def page(browser, request):
    context = browser.new_context(
        **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | getattr(request, "param", {})
    )
    context.add_init_script(MOVES_AT_ONCE)
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


def set_look(page, name, value):
    """Choose how the table looks, in the panel for that."""
    page.click("#tab-look")
    page.select_option(f"#{name}", value)


def person_link(served, game, **more):
    body = json.dumps({"game": game, "seed": 7, **more}).encode()
    request = urllib.request.Request(f"{served.url}/api/tables", body, {"content-type": "application/json"})
    table = json.load(urllib.request.urlopen(request))
    return next(f"{served.url}/t/{seat['link']}" for seat in table["seats"] if seat["by"] == "person")


def test_after_a_game_its_review_is_one_click_away(served, page):
    page.goto(person_link(served, "leduc_poker_v0", seats=None))
    page.wait_for_selector("#parts rect")
    page.evaluate(CLICK_ALONG, [17, 15_000])
    page.click("#review")
    page.wait_for_selector("text=Turning points")
    player = page.frame_locator("#game iframe")
    link = page.locator("[data-ply]").last
    ply = link.inner_text()
    link.click()
    player.locator("#count", has_text=f"{ply} of").wait_for()
    page.click("text=All tables")
    page.wait_for_selector("#tables li")


@pytest.mark.rotating
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
    page.click("text=All tables")
    page.wait_for_selector("#tables li")


@pytest.mark.rotating
@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_is_played_by_dragging_and_number_keys(served, page, game):
    page.goto(person_link(served, game, seats=None))
    page.wait_for_selector("#parts rect")
    counts = page.evaluate(DRAG_ALONG, [23, 15_000])
    assert counts is not None
    assert sum(counts.values()) > 0
    assert "The game is over" in page.inner_text("#prompt")
    assert page.inner_text("#endsaid")
    assert page.locator("#endscores tr.best").count() >= 1
    assert page.locator(".ghost, .landing").count() == 0


def test_a_card_is_dragged_with_the_mouse_to_the_middle_and_back_home(served, page):
    page.goto(person_link(served, "katko_v0", seats=["person", "person"], options={"num_players": 2}, seed=5))
    page.wait_for_selector("#parts [data-token]")
    hand = "document.querySelectorAll('#picture [data-slot]').length"
    card = page.locator("#picture [data-slot] [role=button]").first.bounding_box()
    x, y = card["x"] + 20, card["y"] + card["height"] / 2
    table = page.locator("#picture").bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 30, steps=3)
    assert page.is_visible(".ghost")
    assert page.locator(".landing").count() == 1  # no pile shows the place yet
    page.mouse.move(x, y + 5, steps=3)
    page.mouse.up()  # at home: nothing happens, and it was no click either
    page.wait_for_timeout(50)
    assert page.evaluate(hand) == 5
    assert page.locator(".chosen").count() == 0
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(table["x"] + table["width"] / 2, table["y"] + 0.45 * table["height"], steps=5)
    page.mouse.up()
    until(page, f"{hand} === 4")


def test_moves_have_numbers(served, page):
    page.goto(person_link(served, "kuhn_poker_v0", seats=["person", "person"]))
    page.wait_for_selector("#choices button")
    before = page.locator("#log li").count()
    assert page.locator("#choices button").first.get_attribute("data-key") == "1"
    page.keyboard.press("9")  # no move has this number
    page.keyboard.press("1")
    until(page, "document.getElementById('prompt').className !== 'yours'")
    assert page.locator("#log li").count() > before


SMALLEST = """() => Math.min(...[...document.querySelectorAll("#picture text")].filter(text => text.textContent)
  .map(text => [parseFloat(text.getAttribute("font-size")), text.getScreenCTM()])
  .map(([size, to]) => size * Math.hypot(to.a, to.b)))"""


@pytest.mark.rotating
@pytest.mark.parametrize(
    "page", [{}, {"viewport": {"width": 360, "height": 760}}], ids=["wide", "phone"], indirect=True
)
@pytest.mark.parametrize("game", GAMES)
def test_text_can_be_read_and_nothing_scrolls_sideways(served, page, game):
    page.goto(person_link(served, game, seats=None, seed=3))
    page.wait_for_selector("#parts rect")
    for _ in range(6):
        page.evaluate(CLICK_FIRST)
        page.wait_for_timeout(30)
        assert page.evaluate(SMALLEST) >= 12
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_refusal_opens_its_paragraph_of_the_rules(served, page):
    page.goto(person_link(served, "gin_rummy_v0", seats=["person", "person"], seed=4))
    page.wait_for_selector("#parts rect")
    assert page.get_attribute("#prompt", "class") == "yours"  # with this seed
    page.locator("#picture [data-slot] [data-token]").first.click()  # before a card was drawn
    page.wait_for_selector("#said button")
    assert "_v0" not in page.inner_text("#said")
    number = page.inner_text("#said button").removeprefix("Rule ")
    page.click("#said button")
    page.wait_for_selector("#rules .found")
    assert page.inner_text("#rules .found").startswith(number)


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
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 360')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, ground[4:-1].split(","))) < 60


def test_the_lobby_opens_a_table_with_options(served, page):
    page.goto(served.url)
    page.click("[data-game=leduc_poker_v0] .more")
    page.click('summary:text-is("Options")')
    page.fill("#option-num_players", "3")
    page.press("#option-num_players", "Tab")
    assert page.locator("#seats select").count() == 3
    assert page.locator("#seats label span").all_inner_texts() == ["Seat 1", "Seat 2", "Seat 3"]
    page.click('summary:text-is("Deal and visibility")')
    page.fill("#deck", "J Q Z")
    page.click("#open")
    page.wait_for_selector("#said:not([hidden])")
    assert "'Z' is not one of" in page.inner_text("#said")
    page.fill("#deck", "")
    page.fill("#option-ante", "3")
    page.click("#open")
    page.wait_for_url("**/t/*")
    page.wait_for_selector("#parts rect")
    assert re.fullmatch(r"\w+: you · \w+, \w+: .+", page.inner_text("#seats"))


def test_one_click_opens_a_table_against_an_opponent_of_the_chosen_strength(served, page):
    page.goto(served.url)
    page.wait_for_selector(".tile")
    assert page.is_checked("[value=medium]")
    page.focus("[value=medium]")
    page.keyboard.press("ArrowLeft")
    assert "random mover" in page.inner_text("[data-game=gin_rummy_v0] .foe")
    page.reload()  # the choice is kept
    page.wait_for_selector(".tile")
    assert page.is_checked("[value=easy]")
    page.focus("[value=easy]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("[data-game=gin_rummy_v0] .foe").split() == ["vs", "trained", "policy", "1,853"]
    picture = page.locator("[data-game=gin_rummy_v0] img")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.click(box["x"] + 20, box["y"] + 20)  # all of the tile plays
    page.wait_for_url("**/t/*")
    page.wait_for_selector("#parts rect")
    assert "trained policy" in page.inner_text("#seats")
    page.goto(served.url)
    page.wait_for_selector("#mylist a")
    assert "You against trained policy" in page.inner_text("#mylist")


def test_a_game_is_found_by_its_words_and_every_tile_has_its_picture(served, page):
    page.goto(served.url)
    page.wait_for_selector(".tile")
    assert page.locator(".tile").count() >= len(GAMES)
    page.evaluate("for (const one of document.images) one.loading = 'eager'")
    until(page, "[...document.querySelectorAll('.tile img')].every(one => one.complete && one.naturalWidth)")
    page.fill("#find", "finnish")
    assert [tile.get_attribute("data-game") for tile in page.locator(".tile:visible").all()] == [
        "kasino_v0", "katko_v0", "marjapussi_v0", "ristiseiska_v0"
    ]  # fmt: skip
    page.fill("#find", "chess")
    assert page.locator(".tile:visible").count() == 0
    page.click("#all")
    assert page.locator(".tile:visible").count() >= len(GAMES)


def test_agents_play_for_whoever_wants_to_watch(served, page):
    page.goto(served.url)
    page.click("[data-game=durak_v0] .more")
    page.click("summary:text-is('Rules')")
    until(page, "document.getElementById('rulestext').children.length > 5")
    page.click("#agents")
    page.wait_for_url("**/t/*")
    page.wait_for_selector("#end:not([hidden])")  # soon: they play without a pause here
    page.goto(served.url)
    until(page, "document.getElementById('mylist').textContent.includes('You opened it for 2')")
    assert "rule player (heuristic)" in page.inner_text("#mylist")
    page.wait_for_selector("#recorded a[href$='/replay'] >> text=Durak")


def test_an_agent_that_knows_other_options_brings_them_along(served, page):
    pytest.importorskip("torch")
    page.goto(served.url)
    page.click("[data-game=casino_v0] .more")
    page.locator("#seats select").nth(1).select_option("trained")
    assert "match = false" in page.inner_text("#learned")
    page.click("#open")
    page.wait_for_url("**/t/*")
    page.wait_for_selector("#parts rect")


def test_the_dialog_closes_by_keyboard_and_a_refusal_is_said(served, page):
    page.goto(served.url)
    page.wait_for_selector(".tile")
    page.focus("[data-game=katko_v0] .more")
    page.keyboard.press("Enter")
    page.wait_for_selector("#new[open]")
    page.keyboard.press("Escape")
    assert not page.is_visible("#new")
    assert page.evaluate("document.activeElement.matches('[data-game=katko_v0] .more')")
    page.route("**/api/tables", lambda route: route.fulfill(status=400, json={"error": {"message": "it is full"}}))
    page.click("[data-game=katko_v0] .play")
    page.wait_for_selector("#toast:not([hidden])")
    assert page.inner_text("#toast") == "Katko: it is full"
    assert page.inner_text("[data-game=katko_v0] .play") == "Play"


@pytest.mark.parametrize(
    "page", [{}, {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}], indirect=True
)
def test_the_lobby_fits_and_its_text_can_be_read(served, page):
    person_link(served, "texas_holdem_v0", level="medium")
    page.goto(served.url)
    page.wait_for_selector(".tile")
    page.wait_for_selector("#tables a")
    sizes = """[...document.querySelectorAll("body *")].filter(one => one.offsetParent && one.innerText?.trim())
      .map(one => parseFloat(getComputedStyle(one).fontSize))"""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert min(page.evaluate(sizes)) >= 12
    page.click("[data-game=texas_holdem_v0] .more")
    page.click('summary:text-is("Options")')
    assert page.evaluate("document.getElementById('new').scrollWidth <= document.getElementById('new').clientWidth")
    assert min(page.evaluate(sizes)) >= 12


def test_a_seat_is_found_again_in_the_lobby(served, page):
    link = person_link(served, "leduc_poker_v0", seats=["person", "person"])
    page.goto(link)
    page.wait_for_selector("#parts rect")
    page.click("header a")
    page.wait_for_selector("#mylist a")
    assert "You against a person" in page.inner_text("#mylist")
    page.click("#mylist a")
    page.wait_for_selector("#parts rect")
    assert page.url == link
    page.click("header a")
    page.wait_for_selector("#mylist a")
    page.click("#mylist .drop")
    until(page, "document.querySelector('#mylist .empty')")
    page.evaluate("localStorage.setItem('cardenvs-tables', '{')")  # what is damaged is as good as nothing
    page.reload()
    page.wait_for_selector("#tables li")
    assert "Press Play on a game" in page.inner_text("#mylist")


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
    page.click("#tab-look")
    page.fill("#pace", "0")
    page.press("#pace", "Tab")
    page.click("#run")
    page.wait_for_selector("#end:not([hidden])", timeout=60_000)


CLICK_FIRST = (
    "document.querySelector('#prompt.yours') && "
    "document.querySelector('#picture [role=button], #choices button')"
    "?.dispatchEvent(new MouseEvent('click', {bubbles: true}))"
)


def play_until(page, condition):
    """Click whatever may be clicked first, until something is true.

    The page may change between two calls, hence one call that looks and clicks.
    """
    for _ in range(2000):
        if page.evaluate(f"({condition}) || ({CLICK_FIRST}, false)"):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"it never came true that {condition}")


def test_after_a_round_the_page_shows_the_scores_and_waits(served, page):
    page.goto(person_link(served, "katko_v0", options={"num_players": 2, "target": 9}))
    page.wait_for_selector("#parts rect")
    play_until(page, "!document.getElementById('round').hidden")
    assert page.inner_text("#roundtitle") == "The scores"
    assert "score" in page.inner_text("#scores")
    assert page.inner_text("#prompt").startswith("Event ")
    assert "Deal 1" in page.text_content("#log > details")
    assert "Deal 2" not in page.inner_text("#log")  # its cards come when the scores have been read
    page.click("#next")
    until(page, "document.getElementById('round').hidden")
    assert "Deal 2" in page.inner_text("#log")
    assert not page.inner_text("#prompt").startswith("Event ")
    page.evaluate("localStorage.setItem('cardenvs-stops', 'false')")
    page.reload()
    play_until(page, "document.getElementById('log').textContent.includes('Deal 3')")
    assert not page.is_visible("#round")


def test_moves_without_an_alternative_are_made_for_whoever_wants_that(served, page):
    page.goto(person_link(served, "katko_v0", options={"num_players": 2, "target": 1}))
    page.wait_for_selector("#parts rect")
    until(page, "document.getElementById('prompt').className === 'yours'")
    assert page.is_visible("#hint")
    assert not page.is_visible("#always")
    play_until(page, "!document.getElementById('always').hidden")
    assert page.is_visible("#always")
    page.click("#always")
    until(page, "document.getElementById('prompt').className !== 'yours'")
    assert page.evaluate("localStorage.getItem('cardenvs-forced')") == "true"
    assert not page.is_visible("#always")
    page.goto(person_link(served, "katko_v0", options={"num_players": 2, "target": 1}))
    page.wait_for_selector("#parts rect")
    assert page.evaluate("document.getElementById('forced').checked")
    has_a_choice = "document.querySelectorAll('#picture [role=button]').length > 1"
    for _ in range(2000):  # the game ends only if what has no alternative is played
        if page.evaluate(f"!document.getElementById('end').hidden || ({has_a_choice} && {CLICK_FIRST}, false)"):
            break
        page.wait_for_timeout(10)
    else:
        raise AssertionError("the game does not end")
    page.click("#tab-look")
    page.click("#forced")
    assert page.evaluate("localStorage.getItem('cardenvs-forced')") == "false"
    page.goto(person_link(served, "katko_v0", options={"num_players": 2, "target": 1}))
    page.wait_for_selector("#parts rect")
    play_until(page, "!document.getElementById('always').hidden")  # one's own again, and offered again


@pytest.mark.parametrize("page", [{"viewport": {"width": 390, "height": 800}}], indirect=True)
def test_a_phone_scrolls_to_what_can_be_clicked(served, page):
    page.goto(person_link(served, "wingspan_v0"))
    page.wait_for_selector("#parts rect")
    until(page, "document.getElementById('prompt').className === 'yours'")
    boxes = """[...document.querySelectorAll('#picture [role=button]')].map(card => card.getBoundingClientRect())"""
    until(page, "scrollY > 0")
    assert page.evaluate(f"{boxes}.length") == 5
    assert page.evaluate(f"Math.min(...{boxes}.map(box => box.top)) >= 0")
    assert page.evaluate(
        f"Math.max(...{boxes}.map(box => box.bottom)) <= innerHeight - document.getElementById('bar').offsetHeight"
    )


def test_the_end_says_who_has_won_and_the_same_table_opens_again(served, page):
    options = {"num_players": 3, "target": 1}
    page.goto(person_link(served, "katko_v0", options=options, seats=["person", "random", "heuristic"]))
    page.wait_for_selector("#parts rect")
    assert page.evaluate(CLICK_ALONG, [3, 15_000]) > 0
    assert page.inner_text("#endtitle") in ("You win", "You lose", "You share the win")
    assert page.locator("#endscores th", has_text="(you)").count() == 1
    is_first = "(you)" in page.inner_text("#endscores .best")
    assert (page.inner_text("#endtitle") != "You lose") == is_first
    before = page.url
    page.click("#again")
    page.wait_for_url(lambda url: url != before)
    page.wait_for_selector("#parts rect")
    until(page, "document.getElementById('end').hidden && document.getElementById('prompt').textContent")
    page.click("#tab-seats")
    seats = page.inner_text("#seatlist")
    assert "random" in seats.lower()
    assert seats.count("Let it play for me") == 1
    assert page.locator("#seatlist > *").count() == 3


def test_a_finished_trick_lies_there_with_who_won_it(served, page):
    page.goto(person_link(served, "briscola_v0", options={"num_players": 2}))
    page.wait_for_selector("#parts rect")
    set_look(page, "motion", "900")
    play_until(page, "!document.getElementById('banner').hidden")
    assert "point" in page.inner_text("#result")
    trick = page.locator("#parts [data-pile^='trick.'] [data-token]")
    hand = page.evaluate("document.querySelectorAll('#picture [role=button]').length")
    assert hand == 0  # nothing can be clicked while the trick lies there
    assert trick.count() == 2
    page.click("#skip")
    until(page, "document.getElementById('banner').hidden")
    until(page, "document.getElementById('prompt').className === 'yours'")
    assert trick.count() < 2
    play_until(page, "!document.getElementById('banner').hidden")
    page.keyboard.press("Escape")  # to the present
    until(page, "document.getElementById('banner').hidden")
    assert page.evaluate(
        "Number(document.getElementById('place').value) === Number(document.getElementById('place').max)"
    )


def test_a_showdown_is_drawn_street_by_street_and_stops_at_the_result(served, page):
    page.goto(
        person_link(served, "texas_holdem_v0", options={"num_players": 2, "format": "cash", "num_hands": 3}, seed=6)
    )
    page.wait_for_selector("#parts rect")
    set_look(page, "motion", "180")
    for _ in range(60):
        if page.is_visible("#round"):
            break
        if page.get_attribute("#prompt", "class") == "yours":
            if page.is_visible("#amount"):
                page.fill("#number", page.get_attribute("#number", "max"))
                page.click("#bet")
            else:
                page.locator("#choices button").last.click()
        page.wait_for_timeout(100)
    said = page.inner_text("#roundsaid")
    assert "win" in said
    page.click("#next")
    until(page, "document.getElementById('round').hidden")
    until(page, "document.getElementById('banner').hidden")


def test_texts_show_tiles_as_they_look(served, page):
    page.goto(person_link(served, "riichi_v0"))
    page.wait_for_selector("#parts rect")
    play_until(page, "document.querySelector('#log .tile')")
    tile = page.locator("#log .tile").first
    name = tile.text_content()
    assert tile.locator("use").get_attribute("href") == f"#cv-mj-{name}"
    assert page.evaluate(f"document.getElementById('cv-mj-{name}') !== null")
    assert re.search(rf"\b{name}\b", page.text_content("#log"))  # for who listens or copies


def test_finished_tricks_are_folded_but_for_the_latest(served, page):
    page.goto(person_link(served, "briscola_v0", options={"num_players": 2, "target": 2}))
    page.wait_for_selector("#parts rect")
    play_until(page, "document.querySelectorAll('#log > div > details').length === 3")
    assert page.evaluate("[...document.querySelectorAll('#log > div > details')].map(one => one.open)") == [
        False, False, True
    ]  # fmt: skip
    for title in page.locator("#log > div > details > summary").all_inner_texts():
        assert re.fullmatch(r"(You win|\S.* wins) \d+ points?\.", title), title
    page.locator("#log > div > details > summary").first.click()  # what is opened stays open
    play_until(page, "document.querySelectorAll('#log > div > details').length === 4")
    assert page.evaluate("[...document.querySelectorAll('#log > div > details')].map(one => one.open)") == [
        True, False, False, True
    ]  # fmt: skip
    play_until(page, "document.querySelector('#log > details') || document.querySelector('#next').offsetParent")
    page.click("#next")
    until(page, "document.querySelector('#log > details')")
    hand = page.locator("#log > details")
    assert hand.locator("> summary").inner_text() == "Hand 1"
    assert hand.locator("details").count() >= 19


CLICK_CARD = """text => {
  const free = document.querySelectorAll("#picture [data-slot] > [data-token]:not(.chosen):not(.planned)");
  const card = [...free].find(one => one.querySelector("title").textContent === text);
  card.dispatchEvent(new MouseEvent("click", {bubbles: true}));
}"""


def several_melds(game, *first):
    """Return a seed, and the parts with which the first player can open after some actions: texts and points."""
    for seed in range(200):
        state = get_game(game).new_state(seed=seed, num_players=2)
        if state.current_player == 0:
            for label in first:
                state.apply(state.action_from_label(label))
        goal = state.view(0).get("goal")
        parts = {part["action"]: part for part in goal["parts"]} if goal else {}
        for play in state.candidates() if parts else ():
            laid = [parts[action] for action in play.actions if action in parts]
            points = [part["points"] for part in laid]
            if (
                len(laid) == 2
                and max(points) < goal["need"] <= sum(points)
                and laid[1]["action"] not in state.legal_actions()
            ):
                texts = {
                    token["id"]: token["text"]
                    for pile in state.view(0)["piles"]
                    for token in pile["tokens"]
                    if "id" in token
                }
                return (
                    seed,
                    goal["need"],
                    [([texts[token] for token in part["tokens"]], part["points"]) for part in laid],
                )
    raise AssertionError("nobody can open with two melds")


@pytest.mark.parametrize(("game", "first"), [("canasta_v0", ["draw"]), ("rummikub_v0", [])])
def test_an_opening_is_put_together_in_any_order_with_its_points(served, page, game, first):
    seed, need, parts = several_melds(game, *first)
    page.goto(person_link(served, game, seats=["person", "person"], options={"num_players": 2}, seed=seed))
    page.wait_for_selector("#parts [data-token]")
    if first:
        page.click("#picture [data-pile=stock]")
    page.wait_for_selector("#goal:not([hidden])")
    assert f"0 of {need} points" in page.inner_text("#goal .points")
    total = 0
    for texts, points in reversed(parts):  # the engine wants the first one first
        for k, text in enumerate(texts):
            page.evaluate(CLICK_CARD, text)
            if k + 1 < len(texts):
                assert page.locator("#picture .chosen").count() == k + 1
                assert page.inner_text("#building").endswith("click a card again to put it back.")
        total += points
        if page.locator("#picture .chosen").count():  # there are larger melds with these cards
            assert f"{total} of {need} points" in page.inner_text("#goal .points")
            page.click("#choices button.main")
        assert f"{total} of {need} points" in page.inner_text("#goal .points")
    assert page.locator("#picture .planned").count() == sum(len(texts) for texts, _ in parts)
    page.click("#goal button >> nth=0")  # takes a meld back
    assert page.is_disabled("#goal .main")
    for text in parts[1][0]:
        page.evaluate(CLICK_CARD, text)
    if page.locator("#picture .chosen").count():
        page.click("#choices button.main")
    page.click("#goal .main")
    until(page, "document.getElementById('goal').hidden")
    assert page.locator("#picture .planned").count() == 0
    assert page.inner_text("#log").count("You meld" if game == "canasta_v0" else "You lay") >= 2


def test_one_control_bets(served, page):
    page.goto(person_link(served, "texas_holdem_v0", seats=["person", "person"], options={"num_players": 2}, seed=1))
    page.wait_for_selector("#amount:not([hidden])")
    assert page.locator("#choices button").all_inner_texts()[0] == "fold"
    assert page.locator("#choices button").count() == 2  # call
    names = page.locator("#named button").all_inner_texts()
    assert "all in" in names[-1]
    page.locator("#named button").nth(1).click()
    amount = page.input_value("#number")
    assert page.inner_text("#bet") == f"raise to {amount}"
    page.evaluate(
        "const slide = document.getElementById('slide'); slide.value = 2; slide.dispatchEvent(new Event('input'))"
    )
    assert int(page.input_value("#number")) > int(amount)
    page.fill("#number", str(int(amount) + 1))
    page.click("#bet")
    assert "fixed amounts" in page.inner_text("#said")
    page.fill("#number", amount)
    page.click("#bet")
    until(page, f"/You raise to {amount}\\b/.test(document.getElementById('log').textContent)")


def test_any_amount_is_typed_where_the_table_allows_it(served, page):
    options = {"num_players": 2, "betting": "full"}
    page.goto(person_link(served, "texas_holdem_v0", seats=["person", "person"], options=options, seed=1))
    page.wait_for_selector("#amount:not([hidden])")
    page.fill("#number", "137")
    assert page.inner_text("#bet") == "raise to 137"
    page.click("#bet")
    until(page, "document.getElementById('log').textContent.includes(' 137')")


@pytest.mark.parametrize("page", [{}, {"viewport": {"width": 360, "height": 760}}], indirect=True)
def test_calls_beside_the_bids_have_a_row_of_their_own(served, page):
    bridge = get_game("bridge_v0")
    seed = next(seed for seed in range(50) if bridge.new_state(seed=seed).current_player == 0)
    page.goto(person_link(served, "bridge_v0", seats=["person"] * 4, seed=seed))
    page.wait_for_selector(".keypad")
    (row,) = page.locator(".calls").all()
    assert "pass" in row.inner_text()
    boxes = [one.bounding_box() for one in row.locator("button").all()]
    assert all(box["height"] >= 44 for box in boxes)
    bids = [one.bounding_box() for one in page.locator(".keypad button").all()]
    assert len(bids) == 35
    is_above = max(box["y"] + box["height"] for box in boxes) <= min(box["y"] for box in bids)
    is_beside = min(box["x"] for box in boxes) >= max(box["x"] + box["width"] for box in bids)
    assert is_above or is_beside
    assert max(box["y"] + box["height"] for box in boxes) <= page.viewport_size["height"]


@pytest.mark.parametrize("page", [{}, {"viewport": {"width": 360, "height": 760}}], indirect=True)
def test_what_all_keys_of_a_row_begin_with_stands_before_them_once(served, page):
    page.goto(person_link(served, "hanabi_v0", seats=["person"] * 3, options={"num_players": 3}))
    page.wait_for_selector(".keypad")
    rows = page.locator(".keys").all()
    captions = [row.locator("> span").inner_text() for row in rows]
    assert captions[0] == "play"
    assert all(caption.startswith("hint ") for caption in captions[-4:])
    assert rows[0].locator("button").all_inner_texts() == ["1", "2", "3", "4", "5"]
    keys = page.locator(".keypad button").all()
    assert max(key.bounding_box()["height"] for key in keys) < 48  # a name may need two lines, keys never
    lefts = [[key.bounding_box()["x"] for key in row.locator("button").all()] for row in rows]
    assert all(row == lefts[0][: len(row)] for row in lefts)
    page.get_by_label("play 2").click()
    until(page, "document.getElementById('log').textContent.includes('play')")


def test_a_card_with_text_is_shown_large_in_pictures(served, page):
    page.goto(person_link(served, "wingspan_v0", seats=["person", "person"], options={"num_players": 2}, seed=3))
    page.wait_for_selector("#parts [data-card]")
    page.locator("#parts [data-pile=tray] [data-card]").first.hover()
    page.wait_for_selector("#card:not([hidden])")
    assert page.locator("#card .pics .pic").count() >= 3
    assert page.locator("#card .pic").first.bounding_box()["width"] >= 28


@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
def test_mats_and_cards_fit_a_window(served, page):
    page.goto(person_link(served, "wingspan_v0", seats=["person", "person"], options={"num_players": 2}, seed=3))
    page.wait_for_selector("#parts [data-card]")
    own = page.locator("#parts [data-seat='0']").bounding_box()
    assert own["y"] + own["height"] <= 800
    assert page.evaluate("document.documentElement.scrollHeight") <= 1.5 * 800


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
    ranks, suits = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"], "♣♦♥♠"
    page.goto(person_link(served, "katko_v0", seats=["person", "person"], options={"num_players": 2}, seed=5))
    page.wait_for_selector("#parts [data-token]")
    orders = {}
    for order in ("", "suit", "rank"):
        set_look(page, "sort", order)
        orders[order] = page.evaluate(BY_PLACE)
        assert len(orders[order]) == 5
    for order, key in (
        ("rank", lambda t: (ranks.index(t[:-1]), suits.index(t[-1]))),
        ("suit", lambda t: (suits.index(t[-1]), ranks.index(t[:-1]))),
    ):
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
    until(page, "document.getElementById('rules').textContent.includes('knock limit')")
    assert page.locator("#rules strong").count() > 0
    page.fill("#search", "knock limit")
    found = page.locator("#rules p:visible, #rules li:visible, #rules table:visible").all_inner_texts()
    assert found
    assert all("knock limit" in text.lower() for text in found)
    page.press("#tab-rules", "ArrowRight")
    page.click("#seatlist button:text-is('Let it play for me')")
    page.wait_for_selector("#seatlist button:text-is('Play again')")
    page.click("#seatlist button:text-is('Play again')")
    page.wait_for_selector("#seatlist button:text-is('Let it play for me')")
    set_look(page, "layout", "narrow")
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 360')")
    page.reload()  # the choice is kept
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 360')")
    set_look(page, "layout", "wide")
    until(page, "document.getElementById('picture').getAttribute('viewBox').startsWith('0 0 960')")


@pytest.mark.parametrize("page", [{}, {"viewport": {"width": 390, "height": 800}}], indirect=True)
def test_a_model_that_cannot_be_reached_is_tried_again_looked_at_left_and_relieved(tmp_path, page):
    env = {"LLM_BASE_URL": f"http://127.0.0.1:{free_port()}/v1", "LLM_MODEL": "dead", "BACKEND_LLM_ENABLED": "1"}
    served = Served(tmp_path / "tables.db", "--pace", "0", "--agent", "mini=llm:env,transport_retries=0", env=env)
    try:
        page.goto(person_link(served, "kuhn_poker_v0", seats=["mini", "person"]))
        page.wait_for_selector("#stopped:not([hidden])")
        assert re.fullmatch("mini cannot play for [A-Z][a-z]+", page.inner_text("#stoptitle"))
        page.click("#retry")
        until(page, "!document.getElementById('stopped').hidden && !document.getElementById('retry').disabled")
        page.click("#stoplog")
        until(page, "document.getElementById('asked').textContent.includes('cannot be reached')")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click("#stopped a")
        page.click("[data-game=kuhn_poker_v0] .more")
        assert "model" in page.locator("#seats select").first.inner_text().split()
        page.go_back()
        page.wait_for_selector("#stopped:not([hidden])")
        page.click("#relieve:text-is('Let random mover play')")
        until(page, "document.getElementById('stopped').hidden")
        page.goto("about:blank")  # a page that is open asks the server for pictures and tables
    finally:
        served.kill()
