"""Guests: submitted agents, whose code is a folder. They always play in separate processes.

A guest's process starts in its folder. Installed packages come first on its module path and its own modules last, so
that they shadow nothing. Its environment has only what it needs to run. If the system has a sandbox, the process runs
in it; see `cardenvs.agents.guarded.sandbox`.
"""

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cardenvs.agents.guarded.sandbox import Limits, limited, python_path, sandboxed, with_memory
from cardenvs.core.cache import cache_folder
from cardenvs.core.game import Game
from cardenvs.core.kernel import COMPILED, CORE_FOLDER, unit_name
from cardenvs.core.registry import game_targets

FOLDER = "CARDENVS_GUEST_FOLDER"  # environment variable of a fork server: the guest's module folder
BUNDLE = "{bundle}"  # replaced by the guest's folder in its command
_PLACE = "/bundle"  # the folder's path in a sandbox
_LIMITS = Limits()
_KEPT = ("CARDENVS_COMPILE", "LANG", "LC_ALL", "TZ")  # environment variables


@dataclass(frozen=True)
class Guest:
    """A submitted agent."""

    name: str  # the agent's name in its match
    # a private copy of its code; None: it has none (a policy of the game, or a spec typed by the operator), and its
    # process is an ordinary one
    folder: str | None = None
    digest: str = ""  # hash of all its files, part of the match's id
    sandbox: bool = False  # whether its process runs in a sandbox
    limits: Limits = _LIMITS  # limits on its processes, except for memory, which the match limits

    def command(
        self, argv: Sequence[str], game: Game, memory_mb: int | None, forks: bool = False
    ) -> tuple[list[str], dict[str, str]]:
        """Return the command and environment that run `argv` for this guest, which has a folder; see `sandboxed`."""
        assert self.folder is not None
        place = _PLACE if self.sandbox else self.folder
        argv = [part.replace(BUNDLE, place) for part in argv]
        packages = _packages()
        path = [*python_path(), *dict.fromkeys(str(Path(path).parent) for path in packages)]
        # A fork server tries to import optional packages and must not find them among the guest's modules.
        env = _environment(path) | {FOLDER: place} if forks else _environment([*path, place])
        limits = with_memory(self.limits, memory_mb)
        if not self.sandbox:
            env |= {"HOME": place, "CARDENVS_CACHE_DIR": str(cache_folder())}
            return limited(argv, limits, place), env
        readonly = {path: path for path in packages} | {place: self.folder}
        env |= {"HOME": "/tmp"}
        compiled = _compiled(game)
        command = sandboxed(argv, env, readonly=readonly, limits=limits, folder=place, cache=compiled, forks=forks)
        return command, {"PATH": os.environ.get("PATH", os.defpath)}


def _environment(path: Sequence[str]) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name in _KEPT}
    # Numba's settings are part of the keys of compiled code; without them it would be compiled again.
    env |= {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    env.pop("NUMBA_CACHE_DIR", None)
    return env | {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CARDENVS_QUIET": "1",
        "OMP_NUM_THREADS": "1",  # the agents of a match share the cores
    }


def _packages() -> list[str]:
    """Return the folders of cardenvs and of packages with games, unless they are among the installed packages."""
    tops = {target.partition(":")[0].partition(".")[0] for target in game_targets().values()}
    found = [str(Path(__file__).resolve().parents[2])]
    for top in sorted(tops - {"cardenvs"}):
        spec = importlib.util.find_spec(top)
        found += [str(Path(folder).resolve()) for folder in (spec and spec.submodule_search_locations) or ()]
    installed = [Path(path) for path in python_path()]
    return [path for path in found if not any(Path(path).is_relative_to(place) for place in installed)]


def _compiled(game: Game) -> dict[str, str]:
    """Return the folders of a game's compiled code, by name."""
    if not COMPILED:
        return {}
    spec = importlib.util.find_spec(game_targets()[game.name].partition(":")[0])
    folders = [Path(spec.origin).parent] if spec is not None and spec.origin is not None else []
    kits = CORE_FOLDER.parent / "kits"
    units = [unit_name(folder) for folder in (CORE_FOLDER, kits, *filter(Path.is_dir, kits.iterdir()), *folders)]
    return {unit: str(cache_folder() / unit) for unit in units if (cache_folder() / unit).is_dir()}
