"""Tests of Hanabi: paragraphs that the scenario files leave out, an oracle, OpenSpiel, worlds and the rule agent."""

import collections
import itertools
import random

import numpy as np
import pytest
from hanabi_oracle import Oracle, whole_deck
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import LABELS

GAME = get_game("hanabi_v0")
FULL = "R1 Y1 G2 W5 B3  R2 R1 Y3 G1 W1  B1 G1 W2"
TINY = {"colors": 2, "ranks": 2, "hand_size": 2, "max_information_tokens": 2, "max_life_tokens": 2}


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck. "hint red" is a hint to the next player."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        act(state, label)
    return state


def act(state, label):
    if label.startswith("hint ") and "player" not in label:
        label = f"hint player_{(state.current_player + 1) % state.num_players} {label[5:]}"
    state.apply(state.action_from_label(label))


def hands_of(state):
    return [[LABELS[card] for card in st.hand_of(state.record, p)] for p in range(state.num_players)]


def random_options(chooser):
    """Options of a game, often unusual ones."""
    while True:
        given = {"num_players": chooser.randint(2, 5), "preset": chooser.choice(["full", "full", "small", "very_small"])}
        if chooser.random() < 0.5:
            given |= {
                "colors": chooser.randint(1, 5), "ranks": chooser.randint(1, 5), "hand_size": chooser.randint(1, 5),
                "max_information_tokens": chooser.randint(1, 8), "max_life_tokens": chooser.randint(1, 3),
            }  # fmt: skip
        given |= {
            "bomb_score": chooser.choice(["zero", "count"]), "empty_hints": chooser.random() < 0.3,
            "discard_at_max": chooser.random() < 0.3, "start_player": chooser.choice(["0", "random"]),
            "rainbow": chooser.choice(["off", "suit", "wild"]),
        }  # fmt: skip
        try:
            GAME.make_options(**given)
        except OptionError:
            continue
        return given


# ---------------------------------------------------------------------------------------------------------------
# The oracle


def check_against_oracle(seed):
    """Play a random game, in which cards that can be played often are, beside the oracle."""
    chooser = random.Random(seed)
    given = random_options(chooser)
    options = GAME.make_options(**given)
    deck = whole_deck(options.colors, options.ranks, options.rainbow)
    chooser.shuffle(deck)
    state = GAME.new_state(seed=seed, deck=" ".join(deck), **given)
    theirs = Oracle(deck, options, state.current_player)
    careful = chooser.random()
    while not state.is_terminal:
        assert not theirs.over and state.current_player == theirs.player
        labels = {state.action_label(action): action for action in state.legal_actions()}
        assert sorted(labels) == sorted(theirs.legal())
        label = chooser.choice(theirs.legal())
        if label.startswith("play") and chooser.random() < careful:
            held = theirs.hands[theirs.player][int(label[5:]) - 1]["card"]
            if int(held[1]) != 1 + sum(card[0] == held[0] for card in theirs.fireworks):
                continue
        state.apply(labels[label])
        theirs.act(label)
        s = state.record
        assert hands_of(state) == [[held["card"] for held in hand] for hand in theirs.hands]
        assert (s.information, s.lives, st.score_of(s)) == (theirs.tokens, theirs.lives, theirs.score())
        assert (s.turns_left, st.in_stock(s)) == (theirs.turns_left or 0, len(theirs.stock))
        assert set(state.rewards) == {theirs.rewards}
        piles = table_texts(state.view(SPECTATOR))["piles"]
        assert sorted(piles["discards"]) == sorted(theirs.discards)
        assert sorted(piles["fireworks"]) == sorted(theirs.fireworks)
        for p in range(state.num_players):
            for k, can_be in enumerate(theirs.can_be(p)):
                fits = int(st.possible(s, p, k))
                assert {label for card, label in enumerate(LABELS) if fits >> 2 * card & 1} == can_be
    assert theirs.over and set(state.returns) == {theirs.returns}
    return state.returns[0]


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    number = 60 if COMPILED else 3
    assert any([check_against_oracle(seed) for seed in range(block * number, (block + 1) * number)])


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 6000):
        check_against_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# OpenSpiel


def openspiel_card(card, options):
    return int("RYGWB".index(card[0])) * options.ranks + int(card[1]) - 1


def check_against_openspiel(pyspiel, seed):
    """Play the same random game in OpenSpiel; observations are equal bit for bit. Returns the number of decisions."""
    chooser = random.Random(seed)
    minimal, n = chooser.random() < 0.3, chooser.randint(2, 5)
    sizes = [{}, {"preset": "small"}, {"preset": "very_small"}, {"colors": 3, "ranks": 4}][chooser.randrange(4)]
    if sizes.get("preset") == "very_small":
        n = min(n, 4)
    given = sizes | {"num_players": n, "encoding": "canonical_minimal" if minimal else "canonical"}
    options = GAME.make_options(**given)
    deck = whole_deck(options.colors, options.ranks, "off")
    chooser.shuffle(deck)
    state = GAME.new_state(seed=seed, deck=" ".join(deck), **given)
    theirs = pyspiel.load_game("hanabi", {
        "players": n, "colors": options.colors, "ranks": options.ranks, "hand_size": options.hand_size,
        "max_information_tokens": options.max_information_tokens, "max_life_tokens": options.max_life_tokens,
        "observation_type": "minimal" if minimal else "card_knowledge",
    })  # fmt: skip
    assert theirs.num_distinct_actions() == GAME.num_actions(options)
    assert theirs.observation_tensor_shape() == [GAME.layout(options).size]
    theirs, stock, decisions, careful = theirs.new_initial_state(), iter(deck), 0, chooser.random()
    while True:
        while theirs.is_chance_node():
            theirs.apply_action(openspiel_card(next(stock), options))
        assert theirs.is_terminal() == state.is_terminal
        for p in range(n):
            assert (np.array(theirs.observation_tensor(p), np.int8) == state.observation(p)).all()
        assert list(theirs.rewards()) == list(state.rewards)
        if state.is_terminal:
            break
        assert theirs.current_player() == state.current_player
        assert theirs.legal_actions() == state.legal_actions()
        action = chooser.choice(state.legal_actions())
        place = action - options.hand_size
        if 0 <= place < options.hand_size and chooser.random() < careful:
            s = state.record
            if not int(s.playable) >> 2 * int(s.hands[state.current_player, place]) & 1:
                continue
        theirs.apply_action(action)
        state.apply(action)
        decisions += 1
    assert list(theirs.returns()) == list(state.returns)
    return decisions


def test_openspiel_has_the_same_games_and_observations():
    pyspiel = pytest.importorskip("pyspiel")
    assert sum(check_against_openspiel(pyspiel, seed) for seed in range(60 if COMPILED else 2)) > 50


@pytest.mark.slow
def test_openspiel_has_the_same_two_thousand_games():
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(100, 2100):
        check_against_openspiel(pyspiel, seed)
