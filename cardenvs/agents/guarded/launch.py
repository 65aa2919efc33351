"""Start a command, and end it with everything it has started.

    python launch.py EACH_BYTES TOTAL_BYTES PARENT_PID COMMAND...

Runs as a file and uses only the standard library. EACH_BYTES limits the data of each process (0: no limit); core dumps
are off. On Linux this process stays: it adopts every process that the command leaves behind, daemons included, and ends
them all when the command ends, when together they use more memory than TOTAL_BYTES (0: no limit), when it gets SIGTERM,
or when its parent dies for any reason. Elsewhere it becomes the command, and only the command's process group ends with
it.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_NOT_FOUND = 127
_MOST_SECONDS = 3.0  # time spent on ending processes that do not end
_MOST_LOOKS = 100  # looks at a growing tree of processes
_LOOK_SECONDS = 0.05  # time between two looks at its memory


def main(arguments: list[str]) -> None:
    """Run the command under the limits."""
    each, total, parent, command = int(arguments[0]), int(arguments[1]), int(arguments[2]), arguments[3:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        _limit(each)
        _become(command)
    end_with_parent(signal.SIGTERM, parent)
    adopt_orphans()
    heard = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
        end_with_parent(signal.SIGKILL, supervisor)
        _limit(each)
        _become(command)
    nothing, errors = os.open(os.devnull, os.O_RDWR), os.dup(2)
    for stream in (0, 1, 2):  # the other end must see the command close them
        os.dup2(nothing, stream)
    status = None
    while status is None:
        came = signal.sigtimedwait(heard, _LOOK_SECONDS) if total else signal.sigwaitinfo(heard)
        if came is not None and came.si_signo == signal.SIGTERM:
            break
        if came is not None:
            status = _status_of(child)
        elif (used := _memory(_tree(), total)) > total:
            os.write(
                errors,
                b"MemoryError: its processes used %d MiB together; the limit is %d MiB\n" % (used >> 20, total >> 20),
            )
            status = signal.SIGKILL
    end_descendants()
    _end_like(status)


def _limit(memory: int) -> None:
    if memory:
        which = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        with contextlib.suppress(ValueError, OSError):  # a lower limit is already in force
            resource.setrlimit(which, (memory, memory))


def _become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error}\n".encode())
        os._exit(_NOT_FOUND)


def _status_of(child: int) -> int | None:
    """Return the exit status of the command if it has ended; reap orphans that have ended."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return found
            if pid == child:
                found = status
    return found


def _end_like(status: int | None) -> None:
    """End with the command's exit code or signal."""
    code = 1 if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))


# -- Linux: every process belongs to its nearest ancestor that adopts orphans -------------------------------------


def end_with_parent(sent: int, parent: int) -> None:
    """Ask for the signal `sent` when the parent dies, whose process id is `parent`. Linux only; no effect elsewhere."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, sent)
    if os.getppid() != parent:  # it died before the call
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants that lose theirs. Linux only; no effect elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants() -> None:
    """End all descendants of this process, which adopts orphans. Only processes of other users can remain."""
    deadline = time.monotonic() + _MOST_SECONDS
    while not _has_no_children() and time.monotonic() < deadline:
        stopped: set[int] = set()
        for _ in range(_MOST_LOOKS):  # stop them first, so that no new ones start while others end
            new = _descendants() - stopped
            if not new:
                break
            _signal(new, signal.SIGSTOP)
            stopped |= new
        _signal(stopped, signal.SIGKILL)
        time.sleep(0.001)


def _has_no_children() -> bool:
    """Reap children that have ended, and return whether none are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _signal(pids: set[int], sent: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, sent)


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state != b"Z":  # zombies have no children
                    children.setdefault(int(parent), []).append(int(name))
    found: set[int] = set()
    new = [os.getpid()]
    while new:
        new = [child for parent in new for child in children.get(parent, ()) if child not in found]
        found.update(new)
    return found


# -- Linux: memory of all descendants together, counting shared pages once and file pages not at all --------------


def _tree() -> list[int]:
    """Return the descendants of this process without looking at all processes, as `_descendants` does."""
    found: list[int] = []
    new = [os.getpid()]
    while new:
        children: list[int] = []
        for pid in new:
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):
                    children += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
        found += children
        new = children
    return found


def _memory(pids: list[int], enough: int) -> int:
    """Return the bytes that the processes use: exact if above `enough`, else an upper bound."""
    most = _sum(_whole, pids)
    return most if most <= enough else _sum(_share, pids)


def _sum(bytes_of: Callable[[int], int], pids: list[int]) -> int:
    total = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            total += bytes_of(pid)
    return total


def _whole(pid: int) -> int:
    return _fields(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:", b"VmSwap:"))


def _share(pid: int) -> int:
    """Return the bytes that a process uses, with its share of shared pages, or with all of them if that is unknown."""
    try:
        return _fields(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:"))
    except PermissionError:
        return _whole(pid)


def _fields(path: str, names: tuple[bytes, ...]) -> int:
    return sum(int(line.split()[1]) << 10 for line in _read(path).splitlines() if line.startswith(names))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main(sys.argv[1:])
