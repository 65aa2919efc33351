"""A hook for mkdocs: each notebook of examples/notebooks/ becomes a page of the site, with its stored outputs.

Nothing is run. Text and code go through mkdocs as Markdown, so that links and headings are checked like those of every
other page; outputs are put into the page as they are. A link to a notebook, on any page, leads to its page here.
"""

import base64
import html
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "notebooks"
PAGES = "notebooks"  # folder of the site

_LEFT_OUT = {"install", "style"}  # tags of cells that only a reader who runs the notebook needs
_BADGE = re.compile(r"\[!\[Open in Colab\]\(\S+\)\]\((\S+)\)")
_GITHUB = re.compile(r"https://(?:colab\.research\.google\.com/github|github\.com)/[^/\s]+/[^/\s]+/blob/main/")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_OUTPUT = re.compile(r'<div class="notebook-output" id="(output-\d+-\d+)"></div>')


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        files.append(File.generated(config, f"{PAGES}/{path.stem}.md", content=page_text(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the files of notebooks lead to their pages."""
    here = posixpath.dirname(page.file.src_uri) or "."

    def moved(match: re.Match[str]) -> str:
        name, _, heading = match[2].partition("#")
        target = posixpath.normpath(posixpath.join("docs", here, name))
        if posixpath.dirname(target) != "examples/notebooks" or not target.endswith(".ipynb"):
            return match[0]
        target = posixpath.relpath(f"{PAGES}/{posixpath.basename(target).removesuffix('.ipynb')}.md", here)
        return f"[{match[1]}]({target}{'#' * bool(heading)}{heading})"

    return _LINK.sub(moved, markdown)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Put the outputs of a notebook into its page."""
    folder, _, name = page.file.src_uri.rpartition("/")
    if folder != PAGES:
        return content
    outputs = outputs_of(FOLDER / f"{name.removesuffix('.md')}.ipynb")
    return _OUTPUT.sub(lambda match: outputs[match[1]], content)


def page_text(path: Path) -> str:
    """Return the page of a notebook in Markdown, with a place for each output."""
    cells = _cells(path)
    parts = []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_text(source) if number else _opening(source, path))
        elif not _LEFT_OUT & set(cell["metadata"].get("tags", ())):
            parts.append(f"````python\n{source}\n````")
            parts.extend(_place(number, place) for place in range(len(cell["outputs"])))
    return "\n\n".join(parts) + "\n"


def outputs_of(path: Path) -> dict[str, str]:
    """Return each output of a notebook as HTML, by the id of its place."""
    return {
        f"output-{number}-{place}": _shown(output)
        for number, cell in enumerate(_cells(path))
        for place, output in enumerate(cell.get("outputs", ()))
    }


def _cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def _place(number: int, place: int) -> str:
    return f'<div class="notebook-output" id="output-{number}-{place}"></div>'


def _opening(source: str, path: Path) -> str:
    """The first cell, with a sentence about the notebook in the place of its badge and its title on top."""
    badge, _, rest = source.partition("\n")
    title, _, text = rest.strip().partition("\n")
    colab = _BADGE.match(badge)
    opened = f" [Open in Colab]({colab[1]})." if colab and colab[1].endswith(".ipynb") else ""
    note = (
        f"This page is `examples/notebooks/{path.name}` with its stored outputs. The cells that install cardenvs and "
        f"set the style of plots are left out.{opened} [All notebooks](../notebooks.md)"
    )
    return f"{title}\n\n{_text(text.strip())}\n\n*{note}*"


def _text(source: str) -> str:
    """Text whose links lead from the folder of these pages; files that are no page of the site are only named."""

    def moved(match: re.Match[str]) -> str:
        name, target = match[1], _GITHUB.sub("../../", match[2]).replace("../../examples/notebooks/", "")
        if target.startswith("../../docs/"):
            return f"[{name}](../{target.removeprefix('../../docs/')})"
        if target.endswith(".ipynb"):
            return f"[{name}]({target.removesuffix('.ipynb')}.md)"
        return f"`{name}`" if target.startswith("../../") else match[0]

    return _LINK.sub(moved, source)


def _shown(output: dict[str, Any]) -> str:
    """An output as HTML; pictures are images, so that their styles stay their own."""
    data = {kind: "".join(value) for kind, value in output.get("data", {}).items()}
    if "text/html" in data:
        table = re.sub(r"<style scoped>.*?</style>", "", data["text/html"], flags=re.DOTALL)
        made = re.sub(r'<table border="1" class="dataframe">', "<table>", table)
    elif "image/svg+xml" in data:
        label = re.search(r'aria-label="([^"]*)"', data["image/svg+xml"])
        made = _image("svg+xml", base64.b64encode(data["image/svg+xml"].encode()).decode(), label[1] if label else "")
    elif "image/png" in data:
        made = _image("png", data["image/png"].strip(), "A plot of the figures that the code above computes")
    else:
        text = "".join(output.get("text", data.get("text/plain", "")))
        made = f"<pre><code>{html.escape(text)}</code></pre>"
    return f'<div class="notebook-output" data-search-exclude>{made}</div>'


def _image(kind: str, data: str, text: str) -> str:
    return f'<img src="data:image/{kind};base64,{data}" alt="{text}">'
