"""Large libraries that an agent's module imports, loaded once in its fork server instead of once a game.

The server never runs code of the agent, so the module is only read, and a library is taken from where packages are
installed, not from a folder of the agent.
"""

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cardenvs.agents.guarded.sandbox import python_path

_LIBRARIES = (
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "jax",
    "tensorflow",
    "sklearn",
    "pandas",
    "scipy",
    "onnxruntime",
)
_IMPORT = re.compile(rf"^\s*(?:import|from)\s+({'|'.join(_LIBRARIES)})\b", re.MULTILINE)
# Reading a model makes its optimizer, which imports torch._dynamo.
_OF_KIND: dict[str, tuple[str, ...]] = {"sb3": ("sb3_contrib", "torch._dynamo")}
_MOST_FILES, _MOST_CHARACTERS = 100, 1 << 20


def preload(spec: str, folder: str | None) -> None:
    """Import the libraries that the agent of a spec will import. One that is missing or fails is left to the agent.

    Args:
        spec: the agent's spec.
        folder: the folder of a guest's module; None: the module is found as Python finds it.
    """
    kind, _, argument = spec.partition(":")
    names: tuple[str, ...] = _OF_KIND.get(kind, ())
    if kind == "python":
        names = tuple(dict.fromkeys(_imported(argument.partition(":")[0].partition(".")[0], folder)))
    found_first, sys.path[:] = list(sys.path), [path for path in sys.path if _is_installed(path)]
    try:
        for name in names:
            with contextlib.suppress(Exception):  # the agent meets the same fault and reports it
                importlib.import_module(name)
    finally:
        sys.path[:] = found_first


def _imported(module: str, folder: str | None) -> Iterator[str]:
    """Yield the libraries that the files of a module import."""
    for place in [folder] if folder is not None else [os.getcwd(), *sys.path]:
        single, package = Path(place, f"{module}.py"), Path(place, module)
        files = [single] if single.is_file() else sorted(package.glob("**/*.py")) if package.is_dir() else []
        for file in files[:_MOST_FILES]:
            with contextlib.suppress(OSError), open(file, encoding="utf-8", errors="replace") as text:
                yield from _IMPORT.findall(text.read(_MOST_CHARACTERS))
        if files:
            return


def _is_installed(path: str) -> bool:
    """Return whether a folder of `sys.path` belongs to Python or its installed packages."""
    standard = Path(os.__file__).parent
    return (
        path in python_path() or (path != "" and Path(path).resolve().is_relative_to(standard)) or path.endswith(".zip")
    )
