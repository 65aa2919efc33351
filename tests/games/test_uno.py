"""Tests of Uno: paragraphs that the scenario files leave out, an oracle, RLCard, worlds and the rule agent."""

import collections
import random

import numpy as np
import pytest
from uno_oracle import Oracle

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import KIND, SOURCE, SPECTATOR, TOKEN, Op
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.uno import actions, table
from cardenvs.games.uno.cards import CODES, COLOUR_CODES, COPIES, DECK_POINTS, NUM_KINDS, POINTS, WILD
from cardenvs.games.uno.state import PHASES

GAME = get_game("uno_v0")
PARSE = GAME.view.parse_token


def listed(counts):
    return sorted(CODES[kind] for kind, number in enumerate(counts) for _ in range(int(number)))


def hands_of(state):
    return [listed(hand) for hand in state.record.hands[: state.num_players]]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def left_draw_pile(state, rows):
    """The cards that left the draw pile, in order."""
    kinds = GAME.table.kinds
    return [
        CODES[row[TOKEN]] for row in rows.tolist() if kinds[row[KIND]].op == Op.MOVE and row[SOURCE] == table.STOCK
    ]


def as_oracle_says(action):
    """An action id as the oracle writes it."""
    if action < actions.DRAW:
        kind = int(actions.kind_played(action))
        return f"{CODES[kind]} {COLOUR_CODES[action // 15]}" if kind >= WILD else CODES[kind]
    if action >= actions.SWAP_0:
        return f"swap {action - actions.SWAP_0}"
    if actions.NAME_0 <= action < actions.SAY_UNO:
        return f"name {COLOUR_CODES[action - actions.NAME_0]}"
    return {60: "draw", 61: "pass", 62: "accept", 63: "challenge", 68: "uno", 69: "catch"}[action]


def random_options(chooser):
    if chooser.random() < 0.2:
        return {"rlcard": True, "num_players": chooser.choice([2, 2, 3, 5]), "max_turns": chooser.choice([40, 1000])}
    options = {
        "num_players": chooser.choice([2, 2, 3, 3, 4, 5, 7, 10]), "hand_size": chooser.choice([1, 3, 7, 7, 10]),
        "wild4": chooser.choice(["challenge", "strict"]), "stacking": chooser.choice(["none", "none", "same", "any"]),
        "draw": chooser.choice(["one", "one", "until_playable"]), "scoring": chooser.choice(["winner", "against"]),
        "returns": chooser.choice(["win", "points"]), "uno_call": chooser.choice(["auto", "action"]),
        "max_turns": chooser.choice([30, 200, 1000]), "target": chooser.choice([None, None, 50, 200]),
    }  # fmt: skip
    return options | {name: chooser.random() < 0.3 for name in ("forced_play", "seven_zero", "jump_in")}


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the phases met."""
    chooser, met = random.Random(seed), collections.Counter()
    state = GAME.new_state(seed=seed, **random_options(chooser))
    rows = state.event_log()
    feed, colours = left_draw_pile(state, rows), [COLOUR_CODES[int(state.record.colour)]]
    oracle, lazy = Oracle(state.options, feed, colours), chooser.random() < 0.5
    while not state.is_terminal:
        assert not feed
        assert not oracle.over
        compare(state, oracle)
        legal = state.legal_actions()
        assert {as_oracle_says(action) for action in legal} == oracle.legal()
        met[state.phase] += 1
        action = chooser.choice(legal)
        if lazy and action == actions.DRAW and len(legal) > 1:  # or else games take long
            action = legal[0]
        before = len(rows)
        state.apply(action)
        rows = state.event_log()
        feed += left_draw_pile(state, rows[before:])
        colours[:] = [COLOUR_CODES[int(state.record.colour)]]
        oracle.act(as_oracle_says(action))
    assert oracle.over
    assert state.returns == pytest.approx(oracle.returns)
    assert state.record.scores[: state.num_players].tolist() == oracle.scores
    return met


def compare(state, oracle):
    s = state.record
    assert state.current_player == oracle.to_act
    assert hands_of(state) == [sorted(hand) for hand in oracle.hands]
    assert [CODES[kind] for kind in s.pile[: s.num_pile]] == oracle.discards
    assert sorted(CODES[kind] for kind in s.deck[108 - s.num_stock :]) == sorted(oracle.pile.elements())
    assert int(s.direction) == oracle.sign
    assert state.phase == oracle.question
    if state.phase != "name":
        assert COLOUR_CODES[s.colour] == oracle.colour


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    met = collections.Counter()
    for seed in range(40 * block, 40 * block + (40 if COMPILED else 2)):
        met += check_against_the_oracle(seed)
    if COMPILED:
        assert met.keys() == set(PHASES)


@pytest.mark.slow
def test_three_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 4000):
        check_against_the_oracle(seed)
