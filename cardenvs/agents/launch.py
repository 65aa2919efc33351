"""Start a command with limits: `python launch.py MEMORY_BYTES PARENT_PID COMMAND...` (0: no limit on memory).

Runs as a file, with the standard library only, and becomes the command. The command dies with its parent (Linux),
dumps no core, and cannot get more memory than the limit for its data.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_NOT_FOUND = 127


def main(arguments: list[str]) -> None:
    """Set the limits and become the command."""
    memory, parent, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        which = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        with contextlib.suppress(ValueError, OSError):  # a lower limit is in force already
            resource.setrlimit(which, (memory, memory))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before it could be told
            sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot run {command[0]}: {error}", file=sys.stderr)
        sys.exit(_NOT_FOUND)


if __name__ == "__main__":
    main(sys.argv[1:])
