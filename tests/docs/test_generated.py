"""What docs/generate.py writes is up to date, and says what the code says."""

import re
import sys

import pytest
from pages import ROOT

sys.path.insert(0, str(ROOT))  # for `docs`, which is not part of the package

from cardenvs.agents.kinds import find_kind, kind_names
from cardenvs.core.registry import get_game
from docs import generate, speed_chart

GAMES = generate.own_games()


def check_up_to_date(wanted):
    stale = [path.relative_to(ROOT).as_posix() for path in generate.differing(wanted)]
    assert not stale, f"out of date: {', '.join(stale)}; run python -m docs.generate"


@pytest.fixture(params=GAMES, ids=lambda game: game.name)
def game(request):
    return request.param


def test_the_generated_files_of_a_game_are_up_to_date(game):
    check_up_to_date(generate.game_files(game))


def test_all_other_generated_files_are_up_to_date():
    check_up_to_date(dict(generate.shared_files()))


def test_there_are_no_files_of_games_that_are_gone():
    folders = {"games": "md", "pictures": "svg", "pictures/thumbnails": "svg"}
    wanted = {f"{folder}/{game.name}.{ending}" for game in GAMES for folder, ending in folders.items()}
    wanted |= {"games/index.md", "pictures/animation.svg", "pictures/speed.svg"}
    assert {path.relative_to(generate.DOCS).as_posix() for path in generate._generated_now()} == wanted


def test_every_game_has_its_words(game):
    opening, sections = generate.read_page(game)
    assert opening
    assert sections.keys() >= {"Strategy", "Status", "Version history"}
    assert game.rules_text.startswith("# ")


def test_every_page_begins_with_what_most_readers_want_and_ends_with_what_they_look_up(game):
    page = (generate.DOCS / "games" / f"{game.name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert tuple(headings[: len(generate.FIRST)]) == generate.FIRST
    last = [heading for heading in headings if heading in generate.LAST]
    assert headings[-len(last) :] == last == [heading for heading in generate.LAST if heading in last]
    assert f"](../pictures/{game.name}.svg)" in page
    assert f"cardenvs play {game.name}" in page


def test_a_page_has_all_options_and_sections_of_the_observation(game):
    page = (generate.DOCS / "games" / f"{game.name}.md").read_text(encoding="utf-8")
    options = game.make_options()
    for name in options.as_dict():
        assert f"| `{name}` |" in page
    for section in game.layout(options).sections:
        assert f"| `{section.name}` |" in page


def test_the_action_table_has_every_id_once(game):
    options = game.make_options()
    groups = generate.action_groups(game, options)
    ids = [action for group in groups for action in range(group.first, group.last + 1)]
    assert ids == list(range(game.num_actions(options)))


def test_words_are_added_to_the_generated_section_of_the_same_heading(monkeypatch):
    game = get_game("kuhn_poker_v0")
    words = {"Actions": "Added to the actions.", "Reference scores": "None yet."}
    monkeypatch.setattr(generate, "read_page", lambda game: ("Opening.", words))
    page = generate.game_page(game)
    assert page.count("## Actions\n") == 1
    actions = page.split("## Actions\n")[1].split("\n## ")[0]
    assert "| id | label |" in actions
    assert "Added to the actions." in actions
    assert "## Reference scores\n\nNone yet." in page


def test_hidden_information_is_what_players_do_not_see():
    kuhn = get_game("kuhn_poker_v0")
    assert generate.hidden_information(kuhn, kuhn.make_options()) == "deck from everybody; hand from all but its owner"


def test_rows_of_a_benchmark_become_a_table():
    rows = [
        {"what": "steps", "ours": 42e6, "peer": "Peer", "theirs": 500e3, "goal": "80x", "unit": "/s"},
        {"what": "import", "ours": 0.25, "peer": "Peer", "theirs": 2.0, "goal": "", "unit": "s"},
    ]
    lines = generate.bench_table(rows).splitlines()
    assert lines[2] == "| steps | 42 M/s | Peer | 500,000/s | 84x |"
    assert lines[3] == "| import | 0.25 s | Peer | 2 s | 8x |"


def test_the_chart_says_who_is_faster_and_how_the_peers_ran():
    chart = speed_chart.draw()
    assert "2.89 M (cardenvs is 10.9x as fast)" in speed_chart._group(
        "Leduc", [{"peer": "pgx", "ours": 31.6e6, "theirs": 2.89e6}], 0
    )
    assert re.findall(r">(pgx[^<.]*)<", chart) == ["pgx on the CPU"]
    assert set(re.findall(r">(OpenSpiel[^<.]*)<", chart)) == {"OpenSpiel from Python"}
    assert all("cardenvs is" in text for text in re.findall(r">([^<]*x as fast)", chart))


def test_action_tables_are_short(game):
    families = generate.action_families(game, game.make_options())
    assert len(families) <= generate.MOST_ROWS
    ids = [action for family in families for action in range(family.first, family.last + 1)]
    assert ids == list(range(game.num_actions(game.make_options())))


def test_code_is_copied_with_its_decorators_and_comments():
    source = '@kernel\ndef f(x):\n    """Doc."""\n    return x\n\n\nA, B = 1, 2  # why\nC = 3\n'
    assert generate.definitions(source) == [
        (["f"], '@kernel\ndef f(x):\n    """Doc."""\n    return x'),
        (["A", "B"], "A, B = 1, 2  # why"),
        (["C"], "C = 3"),
    ]


def test_markers_are_filled_again_and_again_to_the_same():
    text = "a\n\n<!-- games:start -->\nstale\n<!-- games:end -->\n\nb\n"
    once = generate.fill_markers(text, generate.DOCS / "page.md")
    assert "stale" not in once
    assert "kuhn_poker_v0" in once
    assert generate.fill_markers(once, generate.DOCS / "page.md") == once


def test_code_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="defines no nothing_such"):
        generate.fill_markers(
            "<!-- code:start docs/hooks.py nothing_such -->\n<!-- code:end -->", generate.DOCS / "x.md"
        )


def test_the_table_of_agents_has_a_row_for_each_kind():
    page = (generate.DOCS / "arena.md").read_text(encoding="utf-8")
    for name in kind_names(own=True):
        assert f"| `{find_kind(name).form}` | {find_kind(name).row} |" in page
