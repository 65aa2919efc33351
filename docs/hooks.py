"""A hook for mkdocs: folders in the navigation stand for their pages, and the header links to the repository."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # mkdocs loads this file by its path

from docs.repository import repository


def on_config(config: Any) -> Any:
    """Replace folders in `nav` by their pages, the index first, and name the repository if there is one."""
    docs, name = Path(config["docs_dir"]), repository()
    config["nav"] = _expanded(docs, config["nav"])
    config["repo_name"] = name or None
    config["repo_url"] = f"https://github.com/{name}" if name else None
    return config


def _expanded(docs: Path, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{title: _pages(docs, target) for title, target in entry.items()} for entry in entries]


def _pages(docs: Path, target: str | list[dict[str, Any]]) -> str | list[Any]:
    if isinstance(target, list):
        return _expanded(docs, target)
    if not target.endswith("/"):
        return target
    pages = sorted((docs / target).glob("*.md"), key=lambda path: (path.stem != "index", path.stem))
    return [path.relative_to(docs).as_posix() for path in pages]
