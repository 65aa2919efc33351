"""How many actions others took may be hidden: nothing that an agent gets depends on it."""

import random

import pytest

from cardenvs.agents import PolicyAgent
from cardenvs.agents.seating import Seat
from cardenvs.core.registry import get_game


def shown(turn):
    """All that a turn gives an agent, as comparable values."""
    twin = turn.determinize(turn.seed)
    return {
        "own count": (turn.decision, turn.goes_on, turn.seed),
        "observation": turn.observation.tobytes(),
        "legal": turn.legal_actions,
        "candidates": turn.candidates,
        "view": repr(turn.view),
        "facts": repr(turn.facts),
        "recap": turn.recap,
        "prompt": turn.prompt,
        "policies": [turn.policy_action(policy) for policy in turn.game.engine.policy_names()],
        "twin": (twin.ply, twin.actions, twin.record_bytes(), twin.to_bytes()),
        "name": repr(turn),
    }


def worlds_of(game, options, seed, plays, longest):
    """{what a player knows: [(ply, its turn) in each of many games of one deal]}, of the first decisions."""
    found = {}
    for play in range(plays):
        chooser = random.Random(play)
        state = game.new_state(seed=seed, **options)
        seats = [Seat(PolicyAgent(game, "random"), player, player) for player in range(state.num_players)]
        while not state.is_terminal and state.ply < longest:
            seat = seats[state.current_player]
            turn = seat.turn(state)
            key = (seat.player, turn.information_state_key, repr(turn.view))
            found.setdefault(key, []).append((state.ply, shown(turn)))
            seat.decided(state)
            state.apply(chooser.choice(turn.legal_actions))
    return found


def check(game, options, seed, plays, longest):
    """Compare the worlds; the plies at which a player that knew the same was to act."""
    plies = set()
    for worlds in worlds_of(game, options, seed, plays, longest).values():
        for ply, other in worlds[1:]:
            assert other == worlds[0][1]
            plies.add(ply - worlds[0][0])
    return plies


@pytest.mark.parametrize("name", ["kuhn_poker_v0", "leduc_poker_v0"])
def test_who_knows_the_same_gets_the_same(name):
    assert check(get_game(name), {}, seed=1, plays=20, longest=12) == {0}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "longest"), [("gin_rummy_v0", 6), ("texas_holdem_v0", 6), ("rummikub_v0", 4)])
def test_who_knows_the_same_gets_the_same_in_larger_games(name, longest):
    assert 0 in check(get_game(name), {}, seed=1, plays=8, longest=longest)


@pytest.mark.slow
def test_nobody_can_tell_how_many_starting_birds_the_other_kept():
    assert check(get_game("wingspan_v0"), {}, seed=1, plays=12, longest=14) > {0}


@pytest.mark.slow
def test_nobody_can_tell_that_a_play_was_given_up():
    """With loose steps a player may begin a play on the table and give it up."""
    plies = set()
    for seed in range(6):
        plies |= check(get_game("rummikub_v0"), {"steps": "loose"}, seed=seed, plays=12, longest=10)
    assert plies > {0}
