"""Rules of Pinnacola: a test for each paragraph of rules.md, and for each numbered scenario of its source."""

import pytest
from pinnacola import GAME, labels, play, position, starts

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.games.pinnacola import actions


def pile(state, name, player=None, viewer=OMNISCIENT):
    piles = table_texts(state.view(viewer))["piles"]
    return sorted(piles[name] if player is None else piles[name][player])


def reason(state, action):
    """Why an action is illegal here."""
    with pytest.raises(IllegalActionError) as error:
        state.apply(action)
    return str(error.value)


def points(*melds, **options):
    """The points of melds on the table."""
    return position("Kd Qc 4s", melds=melds, **options).facts(0)["points_melded"][0]


def melds_from(hand, **options):
    """What can be melded from a hand beside three cards that fit nothing."""
    return {label.removeprefix("meld ") for label in starts(position(f"{hand} 6c Js", **options), "meld")}


# -- 1, 2 ---------------------------------------------------------------------------------------------------------


def test_1_1_partners_sit_opposite_each_other():
    state = play(position("5h 6h 7h Kd Qc", num_players=4, player=2), "meld 5h 6h 7h")
    assert state.facts(0)["points_melded"] == [25, 0]
    assert [state.facts(p)["side"] for p in range(4)] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("options", "cards", "jokers"),
    [({}, 108, 4), ({"jokers": False}, 104, 0), ({"pinelle": True}, 104, 4)],
)
def test_1_2_cards_of_the_game(options, cards, jokers):
    tokens = GAME.new_state(seed=3, **options).table(OMNISCIENT).tokens()
    assert tokens.total() == cards
    assert tokens[52] == jokers
    assert tokens[GAME.view.parse_token("2d")] == (0 if options.get("pinelle") else 2)


def test_1_3_all_cards_are_somewhere():
    state = GAME.new_state(seed=5, num_players=4)
    for k in range(150):
        assert state.table(OMNISCIENT).tokens().total() == 108
        if not state.is_terminal:
            state.apply(state.legal_actions()[-1 - k % len(state.legal_actions())])


def test_1_4_black_twos_are_wild_with_pinelle_and_natural_in_their_place():
    assert "2♠ 9♥ 9♦" not in melds_from("2s 9h 9d")
    found = melds_from("2s 5h 6h 3s 4s", pinelle=True)
    assert {"5♥ 6♥ 2♠", "2♠ 5♥ 6♥", "2♠ 3♠ 4♠", "3♠ 4♠ 2♠"} <= found
    state = position("2s 3s 4s Kd Qc", pinelle=True)
    wild = actions.gap_run_action(0, 1, 0, 1)
    assert "natural" in reason(state, int(wild))
    assert play(state, "meld 2s 3s 4s").record.meld_naturals[0] == 0b1110


def test_2_1_hands_stock_and_dealer():
    for players, size in ((2, 13), (4, 15)):
        state = GAME.new_state(seed=3, num_players=players, hand_size=size)
        assert state.record.hand_sizes.tolist()[:players] == [size] * players
        assert (state.current_player, int(state.record.dealer)) == (0, players - 1)
        assert len(pile(state, "stock")) == 108 - players * size - 1
    one, other = "As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks", "Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh"
    state = GAME.new_state(seed=1, deck=f"{one} {other} JK 9c")
    assert "A♠" in pile(state, "hand", 0)
    assert "A♥" in pile(state, "hand", 1)
    assert pile(state, "row") == ["JK"]
    assert "9♣" in pile(play(state, "draw"), "hand", 0)


def test_2_2_discards_lie_in_order():
    state = play(position("Kd Qc 4s 9c", row="Td 2c"), "discard Kd")
    assert table_texts(state.view(SPECTATOR))["piles"]["row"] == ["10♦", "2♣", "K♦"]


# -- 3 ------------------------------------------------------------------------------------------------------------


def test_3_1_runs_and_scenario_1():
    for cards in ("5h 6h 7h", "Ah 2h 3h", "Qh Kh Ah"):
        assert " ".join(GAME.view.token_label(GAME.view.parse_token(card)) for card in cards.split()) in melds_from(
            cards
        )
    assert not {one for one in melds_from("Kh Ah 2h") if len(one.split()) > 2}
    state = position("As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks As Kd Qc")
    assert "meld A♠ 2♠ 3♠ 4♠ 5♠ 6♠ 7♠ 8♠ 9♠ 10♠ J♠ Q♠ K♠ A♠" in labels(state)
    state = position("As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks As Kd Qc", ace_to_ace=False)
    assert max(len(one.split()) for one in starts(state, "meld")) == 14
    assert "both ends" in reason(state, int(actions.run_action(0, 0, 14)))


def test_3_2_sets_and_scenario_2():
    assert melds_from("Th Tc Td Ts") >= {"10♠ 10♣ 10♦ 10♥", "10♣ 10♦ 10♥"}
    for cards in ("Th Tc Tc", "5h 6d 7h", "5h 7h 8h", "Kh Ah 2h", "5h 6h"):
        assert melds_from(cards) == set()
    assert melds_from("2s 2c X", pinelle=True).isdisjoint({"2♠ 2♣ JK"})
    assert "2♠ 2♣ JK" in melds_from("2s 2c X")


def test_3_3_wild_cards():
    found = melds_from("5h X 7h Th Tc")
    assert {"5♥ JK 7♥", "10♣ 10♥ JK"} <= found
    assert "5♥ JK JK 8♥" not in melds_from("5h X X 8h")
    assert "5♥ JK JK 8♥" in melds_from("5h X X 8h", wilds_per_meld=2)
    assert melds_from("5h X 7h", wilds_per_meld=0) == set()
    state = position("X Kd Qc", melds=["Th Tc Td", "9h 9d X"])
    assert starts(state, "add") == {"add JK to 10♣ 10♦ 10♥"}  # the other set has a wild card
    state = position("Ts Kd Qc", melds=["Th Tc Td X"])
    assert not starts(state, "add")  # a poker is full


def test_3_3_scenario_12_the_place_of_a_wild_card_in_a_run_is_fixed():
    state = position("4h 7h 8h X 2c 2d Kd", melds=["5h 6h X"])
    assert starts(state, "add") == {"add 4♥ below 5♥ 6♥ JK", "add 8♥ above 5♥ 6♥ JK"}
    assert starts(state, "replace") == {"replace JK by 7♥ in 5♥ 6♥ JK"}


def test_3_3_scenario_13_in_a_set_a_wild_card_stands_for_any_missing_suit():
    state = position("9c 9s 9h 2c 2d Kd", melds=["9h 9d X"])
    assert starts(state, "replace") == {"replace JK by 9♣ in 9♦ 9♥ JK", "replace JK by 9♠ in 9♦ 9♥ JK"}


def test_3_4_melds_stay_apart():
    state = position("Kd Qc 8h 9c", melds=["5h 6h 7h", "9h Th Jh"])
    assert starts(play(state, "add 8h above 5h 6h 7h"), "add") == set()
    assert state.facts(0)["melds"][0] == ["5♥ 6♥ 7♥ 8♥", "9♥ 10♥ J♥"]


def test_3_5_jokers_alone():
    found = melds_from("X X X X")
    assert found == {"JK JK JK", "JK JK JK JK"}
    assert melds_from("X X X X", joker_melds=False) == set()
    state = play(position("X Kd Qc", melds=["X X X"]), "add JK to JK JK JK")
    assert state.facts(0)["points_melded"][0] == 600


def test_3_6_pinnacola_and_pinnacolone():
    for length, wanted in ((7, False), (6, True)):
        state = position("Kd Qc 4s", melds=["6s 7s 8s 9s Ts Js"], pinnacola_length=length)
        assert state.facts(0)["has_pinnacola"][0] == wanted
    assert position("Kd Qc", melds=["6s 7s 8s 9s Ts Js Qs"]).facts(0)["has_pinnacola"] == [True, False]
    assert not position("Kd Qc", melds=["6s X 8s 9s Ts Js Qs"]).facts(0)["has_pinnacola"][0]


# -- 4 ------------------------------------------------------------------------------------------------------------


def test_4_1_a_turn_is_a_draw_melds_and_a_discard():
    state = position("5h 6h 7h Kd Qc 9c", phase="draw", row="2s")
    assert labels(state) == {"draw"}
    play(state, "draw", "meld 5h 6h 7h", "discard Kd")
    assert (state.current_player, state.phase) == (1, "draw")


def test_4_2_scenario_7_a_card_of_the_row_with_all_later_ones():
    state = position("9d 9s Kd 3c 8h Th", row="4c 9h Ks 2d", phase="draw")
    assert labels(state) == {"draw", "take 9♥ and 2 more"}
    play(state, "take 9♥ and 2 more")
    assert labels(state) == {"meld 8♥ 9♥ 10♥", "meld 9♠ 9♦ 9♥"}
    assert "must be melded first" in reason(state, int(actions.DISCARD_0 + GAME.view.parse_token("Ks")))
    play(state, "meld 9s 9d 9h")
    assert {"K♠", "2♦"} <= set(pile(state, "hand", 0))
    assert "discard K♠" in labels(state)


@pytest.mark.parametrize("pozzo", ["from_any", "top_only", "whole"])
def test_4_2_scenario_8_the_last_card_is_added_to_a_run(pozzo):
    state = position("Kd Qc 3d", melds=["5s 6s 7s"], row="2h 8s", phase="draw", pozzo=pozzo)
    taken = "take 8♠ and 1 more" if pozzo == "whole" else "take 8♠"
    assert labels(state) == {"draw", taken}
    play(state, taken)
    assert labels(state) == {"add 8♠ above 5♠ 6♠ 7♠"}
    assert len(pile(state, "row")) == (0 if pozzo == "whole" else 1)
    state = position("Kd Qc 3d", melds=["5s 6s 7s"], row="8s 2h", phase="draw", pozzo=pozzo)
    assert labels(state) == ({"draw", "take 8♠ and 1 more"} if pozzo == "from_any" else {"draw"})


def test_4_2_scenario_9_what_comes_along_is_free():
    state = position("6h 6s Qd Qh 3c 5d", row="6d Qc", phase="draw")
    assert labels(state) == {"draw", "take 6♦ and 1 more", "take Q♣"}
    both = play(state.clone(), "take 6♦ and 1 more", "meld 6♠ 6♦ 6♥", "meld Q♣ Q♦ Q♥")
    assert pile(both, "hand", 0) == ["3♣", "5♦"]
    assert pile(play(state, "take Q♣"), "row") == ["6♦"]


def test_4_3_natural_runs_at_once_and_runs_with_a_wild_card_card_by_card():
    found = melds_from("5h 6h 7h 8h X")
    assert {"5♥ 6♥ 7♥ 8♥", "5♥ 6♥ 7♥", "6♥ 7♥ 8♥", "5♥ 6♥ JK", "5♥ JK 7♥"} <= found
    assert "5♥ 6♥ 7♥ JK" not in found
    state = play(position("5h 6h 7h X Kd Qc"), "meld 5h 6h 7h", "add JK above 5h 6h 7h")
    assert state.facts(0)["melds"][0] == ["5♥ 6♥ 7♥ JK"]


def test_4_4_cards_are_added_to_melds_of_the_own_side():
    melds = {"melds": ["5h 6h 7h"], "others_melds": ["9s 9d 9h"]}
    assert starts(position("8h 9c Kd Qc", **melds), "add") == {"add 8♥ above 5♥ 6♥ 7♥"}
    state = position("8h 9c Kd Qc", attach="any", **melds)
    assert starts(state, "add") == {"add 8♥ above 5♥ 6♥ 7♥", "add 9♣ to player_1's 9♠ 9♦ 9♥"}
    assert play(state, "add 9c to player_1's 9s 9d 9h").facts(0)["points_melded"] == [25, 80]


def test_4_5_scenario_10_a_joker_is_replaced_and_used_at_once():
    hand = {"hand": "Th 4c 4d Qs", "others_melds": ["9h X Jh"]}
    state = position(**hand)
    assert starts(state, "replace") == {"replace JK by 10♥ in player_1's 9♥ JK J♥"}
    play(state, "replace JK by Th in player_1's 9h JK Jh")
    assert labels(state) == {"meld 4♣ 4♦ JK"}
    play(state, "meld 4c 4d JK")
    assert labels(state) == {"discard Q♠"}
    assert not starts(position(**hand, close_needs="both"), "replace")


def test_4_5_scenario_11_a_joker_that_cannot_be_used():
    hand = {"hand": "Th 4c Qs 2d", "others_melds": ["9h X Jh"]}
    state = position(**hand)
    assert not starts(state, "replace")
    swap = int(actions.SWAP_RUN_0 + (3 * 14 + 9) * 3)
    assert "could not be melded at once" in reason(state, swap)
    state = position(**hand, melds=["5s 6s 7s"])
    play(state, "replace JK by Th in player_1's 9h JK Jh")
    assert labels(state) == {"add JK above 5♠ 6♠ 7♠", "add JK below 5♠ 6♠ 7♠"}


def test_4_5_whose_jokers_are_replaced_and_not_in_the_same_meld():
    melds = {"melds": ["9h X Jh"], "others_melds": ["9s X Js"]}
    hand = "Th Ts 4c 4d Qd Ac 8h"
    assert len(starts(position(hand, **melds), "replace")) == 2
    assert starts(position(hand, joker_replace="own_side", **melds), "replace") == {"replace JK by 10♥ in 9♥ JK J♥"}
    assert not starts(position(hand, joker_replace="none", **melds), "replace")
    state = play(position(hand, **melds), "replace JK by Th in 9h JK Jh")
    assert labels(state) == {"meld 4♣ 4♦ JK"}  # not above 9♥ 10♥ J♥ again
    state = position("2c Kd Qc 4d 4h 9d", melds=["As 2s 3s"], others_melds=["6h 2s 8h"], pinelle=True)
    assert not starts(state, "replace")


def test_4_6_any_card_may_be_discarded():
    state = play(position("6h 6s Qd Qh 3c 5d", row="6d Qc", phase="draw"), "take 6d and 1 more", "meld 6s 6d 6h")
    assert starts(state, "discard") == {"discard Q♣", "discard Q♦", "discard Q♥", "discard 3♣", "discard 5♦"}


def test_4_7_which_of_several_melds():
    state = position("8h 2c Kd Qc", melds=["5h 6h 7h", "5h X 7h"])
    assert starts(state, "add") == {"add 8♥ above 5♥ 6♥ 7♥", "add 8♥ above 5♥ JK 7♥"}
    play(state, "add 8h above 5h JK 7h")
    assert state.facts(0)["melds"][0] == ["5♥ 6♥ 7♥", "5♥ JK 7♥ 8♥"]
    state = position("8h 2c Kd Qc", melds=["5h 6h 7h", "5h 6h 7h"])
    assert starts(state, "add") == {"add 8♥ above 5♥ 6♥ 7♥"}


def test_4_8_scenario_14_a_card_to_discard_is_left():
    assert starts(position("7h 8h 9h Ks"), "meld") == {"meld 7♥ 8♥ 9♥"}
    state = position("7h 8h 9h Ks", close_needs="both")
    assert not starts(state, "meld")
    assert "legal discard" in reason(state, int(actions.run_action(3, 6, 3)))
    assert not starts(position("7h 8h 9h"), "meld")
    state = play(position("7h 8h 9h", close_discard="optional"), "meld 7h 8h 9h")
    assert state.is_terminal


# -- 5 ------------------------------------------------------------------------------------------------------------


def test_5_1_closing_with_the_last_discard():
    state = play(position("7h 8h 9h Ks", others=["Ah Kd X 3c"]), "meld 7h 8h 9h", "discard Ks")
    assert state.is_terminal
    assert state.returns == [30 + 100 + 55, -185]
    assert "player_0 closes." in state.recap(1)


@pytest.mark.parametrize(
    ("needs", "melds", "may"),
    [
        ("none", [], True),
        ("pinnacola", ["5s 6s 7s 8s"], False),
        ("pinnacola", ["5s 6s 7s 8s 9s Ts Js"], True),
        ("pinnacola", ["5s 6s X 8s 9s Ts Js"], False),
        ("poker", ["5s 6s 7s 8s 9s Ts Js"], False),
        ("poker", ["Qs Qc Qd X"], True),
        ("poker", ["X X X X"], False),
        ("both", ["Qs Qc Qd X"], False),
        ("both", ["5s 6s 7s 8s 9s Ts Js", "Qs Qc Qd Qh"], True),
    ],
)
def test_5_2_what_a_side_needs_to_close(needs, melds, may):
    state = position("7h 8h 9h Ks", melds=melds, close_needs=needs)
    assert state.facts(0)["may_close"] == may
    assert ("meld 7♥ 8♥ 9♥" in labels(state)) == may


def test_5_3_scenario_15_a_closing_discard_that_fits():
    hand = {"hand": "8s", "melds": ["5s 6s 7s"]}
    assert labels(position(**hand)) == {"discard 8♠"}
    state = position("7h 8h 9h 8s", melds=["5s 6s 7s"], close_fit=False)
    assert not starts(state, "meld")
    state = position("8s", melds=["5s 6s 7s"], close_fit=False)
    assert state.explain_illegal(int(actions.DISCARD_0 + GAME.view.parse_token("8s"))) == ""  # the way out (8.4)
    assert "meld 7♥ 8♥ 9♥" in labels(position("7h 8h 9h 9d", melds=["5s 6s 7s"], close_fit=False))
    assert not starts(position("7h 8h 9h X", melds=["5s 6s 7s"], close_fit=False), "meld 7♥ 8♥ 9♥")


def test_5_4_nobody_closes_in_the_first_round():
    hand = {"hand": "7h 8h 9h Ks", "close_first_round": False}
    assert not starts(position(**hand, first_turn=True), "meld")
    assert starts(position(**hand), "meld")


def test_5_5_an_empty_stock():
    state = play(position("Kd Qc 9c", stock=0), "discard Kd")
    assert state.is_terminal
    state = play(position("Kd Qc 9c", stock=0, stock_end="pozzo", row="4h", others=["4d 4s 8c 9d 7h"]), "discard Kd")
    assert labels(state) == {"stop", "take 4♥ and 1 more"}
    assert play(state.clone(), "take 4♥ and 1 more", "meld 4s 4d 4h").phase == "meld"
    assert "cards in the stock" in reason(position("Kd Qc 9c", phase="draw"), actions.STOP)
    play(state, "stop")
    assert state.is_terminal
    assert state.returns == [40 - 20, 20 - 40]


def test_5_6_a_pinnacolone_ends_the_hand():
    melds = ["As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs"]
    for ends in (False, True):
        state = play(position("Ks Kd Qc 9c", melds=melds, pinnacolone_ends=ends), "add Ks above As to Qs")
        assert not state.is_terminal
        assert play(state, "discard Kd").is_terminal == ends


# -- 6, 7 ---------------------------------------------------------------------------------------------------------


def test_6_1_card_values():
    assert position("X As Kd 9c 6h 5h 2d").facts(0)["hand_points"] == 25 + 15 + 10 + 10 + 10 + 5 + 5
    assert position("X As 2s 2s 2c", pinelle=True).facts(0)["hand_points"] == 25 + 15 + 75


@pytest.mark.parametrize(
    ("meld", "worth"),
    [
        ("5h 6h 7h", 25), ("Ah 2h 3h", 25), ("Qh Kh Ah", 35), ("5h X 7h", 40), ("Th Tc Td", 30), ("Th Tc X", 45),
        ("Kc Ac X", 50), ("5h 5d 5s", 15),
        ("Ts Tc Td Th", 80), ("As Ac Ad Ah", 120), ("4s 4c 4d 4h", 40), ("Th Tc Td X", 55),
        ("6s 7s 8s 9s Ts Js Qs", 140), ("3d 4d 5d 6d 7d 8d 9d", 110), ("6s 7s 8s 9s Ts Js X", 85),
        ("6s X 8s 9s Ts Js Qs Ks", 95),
        ("Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc", 600), ("Ac 2c 3c 4c 5c X 7c 8c 9c Tc Jc Qc Kc", 130),
        ("2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc Ac", 600), ("Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc Ac", 600),
        ("X X X", 75), ("X X X X", 600),
    ],
)  # fmt: skip
def test_6_2_scenarios_1_3_4_5_points_of_melds(meld, worth):
    hand = position("9d 6h", melds=[meld.replace("Kc Ac X", "X Kc Ac")])
    assert hand.facts(0)["points_melded"] == [worth, 0]


@pytest.mark.parametrize(
    ("meld", "worth"),
    [("2s 5h 6h", 40), ("2s 3s 4s", 35), ("9h 9d 2s", 45), ("2s 2c 3c 4c", 60), ("As 2s 3s 4s 5s 6s 7s", 150)],
)
def test_6_2_scenario_6_points_with_pinelle(meld, worth):
    assert points(meld, pinelle=True) == worth


def test_6_3_scenario_16_the_score_of_a_hand():
    state = position("9d", melds=["6s 7s 8s 9s Ts Js Qs", "4s 4c 4d 4h"], others_melds=["Th Tc Td"], row="2c",
                     others=["As Ks X 3s"])  # fmt: skip
    play(state, "discard 9d")
    assert state.record.scores.tolist() == [280, -25]
    assert state.returns == [305, -305]


def test_6_3_scenario_18_without_closing():
    state = position("Kd Ks Kc Kh Qd Qs Qc Qh Jd Js Jc Jh 9c 9d", others_melds=["Th Tc X"], row="2c", stock=0,
                     others=["As Ks X 3s"])  # fmt: skip
    assert state.facts(0)["hand_points"] == 140
    play(state, "discard 9d")
    assert state.record.scores.tolist() == [-130, 45 - 55]
    assert state.returns == [-120, 120]


def test_6_3_scenario_19_the_partners_hand_counts():
    state = position("9d", player=2, num_players=4, row="2c", others=["4s 4d", "As Ad 5h", "4h 4c"], close_bonus=100)
    play(state, "discard 9d")
    assert state.record.scores.tolist() == [100 - 35, -20]
    assert state.returns == [85, -85, 85, -85]


def test_6_4_scenario_17_in_mano():
    melds = {"melds": ["6s 7s 8s 9s Ts Js Qs", "4s 4c 4d 4h"], "row": "2c", "others": ["As"]}
    state = play(position("9d", first_turn=True, **melds), "discard 9d")
    assert state.record.scores.tolist() == [760, -15]
    assert "player_0 closes in the first turn." in state.recap(1)
    state = play(position("9d", first_turn=True, in_mano=False, **melds), "discard 9d")
    assert state.record.scores.tolist() == [280, -15]
    state = play(position("9d", first_turn=True, close_bonus=30, **melds), "discard 9d")
    assert state.record.scores.tolist() == [2 * (180 + 60), -15]


def match_position(scores, hand="9d", melds=("6s 7s 8s",), **more):
    return position(hand, melds=list(melds), row="2c", target=1000, scores=scores, **more)


def test_7_1_a_single_hand_pays_the_difference():
    assert sum(play(position("7h 8h 9h Ks"), "meld 7h 8h 9h", "discard Ks").returns) == 0


def test_7_2_hands_follow_each_other_and_the_deal_moves_on():
    state = play(match_position([0, 0], others=["As"]), "discard 9d")
    assert not state.is_terminal
    assert state.record.scores.tolist() == [130, -15]
    assert (int(state.record.dealer), state.current_player, int(state.record.num_hands)) == (0, 1, 2)
    assert state.record.hand_sizes.tolist()[:2] == [13, 13]
    assert state.facts(0)["known_hands"][1] == []


@pytest.mark.parametrize(
    ("scores", "returns"),
    [([870, 500], [1, -1]), ([869, 500], None), ([870, 1200], [-1, 1]), ([885, 1030], None), ([960, 1000], [1, -1])],
)
def test_7_3_scenario_20_the_higher_total_wins(scores, returns):
    state = play(match_position(scores, others=["As"]), "discard 9d")
    assert state.is_terminal == (returns is not None)
    if returns:
        assert state.returns == returns


def test_7_4_leaving():
    state = GAME.new_state(seed=1)
    state.apply(FORFEIT)
    assert state.returns == [-6580, 6580]
    state = GAME.new_state(seed=1, num_players=4, target=1500)
    state.apply(FORFEIT)
    assert state.returns == [-1, 1, -1, 1]


# -- 8 ------------------------------------------------------------------------------------------------------------


def test_8_1_and_8_3_what_is_seen():
    state = GAME.new_state(seed=4, num_players=4)
    for viewer in (0, SPECTATOR):
        piles = table_texts(state.view(viewer))["piles"]
        assert set(piles["hand"][2]) == set(piles["stock"]) == {"?"}
        assert len(piles["hand"][2]) == 13
        assert "?" not in piles["row"]


def test_8_2_cards_taken_from_the_row_are_known():
    state = play(position("9d 9s Kd 3c 8h Th Ks", row="4c 9h Ks 2d", phase="draw"), "take 9h and 2 more")
    assert state.facts(1)["known_hands"][0] == ["K♠", "2♦", "9♥"]
    play(state, "meld 9s 9d 9h")
    for seed in range(20):
        twin = state.determinize(1, seed)
        assert {"K♠", "2♦"} <= set(pile(twin, "hand", 0))
    play(state, "discard Ks")
    assert state.facts(1)["known_hands"][0] == ["2♦"]  # that king may be the one that all have seen


def test_8_4_worlds_in_which_the_card_just_taken_can_be_melded():
    state = play(position("9d 9s Kd 3c", row="9h 4c", phase="draw"), "take 9h and 1 more")
    hands = set()
    for seed in range(30):
        twin = state.determinize(1, seed)
        assert starts(twin, "meld")
        hands.add(tuple(pile(twin, "hand", 0)))
    assert len(hands) > 10


def test_options_are_checked():
    with pytest.raises(OptionError, match="num_players"):
        GAME.make_options(num_players=3)
    with pytest.raises(OptionError, match="pozzo"):
        GAME.make_options(pozzo="all")
