"""Guests: agents whose code comes from somebody else, as a folder. They play in processes of their own, always.

A guest's process begins in its folder. It finds installed packages first and its own modules last, so that no module of
the guest takes the place of another one; of the environment it gets nothing but what is needed to run. Where the system
has a sandbox the process is in it; see `cardenvs.agents.guarded.sandbox`.
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
from cardenvs.core.kernel import COMPILED, CORE_FOLDER, unit_hash
from cardenvs.core.registry import game_targets

FOLDER = "CARDENVS_GUEST_FOLDER"  # environment variable of a fork server: where its games find the guest's modules
BUNDLE = "{bundle}"  # replaced by the guest's folder in its command
_PLACE = "/bundle"  # where the folder is in a sandbox
_LIMITS = Limits()
_KEPT = ("CARDENVS_COMPILE", "LANG", "LC_ALL", "TZ")  # of the environment


@dataclass(frozen=True)
class Guest:
    """An agent from elsewhere.

    Attributes:
        name: of the agent, in its match.
        folder: its code, a copy that nobody else uses; None: it brings none (a policy of the game, or a spec that the
            operator has typed), and its process is an ordinary one.
        digest: of all its files; a match with other ones is another match.
        sandbox: whether its process is in a sandbox.
        limits: of its processes; that on memory is the match's.
    """

    name: str
    folder: str | None = None
    digest: str = ""
    sandbox: bool = False
    limits: Limits = _LIMITS

    def command(
        self, argv: Sequence[str], game: Game, memory_mb: int | None, forks: bool = False
    ) -> tuple[list[str], dict[str, str]]:
        """Return how to start `argv` as this guest's process, which has a folder: the command and its environment.

        Args:
            argv: program and arguments.
            game: what it plays.
            memory_mb: see Limits.
            forks: whether `argv` is a fork server, as for `sandboxed`.
        """
        assert self.folder is not None
        place = _PLACE if self.sandbox else self.folder
        argv = [part.replace(BUNDLE, place) for part in argv]
        packages = _packages()
        path = [*python_path(), *dict.fromkeys(str(Path(path).parent) for path in packages)]
        # A fork server tries to import what may not be installed: it must not find that among the guest's modules.
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
    # Numba's settings are part of what names compiled code; without them it would be compiled once more.
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
    """Return the folders of compiled code of a game: name, and path here."""
    if not COMPILED:
        return {}
    spec = importlib.util.find_spec(game_targets()[game.name].partition(":")[0])
    folders = [Path(spec.origin).parent] if spec is not None and spec.origin is not None else []
    units = [unit_hash(folder) for folder in (CORE_FOLDER, *folders)]
    return {unit: str(cache_folder() / unit) for unit in units if (cache_folder() / unit).is_dir()}
