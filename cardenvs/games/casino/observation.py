"""What a player of Casino observes."""

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.casino import state
from cardenvs.games.casino.plays import place_of, value_of
from cardenvs.games.casino.state import HIGH_ACE, MAX_BUILDS
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS
from cardenvs.kits.fishing.observation import SECTIONS
from cardenvs.kits.sections import SEATS, Observation, cards, entries, number, one_hot, per_seat, write_bits, written

_VALUES = range(2, HIGH_ACE + 1)
_BUILDS = tuple(str(k) for k in range(MAX_BUILDS))
_ITEMS = (*CARD_LABELS, *(f"build {k}" for k in _BUILDS))


@kernel(inline=True)
def _write_builds(s, p, out, at):
    for k in range(MAX_BUILDS):
        write_bits(s.builds[k], NUM_CARDS, out, at + k * NUM_CARDS)


@kernel(inline=True)
def _is_multiple(s, p, k):
    return s.build_sets[k] > 1


@kernel(inline=True)
def _write_owners(s, p, out, at):
    n = s.rules.num_players
    for k in range(MAX_BUILDS):
        if s.builds[k]:
            out[at + k * n + wrap(s.build_owners[k] - p + n, n)] = 1


@kernel(inline=True)
def _has_shown(s, p, k):
    return s.shown[p] >> k + 2 & 1


@kernel(inline=True)
def _phase(s, p):
    return s.composing - state.PLAY - 1


@kernel(inline=True)
def _target_value(s, p):
    return value_of(s.target) if s.target != state.NO_TARGET else 0


@kernel(inline=True)
def _target_place(s, p):
    return place_of(s.target) + 1 if s.target != state.NO_TARGET else -1


@kernel(inline=True)
def _is_from_table(s, p):
    return s.target >= state.TABLE_ONLY


OBSERVATION = Observation(
    state.STATE,
    *SECTIONS,
    written("builds", tuple(f"{k}:{card}" for k in _BUILDS for card in CARD_LABELS), "cards of each build",
            _write_builds),
    entries("build_values", None, "values of the builds, 0 where there is none", "build_values", high=HIGH_ACE,
            size=MAX_BUILDS),
    entries("build_multiple", None, "1 for builds of several sets", _is_multiple, size=MAX_BUILDS),
    written("build_owners", lambda size: [f"{k}:{p}" for k in _BUILDS for p in range(size // MAX_BUILDS)],
            f"one-hot owner of each build, {SEATS}", _write_owners,
            size=lambda options: MAX_BUILDS * options.num_players),
    per_seat(entries("shown", [str(value) for value in _VALUES],
                     "values of which a card has been shown by a build", _has_shown)),
    one_hot("playing", CARD_LABELS, "one-hot card whose capture or build is put together", "playing"),
    one_hot("composing", ("target", "take"), "one-hot phase of that", _phase),
    number("target_value", "value that it builds", _target_value, high=HIGH_ACE),
    one_hot("target_place", ("new", *_BUILDS), "one-hot build that it adds to or raises", _target_place),
    number("target_from_table", "1 if only cards of the table are built", _is_from_table),
    cards("taken", _ITEMS, "what has been taken for it so far", "taken"),
    cards("group", CARD_LABELS, "of these, the set that is not complete", "group"),
)  # fmt: skip
