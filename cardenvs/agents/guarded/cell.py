"""The first program in a guest's cell: sets its limits and becomes the command.

    python cell.py '{"memory": BYTES, "processes": N, ..., "uid": N, "cache": [FROM, TO]}' COMMAND...

Runs as a file, with the standard library only, because it has to start quickly and before anything of the guest does.
"""

import contextlib
import json
import os
import resource
import sys
from typing import Any

_LIMITS = {
    "memory": "RLIMIT_AS" if sys.platform != "linux" else "RLIMIT_DATA",
    "processes": "RLIMIT_NPROC",
    "cpu_seconds": "RLIMIT_CPU",
    "open_files": "RLIMIT_NOFILE",
    "file_bytes": "RLIMIT_FSIZE",
}
_NOT_FOUND = 127


def main(settings: dict[str, Any], command: list[str]) -> None:
    """Set the limits and become the command."""
    if "uid" in settings:  # limits of processes do not bind root
        os.setgroups([])
        os.setgid(settings["uid"])
        os.setuid(settings["uid"])
    os.umask(0o077)
    if "cache" in settings:
        _link_tree(*settings["cache"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, which in _LIMITS.items():
        if settings.get(name):
            with contextlib.suppress(ValueError, OSError):  # a lower limit is in force already
                resource.setrlimit(getattr(resource, which), (settings[name], settings[name]))
    if "folder" in settings:
        os.chdir(settings["folder"])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot run {command[0]}: {error}", file=sys.stderr)
        sys.exit(_NOT_FOUND)


def _link_tree(source: str, target: str) -> None:
    """Make `target` a writable tree of links to the files of `source`: compiled code that the guest may add to."""
    for folder, _, files in os.walk(source):
        there = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(there, exist_ok=True)
        for name in files:
            path = os.path.join(folder, name)
            if not name.startswith(".") and os.access(path, os.R_OK):
                os.symlink(path, os.path.join(there, name))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
