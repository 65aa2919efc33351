"""A sandbox for the processes of guests: bubblewrap, if the system has it.

    argv = sandboxed(["python3", "bot.py"], env, readonly={"/bundle": "/some/folder"}, limits=Limits())

In it, a process sees a read-only system, read-only copies of the files it is given, and a private /tmp. It has no
network, no home folder, no view of other processes, and limits on memory, processes, CPU time, open files and written
bytes. Nothing in it outlives a game: a program has a new sandbox for each game, and a fork server, which runs no code
of the guest, gives each game new namespaces within its sandbox (`cardenvs.agents.guarded.cell`). Without bubblewrap,
`limited` sets the limits that a plain process can have, which guards against accidents, not against malice.
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
_CACHE, _CACHE_SEEN = "/tmp/kernels", "/kernels"  # paths in the sandbox
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (  # files that libraries read, such as certificates and the time zone; nothing about users or hosts
    "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/ld.so.cache", "/etc/ld.so.conf",
    "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/os-release", "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/cert.pem", "/etc/pki/tls/certs", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
_PROBE_S = 20.0
_SCRATCH = ("/tmp", "/dev/shm")  # writable folders in a sandbox
# Rights that `cell.py` gives up before code of the guest runs: to seal or make namespaces, to become another user, and,
# for a fork server, to end the processes of a game.
_RIGHTS = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SETUID", "CAP_SETGID")
_RIGHTS_OF_SERVERS = ("CAP_NET_ADMIN", "CAP_KILL")


@dataclass(frozen=True)
class Limits:
    """Limits of a guest's processes."""

    memory_mb: int | None = 4096  # limit on each process's data, and on what all of them use together; None: no limit
    # most processes at a time, threads included; in a sandbox only, where they are counted separately
    processes: int = 64
    cpu_seconds: int = 3600  # CPU time of each process
    open_files: int = 256  # open files of each process
    file_mb: int = 64  # size of each file and, in a sandbox, of /tmp and of /dev/shm

    def as_settings(self) -> dict[str, int]:
        """Return them as settings of `cell.py`."""
        return {
            "memory": (self.memory_mb or 0) << 20,
            "cpu_seconds": self.cpu_seconds,
            "open_files": self.open_files,
            "file_bytes": self.file_mb << 20,
        }


@functools.cache
def why_unavailable() -> str | None:
    """Return why this system has no sandbox, or None if it has one. Tested once, by running a program in it."""
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
        return f"bubblewrap does not run here: {one_line(done.stderr.decode(errors='replace')) or 'no message'}"
    return None


def chosen(mode: str) -> bool:
    """Return whether to use the sandbox: `mode` is "auto" (if there is one), "require" or "none".

    Raises:
        AgentError: the mode is unknown, or a sandbox is required but not available.
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
    """Return the command that runs `argv` as a fork server runs a game, to test whether that works."""
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
    """Return the command that runs `argv` in a sandbox, with this environment and no other.

    Args:
        argv, folder: program and arguments, and the working folder, as seen in the sandbox.
        readonly: files and folders it sees besides the system and this Python: path here, by path in the sandbox.
        cache: folders of compiled code, path here by name; anything added to them is lost with the sandbox.
        forks: whether `argv` is a fork server. It has no limits, may make namespaces, and calls `cell.enter` and
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
    """Return limits as settings of `cell.py` in a sandbox."""
    settings: dict[str, Any] = limits.as_settings()
    settings |= {"processes": limits.processes, "scratch": _SCRATCH, "filter": True}
    return settings | ({"as_root": True} if os.geteuid() == 0 else {})


def _parents(places: Iterable[str]) -> list[str]:
    """Return the folders above these places, outermost first. Unless created explicitly, only root can read them."""
    return sorted({str(parent) for place in places for parent in Path(place).parents} - {"/"})


@functools.cache
def _python_folders() -> tuple[str, ...]:
    """Return the folders of this Python and of cardenvs that are outside the system's folders and not nested."""
    found = [sys.prefix, sys.base_prefix, *python_path()]
    package = str(Path(__file__).resolve().parents[2])
    folders = sorted({os.path.realpath(path) for path in found} | set(found) | {package})
    kept: list[str] = []
    for folder in folders:
        if os.path.isdir(folder) and not any(Path(folder).is_relative_to(other) for other in (*_SYSTEM, *kept)):
            kept.append(folder)
    return tuple(kept)


def python_path() -> list[str]:
    """Return the folders of `sys.path` with installed packages."""
    return [
        path
        for path in dict.fromkeys(sys.path)
        if os.path.basename(path) in ("site-packages", "dist-packages") and os.path.isdir(path)
    ]


def with_memory(limits: Limits, memory_mb: int | None) -> Limits:
    """Return limits with another limit on memory."""
    return dataclasses.replace(limits, memory_mb=memory_mb)
