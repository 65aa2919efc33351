"""A sandbox for the processes of guests, where the system has one: bubblewrap.

    argv = sandboxed(["python3", "bot.py"], env, readonly={"/bundle": "/some/folder"}, limits=Limits())

In it a process sees a read-only system, read-only copies of what it is given, and a private /tmp. It has no network, no
home folder, no other processes, and limits on memory, processes, CPU time, open files and the size of what it writes.
Nothing in it outlives a game: a program has a sandbox for each game, and a fork server, which runs no code of the
guest, gives each game namespaces of its own within its sandbox (`cardenvs.agents.guarded.cell`). Without bubblewrap
`limited` sets those of the limits that a plain process can have: a guard against accidents, not against malice.
"""

import dataclasses
import functools
import json
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardenvs.core.errors import AgentError
from cardenvs.core.text import one_line

MODES = ("auto", "require", "none")
_CELL = str(Path(__file__).with_name("cell.py"))
_CACHE, _CACHE_SEEN = "/tmp/kernels", "/kernels"  # paths inside of the sandbox
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (  # what libraries read: where others are, certificates, the time zone; nothing about users or hosts
    "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/ld.so.cache", "/etc/ld.so.conf",
    "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/os-release", "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/cert.pem", "/etc/pki/tls/certs", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
_PROBE_S = 20.0
_SCRATCH = ("/tmp", "/dev/shm")  # what a process can write to in a sandbox
# Rights that `cell.py` gives up before code of the guest runs: to seal or make namespaces, to become another user, and
# of a fork server to end the processes of a game.
_RIGHTS = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SETUID", "CAP_SETGID")
_RIGHTS_OF_SERVERS = ("CAP_NET_ADMIN", "CAP_KILL")


@dataclass(frozen=True)
class Limits:
    """What a guest's process may use.

    Attributes:
        memory_mb: of each process's data, and of what all of them use together; None: no limit.
        processes: at a time, threads included; in a sandbox only, where they can be counted apart from the host's.
        cpu_seconds: of each process, in its whole life.
        open_files: of each process.
        file_mb: of each file, and of all that is in /tmp, and of all that is in /dev/shm, in a sandbox.
    """

    memory_mb: int | None = 4096
    processes: int = 64
    cpu_seconds: int = 3600
    open_files: int = 256
    file_mb: int = 64

    def as_settings(self) -> dict[str, int]:
        """As `cell.py` takes them."""
        return {
            "memory": (self.memory_mb or 0) << 20,
            "cpu_seconds": self.cpu_seconds,
            "open_files": self.open_files,
            "file_bytes": self.file_mb << 20,
        }


@functools.cache
def why_unavailable() -> str | None:
    """Why this system has no sandbox, or None if it has one. Tried once, by running a program in it."""
    if sys.platform != "linux":
        return "bubblewrap needs Linux"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (the program bwrap; Debian and Ubuntu: apt-get install bubblewrap)"
    inside = as_game([sys.executable, "-I", "-S", "-c", "print('inside')"], Limits())
    command = sandboxed(inside, {}, readonly={}, limits=Limits(), forks=True)
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_S, stdin=subprocess.DEVNULL, env={})
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}"
    if done.stdout.strip() != b"inside":
        return f"bubblewrap does not run here: {one_line(done.stderr.decode(errors='replace')) or 'it says nothing'}"
    return None


def chosen(mode: str) -> bool:
    """Return whether to use the sandbox: `mode` is "auto" (if there is one), "require" or "none".

    Raises:
        AgentError: an unknown mode, or a sandbox is required but not available.
    """
    if mode not in MODES:
        raise AgentError(f"a sandbox is one of {', '.join(MODES)}; got {mode!r}")
    if mode == "none":
        return False
    reason = why_unavailable()
    if mode == "require" and reason is not None:
        raise AgentError(f"no sandbox is available here: {reason}")
    return reason is None


def as_game(argv: Sequence[str], limits: Limits) -> list[str]:
    """Return the command that runs `argv` as a fork server in a sandbox runs a game: to try whether it can."""
    settings = _settings(limits) | {"split": True}
    return [sys.executable, "-I", "-S", _CELL, json.dumps(settings), *argv]


def limited(argv: Sequence[str], limits: Limits, folder: str) -> list[str]:
    """Return the command that runs `argv` in `folder` under limits, without a sandbox."""
    settings = limits.as_settings() | {"folder": folder}
    return [sys.executable, "-I", "-S", _CELL, json.dumps(settings), *argv]


def sandboxed(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    readonly: Mapping[str, str],
    limits: Limits,
    folder: str = "/tmp",
    cache: Mapping[str, str] = types.MappingProxyType({}),
    forks: bool = False,
) -> list[str]:
    """Return the command that runs `argv` in a sandbox.

    Args:
        argv: program and arguments, as seen in the sandbox.
        env: all of its environment.
        readonly: what it sees besides the system and this Python: the place in the sandbox, and the path here.
        limits: what it may use.
        folder: where it starts, as seen in the sandbox.
        cache: folders of compiled code, names and paths here: what is added to them is gone with the sandbox.
        forks: whether `argv` is a fork server. It is not limited, may make namespaces, and calls `cell.enter` and
            `cell.confine` in the processes that it forks.
    """
    settings = _settings(limits)
    command = [
        shutil.which("bwrap") or "bwrap",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--unshare-ipc",
        "--unshare-pid",
    ]
    command += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "guest", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        command += ["--unshare-user"]
    for right in (*_RIGHTS, *(_RIGHTS_OF_SERVERS if forks else ())):
        command += ["--cap-add", right]
    for path in _SYSTEM:
        command += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    for path in _parents(_ETC):
        command += ["--perms", "0755", "--dir", path]
    for path in _ETC:
        command += ["--ro-bind-try", path, path]
    size = str(limits.file_mb << 20)
    command += ["--proc", "/proc", "--dev", "/dev"]
    for path in _SCRATCH:
        command += ["--size", size, "--perms", "1777", "--tmpfs", path]
    env, shown = dict(env), {path: path for path in _python_folders()} | dict(readonly)
    if cache:
        shown |= {f"{_CACHE_SEEN}/{name}": path for name, path in cache.items()}
        settings["cache"] = [_CACHE_SEEN, _CACHE]
        env["CARDENVS_CACHE_DIR"] = _CACHE
    for path in _parents(shown):
        command += ["--perms", "0755", "--dir", path]
    for place, path in shown.items():
        command += ["--ro-bind", path, place]
    for name, value in env.items():
        command += ["--setenv", name, value]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder, "--"]
    if forks:
        settings = {"games": settings} | ({"cache": settings["cache"]} if cache else {})
    return [*command, sys.executable, "-I", "-S", _CELL, json.dumps(settings), *argv]


def _settings(limits: Limits) -> dict[str, Any]:
    """As `cell.py` takes them, in a sandbox."""
    settings: dict[str, Any] = limits.as_settings()
    settings |= {"processes": limits.processes, "scratch": _SCRATCH, "filter": True}
    return settings | ({"as_root": True} if os.geteuid() == 0 else {})


def _parents(places: Iterable[str]) -> list[str]:
    """Return the folders above these places, outermost first. Those that are not made would be open to root only."""
    return sorted({str(parent) for place in places for parent in Path(place).parents} - {"/"})


@functools.cache
def _python_folders() -> tuple[str, ...]:
    """Return what this Python consists of, and cardenvs: folders outside of the system's, none inside of another."""
    found = [sys.prefix, sys.base_prefix, *python_path()]
    package = str(Path(__file__).resolve().parents[2])
    folders = sorted({os.path.realpath(path) for path in found} | set(found) | {package})
    kept: list[str] = []
    for folder in folders:
        if os.path.isdir(folder) and not any(Path(folder).is_relative_to(other) for other in (*_SYSTEM, *kept)):
            kept.append(folder)
    return tuple(kept)


def python_path() -> list[str]:
    """Return where installed packages are: what of `sys.path` is part of an installation, not of somebody's project."""
    return [
        path
        for path in dict.fromkeys(sys.path)
        if os.path.basename(path) in ("site-packages", "dist-packages") and os.path.isdir(path)
    ]


def with_memory(limits: Limits, memory_mb: int | None) -> Limits:
    """Return the same limits with another one of memory."""
    return dataclasses.replace(limits, memory_mb=memory_mb)
