"""The solver that knows the order of the deck, against trying everything, and against play by the rules."""

import functools
import itertools
import random

import numpy as np
import pytest

from cardenvs.core.registry import get_game
from cardenvs.games.one_player_poker.rules import MODEL_POINTS, POINTS
from cardenvs.kits.poker_hands import best_category
from cardenvs.tools.one_player_poker.calibration.solver import most_points

GAME = get_game("one_player_poker_v0")


def by_trying_everything(deck, plays, discards, table):
    """The best total over all sequences of plays and discards, card by card."""

    @functools.cache
    def points(five):
        return int(table[best_category(np.int64(sum(1 << card for card in five)))])

    @functools.cache
    def best(hand, seen, plays, discards):
        if plays == 0:
            return 0
        found = 0
        for five in itertools.combinations(sorted(hand), 5):
            after = (hand - set(five)) | set(deck[seen : seen + 5])
            found = max(found, points(five) + best(after, seen + 5, plays - 1, discards))
        for n in range(1, min(discards, 7) + 1):
            for chosen in itertools.combinations(hand, n):
                after = (hand - set(chosen)) | set(deck[seen : seen + n])
                found = max(found, best(after, seen + n, plays, discards - n))
        return found

    return best(frozenset(deck[:7]), 7, plays, discards)


@pytest.mark.parametrize(("plays", "discards", "number"), [(1, 0, 20), (1, 4, 6), (2, 0, 10), (2, 2, 4), (3, 0, 2)])
def test_it_finds_what_trying_everything_finds(plays, discards, number):
    draw = random.Random(10 * plays + discards)
    for _ in range(number):
        cards = draw.sample(range(52), 24)  # a short deck, in which much can be made
        if draw.random() < 0.5:
            cards = draw.sample([card for card in range(52) if card % 13 < 6], 22)
        for model, table in ((True, MODEL_POINTS), (False, POINTS)):
            expected = by_trying_everything(tuple(cards), plays, discards, table)
            assert most_points(np.array(cards), plays, discards, model) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("plays", "discards"), [(3, 2), (2, 4), (1, 9)])
def test_it_finds_what_trying_everything_finds_in_longer_games(plays, discards):
    draw = random.Random(1)
    for _ in range(3):
        cards = draw.sample(range(52), 30)
        for model, table in ((True, MODEL_POINTS), (False, POINTS)):
            expected = by_trying_everything(tuple(cards), plays, discards, table)
            assert most_points(np.array(cards), plays, discards, model) == expected


def test_nobody_scores_more():
    for seed in range(100):
        state = GAME.new_state(seed=seed)
        deck = np.array(state.record.deck)
        most = {"model_score": most_points(deck), "score": most_points(deck, model=False)}
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic", state.ply))
        assert all(state.facts(0)[name] <= best for name, best in most.items())


def test_other_cards_behind_the_last_one_change_nothing():
    deck = np.array(random.Random(3).sample(range(52), 52))
    other = np.concatenate([deck[:37], deck[37:][::-1]])
    assert most_points(deck) == most_points(other) == most_points(deck[:37])


def test_a_straight_flush_counts_as_a_flush_unless_asked_otherwise():
    deck = np.array([0, 1, 2, 3, 4, 20, 35, *range(40, 52)])
    assert most_points(deck, plays=1, discards=0) == 360
    assert most_points(deck, plays=1, discards=0, model=False) == 999_999
