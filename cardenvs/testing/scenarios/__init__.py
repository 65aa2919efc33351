"""Scenario files: games played step by step, with what must hold after each step, as YAML.

    from cardenvs.testing.scenarios import read_scenarios

    @pytest.mark.parametrize("scenario", read_scenarios("tests/scenarios"), ids=str)
    def test_scenario(scenario):
        scenario.check()

docs/scenarios.md describes the files. `cardenvs scenario run` and `cardenvs scenario inspect` play them in a terminal.
"""

from cardenvs.testing.scenarios.expectations import Check
from cardenvs.testing.scenarios.files import read_scenarios
from cardenvs.testing.scenarios.scenario import PlayedStep, Scenario, ScenarioError

__all__ = ["Check", "PlayedStep", "Scenario", "ScenarioError", "read_scenarios"]
