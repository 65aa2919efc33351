"""The first sections of observations of fishing games."""

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, count_bits, mark_cards
from cardenvs.core.fishing.rules import num_sides, side_of
from cardenvs.core.fishing.state import ROUND_SIZE
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Section
from cardenvs.core.seats import wrap

SEATS = "observer first, then in turn"
_SIDES = "the observer's first, then in turn"
_MOST = 127  # scores are clipped here


def shared_sections(n, sides):
    """Return the sections that `observe_shared` writes, int8, for n players in some number of sides."""
    cards = tuple(f"{side}:{card}" for side in range(sides) for card in CARD_LABELS)
    return (
        Section("hand", NUM_CARDS, "own cards", labels=CARD_LABELS),
        Section("table", NUM_CARDS, "loose cards on the table", labels=CARD_LABELS),
        Section("last_table", NUM_CARDS, "cards that nobody got in the hand before", labels=CARD_LABELS),
        Section("won", sides * NUM_CARDS, f"cards captured in this hand, {_SIDES}", labels=cards),
        Section("last_won", sides * NUM_CARDS, f"the same at the end of the hand before, {_SIDES}", labels=cards),
        Section("sweeps", sides, f"sweeps of this hand that count, {_SIDES}", high=NUM_CARDS // 2),
        Section("scores", sides, f"points, {_SIDES}, clipped at {_MOST}", low=-_MOST, high=_MOST),
        Section("last_taker", sides, f"1 for the side that captured last in this hand, {_SIDES}"),
        Section("hand_sizes", n, f"cards in hand, {SEATS}", high=ROUND_SIZE),
        Section("to_act", n, f"1 for the player to act, {SEATS}"),
        Section("dealer", n, f"1 for the dealer, {SEATS}"),
        Section("stock", 1, "cards still to be dealt", high=NUM_CARDS),
    )


@kernel
def observe_shared(s, player, out):
    """Clear `out`, int8, write the sections of `shared_sections`, and return the index after them."""
    n, sides = s.rules.num_players, num_sides(s)
    out[:] = 0
    mark_cards(s.hands[player], out, 0)
    mark_cards(s.table, out, NUM_CARDS)
    mark_cards(s.last_table, out, 2 * NUM_CARDS)
    won = 3 * NUM_CARDS
    last_won = won + sides * NUM_CARDS
    sweeps = last_won + sides * NUM_CARDS
    own = side_of(s, player)
    for k in range(sides):
        side = wrap(own + k, sides)
        mark_cards(s.won[side], out, won + k * NUM_CARDS)
        mark_cards(s.last_won[side], out, last_won + k * NUM_CARDS)
        out[sweeps + k] = s.sweeps[side]
        out[sweeps + sides + k] = min(max(s.scores[side], -_MOST), _MOST)
        out[sweeps + 2 * sides + k] = side == s.last_taker
    seats = sweeps + 3 * sides
    for seat in range(n):
        p = wrap(player + seat, n)
        out[seats + seat] = count_bits(s.hands[p])
        out[seats + n + seat] = p == s.current_player
        out[seats + 2 * n + seat] = p == s.dealer
    out[seats + 3 * n] = NUM_CARDS - s.num_dealt
    return seats + 3 * n + 1
