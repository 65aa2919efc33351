"""The boards of configs/arena: each can be read, and all its agents can be made."""

from pathlib import Path

import pytest

from cardenvs.agents.specs import make_agent
from cardenvs.arena.experiment import read_experiment
from cardenvs.core.errors import MissingExtraError

BOARDS = sorted((Path(__file__).resolve().parents[2] / "configs" / "arena").glob("*.yaml"))


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_a_board_can_be_played(path):
    for match in read_experiment(path).matches:
        for spec in match.specs:
            try:
                make_agent(spec, match.game, match.options)
            except MissingExtraError as error:
                pytest.skip(str(error))
