"""The worlds of gin rummy in which search plays: they fit what the player knows, and look like real hands."""

from collections import defaultdict

import numpy as np
import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.core.state import State
from cardenvs.games.gin_rummy import GAME, belief, melds

TURNS = (1, 3, 6, 10)  # of the opponent


def positions(deals, **options):
    """Positions of the rule agent's games in which a player is to draw, with the opponent's number of discards."""
    for seed in range(deals):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal:
            if state.phase == "draw":
                yield state, int(state.record.discarded[1 - state.current_player]).bit_count()
            state.apply(state.policy_action("heuristic", 0))


def guessed(state, seed):
    """The state in a world drawn by belief."""
    records = state.records.copy()
    belief.sample_belief(records[0], state.current_player, seed)
    return State._from_record(GAME, state.options, records)


def test_a_guessed_world_fits_what_the_player_knows():
    changed = 0
    for number, (state, _) in enumerate(positions(20 if COMPILED else 1, match_target=100)):
        if number % 7:
            continue
        player, world = state.current_player, guessed(state, number)
        assert world.observation(player).tolist() == state.observation(player).tolist()
        assert world.legal_actions() == state.legal_actions()
        opponent = int(world.record.hands[1 - player])
        assert opponent.bit_count() == 10
        assert opponent & int(state.record.known[1 - player]) == int(state.record.known[1 - player])
        stock = [card for card in world.record.deck.tolist() if card >= 0]
        assert len(stock) == state.record.num_stock
        places = [opponent, int(world.record.hands[player]), int(world.record.discards), sum(1 << c for c in stock)]
        assert sum(places) == (1 << 52) - 1  # every card lies in one place
        twin = state.determinize(player, 5)
        assert guessed(twin, number).record.hands.tolist() == world.record.hands.tolist()
        changed += opponent != int(state.record.hands[1 - player])
    assert changed


@pytest.mark.skipif(not COMPILED, reason="hundreds of deals")
def test_guessed_hands_have_as_much_deadwood_as_real_ones():
    real, guesses, uniform = defaultdict(list), defaultdict(list), defaultdict(list)
    for number, (state, turns) in enumerate(positions(150)):
        if turns not in TURNS:
            continue
        other = 1 - state.current_player
        for found, world in (
            (real, state), (guesses, guessed(state, number)), (uniform, state.determinize(1 - other, number))
        ):  # fmt: skip
            found[turns].append(int(melds.min_deadwood(world.record.hands[other])))
    for turns in TURNS:
        assert abs(np.mean(guesses[turns]) - np.mean(real[turns])) < 5
        assert np.mean(uniform[turns]) > np.mean(real[turns]) + 8
