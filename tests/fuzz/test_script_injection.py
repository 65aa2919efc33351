"""Names and texts full of markup stay names and texts on every page that is written.

A page with hostile names must have exactly the elements and attributes of a page with harmless ones. Drawings are
excepted, since letters are shapes there: they may hold shapes only.
"""

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from cardenvs.arena import Store
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.output.page import page
from cardenvs.arena.output.site import write_site
from cardenvs.arena.results.board import board_of
from cardenvs.arena.results.document import board_document, summary_document

from . import LONG

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

PAYLOADS = [
    "<script>alert(1)</script>",
    "\"><svg onload=alert(1)>' onmouseover='alert(1)",
    "</title></style></textarea></pre><img src=x onerror=alert(1)>",
    'javascript:alert(1)//" autofocus onfocus=alert(1) x="',
    "<!--><script>alert(1)</script-->",
    "]]><script>alert(1)</script><![CDATA[",
    "{{ 7 * 7 }}{% for x in range(9) %}x{% endfor %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=//evil.example><link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "$\\frac{<script>}{x^2}$ %s %(x)s {0}",
    "../../../<svg/onload=alert(1)>.html",
    "</svg><foreignObject><body onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<math><mtext></table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "`<x onclick=alert(1)>` \\x3cscript\\x3e",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
]
HARMLESS = "harmless"
SHAPES = {
    "svg", "g", "defs", "path", "use", "style", "clippath", "rect", "circle", "line", "polygon", "polyline", "title",
    "symbol", "text", "ellipse",
}  # fmt: skip
AGENT = """
class Raises:
    def __init__(self, game, options):
        self.name = "raises"

    def reset(self, seed):
        pass

    def act(self, turn):
        turn.notes["said"] = {text!r}
        raise ValueError({text!r})
"""


class Page(HTMLParser):
    """A page's elements with the names of their attributes, those of drawings apart, and its words."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.drawn, self.links, self.words = [], set(), [], []
        self._depth = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self._depth += tag == "svg"
        names = tuple(name for name, _ in attributes)
        assert not any(name.startswith("on") for name in names), (tag, attributes)
        self.links += [value for name, value in attributes if name in ("href", "src", "xlink:href", "action", "data")]
        if self._depth:
            self.drawn.add(tag)
        else:
            self.elements.append((tag, names))

    def handle_endtag(self, tag):
        self._depth -= tag == "svg"

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data):
        raise AssertionError(f"a declaration: {data}")


def written(folder, text):
    """All pages that are written where every name and every text is `text`; {folder and number: text of the page}."""
    folder.mkdir()
    name = text[:90]
    module = f"hostile_{abs(hash(text))}"
    (folder / f"{module}.py").write_text(AGENT.format(text=text), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        experiment = Experiment.of(
            {
                "name": f"{name} board",
                "description": text,
                "deals": 2,
                "games": [{"game": "kuhn_poker_v0", "title": f"{name} game"}],
                "agents": [
                    {"name": f"{name} 1", "spec": "random"},
                    {"name": f"{name} 2", "spec": f"python:{module}:Raises"},
                ],
            }
        )
        with Store(folder / "store.db") as store:
            experiment.run(store)
            board = board_of(store)
            write_site(store, board_document(board), folder / "site")
            pages = {
                f"{path.parent.name} {number}": path.read_text(encoding="utf-8")
                for number, path in enumerate(sorted((folder / "site").rglob("*.html")))
            }
            pages["match"] = page(summary_document(board.games[0].summary))
    return pages


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    """The pages of harmless names."""
    return {name: Page(text) for name, text in written(tmp_path_factory.mktemp("pages") / "site", HARMLESS).items()}


def check(tmp_path, harmless, payload):
    pages = {name: Page(text) for name, text in written(tmp_path / "pages", payload).items()}
    assert pages.keys() == harmless.keys()
    assert len(pages) > 4
    for name, found in pages.items():
        assert found.elements == harmless[name].elements, name
        assert found.drawn <= SHAPES, name
        for link in found.links:
            parts = urlsplit(link)
            assert not parts.scheme, link
            assert not parts.netloc, link
        shown = " ".join(" ".join(found.words).split())
        assert " ".join(payload[:90].split()) in shown, name


@pytest.mark.parametrize("number", range(len(PAYLOADS)) if LONG else [1, 2])
def test_markup_in_names_and_texts_stays_text(tmp_path, harmless, number):
    check(tmp_path, harmless, PAYLOADS[number])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_pairs_of_payloads_stay_text(tmp_path, harmless, number):
    check(tmp_path, harmless, PAYLOADS[number] + PAYLOADS[(number + 7) % len(PAYLOADS)])
