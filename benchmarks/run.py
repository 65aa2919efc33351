"""Speed of cardenvs beside its peers, in one process and one run: `python -m benchmarks.run --help`.

Contestants take turns, window by window, and the best window of each counts: the machine's noise hits all alike.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import contestants as c
from benchmarks import riichi, rummikub, search
from benchmarks.limits import GAMES as LIMITED_GAMES
from benchmarks.limits import NoLimitError
from benchmarks.timing import Contestant, race
from cardenvs.core.errors import MissingExtraError


@dataclass
class Row:
    """One line of the result.

    Attributes:
        what: what was measured.
        ours, theirs: the figures of cardenvs and of the peer; 0 without a peer.
        peer: its name.
        goal: the ratio or figure aimed at.
        unit: of the figures; of time and size, less is better.
    """

    what: str
    ours: float
    peer: str
    theirs: float
    goal: str
    unit: str = "/s"

    @property
    def ratio(self) -> float:
        """How many times as good as the peer's figure ours is."""
        if not self.theirs:
            return float("nan")
        return self.ours / self.theirs if self.unit == "/s" else self.theirs / self.ours


def versus(what: str, ours: Contestant, peers: list[tuple[Contestant, str]], rounds: int, seconds: float) -> list[Row]:
    """Race ours against the peers; a row a peer."""
    race([ours, *(peer for peer, _ in peers)], rounds, seconds)
    return [Row(what, ours.best, peer.name, peer.best, goal) for peer, goal in peers]


def section_batch(rounds: int, seconds: float) -> Iterator[Row]:
    """Batched steps on one core, beside the peers' loops and, for small games, the game written by hand in C."""
    cases: list[tuple[str, int, list[tuple[Callable[[], Contestant], str]]]] = [
        ("kuhn_poker_v0", 8192, [(lambda: c.open_spiel("kuhn_poker"), "80x; 40 M")]),
        (
            "leduc_poker_v0",
            4096,
            [(lambda: c.open_spiel("leduc_poker"), "40x; 20 M"), (lambda: c.rlcard("leduc-holdem"), "")],
        ),
        (
            "gin_rummy_v0",
            2048,
            [(lambda: c.open_spiel("gin_rummy"), "60x; 2.5 M"), (lambda: c.rlcard("gin-rummy"), "")],
        ),
    ]
    for game, num_envs, peers in cases:
        if game in LIMITED_GAMES:
            peers.append((functools.partial(c.limit, game, num_envs), "0.5x"))
        made = _all_made(peers)
        yield from versus(f"{game} batch, 1 core", c.batched(game, num_envs), made, rounds, seconds)


def section_pgx(rounds: int, seconds: float) -> Iterator[Row]:
    """Batched steps on all cores, beside pgx."""
    cores = os.cpu_count() or 1
    for game, theirs in (("kuhn_poker_v0", "kuhn_poker"), ("leduc_poker_v0", "leduc_holdem")):
        peer = _made(functools.partial(c.pgx, theirs, 8192))
        if peer is not None:
            ours = c.batched(game, 8192, cores)
            yield from versus(f"{game} batch, {cores} cores", ours, [(peer, "5x")], rounds, seconds)


def section_threads(rounds: int, seconds: float) -> Iterator[Row]:
    """Gin rummy on two threads against one."""
    yield from versus(
        "gin_rummy_v0 N=4096, 2 threads",
        c.batched("gin_rummy_v0", 4096, 2),
        [(c.batched("gin_rummy_v0", 4096, 1), "1.6x")],
        rounds,
        seconds,
    )


def section_aec(rounds: int, seconds: float) -> Iterator[Row]:
    """The AEC loop beside PettingZoo classic's."""
    for game, goal in (("gin_rummy_v0", "6x"), ("leduc_poker_v0", "")):
        peer = _made(lambda: c.classic("leduc_holdem_v4"))
        if peer is not None:
            yield from versus(f"{game} AEC loop", c.aec(game), [(peer, goal)], rounds, seconds)


def section_holdem(rounds: int, seconds: float) -> Iterator[Row]:
    """No-limit hold'em, six players, one cash hand an episode: batched, AEC, and whole tournaments."""
    name = "texas_holdem_v0"
    peers = [
        (lambda: c.open_spiel(c.OPEN_SPIEL_HOLDEM), "24x; 4 M"),
        (lambda: c.rlcard("no-limit-holdem"), "100x"),
    ]
    made = _all_made(peers)
    yield from versus(f"{name} batch, 1 core", c.batched(name, 2048, format="cash"), made, rounds, seconds)
    classic = _made(lambda: c.classic("texas_holdem_no_limit_v6", num_players=6))
    if classic is not None:
        yield from versus(f"{name} AEC loop", c.aec(name, format="cash"), [(classic, "6x")], rounds, seconds)
    for policy, goal in (("random", "40,000"), ("tight_aggressive", "1,000")):
        ours = c.tournaments(name, 2048, policy)
        race([ours], rounds, 2 * seconds)
        yield Row(f"{name} tournaments of six, {policy}", ours.best, "", 0.0, goal)


def section_limit_holdem(rounds: int, seconds: float) -> Iterator[Row]:
    """Limit hold'em, heads-up, one cash hand an episode: batched steps beside the peers' loops."""
    peers = [(lambda: c.open_spiel(c.OPEN_SPIEL_LIMIT), "50x; 6 M"), (lambda: c.rlcard("limit-holdem"), "50x")]
    made = _all_made(peers)
    ours = c.batched("texas_holdem_v0", 2048, format="cash", num_players=2, betting="limit")
    yield from versus("texas_holdem_v0 batch, 1 core, limit, heads-up", ours, made, rounds, seconds)


def section_wingspan(rounds: int, seconds: float) -> Iterator[Row]:
    """Wingspan, random play: batched decisions and whole games a second on one core, and the size of a record."""
    import cardenvs

    name = "wingspan_v0"
    for label, goal, options in (
        ("2 players", "400,000", {}),
        ("2 players, birds by number", "", {"birds": "ids"}),
        ("5 players", "", {"num_players": 5}),
    ):
        ours = c.batched(name, 512, **options)
        race([ours], rounds, seconds)
        yield Row(f"{name} batch, 1 core, {label}", ours.best, "", 0.0, goal)
    games = c.tournaments(name, 512, "random")
    race([games], rounds, 2 * seconds)
    yield Row(f"{name} games of two, random", games.best, "", 0.0, "1,500")
    yield Row(f"{name} record", cardenvs.get_game(name).state_dtype.itemsize, "", 0.0, "4,096", "bytes")


CARD_GAMES: tuple[tuple[str, dict[str, Any], str], ...] = (  # with options, and the steps a second to reach
    ("one_player_poker_v0", {}, "8 M"),  # first: after other games, a process has been a tenth slower at it
    ("durak_v0", {}, "2.5 M"),
    ("durak_v0", {"variant": "perevodnoy"}, ""),
    ("durak_v0", {"num_players": 6}, ""),
    ("katko_v0", {}, "5 M"),
    ("katko_v0", {"num_players": 7}, ""),
    ("briscola_v0", {}, "5 M"),
    ("briscola_v0", {"num_players": 4}, ""),
    ("marjapussi_v0", {}, "4 M"),
    ("kasino_v0", {}, "1 M"),
    ("casino_v0", {}, "1 M"),
    ("casino_v0", {"num_players": 4, "teams": True}, ""),
    ("scopa_v0", {}, "1.5 M"),
    ("scopa_v0", {"num_players": 4, "scopone": "ten"}, ""),
)

# Trick-taking games that OpenSpiel has, too: ours, theirs, and the speed to reach beside theirs and by itself
TRICK_GAMES = (
    ("euchre_v0", "euchre", "100x; 4 M"),
    ("hearts_v0", "hearts", "300x; 5 M"),
    ("oh_hell_v0", "oh_hell(players=4)", "100x; 5 M"),
    ("skat_v0", "skat", "100x; 3 M"),
    ("spades_v0", "spades", "100x; 5 M"),
)

# Games of few bytes, for which a call from Python takes long
_LARGE_BATCHES = {"one_player_poker_v0": 4096, "skat_v0": 4096}


def section_cards(rounds: int, seconds: float) -> Iterator[Row]:
    """Card games without peers: batched steps a second on one core, and seconds to the first action."""
    for game, options, goal in CARD_GAMES:
        ours = c.batched(game, _LARGE_BATCHES.get(game, 1024), **options)
        race([ours], rounds, seconds)
        label = "".join(f", {name}={value}" for name, value in options.items())
        yield Row(f"{game} batch, 1 core{label}", ours.best, "", 0.0, goal)
    with tempfile.TemporaryDirectory() as cache:
        for game in dict.fromkeys(game for game, _, _ in CARD_GAMES):
            yield from _first_calls(game, "10 s", "1 s", cache, rounds)


def section_bridge(rounds: int, seconds: float) -> Iterator[Row]:
    """Bridge with random play: batched steps on one core beside the peers' loops, and seconds to the first action."""
    name = "bridge_v0"
    peers = [
        (lambda: c.open_spiel("bridge(use_double_dummy_result=false)"), "20x; 3 M"),
        (lambda: c.rlcard("bridge"), "70x"),
    ]
    made = _all_made(peers)
    yield from versus(f"{name} batch, 1 core", c.batched(name, 1024), made, rounds, seconds)
    ours = c.batched(name, 1024, phase="play")
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core, phase=play", ours.best, "", 0.0, "")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "15 s", "1 s", cache, rounds)


def section_tricks(rounds: int, seconds: float) -> Iterator[Row]:
    """Trick-taking games beside OpenSpiel: batched steps a second on one core, and seconds to the first action."""
    for name, theirs, goal in TRICK_GAMES:
        peers = _all_made([(functools.partial(c.open_spiel, theirs), goal)])
        ours = c.batched(name, _LARGE_BATCHES.get(name, 1024))
        yield from versus(f"{name} batch, 1 core", ours, peers, rounds, seconds)
    with tempfile.TemporaryDirectory() as cache:
        for name, _, _ in TRICK_GAMES:
            yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_dice(rounds: int, seconds: float) -> Iterator[Row]:
    """Liar's dice for two beside OpenSpiel: batched steps a second on one core, and seconds to the first action."""
    name = "liars_dice_v0"
    peers = _all_made([(functools.partial(c.open_spiel, "liars_dice(numdice=5)"), "50x; 10 M")])
    yield from versus(f"{name} batch, 1 core", c.batched(name, 4096), peers, rounds, seconds)
    ours = c.batched(name, 4096, num_players=5, format="elimination")
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core, num_players=5, format=elimination", ours.best, "", 0.0, "")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_hanabi(rounds: int, seconds: float) -> Iterator[Row]:
    """Hanabi for two beside OpenSpiel: batched steps on one core with either observation, and first actions."""
    name = "hanabi_v0"
    peers = _all_made([(functools.partial(c.open_spiel, "hanabi"), "50x; 4 M")])
    yield from versus(f"{name} batch, 1 core", c.batched(name, 1024), peers, rounds, seconds)
    ours = c.batched(name, 1024, encoding="canonical")
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core, encoding=canonical", ours.best, "", 0.0, "")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_blackjack(rounds: int, seconds: float) -> Iterator[Row]:
    """Blackjack beside OpenSpiel, RLCard and Gymnasium: batched steps a second on one core, and first actions."""
    name = "blackjack_v0"
    plain: dict[str, Any] = {"naturals": "none", "peek": False, "hit_21": True, "double": "none", "max_hands": 1}
    forms: list[tuple[int, list[tuple[Callable[[], Contestant], str]]]] = [
        (1, [(lambda: c.open_spiel("blackjack"), "50x; 15 M"), (lambda: c.rlcard("blackjack"), "50x; 15 M")]),
        (0, [(lambda: c.gymnasium_blackjack(), "50x; 15 M")]),
    ]
    for decks, makers in forms:
        ours = c.batched(name, 4096, decks=decks, **plain)
        yield from versus(f"{name} batch, 1 core, their rules, decks={decks}", ours, _all_made(makers), rounds, seconds)
    ours = c.batched(name, 4096)
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core", ours.best, "", 0.0, "15 M")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_uno(rounds: int, seconds: float) -> Iterator[Row]:
    """Uno beside RLCard: batched steps a second on one core with its rules and with our defaults, and first actions."""
    name = "uno_v0"
    peers = _all_made([(lambda: c.rlcard("uno"), "50x; 4 M")])
    ours = c.batched(name, 1024, num_players=2, rlcard=True)
    yield from versus(f"{name} batch, 1 core, rlcard=true", ours, peers, rounds, seconds)
    ours = c.batched(name, 1024)
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core", ours.best, "", 0.0, "4 M")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_dou_dizhu(rounds: int, seconds: float) -> Iterator[Row]:
    """Dou Dizhu with its 27,475 actions beside RLCard and OpenSpiel: batched steps on one core, and first actions."""
    name = "dou_dizhu_v0"
    forms: list[tuple[dict[str, Any], Callable[[], Contestant], str]] = [
        ({"bidding": "none", "returns": "rlcard"}, lambda: c.rlcard("doudizhu"), "300x; 0.5 M"),
        ({"four_with_two": False, "all_pass": "zero"}, lambda: c.open_spiel("dou_dizhu"), "100x; 0.5 M"),
    ]
    for options, make, goal in forms:
        label = "".join(f", {key}={value}" for key, value in options.items())
        peers = _all_made([(make, goal)])
        yield from versus(f"{name} batch, 1 core{label}", c.batched(name, 1024, **options), peers, rounds, seconds)
    ours = c.batched(name, 1024)
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core", ours.best, "", 0.0, "0.5 M")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_crazy_eights(rounds: int, seconds: float) -> Iterator[Row]:
    """Crazy Eights beside OpenSpiel: batched steps a second on one core by its rules and with our defaults."""
    name = "crazy_eights_v0"
    for options, theirs, goal in (
        ({}, "crazy_eights(players=4,reshuffle=true)", "50x; 4 M"),
        ({"openspiel": True, "reshuffle": False}, "crazy_eights(players=4)", "50x"),
    ):
        peers = _all_made([(functools.partial(c.open_spiel, theirs), goal)])
        label = ", openspiel=true" if options else ""
        yield from versus(f"{name} batch, 1 core{label}", c.batched(name, 1024, **options), peers, rounds, seconds)
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_cribbage(rounds: int, seconds: float) -> Iterator[Row]:
    """Cribbage for two beside OpenSpiel: batched steps a second on one core, and seconds to the first action."""
    name = "cribbage_v0"
    peers = _all_made([(functools.partial(c.open_spiel, "cribbage"), "50x; 4 M")])
    yield from versus(f"{name} batch, 1 core", c.batched(name, 1024), peers, rounds, seconds)
    ours = c.batched(name, 1024, num_players=4)
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core, num_players=4", ours.best, "", 0.0, "")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_ristiseiska(rounds: int, seconds: float) -> Iterator[Row]:
    """Ristiseiska: batched steps a second on one core, and seconds to the first action; no peer has the game."""
    name = "ristiseiska_v0"
    for players in (3, 5):
        ours = c.batched(name, 1024, num_players=players)
        race([ours], rounds, seconds)
        yield Row(f"{name} batch, 1 core, num_players={players}", ours.best, "", 0.0, "4 M")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_canasta(rounds: int, seconds: float) -> Iterator[Row]:
    """Canasta: batched steps a second on one core for two and four players, and seconds to the first action."""
    for players, goal in ((4, "700,000"), (2, "")):
        ours = c.batched("canasta_v0", 512, num_players=players)
        race([ours], rounds, seconds)
        yield Row(f"canasta_v0 batch, 1 core, num_players={players}", ours.best, "", 0.0, goal)
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls("canasta_v0", "15 s", "1 s", cache, rounds)


def section_pinnacola(rounds: int, seconds: float) -> Iterator[Row]:
    """Pinnacola: batched steps a second on one core for two and four players, and seconds to the first action."""
    name = "pinnacola_v0"
    for players in (2, 4):
        ours = c.batched(name, 512, num_players=players)
        race([ours], rounds, seconds)
        yield Row(f"{name} batch, 1 core, num_players={players}", ours.best, "", 0.0, "1 M")
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_riichi(rounds: int, seconds: float) -> Iterator[Row]:
    """Riichi beside simulators: batched decisions a second on one core, scored hands, seconds to the first action."""
    name = "riichi_v0"
    peers = _all_made([(c.riichienv, "20x"), (c.pymahjong, "20x")])
    ours = c.batched_choices(name, 512)
    yield from versus(f"{name} batch, 1 core, decisions with a choice", ours, peers, rounds, seconds)
    ours = c.batched(name, 512)
    race([ours], rounds, seconds)
    yield Row(f"{name} batch, 1 core", ours.best, "", 0.0, "0.7 M")
    peers = _all_made([(riichi.peer, "")])
    yield from versus("winning hands scored, 1 core", riichi.own(), peers, rounds, seconds)
    with tempfile.TemporaryDirectory() as cache:
        yield from _first_calls(name, "10 s", "0.6 s", cache, rounds)


def section_evaluator(rounds: int, seconds: float) -> Iterator[Row]:
    """Seven-card evaluations a second, hands dealt beforehand."""
    made = [(peer, "100 M") for make in (c.phevaluator, c.eval7, c.treys) if (peer := _made(make)) is not None]
    yield from versus("hand_ranks, seven cards", c.own_evaluator(), made, rounds, seconds)


def section_rummikub(rounds: int, seconds: float) -> Iterator[Row]:
    """Rummikub: batched steps, the solver beside an integer program on positions of self-play, whole games."""
    name = rummikub.NAME
    for steps, num_envs, goal in (("loose", 512, "1 M"), ("exact", 64, "15,000")):
        batch = c.batched(name, num_envs, steps=steps)
        race([batch], rounds, 2 * seconds)
        yield Row(f"{name} batch, 1 core, {steps} mask", batch.best, "", 0.0, goal)
    times = rummikub.solver_times(positions=3000, programs=300)
    what = f"{name} solver, {times.positions} positions of self-play"
    yield Row(f"{what}, 99th percentile", times.percentile_99, "", 0.0, "5,000", "µs")
    yield Row(f"{what}, median", times.median, "HiGHS, median", times.program_median, "100; 50x", "µs")
    games = rummikub.self_play("max_tiles", steps="loose")
    race([games], rounds, 2 * seconds)
    yield Row(f"{name} games of four max_tiles, steps=loose", games.best, "", 0.0, "50")


_FIRST_CALL = """
import time
started = time.perf_counter()
import cardenvs
state = cardenvs.get_game("{game}").new_state(seed=1)
state.observation(state.current_player)
state.apply(state.legal_actions()[0])
print(time.perf_counter() - started)
"""


def section_startup(rounds: int, seconds: float) -> Iterator[Row]:
    """Seconds from nothing to the first applied action, compiling and from the cache; import alone."""
    del seconds
    with tempfile.TemporaryDirectory() as cache:
        cases = (
            ("kuhn_poker_v0", "", ""),
            ("gin_rummy_v0", "15 s", "1 s"),
            ("wingspan_v0", "60 s", "2 s"),
        )
        for game, cold_goal, warm_goal in cases:
            yield from _first_calls(game, cold_goal, warm_goal, cache, rounds)
        importing = "import time; t = time.perf_counter(); import cardenvs; print(time.perf_counter() - t)"
        fastest = min(_seconds_of(importing, cache) for _ in range(rounds))
        yield Row("import cardenvs", fastest, "", 0.0, "0.5 s", "s")


def _first_calls(game: str, cold_goal: str, warm_goal: str, cache: str, rounds: int) -> Iterator[Row]:
    cold = _seconds_of(_FIRST_CALL.format(game=game), cache)
    warm = min(_seconds_of(_FIRST_CALL.format(game=game), cache) for _ in range(rounds))
    yield Row(f"{game} first call, compiled", cold, "", 0.0, cold_goal, "s")
    yield Row(f"{game} first call, from cache", warm, "", 0.0, warm_goal, "s")


def _seconds_of(code: str, cache: str) -> float:
    environment = {**os.environ, "CARDENVS_CACHE_DIR": cache, "CARDENVS_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def section_solvers(rounds: int, seconds: float) -> Iterator[Row]:
    """Leduc poker to NashConv 0.001 by CFR+, seconds of one core, beside OpenSpiel's solver in C++."""
    from benchmarks import solvers

    del rounds, seconds
    peers = [(f"OpenSpiel {game}", solvers.open_spiel(game)) for game in solvers.OPEN_SPIEL_GAMES]
    ours = solvers.cardenvs()
    what = f"leduc_poker_v0 CFR+ to NashConv {solvers.UNTIL}"
    for name, theirs in peers:
        yield Row(f"{what}, new process, nothing compiled", ours.compiled, name, theirs.process, "3x", "s")
        yield Row(f"{what}, new process, code of a wheel", ours.prebuilt, name, theirs.process, "3x", "s")
        yield Row(f"{what}, new process, compiled before", ours.cached, name, theirs.process, "", "s")
        yield Row(f"{what}, warm", ours.warm, name, theirs.warm, "20x", "s")


def section_clone(rounds: int, seconds: float) -> Iterator[Row]:
    """Copying a position: State.clone beside OpenSpiel's."""
    import pyspiel

    import cardenvs

    for game, theirs in (("leduc_poker_v0", "leduc_poker"), ("gin_rummy_v0", "gin_rummy")):
        ours = cardenvs.get_game(game).new_state(seed=1)
        other = pyspiel.load_game(theirs).new_initial_state()
        yield from versus(
            f"{game} State.clone",
            _caller("cardenvs State", ours.clone),
            [(_caller("OpenSpiel clone", other.clone), "")],
            rounds,
            seconds,
        )


def section_pictures(rounds: int, seconds: float) -> Iterator[Row]:
    """Game views and pictures of positions in the middle of a game, and pages that play one."""
    from cardenvs.envs.arguments import table_image
    from cardenvs.pictures import draw_svg

    cases = (("gin_rummy_v0", "2,000", "3 ms", 200_000), ("wingspan_v0", "300", "15 ms", 600_000))
    for game, views, svg, page in cases:
        state, replay = _middle_and_replay(game)
        player = state.current_player
        view = state.view(player)
        calls = [
            _caller("view", functools.partial(state.view, player)),
            _caller("svg", functools.partial(draw_svg, view)),
            _caller("pixels", functools.partial(table_image, state, player)),
        ]
        race(calls, rounds, seconds)
        yield Row(f"{game} game view", calls[0].best, "", 0.0, views)
        yield Row(f"{game} SVG of a view", 1e3 / calls[1].best, "", 0.0, svg, "ms")
        yield Row(f"{game} rgb_array, 640 pixels wide", 1e3 / calls[2].best, "", 0.0, "30 ms", "ms")
        yield Row(f"{game} page that plays a game", len(replay.page()), "", 0.0, f"{page:,}", "bytes")


def section_server(rounds: int, seconds: float) -> Iterator[Row]:
    """How long a move takes to reach spectators."""
    from benchmarks.server import delays

    found = sorted(delays(tables=100, watchers=5, seconds=max(5.0, 4 * rounds * seconds)))
    what = f"100 tables, 500 spectators: move to client, p{{}} of {len(found):,}"
    yield Row(what.format(50), 1e3 * found[len(found) // 2], "", 0.0, "", "ms")
    yield Row(what.format(99), 1e3 * found[len(found) * 99 // 100], "", 0.0, "100 ms", "ms")


def section_poker(rounds: int, seconds: float) -> Iterator[Row]:
    """One-player poker: steps over HTTP, and the best total of a deck."""
    from benchmarks.poker import steps

    rate, took = steps(max(3.0, 2 * rounds * seconds))
    yield Row("one_player_poker_v0: POST /game/step, 8 connections", rate, "", 0.0, "1,500")
    yield Row(
        f"POST /game/step, p99 of {len(took):,}", 1e3 * sorted(took)[len(took) * 99 // 100], "", 0.0, "20 ms", "ms"
    )
    yield Row("best total of a deck, median of 200", 1e3 * _solver_median(200), "", 0.0, "50 ms", "ms")
    mean, half = _planner_gain(deals=200)
    yield Row(f"planner less heuristic on 200 deals, 95% interval ± {half:.0f}", mean, "", 0.0, "0", "points")


def section_search(rounds: int, seconds: float) -> Iterator[Row]:
    """Searches: decisions in gin rummy per second of processor time, and playouts a second beside OpenSpiel's."""
    for spec, goal in (("search:simulations=1000", "20"), ("ismcts:simulations=1000", "")):
        yield Row(f"gin_rummy_v0 decisions, {spec}", search.decision_rate(spec, rounds), "", 0.0, goal)
    for game, peer in (
        ("leduc_poker_v0", lambda: search.open_spiel_ismcts("leduc_poker")),
        ("gin_rummy_v0", lambda: search.open_spiel_mcts("gin_rummy")),
    ):
        made = _made(peer)
        if made is not None:
            yield from versus(f"{game} random playouts", search.own_playouts(game), [(made, "")], rounds, seconds)


def _planner_gain(deals: int) -> tuple[float, float]:
    """Return how much more the planner scores than the rule agent on the same deals, and half its 95% interval."""
    from cardenvs.arena import Match, run_match

    found = run_match(Match.of("one_player_poker_v0", ["planner", "heuristic"], deals=deals, seed=0)).advantage(0, 1)
    assert found is not None
    return found.mean, found.high - found.mean


def _solver_median(decks: int) -> float:
    """Return the seconds that the best total of a deck takes."""
    import cardenvs
    from cardenvs.tools.one_player_poker.calibration.solver import most_points

    game, took = cardenvs.get_game("one_player_poker_v0"), []
    for seed in range(-1, decks):  # the first compiles
        deck = game.new_state(seed=max(seed, 0)).record.deck
        begun = time.perf_counter()
        most_points(deck)
        took.append(time.perf_counter() - begun)
    return sorted(took[1:])[decks // 2]


def _middle_and_replay(game: str) -> tuple[Any, Any]:
    """Return a position in the middle of a game of the default opponent, and the replay of the whole game."""
    import cardenvs

    found = cardenvs.get_game(game)
    state = found.new_state(seed=1)
    while not state.is_terminal:
        state.apply(state.policy_action(found.default_opponent, state.ply))
    replay = cardenvs.Replay.of(state)
    return replay.state_at(len(replay.actions) // 2), replay


def _caller(name: str, call: Callable) -> Contestant:
    from benchmarks.timing import repeat_for

    def many() -> int:
        for _ in range(200):
            call()
        return 200

    return Contestant(name, lambda seconds: repeat_for(seconds, many))


def _all_made(peers: Iterable[tuple[Callable[[], Contestant], str]]) -> list[tuple[Contestant, str]]:
    """The contestants that can be made, with their goals."""
    return [(peer, goal) for make, goal in peers if (peer := _made(make)) is not None]


def _made(make: Callable[[], Contestant]) -> Contestant | None:
    """The contestant, or None with a word on stderr where its library or a C compiler is not installed."""
    try:
        return make()
    except (ImportError, MissingExtraError, NoLimitError) as error:
        sys.stderr.write(f"left out: {error}\n")
        return None


SECTIONS = {
    "batch": section_batch,
    "pgx": section_pgx,
    "threads": section_threads,
    "aec": section_aec,
    "holdem": section_holdem,
    "limit_holdem": section_limit_holdem,
    "wingspan": section_wingspan,
    "cards": section_cards,
    "canasta": section_canasta,
    "bridge": section_bridge,
    "tricks": section_tricks,
    "dice": section_dice,
    "hanabi": section_hanabi,
    "blackjack": section_blackjack,
    "uno": section_uno,
    "dou_dizhu": section_dou_dizhu,
    "crazy_eights": section_crazy_eights,
    "cribbage": section_cribbage,
    "ristiseiska": section_ristiseiska,
    "pinnacola": section_pinnacola,
    "riichi": section_riichi,
    "evaluator": section_evaluator,
    "rummikub": section_rummikub,
    "solvers": section_solvers,
    "clone": section_clone,
    "pictures": section_pictures,
    "server": section_server,
    "poker": section_poker,
    "search": section_search,
    "startup": section_startup,
}


def show(rows: list[Row], console: Console) -> None:
    """Print the rows as a table."""
    table = Table("what", "cardenvs", "peer", "peer's", "ratio", "goal", title="best window of each, in one run")
    for row in rows:
        ratio = "" if not row.theirs else f"{row.ratio:,.2g}x" if row.ratio < 10 else f"{row.ratio:,.0f}x"
        theirs = f"{_figure(row.theirs)} {row.unit}" if row.theirs else ""
        table.add_row(row.what, f"{_figure(row.ours)} {row.unit}", row.peer, theirs, ratio, row.goal)
    console.print(table)


def _figure(value: float) -> str:
    if value >= 100:
        return f"{value / 1e6:,.2f} M" if value >= 1e6 else f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def main(argv: list[str] | None = None) -> None:
    """Run the chosen sections and print their rows."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run",
        description=__doc__,
        epilog="example: python -m benchmarks.run --only batch,aec --rounds 3 --json result.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"sections, of {', '.join(SECTIONS)}")
    parser.add_argument("--rounds", type=int, default=7, help="windows for each contestant")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a window")
    parser.add_argument(
        "--json", type=Path, help="also write the rows here, by section; other sections stay as they are"
    )
    arguments = parser.parse_args(argv)
    names = arguments.only.split(",")
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        parser.error(f"no section named {', '.join(unknown)}; sections are {', '.join(SECTIONS)}")
    console = Console()
    rows: list[Row] = []
    for name in names:
        with console.status(f"measuring {name} ..."):
            started = time.perf_counter()
            found = list(SECTIONS[name](arguments.rounds, arguments.seconds))
        console.print(f"{name}: {time.perf_counter() - started:.0f} s")
        rows += found
        if arguments.json:
            save(arguments.json, name, found)
    show(rows, console)


def save(path: Path, section: str, rows: list[Row]) -> None:
    """Replace the rows of a section in a JSON file, in the order of SECTIONS."""
    saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    saved[section] = [asdict(row) for row in rows]
    ordered = {name: saved[name] for name in SECTIONS if name in saved}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
