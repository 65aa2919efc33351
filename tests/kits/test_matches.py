"""Sides, what they are paid, and players who leave."""

import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.registry import get_game

# Games of several hands, options, and the fact that lists the hands that have been scored.
GAMES = {
    "briscola_v0": ({"target": 2}, "points_by_deal"),
    "bridge_v0": ({"scoring": "rubber"}, "results"),
    "casino_v0": ({"match": True}, "scores_by_hand"),
    "euchre_v0": ({"target": 10}, "points_by_hand"),
    "hearts_v0": ({"target": 100}, "points_by_hand"),
    "scopa_v0": ({"target": 11}, "points_by_hand"),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_hand_that_somebody_leaves_has_no_points(name):
    options, fact = GAMES[name]
    state = get_game(name).new_state(seed=1, **options)
    while len(state.facts(0)[fact]) < 1:
        state.apply(state.policy_action("random", state.ply))
    assert not state.is_terminal
    scored = state.facts(0)[fact]
    state.apply(FORFEIT + state.current_player)
    assert state.facts(0)[fact] == scored
