"""Files are written whole or not at all, and locks end with their processes."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from cardenvs.core.errors import FileError
from cardenvs.core.files import check_output, locked, locked_folder, whole_file, write_whole


def test_a_dash_is_not_taken_for_standard_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="would not be standard output"):
        check_output("-")
    assert not list(tmp_path.iterdir())


def test_text_and_bytes_are_written_and_replaced(tmp_path):
    write_whole(tmp_path / "a", "Zoë\n")
    assert (tmp_path / "a").read_bytes() == b"Zo\xc3\xab\n"
    write_whole(tmp_path / "a", b"\xff")
    assert (tmp_path / "a").read_bytes() == b"\xff"


def test_a_failed_write_leaves_the_old_file_and_no_part(tmp_path):
    write_whole(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a", "new \ud800")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", "text")
    with pytest.raises(FileNotFoundError, match=r"there is no folder: .*/none'"):
        write_whole(tmp_path / "none" / "a", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder"]
    assert (tmp_path / "a").read_text() == "old"


def test_writers_of_one_file_do_not_write_into_each_other(tmp_path):
    path = tmp_path / "a"
    with whole_file(path) as one, whole_file(path, sync=True) as two:
        one.write(b"one" * 1000)
        two.write(b"two")
    assert path.read_bytes() == b"one" * 1000, "the last to end"
    assert [found.name for found in tmp_path.iterdir()] == ["a"]


HOLD = """
import os, sys, time
from cardenvs.core.files import locked_folder
with locked_folder(sys.argv[1]):
    if len(sys.argv) < 3 or os.fork() == 0:
        print(os.getpid(), flush=True)  # a child has closed the lock by now
    time.sleep(300)
"""


def holder(folder, *more):
    process = subprocess.Popen([sys.executable, "-c", HOLD, folder, *more], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def test_a_folder_is_locked_for_one_process_and_free_after_a_kill(tmp_path):
    process, _ = holder(tmp_path)
    try:
        with (
            pytest.raises(FileError, match=rf"{tmp_path} is in use by process {process.pid}; wait"),
            locked_folder(tmp_path),
        ):
            pass
    finally:
        process.kill()
        process.communicate()
    with locked_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_does_not_keep_the_lock_of_a_killed_one(tmp_path):
    process, child = holder(tmp_path, "fork")
    try:
        process.kill()
        process.wait()
        with locked_folder(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        process.communicate()


def test_one_process_does_not_lock_twice_and_threads_take_turns(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(50):
            try:
                with locked(tmp_path / "x.lock"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except FileError:
                pass

    again = locked(tmp_path / "x.lock")
    with locked(tmp_path / "x.lock"), pytest.raises(FileError, match=rf"/x is in use by process {os.getpid()};"), again:
        pass
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert list(tmp_path.iterdir()) == []


def test_a_locked_folder_that_stays_empty_is_removed(tmp_path):
    with pytest.raises(ZeroDivisionError), locked_folder(tmp_path / "new"):
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []
    with locked_folder(tmp_path):
        pass
    assert tmp_path.exists(), "it was there before"
