"""Tests of Blackjack: paragraphs that the scenario files leave out, an oracle, the libraries, worlds and exact values."""

import collections
import random

import numpy as np
import pytest
from blackjack_oracle import RANKS, Oracle
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.registry import get_game
from cardenvs.games.blackjack import heuristic, rules
from cardenvs.games.blackjack.state import NO_CARD, cards_in, most_cards

GAME = get_game("blackjack_v0")
GYMNASIUM = {"decks": 0, "naturals": "none", "peek": False, "hit_21": True, "double": "none", "max_hands": 1}
ONE_DECK = GYMNASIUM | {"decks": 1}


def played(deck=None, *labels, **options):
    """The state after some actions on explicit cards."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


def random_options(chooser):
    """Options of all kinds that fit together."""
    while True:
        naturals = chooser.choice(["casino", "casino", "casino", "none", "natural", "sab"])
        peek = naturals == "casino" and chooser.random() < 0.6
        try:
            return GAME.make_options(
                num_players=chooser.choice([1, 1, 2, 3, 7]),
                decks=chooser.choice([0, 1, 2, 6, 8]),
                penetration=chooser.choice([0, 0, 50]),
                dealer_soft17=chooser.choice(["stand", "hit"]),
                naturals=naturals,
                blackjack_pays=chooser.choice(["3:2", "6:5", "1:1"]),
                peek=peek,
                obo=naturals == "casino" and not peek and chooser.random() < 0.5,
                hit_21=chooser.random() < 0.3,
                double=chooser.choice(["any_two", "9_11", "10_11", "none"]),
                double_after_split=chooser.random() < 0.5,
                max_hands=chooser.choice([1, 2, 4, 4]),
                split_by=chooser.choice(["value", "rank"]),
                resplit_aces=chooser.random() < 0.5,
                split_aces_one_card=chooser.random() < 0.5,
                surrender=chooser.choice(["none", "late"]),
                insurance=naturals == "casino" and chooser.random() < 0.5,
                rounds=chooser.choice([1, 1, 3]),
                bet_units=chooser.choice([(), (), (1, 5), (2, 3, 100)]),
            )
        except OptionError:
            continue


def favours_pairs(chooser, number):
    """Cards with many aces, tens and eights, which make blackjacks and pairs."""
    return [chooser.choice("AATTTJQK88" + RANKS) for _ in range(number)]


# -- the oracle -----------------------------------------------------------------------------------------------------


def shoe_order(state):
    """Card texts in the order in which they have come, from the events."""
    kinds = {"deal", "draw", "dealer_up", "dealer_hole", "dealer_draw"}
    return [RANKS[event.token] for event in state.events() if event.kind.removesuffix("_new") in kinds]


def compare_with_oracle(options, seed):
    """Play at random, and compare every decision and the returns."""
    chooser = random.Random(seed)
    deck = None
    if options.decks == 0:
        deck = [RANKS.index(card) for card in favours_pairs(chooser, 60)]
    state = GAME.new_state(seed=seed, deck=deck, **options.as_dict())
    script = []
    while not state.is_terminal:
        action = chooser.choice([a for a in state.legal_actions() for _ in range(1 + 2 * (a in (2, 3)))])
        shown = [[cards_in(state.record.hands[p, h]) for h in range(4)] for p in range(state.num_players)]
        script.append((state.current_player, int(state.record.hand), labels(state), state.action_label(action), shown))
        state.apply(action)
    oracle = Oracle(options, shoe_order(state))
    for player, hand, legal, label, shown in script:
        assert not oracle.over
        assert oracle.question() == (player, hand, legal)
        for p, hands in enumerate(oracle.hands):
            for h, one in enumerate(hands):
                assert sorted(one.cards, key=RANKS.index) == [RANKS[card] for card in shown[p][h]]
        oracle.act(label)
    assert oracle.over and state.returns == pytest.approx(oracle.returns)


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    for seed in range(100 * block, 100 * block + 100):
        compare_with_oracle(random_options(random.Random(seed)), seed)


@pytest.mark.slow
def test_ten_thousand_games_agree_with_the_oracle():
    for seed in range(10_000, 20_000):
        compare_with_oracle(random_options(random.Random(seed)), seed)
