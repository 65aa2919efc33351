"""Rummikub: a whole turn as a new table, its keys and its JSON, against a slow and plain check of the rules."""

import dataclasses
import json
import random
from collections import Counter

import pytest
from rummikub_legality import (
    CONSERVATION,
    INVALID_MELD,
    JOKER_RULE,
    NO_RACK_TILE,
    NOT_IN_RACK,
    OPENING,
    IllegalMoveError,
    check_play,
)
from test_rummikub_solver import random_position
from test_rummikub_steps import position

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, FormatError, IllegalActionError
from cardenvs.core.kernel import COMPILED
from cardenvs.games.rummikub import GAME, replace_table
from cardenvs.games.rummikub.catalogue import MELDS
from cardenvs.games.rummikub.melds import Meld, canonical_table, split_table, table_from_json, table_of, table_to_json
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.replace_table import (
    IllegalPlayError,
    actions_of,
    play_turns,
    state_key,
    table_key,
    turns_of,
)
from cardenvs.games.rummikub.solve import solve_position
from cardenvs.games.rummikub.tiles import (
    JOKER,
    NUM_NATURALS,
    multiset,
    multiset_from_json,
    multiset_to_json,
    tiles_in,
)

RULE_OF = {
    NOT_IN_RACK: "rack", NO_RACK_TILE: "rack", INVALID_MELD: "validity", CONSERVATION: "conservation",
    OPENING: "opening", JOKER_RULE: "joker",
}  # fmt: skip
PLAYED_BY = (
    "colors",
    "values",
    "joker_rule",
    "joker_group3_needs_both",
    "initial_meld_min",
    "initial_meld_allow_joker",
)


def broken(*arguments):
    with pytest.raises(IllegalPlayError) as caught:
        replace_table(*arguments)
    return caught.value


# ---------------------------------------------------------------------------------------------------------------
# By hand


def test_a_new_table_becomes_the_steps_that_reach_it():
    state = position("R2 B5 K5", ["R3 R4 R5"])
    actions = replace_table(state, "R2 B5 K5", ["K5 R5 B5", "R4 R2 R3"])
    assert [state.action_label(action) for action in actions[:1]] == ["take set 1 apart (R3 R4 R5)"]
    before = state.record_bytes()
    replace_table(state, "R2", ["R2 R3 R4 R5"])
    assert state.record_bytes() == before
    for action in actions:
        state.apply(action)
    assert {MELDS[n].label for n in state.record.sets if n >= 0} == {"R2 R3 R4", "R5 B5 K5"}


@pytest.mark.parametrize(
    ("delta", "table", "opened", "rule", "message"),
    [
        ("R9", ["R3 R4 R5", "R7 R8 R9"], True, "rack", "the rack has too few of R9 (rules.md 3.2 a)"),
        ("", ["R3 R4 R5"], True, "rack", "a play puts down at least one rack tile"),
        ("R6 R7", ["R3 R4 R5", "R6 R7"], True, "validity", "R6 R7 has fewer than 3 tiles (rules.md 3.2 b)"),
        ("R6 J", ["R3 R4 R5 R6 J"], True, "validity", "has a joker that represents no tile"),
        ("R6 R7", ["R3 R4 R5 R6"], True, "conservation", "R7 would vanish (rules.md 3.2 c)"),
        ("R6", ["R3 R4 R5 R6 R7"], True, "conservation", "R7 would come from nowhere"),
        ("R6", ["R4 R5 R6"], True, "conservation", "R3 would vanish"),
        ("R6", ["R3 R4 R5 R6"], False, "opening", "may not touch the table (rules.md 4.2)"),
        ("R6 R7 J", ["R3 R4 R5", "R6 R7 J(R8)"], False, "opening", "worth 21, less than 30"),
    ],
)
def test_the_rule_that_is_broken_is_named(delta, table, opened, rule, message):
    error = broken(position("R6 R7 J", ["R3 R4 R5"], opened=opened), delta, table)
    assert (error.rule, message in str(error)) == (rule, True), error


def test_a_joker_that_nothing_replaces_keeps_its_meaning():
    state = position("R2 B4 K4", ["R3 J(R4) R5"])
    error = broken(state, "B4 K4 R2", ["R2 R3 J(R4) R5", "B4 K4"])
    assert error.rule == "validity"
    error = broken(state, "R2 B4 K4", ["B4 K4 J(O4)", "R2 R3 R5"])
    assert error.rule == "validity"  # R2 R3 R5 is no run
    state = position("R2 R6 B4 K4", ["R3 J(R4) R5"])
    error = broken(state, "R2 R6", ["R2 R3 J(R4)", "R5 R6"])
    assert error.rule == "validity"
    state = position("B9 K9 R6 R7 R3 R4", ["J(R4) R5 R6"])
    error = broken(state, "B9 K9 R7", ["R5 R6 R7", "B9 K9 J(O9)"])
    assert error.rule == "joker"
    assert "rules.md 5" in str(error)
    assert replace_table(state, "B9 K9 R4", ["R4 R5 R6", "B9 K9 J(O9)"])  # R4 replaces it


def test_a_turn_is_given_at_its_start():
    state = position("R2 R6 R7", ["R3 R4 R5"])
    state.apply(replace_table(state, "R2", ["R2 R3 R4 R5"])[0])
    assert broken(state, "R2", ["R2 R3 R4 R5"]).rule == "not_now"
    state = position("R2", ["R3 R4 R5"])
    for action in replace_table(state, "R2", ["R2 R3 R4 R5"]):
        state.apply(action)
    assert state.is_terminal
    assert broken(state, "R2", ["R2 R3 R4 R5"]).rule == "not_now"


@pytest.mark.parametrize(
    ("delta", "table"), [("X9", []), (["R5", 60], []), ("R6", ["R3 R4 Q5"]), (7, []), ("R6", [7]), ("R6", 5)]
)
def test_what_is_no_tile_is_refused(delta, table):
    with pytest.raises(DeckError):
        replace_table(position("R6", ["R3 R4 R5"]), delta, table)


# ---------------------------------------------------------------------------------------------------------------
# Against the plain check


def misread(slot, chooser):
    """A joker with another value; the others as they are."""
    return slot if slot.tile != JOKER else slot._replace(value=chooser.randrange(1, 14))


def whole_turns(where, chooser):
    """Plays of a position: the solver's, and others in which something is wrong, mostly."""
    for objective in ("tiles", "points"):
        best = solve_position(where, objective)
        played, table = list(best.played), list(best.melds)
        yield played, table
        lax = dataclasses.replace(where.rules, joker_rule="free")
        bolder = solve_position(Position(lax, where.rack, where.table, True), objective)
        yield list(bolder.played), list(bolder.melds)
        if played:
            yield played[1:], table
            yield [*played[1:], played[-1]], table
            yield played, table[1:]
            yield played, [Meld(meld.slots[1:]) for meld in table]
        yield [], table
        yield [chooser.randrange(NUM_NATURALS)], table
        meanings = [Meld(tuple(misread(slot, chooser) for slot in meld.slots)) for meld in table]
        yield played, meanings
        jokers = [m for m in table if m.meanings]
        if jokers and where.table:  # the joker goes to another place where it is a set, too
            others = [m for m in MELDS if Counter(m.tiles) == Counter(jokers[0].tiles) and m != jokers[0]][:3]
            for other in others:
                if other.tiles == jokers[0].tiles:
                    yield played, [*(m for m in table if m != jokers[0]), other]


def plain_judgement(where, delta, table):
    try:
        check_play(where, multiset(delta), tuple(table))
    except IllegalMoveError as error:
        return RULE_OF[error.condition]
    return None


def judgement(state, delta, table):
    try:
        return None, replace_table(state, delta, table)
    except IllegalPlayError as error:
        return error.rule, ()


def check_position(where, chooser, seen):
    options = {name: getattr(where.rules, name) for name in PLAYED_BY}
    states = [
        position(tiles_in(where.rack), where.table, where.opened, other=[], steps=steps, **options)
        for steps in ("exact", "loose")
    ]
    for delta, table in whole_turns(where, chooser):
        condition = plain_judgement(where, delta, table)
        for state in states:
            rule, actions = judgement(state, delta, table)
            assert rule == condition or {rule, condition} == {"validity", "conservation"}, (where, table)
            if rule is None:
                after = state.clone()
                for action in actions:
                    after.apply(action)  # raises unless it is legal
                laid = canonical_table(MELDS[int(number)] for number in after.record.sets if number >= 0)
                assert split_table(laid) == split_table(table)
        seen[condition or "legal"] += 1


def check_positions(number, seed):
    chooser, seen = random.Random(seed), Counter()
    for _ in range(number):
        where = random_position(chooser)
        if where.table or where.rack:
            check_position(where, chooser, seen)
    return seen


def test_whole_turns_are_judged_as_the_plain_check_judges_them():
    seen = check_positions(40 if COMPILED else 2, seed=3)
    if COMPILED:
        assert min(seen[rule] for rule in ("legal", "rack", "validity", "conservation", "opening")) > 5, seen


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_thousands_of_whole_turns_are_judged_as_the_plain_check_judges_them(block):
    seen = check_positions(300, seed=50 + block)
    assert seen["joker"] > 5, seen


# ---------------------------------------------------------------------------------------------------------------
# JSON and keys


def finished(seed, policy="max_tiles", **options):
    state = GAME.new_state(seed=seed, **options)
    while not state.is_terminal:
        state.apply(state.policy_action(policy, state.ply))
    return state


@pytest.mark.parametrize("options", [{}, {"num_players": 2, "joker_rule": "free"}, {"initial_meld_min": 0}])
def test_a_log_of_turns_plays_the_game_again(options):
    for seed in range(4 if COMPILED else 1):
        state = finished(seed, **options)
        turns = json.loads(json.dumps(turns_of(state)))
        assert "PLAY" in {turn["type"] for turn in turns}
        again = GAME.new_state(seed=seed, **options)
        play_turns(again, turns)
        assert again.record_bytes() == state.record_bytes()
        assert again.actions == state.actions
        assert state_key(again) == state_key(state)
        assert turns_of(again) == turns


def test_a_forfeit_is_a_turn():
    state = GAME.new_state(seed=1)
    state.apply(FORFEIT + state.current_player)
    (turn,) = turns_of(state)
    assert turn["type"] == "FORFEIT"
    again = GAME.new_state(seed=1)
    play_turns(again, [turn])
    assert again.record_bytes() == state.record_bytes()


def test_turns_hold_nothing_of_the_racks():
    """Games that differ only in what nobody has seen have the same turns."""
    state = finished(3)
    turns = turns_of(state)
    shown = {tile for turn in turns for tile, _ in turn.get("delta_from_hand", [])}
    assert set().union(*(turn.keys() for turn in turns)) == {
        "player", "type", "delta_from_hand", "new_table_melds", "table_key"
    }  # fmt: skip
    on_table = {slot.tile for number in state.record.sets if number >= 0 for slot in MELDS[int(number)].slots}
    assert shown == on_table


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ([], 'an object with a "type"'),
        ({"type": "SWAP"}, "DRAW, PASS, PLAY or FORFEIT; got 'SWAP'"),
        ({"type": "PLAY"}, "a multiset is a list"),
        ({"type": "PLAY", "delta_from_hand": [[1, 1]]}, "a table is a list"),
        ({"type": "PLAY", "delta_from_hand": [[1, 1]], "new_table_melds": [[]] * 36}, "at most 35 melds"),
        ({"type": "DRAW", "player": 3}, "it is of player 3"),
        ({"type": "DRAW", "table_key": "0"}, "another table_key"),
    ],
)
def test_a_turn_that_is_none_is_refused(turn, message):
    state = GAME.new_state(seed=1)
    with pytest.raises(FormatError, match=f"turn 0: .*{message}"):
        play_turns(state, [turn])


def test_an_illegal_turn_is_refused_with_its_number():
    state = GAME.new_state(seed=1)
    with pytest.raises(IllegalActionError, match="turn 1: "):
        play_turns(state, [{"type": "DRAW"}, {"type": "PASS"}])
    assert actions_of(state, {"type": "DRAW"}) == (0,)


def test_multisets_and_tables_survive_json():
    for where in map(random_position, map(random.Random, range(20))):
        data = json.loads(json.dumps([multiset_to_json(where.rack), table_to_json(where.table)]))
        assert multiset_from_json(data[0]) == where.rack
        assert all(count for _, count in data[0])
        assert table_from_json(data[1]) == where.table
    assert table_to_json(table_of(["R3 J(R4) R5"])) == [[2, [52, 0, 4], 4]]


@pytest.mark.parametrize(
    "data", [None, {}, [[1]], [[53, 1]], [[1, 0]], [[1, -1]], [[1, 1], [1, 1]], [[1, True]], [[1, 107]], [[1.0, 1]],
             [[0, 1]] * 54, "R1", [[1, 10**30]]]
)  # fmt: skip
def test_what_is_no_multiset_is_refused(data):
    with pytest.raises(DeckError):
        multiset_from_json(data)


@pytest.mark.parametrize(
    "data", [None, {}, [1], [[53]], [[-1]], [[[52, 0]]], [[[52, 4, 1]]], [[[52, 0, 14]]], [[True]], [[1.0]], ["R1"],
             [[0] * 14], [[[52, True, 1]]]]
)  # fmt: skip
def test_what_is_no_table_is_refused(data):
    with pytest.raises(DeckError):
        table_from_json(data)


def test_the_key_of_a_table_depends_on_its_sets_alone():
    one = table_key(["R3 R4 R5", "B7 K7 O7"])
    assert one == table_key(["O7 B7 K7", "R5 R4 R3"])
    assert table_key(["R1 R2 R3 R4 R5 R6"]) == table_key(["R4 R5 R6", "R1 R2 R3"])
    assert (
        len({one, table_key([]), table_key(["R3 R4 J(R5)", "B7 K7 O7"]), table_key(["R3 J(R4) R5", "B7 K7 O7"])}) == 4
    )


def test_the_key_of_a_state_depends_on_all_of_it():
    state = GAME.new_state(seed=1)
    keys = {state_key(state), state_key(GAME.new_state(seed=2)), state_key(GAME.new_state(seed=1, joker_rule="free"))}
    state.apply(0)
    keys.add(state_key(state))
    assert len(keys) == 4
    assert state_key(GAME.new_state(seed=1)) in keys
