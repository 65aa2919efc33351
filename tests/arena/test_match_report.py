"""Reports: in the terminal, as JSON, as a page."""

import dataclasses
import html
import io
import json
import re
import shlex
import sys
from html.parser import HTMLParser

import pytest
from rich.console import Console

from cardenvs.arena import Match, run_match
from cardenvs.arena.match import Entry
from cardenvs.arena.output.files import write_summary_json
from cardenvs.arena.output.page import page, write_page
from cardenvs.arena.output.tables import story
from cardenvs.arena.output.terminal import interval_plot, print_summary
from cardenvs.arena.results.document import command_line, summary_document
from cardenvs.arena.results.statistics import Estimate, summarise
from cardenvs.core.errors import ArenaError, MissingExtraError

HOSTILE = "<script>alert('$x^2$')</script>[bold]&\"{{ 7 * 7 }}"


@pytest.fixture(scope="module")
def summary():
    """Of a small match."""
    return run_match(Match.of("leduc_poker_v0", ["random", "search:simulations=4", "random"], deals=40, seed=3, ante=2))


@pytest.fixture(scope="module")
def hostile(summary):
    """The same with a name that tries everything."""
    match = summary.match.changed(entries=(*summary.match.entries[:2], Entry(HOSTILE, HOSTILE)))
    standings = tuple(dataclasses.replace(s, name=n) for s, n in zip(summary.standings, match.names, strict=True))
    return dataclasses.replace(summary, match=match, standings=standings)


def printed(summary):
    out = io.StringIO()
    print_summary(summary_document(summary), Console(file=out, width=200, highlight=False))
    return out.getvalue()


def test_the_terminal_shows_everything(summary):
    text = printed(summary)
    best = summary.ranking[0]
    assert f"{best.mean.mean:+.3f}" in text
    assert f"{best.mean.low:+.3f} to {best.mean.high:+.3f}" in text
    assert "random#2" in text
    assert "40 deals, 240 games (6 a deal), seed 3" in text
    advantage = summary.advantage(0, 1)
    assert f"{advantage.mean:+.3f} ± {(advantage.high - advantage.low) / 2:.3f}" in text


def test_a_name_is_only_a_name_in_the_terminal(hostile):
    assert HOSTILE in printed(hostile)


def test_nothing_finished_and_one_deal_are_told(summary):
    assert "No deal is complete yet." in printed(summarise(summary.match, []))
    single = run_match(Match.of("leduc_poker_v0", ["random", "random"], deals=1))
    assert "inf" not in printed(single)
    assert printed(single).count("too few deals") == 2
    assert "inf" not in single._repr_html_()
    assert summary_document(single)["leaderboard"][0]["mean"]["low"] is None
    assert "inf" not in page(summary_document(single)).lower().replace("information", "")


def test_json_is_complete_and_plain(summary, tmp_path):
    write_summary_json(summary_document(summary), tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    assert [row["agent"] for row in data["leaderboard"]] == [standing.name for standing in summary.ranking]
    assert data["leaderboard"][0]["mean"]["deals"] == 40
    assert data["head_to_head"][0]["agents"] == ["random", "search:simulations=4"]
    assert (data["seed"], data["deals"], data["games"], data["options"]["ante"]) == ("3", 40, 240, 2)
    assert set(data["versions"]) >= {"cardenvs", "python", "numpy"}
    assert json.loads(json.dumps(summary_document(summarise(summary.match, [])), allow_nan=False))["leaderboard"] == []


def test_the_command_plays_the_same_match(summary):
    words = shlex.split(command_line(summary.match))
    assert words[:3] == ["cardenvs", "match", "leduc_poker_v0"]
    assert words[words.index("--agents") + 1] == "random,search:simulations=4,random"
    assert words[words.index("--option") + 1] == "ante=2"
    assert words[words.index("--seed") + 1] == "3"


def test_a_guarded_match_has_a_command_and_a_special_one_has_none(summary):
    from cardenvs.agents.guarded.limits import AgentLimits
    from cardenvs.arena.schedule import Schedule

    guarded = summary.match.changed(guard=AgentLimits(on_failure="forced_action"))
    assert command_line(guarded).endswith("--on-failure forced_action")
    keeping = summary.match.changed(guard=AgentLimits(keep_env=("A", "B")))
    assert command_line(keeping).endswith("--on-failure forfeit --keep-env A --keep-env B")
    special = (
        {"guard": AgentLimits(tries=1)},
        {"entries": tuple(Entry(name, "random") for name in "abc")},
        {"schedule": Schedule("field", challengers=(1,))},
    )
    for changes in special:
        assert command_line(summary.match.changed(**changes)) is None


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text outside <style>."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def test_the_page_needs_nothing_but_itself(summary, tmp_path):
    write_page(summary_document(summary), tmp_path / "result.html")
    text = (tmp_path / "result.html").read_text()
    elements = Elements(text)
    assert elements.open == []
    tags = {tag for tag, _ in elements.found}
    assert {"svg", "table", "style"} <= tags
    assert not tags & {"script", "link", "img", "iframe", "object", "embed"}
    for _, attributes in elements.found:
        for name in ("src", "href", "xlink:href", "data", "action"):
            assert (attributes.get(name) or "#").startswith("#")
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\((?!#)", without_names)
    assert len(text) < 300_000
    words = " ".join(elements.words)
    for shown in ("Leaderboard", "Head to head", "random#2", "ante = 2", summary.match.id, "40 of 40"):
        assert shown in words
    assert command_line(summary.match) in words


def test_a_name_is_only_a_name_on_the_page(hostile):
    text = page(summary_document(hostile))
    elements = Elements(text)
    assert "script" not in {tag for tag, _ in elements.found}
    assert HOSTILE in " ".join(elements.words)
    assert elements.open == []


def test_cells_are_coloured_where_the_advantage_is_clear(summary):
    text = page(summary_document(summary))
    clear = [found for found in summary.advantages.values() if found.low > 0 or found.high < 0]
    assert text.count("var(--good), 0.") == text.count("var(--bad), 0.") == len(clear) > 0


def test_without_the_extra_or_without_deals_there_is_no_page(summary, monkeypatch):
    with pytest.raises(ArenaError, match="no deal is complete yet"):
        page(summary_document(summarise(summary.match, [])))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"cardenvs\[report\]"):
        page(summary_document(summary))


def with_means(summary, *bounds):
    """The same match with other means: (low, high) by agent."""
    standings = tuple(
        dataclasses.replace(standing, mean=Estimate((low + high) / 2, low, high, 40))
        for standing, (low, high) in zip(summary.standings, bounds, strict=True)
    )
    return dataclasses.replace(summary, standings=standings)


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (
            [(-3, -2), (1, 2), (-1, 0)],
            "search:simulations=4 leads with +1.5 chips a deal; random#2 follows; random comes last with -2.5.",
        ),
        (
            [(-3, -2), (1, 2), (0, 1.5)],
            "search:simulations=4 leads with +1.5 chips a deal, level with random#2 (their intervals overlap); "
            "random comes last with -2.5.",
        ),
        (
            [(-3, 2), (1, 2), (0, 1.5)],
            "No agent is clearly ahead of another: after 40 deals all intervals overlap.",
        ),
    ],
)
def test_the_leaderboard_in_a_sentence(summary, bounds, told):
    changed = with_means(summary, *bounds)
    assert story(summary_document(changed)) == told
    assert told in printed(changed)
    assert html.escape(told) in page(summary_document(changed)) or told in page(summary_document(changed))


def test_the_picture_of_a_leaderboard(summary):
    out = io.StringIO()
    document = summary_document(with_means(summary, (-4, -2), (2, 4), (-1, 1)))
    Console(file=out, width=80).print(interval_plot(document, width=33))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines == [
        "search:simulations=4                  ┊       ────●────",
        "random#2                          ────●────",
        "random                ────●────       ┊",
        "                      -4              0              +4",
    ]
