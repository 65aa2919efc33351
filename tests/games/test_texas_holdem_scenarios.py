"""Texas hold'em: worked hands, figure by figure. Numbers are those of the list of scenarios in rules.md 11.

Unless a test says otherwise: six seats of 2000, button 0, small blind 1, big blind 2, blinds 10/20, seat 3 first.
"""

import random

import pytest
from holdem import deal, last, play, play_hand, positions, pots, returned, table, to_call

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import SPECTATOR
from cardenvs.games.texas_holdem import GAME, hand_category, hand_rank
from cardenvs.pictures import draw_svg

# ---------------------------------------------------------------------------------------------------------------
# Walks, raises, the option


def test_1_all_fold():
    state = play(table(), "3:fold 4:fold 5:fold 0:fold 1:fold")
    assert returned(state) == (2, 10)
    assert pots(state) == [(20, {2})]
    assert state.stacks == [2000, 1990, 2010, 2000, 2000, 2000]


def test_2_raises_and_reraises():
    state = play(table(), "3:60")
    assert to_call(state, 4) == (60, 100)
    play(state, "4:160")
    assert to_call(state, 5) == (160, 260)
    play(state, "5:260")
    assert to_call(state, 0) == (260, 360)
    play(state, "0:call 1:fold 2:fold")
    assert to_call(state, 3)[0] == 200
    play(state, "3:fold")
    assert to_call(state, 4)[0] == 100
    play(state, "4:call")
    assert state.phase == "flop"
    assert state.pot == 870
    assert state.current_player == 4


def test_3_the_option_of_the_big_blind():
    state = play(table(), "3:call 4:call 5:call 0:call 1:call")
    assert to_call(state, 2) == (0, 40)
    assert state.legal_options().kinds == ("check", "raise", "all_in")
    assert state.pot == 120
    checked = play(state.clone(), "2:check")
    assert checked.phase == "flop"
    assert checked.current_player == 1
    play(state, "2:40 3:fold 4:fold 5:fold 0:fold 1:fold")
    assert returned(state) == (2, 20)
    assert pots(state) == [(120, {2})]
    assert state.stacks == [1980, 1980, 2100, 1980, 1980, 1980]


# ---------------------------------------------------------------------------------------------------------------
# Short all-ins


def test_4_a_short_all_in_does_not_reopen():
    state = play(table({4: 85}, hands={3: "As Ks", 4: "Qd Qc"}), "3:60 4:all")
    for seat in (5, 0, 1, 2):
        assert to_call(state, seat)[1] == 125
        play(state, f"{seat}:fold")
    assert to_call(state, 3) == (25, None)
    assert state.legal_options().kinds == ("fold", "call")
    play(state, "3:call")
    assert pots(state) == [(200, {3, 4})]
    assert state.stacks == [2000, 1990, 1980, 1915, 200, 2000]


def several_short_all_ins():
    state = table({0: 5000, 1: 5000, 2: 225, 3: 5000, 4: 300, 5: 5000}, blinds=(50, 100),
                  hands={1: "Ah Ad", 2: "7c 7s", 4: "Jd Td"})  # fmt: skip
    play(state, "3:call 4:call 5:call 0:fold 1:call 2:check")
    assert state.pot == 500
    return play(state, "1:100 2:all 3:call 4:all 5:call")


def test_5_short_all_ins_add_up_to_a_full_raise():
    state = several_short_all_ins()
    assert to_call(state, 1) == (100, 300)
    play(state, "1:call")
    assert to_call(state, 3) == (75, None)
    play(state, "3:call")
    assert (state.phase, state.pot) == ("turn", 1425)


def test_5_in_the_single_rule_they_do_not():
    state = table({0: 5000, 1: 5000, 2: 225, 3: 5000, 4: 300, 5: 5000}, blinds=(50, 100), reopen_rule="single")
    play(state, "3:call 4:call 5:call 0:fold 1:call 2:check 1:100 2:all 3:call 4:all 5:call")
    assert to_call(state, 1) == (100, None)


def test_5b_the_reopened_raise():
    state = play(several_short_all_ins(), "1:300")
    assert to_call(state, 3) == (175, 400)
    play(state, "3:fold 5:fold")
    assert returned(state) == (1, 100)
    assert pots(state) == [(1125, {1, 2, 4}), (225, {1, 4})]
    assert state.stacks == [5000, 4925, 1125, 4775, 0, 4700]


def limp_and_short_all_in():
    state = play(table({0: 75}, blinds=(20, 40)), "3:call 4:fold 5:fold 0:all 1:fold")
    assert to_call(state, 2) == (35, 115)
    return state


def test_6_the_limper_faces_less_than_a_full_raise():
    state = play(limp_and_short_all_in(), "2:call")
    assert to_call(state, 3) == (35, None)
    assert state.pot == 210


def test_6b_the_big_blind_raises():
    state = play(limp_and_short_all_in(), "2:115")
    assert to_call(state, 3) == (75, 155)
    assert state.pot == 250


def test_7_a_full_all_in_reopens():
    state = play(table({4: 140}, hands={3: "As Kd", 4: "Qh Qc"}), "3:60 4:all 5:call 0:fold 1:fold 2:fold")
    assert to_call(state, 3) == (80, 220)
    play(state, "3:220 5:fold")
    assert returned(state) == (3, 80)
    assert pots(state) == [(450, {3, 4})]
    assert state.stacks == [2000, 1990, 1980, 1860, 450, 1860]


def test_7b_nobody_is_left_to_raise():
    state = play(table({4: 140}), "3:60 4:all 5:fold 0:fold 1:fold 2:fold")
    assert to_call(state, 3) == (80, None)
    assert "no opponent has chips left" in state.explain_illegal(9)


def short_all_in_bet():
    state = play(table({2: 45}, blinds=(20, 40)), "3:call 4:fold 5:fold 0:call 1:call 2:check 1:check 2:all")
    assert to_call(state, 3) == (5, 45)
    return state


def test_8_a_raise_of_a_short_all_in_bet():
    state = play(short_all_in_bet(), "3:45 0:fold")
    assert to_call(state, 1) == (45, 85)
    assert state.pot == 210


def test_8b_the_checker_faces_less_than_a_bet():
    state = play(short_all_in_bet(), "3:call 0:call")
    assert to_call(state, 1) == (5, None)
    assert state.pot == 175


def test_9_heads_up_all_in_leaves_no_raise():
    state = play(table([500, 2000]), "0:all")
    assert to_call(state, 1) == (480, None)
    assert state.legal_options().kinds == ("fold", "call")


def test_10_two_short_all_ins_behind_a_raise():
    state = play(table({4: 400, 0: 550}, blinds=(50, 100)), "3:300 4:all 5:call 0:all 1:fold 2:fold")
    assert to_call(state, 3) == (250, 750)
    play(state, "3:call")
    assert to_call(state, 5) == (150, None)
    assert state.pot == 2050


# ---------------------------------------------------------------------------------------------------------------
# Short blinds


def test_11_a_short_big_blind_is_a_full_bet_to_the_others():
    state = table({2: 30}, blinds=(50, 100), hands={1: "Ks Kh", 2: "As Ad"})
    assert to_call(state, 3) == (100, 200)
    play(state, "3:call 4:fold 5:fold 0:fold")
    assert to_call(state, 1)[0] == 50
    play(state, "1:call 1:200 3:fold")
    assert returned(state) == (1, 200)
    assert pots(state) == [(90, {1, 2}), (140, {1})]
    assert [state.stacks[seat] for seat in (2, 1, 3)] == [90, 2040, 1900]


def test_12_a_short_small_blind():
    state = table([2000, 15, 2000], blinds=(50, 100), hands={0: "As Ks", 1: "Qh Qd"})
    play(state, "0:250 2:call 2:check 0:300 2:fold")
    assert returned(state) == (0, 300)
    assert pots(state) == [(45, {0, 1}), (470, {0})]
    assert state.stacks == [2220, 45, 1750]


def test_13a_heads_up_the_big_blind_is_short():
    state = table([2000, 15], hands={0: "As Ks", 1: "Qh Qd"})
    assert to_call(state, 0) == (5, None)
    play(state, "0:call")
    assert pots(state) == [(30, {0, 1})]
    assert state.stacks == [1985, 30]


def test_13b_heads_up_nobody_acts_when_the_big_blind_is_covered_by_the_small_one():
    state = table([2000, 8], hands={0: "As Ks", 1: "Qh Qd"})
    assert state.is_terminal
    assert state.legal_actions() == []
    assert returned(state) == (0, 2)
    assert pots(state) == [(16, {0, 1})]
    assert state.stacks == [1992, 16]
    assert state.returns == [-8, 8]


def test_13c_heads_up_nobody_acts_when_the_small_blind_is_all_in():
    state = table([6, 2000], hands={0: "As Ks", 1: "Qh Qd"})
    assert state.is_terminal
    assert returned(state) == (1, 14)
    assert pots(state) == [(12, {0, 1})]
    assert state.stacks == [0, 2006]


def test_13_a_first_hand_without_a_question_is_refused_by_environments():
    for make in (cardenvs.make, lambda name, **options: cardenvs.make_vec(name, 2, **options), cardenvs.SeatEnv):
        with pytest.raises(ValueError, match="leave nobody anything to decide"):
            make("texas_holdem_v0", num_players=2, format="cash", stacks=[2000, 8], blinds=(10, 20))


def test_14_two_short_blinds():
    state = table([2000, 8, 15, 2000], hands={1: "As Ah", 2: "Ks Kh", 3: "Qs Qh"}, board="2c 7d 9h 4s 3d")
    play(state, "3:call 0:fold")
    assert returned(state) == (3, 5)
    assert pots(state) == [(24, {1, 2, 3}), (14, {2, 3})]
    assert state.stacks == [2000, 24, 14, 1985]


# ---------------------------------------------------------------------------------------------------------------
# Side pots

THREE_POTS = [(1200, {0, 1, 2, 3}), (1200, {1, 2, 3}), (1600, {2, 3})]


@pytest.mark.parametrize(
    ("hands", "stacks"),
    [
        (("As Ah", "Ks Kh", "Qs Qh", "Js Jh"), [1200, 1200, 1600, 0]),  # 15
        (("As Ah", "Qc Jc", "Ks Qh", "Kd Qd"), [1200, 0, 1400, 1400]),  # 15b
    ],
)
def test_15_three_pots(hands, stacks):
    state = table([300, 700, 1500, 1500], hands=dict(enumerate(hands)), board="2c 7d 9h 4s 3d")
    play(state, "3:all 0:all 1:all 2:all")
    assert pots(state) == THREE_POTS
    assert state.stacks == stacks


def test_16_betting_goes_on_beside_an_all_in():
    state = table({2: 400}, blinds=(50, 100), hands={2: "9c 9d", 3: "As Ad"})
    play(state, "3:400 4:call 5:fold 0:fold 1:fold 2:call 3:500 4:call 3:600 4:fold")
    assert returned(state) == (3, 600)
    assert pots(state) == [(1250, {2, 3}), (1000, {3})]
    assert [state.stacks[seat] for seat in (2, 3, 4, 1)] == [1250, 2100, 1100, 1950]


def test_17_heads_up_the_excess_comes_back():
    state = play(table([1000, 400], hands={0: "As Ks", 1: "Qh Qd"}), "0:all 1:call")
    assert returned(state) == (0, 600)
    assert pots(state) == [(800, {0, 1})]
    assert state.stacks == [600, 800]


# ---------------------------------------------------------------------------------------------------------------
# Odd chips, ties


def test_18_an_odd_chip_goes_to_the_first_from_the_buttons_left():
    state = table(blinds=(15, 30), hands={3: "As Kd", 0: "Ah Kc"})
    play(state, "3:60 4:fold 5:fold 0:call 1:fold 2:fold" + " 3:check 0:check" * 3)
    assert pots(state) == [(165, {0, 3})]
    assert last(state, "win") == [(3, 83), (0, 82)]
    assert state.stacks == [2022, 1985, 1970, 2023, 2000, 2000]


def test_18b_two_odd_chips_go_to_two_players():
    state = table(blinds=(5, 10), hands={5: "As Kd", 0: "Ah Kc", 2: "Ad Kh"})
    play(state, "3:fold 4:fold 5:30 0:call 1:fold 2:call" + " 2:check 5:check 0:check" * 3)
    assert pots(state) == [(95, {0, 2, 5})]
    assert dict(last(state, "win")) == {2: 32, 5: 32, 0: 31}
    assert [state.stacks[seat] for seat in (2, 5, 0, 1)] == [2002, 2002, 2001, 1995]


def test_19_one_pot_is_divided_once():
    state = table(blinds=(15, 30), hands={3: "As Kd", 4: "Ah Kc"})
    play(state, "3:71 4:call 5:call 0:fold 1:fold 2:fold 3:40 4:call 5:fold" + " 3:check 4:check" * 2)
    assert pots(state) == [(338, {3, 4})]
    assert [state.stacks[seat] for seat in (3, 4, 5, 1, 2)] == [2058, 2058, 1929, 1985, 1970]


def test_20_the_board_plays():
    state = table(board="As Ks Qs Js Ts")
    play(state, "3:50 4:call 5:call 0:fold 1:fold 2:fold" + " 3:check 4:check 5:check" * 3)
    assert pots(state) == [(180, {3, 4, 5})]
    assert state.stacks == [2000, 1990, 1980, 2010, 2010, 2010]


# ---------------------------------------------------------------------------------------------------------------
# Order of play


def test_21_heads_up_order():
    state = play(table(num_players=2), "0:call 1:check 1:20")
    assert to_call(state, 0) == (20, 40)
    play(state, "0:60")
    assert to_call(state, 1) == (40, 100)
    play(state, "1:100")
    assert to_call(state, 0) == (40, 140)
    assert state.pot == 200


def test_22_a_dead_button_without_a_small_blind():
    hands = {0: "Ac Kd", 4: "Ah Kc"}
    state = table({1: 0, 2: 0}, hands=hands, board="2c 7d 9h Js 3h", button=1)
    assert positions(state) == ("x1", None, 3)
    play(state, "4:40 5:fold 0:call 3:call 3:check 4:check 0:60 3:fold 4:call")
    assert state.pot == 240
    play(state, "4:check 0:check 4:check 0:check")
    assert pots(state) == [(240, {0, 4})]
    assert state.stacks == [2020, 0, 0, 1960, 2020, 2000]


@pytest.mark.parametrize(
    ("stacks", "button", "rule", "expected"),
    [
        ({1: 0}, 0, "dead", (0, None, 2)),  # nobody sits in the small blind
        ({2: 0}, 0, "dead", (0, 1, 3)),
        ({0: 0, 1: 0}, 0, "moving", (2, 3, 4)),  # the moving button skips empty seats
        ({0: 0, 1: 0, 2: 0, 5: 0}, 3, "dead", (3, 3, 4)),  # of two, the button posts the small blind
        ({0: 0, 1: 0, 2: 0, 5: 0}, 0, "dead", (4, 4, 3)),  # and has it if the button's seat is empty
    ],
)
def test_empty_seats_in_the_first_hand(stacks, button, rule, expected):
    state = table(stacks, button=button, button_rule=rule)
    assert positions(state) == expected
    assert [state.stacks[p] for p in stacks] == [0] * len(stacks)
    with pytest.raises(ValueError, match="every seat begins with chips"):
        cardenvs.make("texas_holdem_v0", format="cash", stacks=[0, 50, 50, 50, 50, 50])


def test_23_a_check_raise_and_an_all_in():
    state = table(num_players=3)
    play(state, "0:50 1:call 2:fold 1:check 0:70")
    assert to_call(state, 1) == (70, 140)
    reraised = play(state.clone(), "1:210")
    assert to_call(reraised, 0) == (140, 350)
    play(reraised, "0:call 1:all")
    assert to_call(reraised, 0) == (1740, None)
    assert reraised.pot == 2280


# ---------------------------------------------------------------------------------------------------------------
# Button and blinds


def after(state, *out):
    """Play a hand in which the seats `out` leave the game, then the others fold; the positions of the next one."""
    number, staying = state.record.hand_number, set(out)
    while state.record.hand_number == number:
        if state.current_player in staying:
            staying.remove(state.current_player)
            state.apply(FORFEIT + state.current_player)
        elif staying:
            state.act("call" if state.legal_options().call_amount else "check")
        else:
            state.act("fold" if state.legal_options().call_amount else "check")
    return positions(state)


def tournament(num_players=6, **options):
    return GAME.new_state(seed=3, num_players=num_players, **options)


def test_24_nobody_out():
    state = tournament()
    assert positions(state) == (0, 1, 2)
    assert after(state) == (1, 2, 3)
    assert after(state) == (2, 3, 4)


def test_25_the_small_blind_goes_out():
    state = tournament()
    assert after(state, 1) == ("x1", 2, 3)
    assert after(state) == (2, 3, 4)


def test_26_the_big_blind_goes_out():
    state = tournament()
    assert after(state, 2) == (1, None, 3)
    assert after(state) == ("x2", 3, 4)
    assert after(state) == (3, 4, 5)


def test_27_both_blinds_go_out():
    state = tournament()
    assert after(state, 1, 2) == ("x1", None, 3)
    assert after(state) == ("x2", 3, 4)
    assert after(state) == (3, 4, 5)


def test_28_the_button_goes_out_or_the_next_big_blind():
    assert after(tournament(), 0) == (1, 2, 3)
    state = tournament()
    assert after(state, 3) == (1, 2, 4)
    assert after(state) == (2, 4, 5)


def test_29_big_blinds_go_out_in_two_hands():
    state = tournament()
    assert after(state, 2) == (1, None, 3)
    assert after(state, 3) == ("x2", None, 4)


@pytest.mark.parametrize(("out", "second", "third"), [(0, (2, 2, 1), (1, 1, 2)), (1, (2, 2, 0), (0, 0, 2)),
                                                      (2, (1, 1, 0), (0, 0, 1))])  # fmt: skip
def test_30_from_three_to_two(out, second, third):
    state = tournament(3)
    assert after(state, out) == second
    assert after(state) == third
    assert after(state) == second


def test_31_from_four_to_two():
    state = tournament(4)
    assert after(state, 1, 2) == (0, 0, 3)
    state = tournament(4)
    assert after(state, 2) == (1, None, 3)
    assert after(state, 3) == (1, 1, 0)


# ---------------------------------------------------------------------------------------------------------------
# Tournament


def two_go_out(third):
    """Five players; in a tournament's first hand seat 3 with 300 chips and seat 4 with `third` lose all of them."""
    hands = {0: "As Ah", 3: "5s 8h", 4: "5d 8c"}
    state = GAME.new_state(seed=1, num_players=5, stacks=[2000, 2000, 2000, 300, third], deck=deal(5, hands), button=0)
    return play_hand(state, "3:all 4:call 0:all 1:fold 2:fold")


def test_32_more_chips_are_the_better_place():
    state = two_go_out(200)
    assert last(state, "place") == [(3, 4), (4, 5)]
    assert state.returns == [0, 0, 0, -0.5, -1]


def test_32_equal_chips_share_a_place():
    state = two_go_out(300)
    assert last(state, "shared_place") == [(3, 4), (4, 4)]
    assert state.returns == [0, 0, 0, -0.75, -0.75]


@pytest.mark.parametrize(("third", "texts"), [(200, ["4th place", "5th place"]), (300, ["shared 4th place"] * 2)])
def test_32_everybody_sees_the_places(third, texts):
    state = two_go_out(third)
    for viewer in (*range(5), SPECTATOR):
        view = state.view(viewer)
        assert [notes[-1:] for notes in (player["notes"] for player in view["players"])][3:] == [
            [text] for text in texts
        ]
        assert not any("place" in note for player in view["players"][:3] for note in player["notes"])
    shown = draw_svg(state.view(0))
    assert f">{texts[0]}<" in shown
    assert ">return -" in shown
    assert "stack 0" not in shown


@pytest.mark.parametrize("seed", range(5))
def test_33_chips_are_never_lost(seed):
    state, chooser = GAME.new_state(seed=seed), random.Random(seed)
    while not state.is_terminal:
        state.apply(chooser.choice(state.legal_actions()))
        assert sum(state.stacks) + state.pot == 12_000
    assert sorted(state.stacks) == [0] * 5 + [12_000]


def test_34_levels():
    state = tournament()
    blinds = {}
    while state.record.hand_number <= 160:
        s = state.record
        blinds[int(s.hand_number)] = (int(s.small_blind), int(s.big_blind))
        assert s.hands_to_level == (10 - (s.hand_number - 1) % 10 if s.hand_number <= 140 else 0)
        after(state)
    levels = [(10, 20), (15, 30), (20, 40), (30, 60), (40, 80), (50, 100), (75, 150), (100, 200), (150, 300),
              (200, 400), (300, 600), (400, 800), (500, 1000), (700, 1400), (1000, 2000)]  # fmt: skip
    assert blinds == {h: levels[min((h - 1) // 10, 14)] for h in range(1, 161)}


def test_34_levels_rise_with_fewer_players_too():
    state = tournament()
    after(state, 3, 4, 5)
    while state.record.hand_number < 10:
        after(state)
    assert (state.record.small_blind, state.record.big_blind) == (10, 20)
    after(state)
    assert (state.record.small_blind, state.record.big_blind) == (15, 30)


def test_35_exactly_the_blind_left():
    state = play(table({2: 20, 1: 10}), "3:call 4:fold 5:fold 0:call")
    assert state.phase == "flop"
    assert state.current_player == 3
    play(state, "3:check 0:check" + " 3:check 0:check" * 2)
    assert state.is_terminal


def test_36_passive_play_instead_of_an_invalid_action():
    state = table(invalid_action="passive")
    state.act("raise_to", 30)  # less than the smallest raise, with 20 to call
    assert last(state, "fold") == [(3, 1)]
    play(state, "4:call 5:fold 0:fold 1:call")
    state.act("raise_to", 30)  # the big blind could check
    assert state.phase == "flop"
    assert last(state, "check") == [(2, 0)]
    state.act("fold")  # nothing to call
    assert last(state, "check") == [(2, 0), (1, 0)]
    state.act("dance")
    assert last(state, "fold")[-1][0] == 0


def test_36_an_invalid_action_is_an_error():
    state = table()
    with pytest.raises(IllegalActionError, match="a raise goes to 40 at least"):
        state.act("raise_to", 30)
    assert state.ply == 0


# ---------------------------------------------------------------------------------------------------------------
# Hand ranking


@pytest.mark.parametrize(
    ("board", "better", "worse"),
    [
        ("3s 4d 5h Kc Kd", "Ah 2c", "Kh 9d"),  # 37
        ("3s 4d 5h Kc Td", "6h 2d", "Ah 2c"),
        ("As 7c 4d 9h 2s", "Ah Kc", "Ad Qs"),  # 38
        ("Ks Kd Js Jh 9c", "Ah Qc", "2h 2d"),  # 39
        ("Th 8h 6h 4h 9s", "Ah 2c", "Kh 3c"),  # 40
        ("7h 2c 2d Kc Kd", "Ah Kh", "7s 7d"),  # 41
        ("Qh Qd Qc 9s 9d", "Qs 3d", "Jd 4c"),  # 42
        ("Jh Td 9h 8s 7s", "Kh Qh", "9c 8c"),  # 43
        ("6h 7h 8h Ad Ac", "5h 4h", "Ah Kd"),  # 44
    ],
)
def test_37_to_44_the_better_hand(board, better, worse):
    assert hand_rank(f"{better} {board}") > hand_rank(f"{worse} {board}")


def test_38_a_kicker_that_does_not_play():
    assert hand_rank("Ah 3c As Kc Qd 9h 7s") == hand_rank("Ad 2s As Kc Qd 9h 7s")


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("Ah 2c 3s 4d 5h Kc Kd", "straight"),
        ("2h 2d Ks Kd Js Jh 9c", "two pair"),
        ("Ah 2c Th 8h 6h 4h 9s", "flush"),
        ("7s 7d 7h 2c 2d Kc Kd", "full house"),
        ("Qs 3d Qh Qd Qc 9s 9d", "four of a kind"),
        ("5h 4h 6h 7h 8h Ad Ac", "straight flush"),
        ("Qh 3h 5h Ah 2h 7h 2c", "flush"),
        ("Ah Kd 9h 6h 7h 8h Ac", "flush"),
        ("Ac Ad Ah 2c 3d", "three of a kind"),
        ("2c 2d 4h 5c 6d 8h", "pair"),
        ("Qc Kd Ah 2c 3d", "high card"),
    ],
)
def test_categories(cards, category):
    assert hand_category(cards) == category
