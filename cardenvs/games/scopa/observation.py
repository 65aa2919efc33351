"""What a player of Scopa observes."""

import functools

from cardenvs.core.cards import ITALIAN_LABELS, NUM_ITALIAN, count_bits, mark_cards
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.scopa.rules import num_sides, side_of

_SEATS = "observer first, then in turn"
_SIDES = "the observer's first, then in turn"
_MOST_SCORE = 127  # scores are clipped here
_MOST_HAND = 10


def layout(options):
    """Return the sections of an observation, int8."""
    return _layout(options.num_players)


@functools.cache
def _layout(n):
    sides = 3 if n == 3 else 2
    cards = tuple(f"{side}:{card}" for side in range(sides) for card in ITALIAN_LABELS)
    return Layout(
        (
            Section("hand", NUM_ITALIAN, "own cards", labels=ITALIAN_LABELS),
            Section("table", NUM_ITALIAN, "cards on the table", labels=ITALIAN_LABELS),
            Section("won", sides * NUM_ITALIAN, f"cards that each side has taken, {_SIDES}", labels=cards),
            Section("last_won", sides * NUM_ITALIAN, f"the same at the end of the hand before, {_SIDES}", labels=cards),
            Section("last_table", NUM_ITALIAN, "cards that nobody got in the hand before", labels=ITALIAN_LABELS),
            Section("scope", sides, f"scope of this hand, {_SIDES}", high=NUM_ITALIAN // 2),
            Section("scores", sides, f"points in the match, {_SIDES}, clipped at {_MOST_SCORE}", high=_MOST_SCORE),
            Section("last_taker", sides, f"1 for the side that took last in this hand, {_SIDES}"),
            Section("hand_sizes", n, f"cards in hand, {_SEATS}", high=_MOST_HAND),
            Section("to_act", n, f"1 for the player to act, {_SEATS}"),
            Section("dealer", n, f"1 for the dealer, {_SEATS}"),
            Section("stock", 1, "cards still to be dealt", high=NUM_ITALIAN),
        )
    )


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    n, sides = s.rules.num_players, num_sides(s)
    out[:] = 0
    mark_cards(s.hands[player], out, 0)
    mark_cards(s.table, out, NUM_ITALIAN)
    won = 2 * NUM_ITALIAN
    last_won = won + sides * NUM_ITALIAN
    last_table = last_won + sides * NUM_ITALIAN
    mark_cards(s.last_table, out, last_table)
    scope = last_table + NUM_ITALIAN
    own = side_of(s, player)
    for k in range(sides):
        side = wrap(own + k, sides)
        mark_cards(s.won[side], out, won + k * NUM_ITALIAN)
        mark_cards(s.last_won[side], out, last_won + k * NUM_ITALIAN)
        out[scope + k] = s.scope[side]
        out[scope + sides + k] = min(s.scores[side], _MOST_SCORE)
        out[scope + 2 * sides + k] = side == s.last_taker
    seats = scope + 3 * sides
    for seat in range(n):
        p = wrap(player + seat, n)
        out[seats + seat] = count_bits(s.hands[p])
        out[seats + n + seat] = p == s.current_player
        out[seats + 2 * n + seat] = p == s.dealer
    out[seats + 3 * n] = NUM_ITALIAN - s.num_dealt
