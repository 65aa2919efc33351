"""Pages without a server: whole games in Chromium, whose files come from a folder and nothing else."""

import functools
import json
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from served import until
from test_browser import CLICK_ALONG, GAMES, MOVES_AT_ONCE

from cardenvs.browser import runtime
from cardenvs.browser.build import build, own_games
from cardenvs.browser.payload import game_files
from cardenvs.cli.site import site as site_command
from cardenvs.core.errors import FileError, GameNotFoundError
from cardenvs.core.registry import get_game, list_games
from cardenvs.core.replay import Replay

ALWAYS = ["leduc_poker_v0", "durak_v0"]
NEW_TABLE = """async request => {
  const {get} = await import("./assets/backend.js");
  const answer = await get("/api/tables", {method: "POST", body: JSON.stringify(request)});
  return (await answer.json()).host;
}"""
SET_PACE = """() => {
  const pace = document.getElementById("pace");
  pace.value = "0";
  pace.dispatchEvent(new Event("change"));
}"""


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def site(request, tmp_path_factory):
    """The address of a folder with the games that this run plays."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("there is no Node.js with npm")
    played = {item.callspec.params["game"] for item in request.session.items if _plays_a_game_here(item)}
    folder = tmp_path_factory.mktemp("site")
    build(folder, sorted({*ALWAYS, *played}))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def _plays_a_game_here(item):
    return item.path == Path(__file__) and "game" in getattr(getattr(item, "callspec", None), "params", {})


@pytest.fixture
def page(browser, site):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_init_script(MOVES_AT_ONCE)
    opened = context.new_page()
    wrong, asked = [], []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    context.on("request", lambda request: asked.append(request.url))
    yield opened
    context.close()
    assert wrong == []
    assert all(url.startswith((f"{site}/", "data:", "blob:", "about:")) for url in asked), asked


def open_table(page, site, request):
    page.goto(f"{site}/index.html")
    link = page.evaluate(NEW_TABLE, request)
    page.goto(f"{site}/table.html#{link}")
    until(page, "document.querySelector('#parts rect.cv-bg') !== null")
    page.evaluate(SET_PACE)
    return link


def kept(page, link):
    return json.loads(page.evaluate("link => localStorage.getItem(`cardenvs-table-${link}`)", link))


def play_to_the_end(page, site, game, **request):
    link = open_table(page, site, {"game": game, "seed": 7, **request})
    assert page.evaluate(CLICK_ALONG, [17, 15_000]) > 0
    assert "The game is over" in page.inner_text("#prompt")
    replay = Replay.parse(kept(page, link)["replay"])
    replay.verify()  # compiled rules make the same events of the same actions
    assert replay.game.name == game
    return link


# A person who plays Rummikub at random makes hundreds of moves of a tenth of a second.
@pytest.mark.rotating
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=pytest.mark.slow) if game == "rummikub_v0" else game for game in GAMES]
)
def test_a_whole_game_is_played_in_the_browser_alone(page, site, game):
    has_match = "match" in get_game(game).make_options().as_dict()
    short = {"format": "cash"} if game == "texas_holdem_v0" else {"match": "false"} if has_match else {}
    play_to_the_end(page, site, game, options=short)


def test_a_trained_policy_plays_and_the_game_is_played_back(page, site):
    play_to_the_end(page, site, "leduc_poker_v0", seats=["person", "trained"])
    page.click("#replay")
    player = page.frame_locator("#game")
    player.locator("#count", has_text=" of ").wait_for()
    page.click("text=All tables")
    page.wait_for_selector("#mylist a")
    assert "over" in page.inner_text("#mylist")


def test_from_the_lobby_to_a_table_and_back_after_a_reload(page, site):
    page.goto(f"{site}/index.html")
    page.click("[data-game=durak_v0] .play")
    page.wait_for_url("**/table.html#*")
    until(page, "document.getElementById('prompt').className === 'yours'")
    page.evaluate(SET_PACE)
    page.evaluate(CLICK_ALONG, [5, 60])  # some moves
    link = page.url.partition("#")[2]
    moves = kept(page, link)["moves"]
    page.goto(f"{site}/index.html")
    page.click("#mylist a")
    page.wait_for_url("**/table.html#*")
    until(page, "document.querySelector('#parts rect.cv-bg') !== null")
    assert kept(page, link)["moves"][: len(moves)] == moves


def test_a_link_from_elsewhere_opens_a_new_table(page, site):
    page.goto(f"{site}/table.html?game=leduc_poker_v0&level=easy")
    until(page, "document.querySelector('#parts rect.cv-bg') !== null")
    assert "#" in page.url
    assert "?" not in page.url


def test_what_is_wrong_with_a_table_is_said(page, site):
    page.goto(f"{site}/table.html#nothing")
    until(page, "document.getElementById('said').textContent.includes('keeps no table')")
    page.evaluate(NEW_TABLE, {"game": "leduc_poker_v0"})
    link = page.evaluate(NEW_TABLE, {"game": "durak_v0", "options": {"num_players": "99"}})
    page.goto(f"{site}/index.html")
    page.goto(f"{site}/table.html#{link}")
    until(page, "document.getElementById('said').textContent.includes('num_players')")
    assert page.inner_text("#prompt") == ""  # nothing loads any more


# -- building -----------------------------------------------------------------------------------------------------


def test_games_of_other_packages_are_left_out_and_refused(tmp_path):
    assert set(own_games(list_games())) <= set(GAMES)
    with pytest.raises(GameNotFoundError, match="not a game of cardenvs"):
        game_files(SimpleNamespace(name="their_game_v0", folder=tmp_path))


def test_another_archive_than_pyodides_is_refused(tmp_path):
    (tmp_path / "pyodide.tgz").write_bytes(b"something else")
    with pytest.raises(FileError, match=r"not the archive of Pyodide .*npm pack pyodide@"):
        runtime.pyodide_files(tmp_path / "pyodide.tgz")


def test_without_npm_the_error_says_where_the_archive_comes_from(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(runtime.shutil, "which", lambda name: None)
    with pytest.raises(FileError, match="--pyodide"):
        runtime.pyodide_files()


def test_the_command_names_a_game_that_it_does_not_know(tmp_path):
    with pytest.raises(GameNotFoundError, match="no_game"):
        site_command(tmp_path / "out", games="leduc_poker_v0,no_game_v0")
    assert not (tmp_path / "out").exists()
