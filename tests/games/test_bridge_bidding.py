"""Tests of the rule agent of Contract Bridge: its system, its contracts, and its card play."""

import numpy as np
import pytest

from cardenvs.core.registry import get_game
from cardenvs.games.bridge.scoring import imps
from cardenvs.games.bridge.state import call_label
from cardenvs.kits.cards import RANKS

GAME = get_game("bridge_v0")


def deck(*hands):
    """Cards of four hands, each given as in PBN, spades first."""
    texts = (zip(hand.split("."), "shdc", strict=True) for hand in hands)
    return " ".join(rank + suit for hand in texts for ranks, suit in hand for rank in ranks)


def bid_by_rule(state):
    """Bid to the end of the auction; returns the calls as text."""
    calls = []
    while state.phase == "auction" and not state.is_terminal:
        action = state.policy_action("heuristic", 0)
        calls.append(call_label(action))
        state.apply(action)
    return " ".join(calls).replace("pass", "-").replace("double", "X")


@pytest.mark.parametrize(
    ("hands", "auction"),
    [
        # Stayman without a fit, and with one
        (("AQ5.K92.AJ84.Q73", "J3.QJ7.KQ7.T9862", "K842.A653.92.J54", "T976.T84.T653.AK"), "1NT - 2C - 2D - 2NT - - -"),
        (("AQ52.K9.AJ84.Q73", "J3.QJ74.KQ7.T986", "K84.A653.92.KJ54", "T976.T82.T653.A2"), "1NT - 2C - 2S - 3NT - - -"),
        # a transfer of a weak hand
        (("AQ5.K92.AJ84.Q73", "J6.QJ76.KQ7.T982", "K8432.53.932.J54", "T97.AT84.T65.AK6"), "1NT - 2H - 2S - - -"),
        # a weak two, and a takeout double that partner answers
        (("KQT852.4.T93.982", "A43.AJ6.AQ84.Q73", "96.K832.K65.KJ54", "J7.QT975.J72.AT6"), "2S X - 3H - - -"),
        (("KQ852.A4.T93.K82", "43.KJ63.AQ84.AQ7", "J96.82.K65.96543", "AT7.QT975.J72.JT"), "1S X - 3H - 4H - - -"),
        # strong two clubs
        (("AKQ5.AK5.AQJ4.K3", "J3.QJ74.KT7.T986", "T84.8632.932.J54", "976.T9.865.AQ72"), "2C - 2D - 3NT - - -"),
    ],
)
def test_conventions(hands, auction):
    """North deals; nobody is vulnerable."""
    state = GAME.new_state(seed=1, deck=deck(*hands), board=1)
    assert bid_by_rule(state) == auction


def test_calls_are_explained():
    hands = ("AQ5.K92.AJ84.Q73", "J3.QJ7.KQ7.T9862", "K842.A653.92.J54", "T976.T84.T653.AK")
    state = GAME.new_state(seed=1, deck=deck(*hands), board=1)
    bid_by_rule(state)
    meanings = [entry["meaning"] for entry in state.facts(0)["auction"]]
    assert meanings[:5:2] == [
        "balanced, 15 to 17 points",
        "Stayman: asks for a major of four cards, 8 points or more",
        "no major of four cards, 15 to 17 points",
    ]
    state = GAME.new_state(seed=1, board=1)
    for label in ("1S", "pass", "2S", "3H"):
        state.apply(state.action_from_label(label))
    meanings = [entry["meaning"] for entry in state.facts(3)["auction"]]
    assert meanings[0] == "opening bid, 12 to 21 points, at least 5 spades"
    assert meanings[2] == "raise, 6 to 9 points, at least 3 spades"
    assert meanings[3].startswith("overcall, 14 to 17 points")


def test_hands_for_a_game_are_bid_to_it_and_weak_ones_are_not():
    """Of sides with 27 points that play the contract undoubled, nine in ten are in game; hardly a slam has fewer."""
    strong, missed, weak_slams, num_games = 0, 0, 0, 0
    for seed in range(400):
        state = GAME.new_state(seed=seed)
        hands = state.record.hands
        bid_by_rule(state)
        contract = state.facts(0)["contract"]
        if contract is None:
            continue
        declarer, level = int(contract["declarer"][-1]), int(contract["bid"][0])
        points = high_cards(hands[declarer]) + high_cards(hands[(declarer + 2) % 4])
        is_game = level >= (3 if contract["bid"][1] == "N" else 4 if contract["bid"][1] in "♥♠" else 5)
        num_games += is_game
        strong += points >= 27 and not contract["doubled"]
        missed += points >= 27 and not contract["doubled"] and not is_game
        weak_slams += level >= 6 and points < 27
    assert missed <= strong / 10, (missed, strong)
    assert weak_slams <= 4, weak_slams
    assert num_games > 80


def high_cards(hand):
    return sum({"A": 4, "K": 3, "Q": 2, "J": 1}.get(RANKS[card % 13], 0) for card in range(52) if int(hand) >> card & 1)


@pytest.mark.parametrize(("other", "least"), [("pass", 1.0), ("random", 10.0)])
def test_the_bidder_beats_others_on_the_same_deals(other, least):
    """IMPs a board when it holds the cards of North and South at one table and those of East and West at the other."""
    won = []
    for seed in range(150):
        points = []
        for side in (0, 1):
            state = GAME.new_state(seed=seed, phase="auction")
            while not state.is_terminal:
                if state.current_player % 2 == side:
                    state.apply(state.policy_action("heuristic", 0))
                else:
                    state.apply(0 if other == "pass" else state.policy_action("random", 1000 * seed + state.ply))
            points.append(int(state.returns[0]))
        won.append(int(imps(points[0] - points[1])))
    assert np.mean(won) - 2 * np.std(won) / len(won) ** 0.5 > least


def test_the_heuristic_beats_random_cards():
    """The same contracts, once defended and once declared by the rule player."""
    margin = []
    for seed in range(60):
        tricks = []
        for side in (0, 1):
            state = GAME.new_state(seed=seed, phase="play")
            declaring = int(state.record.declarer) % 2
            while not state.is_terminal:
                policy = "heuristic" if (state.current_player % 2 == declaring) == (side == 0) else "random"
                state.apply(state.policy_action(policy, 1000 * seed + state.ply))
            tricks.append(state.facts(0)["results"][0]["tricks"])
        margin.append(tricks[0] - tricks[1])
    assert np.mean(margin) > 1.5
