"""Rummikub: the solver on the scenarios, and against an integer program, objective for objective.

The integer program (den Hertog and Hulshof, "Solving Rummikub Problems by Integer Linear Programming", 2006) is
written here on its own: a number of times for each meld of the catalogue, and for each joker on the table the choice
whether it keeps its meaning or is freed, and by which tile. HiGHS solves it.
"""

import os
import random
from collections import Counter

import numpy as np
import pytest
from rummikub_legality import check_play, replacements
from rummikub_oracle import Draw, EngineState, Pass, Play
from scipy.optimize import Bounds, LinearConstraint, milp

from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.kernel import COMPILED
from cardenvs.games.rummikub.catalogue import MELDS, NUM_MELDS
from cardenvs.games.rummikub.melds import GROUP, canonical_table, table_tiles
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.solve import has_play, solve, solve_position
from cardenvs.games.rummikub.tiles import (
    JOKER,
    NUM_TYPES,
    colour_of,
    multiset,
    rack_points,
    tile_label,
    tiles_in,
    value_of,
)

POSITIONS = int(os.environ.get("RUMMIKUB_POSITIONS", "150" if COMPILED else "4"))

MOST = {
    "9": ("R5", ["R3 R4 R5 R6 R7"], 1),
    "10": ("R8 R9", ["R7 B7 K7 O7"], 2),
    "10, three": ("R8 R9", ["R7 B7 K7"], 0),
    "11": ("R5", ["R1 B1 K1 O1", "R2 R3 R4"], 1),
    "12": ("O5", ["R4 R5 R6", "B4 B5 B6", "K4 K5 K6"], 1),
    "13": ("K7 O7", ["R4 R5 R6 R7", "B5 B6 B7"], 2),
    "14": ("R3 R4", ["R1 R2 R3 R4 R5 R6"], 2),
    "15": ("R9 B11 B12", ["R10 R11 R12 R13", "B10 K10 O10"], 2),
    "16": ("", ["R4 R5 R6", "B4 B5 B6", "K4 K5 K6"], 0),
    "18": ("R5 K9 K10", ["R4 J(R5) R6"], 3),
    "19": ("K9 K10", ["R4 J(R5) R6", "R5 B5 K5 O5"], 2),
    "20": ("K9 K10", ["J(R4) R5 R6 R7"], 0),
    "21": ("B7 K7", ["J(R4) R5 R6 R7"], 2),
    "22": ("O8 K11 K12", ["R8 J(B8) K8"], 3),
    "22, R8": ("R8 K11 K12", ["R8 J(B8) K8"], 0),
    "23": ("O8 K11 K12", ["R8 B8 K8 J(O8)"], 3),
    "25": ("R5", ["R4 J(R5) R6"], 1),  # the joker goes to the end of the run
    "35": ("K9 K10", ["J(R4) R5 R6 R7", "R4 B4 K4"], 2),
}


@pytest.mark.parametrize("name", MOST)
def test_the_most_tiles_of_the_scenarios(name):
    rack, table, most = MOST[name]
    best = solve(rack or [], table)
    assert best.num_tiles == most
    assert best.points == rack_points(multiset(best.played), 30)


def test_joker_rules_of_the_solver():
    position = ("K9 K10", ["J(R4) R5 R6 R7"])
    assert [solve(*position, joker_rule=rule).num_tiles for rule in ("retrieve", "free", "locked")] == [0, 2, 0]
    best = solve(rack=["R13", "K4", "J"], table=[["B3", "B4", "B5"]], objective="tiles", joker_rule="free")
    assert (best.num_tiles, best.points, best.opening_points) == (1, 30, 0)


def test_the_opening_of_the_solver():
    rack = "R9 R10 R11 K1 K2 K3"
    assert solve(rack, opened=False).num_tiles == 6
    assert solve(rack).opening_points == 36
    assert solve("K1 K2 K3", opened=False).num_tiles == 0
    assert solve("K10 J B10", opened=False).points == 50
    strict = Ruleset.make(initial_meld_allow_joker=False)
    assert solve_position(Position(strict, multiset("K10 J B10"), (), False)).num_tiles == 0
    assert solve("R12", ["R9 R10 R11"], opened=False).num_tiles == 0


def test_equal_plays_are_decided_by_points_and_by_what_stays():
    best = solve("R4 R12 K1", ["R5 R6 R7", "R9 R10 R11", "B4 B5 B6"])
    assert (best.num_tiles, len(best.kept)) == (2, 1)
    best = solve("R1 K13", ["R2 R3 R4", "B13 R13 O13", "J(R11) R12 R13"], objective="points")
    assert best.points == 14


def test_clear_errors():
    with pytest.raises(OptionError, match="objective"):
        solve("R1", objective="speed")
    with pytest.raises(OptionError, match="joker_rule"):
        solve("R1", joker_rule="none")
    with pytest.raises(DeckError, match="say which tile the joker"):
        solve("R1", ["R8 B8 J"])
    with pytest.raises(DeckError, match="the table is invalid: R8 B8"):
        solve("R1", ["R8 B8"])
    with pytest.raises(DeckError, match="R8 occurs more often"):
        solve("R8 R8", ["R8 B8 K8"])
    with pytest.raises(OptionError, match="max_run"):
        has_play(Position(Ruleset.make(max_run=5), multiset("R1"), (), True))
    assert solve("K9 K10", ["R8 B8 J"], joker_rule="free").num_tiles == 0


# ---------------------------------------------------------------------------------------------------------------
# The integer program

NATURALS = np.array([[meld.tiles[tile] for meld in MELDS] for tile in range(NUM_TYPES)])
AS_JOKER = np.array([[meld.meanings.count(tile) for meld in MELDS] for tile in range(JOKER)])
POINTS = np.array([meld.points for meld in MELDS])


def integer_program(position, objective):
    """The optimum of a position: tiles or points laid, or the value of the best opening ("opening"); None if none."""
    rules, rack = position.rules, np.array(position.rack)
    table = position.table if position.opened else ()
    if not position.opened and not rules.initial_meld_allow_joker:
        rack[JOKER] = 0
    lying = np.array(table_tiles(table))
    jokers = [(meaning, meld) for meld in table for meaning in meld.meanings]
    ways = [  # (joker, tiles that must lie there, meaning kept) of each choice
        (k, needs, kept) for k, (meaning, meld) in enumerate(jokers) for needs, kept in _ways(meaning, meld, rules)
    ]
    usable = [m for m in range(NUM_MELDS) if (NATURALS[:, m] <= lying + rack).all()]
    usable = [m for m in usable if _in_game(MELDS[m], rules)]
    n, extra = len(usable), len(ways)
    rows, low, high = [], [], []

    def constrain(coefficients, choices, least, most):
        rows.append(np.concatenate([coefficients, choices]))
        low.append(least)
        high.append(most)

    none = np.zeros(extra)
    for tile in range(NUM_TYPES):
        constrain(NATURALS[tile, usable], none, lying[tile], lying[tile] + rack[tile])
    for tile in {t for _, needs, _ in ways for t in needs}:
        constrain(NATURALS[tile, usable], [-needs.count(tile) for _, needs, _ in ways], 0, np.inf)
    for tile in {kept for *_, kept in ways if kept is not None}:
        constrain(AS_JOKER[tile, usable], [-(kept == tile) for *_, kept in ways], 0, np.inf)
    for k in range(len(jokers)):
        constrain(np.zeros(n), [joker == k for joker, *_ in ways], 1, 1)
    if not position.opened and objective != "opening":
        constrain(POINTS[usable], none, rules.initial_meld_min, np.inf)
    value = {
        "tiles": np.ones(NUM_TYPES),
        "points": np.array(
            [value_of(tile) if tile != JOKER else rules.joker_value_at_end for tile in range(NUM_TYPES)]
        ),
    }
    gain = POINTS[usable] if objective == "opening" else value[objective] @ NATURALS[:, usable]
    if not n:
        return None if rows and any(np.array(low) > 0) else 0
    found = milp(
        -np.concatenate([gain, none]), integrality=np.ones(n + extra), bounds=Bounds(0, 4),
        constraints=LinearConstraint(np.array(rows, float), low, high),
    )  # fmt: skip
    if found.x is None:
        return None
    return round(-found.fun) - (0 if objective == "opening" else round(float(value[objective] @ lying)))


def _ways(meaning, meld, rules):
    if rules.joker_rule != "free":
        yield (), meaning
    if rules.joker_rule == "free":
        yield (), None
    elif rules.joker_rule == "retrieve":
        for needs in replacements(meaning, meld, rules):
            yield needs, None


def _in_game(meld, rules):
    return all(slot.colour < rules.colors and slot.value <= rules.values for slot in meld.slots)


# ---------------------------------------------------------------------------------------------------------------
# Positions


def random_position(chooser):
    """A table of random melds, some of them sharing tiles' neighbourhoods, and a rack from the rest."""
    rules = Ruleset.make(
        joker_rule=chooser.choice(["retrieve", "retrieve", "free", "locked"]),
        joker_group3_needs_both=chooser.random() < 0.2,
        initial_meld_allow_joker=chooser.random() < 0.8,
        colors=chooser.choice([3, 4, 4]),
        values=chooser.choice([9, 13, 13]),
    )
    left = [2 * (colour_of(tile) < rules.colors and value_of(tile) <= rules.values) for tile in range(JOKER)] + [2]
    table = []
    low = chooser.randrange(1, 9)  # the busy values
    playable = [meld for meld in MELDS if _in_game(meld, rules)]
    near = [meld for meld in playable if all(low <= slot.value <= low + 5 for slot in meld.slots)] or playable
    wanted = chooser.randrange(0, 13)
    for _ in range(60):
        pool = chooser.choice([playable, near])
        meld = chooser.choice(pool)
        if meld.meanings and chooser.random() < 0.8:
            continue
        if len(table) < wanted and all(meld.tiles[tile] <= left[tile] for tile in range(NUM_TYPES)):
            table.append(meld)
            left = [a - b for a, b in zip(left, meld.tiles, strict=True)]
    rest = tiles_in(left)
    if chooser.random() < 0.5:
        rest = [tile for tile in rest if tile == JOKER or low <= value_of(tile) <= low + 6]
    chooser.shuffle(rest)
    rack = rest[: chooser.randrange(1, 18)]
    if chooser.random() < 0.3 and left[JOKER] and JOKER not in rack:
        rack.append(JOKER)
    return Position(rules, multiset(rack), canonical_table(table), chooser.random() < 0.8)


def self_play_positions(chooser):
    """The positions of a game in which everybody lays as many tiles as they can, mostly."""
    state = EngineState.new(chooser.getrandbits(32), num_players=chooser.choice([2, 3, 4]))
    while not state.is_terminal:
        player = state.current_player
        position = Position(state.rules, state.hands[player], state.table, state.opened[player])
        yield position
        best = solve_position(position)
        if best.num_tiles and chooser.random() < 0.9:
            state = state.apply(Play(multiset(best.played), best.melds))
            state.check_invariants()
        else:
            state = state.apply(Draw() if state.pool else Pass())


def positions(number, seed):
    chooser = random.Random(seed)
    game = iter(())
    for k in range(number):
        if k % 2:
            yield random_position(chooser)
            continue
        position = next(game, None)
        if position is None:
            game = self_play_positions(chooser)
            position = next(game)
        yield position


def check_against_the_integer_program(position):
    for objective in ("tiles", "points"):
        best = solve_position(position, objective)
        what = (
            objective,
            [tile_label(t) for t in tiles_in(position.rack)],
            [m.label for m in position.table],
            position,
        )
        optimum = integer_program(position, objective)
        assert getattr(best, {"tiles": "num_tiles", "points": "points"}[objective]) == (optimum or 0), what
        if best.num_tiles:
            check_play(position, multiset(best.played), best.melds)  # raises if it is not legal
        assert not Counter(best.laid) & (Counter(canonical_table(position.table)) - Counter(best.kept)), what
        assert best.opening_points == integer_program(Position(position.rules, position.rack, (), False), "opening")
        assert has_play(position) == (best.num_tiles > 0)


@pytest.mark.rotating
def test_the_solver_agrees_with_the_integer_program():
    kinds = Counter()
    for position in positions(POSITIONS, seed=1):
        check_against_the_integer_program(position)
        kinds["opened"] += position.opened
        kinds["jokers on the table"] += table_tiles(position.table)[JOKER] > 0
        kinds["joker in a group"] += any(meld.kind == GROUP and meld.meanings for meld in position.table)
        kinds["joker in the rack"] += position.rack[JOKER] > 0
        kinds["joker in a game of three colours"] += position.rules.colors == 3 and position.rack[JOKER] > 0
    if COMPILED:
        assert min(kinds.values()) >= POSITIONS // 50, kinds


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_the_solver_agrees_with_the_integer_program_on_ten_thousand_positions(block):
    for position in positions(500, seed=100 + block):
        check_against_the_integer_program(position)
