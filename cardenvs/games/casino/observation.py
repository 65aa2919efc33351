"""What a player of Casino observes."""

import functools

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, mark_cards
from cardenvs.core.fishing.observation import SEATS, observe_shared, shared_sections
from cardenvs.core.fishing.state import NO_CARD
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.casino.plays import place_of, value_of
from cardenvs.games.casino.state import HIGH_ACE, MAX_BUILDS, NO_TARGET, PLAY, TABLE_ONLY

_VALUES = range(2, HIGH_ACE + 1)
_ITEMS = NUM_CARDS + MAX_BUILDS


def layout(options):
    """Return the sections of an observation, int8."""
    return _layout(options.num_players, 2 if options.teams else options.num_players)


@functools.cache
def _layout(n, sides):
    builds = tuple(f"{k}:{card}" for k in range(MAX_BUILDS) for card in CARD_LABELS)
    owners = tuple(f"{k}:{seat}" for k in range(MAX_BUILDS) for seat in range(n))
    shown = tuple(f"{seat}:{value}" for seat in range(n) for value in _VALUES)
    places = ("new", *map(str, range(MAX_BUILDS)))
    items = (*CARD_LABELS, *(f"build {k}" for k in range(MAX_BUILDS)))
    return Layout(
        (
            *shared_sections(n, sides),
            Section("builds", MAX_BUILDS * NUM_CARDS, "cards of each build", labels=builds),
            Section("build_values", MAX_BUILDS, "values of the builds, 0 where there is none", high=HIGH_ACE),
            Section("build_multiple", MAX_BUILDS, "1 for builds of several sets"),
            Section("build_owners", MAX_BUILDS * n, f"one-hot owner of each build, {SEATS}", labels=owners),
            Section("shown", n * len(_VALUES), f"values of which a card has been shown by a build, {SEATS}",
                    labels=shown),
            Section("playing", NUM_CARDS, "one-hot card whose capture or build is put together", labels=CARD_LABELS),
            Section("composing", 2, "one-hot phase of that", labels=("target", "take")),
            Section("target_value", 1, "value that it builds", high=HIGH_ACE),
            Section("target_place", MAX_BUILDS + 1, "one-hot build that it adds to or raises", labels=places),
            Section("target_from_table", 1, "1 if only cards of the table are built"),
            Section("taken", _ITEMS, "what has been taken for it so far", labels=items),
            Section("group", NUM_CARDS, "of these, the set that is not complete", labels=CARD_LABELS),
        )
    )  # fmt: skip


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    n = s.rules.num_players
    builds = observe_shared(s, player, out)
    values = builds + MAX_BUILDS * NUM_CARDS
    owners = values + 2 * MAX_BUILDS
    for k in range(MAX_BUILDS):
        if s.builds[k]:
            mark_cards(s.builds[k], out, builds + k * NUM_CARDS)
            out[values + k] = s.build_values[k]
            out[values + MAX_BUILDS + k] = s.build_sets[k] > 1
            out[owners + k * n + wrap(s.build_owners[k] - player + n, n)] = 1
    shown = owners + MAX_BUILDS * n
    for seat in range(n):
        values_shown = s.shown[wrap(player + seat, n)]
        for value in range(2, HIGH_ACE + 1):
            out[shown + seat * (HIGH_ACE - 1) + value - 2] = values_shown >> value & 1
    if s.playing != NO_CARD:
        _observe_composing(s, out, shown + n * (HIGH_ACE - 1))


@kernel
def _observe_composing(s, out, start):
    """Write the sections of a capture or build that is being put together."""
    out[start + s.playing] = 1
    phase = start + NUM_CARDS
    out[phase + s.composing - PLAY - 1] = 1
    if s.target != NO_TARGET:
        out[phase + 2] = value_of(s.target)
        out[phase + 4 + place_of(s.target)] = 1
        out[phase + 4 + MAX_BUILDS] = s.target >= TABLE_ONLY
    taken = phase + 5 + MAX_BUILDS
    mark_cards(s.taken, out, taken)
    mark_cards(s.group, out, taken + _ITEMS)
