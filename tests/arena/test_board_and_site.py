"""Boards, exports and the leaderboard site, which is also opened in a browser where there is one."""

import csv
import dataclasses
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from rich.console import Console

from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.output.files import COLUMNS, write_csv
from cardenvs.arena.output.site import write_site
from cardenvs.arena.output.terminal import print_board
from cardenvs.arena.play import AgentPool, play_games
from cardenvs.arena.results.board import board_of
from cardenvs.arena.results.document import board_document, board_file
from cardenvs.core.errors import ArenaError
from cardenvs.core.replay import Replay

pytest.importorskip("pydantic")
pytest.importorskip("matplotlib")

HOSTILE = "<script>alert('$x^2$')</script>&\"{{ 7 * 7 }}"
EXPERIMENT = {
    "name": "a board",
    "description": "made by a test",
    "deals": 20,
    "seed": 4,
    "games": [
        "leduc_poker_v0",
        {"game": "leduc_poker_v0", "title": "Three & <three>", "options": {"num_players": 3}, "deals": 16},
    ],
    "agents": [
        "random",
        {"name": "search", "spec": "search:simulations=6"},
        {"name": HOSTILE, "spec": "python:arena_agents:Raises"},
        {"name": "first", "spec": "python:arena_agents:First"},
    ],
    "guard": {"isolation": "none"},
    "anchors": {"random": 1000},
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A store with an experiment in it, open."""
    experiment = Experiment.of(EXPERIMENT)
    with Store(tmp_path_factory.mktemp("board") / "store.db") as store:
        experiment.run(store)
        yield store


@pytest.fixture(scope="module")
def board(opened):
    """Its board."""
    return board_of(opened)


@pytest.fixture(scope="module")
def site(opened, board, tmp_path_factory):
    """The folder of its site."""
    folder = tmp_path_factory.mktemp("site") / "site"
    assert write_site(opened, board_document(board), folder) == folder / "index.html"
    return folder


def test_a_board_has_all_matches_with_ratings_seats_and_behaviour(board):
    assert [game.title for game in board.games] == ["Leduc poker", "Three & <three>"]
    two, three = board.games
    assert (len(two.summary.deals), two.summary.games) == (20, 20 * 12)
    assert (len(three.summary.deals), three.summary.games) == (16, 16 * 24)
    assert {rating.name for rating in board.overall} == {"random", "search", HOSTILE, "first"}
    assert [r.rating for r in board.overall] == sorted((r.rating for r in board.overall), reverse=True)
    anchored = next(rating for rating in board.overall if rating.name == "random")
    assert (anchored.rating, anchored.anchored) == (pytest.approx(1000), True)
    assert set(two.seats) == {(agent, player) for agent in range(4) for player in range(2)}
    for agent in range(4):  # each agent is each player as often, so the seats' means are the agent's
        mean = (two.seats[agent, 0].mean + two.seats[agent, 1].mean) / 2
        assert mean == pytest.approx(two.summary.standings[agent].mean.mean)
    search, failing = two.behaviours[1], two.behaviours[2]
    assert search.failures == search.outcomes == {}
    assert failing.failures["exception"] == 3 * failing.outcomes["forfeit"] > 0
    assert set(search.kinds) <= {"bet", "pass", "call", "raise", "fold", "check"}
    assert sum(search.kinds.values()) > 50
    assert 2 <= search.choices <= 3
    assert board.unconnected == ()
    assert board.failed == ()


def test_agents_that_never_met_are_told_apart(tmp_path):
    values = {
        "name": "islands", "deals": 3, "guard": {"on_failure": "stop"},
        "games": [
            {"game": "kuhn_poker_v0", "agents": ["a", "b"]},
            {"game": "leduc_poker_v0", "agents": ["c", "d"]},
        ],
        "agents": [{"name": name, "spec": "random"} for name in "abcd"],
        "anchors": {"c": 1200},
    }  # fmt: skip
    with Store() as store:
        Experiment.of(values).run(store)
        assert board_of(store).unconnected == ("a", "b")


def test_plain_matches_make_a_board_too(tmp_path):
    with Store(tmp_path / "store.db") as store, pytest.raises(ArenaError, match="no complete deal"):
        board_of(store)
    run_match(Match.of("kuhn_poker_v0", ["random", "search:simulations=2"], 5), tmp_path / "store.db")
    run_match(Match.of("kuhn_poker_v0", ["random", "search:simulations=2"], 5, seed=1), tmp_path / "store.db")
    with Store(tmp_path / "store.db") as store:
        board = board_of(store, intervals="student")
    assert len(board.games) == 2
    assert len({game.title for game in board.games}) == 2
    assert board.intervals == board.games[0].summary.intervals == "student"


def test_agents_of_one_name_that_differ_are_rated_apart(tmp_path):
    match = Match.of("kuhn_poker_v0", ["random", "search:simulations=2"], 5)
    random, search = match.entries
    changed = dataclasses.replace(search, fingerprint="a1b2c3d4")
    renamed = dataclasses.replace(random, name=search.name)
    for other in (search, changed, renamed):
        run_match(dataclasses.replace(match, entries=(random, other)), tmp_path / "store.db")
    with Store(tmp_path / "store.db") as store:
        board = board_of(store)
    assert [len(game.summary.deals) for game in board.games] == [5, 5, 5]
    assert {rating.name for rating in board.overall} == {
        "random",
        "search:simulations=2",
        "search:simulations=2 (a1b2c3)",
        "search:simulations=2 (random)",
    }


@pytest.fixture(scope="module")
def circular():
    """A store in which three agents beat each other in a circle."""
    match = Match.of("leduc_poker_v0", ["random", "random", "random"], 20)
    crew = AgentPool(match)
    ahead = {(0, 1), (1, 2), (2, 0)}
    with Store() as store:
        store.begin(match)
        jobs = [(deal, lineup) for deal in range(20) for lineup in range(6)]
        for record in play_games(crew, iter(jobs)):
            value = 1.0 if record.seating in ahead else -1.0
            store.add(match, dataclasses.replace(record, returns=(value, -value)))
        yield store


def test_circles_are_found_and_shown(circular, tmp_path):
    board = board_of(circular)
    assert board.games[0].circles == ((0, 1, 2),)
    assert [rating.rating for rating in board.overall] == pytest.approx([1500] * 3)
    out = io.StringIO()
    print_board(board_document(board), Console(file=out, width=150))
    assert "A cycle, each ahead of the next: random > random#2 > random#3 > random" in out.getvalue()
    write_site(circular, board_document(board), tmp_path / "site")
    for page in ("index.html", "games/leduc-poker.html"):
        assert "random &gt; random#2 &gt; random#3 &gt; random" in (tmp_path / "site" / page).read_text()


def test_the_terminal_shows_everything(board):
    out = io.StringIO()
    print_board(board_document(board), Console(file=out, width=170, highlight=False))
    text = out.getvalue()
    for shown in (
        HOSTILE,
        "Three & <three>",
        "Overall",
        "random (anchor)",
        "with random at 1000",
        "exception",
        "forfeits",
    ):
        assert shown in text
    for rating in board.overall:
        assert f"{rating.rating:.0f}" in text


@pytest.mark.parametrize(("deals", "few"), [(2, True), (15, False)])
def test_ratings_of_few_deals_have_no_interval_but_a_reason(deals, few, tmp_path):
    run_match(Match.of("kuhn_poker_v0", ["random", "search:simulations=2"], deals, seed=1), tmp_path / "store.db")
    with Store(tmp_path / "store.db") as store:
        shown = board_of(store)
    out = io.StringIO()
    print_board(board_document(shown), Console(file=out, width=80, highlight=False))
    text = " ".join(out.getvalue().split())
    assert "inf" not in text
    assert ("too few deals" in text) == ("Ratings have intervals from 15 deals on." in text) == few


def test_json_and_csv_say_the_same(opened, board, tmp_path):
    data = json.loads(json.dumps(board_file(board_document(board)), allow_nan=False))
    assert [row["agent"] for row in data["overall"]] == [rating.name for rating in board.overall]
    assert data["games"][0]["summary"]["interval"] == "95% bootstrap over deals"
    assert data["games"][0]["summary"]["command"] is None  # no command line says all of it
    assert data["games"][1]["behaviour"][2]["failures"]["exception"] > 0
    write_csv(opened, board_document(board), tmp_path / "results.csv")
    rows = list(csv.DictReader((tmp_path / "results.csv").open()))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 20 * 12 * 2 + 16 * 24 * 3
    mine = [float(row["return"]) for row in rows if row["agent"] == "search" and row["title"] == "Leduc poker"]
    assert sum(mine) / len(mine) == pytest.approx(board.games[0].summary.standings[1].mean.mean)
    forfeits = sum(row["forfeited"] == "true" for row in rows)
    assert forfeits == sum(game.behaviours[2].outcomes["forfeit"] for game in board.games)


class Elements(HTMLParser):
    """Every element of a page with its attributes, and its words."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def pages_of(site):
    return sorted(site.rglob("*.html"))


def test_every_page_is_whole_needs_no_network_and_links_to_what_there_is(site):
    pages = pages_of(site)
    assert {"index.html", "leduc-poker.html", "three-three.html"} <= {page.name for page in pages}
    assert len(pages) > 20
    linked = set()
    for page in pages:
        text = page.read_text()
        elements = Elements(text)
        assert elements.open == []
        is_player = page.name.endswith("-player.html")
        forbidden = {"link", "img", "object", "embed", "iframe" if is_player else "script"}
        assert not {tag for tag, _ in elements.found} & forbidden
        framed = [attributes for tag, attributes in elements.found if tag == "iframe"]
        assert all(frame["sandbox"] == "allow-scripts" and frame["src"].endswith("-player.html") for frame in framed)
        for _, attributes in elements.found:
            for name in ("src", "href", "xlink:href", "data", "action"):
                target = urlsplit(attributes.get(name) or "#")
                assert not target.scheme
                assert not target.netloc
                if target.path:
                    there = (page.parent / unquote(target.path)).resolve()
                    assert there.is_file(), f"{page} links to {there}"
                    linked.add(there)
        without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
        assert not re.search(r"https?://|@import|url\((?!#)", without_names)
    everything = {path.resolve() for path in site.rglob("*") if path.is_file()}
    assert everything - linked - {(site / name).resolve() for name in ("index.html", "site.json")} == set()


def test_what_the_pages_show(site, board):
    index = " ".join(Elements((site / "index.html").read_text()).words)
    for shown in (
        "a board",
        "made by a test",
        "Three & <three>",
        "search",
        "anchor",
        "exception",
        "4 agents, 2 matches",
    ):
        assert shown in index
    assert HOSTILE in index
    for rating in board.overall:
        assert f"{rating.rating:.0f}" in index
        if not rating.anchored:
            assert f"{rating.low:.0f} to {rating.high:.0f}" in index
    page = " ".join(Elements((site / "games" / "leduc-poker.html").read_text()).words)
    for shown in (
        "Head to head",
        "By seat",
        "player_1",
        "How they play",
        "Replays",
        "What was played",
        "ms a decision",
    ):
        assert shown in page
    for estimate in board.games[0].seats.values():
        assert f"{estimate.mean:+.3f}" in page


def test_replays_are_replays_and_failures_are_told(site):
    files = sorted((site / "replays").glob("*.json"))
    assert files
    for file in files:
        replay = Replay.load(file)
        words = " ".join(Elements(file.with_suffix(".html").read_text()).words)
        for name in replay.players:
            assert name in words
    texts = [page.read_text() for page in (site / "replays").glob("*.html")]
    assert any("exception: ZeroDivisionError: I cannot go on" in text and "forfeits" in text for text in texts)


def test_a_site_replaces_a_site_and_nothing_else(opened, board, site, tmp_path):
    before = {path.relative_to(site) for path in site.rglob("*")}
    mine = [site / "replays" / "my-game.json", site / "games" / "notes.html"]
    for path in mine:
        path.write_text("mine")
    some = next(path for path in (site / "replays").iterdir() if path not in mine)
    old = some.with_name("leduc-poker-999-0.html")
    listed = json.loads((site / "site.json").read_text())
    listed["files"] += [f"replays/{old.name}", "../outside.html", "games/../../outside.json"]
    (site / "site.json").write_text(json.dumps(listed))
    old.write_text("old")
    outside = site.parent / "outside.html"
    outside.write_text("mine")
    write_site(opened, board_document(board), site)
    assert {path.relative_to(site) for path in site.rglob("*")} == before | {path.relative_to(site) for path in mine}
    for path in (*mine, outside):
        assert path.read_text() == "mine"
        path.unlink()
    (tmp_path / "board.json").write_text("{}")  # of `arena report --json`
    with pytest.raises(ArenaError, match="is not empty and does not contain a site"):
        write_site(opened, board_document(board), tmp_path)
    with pytest.raises(ArenaError, match="it is not a folder"):
        write_site(opened, board_document(board), tmp_path / "board.json")
    (tmp_path / "site.json").write_text("[]")
    with pytest.raises(ArenaError, match="is damaged"):
        write_site(opened, board_document(board), tmp_path)


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def browse(page, profile, *arguments):
    """Open a page without a network, and return what the browser prints."""
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,1600", *arguments, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_browser_shows_the_site(site, tmp_path):
    image = pytest.importorskip("PIL.Image")
    shown = browse(site / "index.html", tmp_path / "profile", "--dump-dom")
    words = " ".join(Elements(shown).words)
    assert HOSTILE in words  # as text: no script ran, none was made
    assert "<script" not in shown.replace("&lt;script", "")
    for name in ("index.html", "games/leduc-poker.html", "games/three-three.html"):
        picture = tmp_path / "page.png"
        browse(site / name, tmp_path / "profile", f"--screenshot={picture}")
        pixels = image.open(picture).convert("RGB")
        assert pixels.size == (1200, 1600)
        colours = dict(sorted(((colour, count) for count, colour in pixels.getcolors(1 << 24)), key=lambda x: -x[1]))
        assert len(colours) > 50  # plots and text, not an empty page
        ground = max(colours.values()) / (1200 * 1600)
        assert ground < 0.97
