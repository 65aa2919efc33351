"""Rummikub: the turn in steps. On small positions its split forms are exactly those of the engine's legal plays."""

import random
from collections import Counter

import numpy as np
import pytest
from rummikub_legality import IllegalMoveError, check_play
from scipy.optimize import Bounds, LinearConstraint, milp

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.state import State
from cardenvs.games.rummikub import GAME
from cardenvs.games.rummikub.actions import COMMIT, DRAW, LAY_0, NUM_ACTIONS, PASS, TAKE_0
from cardenvs.games.rummikub.catalogue import MELD_NUMBER, MELDS, NUM_MELDS
from cardenvs.games.rummikub.melds import GROUP, Meld, canonical_table, table_of, table_tiles
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.state import LOOSE
from cardenvs.games.rummikub.tiles import JOKER, add, leq, multiset, sub, tiles_in, total

POSITIONS = 60 if COMPILED else 6


def position(rack, table=(), opened=True, pool=None, other="B1", **options):
    """A position of the environment without history; player 0 is to act, player 1 holds `other`."""
    options = {"num_players": 2, "initial_hand_size": 1, **options}
    start = GAME.new_state(seed=1, **options)
    states = np.frombuffer(start.record_bytes(), GAME.state_dtype).copy()
    melds = canonical_table(table_of(table))
    hands = [multiset(rack), multiset(other)]
    rest = sub(multiset(GAME.deck(start.options).tolist()), add(add(table_tiles(melds), hands[0]), hands[1]))
    hidden = tiles_in(rest) if pool is None else list(multiset_tiles(pool))
    states["num_dealt"] = states["num_tiles"] - len(hidden)
    states["deck"][0, int(states["num_dealt"][0]) : int(states["num_tiles"][0])] = hidden
    states["hands"][0, :2] = hands
    states["rack_sizes"][0, :2] = [total(hand) for hand in hands]
    states["sets"][0, : len(melds)] = [MELD_NUMBER[meld] for meld in melds]
    states["opened"][0, :2] = opened
    return State._from_record(GAME, start.options, states)


def test_the_example_of_the_search():
    def offered(state):
        return [state.action_label(action) for action in state.legal_actions()]

    state = position("R2 B5 K5", ["R3 R4 R5"])
    state.apply(TAKE_0)
    assert offered(state) == ["lay R2 R3 R4", "lay R2 R3 R4 R5"]
    state.apply(state.legal_actions()[0])
    assert offered(state) == ["lay R5 B5 K5"]
    assert offered(position("B5 K5", ["R3 R4 R5"])) == ["draw"]


@pytest.mark.parametrize(("options", "cost"), [({}, 728 + 60 - 12), ({"returns": "win"}, 1)])
def test_8_8_who_forfeits_pays_for_all_tiles_that_are_not_on_the_table(options, cost):
    state = position("R2 B5 K5", ["R3 R4 R5"], **options)
    state.apply(FORFEIT)
    assert state.is_terminal
    assert state.returns == [-cost, cost]


def test_8_8_those_still_playing_share_what_is_paid():
    state = GAME.new_state(seed=1, num_players=3)
    state.apply(FORFEIT)
    assert state.returns == [-788, 394, 394]
    state.apply(FORFEIT + 1)
    assert state.returns == [-788, 394 - 788, 394 + 788]
    assert GAME.returns(state.options).high == 2 * 788


def multiset_tiles(text):
    return tiles_in(multiset(text))


def reached(state):
    """The tables that the steps reach, and how often each: by trying all."""
    tables = Counter()

    def explore(s):
        legal = s.legal_actions()
        assert legal, "a dead end"
        for action in legal:
            if action in (DRAW, PASS):
                continue
            after = s.clone()
            after.apply(action)
            if action == COMMIT:
                tables[canonical_table(MELDS[n] for n in after.record.sets if n >= 0)] += 1
            else:
                explore(after)

    explore(state)
    return tables


def legal_tables(judge):
    """The tables of catalogue melds that the engine accepts, by trying all."""
    everything = add(table_tiles(judge.table), judge.rack)
    usable = [meld for meld in MELDS if leq(meld.tiles, everything)]
    must = table_tiles(judge.table)
    found = set()

    def search(first, left, chosen):
        used = sub(everything, left)
        if leq(must, used) and used != must:
            table = canonical_table(chosen)
            try:
                check_play(judge, sub(used, must), table)
                found.add(table)
            except IllegalMoveError:
                pass
        for k in range(first, len(usable)):
            if leq(usable[k].tiles, left):
                search(k, sub(left, usable[k].tiles), [*chosen, usable[k]])

    search(0, everything, [])
    return found


SMALL = [
    ("R5", ["R3 R4 R5 R6 R7"], True),
    ("R8 R9", ["R7 B7 K7 O7"], True),
    ("R5", ["R1 B1 K1 O1", "R2 R3 R4"], True),
    ("O5", ["R4 R5 R6", "B4 B5 B6", "K4 K5 K6"], True),
    ("K7 O7", ["R4 R5 R6 R7", "B5 B6 B7"], True),
    ("R3 R4", ["R1 R2 R3", "R4 R5 R6"], True),
    ("R9 B11 B12", ["R10 R11 R12 R13", "B10 K10 O10"], True),
    ("R5 K9 K10", ["R4 J(R5) R6"], True),
    ("K9 K10", ["J(R4) R5 R6 R7", "R4 B4 K4"], True),
    ("O8 K11 K12 R8", ["R8 J(B8) K8"], True),
    ("R3 R7 K9", ["R4 R5 R6", "R4 R5 R6"], True),
    ("R7 R8", ["R4 R5 R6", "R4 R5 R6", "B7 K7 O7"], True),
    ("R9 R10 R11 K10 B10 J", ["R3 R4 R5"], False),
    ("R6 K10 B10 O10", ["R3 R4 R5"], False),
]


@pytest.mark.parametrize("rule", ["retrieve", "free", "locked"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: case[0])
def test_the_steps_reach_exactly_the_legal_plays(case, rule):
    compare(*case, joker_rule=rule)


def compare(rack, table, opened, **options):
    rules = Ruleset.make(**options)
    melds = canonical_table(table_of(table))
    wanted = legal_tables(Position(rules, multiset(rack), melds, opened))
    for steps in ("exact", "loose"):
        if steps == "loose" and total(table_tiles(melds)) > 9:
            continue
        found = reached(position(rack, table, opened, steps=steps, **options))
        assert set(found) == wanted, (rack, table, steps, options)
        assert all(times == 1 for times in found.values()), "a table is reached in two ways"
    return len(wanted)


def test_the_steps_reach_exactly_the_legal_plays_of_random_positions():
    chooser = random.Random(3)
    sizes = []
    for _ in range(POSITIONS):
        low = chooser.randrange(2, 9)
        near = [m for m in MELDS if all(low <= slot.value <= low + 3 for slot in m.slots)]
        table, left = [], multiset(GAME.deck(GAME.make_options()).tolist())
        for _ in range(chooser.randrange(1, 4)):
            meld = chooser.choice(near)
            if leq(meld.tiles, left) and (not meld.meanings or chooser.random() < 0.3):
                table.append(meld)
                left = sub(left, meld.tiles)
        rest = [t for t in tiles_in(left) if t == JOKER or low <= t % 13 + 1 <= low + 3]
        chooser.shuffle(rest)
        rack = [t for t in rest if t != JOKER][:4] + [JOKER] * (chooser.random() < 0.15 and left[JOKER] > 0)
        options = {"joker_rule": chooser.choice(["retrieve", "free", "locked"])}
        options["joker_group3_needs_both"] = chooser.random() < 0.3
        sizes.append(compare(rack, table, True, **options))
    if COMPILED:
        assert sum(size > 1 for size in sizes) > POSITIONS // 4


def test_a_joker_may_be_freed_in_a_set_that_stays():
    # O9 of set 1 replaces the joker of set 2, which then takes the place of O9: the meanings as a whole decide (5.1).
    rack, table = "R4 R5", ["R9 B9 J(K9) O9", "R9 B9 J(K9)"]
    assert compare(rack, table, True, joker_rule="retrieve") == 2


@pytest.mark.parametrize("options", [{}, {"joker_rule": "free"}, {"joker_rule": "locked"}, {"num_players": 2}])
def test_games_with_the_exact_steps_have_no_dead_end(options):
    chooser = random.Random(1)
    for seed in range(20 if COMPILED else 1):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal:
            legal = state.legal_actions()
            assert legal, state.facts(state.current_player)
            state.apply(chooser.choice(legal))
            assert (state.record.rack_sizes == state.record.hands.sum(axis=1)).all()


def can_be_completed(state):
    """Whether the turn of a state in which steps have been made can be completed, by an integer program.

    Counts: how often each meld is laid, and which sets are taken apart besides. The joker rule is not looked at.
    """
    s, player = state.record, state.current_player
    sets = [k for k in range(35) if s.sets[k] >= 0]
    taken = {int(s.sets[k]) for k in sets if s.taken[k]}
    free = [k for k in sets if not s.taken[k] and s.sets[k] >= s.last_taken and s.num_laid == 0]
    floor = int(s.laid[s.num_laid - 1]) if s.num_laid else 0
    melds = [n for n in range(floor, NUM_MELDS) if n not in taken]
    content = np.array([MELDS[n].tiles for n in melds] + [-np.array(MELDS[s.sets[k]].tiles) for k in free])
    loose, rack = np.array(s.loose), np.array(s.hands[player]) - np.array(s.used)
    some = content.sum(axis=1)  # tiles laid less those taken apart
    bans = np.zeros((len(free), len(melds) + len(free)))
    for row, k in enumerate(free):  # a set is not laid again
        bans[row, len(melds) + row] = 2
        if int(s.sets[k]) in melds:
            bans[row, melds.index(int(s.sets[k]))] = 1
    least = max(0, 1 - int(s.used.sum()))
    limits = [
        LinearConstraint(content.T, loose, loose + rack),
        LinearConstraint(some[None], loose.sum() + least, np.inf),
        *([LinearConstraint(bans, -np.inf, 2)] if free else []),
    ]
    bounds = Bounds(0, np.array([2] * len(melds) + [1] * len(free)))
    return milp(np.zeros(len(melds) + len(free)), integrality=np.ones(len(bounds.ub)), bounds=bounds,
                constraints=limits).success  # fmt: skip


def check_the_exact_steps(state):
    """Compare exact steps with the loose ones and the integer program; return how many are left out."""
    record = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    record["rules"]["steps"] = LOOSE
    loose = State._from_record(GAME, GAME.make_options(joker_rule="free", steps="loose"), record)
    exact, left_out = set(state.legal_actions()), 0
    for action in loose.legal_actions():
        if action >= TAKE_0:
            after = loose.clone()
            after.apply(action)
            assert can_be_completed(after) == (action in exact), (state.facts(state.current_player), action)
            left_out += action not in exact
    return left_out


@pytest.mark.skipif(not COMPILED, reason="whole games")
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 20))])
def test_the_exact_steps_agrees_with_an_integer_program(seed):
    chooser = random.Random(seed)
    state = GAME.new_state(seed=seed, joker_rule="free")
    checked = left_out = 0
    while not state.is_terminal and checked < 8:
        if state.record.opened[state.current_player] and state.record.sets[4] >= 0 and chooser.random() < 0.1:
            left_out += check_the_exact_steps(state)
            checked += 1
        state.apply(chooser.choice(state.legal_actions()))
    assert checked > 0
    assert left_out > 0


def test_the_catalogue():
    groups = sum(meld.kind == GROUP for meld in MELDS)
    assert (groups, NUM_MELDS - groups) == (507, 1324)
    assert len(MELD_NUMBER) == NUM_MELDS
    assert all(meld.why_invalid() == "" and meld == meld.canonical for meld in MELDS)
    assert NUM_ACTIONS == LAY_0 + NUM_MELDS


def test_8_1_only_the_builder_sees_the_steps():
    state = position("R5 K9", ["R2 R3 R4"])
    seen = [(state.observation(1).tobytes(), table_texts(state.view(1)), state.recap(1), state.recap(SPECTATOR))]
    state.apply(TAKE_0)
    state.apply(state.action_from_label("lay R2 R3 R4 R5"))
    seen.append((state.observation(1).tobytes(), table_texts(state.view(1)), state.recap(1), state.recap(SPECTATOR)))
    assert seen[0] == seen[1]
    assert len(state.recap(0)) == 2
    assert state.facts(0)["laid"] == ["R2 R3 R4 R5"]
    assert "laid" not in state.facts(1)
    state.apply(COMMIT)
    assert state.recap(1)[-3:] == [
        "player_0 puts R5 on the table.", "player_0 takes set 1 apart.", "player_0 lays R2 R3 R4 R5 as set 1.",
    ]  # fmt: skip


def test_8_2_and_8_3_reasons():
    state = position("R5 K9 R1", ["R2 R3 R4", "B9 B10 B11"], steps="loose")
    assert "rules.md 8.2" in state.explain_illegal(TAKE_0 + 20)
    state.apply(TAKE_0)
    assert "4.2" in position("R5", ["R2 R3 R4"], opened=False).explain_illegal(TAKE_0)
    lay = {meld: LAY_0 + MELD_NUMBER[Meld.of(meld)] for meld in ("R2 R3 R4", "R2 R3 R4 R5", "B9 B10 B11", "R1 R2 R3")}
    assert "was taken apart" in state.explain_illegal(lay["R2 R3 R4"])
    assert "neither loose" in state.explain_illegal(lay["B9 B10 B11"])
    assert "loose tiles" in state.explain_illegal(COMMIT)
    state.apply(lay["R2 R3 R4 R5"])
    assert "rising order" in state.explain_illegal(lay["R1 R2 R3"])
    assert "before melds are laid" in state.explain_illegal(TAKE_0 + 1)
    with pytest.raises(IllegalActionError, match="could not be completed"):
        position("R5 K9", ["R2 R3 R4", "B9 B10 B11"]).apply(TAKE_0 + 1)


def test_8_5_a_play_can_be_given_up():
    state = position("R5 K9", ["R2 R3 R4"], steps="loose", pool="O1 O2")
    state.apply(TAKE_0)
    state.apply(state.action_from_label("give up and draw"))
    assert state.current_player == 1
    assert multiset([*tiles_in(state.record.hands[0])]) == multiset("R5 K9 O1")
    assert state.facts(0)["table"] == {"set 1": "R2 R3 R4"}
    state = position("R5 K9", ["R2 R3 R4"], steps="loose", pool="")
    state.apply(TAKE_0)
    state.apply(state.action_from_label("give up and pass"))
    assert state.record.num_passes == 1


def test_3_3_and_3_4_with_a_play_possible():
    for steps in ("exact", "loose"):
        options = {"steps": steps, "allow_draw_when_play_possible": False, "pass_rule": "no_play_only"}
        for pool, idle in (("K1", DRAW), ("", PASS)):
            assert idle not in position("R5", ["R2 R3 R4"], pool=pool, **options).legal_actions()
            assert "a play is possible" in position("R5", ["R2 R3 R4"], pool=pool, **options).explain_illegal(idle)
            assert position("R6", ["R2 R3 R4"], pool=pool, **options).legal_actions()[0] == idle


def test_6_1_going_out_and_6_2_blocked():
    state = position("R5", ["R2 R3 R4"])
    for label in ("take set 1 apart (R2 R3 R4)", "lay R2 R3 R4 R5", "done"):
        state.apply(state.action_from_label(label))
    assert state.returns == [1, -1]
    state = position("R6", ["R2 R3 R4"], pool="", returns="win")
    state.apply(PASS)
    state.apply(PASS)
    assert state.returns == [-1, 1]
