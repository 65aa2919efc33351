"""Rules of Canasta: a test for each paragraph of rules.md, from written positions."""

import numpy as np
import pytest
from ascii_cards import in_ascii
from canasta import GAME, labels, play, position

from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game_view import table_texts
from cardenvs.games.canasta.actions import LAY_0, lay_action
from cardenvs.games.canasta.state import FACE_LABELS


def pile(state, name, player=None, viewer=OMNISCIENT):
    piles = table_texts(state.view(viewer))["piles"]
    return sorted(map(in_ascii, piles[name] if player is None else piles[name][player]))


def reason(state, label):
    """Why an action that is legal in a similar position is illegal here."""
    with pytest.raises(IllegalActionError) as error:
        state.apply(label if isinstance(label, int) else state.action_from_label(label))
    return str(error.value)


def starts(state, verb):
    return {label for label in labels(state) if label.startswith(verb)}


# -- 1, 2 ---------------------------------------------------------------------------------------------------------


def test_1_1_four_players_form_two_sides():
    state = play(
        position("K K Q Q 7 8", melds=["9 9 9"], phase="draw", num_players=4, pile="9h"), "take the pile by adding 9"
    )
    state = play(state, "discard Q♠")
    assert state.record.naturals[0].tolist()[5] == 4
    assert state.current_player == 1
    assert GAME.new_state(seed=1, num_players=3).facts(2)["side"] == 2
    assert [GAME.new_state(seed=1, num_players=4).facts(p)["side"] for p in range(4)] == [0, 1, 0, 1]


def test_1_2_card_points():
    worth = {"K K K": 30, "A A A": 60, "A A 2": 60, "K K JK": 70, "4 4 2": 30}
    for cards, points in worth.items():
        state = position(f"{cards} 5 6 7", melds=["9 9 9"])
        before = state.record.needed
        play(state, f"meld {cards}")
        assert before - state.record.needed == points
        assert state.facts(0)["points_melded"][0] == 30 + points


def test_1_3_all_cards_are_somewhere():
    state = GAME.new_state(seed=5, num_players=4)
    for k in range(200):
        assert state.table(OMNISCIENT).tokens().total() == 108
        if not state.is_terminal:
            state.apply(state.legal_actions()[k % len(state.legal_actions())])


@pytest.mark.parametrize(("players", "size"), [(2, 15), (3, 13), (4, 11)])
def test_2_1_hands_stock_and_first_player(players, size):
    state = GAME.new_state(seed=3, num_players=players)
    assert state.record.hand_sizes.tolist()[:players] == [size] * players
    assert state.current_player == 0
    assert state.record.dealer == players - 1


def test_2_1_an_explicit_deck_is_dealt_in_order():
    state = GAME.new_state(seed=1, hand_size=3, deck="Ks Kh Kd 4s 4h 4d 9c Jc Jd")
    assert pile(state, "hand", 0) == ["Kd", "Kh", "Ks"]
    assert pile(state, "hand", 1) == ["4d", "4h", "4s"]
    assert pile(state, "pile") == ["9c"]
    assert pile(play(state, "draw"), "hand", 0) == ["Jc", "Jd", "Kd", "Kh", "Ks"]


def test_2_2_a_wild_card_or_red_three_turned_up_freezes_the_pile():
    state = GAME.new_state(seed=1, hand_size=3, deck="Ks Kh Kd 4s 4h 4d 2c 3h 9c")
    assert table_texts(state.view(0))["piles"]["pile"] == ["2♣", "3♥", "9♣"]
    assert state.record.pile_frozen == 1
    state = GAME.new_state(seed=1, hand_size=3, deck="Ks Kh Kd 4s 4h 4d 3s")
    assert pile(state, "pile") == ["3s"]
    assert state.record.pile_frozen == 0


def test_2_3_red_threes_are_laid_out_and_replaced():
    state = GAME.new_state(seed=1, hand_size=3, deck="Ks 3h 3d 4s 4h 4d 9c Jc 3h Qc 5c 5h")
    assert pile(state, "red_threes", 0) == ["3d", "3h", "3h"]
    assert pile(state, "hand", 0) == ["Jc", "Ks", "Qc"]
    assert any("player_0 lays 3♥ out" in line for line in state.recap(1))


def test_2_3_a_red_three_that_is_drawn_is_replaced_at_once():
    state = play(position("K Q 7", phase="draw", stock="3h Jc 3d 8c 9c"), "draw")
    assert pile(state, "hand", 0) == ["7s", "8c", "Jc", "Ks", "Qs"]
    assert pile(state, "red_threes", 0) == ["3d", "3h"]


# -- 3 ------------------------------------------------------------------------------------------------------------


def test_3_2_two_players_draw_two_cards_and_others_one():
    for players, drawn in ((2, 2), (3, 1), (4, 1)):
        state = position("K Q 7", phase="draw", num_players=players)
        assert play(state, "draw").record.hand_sizes[0] == 3 + drawn
    assert play(position("K Q 7", phase="draw", stock="Jc"), "draw").record.hand_sizes[0] == 4


def test_3_3_melds_are_laid_in_ascending_order_and_once():
    state = play(position("4 4 4 4 K K K 9 9 9 5 6", melds=["Q Q Q"]), "meld 9 9 9")
    assert starts(state, "meld") == {"meld K K K"}
    assert "ascending order" in reason(state, int(lay_action(0, 3, 0, 0)))


def test_3_3_after_the_pile_the_order_begins_again():
    state = play(position("Q Q 4 4 7 8", melds=["9 9 9"], phase="draw", pile="4h 5h Qh"), "take the pile with Q Q")
    assert "meld 4 4 4" in labels(state)


def test_3_4_a_card_to_discard_and_one_to_hold():
    state = position("K K K 7", melds=["9 9 9"])
    assert not starts(state, "meld")
    assert "meld K K K" in labels(position("K K K 7 8", melds=["9 9 9"]))


def test_3_4_nothing_is_begun_that_cannot_reach_the_minimum():
    state = position("4 4 4 5 5 5 7 8")  # 30 points
    assert not starts(state, "meld")
    state = position("4 4 4 5 5 5 K K K 7 8")  # 60 points
    assert starts(state, "meld") == {"meld 4 4 4"}  # 5 5 5 and K K K are 45


def test_3_5_any_card_may_be_discarded():
    state = position("2 JK 3s K", melds=["9 9 9"])
    assert starts(state, "discard") == {"discard 2♠", "discard JK", "discard 3♠", "discard K♠"}


# -- 4 ------------------------------------------------------------------------------------------------------------


def test_4_1_two_natural_cards_and_three_cards_at_least():
    assert starts(position("7 2 JK 8 9 T", melds=["Q Q Q"]), "meld") == set()
    found = starts(position("7 7 2 JK 2 8 9 T", melds=["Q Q Q"]), "meld")
    assert "meld 7 7 JK 2 2" in found
    assert "meld 7 7 2" in found
    assert "meld 7 7" not in found


def test_4_1_where_there_is_no_meld_the_reason_speaks_of_a_new_one():
    state = position("6 6 5 Q 2", melds=["Q Q Q"])
    reasons = [
        state.explain_illegal(action)
        for action in range(LAY_0, state.game.num_actions(state.options))
        if state.action_label(action) in ("meld 6 6", "meld 6 2", "add 2 2 to Q")
    ]
    assert sorted(reasons) == [
        "player_0 may not add 2 2 to Q: not all of these cards are in hand (rules.md 4.1)",
        "player_0 may not meld 6 2: a meld needs two natural cards (rules.md 4.1)",
        "player_0 may not meld 6 6: a meld needs three cards (rules.md 4.1)",
    ]


def test_4_2_one_meld_of_a_rank():
    state = play(position("Q Q 5 6", melds=["Q Q Q"]), "add Q Q to Q")
    assert state.record.naturals[0, 8] == 5
    assert not starts(position("Q Q Q 5 6 7", melds=["Q Q Q"]), "meld")


def test_4_3_at_most_three_wild_cards():
    state = position("2 2 5 6 7", melds=["Q Q Q Q 2 JK"])
    assert starts(state, "add") == {"add 2 to Q"}
    found = starts(position("7 7 7 2 2 8 9 T", melds=["Q Q Q"], wilds_fewer_than_naturals=True), "meld")
    assert "meld 7 7 7 2 2" in found
    assert "meld 7 7 2 2" not in found
    assert "meld 7 7 2" in found
    assert "meld 7 7 JK 2" not in starts(position("7 7 2 JK 8 9", melds=["Q Q Q"], max_wilds_per_meld=1), "meld")


def test_4_4_canastas():
    state = position("Q 2 5 6 7", melds=["Q Q Q Q Q Q"])
    assert play(state, "add Q to Q").facts(0)["canasta_points"][0] == 500
    assert any("completes a canasta: Q" in line for line in state.recap(1))
    state = position("Q 2 5 6 7", melds=["Q Q Q Q Q Q Q"])
    assert play(state, "add 2 to Q").facts(0)["canasta_points"][0] == 300


def test_4_5_black_threes_only_when_going_out():
    melds = ["8 8 8 8 8 8 8"]
    state = position("3s 3s 3c", melds=melds, canastas_to_go_out=1)
    assert "meld 3 3 3" in labels(state)
    assert play(state, "meld 3 3 3").is_terminal
    assert "meld 3 3 3" not in labels(position("3s 3s 3c 5 6", melds=melds, canastas_to_go_out=1))
    assert "meld 3 3 3" in labels(position("3s 3s 3c 5", melds=melds, canastas_to_go_out=1))
    assert "meld 3 3 3" not in labels(position("3s 3s 3c 5", melds=melds, canastas_to_go_out=2))
    assert starts(position("3s 3s", melds=melds, canastas_to_go_out=1), "meld") == set()
    assert "meld 3 3 3 3" in labels(position("3s 3s 3c 3c 5", melds=melds, canastas_to_go_out=1))


def test_4_6_melds_of_wild_cards_alone():
    assert not starts(position("2 2 JK 5 6 7", melds=["Q Q Q"]), "meld")
    state = position("2 2 JK 5 6 7", melds=["Q Q Q"], wild_only_melds=True)
    state = play(state, "meld JK 2 2", "discard 5♠")
    assert state.record.twos[0, 12] == 2
    assert state.record.jokers[0, 12] == 1
    full = position("2 5 6 7", melds=["JK JK JK 2 2 2"], wild_only_melds=True)
    assert play(full, "add 2 to wild").facts(0)["canasta_points"][0] == 1000


# -- 5 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "least"), [(-5, 15), (0, 50), (1495, 50), (1500, 90), (2995, 90), (3000, 120)])
def test_5_1_the_minimum_depends_on_the_score(score, least):
    state = position("K Q 7", scores=[score, 0, 0])
    assert state.facts(0)["initial_minimum"] == [least, 50]


@pytest.mark.parametrize(
    ("score", "hand", "first", "legal"),
    [
        (0, "K K K", "meld K K K", False),
        (0, "K K JK", "meld K K JK", True),
        (0, "4 4 4 5 5 5", "meld 4 4 4", False),
        (0, "Q Q Q 4 4 4", "meld 4 4 4", False),
        (0, "A A A", "meld A A A", True),
        (1500, "A A A K K K", "meld K K K", True),
        (3000, "JK A A Q Q Q", "meld Q Q Q", True),
        (3000, "JK 2 A A", "meld A A JK 2", False),
        (-5, "4 4 4", "meld 4 4 4", True),
    ],
)
def test_5_2_scenario_2_the_initial_minimum(score, hand, first, legal):
    state = position(f"{hand} 6 7 8 9", scores=[score, 0, 0])
    assert (first in labels(state)) == legal


def test_5_2_after_an_initial_meld_has_begun_it_must_be_completed():
    state = play(position("A A A K K K 6 7 8 9", scores=[1500, 0, 0]), "meld K K K")
    assert labels(state) == {"meld A A A"}
    assert "60 of the 90 points" in reason(state, 10 + FACE_LABELS.index("6s"))


def test_5_3_scenario_7_the_pile_for_the_initial_meld():
    state = position("A A 4 4 7", phase="draw", pile="5c Ah")
    state = play(state, "take the pile with A A")
    assert state.phase == "meld"
    assert "5c" in pile(state, "hand", 0, viewer=1)
    state = play(position("5 5 K K 2 7", phase="draw", pile="Ac 5h"), "take the pile with 5 5")
    assert state.phase == "take"
    assert "meld K K 2" in labels(state)
    assert "Ac" not in pile(state, "hand", 0)
    assert not starts(state, "discard")
    assert "35 more points" in state.view(0)["prompt"]
    assert "Ac" in pile(play(state, "meld K K 2"), "hand", 0)
    assert "take the pile with 5 5" not in labels(position("5 5 7 8", phase="draw", pile="Ac Ah 5h"))


# -- 6 ------------------------------------------------------------------------------------------------------------


def test_6_1_the_rest_goes_into_the_hand_and_red_threes_are_laid_out():
    state = position("9 9 7 8", melds=["Q Q Q"], phase="draw", pile="3h 4c 5c 9h", stock=20)
    state = play(state, "take the pile with 9 9")
    assert pile(state, "hand", 0) == ["4c", "5c", "7s", "8s"]
    assert pile(state, "red_threes", 0) == ["3h"]
    assert state.record.num_stock == 20
    assert state.record.pile_frozen == 0


@pytest.mark.parametrize("top", ["2s", "JK", "3s"])
def test_6_2_no_wild_card_or_black_three_is_taken(top):
    state = position("K K Q 3c 2", melds=["9 9 9"], phase="draw", pile=f"Kh {top}")
    assert labels(state) == {"draw"}
    assert "wild card or a black three" in reason(state, 1)


def test_6_2_scenario_6_a_black_three_stops_only_the_next_player():
    state = position(
        "Q Q K 7 8", melds=["9 9 9"], other_melds=["8 8 8"], phase="draw", pile="5s 3s", others=["Qd 4 5 6"],
        stock="Jc Jd 4c 4d", num_players=2, draw_count=1,
    )  # fmt: skip
    assert labels(state) == {"draw"}
    state = play(state, "draw", "discard K♠", "draw", "discard Q♦")
    assert "take the pile with Q Q" in labels(state)


def test_6_2_scenario_17_one_card_in_hand_and_one_in_the_pile():
    state = position("5", melds=["9 9 9"], phase="draw", pile="9h")
    assert labels(state) == {"draw"}
    assert "single card" in reason(state, 4)
    assert "take the pile by adding 9" in labels(position("5", melds=["9 9 9"], phase="draw", pile="4h 9h"))


def test_6_3_scenario_4_a_frozen_pile_needs_two_natural_cards():
    free = position("9c 2s 7 8", melds=["Q Q Q"], phase="draw", pile="5h 9h")
    assert "take the pile with 9 2" in labels(free)
    assert play(free, "take the pile with 9 2").record.twos[0, 5] == 1
    frozen = position("9c 2s 7 8", melds=["Q Q Q"], phase="draw", pile="2h 9h")
    assert labels(frozen) == {"draw"}
    assert "frozen" in reason(frozen, 3)
    assert "take the pile with 9 9" in labels(position("9 9 7 8", melds=["Q Q Q"], phase="draw", pile="2h 9h"))


def test_6_3_a_discarded_wild_card_freezes_the_pile():
    state = play(position("2s K Q", melds=["9 9 9"], pile="5h"), "discard 2♠")
    assert state.record.pile_frozen == 1
    assert any("frozen" in line for line in state.recap(0))


def test_6_4_scenario_5_adding_the_top_card_to_a_meld():
    state = position("5 6 7", melds=["9 9 9"], phase="draw", pile="4c 9h")
    assert play(state, "take the pile by adding 9").record.naturals[0, 5] == 4
    assert labels(position("5 6 7", melds=["9 9 9"], phase="draw", pile="2c 9h")) == {"draw"}
    state = play(position("9 9 6 7", melds=["9 9 9"], phase="draw", pile="2c 9h"), "take the pile with 9 9")
    assert state.record.naturals[0, 5] == 6


def test_6_5_no_second_way_to_add_to_a_meld():
    state = position("9 9 2 6 7", melds=["9 9 9"], phase="draw", pile="4c 9h")
    assert labels(state) == {"draw", "take the pile by adding 9"}
    assert "added" in reason(state, 1)


def test_6_6_what_was_in_the_pile_is_known_to_all():
    state = position("9 9 7 8", melds=["Q Q Q"], phase="draw", pile="4c 5c 9h")
    state = play(state, "take the pile with 9 9", "discard 4♣")
    assert pile(state, "hand", 0, viewer=1) == ["5c", "?", "?"]
    for seed in range(5):
        assert "5c" in pile(state.determinize(1, seed), "hand", 0)


def test_6_6_melds_take_known_cards_first():
    state = position("Kh Kh Kd Ks Kc 7 8", melds=["Q Q Q"], known="Kd Kc")
    state = play(state, "meld K K K")
    assert pile(state, "melds", 0)[:3] == ["Kc", "Kd", "Ks"]
    assert state.record.known[0].sum() == 0


# -- 7 ------------------------------------------------------------------------------------------------------------

CANASTA = ["8 8 8 8 8 8 8"]


def test_7_1_scenario_16_two_canastas_for_two_players():
    assert "add 9 9 to 9" not in labels(position("9 9 K", melds=["9 9 9 9 9"]))
    state = position("K 9", melds=["8 8 8 8 8 8 8", "9 9 9 9 9 9"])
    assert play(state, "add 9 to 9", "discard K♠").is_terminal
    assert play(position("K", melds=CANASTA, canastas_to_go_out=1), "discard K♠").is_terminal


def test_7_1_scenario_15_without_a_canasta_no_hand_is_emptied():
    state = position("K K K", melds=["9 9 9"])
    assert starts(state, "meld") == set()
    assert starts(state, "add") == set()


def test_7_1_canastas_of_the_same_turn_count():
    state = position("9 9 K", melds=["9 9 9 9 9"], canastas_to_go_out=1)
    state = play(state, "add 9 9 to 9", "discard K♠")
    assert state.is_terminal


def test_7_2_scenario_9_going_out():
    state = position("A A A", melds=["K K K K K K K"], canastas_to_go_out=1, has_melded=[1, 0, 0, 0],
                     red_threes=[[0, 1], [0, 0], [0, 0], [0, 0]])  # fmt: skip
    assert play(state, "meld A A A").record.scores[0] == 70 + 500 + 60 + 100 + 100


def test_7_3_scenario_13_concealed():
    hand = "5 5 5 5 5 2 2 Q Q Q Q"
    state = position(hand, scores=[3000, 0, 0], canastas_to_go_out=1)
    state = play(state, "meld 5 5 5 5 5 2 2", "meld Q Q Q Q")
    assert state.is_terminal
    assert state.record.scores[0] - 3000 == 65 + 300 + 40 + 200
    strict = position(hand, scores=[3000, 0, 0], canastas_to_go_out=1, concealed_exempt_from_minimum=False)
    assert not starts(strict, "meld")


def test_7_3_not_concealed_who_adds_to_the_partners_meld():
    melds = ["8 8 8"]
    state = position("8 5 5 5 5 5 5 5", melds=melds, num_players=4)
    other = play(position("Q 5 5 5 5 5 5 5", melds=melds, num_players=4), "meld 5 5 5 5 5 5 5", "discard Q♠")
    assert any("concealed" in line for line in other.recap(0))
    state = play(state, "meld 5 5 5 5 5 5 5", "add 8 to 8")
    assert state.is_terminal
    assert not any("concealed" in line for line in state.recap(0))


def test_7_4_the_exemption_needs_a_draw_from_the_stock():
    drawn = position("5 5 5 5 5 5 5", canastas_to_go_out=1)  # 35 points
    assert "meld 5 5 5 5 5 5 5" in labels(drawn)
    taken = position("5 5 5 5 5 5", phase="draw", pile="5h", canastas_to_go_out=1)
    assert labels(taken) == {"draw"}


def test_7_5_asking_the_partner():
    fields = {"num_players": 4, "ask_partner": True}
    state = position("K K K 7", melds=CANASTA, **fields)
    assert "ask to go out" in labels(state)
    assert "ask to go out" not in labels(position("K Q J 7", melds=CANASTA, **fields))
    asked = play(state, "ask to go out")
    assert asked.current_player == 2
    assert labels(asked) == {"yes", "no"}
    yes = play(asked.clone(), "yes")
    assert yes.current_player == 0
    assert labels(yes) == {"meld K K K"}
    no = play(asked, "no")
    assert "meld K K K" not in labels(no)
    assert "ask to go out" not in labels(no)
    with pytest.raises(OptionError, match="ask_partner=true needs num_players=4; got 2"):
        GAME.new_state(ask_partner=True)


# -- 8 ------------------------------------------------------------------------------------------------------------


def test_8_1_a_red_three_as_the_last_card():
    state = play(position("K K K 7 8", melds=["9 9 9"], phase="draw", stock="Jc 3h"), "draw")
    assert "done" in labels(state)
    assert not starts(state, "discard")
    assert "nothing is discarded" in reason(state, 10 + FACE_LABELS.index("Jc"))
    state = play(state, "meld K K K", "done")
    assert state.is_terminal
    assert state.record.red_threes[0].tolist() == [0, 1]


def test_8_2_scenario_18_a_discard_that_fits_must_be_taken():
    state = position("5 6 7", melds=["9 9 9"], phase="draw", pile="4c 9h", stock=0)
    assert labels(state) == {"take the pile by adding 9"}
    assert "must be taken" in reason(state, 5)
    free = position("5 6 7", melds=["9 9 9"], phase="draw", pile="4c 9h", stock=0, forced_take_on_empty_stock=False)
    assert labels(free) == {"take the pile by adding 9", "end the deal"}
    state = position("5 6 7", melds=["9 9 9"], phase="draw", pile="4c Th", stock=0)
    assert labels(state) == {"end the deal"}
    assert play(state, "end the deal").is_terminal
    state = position("T T 6 7", melds=["9 9 9"], phase="draw", pile="4c Th", stock=0)
    assert labels(state) == {"take the pile with 10 10", "end the deal"}
    assert "empty" in reason(state, 0)


# -- 9 to 11 ------------------------------------------------------------------------------------------------------


def ended(hand, melds, red_threes, **fields):
    """The score of player 0 when the deal ends because nobody takes the pile."""
    reds = [[red_threes // 2, red_threes - red_threes // 2], [0, 0], [0, 0], [0, 0]]
    state = position(hand, melds=melds, phase="draw", pile="3s", stock=0, red_threes=reds, **fields)
    return play(state, "end the deal").record.scores[0]


def test_9_1_hands_are_shown():
    state = play(position("K 5", phase="draw", pile="3s", stock=0, others=["Qd Qh"]), "end the deal")
    assert pile(state, "hand", 1, viewer=0) == ["Qd", "Qh"]


def test_9_2_and_9_3_scenarios_10_to_12():
    assert ended("K 5", ["9 9 9 9 9 2 JK", "4 4 4"], 0) == 420
    assert ended("K Q 2 7 3c", [], 2) == -250
    assert ended("", ["7 7 7 2"], 4) == 835
    assert ended("A A", [], 4) == -840


def test_9_2_scenario_14_black_threes_when_going_out():
    state = position("3s 3s 3c", melds=["8 8 8 8 8 8 8 8"], canastas_to_go_out=1, has_melded=[1, 0, 0, 0],
                     red_threes=[[0, 1], [0, 0], [0, 0], [0, 0]])  # fmt: skip
    assert play(state, "meld 3 3 3").record.scores[0] == 795


def test_9_2_both_partners_hands_count():
    state = position("K 5", phase="draw", pile="3s", stock=0, others=["A", "A A", "Q"], num_players=4)
    assert play(state, "end the deal").record.scores.tolist()[:2] == [-15 - 40, -20 - 10]


def test_10_1_each_is_paid_the_difference():
    state = position("K 5", phase="draw", pile="3s", stock=0, others=["A", "A A", "Q"], num_players=4)
    assert play(state, "end the deal").returns == [-25.0, 25.0, -25.0, 25.0]
    state = position("K 5", phase="draw", pile="3s", stock=0, others=["A", "A A"], num_players=3)
    assert play(state, "end the deal").returns == [-15 + 30.0, -20 + 27.5, -40 + 17.5]


def test_10_2_and_10_3_a_match():
    fields = {"phase": "draw", "pile": "3s", "stock": 0, "match": True, "melds": ["K K K"]}
    state = play(position("5", scores=[4000, 0, 0], **fields), "end the deal")
    assert not state.is_terminal
    assert state.record.num_deals == 2
    assert state.record.dealer == 0
    assert state.current_player == 1
    assert state.returns[0] == state.record.scores[0] - 4000 - state.record.scores[1]
    won = play(position("5", scores=[4990, 0, 0], **fields), "end the deal")
    assert won.is_terminal
    assert any("wins the match" in line for line in won.recap(0))
    tied = position("5", scores=[5000, 5105, 0], others=["A A A A"], **fields)
    tied = play(tied, "end the deal")  # 5025 to 5025
    assert tied.record.scores.tolist()[:2] == [5025, 5025]
    assert not tied.is_terminal


def test_10_3_a_match_ends_after_fifty_deals():
    state = position("5", phase="draw", pile="3s", stock=0, match=True, num_deals=50)
    assert play(state, "end the deal").is_terminal


def limited(scores, most=12_680):
    """The returns of sides with these scores: less the mean of the others, all scaled if one is beyond `most`."""
    margins = np.array([own - (sum(scores) - own) / (len(scores) - 1) for own in scores])
    return margins * min(1, most / abs(margins).max())


@pytest.mark.parametrize(
    "scores",
    [[-8000, 4000], [-9000, 4000], [4000, -9000], [4400, -8200], [-18_000, 4000, 1000], [-4000, 4000, 1000]],
)
def test_10_4_the_returns_of_a_match_are_limited(scores):
    options = {"match": True, "num_players": len(scores)}
    fields = {"scores": [*scores, 0][:3], "returns": [*limited(scores), 0, 0][:4], "num_deals": 50}
    state = play(position("5", phase="draw", pile="3s", stock=0, **options, **fields), "end the deal")
    final = state.record.scores[: len(scores)].tolist()
    assert final != scores
    assert state.is_terminal
    assert state.returns == pytest.approx(limited(final))


@pytest.mark.parametrize(
    ("options", "returns"),
    [
        ({}, [-7680, 7680]),
        ({"num_players": 3}, [-7680, 3840, 3840]),
        ({"num_players": 4}, [-7680, 7680, -7680, 7680]),
        ({"wild_only_melds": True}, [-8680, 8680]),
        ({"match": True}, [-12_680, 12_680]),
        ({"match": True, "target": 500}, [-8180, 8180]),
    ],
)
def test_11_1_forfeits(options, returns):
    state = GAME.new_state(seed=1, **options)
    state.apply(1 << 30)
    assert state.is_terminal
    assert state.returns == returns
    assert GAME.returns(state.options).low == returns[0]


def test_11_1_in_a_match_the_deals_before_count():
    state = position("5", phase="draw", pile="3s", stock=0, match=True, returns=[-100, 100, 0, 0])
    state.apply((1 << 30) + state.current_player)
    assert state.returns == [-12_680, 12_680]


# -- 12 -----------------------------------------------------------------------------------------------------------


def test_12_2_no_world_has_a_red_three_in_a_hand():
    state = GAME.new_state(seed=2, num_players=4)
    for seed in range(30):
        world = state.determinize(0, seed)
        assert not world.record.kinds[:, 14].any()
        assert not any(text.startswith(("3d", "3h")) for p in range(4) for text in pile(world, "hand", p))


def test_12_2_in_worlds_the_turn_of_another_player_can_mostly_be_completed():
    state = play(position("A A A K K K 6 7 8 9", scores=[1500, 0, 0]), "meld K K K")
    goes = [bool(starts(state.determinize(1, seed), "meld")) for seed in range(20)]
    assert sum(goes) > 3
    assert all(state.determinize(1, seed).legal_actions() for seed in range(20))
