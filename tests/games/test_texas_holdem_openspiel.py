"""Heads-up Texas hold'em against OpenSpiel's universal_poker with the fcpa abstraction, action by action."""

import random
from collections import Counter

import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.games.texas_holdem import GAME
from cardenvs.kits.cards import NUM_CARDS, card_label

pyspiel = pytest.importorskip("pyspiel")

THEIR_RANKS, THEIR_SUITS = "23456789TJQKA", "cdhs"
SMALL_BLIND, BIG_BLIND = 50, 100


def their_card(label):
    return THEIR_RANKS.index(label[0]) * 4 + THEIR_SUITS.index(label[1])


def load(stacks):
    """Their player 0 has the big blind, which is our seat 1."""
    return pyspiel.load_game(
        "universal_poker(betting=nolimit,bettingAbstraction=fcpa,numPlayers=2,numRounds=4,"
        f"blind={BIG_BLIND} {SMALL_BLIND},firstPlayer=2 1 1 1,numSuits=4,numRanks=13,numHoleCards=2,"
        f"numBoardCards=0 3 1 1,stack={stacks[1]} {stacks[0]})"
    )


def play(game, stacks, seed, seen):
    chooser = random.Random(seed)
    cards = [card_label(card) for card in chooser.sample(range(NUM_CARDS), 9)]
    ours = GAME.new_state(
        seed=0, num_players=2, format="cash", betting="fcpa", blinds=(SMALL_BLIND, BIG_BLIND), stacks=stacks,
        deck=" ".join(cards),
    )  # fmt: skip
    theirs = game.new_initial_state()
    to_deal = [their_card(label) for label in (*cards[2:4], *cards[0:2], *cards[4:])]
    while not theirs.is_terminal():
        if theirs.is_chance_node():
            theirs.apply_action(to_deal.pop(0))
            continue
        assert ours.current_player == 1 - theirs.current_player()
        assert ours.legal_actions() == theirs.legal_actions()
        weights = [1, 6, 3, 1]
        action = chooser.choices(ours.legal_actions(), [weights[a] for a in ours.legal_actions()])[0]
        seen[action] += 1
        ours.apply(action)
        theirs.apply_action(action)
    assert ours.is_terminal
    assert ours.returns == theirs.returns()[::-1]
    seen["board", int(ours.record.street)] += 1


def test_hands_are_openspiels():
    seen = Counter()
    for k, stacks in enumerate(([20_000, 20_000], [2000, 2000], [2000, 1500], [700, 5000], [250, 300])):
        game = load(stacks)
        for seed in range(80 if COMPILED else 5):
            play(game, stacks, 1000 * k + seed, seen)
    if COMPILED:
        assert min(seen[action] for action in range(4)) >= 30, seen
        assert seen["board", 3] >= 30, seen
