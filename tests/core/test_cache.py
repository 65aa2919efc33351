"""Compiled code that is damaged, cannot be saved, or could be somebody else's."""

import importlib
import os
import pickle
import pkgutil
import resource
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import cardenvs
from cardenvs.core import cache as cache_module
from cardenvs.core.cache import KernelCache, prune, trusted_folder
from cardenvs.core.kernel import COMPILED, kernel

pytestmark = [
    pytest.mark.rotating,
    pytest.mark.skipif(not COMPILED, reason="there is no cache with the compiler off"),
]

KERNELS = """
from cardenvs.core.kernel import kernel

@kernel
def amount():
    return 1

@kernel(entry=True)
def double():
    return 2 * amount()
"""
CALL = "from kernels import double; print(double(), len(double.stats.cache_hits))"


@pytest.fixture
def call(tmp_path):
    """Calls a kernel in a process of its own; (standard output, standard error)."""
    (tmp_path / "kernels.py").write_text(KERNELS)

    def call(code=CALL, cache=tmp_path / "cache", **more):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "CARDENVS_"))}
        env |= {"CARDENVS_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=240, **more
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), done.stderr

    return call


def entries(folder):
    return sorted(folder.rglob("*.kernel"))


# ---------------------------------------------------------------------------------------------------------------
# Damage


def test_damaged_entries_are_dropped_compiled_again_and_mentioned_once(tmp_path, call):
    assert call()[0] == "2 0"
    assert call() == ("2 1", "")
    for path in entries(tmp_path / "cache"):  # in the middle of the machine code
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    out, err = call()
    assert out == "2 0"
    assert err.count("compiled code was damaged") == 1
    assert "the checksum does not match" in err
    assert call() == ("2 1", "")


@pytest.fixture
def saved(tmp_path, monkeypatch, capsys):
    """A saved kernel: the file, and a function that makes the kernel again and calls it."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CARDENVS_QUIET", "0")
    monkeypatch.setattr(cache_module, "cache_folder", lambda: folder)
    monkeypatch.setattr(cache_module, "_said", set())
    monkeypatch.setattr("cardenvs.core.kernel.trusted_folder", trusted_folder.__wrapped__)

    def plus_one(x):
        return x + 1

    def make():
        made = kernel(plus_one, folder=Path(__file__).parent, entry=True)
        return made(5), len(made.stats.cache_hits)

    assert make() == (6, 0)
    assert make() == (6, 1)
    (path,) = entries(folder)
    capsys.readouterr()
    return path, make


def test_what_cannot_be_saved_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cache_module, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(cache_module, "_said", set())
    monkeypatch.setattr("cardenvs.core.kernel.trusted_folder", trusted_folder.__wrapped__)
    with_gaps = np.arange(10)[::2]

    def at(k):
        return with_gaps[k]

    for _ in range(2):
        assert kernel(at, folder=Path(__file__).parent, entry=True)(1) == 2
    assert capsys.readouterr().err.count("cannot be kept, because a kernel in it names an array with gaps") == 1


def test_arrays_of_games_can_be_saved_with_kernels():
    """Numba turns an array with gaps into an address, so each process would compile the kernel again."""
    for module in pkgutil.walk_packages(cardenvs.__path__, "cardenvs."):
        if module.name.startswith(("cardenvs.core.", "cardenvs.kits.", "cardenvs.games.")):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, np.ndarray):
                    assert value.flags.c_contiguous or value.flags.f_contiguous, (module.name, name)
                    assert value.nbytes <= 1_000_000, (module.name, name)


def make_fifo(path):
    path.unlink()
    os.mkfifo(path)


def make_folder(path):
    path.unlink()
    path.mkdir()


def make_link_to_itself(path):
    path.unlink()
    path.symlink_to(path)


def make_huge(path):
    os.truncate(path, 1 << 40)


def make_another_pickle(path):
    cache_module._write_entry(path, pickle.dumps(["not", "a", "kernel"]))


def make_unloadable(path):
    cache_module._write_entry(path, b"cno_such_module\nname\n.")


@pytest.mark.parametrize(
    "damage",
    [make_fifo, make_folder, make_link_to_itself, make_huge, make_another_pickle, make_unloadable],
)
def test_whatever_lies_in_the_place_of_an_entry_is_replaced_or_passed_over(saved, capsys, damage):
    path, make = saved
    try:
        damage(path)
    except OSError as error:
        pytest.skip(f"this file system cannot: {error}")
    assert make() == (6, 0)
    # A folder is not deleted, whatever is in it: then there is no entry.
    assert make() == (6, 0 if path.is_dir() else 1)
    said = "cannot read compiled code" if damage is make_link_to_itself else "compiled code was damaged"
    assert capsys.readouterr().err.count(said) == 1


def test_a_truncated_entry_is_dropped_whatever_its_length(saved):
    path, make = saved
    whole = path.read_bytes()
    for length in [*range(100), *range(100, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert cache_module._read_entry(path, own=True) is None
        assert not path.exists()
    path.write_bytes(whole + b"\0")
    assert cache_module._read_entry(path, own=True) is None
    path.write_bytes(whole)
    assert make() == (6, 1)


def test_a_damaged_entry_is_not_unpickled(saved, tmp_path):
    path, make = saved
    proof = tmp_path / "proof"
    path.write_bytes(b"cardenvs kernel 1\n" + bytes(32) + f"cos\nsystem\n(S'touch {proof}'\ntR.".encode())
    assert make() == (6, 0)
    assert not proof.exists()


def test_an_entry_that_others_could_have_written_is_not_loaded(saved, capsys):
    path, make = saved
    path.chmod(0o666)
    assert make() == (6, 0)
    assert "every user may write to it" in capsys.readouterr().err
    assert make() == (6, 1)


def test_leftovers_of_a_dead_process_do_no_harm(saved):
    path, make = saved
    path.unlink()
    (path.parent / ".saving-abc").write_bytes(b"half an ent")
    (path.parent.parent / ".lock").touch()
    assert make() == (6, 0)
    assert make() == (6, 1)


# ---------------------------------------------------------------------------------------------------------------
# Nowhere to save


def test_a_full_disk_costs_the_entries_and_nothing_else(tmp_path, call):
    def no_room():  # every write to a file fails, as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    out, err = call(preexec_fn=no_room)
    assert out == "2 0"
    assert err.count("cannot save compiled code") == 1
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
    assert call()[0] == "2 0"
    assert call() == ("2 1", "")


def test_a_folder_that_vanishes_under_way_is_made_again(saved):
    path, make = saved
    shutil.rmtree(path.parent.parent)
    assert make() == (6, 0)
    assert make() == (6, 1)


def test_a_folder_that_turns_into_a_file_under_way(saved, capsys):
    path, make = saved
    shutil.rmtree(path.parent)
    path.parent.touch()
    assert make() == (6, 0)
    assert make() == (6, 0)
    err = capsys.readouterr().err
    assert err.count("cannot read compiled code") == 1
    assert err.count("cannot save compiled code") == 1


def test_what_a_read_only_folder_holds_is_used(saved, monkeypatch, capsys):
    path, make = saved

    def refused(*arguments, **options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(cache_module.tempfile, "mkstemp", refused)
    assert make() == (6, 1)
    assert capsys.readouterr().err == ""
    path.unlink()
    assert make() == (6, 0)
    assert make() == (6, 0)
    err = capsys.readouterr().err
    assert err.count("cannot save compiled code ([Errno 30] Read-only file system)") == 1
    assert err.count("kept for the next run") == 1  # before it was known


def test_warmup_says_when_nothing_was_kept(monkeypatch):
    from typer.testing import CliRunner

    from cardenvs import cli

    monkeypatch.setenv("CARDENVS_QUIET", "0")  # the command sets it
    monkeypatch.setattr(cache_module, "is_saving", lambda: False)
    monkeypatch.setattr("cardenvs.cli.warmup._warm_up_loudly", lambda console, game: 3)
    result = CliRunner().invoke(cli.app, ["warmup", "kuhn_poker"])
    assert result.exit_code == 2
    assert "nothing was kept: compiled code cannot be saved in" in result.stderr
    monkeypatch.setattr("cardenvs.cli.warmup._warm_up_loudly", lambda console, game: 0)  # all of it was there
    assert CliRunner().invoke(cli.app, ["warmup", "kuhn_poker"]).exit_code == 0


# ---------------------------------------------------------------------------------------------------------------
# Whose folder it is


def test_a_folder_that_everybody_may_write_to_is_not_used(tmp_path, call):
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o1777)  # as /tmp
    for _ in range(2):
        out, err = call()
        assert out == "2 0"
        assert err.count("every user may write to it") == 1
        assert "kept for the next run" not in err
    assert list(cache.iterdir()) == []


def test_a_folder_of_another_user_is_not_used(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cache_module, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(cache_module.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    trusted = trusted_folder.__wrapped__()
    if tmp_path.stat().st_uid == 0:  # root can do as it likes anyhow
        assert trusted == tmp_path
    else:
        assert trusted is None
        assert "belongs to another user" in capsys.readouterr().err


def test_root_does_not_use_the_folder_of_a_user(tmp_path, monkeypatch, capsys):
    class Info:
        st_uid, st_mode = 12345, 0o40755

    assert "belongs to another user (id 12345)" in cache_module._danger(Info)


def test_only_the_user_may_write_to_what_is_made(tmp_path, call):
    out, _ = call("import os; os.umask(0); " + CALL)
    assert out == "2 0"
    cache = tmp_path / "cache"
    for path in [cache, *cache.rglob("*")]:
        assert path.stat().st_mode & 0o022 == 0, path
    assert call() == ("2 1", "")


# ---------------------------------------------------------------------------------------------------------------
# Shared folders


def test_two_versions_share_a_folder(tmp_path, call):
    call()
    (tmp_path / "kernels.py").write_text(KERNELS.replace("return 1", "return 5"))
    assert call()[0] == "10 0"
    assert call() == ("10 1", "")
    (tmp_path / "kernels.py").write_text(KERNELS)
    assert call() == ("2 1", "")


def test_kernels_that_differ_in_what_they_close_over_have_entries_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr("cardenvs.core.kernel.trusted_folder", trusted_folder.__wrapped__)

    def adding(amount):
        def add(x):
            return x + amount

        return kernel(add, folder=Path(__file__).parent, entry=True)

    for _ in range(2):
        assert [adding(amount)(1) for amount in (1, 2, 2.5)] == [2, 3, 3.5]
    assert len(entries(tmp_path)) == 3


def test_numba_finds_all_that_it_asks_of_a_cache(saved):
    from numba.core.caching import _Cache

    assert {name for name in dir(_Cache) if not name.startswith("_")} <= set(dir(KernelCache("", Path(), "", str)))


# ---------------------------------------------------------------------------------------------------------------
# What is kept


SHARED = """
from cardenvs.core.kernel import kernel

@kernel
def part():
    return 1

@kernel
def whole():
    return part()

def entry_point(whole=whole):
    def call():
        return whole() + 1
    return kernel(call, entry=True)
"""


def test_only_what_a_later_process_may_load_is_saved(tmp_path, call):
    """`part` is in the code of `whole`, and nothing else calls it; entry points made later share `whole`."""
    (tmp_path / "shared.py").write_text(SHARED)
    code = "import shared; print(shared.entry_point()())"
    assert call(code)[0] == "2"
    assert [path.name.split("-")[0] for path in entries(tmp_path / "cache")] == ["call", "whole"]
    more = "; other = shared.kernel(lambda: shared.whole(), entry=True)"
    assert call(code + more) == ("2", "")


DAY = 24 * 3600.0
NOW = time.time()


@pytest.fixture
def entry(tmp_path):
    """Makes an entry of a kernel, last used some days ago."""

    def entry(kernel, number, days, unit="gin"):
        path = tmp_path / f"{unit}-{'a' * 20}" / f"{kernel}-{number:032x}.kernel"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"code")
        os.utime(path, (NOW, NOW - days * DAY))
        return path

    return entry


def test_the_last_used_entries_of_a_kernel_stay_until_they_expire(tmp_path, entry, monkeypatch):
    monkeypatch.setattr(cache_module, "_ENTRIES_PER_KERNEL", 4)
    starts = [entry("start", k, days) for k, days in enumerate([0, 2, 3, 4, 5, 6])]
    applies = [entry("apply", k, days) for k, days in enumerate([29, 31])]
    other = entry("start", 0, 31, unit="leduc")
    prune(tmp_path, NOW)
    assert [path.exists() for path in starts] == [True] * 4 + [False] * 2
    assert [path.exists() for path in applies] == [True, False]
    assert not other.parent.exists()


def test_entries_used_within_a_day_stay_however_many_there_are(tmp_path, entry):
    made = [entry("start", k, 0.9) for k in range(3 * cache_module._ENTRIES_PER_KERNEL)]
    prune(tmp_path, NOW)
    assert all(path.exists() for path in made)


def test_a_clock_that_was_wrong_deletes_nothing_new(tmp_path, entry):
    path = entry("start", 1, -400)
    prune(tmp_path, NOW)
    assert path.exists()


def test_only_units_are_pruned_and_links_are_not_followed(tmp_path, entry):
    letters = tmp_path / "letters"
    entry("start", 1, 100).parent.rename(letters)
    elsewhere = tmp_path / "elsewhere"
    entry("start", 1, 100).parent.rename(elsewhere)
    link = tmp_path / f"linked-{'1' * 20}"
    link.symlink_to(elsewhere, target_is_directory=True)
    entry("start", 2, 100)
    prune(tmp_path, NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["letters", "elsewhere", link.name])
    assert len(entries(letters)) == len(entries(elsewhere)) == 1


def test_a_strange_file_in_a_unit_is_left_alone(tmp_path, entry):
    folder = entry("start", 1, 100).parent
    (folder / "thesis.txt").touch()
    (folder / "trap.kernel").mkdir()
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    prune(tmp_path, NOW)
    assert sorted(path.name for path in folder.iterdir()) == ["thesis.txt", "trap.kernel"]


def test_what_dead_processes_left_unfinished_is_deleted_after_a_day(tmp_path, entry):
    path = entry("start", 1, 0)
    for name, days in ((".saving-old", 2), (".saving-new", 0.5)):
        (path.parent / name).touch()
        os.utime(path.parent / name, (NOW, NOW - days * DAY))
    prune(tmp_path, NOW)
    assert sorted(file.name for file in path.parent.iterdir()) == [".saving-new", path.name]


def test_loading_marks_an_entry_as_used_and_the_next_compilation_prunes(tmp_path, call):
    cache = tmp_path / "cache"
    call()
    (used,) = entries(cache)
    unused = used.with_name(f"old-{0:032x}.kernel")
    unused.touch()
    for path in (used, unused):
        os.utime(path, (0, 0))
    assert call() == ("2 1", "")
    assert time.time() - used.stat().st_mtime < 600
    assert unused.exists()  # what only loads, prunes nothing
    (tmp_path / "kernels.py").write_text(KERNELS.replace("return 1", "return 5"))
    assert call()[0] == "10 0"
    assert used.exists()
    assert not unused.exists()


def test_a_unit_deleted_under_a_running_process_is_compiled_again(saved, tmp_path):
    path, make = saved
    prune(tmp_path / "cache", time.time() + 31 * DAY)
    assert not path.parent.exists()
    assert make() == (6, 0)
    assert make() == (6, 1)


def test_a_cache_that_cannot_be_pruned_is_mentioned(saved, monkeypatch, capsys):
    path, make = saved

    def refused(folder):
        raise PermissionError(13, "Permission denied")

    cache_module._prune_once.cache_clear()
    monkeypatch.setattr(cache_module.os, "scandir", refused)
    path.unlink()
    assert make() == (6, 0)
    assert capsys.readouterr().err.count("cannot delete compiled code of older versions") == 1
    assert make() == (6, 1)


# ---------------------------------------------------------------------------------------------------------------
# Prebuilt code

PREBUILT_CALL = """
import pathlib, sys
from cardenvs.core import cache
cache.PREBUILT_FOLDER = pathlib.Path("{folder}")
import llvmlite.binding as llvm
if "{lacking}":
    features = llvm.get_host_cpu_features()
    features["{lacking}"] = False
    llvm.get_host_cpu_features = lambda: features
from kernels import double
print(double(), len(double.stats.cache_hits))
"""


@pytest.fixture
def prebuilt(tmp_path, call, monkeypatch):
    """Calls the kernel where code for it was prebuilt; the folder of that code, and the function that calls."""
    if not cache_module.runs_prebuilt_code():
        pytest.skip(f"this processor is older than {cache_module.PREBUILT_CPU}")
    folder = tmp_path / "prebuilt"
    call(f"import os; os.environ['NUMBA_CPU_NAME'] = '{cache_module.PREBUILT_CPU}'; "
         f"os.environ['NUMBA_CPU_FEATURES'] = ''; {CALL}", cache=folder)  # fmt: skip
    assert len(entries(folder)) == 1

    def call_prebuilt(before="", lacking="", **more):
        return call(before + PREBUILT_CALL.format(folder=folder, lacking=lacking), **more)

    return folder, call_prebuilt


def test_prebuilt_code_is_used_and_nothing_is_saved(prebuilt, tmp_path):
    _, call_prebuilt = prebuilt
    assert call_prebuilt() == ("2 1", "")
    assert entries(tmp_path / "cache") == []


def test_prebuilt_code_is_used_without_a_cache_of_ones_own(prebuilt, tmp_path):
    _, call_prebuilt = prebuilt
    (tmp_path / "file").touch()
    out, err = call_prebuilt(cache=tmp_path / "file" / "cache")
    assert out == "2 1"
    assert "compiling caller" not in err


@pytest.mark.parametrize("why", ["a feature is lacking", "switched off", "another processor was named"])
def test_prebuilt_code_is_not_used_where_it_does_not_fit(prebuilt, tmp_path, why):
    _, call_prebuilt = prebuilt
    settings = {"switched off": "CARDENVS_PREBUILT=0", "another processor was named": "NUMBA_CPU_NAME=generic"}
    name, _, value = settings.get(why, "NOTHING=").partition("=")
    before = f"import os; os.environ['{name}'] = '{value}'"
    lacking = "avx2" if why == "a feature is lacking" else ""
    assert call_prebuilt(before, lacking)[0] == "2 0"
    assert call_prebuilt(before, lacking) == ("2 1", "")
    assert len(entries(tmp_path / "cache")) == 1


def test_ones_own_native_code_goes_first(prebuilt, tmp_path, call):
    folder, call_prebuilt = prebuilt
    call()
    (damaged,) = entries(folder)
    damaged.write_bytes(b"never read")
    assert call_prebuilt() == ("2 1", "")


def test_damaged_prebuilt_code_is_passed_over_and_left_where_it_is(prebuilt):
    folder, call_prebuilt = prebuilt
    (entry,) = entries(folder)
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 1
    entry.write_bytes(data)
    out, err = call_prebuilt()
    assert out == "2 0"
    assert err.count("the checksum does not match); compiled again.") == 1
    assert entry.read_bytes() == data
    assert call_prebuilt() == ("2 1", "")


def test_prebuilt_code_of_other_sources_is_not_used(prebuilt, tmp_path):
    _, call_prebuilt = prebuilt
    (tmp_path / "kernels.py").write_text(KERNELS.replace("return 1", "return 5"))
    assert call_prebuilt()[0] == "10 0"


HOMELESS = """
import pwd, runpy, sys
def getpwuid(uid):
    raise KeyError(uid)
pwd.getpwuid = getpwuid  # a user without an entry, as in containers
sys.argv = sys.argv[1:]
runpy.run_module("cardenvs", run_name="__main__", alter_sys=True)
"""


def homeless(tmp_path, *words, **more):
    kept = ("HOME", "CARDENVS_CACHE_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "CARDENVS_QUIET")
    env = {name: value for name, value in os.environ.items() if name not in kept}
    return subprocess.run(
        [sys.executable, "-c", HOMELESS, "cardenvs", *words], env=env | {"TMPDIR": str(tmp_path)} | more,
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip


def test_without_a_home_compiled_code_is_kept_with_temporary_files(tmp_path):
    folder = tmp_path / f"cardenvs-kernels-{os.getuid()}"
    ended = homeless(tmp_path, "info", "kuhn_poker")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("no home directory") == 1
    assert f"{folder} (set CARDENVS_CACHE_DIR to choose another folder)" in ended.stderr
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    again = homeless(tmp_path, "info", "kuhn_poker", CARDENVS_CACHE_DIR=str(tmp_path / "chosen"))
    assert again.returncode == 0
    assert "home" not in again.stderr


def test_without_a_home_the_tables_of_a_server_need_a_path(tmp_path):
    ended = homeless(tmp_path, "serve")
    assert ended.returncode == 2
    assert "no home directory to keep tables in; give --data FILE" in ended.stderr
    assert "Traceback" not in ended.stderr
