"""The Rummikub solver on positions of self-play, beside an integer program solved by HiGHS."""

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import Contestant, repeat_for

NAME = "rummikub_v0"
_SEED = 7


@dataclass
class SolverTimes:
    """Microseconds a position, and how many positions that is."""

    median: float
    percentile_99: float
    program_median: float
    positions: int


def self_play(policy: str, **options) -> Contestant:
    """Whole games a second: deal, list legal steps, ask the policy, apply, in one compiled loop without masks."""
    import cardenvs
    from cardenvs.core.codes import NO_DECK
    from cardenvs.core.events import NO_LOG

    game = cardenvs.get_game(NAME)
    made = game.make_options(**options)
    playout, start = game.engine.playout(policy), game.engine.start
    states, blank = game.blank(made), game.blank(made)
    legal, rng = np.zeros(game.max_legal(made), np.int32), np.ones(4, np.uint64)
    seeds = iter(range(1 << 62))

    def play() -> int:
        states[:] = blank
        start(states, 0, next(seeds), NO_DECK, NO_LOG)
        playout(states, 0, rng, legal, game.max_length(made), NO_LOG)
        return 1

    return Contestant(f"cardenvs, {policy}", lambda seconds: repeat_for(seconds, play))


def solver_times(positions: int, programs: int) -> SolverTimes:
    """Time the solver on the positions at the beginning of turns in games of four `max_tiles`, and the program on some.

    Args:
        positions: how many the solver gets.
        programs: how many of them, evenly spread, the integer program gets.

    Raises:
        AssertionError: the two do not agree.
    """
    from cardenvs.games.rummikub.problem import WEIGHT, WORK
    from cardenvs.games.rummikub.solve import position_record
    from cardenvs.games.rummikub.solver import best_value

    met = _positions(positions)
    work = np.zeros(1, WORK)[0]
    records = [position_record(position, "tiles") for position in met]
    best_value(work, records[0])
    seconds, values = [], []
    for record in records:
        started = time.perf_counter()
        value = best_value(work, record)
        seconds.append(time.perf_counter() - started)
        values.append(max(0, value) // WEIGHT)
    chosen, slower = range(0, positions, max(1, positions // programs)), []
    for k in chosen:
        started = time.perf_counter()
        optimum = integer_program(met[k])
        slower.append(time.perf_counter() - started)
        assert optimum == values[k], (optimum, values[k], met[k])
    times = 1e6 * np.array(seconds)
    return SolverTimes(
        float(np.median(times)), float(np.percentile(times, 99)), 1e6 * float(np.median(slower)), positions
    )


def _positions(number: int) -> list:
    import cardenvs
    from cardenvs.games.rummikub.actions import COMMIT
    from cardenvs.games.rummikub.catalogue import MELDS
    from cardenvs.games.rummikub.position import Position
    from cardenvs.games.rummikub.ruleset import Ruleset

    game, rules = cardenvs.get_game(NAME), Ruleset.make()
    found: list = []
    seed = _SEED
    while len(found) < number:
        state, begins = game.new_state(seed=seed, steps="loose"), True
        while not state.is_terminal and len(found) < number:
            s, player = state.record, state.current_player
            if begins:
                table = tuple(MELDS[k] for k in s.sets if k >= 0)
                found.append(Position(rules, tuple(int(n) for n in s.hands[player]), table, bool(s.opened[player])))
            action = state.policy_action("max_tiles", 0)
            state.apply(action)
            begins = action <= COMMIT
        seed += 1
    return found


def integer_program(position) -> int:
    """The most tiles of a position under the rule `retrieve`: den Hertog and Hulshof's program, solved by HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    from cardenvs.games.rummikub.catalogue import MELDS
    from cardenvs.games.rummikub.melds import table_tiles
    from cardenvs.games.rummikub.tiles import JOKER

    naturals = np.array([meld.tiles for meld in MELDS]).T
    rack, table = np.array(position.rack), position.table if position.opened else ()
    lying = np.array(table_tiles(table))
    usable = np.flatnonzero((naturals <= (lying + rack)[:, None]).all(axis=0))
    jokers = [(meaning, meld) for meld in table for meaning in meld.meanings]
    ways: list[tuple[int, tuple[int, ...], int | None]]
    ways = [(k, (), meaning) for k, (meaning, _) in enumerate(jokers)]  # joker, tiles that must lie there, meaning kept
    ways += [(k, need, None) for k, joker in enumerate(jokers) for need in _replacements(*joker)]
    if not len(usable):
        return 0
    none = np.zeros(len(ways))
    rows = [(np.concatenate([naturals[t, usable], none]), lying[t], lying[t] + rack[t]) for t in range(len(rack))]
    for tile in range(JOKER):
        needs = -np.array([need.count(tile) for _, need, _ in ways], float)
        keeps = -np.array([kept == tile for *_, kept in ways], float)
        if needs.any():
            rows.append((np.concatenate([naturals[tile, usable], needs]), 0, np.inf))
        if keeps.any():
            meant = [MELDS[m].meanings.count(tile) for m in usable]
            rows.append((np.concatenate([meant, keeps]), 0, np.inf))
    for k in range(len(jokers)):
        rows.append((np.concatenate([np.zeros(len(usable)), [joker == k for joker, *_ in ways]]), 1, 1))
    if not position.opened:
        points = [MELDS[m].points for m in usable]
        rows.append((np.concatenate([points, none]), position.rules.initial_meld_min, np.inf))
    matrix, low, high = (np.array(part, float) for part in zip(*rows, strict=True))
    gain = np.concatenate([naturals[:, usable].sum(axis=0), none])
    found = milp(
        -gain, integrality=np.ones(len(gain)), bounds=Bounds(0, 4), constraints=LinearConstraint(matrix, low, high)
    )
    return 0 if found.x is None else round(-found.fun) - int(lying.sum())


def _replacements(meaning: int, meld) -> list[tuple[int, ...]]:
    """The ways to replace a joker that stands for `meaning`: a colour that a group of three lacks, or that tile."""
    from cardenvs.games.rummikub.melds import GROUP, SHORTEST
    from cardenvs.games.rummikub.tiles import JOKER, tile_of, value_of

    if meld.kind != GROUP or len(meld.slots) != SHORTEST or len(meld.meanings) != 1:
        return [(meaning,)]
    taken = {slot.colour for slot in meld.slots if slot.tile != JOKER}
    return [(tile_of(colour, value_of(meaning)),) for colour in range(4) if colour not in taken]
