"""What a player of Katko observes."""

import functools

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, SUITS, mark_cards
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.katko.rules import cards_played, led_suit
from cardenvs.games.katko.state import EXCHANGE, MAX_TARGET, NO_CARD

_SEATS = "observer first, then in turn"


def layout(options):
    """Return the sections of an observation, int8."""
    return _layout(options.num_players, options.cards_per_player)


@functools.cache
def _layout(n, num_tricks):
    tricks = tuple(str(k + 1) for k in range(num_tricks))
    return Layout(
        (
            _cards("hand", "own cards"),
            _cards("set_aside", "cards that the observer has set aside since the last shuffle"),
            _cards("gone", "cards played in earlier deals since the last shuffle"),
            _by_seat("trick", n, "one-hot card in the current trick"),
            _by_seat("played", n, "cards played in this deal"),
            _by_seat("last_played", n, "cards played in the deal before"),
            Section("voids", 4 * n, f"1 for each suit that a player has shown not to hold, {_SEATS}",
                    labels=tuple(f"{seat}:{suit}" for seat in range(n) for suit in SUITS)),
            Section("led_suit", 4, "one-hot suit to follow, zeros before the lead", labels=tuple(SUITS)),
            Section("leader", n, f"1 for the leader of the trick, {_SEATS}"),
            Section("to_act", n, f"1 for the player to act, {_SEATS}"),
            Section("dealer", n, f"1 for the dealer, {_SEATS}"),
            Section("present", n, f"1 for each player who has not left, {_SEATS}"),
            Section("trick_number", num_tricks, "one-hot number of the trick", labels=tricks),
            Section("scores", n, f"points, {_SEATS}", high=MAX_TARGET + 1),
            Section("rest", 1, "undealt cards", high=NUM_CARDS),
            Section("exchange", 2, "1 while cards are exchanged; cards that the player to act has set aside",
                    high=num_tricks, labels=("is_on", "set_aside")),
        )
    )  # fmt: skip


def _cards(name, doc):
    return Section(name, NUM_CARDS, doc, labels=CARD_LABELS)


def _by_seat(name, n, doc):
    labels = tuple(f"{seat}:{card}" for seat in range(n) for card in CARD_LABELS)
    return Section(name, n * NUM_CARDS, f"{doc}, {_SEATS}", labels=labels)


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    n, num_tricks = s.rules.num_players, s.rules.cards_per_player
    out[:] = 0
    mark_cards(s.hands[player], out, 0)
    mark_cards(s.set_aside[player], out, NUM_CARDS)
    mark_cards(s.gone, out, 2 * NUM_CARDS)
    trick = 3 * NUM_CARDS
    played = trick + n * NUM_CARDS
    last_played = played + n * NUM_CARDS
    voids = last_played + n * NUM_CARDS
    seats = voids + 4 * n + 4
    scores = seats + 4 * n + num_tricks
    for seat in range(n):
        p = wrap(player + seat, n)
        if s.trick < num_tricks and s.played[p, s.trick] != NO_CARD:
            out[trick + seat * NUM_CARDS + s.played[p, s.trick]] = 1
        mark_cards(cards_played(s, p), out, played + seat * NUM_CARDS)
        mark_cards(s.last_played[p], out, last_played + seat * NUM_CARDS)
        for suit in range(4):
            out[voids + 4 * seat + suit] = s.voids[p] >> suit & 1
        out[seats + seat] = p == s.leader
        out[seats + n + seat] = p == s.current_player
        out[seats + 2 * n + seat] = p == s.dealer
        out[seats + 3 * n + seat] = s.active[p]
        out[scores + seat] = s.scores[p]
    if s.trick < num_tricks:
        out[seats + 4 * n + s.trick] = 1
        if led_suit(s) >= 0:
            out[voids + 4 * n + led_suit(s)] = 1
    out[scores + n] = NUM_CARDS - s.num_dealt
    out[scores + n + 1] = s.phase == EXCHANGE
    out[scores + n + 2] = s.num_setting_aside
