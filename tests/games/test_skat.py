"""Tests of Skat: an oracle, OpenSpiel, worlds, the score, and what the scenario files leave out."""

import collections
import itertools
import os
import random

import pytest
from scipy.special import chdtrc
from skat_oracle import GAMES, LEVELS, Oracle, count_tops
from skat_oracle import VALUES as ORACLE_VALUES

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.games.skat import cards
from cardenvs.games.skat.state import (
    ANNOUNCE_0,
    BID_VALUES,
    GRAND,
    HAND,
    NAME_0,
    NUM_CARDS,
    PACK,
    PASS,
    TAKE,
    VALUE_0,
    YES,
)

GAME = get_game("skat_v0")
OPTIONS = {
    "bidding": ["value", "value", "value", "openspiel"], "jump_bids": [True, False],
    "all_pass": ["thrown_in", "ramsch"], "ramsch_skat": ["last_trick", "loser", "out"],
    "ramsch_tie": ["both", "last_trick"], "scoring": ["plain", "seeger_fabian"], "deals": [1, 1, 2, 3],
}  # fmt: skip


def hand_of(text):
    """The cards of a text such as "TKQc A9d"."""
    return [rank + group[-1] for group in text.split() for rank in group[:-1]]


def played(hands, *actions, **options):
    """The state after some actions on hands of all players and the skat, as in "TKQc A9d"."""
    deck = " ".join(card for hand in hands for card in hand_of(hand))
    state = GAME.new_state(seed=1, deck=deck, **options)
    for text in actions:
        state.apply(action_of(text))
    return state


def action_of(text):
    """The id of an action in the words of the oracle: a number, a card or a word."""
    if isinstance(text, int):
        return VALUE_0 + BID_VALUES.index(text)
    if text in PACK.labels:
        return PACK.labels.index(text)
    if text in GAMES:
        return NAME_0 + GAMES.index(text)
    if text in LEVELS:
        return ANNOUNCE_0 + LEVELS.index(text)
    return {"pass": PASS, "yes": YES, "take the skat": TAKE, "play hand": HAND}[text]


def text_of(action):
    """An action in the words of the oracle."""
    if action < NUM_CARDS:
        return PACK.labels[action]
    if VALUE_0 <= action < TAKE:
        return BID_VALUES[action - VALUE_0]
    if NAME_0 <= action < ANNOUNCE_0:
        return GAMES[action - NAME_0]
    if action >= ANNOUNCE_0:
        return LEVELS[action - ANNOUNCE_0]
    return {PASS: "pass", YES: "yes", TAKE: "take the skat", HAND: "play hand"}[action]


def legal(state):
    return [text_of(action) for action in state.legal_actions()]


def labels(bits):
    return [PACK.labels[card] for card in PACK.cards_of(bits)]


def random_options(chooser):
    chosen = {name: chooser.choice(values) for name, values in OPTIONS.items()}
    if chosen["bidding"] == "openspiel":
        chosen |= {"jump_bids": True, "all_pass": "thrown_in", "scoring": "plain"}
    return chosen


def random_action(state, chooser):
    """A random action with short auctions, in which many values would be passed over otherwise."""
    actions = state.legal_actions()
    if PASS in actions and chooser.random() < 0.5:
        return PASS
    if len(actions) > 1 and VALUE_0 <= actions[1] < TAKE and chooser.random() < 0.8:
        return chooser.choice(actions[1:6])
    return chooser.choice(actions)


# ---------------------------------------------------------------------------------------------------------------
# The oracle


def check_against_oracle(seed):
    """Play a random game on both; returns what was played in its last deal."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    state, oracle = GAME.new_state(seed=seed, **options), Oracle(**options)
    begin_deal(state, oracle)
    while not state.is_terminal:
        player, actions = oracle.legal()
        assert state.current_player == player
        assert sorted(legal(state), key=str) == sorted(actions, key=str)
        is_legal = set(state.legal_actions())
        for action in chooser.sample(range(109), 5):
            assert (state.explain_illegal(action) == "") == (action in is_legal)
        action = random_action(state, chooser)
        is_over = oracle.act(text_of(action))
        state.apply(action)
        if is_over:
            assert state.returns == pytest.approx([float(value) for value in oracle.returns])
            oracle.done += 1
            assert state.is_terminal == (oracle.done == options["deals"])
            if not state.is_terminal:
                begin_deal(state, oracle)
    return oracle.game, oracle.hand_game, oracle.level, oracle.soloist


def begin_deal(state, oracle):
    oracle.begin_deal([labels(bits) for bits in state.record.hands], labels(state.record.skat))


def test_values_are_those_that_games_can_have():
    assert list(BID_VALUES) == ORACLE_VALUES


def test_oracle_agrees():
    seen = collections.Counter(check_against_oracle(seed) for seed in range(600 if COMPILED else 60))
    if COMPILED:
        games = {game for game, *_ in seen}
        assert games >= set(GAMES)
        assert any(soloist is None and game for game, *_, soloist in seen)
        assert {level for *_, level, _ in seen} >= set(LEVELS)


@pytest.mark.slow
def test_oracle_agrees_on_many_games():
    for seed in range(1000, 15_000):
        check_against_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# OpenSpiel, whose games have the ids 33 to 38


def their_deal(pyspiel, chooser):
    """A deal of OpenSpiel, and the same one here."""
    theirs = pyspiel.load_game("skat").new_initial_state()
    while theirs.is_chance_node():
        theirs.apply_action(chooser.choice(theirs.legal_actions()))
    return theirs


def deck_of(theirs):
    """The hands and the skat of a deal of OpenSpiel, which deals 3 each, 2 to the skat, 4 each, 3 each."""
    order = theirs.history()[:NUM_CARDS]
    hands = [[*order[3 * p :][:3], *order[11 + 4 * p :][:4], *order[23 + 3 * p :][:3]] for p in range(3)]
    return [card for hand in hands for card in hand] + order[9:11]


def check_against_openspiel(seed):
    """Play a random deal on both; returns the game."""
    pyspiel, chooser = pytest.importorskip("pyspiel"), random.Random(seed)
    theirs = their_deal(pyspiel, chooser)
    deck = " ".join(PACK.labels[card] for card in deck_of(theirs))
    ours = GAME.new_state(seed=1, deck=deck, bidding="openspiel")
    game = None
    while not theirs.is_terminal():
        assert not ours.is_terminal
        assert theirs.current_player() == ours.current_player
        is_naming = PASS in ours.legal_actions()
        to_theirs = {action: action - NAME_0 + PASS + 1 if action >= NAME_0 else action for action in ours.legal_actions()}
        assert sorted(to_theirs.values()) == theirs.legal_actions()
        action = chooser.choice(list(to_theirs))
        if is_naming and action != PASS:
            game = text_of(action)
        ours.apply(action)
        theirs.apply_action(to_theirs[action])
    assert ours.is_terminal
    assert ours.returns == pytest.approx(theirs.returns(), abs=1e-9)
    return game


def test_deals_agree_with_openspiel():
    found = collections.Counter(check_against_openspiel(seed) for seed in range(300 if COMPILED else 20))
    if COMPILED:
        assert set(found) >= set(GAMES)


@pytest.mark.slow
def test_many_deals_agree_with_openspiel():
    for seed in range(1000, 6000):
        check_against_openspiel(seed)
