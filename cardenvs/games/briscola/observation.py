"""What a player of Briscola observes."""

import functools

from cardenvs.core.cards import ITALIAN_LABELS, NUM_ITALIAN, SUITS, mark_cards
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.briscola.rules import MAX_TARGET, MOST_POINTS, NO_CARD, NUM_SIDES, suit_of

_SEATS = "observer first, then in turn"
_SIDES = "the observer's side first"


def layout(options):
    """The sections of an observation, int8."""
    return _layout(options.num_players)


@functools.cache
def _layout(n):
    cards = tuple(f"{seat}:{card}" for seat in range(n) for card in ITALIAN_LABELS)
    return Layout(
        (
            Section("hand", NUM_ITALIAN, "own cards", labels=ITALIAN_LABELS),
            Section("trump_card", NUM_ITALIAN, "one-hot card that was turned up", labels=ITALIAN_LABELS),
            Section("trump_suit", len(SUITS), "one-hot suit of trumps", labels=tuple(SUITS)),
            Section("trump_holder", n, f"1 for who has drawn and not played the turned-up card, {_SEATS}"),
            Section("trick", n * NUM_ITALIAN, f"one-hot card in the trick, {_SEATS}", labels=cards),
            Section("played", n * NUM_ITALIAN, f"cards played in this deal, {_SEATS}", labels=cards),
            Section("won", n * NUM_ITALIAN, f"cards in tricks won in this deal, {_SEATS}", labels=cards),
            Section("last_won", n * NUM_ITALIAN, f"cards in tricks won in the deal before, {_SEATS}", labels=cards),
            Section("leader", n, f"1 for the leader of the trick, {_SEATS}"),
            Section("to_act", n, f"1 for the player to act, {_SEATS}"),
            Section("stock", 1, "cards to draw, the turned-up one included", high=NUM_ITALIAN),
            Section("points", NUM_SIDES, f"points won in this deal, {_SIDES}", high=MOST_POINTS),
            Section("deals_won", NUM_SIDES, f"deals won, {_SIDES}", high=MAX_TARGET),
        )
    )


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    n = s.rules.num_players
    out[:] = 0
    mark_cards(s.hands[player], out, 0)
    out[NUM_ITALIAN + s.trump] = 1
    out[2 * NUM_ITALIAN + suit_of(s.trump)] = 1
    holder = 2 * NUM_ITALIAN + 4
    trick = holder + n
    played = trick + n * NUM_ITALIAN
    won = played + n * NUM_ITALIAN
    last_won = won + n * NUM_ITALIAN
    leader = last_won + n * NUM_ITALIAN
    for seat in range(n):
        p = wrap(player + seat, n)
        out[holder + seat] = p == s.trump_holder
        if s.trick[p] != NO_CARD:
            out[trick + seat * NUM_ITALIAN + s.trick[p]] = 1
        mark_cards(s.played[p], out, played + seat * NUM_ITALIAN)
        mark_cards(s.won[p], out, won + seat * NUM_ITALIAN)
        mark_cards(s.last_won[p], out, last_won + seat * NUM_ITALIAN)
        out[leader + seat] = p == s.leader
        out[leader + n + seat] = p == s.current_player
    stock = leader + 2 * n
    out[stock] = NUM_ITALIAN - s.num_dealt
    for k in range(NUM_SIDES):
        side = (player + k) % NUM_SIDES
        out[stock + 1 + k] = s.points[side]
        out[stock + 1 + NUM_SIDES + k] = s.deals_won[side]
