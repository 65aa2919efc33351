"""What a player of Kasino observes."""

import functools

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, mark_cards
from cardenvs.core.fishing.observation import observe_shared, shared_sections
from cardenvs.core.fishing.state import NO_CARD
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section

_MOST = 127  # prizes are clipped here


def layout(options):
    """Return the sections of an observation, int8."""
    return _layout(options.num_players, 2 if options.teams else options.num_players)


@functools.cache
def _layout(n, sides):
    return Layout(
        (
            *shared_sections(n, sides),
            Section("prizes", 2, f"points for most cards and for most spades, clipped at {_MOST}", high=_MOST,
                    labels=("cards", "spades")),
            Section("playing", NUM_CARDS, "one-hot card with which cards are taken one by one", labels=CARD_LABELS),
            Section("taken", NUM_CARDS, "cards taken with it so far", labels=CARD_LABELS),
            Section("group", NUM_CARDS, "of these, the group that is not complete", labels=CARD_LABELS),
        )
    )  # fmt: skip


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    prizes = observe_shared(s, player, out)
    out[prizes] = s.cards_prize
    out[prizes + 1] = s.spades_prize
    playing = prizes + 2
    if s.playing != NO_CARD:
        out[playing + s.playing] = 1
        mark_cards(s.taken, out, playing + NUM_CARDS)
        mark_cards(s.group, out, playing + 2 * NUM_CARDS)
