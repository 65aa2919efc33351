"""The scenario files in this folder, one test for each scenario."""

from pathlib import Path

import pytest

from cardenvs.testing.scenarios import read_scenarios

HERE = Path(__file__).parent


def name_of(scenario):
    return f"{Path(scenario.where).relative_to(HERE)}: {scenario.name}"


@pytest.mark.parametrize("scenario", read_scenarios(HERE), ids=name_of)
def test_scenario(scenario):
    scenario.check()
