"""Rummikub: the scenarios of sets, opening, rearranging, jokers, course and score, on the engine."""

import random
from fractions import Fraction

import pytest
from rummikub_legality import (
    CONSERVATION,
    INVALID_MELD,
    JOKER_RULE,
    NO_RACK_TILE,
    NOT_IN_RACK,
    NOT_NOW,
    OPENING,
    IllegalMoveError,
)
from rummikub_oracle import (
    Draw,
    EngineState,
    Pass,
    Play,
    Timeout,
    all_tiles,
    final_scores,
    match_result,
    move_from_json,
    move_to_json,
    replay,
)

from cardenvs.core.errors import DeckError, FormatError, OptionError
from cardenvs.games.rummikub.melds import GROUP, RUN, Meld, canonical_table, split_table, table_of
from cardenvs.games.rummikub.replace_table import table_key
from cardenvs.games.rummikub.tiles import (
    EMPTY,
    add,
    leq,
    multiset,
    multiset_from_json,
    multiset_to_json,
    parse_tile,
    sub,
    tile_label,
    tiles_in,
    total,
    value_of,
)


def judged(rack, table, new_table, delta=None, opened=True, **options):
    """The condition that a play breaks, or "legal". Without `delta`, the whole rack is used."""
    state = EngineState.position([rack, "B1"], table, opened=opened, **options)
    state.check_invariants()
    try:
        after = state.apply(Play.of(rack if delta is None else delta, new_table))
    except IllegalMoveError as error:
        return error.condition
    after.check_invariants()
    return "legal"


# ---------------------------------------------------------------------------------------------------------------
# Tiles and sets


def test_tile_types():
    assert [parse_tile(text) for text in ("R1", "R13", "B1", "K13", "O13", "J", "y5")] == [0, 12, 13, 38, 51, 52, 43]
    rules = EngineState.new(0).rules
    assert len(all_tiles(rules)) == 106
    assert sum(value_of(tile) for tile in all_tiles(rules) if tile != 52) == 728
    with pytest.raises(DeckError, match="'R14' is not a tile"):
        parse_tile("R14")


def test_multisets():
    a, b = multiset("R1 R1 J"), multiset("R1 K4")
    assert total(add(a, b)) == 5
    assert not leq(b, a)
    assert leq(multiset("R1 J"), a)
    assert sub(a, multiset("R1 J")) == multiset("R1")
    with pytest.raises(DeckError, match="K4"):
        sub(a, b)
    assert multiset_to_json(a) == [[0, 2], [52, 1]]
    assert multiset_from_json(multiset_to_json(a)) == a
    for wrong in ([[53, 1]], [[0, 0]], [[0, 1], [0, 1]]):
        with pytest.raises(DeckError):
            multiset_from_json(wrong)


@pytest.mark.parametrize(
    ("text", "kind", "points"),
    [
        ("R9 R10 R11", RUN, 30), ("R11 B11 K11", GROUP, 33), ("R1 B1 K1 O1", GROUP, 4),  # 1
        ("R8 J(R9) R10", RUN, 27), ("R8 B8 J(K8)", GROUP, 24), ("J(R11) J(R12) R13", RUN, 36),
        ("K10 J(R10) J(B10)", GROUP, 30),  # 3
        ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13", RUN, 91),
    ],
)  # fmt: skip
def test_scenarios_1_and_3_valid_sets(text, kind, points):
    meld = Meld.of(text)
    assert meld.why_invalid() == ""
    assert (meld.kind, meld.points) == (kind, points)
    assert Meld.from_json(meld.to_json()) == meld


@pytest.mark.parametrize(
    "text", ["R12 R13 R1", "R7 B7 R7", "R5 R6", "R4 R5 R5 R6", "R8 J(R8) B8", "R8 J R10", "R4 B5 K6", "R4 R5 R6 B7"]
)
def test_scenario_2_invalid_sets(text):
    assert Meld.of(text).why_invalid()


def test_scenario_2_a_joker_cannot_stand_for_a_14():
    with pytest.raises(DeckError, match="R14"):
        Meld.of("R12 R13 J(R14)")


def test_scenario_4_order_of_entry_does_not_matter():
    assert Meld.of("R6 R4 R5").canonical == Meld.of("R4 R5 R6")
    assert Meld.of("O4 J(K4) R4").canonical == Meld.of("R4 J(K4) O4")
    one = table_of(["B4 B5 B6", "R6 R4 R5", "O4 K4 R4"])
    other = table_of(["K4 R4 O4", "R4 R5 R6", "B5 B6 B4"])
    assert canonical_table(one) == canonical_table(other)
    assert table_key(one) == table_key(other)
    assert [meld.label for meld in canonical_table(one)] == ["R4 R5 R6", "B4 B5 B6", "R4 K4 O4"]


def test_the_table_key_is_the_same_everywhere():
    assert table_key(table_of(["R4 J(R5) R6"])) == "a8ebf263f2b7dd4570738eab8966c02f"
    assert table_key(table_of(["R4 J(R5) R6"])) != table_key(table_of(["R4 R5 R6"]))


def test_split_form_joins_what_is_the_same_table():
    assert split_table(table_of(["R1 R2 R3 R4 R5 R6 R7"])) == table_of(["R1 R2 R3", "R4 R5 R6 R7"])
    assert split_table(table_of(["R1 R2 R3 R4 R5"])) == table_of(["R1 R2 R3 R4 R5"])
    assert len(split_table(table_of(["R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11"]))) == 3


# ---------------------------------------------------------------------------------------------------------------
# Opening


@pytest.mark.parametrize(
    ("rack", "melds", "expected"),
    [
        ("R9 R10 R11", ["R9 R10 R11"], "legal"),
        ("B7 K7 O7", ["B7 K7 O7"], OPENING),
        ("B7 K7 O7 R2 R3 R4", ["B7 K7 O7", "R2 R3 R4"], "legal"),
        ("B7 K7 O7 R1 R2 R3", ["B7 K7 O7", "R1 R2 R3"], OPENING),
    ],
)
def test_scenario_5_thirty_points(rack, melds, expected):
    assert judged(rack, [], melds, opened=False) == expected


def test_scenario_6_jokers_in_the_opening():
    assert judged("K10 J B10", [], ["K10 J(R10) B10"], opened=False) == "legal"
    no_joker = {"opened": False, "initial_meld_allow_joker": False}
    assert judged("K10 J B10", [], ["K10 J(R10) B10"], **no_joker) == OPENING
    assert judged("K9 J B9", [], ["K9 J(R9) B9"], opened=False) == OPENING


def test_scenario_7_the_table_stays_as_it_is():
    table, rack, tens = ["R3 R4 R5"], "R6 K10 B10 O10", "K10 B10 O10"
    assert judged(rack, table, ["R3 R4 R5", tens], delta=tens, opened=False) == "legal"
    assert judged(rack, table, ["R3 R4 R5 R6", tens], opened=False) == OPENING
    assert judged(rack, table, ["R3 R4 R5 R6"], delta="R6", opened=False) == OPENING
    assert judged(rack, table, ["R3 R4 R5 R6", tens], opened=False, manipulate_after_opening=True) == "legal"
    assert judged(rack, table, ["R3 R4 R5 R6"], delta="R6", opened=False, manipulate_after_opening=True) == OPENING


def test_scenario_8_adding_to_the_table_in_a_later_turn():
    state = EngineState.position(["R12 R13 B13 K13 R1", "B1"], ["R9 R10 R11"])
    with pytest.raises(IllegalMoveError, match=r"4\.2"):
        state.apply(Play.of("R12 R13 B13 K13", ["R9 R10 R11 R12", "R13 B13 K13"]))
    state = state.apply(Play.of("R13 B13 K13", ["R9 R10 R11", "R13 B13 K13"])).apply(Draw())
    state = state.apply(Play.of("R12", ["R9 R10 R11 R12", "R13 B13 K13"]))
    assert [meld.label for meld in state.table] == ["R9 R10 R11 R12", "R13 B13 K13"]


def test_4_5_an_opening_that_uses_the_table():
    at_table = {"opened": False, "initial_meld_hand_only": False}
    assert judged("R12 R13 K5", ["R9 R10 R11"], ["R9 R10 R11 R12 R13"], delta="R12 R13", **at_table) == OPENING
    options = {**at_table, "initial_meld_min": 25}
    assert judged("R12 R13 K5", ["R9 R10 R11"], ["R9 R10 R11 R12 R13"], delta="R12 R13", **options) == "legal"
    assert judged("R12 J K5", ["R9 R10 R11"], ["R9 R10 R11 R12 J(R13)"], delta="R12 J", **options) == "legal"


def test_4_1_without_a_minimum_everybody_is_open():
    state = EngineState.position(["R6", "B1"], ["R3 R4 R5"], opened=False)
    assert not any(state.opened)
    assert all(EngineState.new(0, initial_meld_min=0).opened)


# ---------------------------------------------------------------------------------------------------------------
# Rearranging: what lies in the rack, what lies on the table, the new table

REARRANGED = {
    "9": ("R5", ["R3 R4 R5 R6 R7"], ["R3 R4 R5", "R5 R6 R7"]),
    "10": ("R8 R9", ["R7 B7 K7 O7"], ["R7 R8 R9", "B7 K7 O7"]),
    "11a": ("R5", ["R1 B1 K1 O1", "R2 R3 R4"], ["R1 B1 K1 O1", "R2 R3 R4 R5"]),
    "11b": ("R5", ["R1 B1 K1 O1", "R2 R3 R4"], ["R1 R2 R3 R4 R5", "B1 K1 O1"]),
    "12": ("O5", ["R4 R5 R6", "B4 B5 B6", "K4 K5 K6"], ["R4 B4 K4", "R5 B5 K5 O5", "R6 B6 K6"]),
    "13": ("K7 O7", ["R4 R5 R6 R7", "B5 B6 B7"], ["R4 R5 R6", "B5 B6 B7", "R7 K7 O7"]),
    "14": ("R3 R4", ["R1 R2 R3 R4 R5 R6"], ["R1 R2 R3 R4", "R3 R4 R5 R6"]),
    "15": ("B11 B12", ["R10 R11 R12 R13", "B10 K10 O10"], ["R11 R12 R13", "R10 K10 O10", "B10 B11 B12"]),
}


@pytest.mark.parametrize("name", REARRANGED)
def test_scenarios_9_to_15_rearranging(name):
    rack, table, new_table = REARRANGED[name]
    assert judged(rack, table, new_table) == "legal"
    assert judged(rack, table, new_table, opened=False) == OPENING


def test_scenario_10_a_group_of_three_gives_nothing_away():
    assert judged("R8 R9", ["R7 B7 K7"], ["R7 R8 R9", "B7 K7"]) == INVALID_MELD


def test_scenario_11_two_different_tables():
    assert table_key(table_of(REARRANGED["11a"][2])) != table_key(table_of(REARRANGED["11b"][2]))


def test_scenario_16_rearranging_alone_is_no_play():
    runs, groups = ["R4 R5 R6", "B4 B5 B6", "K4 K5 K6"], ["R4 B4 K4", "R5 B5 K5", "R6 B6 K6"]
    assert judged("O5", runs, groups, delta="") == NO_RACK_TILE


def test_scenario_17_conservation():
    assert judged("R7", ["R3 R4 R5 R6"], ["R4 R5 R6 R7"]) == CONSERVATION
    assert judged("R7", ["R4 R5 R6"], ["R3 R4 R5 R6 R7"]) == CONSERVATION
    assert judged("R7", ["R4 R5 R6"], ["R4 R5 R6 R7 R8"], delta="R7 R8") == NOT_IN_RACK


# ---------------------------------------------------------------------------------------------------------------
# Jokers


def test_scenario_18_retrieving_with_a_rack_tile():
    for joker in ("K8", "K11"):
        assert judged("R5 K9 K10", ["R4 J(R5) R6"], ["R4 R5 R6", f"K9 K10 J({joker})"]) == "legal"


def test_scenario_19_retrieving_with_a_table_tile():
    new_table = ["R4 R5 R6", "B5 K5 O5", "K9 K10 J(K8)"]
    assert judged("K9 K10", ["R4 J(R5) R6", "R5 B5 K5 O5"], new_table) == "legal"


def test_scenario_20_no_new_meaning_without_the_tile():
    table, new_table = ["J(R4) R5 R6 R7"], ["K9 K10 J(K11)", "R5 R6 R7"]
    assert judged("K9 K10", table, new_table) == JOKER_RULE
    assert judged("K9 K10", table, new_table, joker_rule="free") == "legal"
    assert judged("K9 K10", table, new_table, joker_rule="locked") == JOKER_RULE


@pytest.mark.parametrize("rule", ["retrieve", "free", "locked"])
def test_scenario_21_the_joker_keeps_its_meaning(rule):
    assert judged("B7 K7", ["J(R4) R5 R6 R7"], ["J(R4) R5 R6", "R7 B7 K7"], joker_rule=rule) == "legal"


def test_scenario_22_either_missing_colour_frees_a_joker_in_a_group_of_three():
    table = ["R8 J(B8) K8"]
    assert judged("O8 K11 K12", table, ["R8 K8 O8", "K11 K12 J(K13)"]) == "legal"
    assert judged("B8 K11 K12", table, ["R8 K8 B8", "K11 K12 J(K13)"]) == "legal"
    assert judged("R8 R9 R10 K11 K12", table, ["R8 R9 R10", "K11 K12 J(K13)", "R8 K8"]) == INVALID_MELD
    table = ["R8 J(B8) K8", "R7 O7 B7 K7"]
    new_table = ["R7 R8 R9", "K7 K8 K9", "O7 B7 J(R7)", "R8 R9 R10"]
    assert judged("R8 R9 K9 R9 R10", table, new_table) == JOKER_RULE


def test_scenario_23_in_a_group_of_four_only_the_tile_itself():
    table = ["R8 B8 K8 J(O8)"]
    assert judged("O8 K11 K12", table, ["R8 B8 K8 O8", "K11 K12 J(K13)"]) == "legal"
    assert judged("R8 K11 K12", table, ["R8 B8 K8", "K11 K12 J(K13)"], delta="K11 K12") == JOKER_RULE


def test_scenario_24_not_open_no_retrieving():
    table, new_table = ["R4 J(R5) R6"], ["R4 R5 R6", "K9 K10 J(K11)"]
    assert judged("R5 K9 K10", table, new_table, opened=False) == OPENING
    for house_rule in ({"initial_meld_hand_only": False}, {"manipulate_after_opening": True}):
        tens, options = "R10 B10 K10 O10", {"opened": False, "initial_meld_min": 20, **house_rule}
        assert judged(f"R5 K9 K10 {tens}", table, [*new_table, "R10 B10 O10"], **options) == CONSERVATION
        rest = {"delta": "R5 K9 K10 R10 B10 O10"}
        assert judged(f"R5 K9 K10 {tens}", table, [*new_table, "R10 B10 O10"], **rest, **options) == JOKER_RULE


def test_scenario_25_a_joker_never_returns_to_a_rack():
    assert judged("R5", ["R4 J(R5) R6"], ["R4 R5 R6"]) == CONSERVATION
    with pytest.raises(OptionError, match="joker_to_hand"):
        EngineState.new(0, joker_to_hand=True)


def test_scenario_26_house_rules_of_jokers():
    scenario_18 = ("R5 K9 K10", ["R4 J(R5) R6"], ["R4 R5 R6", "K9 K10 J(K11)"])
    assert judged(*scenario_18, retrieved_joker_rack_tiles=2) == "legal"
    assert judged(*scenario_18, retrieved_joker_rack_tiles=3) == JOKER_RULE
    one_rack_tile = ("R5 K9", ["R4 J(R5) R6", "K10 K11 K12 K13"], ["R4 R5 R6", "K11 K12 K13", "K9 K10 J(K8)"])
    assert judged(*one_rack_tile) == "legal"
    assert judged(*one_rack_tile, retrieved_joker_rack_tiles=2) == JOKER_RULE
    assert judged(*scenario_18, joker_set_locked=True) == "legal"
    scenario_21 = ("B7 K7", ["J(R4) R5 R6 R7"], ["J(R4) R5 R6", "R7 B7 K7"])
    assert judged(*scenario_21, joker_set_locked=True) == JOKER_RULE
    assert judged("R8", ["J(R4) R5 R6 R7"], ["J(R4) R5 R6 R7 R8"], joker_set_locked=True) == "legal"
    table = ["R8 J(B8) K8"]
    both = {"joker_group3_needs_both": True}
    assert judged("O8 K11 K12", table, ["R8 K8 O8", "K11 K12 J(K13)"], **both) == JOKER_RULE
    assert judged("B8 O8 K11 K12", table, ["R8 B8 K8 O8", "K11 K12 J(K13)"], **both) == "legal"


def test_scenario_35_the_tile_may_go_back():
    table = ["J(R4) R5 R6 R7", "R4 B4 K4"]
    assert judged("K9 K10", table, ["R5 R6 R7", "R4 B4 K4", "K9 K10 J(K8)"]) == "legal"


def test_5_2_each_joker_needs_a_tile_of_its_own():
    table, rack = ["J(R4) R5 R6", "J(R4) B4 K4 O4"], "K9 K10 K11"
    one = ["R4 R5 R6", "J(R4) B4 K4 O4", "K9 K10 J(K8)"]
    assert judged("R4 K9 K10", table, one) == "legal"
    both = ["R4 R5 R6", "B4 K4 O4", "K9 K10 K11 J(K8) J(K12)"]
    assert judged(f"R4 {rack}", table, both) == JOKER_RULE
    assert judged(f"R4 R4 {rack}", table, [*both[:1], "R4 B4 K4 O4", both[2]]) == "legal"


def test_5_2_jokers_that_change_places_have_not_changed():
    table = ["R4 J(R5) R6", "J(B5) B6 B7"]
    assert judged("O5", table, ["R4 J(R5) R6", "J(B5) B6 B7", "O5 R5 K5"], delta="O5") == CONSERVATION
    assert judged("R7 B8", table, ["R4 J(R5) R6 R7", "J(B5) B6 B7 B8"]) == "legal"


# ---------------------------------------------------------------------------------------------------------------
# Course and score


@pytest.mark.parametrize(("players", "pool"), [(2, 78), (3, 64), (4, 50)])
def test_scenario_27_the_deal(players, pool):
    state = EngineState.new(seed=3, num_players=players)
    assert len(state.pool) == pool
    assert [total(hand) for hand in state.hands] == [14] * players
    state.check_invariants()


def test_scenario_28_drawing_and_passing():
    with pytest.raises(IllegalMoveError, match="pool is empty"):
        EngineState.position(["R1", "B1"], pool="").apply(Draw())
    with pytest.raises(IllegalMoveError, match="tiles in the pool") as refused:
        EngineState.position(["R1", "B1"], pool="K1").apply(Pass())
    assert refused.value.condition == NOT_NOW


def test_scenario_29_going_out():
    state = EngineState.position(["R5", "R7 K12", "J R1", "B13 B13"], ["R2 R3 R4"], opened=True)
    state = state.apply(Play.of("R5", ["R2 R3 R4 R5"]))
    assert state.is_terminal
    assert state.scores == [76, -19, -31, -26]
    with pytest.raises(IllegalMoveError, match="over"):
        state.apply(Draw())


@pytest.mark.parametrize(
    ("racks", "scores"),
    [
        (["R12", "J", "R5", "R8"], [-7, -25, 35, -3]),  # 30
        (["R9", "K9"], [0, 0]),  # 31
        (["R4", "B4", "K10"], [3, 3, -6]),  # 32
    ],
)
def test_scenarios_30_to_32_blocked(racks, scores):
    state = EngineState.position(racks, pool="")
    for _ in racks:
        assert not state.is_terminal
        state = state.apply(Pass())
    assert state.is_terminal
    assert state.scores == scores


def test_6_2_winners_share_exactly():
    assert final_scores([4, 4, 4, 14], [False] * 4) == [Fraction(10, 3)] * 3 + [Fraction(-10)]


def test_6_5_a_match_goes_to_most_games_won():
    games = [[Fraction(50), Fraction(-50)], [Fraction(-10), Fraction(10)], [Fraction(-5), Fraction(5)]]
    assert match_result(games) == ([35, -35], [1])
    assert match_result(games[:2]) == ([40, -40], [0])


def test_scenario_33_a_play_ends_the_row_of_passes():
    state = EngineState.position(["R1", "B1", "R5 K9"], ["R2 R3 R4"], pool="", opened=True)
    state = state.apply(Pass()).apply(Pass()).apply(Play.of("R5", ["R2 R3 R4 R5"]))
    assert state.num_passes == 0
    assert not state.apply(Pass()).apply(Pass()).is_terminal


def test_scenario_34_out_on_the_opening():
    state = EngineState.position(["R10 B10 K10", "R1"], opened=False).apply(Play.of("R10 B10 K10", ["R10 B10 K10"]))
    assert state.is_terminal
    assert state.scores == [1, -1]


def test_3_5_a_drawn_tile_may_be_played_where_drawing_does_not_end_the_turn():
    state = EngineState.position(["K1", "B1"], ["R2 R3 R4"], pool="R5 R6", opened=True, draw_ends_turn=False)
    state = state.apply(Draw())
    assert state.current_player == 0
    with pytest.raises(IllegalMoveError, match="has been drawn"):
        state.apply(Draw())
    assert state.apply(Pass()).current_player == 1
    assert state.apply(Pass()).num_passes == 0
    assert state.apply(Play.of("R5", ["R2 R3 R4 R5"])).current_player == 1


def test_3_6_time_out():
    state = EngineState.position(["K1", "B1"], pool="R5 R6", timeout_penalty=3)
    state = state.apply(Timeout())
    assert state.hands[0] == multiset("K1 R5 R6")
    assert not state.is_terminal
    assert state.apply(Timeout()).apply(Timeout()).is_terminal
    with pytest.raises(IllegalMoveError, match="no time limit"):
        EngineState.position(["K1", "B1"]).apply(Timeout())


def test_1_4_who_begins():
    assert {EngineState.new(seed, start_player="random").current_player for seed in range(40)} == {0, 1, 2, 3}
    assert {EngineState.new(seed, start_player="high_tile").current_player for seed in range(40)} == {0, 1, 2, 3}
    assert {EngineState.new(seed).current_player for seed in range(5)} == {0}


def test_1_3_a_given_deck_is_dealt_in_order():
    state = EngineState.new(1, deck="R1 R2 B1 B2 K7", num_players=2, initial_hand_size=2)
    assert [[tile_label(t) for t in tiles_in(hand)] for hand in state.hands] == [["R1", "R2"], ["B1", "B2"]]
    assert tile_label(state.pool[0]) == "K7"
    with pytest.raises(DeckError, match="too often"):
        EngineState.new(1, deck="R1 R1 R1")


def test_too_many_tiles_for_the_deal():
    with pytest.raises(OptionError, match="smaller initial_hand_size"):
        EngineState.new(0, colors=3, values=3, copies=1, initial_hand_size=14)


# ---------------------------------------------------------------------------------------------------------------
# Logs and JSON


def simple_play(state):
    """A legal play that lays melds of the rack or adds one tile to a run, or None."""
    from cardenvs.games.rummikub.catalogue import MELDS

    rack = state.hands[state.current_player]
    plays = [Play(meld.tiles, (*state.table, meld)) for meld in MELDS if leq(meld.tiles, rack)]
    for tile in tiles_in(rack):
        for k, meld in enumerate(state.table):
            if tile != 52:
                grown = (*meld.slots, Meld.of(tile_label(tile)).slots[0])
                plays.append(Play(multiset([tile]), (*state.table[:k], Meld(grown), *state.table[k + 1 :])))
    for play in plays:
        try:
            state.check(play)
        except IllegalMoveError:
            continue
        return play
    return None


@pytest.mark.parametrize("seed", range(4))
def test_invariants_and_replay_of_whole_games(seed):
    chooser = random.Random(seed)
    start = EngineState.new(seed, num_players=2 + seed % 3, initial_meld_min=(30, 10, 0, 20)[seed])
    state = start
    keys = set()
    while not state.is_terminal:
        play = simple_play(state) if chooser.random() < 0.8 else None
        state = state.apply(play or (Draw() if state.pool else Pass()))
        state.check_invariants()
        keys.add(state.state_key)
        assert EngineState.from_json(state.to_json()).state_key == state.state_key
    assert len(keys) == len(state.events)
    assert sum(state.scores) == 0
    assert any(event["move"]["type"] == "PLAY" for event in state.events)
    assert replay(start, state.events) == state
    broken = [dict(event) for event in state.events]
    broken[-1]["table"] = "0"
    with pytest.raises(FormatError, match="the log says"):
        replay(start, broken)


def test_moves_as_json():
    for move in (Draw(), Pass(), Timeout(), Play.of("R5 J", ["R3 R4 R5", "J(R7) B7 K7"])):
        assert move_from_json(move_to_json(move)) == move
    with pytest.raises(FormatError, match="DRAW"):
        move_from_json({"type": "FOLD"})


def test_the_state_key_sees_everything():
    state = EngineState.position(["R1 R2", "B1"], ["R3 R4 R5"], opened=True)
    others = [
        EngineState.position(["R1 R1", "B1"], ["R3 R4 R5"], opened=True),
        EngineState.position(["R1 R2", "B1"], ["R3 R4 R5"], opened=False),
        EngineState.position(["R1 R2", "B1"], ["R4 R5 R6"], opened=True),
        state.apply(Draw()),
    ]
    assert len({other.state_key for other in [state, *others]}) == 5
    assert state.state_key == EngineState.position(["R2 R1", "B1"], ["R5 R3 R4"], opened=True).state_key
    assert EMPTY not in state.hands


def test_3_3_and_3_4_with_a_play_possible():
    rules = {"opened": True, "allow_draw_when_play_possible": False, "pass_rule": "no_play_only"}
    for pool, move in (("B9", Draw()), ("", Pass())):
        with pytest.raises(IllegalMoveError, match="can play"):
            EngineState.position(["R5", "B1"], ["R2 R3 R4"], pool=pool, **rules).apply(move)
        EngineState.position(["R6", "B1"], ["R2 R3 R4"], pool=pool, **rules).apply(move)


def test_2_3_a_joker_stands_for_a_tile_of_the_game():
    assert judged("R1 R2 J", [], ["R1 R2 J(R3)"], values=3, copies=2, initial_hand_size=1) == "legal"
    assert judged("R2 R3 J", [], ["R2 R3 J(R4)"], values=3, copies=2, initial_hand_size=1) == INVALID_MELD
