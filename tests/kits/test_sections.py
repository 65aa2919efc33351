"""Sections of observations: what they write and what the layout says must fit, with any options."""

from dataclasses import dataclass

import numpy as np
import pytest

from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, fill_rules, option, rules_dtype
from cardenvs.core.record import record, widen
from cardenvs.kits import sections as sec

LABELS = tuple("abcdefghijkl")
SUITS = tuple("wxyz")


@dataclass(frozen=True)
class ToyOptions(Options):
    """Options of a record without a game."""

    num_players: int = option(3, low=2, high=4, doc="players")
    rounds: int = option(2, low=1, high=3, doc="rounds")
    extra: bool = option(False, doc="whether there are more sections")


STATE = record(
    rules_dtype(ToyOptions),
    4,
    [
        ("hands", "i8", (4,)), ("shared", "i8"), ("top", "i1"), ("picked", "i1", (4,)), ("score", "i2", (4,)),
        ("grid", "i1", (4, 3)), ("row", "i1", (3,)), ("dealer", "i1"), ("voids", "u1", (4,)), ("total", "i2", (2,)),
    ],
)  # fmt: skip
STEPS = np.array([1, 3, 8])


@kernel(inline=True)
def twice(s, p):
    return 2 * s.score[p]


@kernel(inline=True)
def product(s, p, k):
    return s.score[p] * k


@kernel(inline=True)
def pair(s, p, out, at):
    out[at] = s.top
    out[at + 1] = p


@kernel(inline=True)
def firsts(s, player, out, kept, scores):
    out[kept] = s.hands[player] & 1
    for seat in range(s.rules.num_players):
        out[scores + np.uint64(seat)] = s.score[(player + seat) % s.rules.num_players]


OBSERVATION = sec.Observation(
    STATE,
    sec.cards("hand", LABELS, "own cards", "hands"),
    sec.cards("shared", LABELS, "cards of all", "shared"),
    sec.one_hot("top", LABELS, "top card", "top"),
    sec.per_seat(sec.one_hot("picked", LABELS, "card picked", "picked")),
    sec.per_seat(sec.cards("voids", SUITS, "suits", "voids")),
    sec.one_seat("dealer", "the dealer", "dealer"),
    sec.per_seat(sec.steps("reached", "score of seat {}", STEPS, "score"), first=1, apart=True),
    sec.number("clipped", "score", "score", clip=5),
    sec.number("twice", "twice the score", twice, low=-20, high=20),
    sec.entries("rounds", lambda size: [f"r{k}" for k in range(size)], "row", "row", high=9, size="rounds"),
    sec.per_seat(sec.entries("grid", "123", "grid", "grid", high=9)),
    *sec.only(lambda options: options.extra,
              sec.written("pair", ("top", "observer"), "a pair", pair, high=lambda options: 9 * options.rounds),
              sec.entries("product", "012", "products", product, high=40)),
    sec.per_side(sec.number("total", "points", "total", high=99), 2, "own first"),
    *sec.together(firsts,
                  sec.written("ace", ("a",), "whether the observer has an ace"),
                  sec.per_seat(sec.written("scores", ("points",), "score", high=9))),
    sec.per_seat(sec.cards("all_voids", SUITS, "suits", "voids"), room=4),
)  # fmt: skip


def a_state(seed, **options):
    rng = np.random.default_rng(seed)
    states = np.zeros(1, STATE)
    chosen = ToyOptions.make(**options)
    fill_rules(states["rules"], chosen)
    states["hands"] = rng.integers(0, 1 << 12, 4)
    states["shared"] = rng.integers(0, 1 << 12)
    states["top"], states["dealer"] = rng.integers(-1, 12), rng.integers(-1, chosen.num_players)
    states["picked"] = rng.integers(-1, 12, 4)
    states["score"], states["row"] = rng.integers(0, 10, 4), rng.integers(0, 9, 3)
    states["grid"], states["voids"], states["total"] = (
        rng.integers(0, 9, (4, 3)), rng.integers(0, 16, 4), rng.integers(0, 99, 2),
    )  # fmt: skip
    return chosen, states


def plainly(s, options, player):
    """The observation, written by hand."""
    n = options.num_players
    seats = [(player + k) % n for k in range(n)]

    def bits(number, size):
        return [int(number) >> k & 1 for k in range(size)]

    def hot(number, size):
        return [int(k == number) for k in range(size)]

    out = [*bits(s["hands"][player], 12), *bits(s["shared"], 12), *hot(s["top"], 12)]
    for p in seats:
        out += hot(s["picked"][p], 12)
    for p in seats:
        out += bits(s["voids"][p], 4)
    out += [int(p == s["dealer"]) for p in seats]
    for p in seats[1:]:
        out += [int(s["score"][p] >= step) for step in STEPS]
    out += [min(int(s["score"][player]), 5), 2 * int(s["score"][player]), *s["row"][: options.rounds]]
    for p in seats:
        out += [*s["grid"][p]]
    if options.extra:
        out += [s["top"], player, *[int(s["score"][player]) * k for k in range(3)]]
    out += [s["total"][player % 2], s["total"][1 - player % 2], int(s["hands"][player]) & 1]
    out += [s["score"][p] for p in seats]
    for p in seats:
        out += bits(s["voids"][p], 4)
    return [*out, *[0] * (16 - 4 * n)]


@kernel(entry=True)
def observe(states, i, player, out):
    OBSERVE(states[i], player, out)


OBSERVE = OBSERVATION.observe


@pytest.mark.parametrize(
    "options", [{}, {"num_players": 4, "rounds": 3}, {"num_players": 2, "rounds": 1, "extra": True}]
)
@pytest.mark.parametrize("is_compiled", [True, False])
def test_sections_are_written_where_the_layout_says(options, is_compiled):
    for seed in range(20):
        chosen, states = a_state(seed, **options)
        layout = OBSERVATION.layout(chosen)
        for player in range(chosen.num_players):
            out = np.full(layout.size, 77, np.int8)
            if is_compiled:
                observe(states, 0, player, out)
            else:
                function = getattr(OBSERVE, "py_func", OBSERVE)
                function(widen(states)[0], player, out)
            assert out.tolist() == plainly(states[0], chosen, player)


def test_the_layout_names_counts_and_labels_every_section():
    layout = OBSERVATION.layout(ToyOptions.make(num_players=3, rounds=2))
    by_name = {section.name: section for section in layout.sections}
    assert list(by_name) == [
        "hand", "shared", "top", "picked", "voids", "dealer", "reached_1", "reached_2", "clipped", "twice", "rounds",
        "grid", "total", "ace", "scores", "all_voids",
    ]  # fmt: skip
    assert by_name["picked"].labels[:13] == (*(f"0:{label}" for label in LABELS), "1:a")
    assert by_name["picked"].doc == "card picked, observer first, then in turn"
    assert by_name["reached_2"].doc == "score of seat 2: 1 for each step reached"
    assert by_name["rounds"].labels == ("r0", "r1")
    assert (by_name["clipped"].high, by_name["twice"].low) == (5, -20)
    assert layout.size == 12 + 12 + 12 + 36 + 12 + 3 + 6 + 1 + 1 + 2 + 9 + 2 + 1 + 3 + 16
    extra = OBSERVATION.layout(ToyOptions.make(extra=True, rounds=3))
    assert [section.high for section in extra.sections if section.name == "pair"] == [27]


def test_the_code_is_there_to_be_read():
    assert "def observe(s, player, out):" in OBSERVATION.code
    assert "write_bits(s.hands[np.uint64(p)], 12, out, at_0)" in OBSERVATION.code
