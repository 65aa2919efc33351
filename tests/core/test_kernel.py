"""The compile cache: what it must notice, what it must not mix up, and what people are told."""

import os
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cardenvs.core import kernel as kernel_module
from cardenvs.core.fingerprint import kernel_fingerprint, toolchain_hash
from cardenvs.core.kernel import COMPILED, CORE_FOLDER, kernel, kernel_name

TOYS = Path(__file__).parent.parent / "toys"

pytestmark = pytest.mark.skipif(not COMPILED, reason="there is no cache with the compiler off")

# Plays the games named and tells their results, and what was loaded and compiled by what the cache says of itself.
PLAY = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    game = importlib.import_module(name).GAME
    state = game.new_state(seed=0)
    state.apply(0)
    state.apply(1)
    stats = [kernel.stats for kernel in (game.engine.start, game.engine.apply, game.engine.legal)]
    hits = sum(sum(one.cache_hits.values()) for one in stats)
    misses = sum(sum(one.cache_misses.values()) for one in stats)
    print(state.returns, hits, misses)
"""


def start(code, *arguments, cache, **settings):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "CARDENVS_"))}
    env |= {"CARDENVS_CACHE_DIR": str(cache), **settings}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process):
    """(standard output, the kernels reported as compiled, standard error)."""
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out.strip(), re.findall(r"cardenvs: compiling (\w+ \w+)", err), err


def run(code, *arguments, **settings):
    return finish(start(code, *arguments, **settings))


# ---------------------------------------------------------------------------------------------------------------
# The cache


@pytest.mark.rotating
def test_six_processes_compile_six_games_at_once_and_each_finds_its_own_again(tmp_path):
    folder, cache = tmp_path / "games", tmp_path / "cache"
    folder.mkdir()
    text = (TOYS / "prize.py").read_text()
    for k in range(6):  # in one folder, so that all write to the same cache files
        (folder / f"prize_{k}.py").write_text(text.replace("PRIZE = 1", f"PRIZE = {10 + k}"))

    def play_all():
        processes = [start(PLAY, folder, f"prize_{k}", cache=cache) for k in range(6)]
        return [finish(process) for process in processes]

    for k, (out, compiled, _) in enumerate(play_all()):
        assert out == f"[{-10.0 - k}, {10.0 + k}] 0 3"
        assert compiled == [f"prize_{k} {name}" for name in ("start", "legal", "apply")]
    for k, (out, compiled, _) in enumerate(play_all()):
        assert out == f"[{-10.0 - k}, {10.0 + k}] 3 0"
        assert compiled == []
    out, compiled, _ = run(PLAY, folder, *[f"prize_{k}" for k in range(6)], cache=cache)
    assert out.splitlines() == [f"[{-10.0 - k}, {10.0 + k}] 3 0" for k in range(6)]
    assert compiled == []


CALLER = """
from cardenvs.core.kernel import kernel
from called import amount

@kernel(entry=True)
def double():
    return 2 * amount()
"""
CALLED = """
from cardenvs.core.kernel import kernel

@kernel
def amount():
    return {}
"""
CALL = """
import sys
sys.path.insert(0, sys.argv[1])
from caller import double
print(double(), len(double.stats.cache_hits))
"""


@pytest.fixture
def pair(tmp_path):
    """A folder with two files; a kernel of one calls a kernel of the other."""
    folder = tmp_path / "pair"
    folder.mkdir()
    (folder / "caller.py").write_text(CALLER)
    (folder / "called.py").write_text(CALLED.format(1))
    return folder


def test_an_edit_in_a_called_function_of_another_file_is_noticed(tmp_path, pair):
    cache = tmp_path / "cache"
    assert run(CALL, pair, cache=cache)[:2] == ("2 0", ["caller double"])
    assert run(CALL, pair, cache=cache)[:2] == ("2 1", [])
    (pair / "called.py").write_text(CALLED.format(5))
    assert run(CALL, pair, cache=cache)[:2] == ("10 0", ["caller double"])
    assert run(CALL, pair, cache=cache)[:2] == ("10 1", [])


def test_bounds_checks_are_another_cache(tmp_path, pair):
    # Numba itself loads the unchecked code when NUMBA_BOUNDSCHECK is set later.
    (pair / "called.py").write_text(
        CALLED.replace("@kernel", "import numpy as np\nTABLE = np.arange(3)\nEND = np.array([3])\n@kernel").format(
            "TABLE[END[0]]"
        )
    )
    cache = tmp_path / "cache"
    run(CALL, pair, cache=cache)
    checked = start(CALL, pair, cache=cache, NUMBA_BOUNDSCHECK="1")
    _, err = checked.communicate(timeout=240)
    assert "IndexError" in err


def test_code_for_another_processor_has_entries_of_its_own(tmp_path, pair):
    cache = tmp_path / "cache"
    run(CALL, pair, cache=cache)
    assert run(CALL, pair, cache=cache, NUMBA_CPU_NAME="generic")[:2] == ("2 0", ["caller double"])
    for settings in ({}, {"NUMBA_CPU_NAME": "generic"}):
        assert run(CALL, pair, cache=cache, **settings)[:2] == ("2 1", [])
    assert len(list(cache.iterdir())) == 1


def test_a_first_compile_says_what_it_does_and_how_long_it_took(tmp_path, pair):
    _, _, err = run(CALL, pair, cache=tmp_path / "cache")
    assert re.fullmatch(r"cardenvs: compiling caller double \(kept for the next run\) \.\.\. \d+\.\d s\n", err)


def test_quiet(tmp_path, pair):
    out, _, err = run(CALL, pair, cache=tmp_path / "cache", CARDENVS_QUIET="1")
    assert (out, err) == ("2 0", "")


def test_without_a_writable_cache_it_compiles_anew_and_says_so_once(tmp_path, pair):
    file = tmp_path / "file"
    file.touch()
    for _ in range(2):  # a path below a regular file: not even root can make it
        out, compiled, err = run(CALL, pair, cache=file / "cache")
        assert out == "2 0"
        assert compiled == ["caller double"]
        assert err.count("cannot write compiled code") == 1
        assert "kept for the next run" not in err
    assert run(CALL, pair, cache=file / "cache", CARDENVS_QUIET="1")[2] == ""


def test_with_the_compiler_off_kernels_are_plain_functions(tmp_path, pair):
    code = CALL.replace("print(double(), len(double.stats.cache_hits))", "print(double(), type(double).__name__)")
    for settings in ({"CARDENVS_COMPILE": "0"}, {"NUMBA_DISABLE_JIT": "1"}):
        assert run(code, pair, cache=tmp_path / "cache", **settings) == ("2 function", [], "")
    assert not (tmp_path / "cache").exists()


def test_without_numba_kernels_are_plain_functions(tmp_path, pair):
    code = "import sys\nsys.modules['numba'] = None\n" + CALL.replace(
        "len(double.stats.cache_hits)", "type(double).__name__"
    )
    assert run(code, pair, cache=tmp_path / "cache") == ("2 function", [], "")


def test_compiling_somebody_elses_function_is_not_reported(tmp_path, pair):
    code = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import numba
        from caller import double

        @numba.njit
        def theirs(x):
            return x + 1

        print(theirs(1), double())
    """
    out, compiled, err = run(code, pair, cache=tmp_path / "cache")
    assert out == "2 2"
    assert compiled == ["caller double"]
    assert "theirs" not in err


# ---------------------------------------------------------------------------------------------------------------
# What compiled code depends on

PARTS = """
import enum
from typing import NamedTuple
import numpy as np
from cardenvs.core.kernel import kernel
import names

class Suit(enum.IntEnum):
    CLUBS = 0
    SPADES = 3

class Pair(NamedTuple):
    first: int
    second: int

TABLE = np.array([1, 2, 3])
PAIR = Pair(4, 5)
UNUSED = 1

def not_a_kernel():
    return 1

@kernel
def inner(x):
    "Return a sum."
    return TABLE[x] + PAIR.first + names.AMOUNT

@kernel(entry=True)
def entry(x):
    \"""Return more.\"""
    # of it
    return 2 * inner(x) + Suit.SPADES
"""
FINGERPRINT = """
import sys
sys.path.insert(0, sys.argv[1])
from cardenvs.core.fingerprint import kernel_fingerprint
import parts
print(kernel_fingerprint(parts.entry), parts.entry(1))
"""


@pytest.fixture
def fingerprint(tmp_path):
    """Fingerprints the entry point of PARTS after edits."""
    folder = tmp_path / "parts"
    folder.mkdir()

    def fingerprint(*edits):
        texts = {"parts.py": PARTS, "names.py": "AMOUNT = 10\nOTHER = 1\n"}
        for name, old, new in edits:
            assert texts[name].count(old) == 1
            texts[name] = texts[name].replace(old, new)
        for name, text in texts.items():
            (folder / name).write_text(text)
        # Bytecode would be stale: an edit within a second that keeps the file's size looks like none.
        return run(FINGERPRINT, folder, cache=tmp_path / "cache", PYTHONDONTWRITEBYTECODE="1")[0].split()

    return fingerprint


@pytest.mark.rotating
def test_a_fingerprint_depends_on_code_and_constants_but_on_no_other_text(fingerprint):
    before = fingerprint()
    assert before[1] == "35"
    same = [
        ("parts.py", "import enum", "# a comment\n\nimport enum"),
        ("parts.py", "# of it", "# of all of it"),
        ("parts.py", "Return a sum.", "Return another sum."),
        ("parts.py", "UNUSED = 1", "UNUSED = 2"),
        ("parts.py", "    return 1\n", "    return 2\n"),
        ("names.py", "OTHER = 1", "OTHER = 2"),
    ]
    assert fingerprint(*same) == before
    changed = [
        (("parts.py", "[1, 2, 3]", "[1, 3, 3]"), "37"),
        (("parts.py", "Pair(4, 5)", "Pair(5, 5)"), "37"),
        (("names.py", "AMOUNT = 10", "AMOUNT = 11"), "37"),
        (("parts.py", "SPADES = 3", "SPADES = 4"), "36"),
        (("parts.py", "    first: int\n    second: int", "    second: int\n    first: int"), "37"),
        (("parts.py", "TABLE[x] +", "TABLE[x] -"), "19"),
    ]
    seen = {before[0]}
    for edit, result in changed:
        after = fingerprint(edit)
        assert after[1] == result, edit
        assert after[0] not in seen, edit
        seen.add(after[0])


GAME = """
import sys
sys.path.insert(0, sys.argv[1])
import cardenvs
state = cardenvs.get_game("leduc_poker_v0").new_state(seed=0)
assert cardenvs.__file__.startswith(sys.argv[1])
state.apply(1)
print(state.observation(0).sum())
"""


@pytest.mark.rotating
def test_comments_in_core_recompile_nothing(tmp_path):
    package = tmp_path / "cardenvs"
    shutil.copytree(CORE_FOLDER.parent, package, ignore=shutil.ignore_patterns("__pycache__", "zoo", "_prebuilt"))
    cache = tmp_path / "cache"
    assert run(GAME, tmp_path, cache=cache)[1]
    for path in (package / "core").glob("*.py"):
        path.write_text(f"# A comment.\n\n{path.read_text()}\n# Another.\n")
    assert run(GAME, tmp_path, cache=cache)[1] == []
    rng = package / "core" / "rng.py"
    rng.write_text(rng.read_text().replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"))
    assert run(GAME, tmp_path, cache=cache)[1]


@pytest.mark.parametrize(("name", "value"), [("NUMBA_OPT", "1"), ("NUMBA_LOOP_VECTORIZE", "0")])
def test_settings_that_change_code_change_the_folder(monkeypatch, name, value):
    before = toolchain_hash()
    monkeypatch.setenv(name, value)
    assert toolchain_hash() != before
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    changed = toolchain_hash()
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert toolchain_hash() == changed


def test_bounds_checks_change_the_folder(monkeypatch):
    import numba

    before = toolchain_hash()
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 0 if numba.config.BOUNDSCHECK else 1)
    assert toolchain_hash() != before


def test_kernels_of_every_game_have_fingerprints_that_repeat():
    """A value that kernels use but that is left out of the fingerprint, or that varies by process, would go unseen."""
    code = """
        import cardenvs
        from cardenvs.core.fingerprint import kernel_fingerprint
        for name in cardenvs.list_games():
            engine = cardenvs.get_game(name).engine
            print(*[kernel_fingerprint(one) for one in (engine.start, engine.apply, engine.batch_step)])
    """
    outs = {run(code, cache=CORE_FOLDER, PYTHONHASHSEED=seed)[0] for seed in ("1", "2")}
    assert len(outs) == 1


# ---------------------------------------------------------------------------------------------------------------
# The decorator


def closed_over(inner):
    def outer(x):
        return inner(x) + 1

    return kernel(outer, folder=TOYS)


@kernel
def plus_one(x):
    return x + 1


@kernel
def times_two(x):
    return 2 * x


@kernel
def halvings(n):
    return 0 if n < 2 else 1 + halvings(n // 2)


@kernel
def is_even(n):
    if n == 0:
        return 1
    return is_odd(n - 1)


@kernel
def is_odd(n):
    if n == 0:
        return 0
    return is_even(n - 1)


def test_closures_over_different_kernels_have_different_ids():
    first, second, again = closed_over(plus_one), closed_over(times_two), closed_over(plus_one)
    assert first._uuid != second._uuid
    assert first._uuid == again._uuid
    assert closed_over(first)._uuid != closed_over(second)._uuid
    assert kernel_fingerprint(first) == kernel_fingerprint(again) != kernel_fingerprint(second)
    assert (first(5), second(5), closed_over(second)(5)) == (7, 11, 12)


def test_a_pickled_kernel_comes_back_as_itself():
    kernels = [closed_over(plus_one), closed_over(times_two)]
    assert [pickle.loads(pickle.dumps(one))(5) for one in kernels] == [7, 11]


def test_a_kernel_is_compiled_once_for_all_integer_constants(monkeypatch):
    monkeypatch.setattr(kernel_module, "trusted_folder", lambda: None)  # from a cache nothing is compiled

    @kernel
    def called(x):
        return x * 2

    @kernel
    def caller(k):
        return called(3) + called(4) + called(k)

    assert caller(5) == 24
    assert len(called.signatures) == 1


def test_python_may_call_a_kernel_that_others_call(tmp_path, pair):
    """Code compiled for kernels alone has nothing that Python could call, and lies in the cache under the same name."""
    call = CALL.replace("import double", "import amount, double").replace(
        "print(double(), len(double.stats.cache_hits))", "print({}, len(amount.as_entry().stats.cache_hits))"
    )
    cache = tmp_path / "cache"
    assert run(call.format("double()"), pair, cache=cache)[:2] == ("2 0", ["caller double"])
    assert run(call.format("amount()"), pair, cache=cache)[:2] == ("1 0", ["called amount"])
    assert run(call.format("double() + amount()"), pair, cache=cache)[:2] == ("3 1", [])


def test_a_kernel_called_by_kernels_has_no_machine_code_and_is_loaded_for_other_callers(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_module, "trusted_folder", lambda: tmp_path)
    shared = closed_over(plus_one)
    assert closed_over(shared)(5) == 8
    (code,) = shared.overloads.values()
    assert [function.name for function in code.library.get_defined_functions()] == []

    loaded = closed_over(plus_one)

    def other(x):
        return loaded(x) * 10

    assert kernel(other, folder=TOYS, entry=True)(5) == 70
    assert sum(loaded.stats.cache_hits.values()) == 1
    (again,) = loaded.overloads.values()
    assert again.library is not code.library


def test_an_entry_point_hides_the_code_of_what_it_calls(monkeypatch):
    monkeypatch.setattr(kernel_module, "trusted_folder", lambda: None)

    @kernel(entry=True)
    def entry(n):
        return 10 * halvings(n)

    assert entry(9) == 30
    (code,) = entry.overloads.values()
    visible = [one.name for one in code.library.get_defined_functions() if one.linkage.name != "internal"]
    assert visible
    assert not [name for name in visible if "halvings" in name]


def test_kernels_that_call_each_other_in_a_circle_do_not_compile(monkeypatch):
    monkeypatch.setattr(kernel_module, "trusted_folder", lambda: None)

    @kernel(entry=True)
    def entry(n):
        return is_even(n)

    with pytest.raises(TypeError, match="in a circle"):
        entry(4)


def test_the_name_of_a_kernel_for_people_is_that_of_the_game():
    assert kernel_name(plus_one) == "test_kernel plus_one"
    assert kernel_name(closed_over(closed_over(plus_one))) == "test_kernel outer"


def test_a_kernel_that_would_allocate_does_not_compile():
    import numba
    import numpy as np

    @kernel
    def allocates(n):
        return np.zeros(n)[0]

    with pytest.raises((numba.errors.NumbaError, RuntimeError)):
        allocates(3)
