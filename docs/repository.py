"""Where the project is hosted: `Repository` under [project.urls] of pyproject.toml, the only place that says so.

After a change there, `python -m docs.generate` brings the pages up to date, and
`python -m examples.run_notebooks --no-run` the notebooks. Without an address, everything works from a checkout or a
wheel.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_GITHUB = re.compile(r"https://github\.com/([\w-]+/[\w.-]+)(?<!\.git)")

_CLONE = """\
```bash
git clone https://github.com/{repository}
cd {name}
```"""

_INSTALL = """\
Without a checkout, pip fetches the source and installs it:

```bash
python -m pip install "cardenvs[train,report] @ git+https://github.com/{repository}"
```"""

_COLAB = """\
The badge at the top of a notebook opens it on [Colab](https://colab.research.google.com/). The first cell installs
cardenvs from GitHub."""

_COLAB_UPLOAD = """\
1. Make a wheel with `make wheel` in a checkout. It is written to `dist/`.
2. On [Colab](https://colab.research.google.com/), choose *File > Upload notebook* and pick a file of
   `examples/notebooks/`.
3. Run the first cell. It asks for the wheel and installs it with what the notebook needs.

Links from an uploaded notebook to other pages do not work on Colab; use the pages here."""


def repository(root: Path = ROOT) -> str:
    """Return OWNER/REPO on GitHub, or "" if pyproject.toml has no address.

    Raises:
        ValueError: the address is not that of a repository on GitHub, from where Colab opens notebooks.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project.get("urls", {}).get("Repository", "")
    found = _GITHUB.fullmatch(address)
    if address and not found:
        raise ValueError(f"Repository in pyproject.toml is https://github.com/OWNER/REPO, or absent; got {address!r}")
    return found[1] if found else ""


def page_text(part: str, repository: str) -> str:
    """Return the text between the markers <!-- repository:start PART --> of a page.

    Args:
        part: "clone" (how to get a checkout), "install" (without a checkout) or "colab".
        repository: OWNER/REPO, or "" if there is none.
    """
    if not repository:
        return {"clone": "", "install": "", "colab": _COLAB_UPLOAD}[part]
    text = {"clone": _CLONE, "install": _INSTALL, "colab": _COLAB}[part]
    return text.format(repository=repository, name=repository.partition("/")[2])
