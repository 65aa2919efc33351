"""Tests of liar's dice: each paragraph of rules.md, worked examples, OpenSpiel's game, and the conformance suite."""

import collections
import itertools
import random

import numpy as np
import pytest
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.testing import check_game

from liars_dice import GAME
from liars_dice.policy import holds_probability


def played(hands, actions="", **options):
    """The state after some actions (labels) with explicit dice: "3|6" are a three of player 0 and a six of player 1."""
    rolls = [hand.split() for hand in hands.split("|")]
    options = {"num_players": len(rolls), "dice": len(rolls[0]), **options}
    state = GAME.new_state(seed=1, deck=" ".join(itertools.chain(*rolls)), **options)
    for label in actions.split():
        state.apply(state.action_from_label(label))
    return state


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


def test_1_2_players_see_their_own_dice_only():
    counters = table_texts(played("1 5 5|2 2 6").view(0))["counters"]
    assert counters["dice"] == ["⚀ ⚄ ⚄", "▢ ▢ ▢"]
    assert counters["num_dice"] == [3, 3]
    assert "player_1 rolls." in played("1 5 5|2 2 6").recap(0)


@pytest.mark.parametrize(
    ("hands", "bid", "holds", "options"),
    [
        ("3|6", "2-3", True, {}), ("3|5", "2-3", False, {}),
        ("2 6|2 1", "3-2", True, {}), ("2 1|2 1", "3-2", False, {}),
        ("6|6", "2-6", True, {}), ("6|6", "2-1", True, {}),
        ("1 2 3 4 5|6 6 2 2 2", "6-2", True, {}), ("1 2 3 4 5|6 6 2 2 2", "7-2", False, {}),
        ("3|4", "2-3", True, {"sides": 4}),
        ("1 2 5|1 1 5", "5-5", True, {"wild": "ones"}), ("1 2 3|1 1 5", "3-1", True, {"wild": "ones"}),
        ("1 2 3|1 1 5", "4-5", True, {"wild": "ones"}), ("1 2 3|1 1 5", "4-1", False, {"wild": "ones"}),
        ("2 6|2 1", "2-2", True, {"wild": "none"}), ("2 6|2 1", "3-2", False, {"wild": "none"}),
    ],
)  # fmt: skip
def test_1_3_wild_dice_count_for_every_face(hands, bid, holds, options):
    assert played(hands, f"{bid} liar", **options).returns == ([1, -1] if holds else [-1, 1])


def test_2_1_the_starter_must_bid():
    assert labels(played("3|6")) == [f"{quantity}-{face}" for quantity in (1, 2) for face in range(1, 7)]
    assert "no bid to call" in played("3|6").explain_illegal(12)


def test_2_2_quantity_first():
    state = played("3|5", "1-4")
    assert labels(state) == ["1-5", "1-6", *(f"2-{face}" for face in range(1, 7)), "liar"]
    assert "higher than 1-4" in state.explain_illegal(2)


def test_2_3_face_first():
    state = played("3|5", "2-3", bidding="face_first")
    assert labels(state) == ["1-4", "2-4", "1-5", "2-5", "1-6", "2-6", "liar"]
    state.apply(state.action_from_label("1-4"))
    state.apply(state.action_from_label("liar"))
    assert state.returns == [1, -1]  # no four: player 1's bid fails


def test_2_4_the_highest_bid_leaves_only_a_call():
    assert labels(played("3|5", "2-6")) == ["liar"]


def test_2_5_halved_ones():
    options = {"wild": "ones", "ones_bids": "halved"}
    fives = "1 2 3 4 5|1 2 3 4 5"
    after_fours = labels(played(fives, "5-4", **options))
    assert "3-1" in after_fours
    assert "2-1" not in after_fours
    after_ones = labels(played(fives, "5-4 3-1", **options))
    assert {"7-2", "4-1"} <= set(after_ones)
    assert "6-6" not in after_ones
    assert "3-1" not in labels(played(fives, open_on_ones=False, **options))
    assert "first bid may not be on ones" in played(fives, open_on_ones=False, **options).explain_illegal(0)
    with pytest.raises(OptionError, match="ones_bids=halved needs wild=ones"):
        GAME.make_options(ones_bids="halved")


def test_3_1_all_dice_are_shown_after_a_call():
    state = played("1 5 5|2 2 6", "2-5 liar")
    assert table_texts(state.view(0))["counters"]["dice"] == ["⚀ ⚄ ⚄", "⚁ ⚁ ⚅"]
    assert "player_1 shows ⚁ ⚁ ⚅." in state.recap(0)


@pytest.mark.parametrize(("bid", "result"), [("4-2", [-1, 1]), ("3-2", [1, -1]), ("5-2", [1, -1])])
def test_3_2_an_exact_call(bid, result):
    assert played("2 2 1|2 6 5", f"{bid} exact", exact_call=True).returns == result


def test_4_1_three_players_one_bidding():
    assert played("6|6|1", "1-1 liar").returns == [1, -1, 0]


def test_4_2_elimination():
    state = played("6|6|1", "1-1 liar", format="elimination")
    assert table_texts(state.view(0))["counters"]["num_dice"] == [1, 0, 1]
    assert state.current_player == 2  # 4.5: the loser is out, so the next one starts
    assert max(int(label.split("-")[0]) for label in labels(state)) == 2
    state.apply(state.action_from_label("2-6"))
    state.apply(state.action_from_label("liar"))
    assert state.is_terminal
    assert sorted(state.returns) == [-0.5, -0.5, 1]


def test_4_3_a_difference_of_two_costs_two_dice():
    options = {"format": "elimination", "loss": "difference", "wild": "none"}
    too_high = played("3 3 1|3 3 1", "6-3 liar", **options)
    assert table_texts(too_high.view(0))["counters"]["num_dice"] == [1, 3]
    too_low = played("3 3 1|3 3 1", "3-3 liar", **options)
    assert table_texts(too_low.view(0))["counters"]["num_dice"] == [3, 2]
    right = played("3 3 1|3 3 1", "4-3 liar", **options)
    assert table_texts(right.view(0))["counters"]["num_dice"] == [3, 2]


def test_4_4_and_4_5_an_exact_call_wins_a_die_back():
    options = {"format": "elimination", "exact_call": True, "wild": "none"}
    state = played("2 1|2 1", "2-2 exact", **options)
    assert table_texts(state.view(0))["counters"]["num_dice"] == [2, 2]  # no more than at the start
    assert state.current_player == 1
    state = played("2 1|2 1", "1-2 exact", **options)
    assert table_texts(state.view(0))["counters"]["num_dice"] == [2, 1]
    call_exactly(state)  # player 1, who starts, bids; player 0 calls
    assert table_texts(state.view(0))["counters"]["num_dice"] == [2, 1]
    call_exactly(state)  # player 0 has called, and bids
    assert table_texts(state.view(0))["counters"]["num_dice"] == [2, 2]


def call_exactly(state):
    """Bid what is on the table, and call it exact."""
    counts = state.record.dice.sum(axis=0)
    state.apply(state.action_from_label(f"{counts.max()}-{counts.argmax() + 1}"))
    state.apply(state.action_from_label("exact"))


def test_4_6_palifico():
    options = {"format": "elimination", "palifico": True}
    state = played("6 1|5 5", "4-6 liar", **options)  # player 0 is down to one die
    assert table_texts(state.view(0))["counters"]["num_dice"] == [1, 2]
    assert "No dice are wild" in state.recap(1)[-1]
    state.apply(state.action_from_label("1-3"))
    assert labels(state) == ["2-3", "3-3", "liar"]
    assert "on the face 3" in state.explain_illegal(6 + 3)
    assert state.facts(1)["wild_face"] is None


def test_4_7_exact_calls_cannot_prolong_a_game_forever():
    state = GAME.new_state(seed=5, dice=2, num_players=2, format="elimination", exact_call=True, wild="none")
    while not state.is_terminal:
        call_exactly(state)
    assert state.returns == [0, 0]
    assert state.ply == 400


def test_5_1_forfeits():
    single = played("3|6|1", "1-1")
    single.apply(FORFEIT + 1)
    assert single.returns == [0.5, -1, 0.5]
    left = played("3|6|1", "1-1", format="elimination")
    left.apply(FORFEIT + 1)
    assert not left.is_terminal
    assert left.current_player == 2
    left.apply(FORFEIT + 2)
    assert left.returns == [1, -0.5, -0.5]


def test_five_players_with_five_dice():
    options = GAME.make_options(num_players=5)
    assert GAME.num_actions(options) == 151
    state = GAME.new_state(seed=1, num_players=5)
    assert state.action_label(149) == "25-6"
    assert state.action_label(150) == "liar"


def test_the_chance_that_a_bid_holds_is_that_of_all_rolls():
    state = played("3 4|1 1", sides=4)
    for quantity, face in itertools.product(range(1, 5), range(1, 5)):
        holds = [
            sum(die in (face, 4) for die in (3, 4, *other)) >= quantity
            for other in itertools.product(range(1, 5), repeat=2)
        ]
        assert holds_probability(state.record, 0, quantity, face) == pytest.approx(np.mean(holds))


def test_the_dice_that_a_player_does_not_see_are_rolled_uniformly():
    state = played("3 4|1 1", sides=4)
    sums = collections.Counter()
    for seed in range(3200):
        twin = state.determinize(0, seed)
        assert twin.view(0) == state.view(0)
        sums[table_texts(twin.view(1))["counters"]["dice"][1]] += 1
    assert len(sums) == 10
    chances = [1 if len(set(dice.split())) == 1 else 2 for dice in sums]  # a pair comes one way, other dice two ways
    expected = [chance * 3200 / 16 for chance in chances]
    assert sum((n - e) ** 2 / e for n, e in zip(sums.values(), expected, strict=True)) < 27.9  # chi-square(9), 0.001


def test_explicit_rolls_are_checked():
    with pytest.raises(DeckError, match="the first roll has 2 dice; got 3"):
        GAME.new_state(seed=1, dice=1, deck="1 2 3")
    with pytest.raises(DeckError, match="token 7 is not in this game"):
        GAME.new_state(seed=1, dice=1, deck="8")


def test_the_heuristic_wins_against_random_players():
    won = 0
    for seed in range(400):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        won += state.returns[seed % 2] > 0
    assert won > 300


@pytest.mark.parametrize(
    ("name", "options"),
    [("liars_dice", {}), ("liars_dice(bidding_rule=reset-quantity)", {"bidding": "face_first"})],
)
@pytest.mark.parametrize(("dice", "sides"), [(1, 6), (2, 6), (3, 4)])
def test_openspiel_plays_the_same_game(name, options, dice, sides):
    pyspiel = pytest.importorskip("pyspiel")
    arguments = f"numdice={dice},dice_sides={sides}"
    game = pyspiel.load_game(f"{name[:-1]},{arguments})" if "(" in name else f"{name}({arguments})")
    chooser = random.Random(7)
    for _ in range(60):
        theirs, rolls = game.new_initial_state(), []
        while theirs.is_chance_node():
            roll = chooser.choice(theirs.legal_actions())
            rolls.append(str(roll + 1))
            theirs.apply_action(roll)
        ours = GAME.new_state(seed=1, deck=" ".join(rolls), dice=dice, sides=sides, **options)
        while not theirs.is_terminal():
            assert ours.current_player == theirs.current_player()
            assert ours.legal_actions() == theirs.legal_actions()
            action = chooser.choice(ours.legal_actions())
            assert ours.action_label(action) == theirs.action_to_string(action).lower()
            ours.apply(action)
            theirs.apply_action(action)
        assert ours.returns == theirs.returns()


def test_every_promise_of_the_suite():
    report = check_game("liars_dice_v0", examples=10)
    assert report.hidden["play", "dice"][1] > 0
