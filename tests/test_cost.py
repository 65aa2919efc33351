"""The table of what each game costs."""

from collections import Counter

import cost

REPORT = """<testsuites><testsuite>
<testcase classname="tests.core.test_state" name="test_a[bridge_v0]" time="1.5" />
<testcase classname="tests.core.test_state" name="test_b[bridge_v0-1]" time="2" />
<testcase classname="tests.core.test_state" name="test_c" time="4" />
<testcase classname="" name="tests.trainers.test_skipped" time="0.0"><skipped /></testcase>
<testcase classname="tests.games.test_canasta_rules" name="test_d" time="8" />
</testsuite></testsuites>"""


def test_seconds_are_summed_by_game_and_by_group(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    seconds = cost.seconds_of_tests(path)
    assert cost.by_game(seconds) == Counter(bridge=3.5, canasta=8, shared=4)
    assert cost.by_group(seconds) == Counter(
        {"tests/core/test_state.py[bridge]": 3.5, "tests/core/test_state.py": 4, "tests/games/test_canasta_rules.py": 8}
    )
    assert cost.table(cost.by_game(seconds), {"bridge": 20.4, "canasta": 21}).splitlines()[2:] == [
        "| bridge | 20 | 4 |",
        "| canasta | 21 | 8 |",
        "| no single game | | 4 |",
        "| all | 41 | 16 |",
    ]
