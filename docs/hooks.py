"""A hook for mkdocs: in the navigation, an entry that names a folder means all pages of that folder."""

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Replace folders in `nav` by their pages, the index first."""
    docs = Path(config["docs_dir"])
    config["nav"] = _expanded(docs, config["nav"])
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
