"""The conformance suite for games, including those of other packages.

from cardenvs.testing import check_game

def test_my_game():
    check_game("my_game_v0")
"""

from cardenvs.testing.case import ConformanceError, Report
from cardenvs.testing.conformance import check_game

__all__ = ["ConformanceError", "Report", "check_game"]
