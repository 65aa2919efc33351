"""Print what each game costs: seconds to compile it, and seconds of its tests, summed over workers.

    python -m tests.cost runs/tests.xml  # a JUnit report; `make cost` runs the tests and then this

Compiles every game in an empty cache, which takes a few minutes. Also writes the seconds of the slowest groups of tests
to tests/seconds.json, from which tests/selection.py takes the order of groups.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import cardenvs
from tests import selection

_SLOW = 3  # seconds of a group, from which it is listed


def main(reports: list[str]) -> None:
    """Read JUnit reports, print the table and write the seconds of groups."""
    seconds = Counter()
    for report in reports:
        seconds.update(seconds_of_tests(Path(report)))
    slow = {group: round(total) for group, total in by_group(seconds).most_common() if total >= _SLOW}
    selection.SECONDS.write_text(json.dumps(slow, indent=1) + "\n", encoding="utf-8")
    print(table(by_game(seconds), {game: compile_seconds(game) for game in sorted(selection.GAMES)}))


def seconds_of_tests(report: Path) -> Counter[str]:
    """Return the seconds of each test in a JUnit report, by node id. A file that was skipped whole has none."""
    cases = [case for case in ET.parse(report).iter("testcase") if case.get("classname")]
    return Counter(
        {f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}": float(case.get("time")) for case in cases}
    )


def by_group(seconds: Counter[str]) -> Counter[str]:
    """Return the seconds of each group of tests."""
    return _summed(seconds, selection.group_of)


def by_game(seconds: Counter[str]) -> Counter[str]:
    """Return the seconds of the tests of each game; those of no game under "shared"."""
    return _summed(seconds, lambda nodeid: selection.checked_game(nodeid) or "shared")


def _summed(seconds: Counter[str], key) -> Counter[str]:
    sums = Counter()
    for nodeid, amount in seconds.items():
        sums[key(nodeid)] += amount
    return sums


def compile_seconds(game: str) -> float:
    """Return how long `cardenvs warmup` takes for a game in an empty cache."""
    (name,) = (one for one in cardenvs.list_games() if one.rpartition("_v")[0] == game)
    with tempfile.TemporaryDirectory() as cache:
        started = time.perf_counter()
        command = [sys.executable, "-m", "cardenvs", "warmup", name]
        subprocess.run(command, env={**os.environ, "CARDENVS_CACHE_DIR": cache}, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started


def table(tests: Counter[str], compiling: dict[str, float]) -> str:
    """Return the table in Markdown."""
    lines = ["| game | compile (s) | tests (s) |", "| --- | ---: | ---: |"]
    lines += [f"| {game} | {compiling[game]:.0f} | {tests[game]:.0f} |" for game in compiling]
    lines.append(f"| no single game | | {tests['shared']:.0f} |")
    lines.append(f"| all | {sum(compiling.values()):.0f} | {sum(tests.values()):.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
