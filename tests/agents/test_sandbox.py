"""The sandbox of guests: what a process in it cannot reach, and what it cannot use up."""

import json
import os
import socket
import subprocess
import sys
import textwrap

import pytest

from cardenvs.agents.guarded import sandbox
from cardenvs.agents.guarded.sandbox import Limits, chosen, limited, sandboxed, why_unavailable
from cardenvs.core.errors import AgentError

needs_sandbox = pytest.mark.skipif(why_unavailable() is not None, reason=f"no sandbox here: {why_unavailable()}")
SMALL = Limits(memory_mb=512, processes=16, cpu_seconds=5, open_files=64, file_mb=4)


def run(program, tmp_path, limits=SMALL, env=None, **shown):
    """What a Python program prints as JSON in the sandbox, and its exit code."""
    folder = tmp_path / "bundle"
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(textwrap.dedent(program))
    folder.chmod(0o755)
    command = sandboxed(
        [sys.executable, "-I", "-S", "/bundle/program.py"],
        env or {},
        readonly={"/bundle": str(folder), **shown},
        limits=limits,
        folder="/bundle",
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
    assert set(found["env"]) <= {"PWD", "LC_CTYPE", "CARDENVS_CELL"}
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
