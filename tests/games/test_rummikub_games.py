"""Rummikub: whole games of the environment are those of the oracle, turn by turn: deal, draws, passes, plays, score."""

import random

import pytest
from rummikub_oracle import Draw, EngineState, Pass, Play

from cardenvs.core.kernel import COMPILED
from cardenvs.games.rummikub import GAME
from cardenvs.games.rummikub.actions import COMMIT, DRAW, PASS
from cardenvs.games.rummikub.catalogue import MELDS
from cardenvs.games.rummikub.melds import canonical_table
from cardenvs.games.rummikub.ruleset import CommonRules, Ruleset
from cardenvs.games.rummikub.tiles import sub

GAMES = 40 if COMPILED else 2
OPTIONS = [
    {},
    {"num_players": 2, "joker_rule": "free"},
    {"num_players": 3, "joker_rule": "locked", "allow_draw_when_play_possible": False},
    {"num_players": 2, "joker_rule": "retrieve", "joker_group3_needs_both": True, "initial_meld_min": 0},
    {"num_players": 2, "colors": 3, "values": 8, "copies": 1, "jokers": 1, "initial_hand_size": 5,
     "pass_rule": "no_play_only"},
    {"num_players": 4, "start_player": "high_tile", "initial_meld_allow_joker": False, "joker_value_at_end": 0},
]  # fmt: skip


def hands(state):
    return tuple(tuple(int(n) for n in hand) for hand in state.record.hands[: state.num_players])


def table(state):
    return canonical_table(tuple(MELDS[k] for k in state.record.sets if k >= 0))


def oracle_of(state):
    """The oracle in the position after the deal."""
    s = state.record
    shared = {name: getattr(state.options, name) for name in CommonRules.__dataclass_fields__}
    deck = tuple(int(tile) for tile in s.deck[: s.num_tiles])
    opened = (state.options.initial_meld_min == 0,) * state.num_players
    return EngineState(Ruleset.make(**shared), hands(state), (), deck, int(s.num_dealt), state.current_player, opened)


def same(state, oracle):
    s = state.record
    assert hands(state) == oracle.hands
    assert table(state) == oracle.table
    assert int(s.num_dealt) == oracle.deck_index
    assert tuple(map(bool, s.opened[: state.num_players])) == oracle.opened
    assert state.is_terminal == oracle.is_terminal
    assert state.is_terminal or state.current_player == oracle.current_player


@pytest.mark.rotating
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())) or "default")
def test_whole_games_are_those_of_the_oracle(options):
    chooser = random.Random(repr(options))
    plays = 0
    for seed in range(GAMES):
        state = GAME.new_state(seed=seed, **options)
        oracle = oracle_of(state)
        policy = chooser.choice(["random", "max_tiles"])
        while not state.is_terminal:
            before, player = hands(state), state.current_player
            action = -1
            while action not in (DRAW, PASS, COMMIT):
                action = state.policy_action(policy, chooser.getrandbits(32))
                state.apply(action)
            if action == COMMIT:
                plays += 1
                move = Play(sub(before[player], hands(state)[player]), table(state))
            else:
                move = Draw() if action == DRAW else Pass()
            oracle = oracle.apply(move)
            same(state, oracle)
        assert state.returns == pytest.approx([float(score) for score in oracle.scores])
    assert plays > 0
