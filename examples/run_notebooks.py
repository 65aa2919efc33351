"""Run the notebooks in examples/notebooks/ and store their outputs.

    python -m examples.run_notebooks             # all of them, in full: minutes each
    python -m examples.run_notebooks 02 04       # those whose names begin so
    python -m examples.run_notebooks --short     # with small budgets, as the tests do; stores nothing
    python -m examples.run_notebooks --no-run    # only bring badges, shared cells and metadata up to date

Every notebook starts with a badge and has cells that all of them share; they are written by this script. A notebook
runs in an empty folder that is removed afterwards.
"""

import argparse
import copy
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from docs.repository import repository

FOLDER = Path(__file__).parent / "notebooks"
REPOSITORY = repository()
"""OWNER/REPO on GitHub, from pyproject.toml: badges then open the notebook on Colab, its first cell installs cardenvs
from GitHub, and links lead to GitHub. If it is "", a reader uploads a notebook and a wheel (docs/notebooks.md)."""

COLAB = "https://colab.research.google.com/"
PLACE = "examples/notebooks"

SHORT = "cardenvs.short"
"""Name of the notebook's metadata that holds the values of a short run, for names set in the cell `parameters`."""

INSTALL = '''\
import importlib.util
import sys
from pathlib import Path

spec = importlib.util.find_spec("cardenvs")
if spec is None or spec.origin is None:  # missing, or only a folder of that name
    here = Path.cwd()
    found = [folder for folder in (here, *here.parents) if (folder / "cardenvs" / "__init__.py").is_file()]
    found += here.glob("cardenvs-*.whl")
    wanted = (
        "This notebook needs cardenvs-*.whl, which `make wheel` writes to dist/ in a checkout of cardenvs.\\n"
        "Do not install `cardenvs` from PyPI: it is not published, and that name may be somebody else's."
    )
    if not found and "google.colab" in sys.modules:
        print(f"{wanted}\\nUpload it here:")
        from google.colab import files
        files.upload()
        found += here.glob("cardenvs-*.whl")
    if not found:
        raise FileNotFoundError(f"{wanted}\\nPut it into {here} and run this cell again.")
    %pip install --quiet "{found[0]}[notebooks]"'''

INSTALL_FROM_GITHUB = '''\
import importlib.util

spec = importlib.util.find_spec("cardenvs")
if spec is None or spec.origin is None:  # missing, or only a folder of that name
    %pip install --quiet "cardenvs[notebooks] @ git+https://github.com/{repository}"'''

STYLE = """\
import matplotlib.pyplot as plt

plt.rcParams.update({
    "figure.figsize": (8, 3.2), "figure.dpi": 90, "figure.constrained_layout.use": True,
    "axes.grid": True, "grid.color": "#dde2de", "axes.axisbelow": True, "axes.edgecolor": "#8a949c",
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 11, "legend.frameon": False,
    "svg.hashsalt": "cardenvs",
    "axes.prop_cycle": plt.cycler(color=["#0068a8", "#c8452a", "#00795a", "#8a5cb8", "#b07d00", "#55606a"]),
})"""

SILENT = {
    "CARDENVS_QUIET": "1",  # no messages of the compiler in the outputs
    "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads of torch sleep
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
_STYLER_ID = re.compile(r"\bT_[0-9a-f]{5}(?=[_\"])")  # pandas draws one for each styled table
_TO_REPOSITORY = re.compile(rf"\]\((?:{COLAB}github/|https://github\.com/)[\w.-]+/[\w.-]+/blob/main/")
_TO_NOTEBOOK = re.compile(r"\]\((\d\d_\w+\.ipynb)")
CELL_S = 600  # compiling a game is the longest


def notebooks() -> list[Path]:
    """Return the notebooks in order."""
    return sorted(FOLDER.glob("*.ipynb"))


def badge(path: Path) -> str:
    """Return the first line of a notebook: a badge that leads to Colab, and what to do there if that is not all."""
    image = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    if REPOSITORY:
        return f"{image}({COLAB}github/{REPOSITORY}/blob/main/{PLACE}/{path.name})"
    return f"{image}({COLAB}) *File > Upload notebook*; the first cell says how to install cardenvs there."


def linked(source: str) -> str:
    """Return a text whose links to the checkout lead to the repository, if there is one, so that Colab can follow."""
    source = _TO_REPOSITORY.sub("](../../", source).replace(f"](../../{PLACE}/", "](")  # of an earlier host
    if not REPOSITORY:
        return source
    source = _TO_NOTEBOOK.sub(rf"]({COLAB}github/{REPOSITORY}/blob/main/{PLACE}/\1", source)
    return source.replace("](../../", f"](https://github.com/{REPOSITORY}/blob/main/")


def shared_cells() -> dict[str, str]:
    """Return the code of the cells that all notebooks share, by their tag."""
    return {"install": INSTALL_FROM_GITHUB.format(repository=REPOSITORY) if REPOSITORY else INSTALL, "style": STYLE}


def tagged(notebook: Any, tag: str) -> Any:
    """Return the one cell with this tag.

    Raises:
        ValueError: there is no such cell, or more than one.
    """
    found = [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]
    if len(found) != 1:
        raise ValueError(f"a notebook has one cell with the tag {tag!r}; this one has {len(found)}")
    return found[0]


def shortened(notebook: Any) -> Any:
    """Return a copy in which a cell after the parameters sets them to the values of a short run."""
    short = copy.deepcopy(notebook)
    position = short.cells.index(tagged(short, "parameters")) + 1
    values = "\n".join(f"{name} = {value!r}" for name, value in short.metadata[SHORT].items())
    short.cells.insert(position, nbformat.v4.new_code_cell(values))
    return short


def execute(notebook: Any, folder: Path) -> None:
    """Run a notebook in place, in this folder.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised an exception.
    """
    client = NotebookClient(
        notebook,
        timeout=CELL_S,
        kernel_name="python3",
        extra_arguments=["--Application.log_level=ERROR"],  # no advice on how to encrypt local sockets
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env={**os.environ, **SILENT})


def tidy(notebook: Any, path: Path) -> None:
    """Bring badge, links, shared cells, ids and metadata up to date, so that two runs differ in results only."""
    first = notebook.cells[0]
    lines = first.source.splitlines()
    first.source = "\n".join([badge(path), *(lines[1:] if lines[0].startswith("[![Open in Colab]") else ["", *lines])])
    for tag, code in shared_cells().items():
        tagged(notebook, tag).source = code
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source)
        cell.id = f"cell-{number:02}"
        cell.metadata = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
        for output in cell.get("outputs", ()):
            if len(output.get("data", {})) > 1:
                output.data.pop("text/plain", None)  # the repr of what the output shows already
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = _STYLER_ID.sub(f"T_{number:02}", output.data["text/html"])
    notebook.metadata = nbformat.from_dict(
        {
            "colab": {"provenance": []},
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            SHORT: dict(notebook.metadata[SHORT]),
        }
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def refresh(path: Path, run: bool = True, short: bool = False) -> float:
    """Run a notebook and store its outputs, unless `short`, and return the seconds that it ran."""
    notebook = nbformat.read(path, as_version=4)
    tidy(notebook, path)
    started = time.perf_counter()
    if run or short:
        with tempfile.TemporaryDirectory() as folder:
            execute(shortened(notebook) if short else notebook, Path(folder))
    if not short:
        tidy(notebook, path)
        nbformat.write(notebook, path)
    return time.perf_counter() - started


def main() -> None:
    """Run the notebooks named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of names, such as 02; by default all")
    parser.add_argument("--short", action="store_true", help="run with small budgets and store nothing")
    parser.add_argument("--no-run", action="store_true", help="do not run; store badges, shared cells and metadata")
    arguments = parser.parse_args()
    known = [path.name for path in notebooks()]
    for name in arguments.names:
        if not any(one.startswith(name) for one in known):
            parser.error(f"no notebook's name begins with {name!r}; there are {', '.join(known)}")
    for path in notebooks():
        if not arguments.names or path.name.startswith(tuple(arguments.names)):
            try:
                seconds = refresh(path, run=not arguments.no_run, short=arguments.short)
            except CellExecutionError as error:
                raise SystemExit(f"{path.name}: {error.ename}: {error.evalue}\n\n{error.traceback}") from None
            print(f"{path.name}: {seconds:.0f} s, {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
