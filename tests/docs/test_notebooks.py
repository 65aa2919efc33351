"""Every notebook runs from top to bottom in its short form, and is stored the way a reader should find it."""

import ast
import base64
import importlib.util
import re
import struct
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from cardenvs.core.kernel import COMPILED

nbformat = pytest.importorskip("nbformat")
for module in ("nbclient", "ipykernel", "matplotlib", "pandas", "hypothesis"):
    pytest.importorskip(module)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from IPython.core.interactiveshell import InteractiveShell  # noqa: E402  after importorskip("ipykernel")
from traitlets.config import Config  # noqa: E402  the same

from examples import run_notebooks as runner  # noqa: E402  after the folder of the checkout is on the path

NOTEBOOKS = runner.notebooks()
# Modules that are not installed everywhere, and code that needs them. Where the newest Python is tested, torch is
# missing: its only build there is for CUDA. Every notebook without such code must run all the same.
NEEDED = {
    "torch": re.compile(r"\btorch\b|\bcardenvs\.training\.ppo\b|\b(ppo|zoo):"),
    "sb3_contrib": re.compile(r"\bsb3_contrib\b"),
}
MOST_BYTES, MOST_BYTES_TOGETHER, MOST_PIXELS = 500_000, 3_000_000, 900
ONE_MACHINE_ONLY = re.compile(
    r"(?<![\w.:/])(/home|/root|/tmp|/work|/Users|/usr|/opt|/var|/content)/|[A-Z]:\\\\|\b0x[0-9a-f]{6,}"
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.rotating
@pytest.mark.skipif(not COMPILED, reason="the notebooks play too many games for uncompiled rules")
def test_a_notebook_runs_in_its_short_form_and_draws_its_pictures(path, notebook, tmp_path):
    for module in needed(notebook):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{path.stem} needs {module}, which is not installed here")
    short = runner.shortened(notebook)
    runner.execute(short, tmp_path)
    assert kinds_of_pictures(short) == kinds_of_pictures(notebook)
    assert not [output for output in outputs(short) if output.get("name") == "stderr"]


def test_some_notebooks_need_no_torch():
    free = {path.stem[:2] for path in NOTEBOOKS if not needed(nbformat.read(path, as_version=4))}
    assert free >= {"05", "07", "09", "10"}


def test_a_notebook_starts_with_its_badge_a_title_and_the_cell_that_installs(path, notebook):
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    first = notebook.cells[0].source.splitlines()
    assert first[0] == runner.badge(path)
    assert first[2].startswith("# ")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for position, (tag, source) in enumerate(runner.shared_cells().items()):
        assert runner.tagged(notebook, tag) is code[position]
        assert code[position].source == source


def test_a_short_run_changes_parameters_only(notebook):
    tree = ast.parse(runner.tagged(notebook, "parameters").source)
    full = {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)}
    short = notebook.metadata[runner.SHORT]
    assert short
    assert set(short) <= set(full)
    assert all(short[name] != full[name] for name in short)


def test_outputs_are_stored_and_in_order(notebook):
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert kinds_of_pictures(notebook), "a notebook has a picture"
    assert not [one for one in outputs(notebook) if one.output_type == "error" or one.get("name") == "stderr"]


def test_outputs_hold_nothing_of_the_machine_they_were_made_on(notebook):
    for output in outputs(notebook):
        for text in texts(output):
            found = ONE_MACHINE_ONLY.search(text)
            assert not found, text[max(0, found.start() - 60) : found.end() + 60]


def test_a_notebook_is_small(path, notebook):
    assert path.stat().st_size <= MOST_BYTES
    for output in outputs(notebook):
        picture = output.get("data", {}).get("image/png")
        if picture:
            (width,) = struct.unpack(">I", base64.b64decode(picture)[16:20])
            assert width <= MOST_PIXELS


def test_all_notebooks_together_are_small():
    assert NOTEBOOKS
    assert sum(path.stat().st_size for path in NOTEBOOKS) <= MOST_BYTES_TOGETHER


def test_cells_are_short_enough_to_read(notebook):
    for cell in notebook.cells:
        lines = cell.source.splitlines()
        if cell.cell_type == "code":
            assert len(lines) <= 30, cell.source
            assert all(len(line) <= 120 for line in lines), cell.source


def test_links_lead_to_pages_of_the_checkout(path, notebook):
    for cell in notebook.cells:
        for link in LINK.findall(cell.source) if cell.cell_type == "markdown" else ():
            target, _, heading = link.partition("#")
            if target.startswith("https://"):
                continue
            page = (path.parent / target).resolve()
            assert page.is_relative_to(ROOT), link
            assert page.exists(), link
            if heading:
                assert heading in headings(page.read_text(encoding="utf-8")), link


def test_metadata_are_those_that_the_script_writes(path, notebook):
    before = nbformat.writes(notebook)
    runner.tidy(notebook, path)
    assert nbformat.writes(notebook) == before, "run `python -m examples.run_notebooks`"


def test_two_runs_with_the_same_results_are_stored_alike():
    stored = []
    for run in ("1a2b3", "4c5d6"):
        notebook = small_notebook()
        table = {"text/html": f'<table id="T_{run}"><td id="T_{run}_row0"></td></table>', "text/plain": f"<at 0x{run}>"}
        code = nbformat.v4.new_code_cell("table", outputs=[nbformat.v4.new_output("display_data", table)])
        code.metadata["execution"] = {"iopub.status.busy": run}
        notebook.cells.append(code)
        notebook.metadata["language_info"] = {"name": "python", "version": run}
        runner.tidy(notebook, runner.FOLDER / "00_small.ipynb")
        stored.append(nbformat.writes(notebook))
    assert stored[0] == stored[1]


def test_a_short_run_stores_nothing_and_a_full_one_its_outputs(tmp_path):
    path = tmp_path / "00_small.ipynb"
    nbformat.write(small_notebook(), path)
    before = path.read_bytes()
    runner.refresh(path, short=True)
    assert path.read_bytes() == before
    runner.refresh(path)
    (printed,) = outputs(nbformat.read(path, as_version=4))
    assert printed.text == "games: 3\n"


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run_notebooks", "99"])
    with pytest.raises(SystemExit):
        runner.main()
    assert "no notebook's name begins with '99'; there are 01_five_minutes.ipynb" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------------------------
# The first cell, and what a repository on GitHub changes


@pytest.fixture
def installed(monkeypatch):
    """Run the cell that installs cardenvs in a folder; return what it asks pip for. No repository is named at first."""
    monkeypatch.setattr(runner, "REPOSITORY", "")

    def run(folder, is_known=False):
        asked = []
        shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
        shell.register_magic_function(asked.append, "line", "pip")
        if not is_known:
            monkeypatch.setattr(importlib.util, "find_spec", lambda name: PathFinder.find_spec(name, [str(folder)]))
        monkeypatch.chdir(folder)
        shell.run_cell(runner.shared_cells()["install"]).raise_error()
        return asked

    return run


def test_nothing_is_installed_where_cardenvs_can_be_imported(installed, tmp_path):
    (tmp_path / "cardenvs-0.1.0-py3-none-any.whl").touch()
    assert installed(tmp_path, is_known=True) == []


def test_the_checkout_of_a_notebook_is_installed(installed):
    assert installed(runner.FOLDER) == [f'install --quiet "{ROOT}[notebooks]"']


def test_a_wheel_beside_a_notebook_is_installed(installed, tmp_path):
    wheel = tmp_path / "cardenvs-0.1.0-py3-none-any.whl"
    wheel.touch()
    (tmp_path / "other-1.0-py3-none-any.whl").touch()
    assert installed(tmp_path) == [f'install --quiet "{wheel}[notebooks]"']


def test_without_a_wheel_the_cell_says_what_to_do_and_installs_nothing(installed, tmp_path):
    (tmp_path / "cardenvs").mkdir()  # a folder of that name is neither the package nor a checkout
    with pytest.raises(FileNotFoundError, match=r"`make wheel` writes to dist/.*\n.*not published.*\nPut it into"):
        installed(tmp_path)


@pytest.fixture
def colab(monkeypatch, tmp_path):
    """As if on Colab: `colab.upload` is the name of the file that the reader uploads, or None for no file."""
    reader = SimpleNamespace(upload="cardenvs-0.1.0-py3-none-any.whl", asked=0)

    def upload():
        reader.asked += 1
        if reader.upload:
            (tmp_path / reader.upload).touch()

    module = ModuleType("google.colab")
    module.files = SimpleNamespace(upload=upload)
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    return reader


def test_on_colab_the_cell_explains_in_two_lines_and_offers_the_upload(installed, colab, tmp_path, capsys):
    assert installed(tmp_path) == [f'install --quiet "{tmp_path / colab.upload}[notebooks]"']
    *explained, offer = capsys.readouterr().out.splitlines()
    assert (len(explained), offer) == (2, "Upload it here:")
    assert "`make wheel`" in explained[0]


def test_on_colab_a_wheel_that_is_there_is_installed_without_a_question(installed, colab, tmp_path):
    (tmp_path / colab.upload).touch()
    assert installed(tmp_path) == [f'install --quiet "{tmp_path / colab.upload}[notebooks]"']
    assert colab.asked == 0


@pytest.mark.parametrize("upload", [None, "notes.txt"])
def test_on_colab_nothing_else_is_installed(installed, colab, tmp_path, upload):
    colab.upload = upload
    with pytest.raises(FileNotFoundError, match="run this cell again"):
        installed(tmp_path)
    assert colab.asked == 1


def test_badge_installation_and_links_lead_to_the_repository_wherever_it_moves(monkeypatch, installed, tmp_path):
    monkeypatch.setattr(runner, "REPOSITORY", "owner/repo")
    notebook = small_notebook()
    links = "[a](../../docs/arena.md#your-own-agent) [b](02_b.ipynb) [c](https://example.org)"
    notebook.cells.append(nbformat.v4.new_markdown_cell(links))
    path = runner.FOLDER / "01_small.ipynb"
    runner.tidy(notebook, path)
    before = nbformat.writes(notebook)
    runner.tidy(notebook, path)
    assert nbformat.writes(notebook) == before
    colab = "https://colab.research.google.com/github/owner/repo/blob/main/examples/notebooks"
    assert notebook.cells[0].source.splitlines()[0].endswith(f"]({colab}/01_small.ipynb)")
    assert notebook.cells[-1].source == (
        "[a](https://github.com/owner/repo/blob/main/docs/arena.md#your-own-agent) "
        f"[b]({colab}/02_b.ipynb) [c](https://example.org)"
    )
    assert installed(tmp_path) == ['install --quiet "cardenvs[notebooks] @ git+https://github.com/owner/repo"']
    monkeypatch.setattr(runner, "REPOSITORY", "other/fork")
    runner.tidy(notebook, path)
    assert nbformat.writes(notebook) == before.replace("owner/repo", "other/fork")
    monkeypatch.setattr(runner, "REPOSITORY", "")
    runner.tidy(notebook, path)
    assert notebook.cells[-1].source == links


# ---------------------------------------------------------------------------------------------------------------
# Notebooks as pages of the site


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("mkdocs")
    from docs import notebook_pages

    return notebook_pages


def test_a_page_shows_the_notebook_and_each_of_its_outputs_once(path, notebook, pages):
    text = pages.page_text(path)
    assert text.startswith("# ")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            is_shown = not {"install", "style"} & set(cell.metadata.get("tags", ()))
            assert (cell.source in text) == is_shown
    found = pages.outputs_of(path)
    assert len(found) == len(outputs(notebook))
    page = SimpleNamespace(file=SimpleNamespace(src_uri=f"notebooks/{path.stem}.md"))
    filled = pages.on_page_content(text, page=page)
    assert "notebook-output" in filled
    assert all(filled.count(shown) >= 1 for shown in found.values())
    assert 'id="output-' not in filled


def test_the_page_of_notebooks_and_the_navigation_lead_to_all_of_them():
    listed = re.findall(r"\]\(\.\./examples/notebooks/(\w+)\.ipynb\)", (ROOT / "docs/notebooks.md").read_text("utf-8"))
    in_nav = re.findall(r": notebooks/(\w+)\.md$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert listed == in_nav == [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize(
    ("page", "link", "target"),
    [
        ("notebooks.md", "../examples/notebooks/01_a.ipynb", "notebooks/01_a.md"),
        ("games/g.md", "../../examples/notebooks/01_a.ipynb#b", "../notebooks/01_a.md#b"),
        ("games/g.md", "../arena.md", "../arena.md"),
        ("games/g.md", "https://example.org/examples/notebooks/01_a.ipynb", None),
    ],
)
def test_links_to_notebooks_lead_to_their_pages(pages, page, link, target):
    made = pages.on_page_markdown(f"[x]({link})", page=SimpleNamespace(file=SimpleNamespace(src_uri=page)))
    assert made == f"[x]({target or link})"


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("../../docs/arena.md#your-own-agent", "[x](../arena.md#your-own-agent)"),
        ("https://github.com/owner/repo/blob/main/docs/arena.md", "[x](../arena.md)"),
        ("02_b.ipynb", "[x](02_b.md)"),
        ("https://colab.research.google.com/github/owner/repo/blob/main/examples/notebooks/02_b.ipynb", "[x](02_b.md)"),
        ("../../training/single_file_ppo.py", "`x`"),
        ("https://example.org", "[x](https://example.org)"),
    ],
)
def test_links_in_a_notebook_lead_on_from_its_page(pages, tmp_path, link, shown):
    notebook = small_notebook()
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"See [x]({link})."))
    nbformat.write(notebook, tmp_path / "01_small.ipynb")
    assert pages.page_text(tmp_path / "01_small.ipynb").endswith(f"See {shown}.\n")


def needed(notebook):
    """The modules of NEEDED that a notebook needs."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return [module for module, pattern in NEEDED.items() if pattern.search(code)]


def small_notebook():
    """A notebook with all that the script asks for."""
    cells = [nbformat.v4.new_markdown_cell("# Small")]
    for tag, code in ("install", ""), ("style", ""), ("parameters", "GAMES = 3"):
        cells.append(nbformat.v4.new_code_cell(code, metadata={"tags": [tag]}))
    cells.append(nbformat.v4.new_code_cell("print('games:', GAMES)"))
    return nbformat.v4.new_notebook(cells=cells, metadata={runner.SHORT: {"GAMES": 1}})


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def texts(output):
    """The text of an output, without pictures in base 64."""
    data = output.get("data", {})
    return [output.get("text", ""), *(str(value) for kind, value in data.items() if kind != "image/png")]


def kinds_of_pictures(notebook):
    """For each output with a picture, in order, its kind."""
    pictures = ("image/png", "image/svg+xml")
    return [kind for output in outputs(notebook) for kind in pictures if kind in output.get("data", {})]


def headings(page):
    """The anchors of a page of Markdown, as GitHub and mkdocs write them."""
    titles = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}
