"""Which tests a run takes, and which of them stay together on one worker.

Tests marked `rotating` are costly checks of a game, of the compiler, or of processes and browsers. Where no path is
given on the command line, they run for what has changed since the base commit, with a sample of the others: one in
eight tests of games and of files in `SPREAD`, and one in eight other files, drawn from the commit's hash.
Environment variables:

* `CARDENVS_SAMPLE`: seed of the sample, as printed at the start of a run; `all` takes every test marked `rotating`.
* `CARDENVS_BASE`: the base commit; by default where HEAD left the main branch, or the commit before HEAD.
"""

import datetime
import functools
import json
import os
import re
import subprocess
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import cardenvs

ROOT = Path(__file__).resolve().parents[1]
SECONDS = Path(__file__).with_name("seconds.json")  # how long groups took, written by tests/cost.py
GAMES = sorted((name.rpartition("_v")[0] for name in cardenvs.list_games()), key=len, reverse=True)
SPREAD = {
    "tests/docs/test_examples.py", "tests/docs/test_notebooks.py", "tests/server/test_browser.py",
    "tests/testing/test_check_game.py",
}  # fmt: skip
_GAME = re.compile("|".join(GAMES))
_LASTING = re.compile(r"scope=.(module|package|session)")
_KIT = re.compile(r"cardenvs/kits/(\w+)")
_SHARED_CODE = ("cardenvs/core/", "cardenvs/testing/", "cardenvs/envs/")
_ONE_IN = 8


# ---------------------------------------------------------------------------------------------------------------
# Groups


def group_of(nodeid: str) -> str:
    """Return the group of a test: the tests of a group run on one worker, in order.

    It is the file, divided by the games in the tests' parameters. Files in `SPREAD` are divided by all parameters.
    Others with a fixture that lives longer than a test are not divided.
    """
    file = nodeid.partition("::")[0]
    parameters = _parameters(nodeid)
    if file in SPREAD:
        return f"{file}[{parameters}]" if parameters else file
    divided_by = None if _has_a_lasting_fixture(file) else game_of(nodeid)
    return f"{file}[{divided_by}]" if divided_by else file


def game_of(nodeid: str) -> str | None:
    """Return the game, without its version, that the parameters of a test name."""
    found = _GAME.search(_parameters(nodeid))
    return found[0] if found else None


def checked_game(nodeid: str) -> str | None:
    """Return the game, without its version, that the parameters of a test name, or else its file."""
    found = _GAME.search(nodeid.partition("::")[0])
    return game_of(nodeid) or (found[0] if found else None)


def _parameters(nodeid: str) -> str:
    return nodeid.partition("[")[2].removesuffix("]")


@functools.cache
def _has_a_lasting_fixture(file: str) -> bool:
    return bool(_LASTING.search((ROOT / file).read_text(encoding="utf-8")))


def longest_first(nodeid: str) -> float:
    """Return a key that sorts tests by the seconds that their groups took when last measured, longest first."""
    return -_seconds().get(group_of(nodeid), 0.0)


@functools.cache
def _seconds() -> dict[str, float]:
    return json.loads(SECONDS.read_text(encoding="utf-8")) if SECONDS.exists() else {}


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Return a scheduler of pytest-xdist that gives each worker whole groups, in the order of the tests."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        # Marks `xdist_group` would be ignored: xdist 3.8 writes them into a field that pytest 9.2 no longer reads.
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False  # would sort groups by their number of tests
    return Groups(config, log)


# ---------------------------------------------------------------------------------------------------------------
# Skipped tests

_REMEDIES = (
    (re.compile("bubblewrap is not installed"), "without bubblewrap (apt-get install bubblewrap)"),
    (re.compile("there is no Chromium"), "without Chromium (apt-get install chromium, or CHROMIUM=path)"),
    (re.compile("there is no Node.js"), "without Node.js (apt-get install npm)"),
    (re.compile(r"could not import '([\w.]+)'"), r"without \1 (docs/installation.md)"),
)


def missing(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Return what a skipped test lacked and how to get it; None if it was skipped for another reason."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    for pattern, remedy in _REMEDIES:
        if found := pattern.search(reason):
            return found.expand(remedy)
    return None


# ---------------------------------------------------------------------------------------------------------------
# The rotating sample


def is_taken(item: pytest.Item, seed: str, changed: Iterable[str]) -> bool:
    """Return whether a run takes a test: always, unless it is marked `rotating`.

    Args:
        item: the test.
        seed: seed of the sample, or "all".
        changed: the files that changed, relative to the root of the checkout.
    """
    if seed == "all" or not item.get_closest_marker("rotating"):
        return True
    file, games = item.nodeid.partition("::")[0], changed_games(changed)
    game = checked_game(item.nodeid)
    if file in changed or game in games:
        return True
    if _concerns(file, changed) and not (game and file.startswith("tests/games/")):
        return True
    if _parameters(item.nodeid) in {Path(one).stem for one in changed}:  # a notebook
        return True
    unit = item.nodeid if game or file in SPREAD else file  # the tests of a file often share what is slow to make
    return zlib.crc32(f"{seed} {unit}".encode()) % _ONE_IN == 0


def _concerns(file: str, changed: Iterable[str]) -> bool:
    """Return whether a test file is about changed code: shared code, or the package after which its folder is named."""
    package = f"cardenvs/{file.split('/')[1]}/"
    return any(one.startswith((*_SHARED_CODE, package)) for one in changed)


def changed_games(changed: Iterable[str]) -> set[str]:
    """Return the games that changed files belong to. Shared code belongs to all, a kit to the games that import it.

    Pages change nothing that the rotating tests of a game check.
    """
    games: set[str] = set()
    for file in changed:
        if kit := _KIT.match(file):
            games.update(game for game in GAMES if f"cardenvs.kits.{kit[1]}" in _sources(game))
        elif file.startswith(_SHARED_CODE):
            return set(GAMES)
        elif file.startswith(("cardenvs/games/", "cardenvs/zoo/", "tests/")) and not file.endswith(".md"):
            games.update(_GAME.findall(file))
    return games


@functools.cache
def _sources(game: str) -> str:
    folder = Path(cardenvs.__file__).parent / "games" / game
    return "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))


def commit_or_date() -> str:
    """Return the seed of the sample: the commit's hash, or the date where git has none."""
    return git("rev-parse", "--short=8", "HEAD") or datetime.date.today().isoformat()


def changed_files() -> list[str]:
    """Return the files that differ from the base commit; none where git knows no such commit."""
    fork = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main")
    base = os.environ.get("CARDENVS_BASE") or (fork if fork and fork != git("rev-parse", "HEAD") else "HEAD~1")
    changed = git("diff", "--name-only", base, "--")
    return changed.splitlines() if changed else []


def git(*arguments: str) -> str | None:
    """Return what a git command prints; None if it fails, as without git or in a copy that is no repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
