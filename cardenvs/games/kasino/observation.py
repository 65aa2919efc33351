"""What a player of Kasino observes."""

import functools

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, count_bits, mark_cards
from cardenvs.core.fishing.rules import num_sides, side_of
from cardenvs.core.fishing.state import NO_CARD, ROUND_SIZE
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap

_SEATS = "observer first, then in turn"
_SIDES = "the observer's first, then in turn"
_MOST = 127  # scores and prizes are clipped here


def layout(options):
    """Return the sections of an observation, int8."""
    return _layout(options.num_players, 2 if options.teams else options.num_players)


@functools.cache
def _layout(n, sides):
    cards = tuple(f"{side}:{card}" for side in range(sides) for card in CARD_LABELS)
    return Layout(
        (
            Section("hand", NUM_CARDS, "own cards", labels=CARD_LABELS),
            Section("table", NUM_CARDS, "cards on the table", labels=CARD_LABELS),
            Section("playing", NUM_CARDS, "one-hot card with which cards are taken one by one", labels=CARD_LABELS),
            Section("taken", NUM_CARDS, "cards taken with it so far", labels=CARD_LABELS),
            Section("group", NUM_CARDS, "of these, the group that is not complete", labels=CARD_LABELS),
            Section("won", sides * NUM_CARDS, f"cards captured in this hand, {_SIDES}", labels=cards),
            Section("last_won", sides * NUM_CARDS, f"the same at the end of the hand before, {_SIDES}", labels=cards),
            Section("last_table", NUM_CARDS, "cards that nobody got in the hand before", labels=CARD_LABELS),
            Section("sweeps", sides, f"sweeps of this hand that count, {_SIDES}", high=NUM_CARDS // 2),
            Section("scores", sides, f"points, {_SIDES}, clipped at {_MOST}", low=-_MOST, high=_MOST),
            Section("last_taker", sides, f"1 for the side that captured last in this hand, {_SIDES}"),
            Section("prizes", 2, f"points for most cards and for most spades, clipped at {_MOST}", high=_MOST,
                    labels=("cards", "spades")),
            Section("hand_sizes", n, f"cards in hand, {_SEATS}", high=ROUND_SIZE),
            Section("to_act", n, f"1 for the player to act, {_SEATS}"),
            Section("dealer", n, f"1 for the dealer, {_SEATS}"),
            Section("stock", 1, "cards still to be dealt", high=NUM_CARDS),
        )
    )  # fmt: skip


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    n, sides = s.rules.num_players, num_sides(s)
    out[:] = 0
    mark_cards(s.hands[player], out, 0)
    mark_cards(s.table, out, NUM_CARDS)
    if s.playing != NO_CARD:
        out[2 * NUM_CARDS + s.playing] = 1
        mark_cards(s.taken, out, 3 * NUM_CARDS)
        mark_cards(s.group, out, 4 * NUM_CARDS)
    won = 5 * NUM_CARDS
    last_won = won + sides * NUM_CARDS
    last_table = last_won + sides * NUM_CARDS
    mark_cards(s.last_table, out, last_table)
    sweeps = last_table + NUM_CARDS
    own = side_of(s, player)
    for k in range(sides):
        side = wrap(own + k, sides)
        mark_cards(s.won[side], out, won + k * NUM_CARDS)
        mark_cards(s.last_won[side], out, last_won + k * NUM_CARDS)
        out[sweeps + k] = s.sweeps[side]
        out[sweeps + sides + k] = min(max(s.scores[side], -_MOST), _MOST)
        out[sweeps + 2 * sides + k] = side == s.last_taker
    prizes = sweeps + 3 * sides
    out[prizes] = s.cards_prize
    out[prizes + 1] = s.spades_prize
    seats = prizes + 2
    for seat in range(n):
        p = wrap(player + seat, n)
        out[seats + seat] = count_bits(s.hands[p])
        out[seats + n + seat] = p == s.current_player
        out[seats + 2 * n + seat] = p == s.dealer
    out[seats + 3 * n] = NUM_CARDS - s.num_dealt
