"""Hooks for mkdocs: folders in the navigation stand for their pages, the header links to the repository, and games are
played on pages without a server.
"""

import logging
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # mkdocs loads this file by its path

from cardenvs.browser.build import build, own_games
from cardenvs.core.registry import list_games
from docs.repository import repository

_PLAY = "play"  # folder of the built pages
_log = logging.getLogger("mkdocs.hooks.play")
_builds_play = False


def on_startup(command: str, dirty: bool) -> None:
    """Decide whether games can be played in the built pages: `mkdocs serve` would build them at each change."""
    global _builds_play
    _builds_play = command == "build" and all(map(shutil.which, ("node", "npm")))
    if command == "build" and not _builds_play:
        _log.info("there is no Node.js with npm, so the pages have no tables to play at")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link the page of a game to a table in the reader's browser."""
    path = Path(page.file.src_uri)
    if not _builds_play or path.parent.name != "games" or path.stem not in own_games(list_games()):
        return markdown
    up = "../" * page.url.count("/")
    title, _, rest = markdown.partition("\n")
    link = f'<a href="{up}{_PLAY}/table.html?game={path.stem}">Play it here</a>'
    return f"{title}\n\n{link}, in this browser, without installing anything (23 to 25 MB).\n{rest}"


def on_post_build(config: Any) -> None:
    """Build the tables to which the pages of games link."""
    if _builds_play:
        build(Path(config["site_dir"]) / _PLAY, own_games(list_games()))


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
