"""The Python files that pages load: parts of cardenvs, what they import, and stand-ins for what a browser lacks."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cardenvs.core.errors import GameNotFoundError
from cardenvs.core.game import Game
from cardenvs.core.registry import GROUP, game_targets

_PACKAGE = Path(__file__).resolve().parents[1]
# What plays a table; of "envs", what `import cardenvs` reads.
_PARTS = (
    "__init__.py", "agents", "browser/__init__.py", "browser/tables.py", "core", "envs/__init__.py", "envs/modules.py",
    "games/__init__.py", "kits", "pictures", "server", "zoo/ratings.json",
)  # fmt: skip
_UNUSED_SUFFIXES = (".pyc", ".md")
_UNUSED_FOLDER = _PACKAGE / "server" / "static"  # whose files the pages load themselves
_LIBRARIES = ("rich",)  # whose markup narration uses
_KINDS = {"zoo": "cardenvs.agents.zoo:ZOO"}  # of agents, beside the games' own policies
_STAND_INS = {
    "gymnasium.py": "registry = {}\n\n\ndef register(name, *arguments, **more):\n    registry[name] = None\n",
    "sqlite3.py": "class Error(Exception): ...\n\n\nclass Connection: ...\n",
    "starlette/__init__.py": "",
    "starlette/websockets.py": "class WebSocket: ...\n\n\nclass WebSocketDisconnect(Exception): ...\n",
}


def shared_files(names: Sequence[str]) -> dict[str, bytes]:
    """Return the files that all games need, by path, with the names of the games that there are."""
    found = {name: text.encode() for name, text in _STAND_INS.items()} | _metadata(names)
    for part in _PARTS:
        found |= dict(_files(_PACKAGE / part, _PACKAGE.parent))
    for library in _LIBRARIES:
        spec = find_spec(library)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        found |= dict(_files(folder, folder.parent))
    return found


def game_files(game: Game) -> dict[str, bytes]:
    """Return the files of a game and of its trained policies, by path.

    Raises:
        GameNotFoundError: the game is of another package.
    """
    if not game.folder.is_relative_to(_PACKAGE):
        raise GameNotFoundError(f"{game.name} is not a game of cardenvs; pages without a server have only those")
    found = dict(_files(game.folder, _PACKAGE.parent))
    for path in sorted((_PACKAGE / "zoo" / game.name).glob("*")):
        found[path.relative_to(_PACKAGE.parent).as_posix()] = path.read_bytes()
    return found


def _files(path: Path, root: Path) -> Iterator[tuple[str, bytes]]:
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        is_used = file.suffix not in _UNUSED_SUFFIXES and file.parent != _UNUSED_FOLDER
        if file.is_file() and is_used:
            yield file.relative_to(root).as_posix(), file.read_bytes()


def _metadata(names: Sequence[str]) -> dict[str, bytes]:
    """Return the metadata of an installed cardenvs that has only these games."""
    number = version("cardenvs")
    targets = game_targets()
    lines = [f"[{GROUP}]", *(f"{name} = {targets[name]}" for name in names)]
    lines += ["[cardenvs.agents]", *(f"{name} = {target}" for name, target in _KINDS.items())]
    folder = f"cardenvs-{number}.dist-info"
    return {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: cardenvs\nVersion: {number}\n".encode(),
        f"{folder}/entry_points.txt": "\n".join([*lines, ""]).encode(),
    }
