"""How a guest's process is confined; runs in the process that becomes the guest.

    python cell.py '{"memory": BYTES, "processes": N, ..., "uid": N, "cache": [FROM, TO]}' COMMAND...

Run as a file, this is the first program of a guest: it sets the limits and becomes the command. A fork server, which
outlives games, calls `enter` instead in the process that it forks for a game. Uses only the standard library, because
it has to start quickly and before any code of the guest.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import secrets
import signal
import socket
import struct
import sys
from typing import Any, NoReturn

GAMES = "CARDENVS_CELL"  # environment variable of a fork server: the settings for `enter`, JSON
_LIMITS = {
    "memory": "RLIMIT_AS" if sys.platform != "linux" else "RLIMIT_DATA",
    "processes": "RLIMIT_NPROC",
    "cpu_seconds": "RLIMIT_CPU",
    "open_files": "RLIMIT_NOFILE",
    "file_bytes": "RLIMIT_FSIZE",
}
_NOT_FOUND = 127
_SIGNALLED = 128  # plus the signal's number: the exit code for a process ended by a signal, as in shells
_MOST_DESCRIPTORS = 1 << 16
_FIRST_UID, _UIDS = 1 << 30, 1 << 24  # far above real users: limits on processes count per user


def main(settings: dict[str, Any], command: list[str]) -> None:
    """Set the limits and become the command."""
    if "games" in settings:
        os.environ[GAMES] = json.dumps(settings["games"])
    if "split" in settings:
        enter(settings)
    elif "scratch" in settings:
        _call("unshare", _NEW_MOUNTS)
        _seal(settings)
        _give_up_rights(settings)
    confine(settings)
    if "folder" in settings:
        os.chdir(settings["folder"])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot run {command[0]}: {error}", file=sys.stderr)
        sys.exit(_NOT_FOUND)


def confine(settings: dict[str, Any]) -> None:
    """Set the limits of this process and of everything that it starts."""
    os.umask(0o077)
    if "cache" in settings:
        _link_tree(*settings["cache"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, which in _LIMITS.items():
        if settings.get(name):
            with contextlib.suppress(ValueError, OSError):  # a lower limit is already in force
                resource.setrlimit(getattr(resource, which), (settings[name], settings[name]))
    if settings.get("filter"):
        _filter_calls()


def _link_tree(source: str, target: str) -> None:
    """Make `target` a writable tree of links to the files of `source`, so that a guest can add compiled code."""
    for folder, _, files in os.walk(source):
        there = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(there, exist_ok=True)
        for name in files:
            path = os.path.join(folder, name)
            if not name.startswith(".") and os.access(path, os.R_OK):
                os.symlink(path, os.path.join(there, name))


def _become_nobody() -> None:
    """Become a user with no other processes, because limits on processes do not bind root."""
    user = _FIRST_UID + secrets.randbelow(_UIDS)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


# -- Linux: namespaces for a game. Everything that a guest can reach or leave behind ends with them. --------------

_NEW_MOUNTS, _NEW_IPC, _NEW_PROCESSES, _NEW_NETWORK = 0x20000, 0x8000000, 0x20000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
_MOUNT_FLAGS = {"nosuid": _MS_NOSUID, "nodev": _MS_NODEV, "noexec": _MS_NOEXEC}
_MOST_INODES = 1 << 14  # files in a scratch folder
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 4, 24, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION = 0x20080522


def enter(settings: dict[str, Any]) -> None:
    """Continue in new namespaces, without rights over them.

    Returns in a grandchild, which is process 2 there. This process and process 1 wait for it and end with its exit
    code; if one of them dies, so do all processes in the namespaces.

    Raises:
        OSError: the system does not allow it.
    """
    _call("unshare", _NEW_MOUNTS | _NEW_IPC | _NEW_PROCESSES | _NEW_NETWORK)
    first = os.fork()
    if first:
        _end_like(first)
    os.setsid()  # signals and priorities for the process group would otherwise reach processes outside
    _seal(settings)
    _mount_scratch(settings)
    _raise_loopback()
    _give_up_rights(settings)
    _call("prctl", _PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)  # last, because a change of user clears it
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)
    second = os.fork()
    if second:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores signals from inside
        _end_like(second)
    _call("prctl", _PR_SET_DUMPABLE, 1, 0, 0, 0)


def _call(name: str, *arguments: Any) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _end_like(child: int) -> NoReturn:
    """Wait for a child, reaping others that end, and end with its exit code."""
    os.closerange(0, _MOST_DESCRIPTORS)  # the other end must see the guest close them
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SIGNALLED - code)


def _seal(settings: dict[str, Any]) -> None:
    """Make all mounts except scratch folders and /proc read-only; devices too, because they have times and modes."""
    _call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split()[4:6] for line in file]
    for place, options in mounts:
        words = options.split(",")
        if "ro" not in words and place not in settings["scratch"] and not place.startswith("/proc"):
            flags = sum(_MOUNT_FLAGS.get(word, 0) for word in words)
            place = place.encode().decode("unicode_escape")  # spaces are octal there
            _call("mount", None, os.fsencode(place), None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | flags, None)


def _mount_scratch(settings: dict[str, Any]) -> None:
    """Mount the scratch folders, and a /proc that shows these namespaces."""
    flags = _MS_NOSUID | _MS_NODEV
    _call("mount", b"proc", b"/proc", b"proc", flags | _MS_NOEXEC, None)
    for folder in settings["scratch"]:
        options = f"size={settings['file_bytes']},nr_inodes={_MOST_INODES},mode=1777"
        _call("mount", b"tmpfs", folder.encode(), b"tmpfs", flags, options.encode())


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


def _give_up_rights(settings: dict[str, Any]) -> None:
    number = 0
    with contextlib.suppress(OSError):  # there are no more
        while True:
            _call("prctl", _PR_CAPBSET_DROP, number, 0, 0, 0)
            number += 1
    if "as_root" in settings:
        _become_nobody()
    _call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _call("capset", struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24))
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


# ---------------------------------------------------------------------------------------------------------------
# Linux: system calls denied to a guest. They use memory that no limit counts, keep data beyond a process (keyrings),
# watch files of the host, or make namespaces in which a guest has rights.

_ARCHITECTURES = {  # name: audit number, clone, and the other calls
    "x86_64": (0xC000003E, 56, {
        "shmget": 29, "syslog": 103, "add_key": 248, "request_key": 249, "keyctl": 250, "inotify_init": 253,
        "unshare": 272, "inotify_init1": 294, "perf_event_open": 298, "fanotify_init": 300, "setns": 308,
        "memfd_create": 319, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "clone3": 435, "memfd_secret": 447,
    }),
    "aarch64": (0xC00000B7, 220, {
        "inotify_init1": 26, "unshare": 97, "syslog": 116, "shmget": 194, "add_key": 217, "request_key": 218,
        "keyctl": 219, "perf_event_open": 241, "fanotify_init": 262, "setns": 268, "memfd_create": 279, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425, "clone3": 435, "memfd_secret": 447,
    }),
}  # fmt: skip
_CLONE_NEW = 0x7E020000  # flags with which clone makes namespaces
_FIRST_X32 = 0x40000000  # from here on: the x32 forms of x86-64 calls
_LOAD, _JUMP_EQUAL, _JUMP_FROM, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # offsets in seccomp_data, little-endian
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000 | errno.ENOSYS
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2


def _filter_calls() -> None:
    """Make the denied calls fail with ENOSYS, in this process and in everything that it starts."""
    if platform.machine() not in _ARCHITECTURES:
        return
    steps = _filter(*_ARCHITECTURES[platform.machine()])
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0)


def _filter(architecture: int, clone: int, calls: dict[str, int]) -> list[tuple[int, int, int, int]]:
    """Return a seccomp filter program; each step is (operation, steps to skip if true, if false, operand)."""
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _FAIL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_FROM, 0, 1, _FIRST_X32),
        (_RETURN, 0, 0, _FAIL),
    ]
    for number in calls.values():
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _FAIL)]
    return [
        *steps,
        (_JUMP_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_JUMP_BITS, 0, 1, _CLONE_NEW),
        (_RETURN, 0, 0, _FAIL),
        (_RETURN, 0, 0, _ALLOW),
    ]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
