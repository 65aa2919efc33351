"""A guest that leaves marks wherever it can, and notes first what it finds: a bundle's code, by itself.

`Bot.look` returns all that a process can see of what others may have left, by name. `Bot.mark` changes all of it that
it is allowed to change, in a way that differs from game to game. What belongs to the whole machine (time, load, memory,
what files are cached, counters of the kernel) is left out: no sandbox hides it.
"""

import contextlib
import ctypes
import os
import platform
import random
import resource
import signal
import socket
import subprocess
import sys
import time
import zlib

FORM = "sandbox"  # replaced by "process" for a plain process, of which only what is inherited is looked at
MARKS = ("parents", "kernel", "files")  # replaced by some of them
KEY, PORT, NAME = 4711, 47110, "\0cardenvs-mark"
LIBC = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "x86_64": {
        "add_key": 248, "keyctl": 250, "mq_open": 240, "ioprio_set": 251, "ioprio_get": 252, "personality": 135,
    },
    "aarch64": {
        "add_key": 217, "keyctl": 219, "mq_open": 180, "ioprio_set": 30, "ioprio_get": 31, "personality": 92,
    },
}.get(platform.machine(), {})  # fmt: skip
RLIMITS = {name: number for name, number in vars(resource).items() if name.startswith("RLIMIT_")}
ASKED = {  # of prctl: what a process has set for itself
    "parent death": 1, "dumpable": 3, "keepcaps": 7, "timing": 13, "name": 16, "seccomp": 21, "securebits": 27,
    "timerslack": 30, "mce": 34, "subreaper": 37, "no new privileges": 39, "huge pages": 42, "io flusher": 58,
}  # fmt: skip
OF_A_PROCESS = (
    "oom_score_adj", "oom_adj", "coredump_filter", "timerslack_ns", "autogroup", "cgroup", "loginuid", "sessionid",
    "personality", "attr/current", "setgroups", "timens_offsets", "comm",
)  # fmt: skip
SYSCTLS = tuple(
    f"/proc/sys/{name}"
    for name in (
        "kernel/shmmax", "kernel/shmall", "kernel/shmmni", "kernel/msgmax", "kernel/msgmnb", "kernel/msgmni",
        "kernel/sem", "kernel/ns_last_pid", "kernel/shm_next_id", "kernel/hostname", "kernel/domainname",
        "fs/mqueue/msg_max", "fs/mqueue/queues_max", "net/ipv4/ip_local_port_range", "net/ipv4/tcp_fin_timeout",
        "net/core/somaxconn", "net/unix/max_dgram_qlen", "user/max_user_namespaces",
    )
)  # fmt: skip
COUNTS = ("dev", "snmp", "netstat", "tcp", "tcp6", "udp", "unix", "arp", "route", "if_inet6", "packet")


def call(name, *arguments):
    return LIBC.syscall(CALLS[name], *arguments) if name in CALLS else -1


def text(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError as error:
        return type(error).__name__


def listing(folder):
    """A checksum of the names, sizes and modes in each folder from `folder` down: an old cache has many files."""
    found = []
    for top, _, names in os.walk(folder):
        inside = []
        for path in (top, *(os.path.join(top, name) for name in names)):
            with contextlib.suppress(OSError):
                seen = os.lstat(path)
                inside.append((path, oct(seen.st_mode), seen.st_size if top != path else 0))
        found.append((top, zlib.crc32(repr(sorted(inside)).encode())))
    return sorted(found)


def safely(work, *arguments):
    try:
        return work(*arguments)
    except OSError as error:
        return type(error).__name__


def inherited():
    """What a process has from the one that forked it."""
    found = {name: resource.getrlimit(number) for name, number in RLIMITS.items()}
    found |= {
        "nice": [os.getpriority(which, 0) for which in (os.PRIO_PROCESS, os.PRIO_PGRP)],
        "scheduler": [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority],
        "affinity": sorted(os.sched_getaffinity(0)),
        "ioprio": call("ioprio_get", 1, 0),
        "personality": call("personality", 0xFFFFFFFF),
        "cwd": os.getcwd(),
        "environment": sorted(os.environ.items()),
        "signals": [
            line for line in text("/proc/self/status").splitlines() if line.startswith(("SigB", "SigI", "SigC", "Cap"))
        ],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "groups": os.getgroups(),
    }
    mask = os.umask(0o077)
    os.umask(mask)
    found["umask"] = mask
    for name, number in ASKED.items():
        value = ctypes.c_long(0)
        found[f"prctl {name}"] = [LIBC.prctl(number, ctypes.byref(value), 0, 0, 0), value.value]
    for name in OF_A_PROCESS[:4]:
        found[name] = text(f"/proc/self/{name}")
    return found


def around():
    """What is around a process in a sandbox."""
    found = {name: text(f"/proc/self/{name}") for name in OF_A_PROCESS[4:]}
    found["autogroup"] = found["autogroup"].rpartition(" ")[2]  # after a number that counts sessions of the machine
    found |= {path: text(path) for path in SYSCTLS}
    found |= {f"net {name}": text(f"/proc/net/{name}") for name in COUNTS}
    found |= {f"sysvipc {kind}": text(f"/proc/sysvipc/{kind}") for kind in ("shm", "msg", "sem")}
    found |= {
        "pids": [os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0)],
        "processes": sorted(name for name in os.listdir("/proc") if name.isdecimal()),
        "last pid": text("/proc/loadavg").split()[-1],
        "files": [listing(folder) for folder in ("/tmp", "/dev", "/run", "/var", os.getcwd())],
        "touched": {path: os.lstat(path).st_mtime_ns for path in lasting()},
        "space": [(os.statvfs(folder).f_bfree, os.statvfs(folder).f_ffree) for folder in ("/tmp", "/dev/shm")],
        "descriptors": sorted(os.path.basename(link).partition(":")[0] for link in links()),
        "mounts": len(text("/proc/self/mountinfo").splitlines()),
        "named": [LIBC.shmget(KEY, 64, 0), LIBC.msgget(KEY, 0), LIBC.semget(KEY, 1, 0)],
        "queue": call("mq_open", b"mark", 0, 0, 0),
        "keys": len(text("/proc/keys").splitlines()),
        "key": [call("keyctl", 10, ring, b"user", b"mark", 0) for ring in (-3, -4, -5)],
        "locks": text("/proc/locks").count(" " + str(os.stat(sys.executable).st_ino) + " "),
        "port": safely(bound),
        "abstract socket": safely(connected),
        "host": os.uname().nodename,
        "tty": [os.isatty(number) for number in range(3)],
    }  # fmt: skip
    return found


def lasting():
    """Files that every game has."""
    nodes = [f"/dev/{name}" for name in os.listdir("/dev") if name not in ("shm", "mqueue")]
    return [*nodes, "/dev/pts/ptmx", sys.executable, "/etc/ld.so.cache", "/etc", "/", "submission.yaml"]


def links():
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{name}")


def bound():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", PORT))
    return "free"


def connected():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(NAME)
    return "connected"


def mark_parents(number):
    """Change whatever processes above this one let it change."""
    for pid in {os.getppid(), 1} - {0} if FORM == "sandbox" else {os.getppid()}:
        for name in ("RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_STACK", "RLIMIT_RTTIME", "RLIMIT_MEMLOCK"):
            safely(lowered, pid, RLIMITS[name], number)
        safely(os.setpriority, os.PRIO_PROCESS, pid, 1 + number % 10)
        safely(os.sched_setaffinity, pid, {min(os.sched_getaffinity(0))})
        safely(os.sched_setscheduler, pid, os.SCHED_BATCH, os.sched_param(0))
        call("ioprio_set", 1, pid, (2 << 13) | number % 8)
        for name in OF_A_PROCESS:
            safely(written, f"/proc/{pid}/{name}", str(number % 100 + 1))
        for sent in (signal.SIGWINCH, signal.SIGURG, signal.SIGCONT):
            safely(os.kill, pid, sent)
        safely(os.setpgid, pid, os.getpid())
    for which in (os.PRIO_PGRP, os.PRIO_USER) if FORM == "sandbox" else (os.PRIO_PGRP,):
        safely(os.setpriority, which, 0, 3)
    for who in (2, 3) if FORM == "sandbox" else (2,):
        call("ioprio_set", who, 0, (3 << 13))


def lowered(pid, limit, number):
    _, hard = resource.prlimit(pid, limit)
    soft = 1 << 20 | number
    resource.prlimit(pid, limit, (soft if hard < 0 else min(soft, hard), hard))


def written(path, words):
    with open(path, "w") as file:
        file.write(words)


def mark_files(number):
    """Leave files, and objects with names."""
    for folder in ("/tmp", "/dev/shm", "/tmp/kernels", "/dev", "/run", "/var/tmp", "/dev/pts", os.getcwd()):
        safely(written, f"{folder}/mark", "x" * number)
        safely(os.chmod, folder, 0o1700 | number % 64)
    for path in lasting():
        safely(os.utime, path)
        safely(os.utime, path, (number, number))
        safely(os.chmod, path, 0o660)
        safely(os.setxattr, path, "user.mark", b"x")
    for path in SYSCTLS:
        safely(written, path, str(number))
    LIBC.shmget(KEY, 64, 0o1600)
    LIBC.msgget(KEY, 0o1600)
    LIBC.semget(KEY, 1, 0o1600)
    call("mq_open", b"mark", os.O_CREAT | os.O_RDWR, 0o600, 0)


def mark_kernel(number):
    """Leave what has no name in a folder: keys, counters, connections, processes."""
    for ring in (-3, -4, -5):  # of the session, of the user, of the user's session
        call("add_key", b"user", b"mark", b"x", 1, ring)
    safely(talk, number)
    for _ in range(number % 7 + 1):
        subprocess.run(["/bin/true"], check=False)
    if os.fork() == 0:  # a daemon, with a lock and a socket
        os.setsid()
        import fcntl

        if os.fork() == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            held = open(sys.executable)  # noqa: SIM115
            safely(fcntl.flock, held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            listening = socket.socket(socket.AF_UNIX)
            safely(listening.bind, NAME)
            safely(listening.listen)
            time.sleep(30)
        os._exit(0)
    os.wait()


def talk(number):
    """Bytes over the loopback device, and a connection that lingers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", PORT))
        listening.listen()
        with socket.create_connection(("127.0.0.1", PORT)) as one:
            other, _ = listening.accept()
            other.sendall(bytes(100 * number))
            other.close()
            one.recv(1 << 16)


def mark_itself():
    """What a process sets for itself."""
    os.umask(0o027)
    os.chdir("/")
    os.environ["MARK"] = "1"
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    for number, value in ((8, 0), (29, 12345), (36, 1), (41, 1), (15, b"mark")):
        LIBC.prctl(number, value, 0, 0, 0)
    call("personality", 0x0400000)
    random.seed(1)


class Bot:
    name = "bot"

    def reset(self, seed):
        self.found = inherited() | (around() if FORM == "sandbox" else {})
        for marks in MARKS:
            globals()[f"mark_{marks}"](seed % 1000 + 1)
        mark_itself()

    def act(self, turn):
        turn.notes["found"] = self.found
        return turn.legal_actions[-1]


def make(game, options):
    return Bot()
