"""The command line and environment of an agent's process."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cardenvs.agents.guarded.guest import Guest
from cardenvs.core.game import Game

_KEPT_ENV = {
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
    "CUDA_VISIBLE_DEVICES", "XDG_CACHE_HOME", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
}  # fmt: skip
_KEPT_ENV_PREFIXES = ("LC_", "CARDENVS_", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_")
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
_LAUNCH = str(Path(__file__).with_name("launch.py"))


def agent_command(
    command: Sequence[str], memory_limit_mb: int | None, keep_env: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of an agent's process.

    `memory_limit_mb` limits the data of each process and the memory of all together; None: no limit. `keep_env` names
    environment variables to pass on. Foreign code is started only through this function and `guest_command`.
    """
    memory = 0 if memory_limit_mb is None else memory_limit_mb << 20
    return [*_launch(memory, memory), *command], _environment(keep_env)


def guest_command(
    command: Sequence[str], memory_limit_mb: int | None, guest: Guest, game: Game, forks: bool
) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of a submitted agent, with its limits and sandbox."""
    inner, env = guest.command(command, game, memory_limit_mb, forks)
    total = 0 if memory_limit_mb is None else memory_limit_mb << 20
    return [*_launch(0, total), *inner], env  # limits per process are set inside, so that they do not bind the sandbox


def _launch(each: int, total: int) -> list[str]:
    return [sys.executable, "-I", "-S", _LAUNCH, str(each), str(total), str(os.getpid())]


def _environment(keep: Sequence[str]) -> dict[str, str]:
    """Return the environment of a process: harmless variables, those to keep, and the search path for modules."""
    env = {name: value for name, value in os.environ.items() if name in keep or _is_harmless(name)}
    env["PYTHONPATH"] = os.pathsep.join([path or os.getcwd() for path in sys.path])
    env["CARDENVS_QUIET"] = "1"
    env.setdefault("OMP_NUM_THREADS", "1")  # the agents of a match share the cores
    return env


def _is_harmless(name: str) -> bool:
    kept = name in _KEPT_ENV or name.startswith(_KEPT_ENV_PREFIXES)
    return kept and not any(word in name.upper() for word in _SECRET_WORDS)
