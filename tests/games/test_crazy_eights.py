"""Tests of Crazy Eights: paragraphs that the scenario files leave out, an oracle, OpenSpiel, worlds and the rule agent."""

import collections
import random

import pytest
from crazy_eights_oracle import SUITS, Oracle

from cardenvs.core.events import KIND, SOURCE, TOKEN, Op
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.crazy_eights import table
from cardenvs.games.crazy_eights.actions import DRAW, NAME_0, PASS
from cardenvs.games.crazy_eights.state import ANY_SUIT, PACK, SPECIAL_RANKS
from cardenvs.kits.shedding import stock_of

GAME = get_game("crazy_eights_v0")
LABELS = PACK.labels


def hand_of(s, player):
    """The cards of a hand, ascending."""
    return [LABELS[card] for card in sorted(PACK.cards_of(s.hands[player]) + PACK.cards_of(s.doubles[player]))]


def hands_of(state):
    return [hand_of(state.record, p) for p in range(state.num_players)]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def left_stock(state, rows):
    """The cards that left the stock, in order."""
    kinds = GAME.table.kinds
    return [LABELS[row[TOKEN]] for row in rows.tolist() if kinds[row[KIND]].op == Op.MOVE and row[SOURCE] == table.STOCK]


def as_oracle_says(action):
    """An action id as the oracle writes it."""
    if action < DRAW:
        return LABELS[action]
    return {DRAW: "draw", PASS: "pass"}.get(action) or f"name {SUITS[action - NAME_0]}"


def random_options(chooser):
    n = chooser.choice([2, 2, 3, 3, 4, 4, 5, 6, 7])
    special = dict(zip(("skip", "reverse", "draw_two"), chooser.sample(SPECIAL_RANKS[1:], 3), strict=True))
    special = {name: rank for name, rank in special.items() if chooser.random() < 0.7}
    options = {
        "num_players": n, "draw_limit": chooser.choice([1, 3, 5, None]), "start_special": chooser.random() < 0.7,
        "reshuffle": chooser.random() < 0.7, "max_plays": chooser.choice([None, 5, 30, 200]),
        "dealer": chooser.choice([None, n - 1]),
    }  # fmt: skip
    if chooser.random() < 0.25:
        return options | special | {"openspiel": True}
    return options | special | {
        "decks": chooser.choice([None, None, 2]), "hand_size": chooser.choice([None, None, 1, 8]),
        "draw_when_able": chooser.random() < 0.5, "stack": chooser.random() < 0.7,
        "start_eight": chooser.choice(["redraw", "wild"]), "block_passes": chooser.choice([None, 1, 5]),
        "scoring": chooser.choice(["winner_takes", "own_penalty"]), "target": chooser.choice([None, None, 50, 100]),
        "card_points": chooser.choice(["standard", "openspiel"]),
    }  # fmt: skip


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns what was met."""
    chooser, met = random.Random(seed), collections.Counter()
    state = GAME.new_state(seed=seed, **random_options(chooser))
    rows = state.event_log()
    feed, lazy = left_stock(state, rows), chooser.random() < 0.6
    oracle = Oracle(state.options, feed, int(state.record.dealer))
    while not state.is_terminal:
        assert not feed
        assert not oracle.over
        compare(state, oracle)
        legal = state.legal_actions()
        assert {as_oracle_says(action) for action in legal} == oracle.legal()
        action = chooser.choice(legal)
        if lazy and action == DRAW:  # or else games take long
            action = legal[0]
        before = len(rows)
        state.apply(action)
        rows = state.event_log()
        feed += left_stock(state, rows[before:])
        oracle.act(as_oracle_says(action))
    assert oracle.over
    assert state.returns == pytest.approx(oracle.returns)
    assert state.record.scores[: state.num_players].tolist() == oracle.scores
    met.update(GAME.table.kinds[row[KIND]].name for row in rows.tolist())
    return met


def compare(state, oracle):
    s = state.record
    assert state.current_player == oracle.to_act
    assert [sorted(hand) for hand in hands_of(state)] == [sorted(hand) for hand in oracle.hands]
    assert [LABELS[card] for card in s.pile[: s.num_pile]] == oracle.discards
    assert sorted(LABELS[card] for card in stock_of(s)) == sorted(oracle.stock.elements())
    assert (int(s.direction), int(s.owed), int(s.num_drawn)) == (oracle.sign, oracle.owed, oracle.drawn)
    assert (int(s.num_passes), int(s.num_plays), int(s.dealer)) == (oracle.passes, oracle.plays, oracle.dealer)
    assert state.phase == ("name" if oracle.naming else "play")
    assert (None if s.suit == ANY_SUIT else SUITS[s.suit]) == oracle.suit
    assert s.hand_sizes[: oracle.n].tolist() == [len(hand) for hand in oracle.hands]


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    met = collections.Counter()
    for seed in range(60 * block, 60 * block + (60 if COMPILED else 2)):
        met += check_against_the_oracle(seed)
    if COMPILED:
        assert {"go_back", "skip", "direction", "owe", "recycle", "block", "long", "go_out", "name"} <= met.keys()


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 6000):
        check_against_the_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


def check_against_openspiel(pyspiel, seed):
    """Play one random game in both, with the same chance; returns whether OpenSpiel's text agrees on the end."""
    chooser = random.Random(seed)
    n, limit, most = chooser.randint(2, 7), chooser.choice([1, 3, 5]), chooser.choice([20, 100])
    reshuffle, special = chooser.random() < 0.5, chooser.random() < 0.5
    ranks = {"skip": "Q", "reverse": "A", "draw_two": "2"} if special else {}
    state = GAME.new_state(seed=seed, openspiel=True, num_players=n, draw_limit=limit, max_plays=most,
                           reshuffle=reshuffle, **ranks)  # fmt: skip
    theirs = pyspiel.load_game(
        "crazy_eights",
        {"players": n, "max_draw_cards": limit, "max_turns": most, "use_special_cards": special, "reshuffle": reshuffle},
    ).new_initial_state()
    theirs.apply_action(52 + int(state.record.dealer))
    rows = state.event_log()
    feed(theirs, left_stock(state, rows))
    while not state.is_terminal:
        legal = state.legal_actions()
        assert (theirs.current_player(), theirs.legal_actions()) == (state.current_player, legal), seed
        action = chooser.choice(legal)
        before = len(rows)
        state.apply(action)
        theirs.apply_action(action)
        rows = state.event_log()
        feed(theirs, left_stock(state, rows[before:]))
    assert theirs.is_terminal(), seed
    assert state.returns == theirs.returns(), seed
    return state.ply


def feed(theirs, cards):
    for card in cards:
        assert theirs.is_chance_node()
        theirs.apply_action(LABELS.index(card))


@pytest.mark.parametrize("games", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_openspiel_has_the_same_games(games):
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(games if COMPILED else 5):
        check_against_openspiel(pyspiel, seed)
