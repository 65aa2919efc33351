"""Build pages with tables that need no server.

    build(Path("public"), ["leduc_poker_v0", "uno_v0"])

Any host of static files serves the folder:

    index.html, table.html, replay.html     the lobby, a table, a recorded game
    assets/                                 scripts and styles, most of them the server's
    games.json, games/                      for the lobby: each game's options and agents, picture and rules
    pyodide/                                Python for browsers
    python/                                 what it imports: numpy, cardenvs, and each game
"""

import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from cardenvs.browser.lobby import lobby_games
from cardenvs.browser.payload import game_files, shared_files
from cardenvs.browser.runtime import PAGE_FILES, numpy_files, prepared, pyodide_files
from cardenvs.core.registry import game_targets, get_game
from cardenvs.pictures.svg import with_pictures

_FOLDER = Path(__file__).parent
_STATIC = (_FOLDER.parent / "pictures" / "static", _FOLDER.parent / "server" / "static", _FOLDER / "static")
_TIME = (1980, 1, 1, 0, 0, 0)  # of packed files, so that the same files give the same archive


def build(folder: Path, names: Sequence[str], pyodide: Path | None = None) -> None:
    """Write the pages of some games into a folder, which is created.

    Args:
        folder: may have an older build, whose files are replaced.
        names: of games of cardenvs.
        pyodide: Pyodide's archive; by default npm brings it.

    Raises:
        CardenvsError: a game is of another package, or the Python for browsers cannot be had.
    """
    games = [get_game(name) for name in names]
    runtime = pyodide_files(pyodide)
    archives = {"numpy": numpy_files(runtime), "cardenvs": shared_files(names)}
    archives |= {game.name: game_files(game) for game in games}
    compiled, snapshot = prepared(runtime, archives)
    files = {f"pyodide/{name}": runtime[name] for name in PAGE_FILES}
    files["pyodide/snapshot.bin"] = gzip.compress(snapshot, mtime=0)
    files |= {f"python/{name}.zip": _packed(packed) for name, packed in compiled.items()}
    found = lobby_games(names)
    files["games.json"] = json.dumps({"games": [one["game"] for one in found]}).encode()
    for one in found:
        name = one["game"]["name"]
        files |= {f"games/{name}.svg": one["picture"].encode(), f"games/{name}.md": one["rules"].encode()}
    files |= _pages()
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def own_games(names: Sequence[str]) -> list[str]:
    """Return those of the registered games that come with cardenvs."""
    return [name for name in names if game_targets()[name].startswith("cardenvs.games.")]


def _packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path, _TIME), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _pages() -> dict[str, bytes]:
    """Return scripts, styles and pages: the server's, unless there is a file of this name for pages without one."""
    found = {}
    for folder in _STATIC:
        for path in sorted(folder.iterdir()):
            text = with_pictures(path.read_text(encoding="utf-8"))
            if path.suffix != ".html":
                found[f"assets/{path.name}"] = text.encode()
            else:
                name = "index.html" if path.name == "lobby.html" else path.name
                found[name] = _standing_alone(text).encode()
    return found


def _standing_alone(page: str) -> str:
    """Return a server's page for any folder of any host: with relative addresses, and without what needs a server."""
    for before, after in (
        ('"/assets/', '"assets/'),
        ('href="/"', 'href="./"'),
        ("{{apps}}", "<span>All of it runs in this browser, which also knows the hidden cards.</span>"),
        ("{{review}}", ""),
        ("</head>", '<link rel="stylesheet" href="assets/alone.css">\n</head>'),
    ):
        page = page.replace(before, after)
    return page


def weight(folder: Path, name: str) -> int:
    """Return how many bytes a browser loads for the table of a game, from pages in a folder."""
    paths = [folder / "table.html", *(folder / "pyodide").iterdir(), *(folder / "assets").iterdir()]
    paths += [folder / "python" / f"{one}.zip" for one in ("numpy", "cardenvs", name)]
    unused = ("package.json", "lobby", "replay")
    return sum(path.stat().st_size for path in paths if not path.name.startswith(unused))
