"""Whoever hosts the project writes its address once, into pyproject.toml; everything else follows from it."""

import re
import shlex
import tomllib

import pytest
from pages import PAGES, ROOT, blocks, read

pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

import nbformat

from docs import generate, hooks
from docs.repository import page_text, repository
from examples import run_notebooks as runner

ADDRESS = "https://github.com/owner/repo"
LINES = re.compile(r'^#? ?(\[project\.urls\])\n#? ?Repository = ".*"$', re.MULTILINE)
MARKED = re.compile(r"<!-- repository:start (\w+) -->\n(.*?)<!-- repository:end -->", re.DOTALL)


@pytest.fixture
def checkout(tmp_path):
    """The pyproject.toml of this project in a folder, with an address in the place where it belongs, or without one."""

    def make(address):
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        assert len(LINES.findall(text)) == 1
        lines = rf'\1\nRepository = "{address}"' if address else ""
        (tmp_path / "pyproject.toml").write_text(LINES.sub(lines, text), encoding="utf-8")
        return tmp_path

    return make


def filled(page):
    """The marked parts of a page as `docs.generate` writes them: by name."""
    return {match[1]: generate.fill_markers(match[0], ROOT / page) for match in MARKED.finditer(read(page))}


def test_one_address_sets_urls_badges_install_lines_and_the_first_cells(checkout, monkeypatch):
    root = checkout(ADDRESS)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"] == {"Repository": ADDRESS}
    assert repository(root) == "owner/repo"

    monkeypatch.setattr(generate, "ROOT", root)
    assert f"git clone {ADDRESS}\ncd repo\n" in filled("README.md")["clone"]
    parts = filled("docs/installation.md")
    assert f"git clone {ADDRESS}\ncd repo\n" in parts["clone"]
    assert f'python -m pip install "cardenvs[train,report] @ git+{ADDRESS}"' in parts["install"]
    colab = filled("docs/notebooks.md")["colab"]
    assert "The badge" in colab
    assert "make wheel" not in colab

    monkeypatch.setattr(runner, "REPOSITORY", repository(root))
    place = f"https://colab.research.google.com/github/owner/repo/blob/main/{runner.PLACE}"
    for path in runner.notebooks():
        notebook = nbformat.read(path, as_version=4)
        runner.tidy(notebook, path)
        assert notebook.cells[0].source.splitlines()[0].endswith(f"]({place}/{path.name})")
        assert f'"cardenvs[notebooks] @ git+{ADDRESS}"' in runner.tagged(notebook, "install").source
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                assert "](../../" not in cell.source


def test_without_an_address_nothing_names_one(checkout, monkeypatch):
    root = checkout("")
    assert repository(root) == ""
    monkeypatch.setattr(generate, "ROOT", root)
    monkeypatch.setattr(runner, "REPOSITORY", "")
    for page in ("README.md", "docs/installation.md"):
        for text in filled(page).values():
            assert re.fullmatch(r"<!-- repository:start \w+ -->\n<!-- repository:end -->", text)
    assert "make wheel" in filled("docs/notebooks.md")["colab"]
    assert "github" not in runner.shared_cells()["install"] + runner.badge(runner.notebooks()[0])


@pytest.mark.parametrize(("name", "address"), [("owner/repo", ADDRESS), ("", None)])
def test_the_header_of_the_site_links_to_the_repository(name, address, monkeypatch):
    monkeypatch.setattr(hooks, "repository", lambda: name)
    config = hooks.on_config({"docs_dir": str(ROOT / "docs"), "nav": []})
    assert (config["repo_name"], config["repo_url"]) == (name or None, address)


def test_the_pages_say_what_the_project_says():
    for page in PAGES:
        for part, text in MARKED.findall(read(page)):
            assert text.strip() == page_text(part, repository()), f"{page}: run `python -m docs.generate`"


@pytest.mark.parametrize(
    "address", ["owner/repo", "https://gitlab.com/owner/repo", f"{ADDRESS}.git", f"{ADDRESS}/x", "x"]
)
def test_an_address_that_is_not_a_repository_on_github_is_an_error(checkout, address):
    with pytest.raises(ValueError, match=rf"https://github.com/OWNER/REPO, or absent; got '{re.escape(address)}'"):
        repository(checkout(address))


INSTALLED_FROM = re.compile(
    r"\.(\[[\w,]+\])?|\./[\w/]+|dist/cardenvs-[\w.-]+\.whl(\[[\w,]+\])?|cardenvs\[\S+\] @ git\+\S+"
)


def pip_lines():
    folders = ("examples/goofspiel", "examples/high_card", "examples/notebooks", "training", "benchmarks")
    texts = {page: read(page) for page in PAGES if page != "CHANGELOG.md"}
    texts |= {
        f"{folder}/README.md": read(f"{folder}/README.md")
        for folder in folders
        if (ROOT / folder / "README.md").exists()
    }
    return [
        (page, line)
        for page, text in texts.items()
        for block in blocks(text) if block.language == "bash"
        for line in block.code.replace("\\\n", "").splitlines()
        if "pip install" in line
    ]  # fmt: skip


@pytest.mark.parametrize(("page", "line"), pip_lines())
def test_pages_install_cardenvs_from_a_checkout_or_a_wheel(page, line):
    words = shlex.split(line, comments=True)
    words = words[words.index("install") + 1 :]
    ours = [word for word in words if "cardenvs" in word or word.startswith(".")]
    assert ours or "torch" in words, f"{page}: {line}"
    for word in ours:
        assert INSTALLED_FROM.fullmatch(word), f"{page} installs {word!r}, which is not published"


def test_the_lines_that_install_are_found():
    assert len({page for page, _ in pip_lines()}) >= 8
