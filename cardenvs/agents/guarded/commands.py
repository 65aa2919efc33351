"""How an agent's process is started: its command line and its environment."""

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
    """Return the command line and the environment of an agent's process: the one place, with
    `guest_command`, where strangers' code is started.

    Args:
        command: program and arguments of the agent.
        memory_limit_mb: of each process's data, and of what all of them use together; None: no limit.
        keep_env: environment variables that the operator passes on, by name.
    """
    memory = 0 if memory_limit_mb is None else memory_limit_mb << 20
    return [*_launch(memory, memory), *command], _environment(keep_env)


def guest_command(
    command: Sequence[str], memory_limit_mb: int | None, guest: Guest, game: Game, forks: bool
) -> tuple[list[str], dict[str, str]]:
    """Return the same for a guest with code of its own: within its limits, and in its sandbox where it has one."""
    inner, env = guest.command(command, game, memory_limit_mb, forks)
    total = 0 if memory_limit_mb is None else memory_limit_mb << 20
    return [*_launch(0, total), *inner], env  # those of each process are set inside: they are not the sandbox's


def _launch(each: int, total: int) -> list[str]:
    return [sys.executable, "-I", "-S", _LAUNCH, str(each), str(total), str(os.getpid())]


def _environment(keep: Sequence[str]) -> dict[str, str]:
    """Return the environment of a process: what programs need, what was asked for, and where to find modules."""
    env = {name: value for name, value in os.environ.items() if name in keep or _is_harmless(name)}
    env["PYTHONPATH"] = os.pathsep.join([path or os.getcwd() for path in sys.path])
    env["CARDENVS_QUIET"] = "1"
    env.setdefault("OMP_NUM_THREADS", "1")  # the agents of a match share the cores
    return env


def _is_harmless(name: str) -> bool:
    kept = name in _KEPT_ENV or name.startswith(_KEPT_ENV_PREFIXES)
    return kept and not any(word in name.upper() for word in _SECRET_WORDS)
