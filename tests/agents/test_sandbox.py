"""The sandbox of guests: what a process in it cannot reach, and what it cannot use up."""

import errno
import json
import os
import platform
import socket
import ssl
import subprocess
import sys
import textwrap

import pytest

from cardenvs.agents.guarded import sandbox
from cardenvs.agents.guarded.sandbox import Limits, as_game, chosen, limited, sandboxed, why_unavailable
from cardenvs.core.errors import AgentError

pytestmark = pytest.mark.programs
needs_sandbox = pytest.mark.skipif(why_unavailable() is not None, reason=f"no sandbox here: {why_unavailable()}")
SMALL = Limits(memory_mb=512, processes=16, cpu_seconds=5, open_files=64, file_mb=4)


def run(program, tmp_path, limits=SMALL, env=None, forks=False, **shown):
    """What a Python program prints as JSON in the sandbox, as that of a game of a fork server or not; how it ended."""
    folder = tmp_path / "bundle"
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(textwrap.dedent(program))
    folder.chmod(0o755)
    command = [sys.executable, "-I", "-S", "/bundle/program.py"]
    if forks:
        command = as_game(command, limits)
    command = sandboxed(
        command,
        env or {},
        readonly={"/bundle": str(folder), **shown},
        limits=limits,
        folder="/bundle",
        forks=forks,
    )
    done = subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    return (json.loads(done.stdout) if done.stdout.strip() else None), done


@needs_sandbox
def test_nothing_of_the_host_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("HOST_API_KEY", "sk-secret")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    found, _ = run(
        f"""
        import json, os
        print(json.dumps({{
            "env": dict(os.environ), "secret": os.path.exists({str(secret)!r}), "home": os.path.exists("/home"),
            "processes": [name for name in os.listdir("/proc") if name.isdecimal()], "root": os.getuid() == 0,
            "tmp": os.listdir("/tmp"), "etc": os.path.exists("/etc/passwd"), "cwd": os.getcwd(),
        }}))
        """,
        tmp_path,
        env={"GIVEN": "1"},
    )
    assert found["env"].pop("GIVEN") == "1"
    assert not any("secret" in value.lower() for value in found["env"].values())
    assert set(found["env"]) <= {"PWD", "LC_CTYPE"}
    assert not found["secret"]
    assert not found["home"]
    assert not found["etc"]
    assert not found["root"] or os.geteuid() != 0
    assert found["tmp"] == []
    assert found["cwd"] == "/bundle"
    assert len(found["processes"]) <= 3  # the sandbox, and this program


@needs_sandbox
def test_nothing_can_be_written_but_a_little_in_tmp(tmp_path):
    found, _ = run(
        """
        import json, os, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        found = {}
        for place in ("/", "/bundle", "/usr", "/etc", "/dev", "/proc", "/tmp", "/dev/shm"):
            try:
                with open(os.path.join(place, "written"), "w") as file:
                    file.write("x")
                found[place] = True
            except OSError:
                found[place] = False
        size = 0
        try:
            for number in range(100):
                with open(f"/tmp/large{number}", "wb", buffering=0) as file:
                    size += file.write(bytes(1 << 20))
        except OSError:
            pass
        found["size"] = size
        print(json.dumps(found))
        """,
        tmp_path,
    )
    assert found.pop("size") <= 4 << 20
    assert {place for place, written in found.items() if written} == {"/tmp", "/dev/shm"}
    assert sorted(path.name for path in (tmp_path / "bundle").iterdir()) == ["program.py"]


@needs_sandbox
def test_there_is_no_network(tmp_path):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        found, _ = run(
            f"""
            import json, socket
            found = []
            for address in (("127.0.0.1", {port}), ("192.0.2.1", 80)):
                try:
                    socket.create_connection(address, 5)
                    found.append("connected")
                except OSError as error:
                    found.append(type(error).__name__)
            print(json.dumps(found))
            """,
            tmp_path,
        )
    assert "connected" not in found


@needs_sandbox
@pytest.mark.parametrize(
    ("program", "survives"),
    [
        ("kept = []\nwhile True: kept.append(bytearray(16 << 20))", False),
        ("while True: pass", False),
        ("kept = []\nwhile True: kept.append(open('/dev/null'))", False),
        ("import os, time\nwhile os.fork() >= 0: pass", False),
        ("import os\nfile = open('/tmp/large', 'wb', buffering=0)\nwhile True: file.write(bytes(1 << 20))", False),
        (
            "import os, threading, time\nthread = threading.Thread\n"
            "try:\n    while True: thread(target=time.sleep, args=(600,)).start()\n"
            "except RuntimeError:\n    os._exit(1)",
            False,
        ),
        ("print(1)", True),
    ],
    ids=["memory", "cpu", "files", "processes", "disk", "threads", "none"],
)
def test_what_may_be_used_is_limited(tmp_path, program, survives):
    _, done = run(program, tmp_path, Limits(memory_mb=256, processes=16, cpu_seconds=2, open_files=64, file_mb=4))
    assert (done.returncode == 0) is survives


@needs_sandbox
def test_all_that_it_starts_ends_with_it(tmp_path):
    marker = f"marker-{os.getpid()}"
    run(
        f"""
        import subprocess, sys
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", {marker!r}],
                         start_new_session=True)
        """,
        tmp_path,
    )
    for process in os.listdir("/proc"):
        if process.isdecimal():
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    assert marker.encode() not in file.read().split(b"\0")
            except OSError:
                continue


def test_without_a_sandbox_the_limits_hold(tmp_path):
    program = "import os; print(os.getcwd())\nkept = []\nwhile True: kept.append(bytearray(16 << 20))"
    command = limited([sys.executable, "-I", "-S", "-c", program], SMALL, str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.stdout.strip() == str(tmp_path)
    assert "MemoryError" in done.stderr


def test_a_system_without_one_says_so(monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    why_unavailable.cache_clear()
    try:
        assert not chosen("auto")
        assert not chosen("none")
        with pytest.raises(
            AgentError, match=r"no sandbox is available here: bubblewrap (is not installed|needs Linux)"
        ):
            chosen("require")
        with pytest.raises(AgentError, match="a sandbox is one of auto, require, none; got 'maybe'"):
            chosen("maybe")
    finally:
        why_unavailable.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")
def test_one_that_does_not_run_is_not_used(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    why_unavailable.cache_clear()
    try:
        assert "No permissions to create a new namespace" in why_unavailable()
    finally:
        why_unavailable.cache_clear()


@needs_sandbox
@pytest.mark.parametrize("forks", [False, True])
def test_calls_that_no_limit_covers_are_refused(tmp_path, forks):
    """Memory without a mapping, keyrings, notices about files of the host, and namespaces."""
    found, _ = run(
        """
        import ctypes, json, os, subprocess, threading
        libc = ctypes.CDLL(None, use_errno=True)
        calls = {
            "memory file": lambda: libc.memfd_create(b"x", 0), "shared memory": lambda: libc.shmget(1, 64, 0o1600),
            "notices": lambda: libc.inotify_init1(0), "user namespace": lambda: libc.unshare(0x10000000),
            "cloned": lambda: libc.syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0),
            "keyring": lambda: libc.syscall(KEYCTL, 0, -3, 0), "kernel log": lambda: libc.klogctl(3, bytes(64), 64),
        }
        found = {name: [call(), ctypes.get_errno()] for name, call in calls.items()}
        thread = threading.Thread(target=found.update, args=({"threads": True},))
        thread.start()
        thread.join()
        found["programs"] = subprocess.run(["/bin/echo", "a"], capture_output=True).stdout == b"a\\n"
        print(json.dumps(found))
        """.replace("CLONE", str({"x86_64": 56}.get(platform.machine(), 220))).replace(
            "KEYCTL", str({"x86_64": 250}.get(platform.machine(), 219))
        ),
        tmp_path,
        forks=forks,
    )
    assert found.pop("threads")
    assert found.pop("programs")
    assert set(map(tuple, found.values())) == {(-1, errno.ENOSYS)}


@needs_sandbox
@pytest.mark.parametrize("forks", [False, True])
def test_libraries_and_certificates_are_found_and_accounts_are_not(tmp_path, forks):
    found, _ = run(
        """
        import ctypes.util, json, os, ssl
        context = ssl.create_default_context()
        print(json.dumps({
            "cache": len(open("/etc/ld.so.cache", "rb").read()), "certificates": len(context.get_ca_certs()),
            "folder": bool(os.listdir("/etc/ssl/certs")), "time zone": os.path.exists("/etc/localtime"),
            "secrets": [name for name in ("passwd", "shadow", "hosts", "hostname", "machine-id", "ssl/private", "ssh")
                        if os.path.exists(f"/etc/{name}")],
        }))
        """,
        tmp_path,
        forks=forks,
    )
    assert found["cache"] == os.path.getsize("/etc/ld.so.cache")
    assert found["folder"] == bool(os.listdir("/etc/ssl/certs"))
    assert found["certificates"] == len(ssl.create_default_context().get_ca_certs())
    assert found["time zone"] == os.path.exists("/etc/localtime")
    assert found["secrets"] == []


@needs_sandbox
def test_a_game_of_a_fork_server_has_rights_over_nothing(tmp_path):
    found, _ = run(
        """
        import json, os
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(json.dumps({
            "rights": [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
            "gains": status["NoNewPrivs"].strip(), "pids": [os.getpid(), os.getppid()], "root": os.getuid() == 0,
            "processes": sorted(name for name in os.listdir("/proc") if name.isdecimal()),
            "groups": os.getgroups(),
        }))
        """,
        tmp_path,
        forks=True,
    )
    assert set(found["rights"]) == {"0" * 16}
    assert found["gains"] == "1"
    assert found["pids"] == [2, 1]
    assert found["processes"] == ["1", "2"]
    assert not found["root"]
    assert os.geteuid() != 0 or not found["groups"]


# ---------------------------------------------------------------------------------------------------------------
# Memory of all processes together


def launched(program, total_mb, *shown):
    """Run a Python program under `launch.py`, with a limit for all its processes together."""
    launch = sandbox.__file__.replace("sandbox.py", "launch.py")
    command = [sys.executable, "-I", "-S", launch, "0", str(total_mb << 20), str(os.getpid())]
    command += [sys.executable, "-I", "-S", "-c", textwrap.dedent(program), *shown]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


GROWS = """
    import mmap, os, sys, time
    kept = []
    def more(step):
        kept.append(mmap.mmap(-1, 16 << 20, flags=mmap.MAP_SHARED if {shared} else mmap.MAP_PRIVATE))
        kept[-1].write(b"x" * (16 << 20))
        time.sleep(0.02)
    for process in range({processes} - 1):
        if os.fork() == 0:
            os.setsid()
            break
    for step in range(64):  # a GiB
        more(step)
    print("it took all")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory of several processes is counted on Linux")
@pytest.mark.parametrize(("shared", "processes"), [(True, 1), (False, 1), (False, 4)])
def test_memory_is_limited_in_all_together(shared, processes):
    done = launched(GROWS.format(shared=shared, processes=processes), 256)
    assert done.returncode == -9
    assert "it took all" not in done.stdout
    assert "MemoryError: its processes used " in done.stderr
    assert "MiB together; the limit is 256 MiB" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="memory of several processes is counted on Linux")
def test_memory_that_processes_share_counts_once():
    program = """
        import os, time
        kept = bytearray(b"x" * (1 << 20)) * 150
        children = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                time.sleep(1)
                os._exit(0)
            children.append(pid)
        print([os.waitpid(pid, 0)[1] for pid in children])
    """
    done = launched(program, 256)
    assert done.stdout.strip() == "[0, 0, 0, 0]", done.stderr
    assert done.returncode == 0
