"""The observation of Texas hold'em."""

import numpy as np

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, lowest_card
from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem.legal import largest_raise, owed, raise_refused, smallest_raise
from cardenvs.games.texas_holdem.state import (
    BOARD_CARDS,
    FOLDS,
    HISTORY,
    MAX_LEVELS,
    NUM_STREETS,
    RAISES,
    STREETS,
)

_MOST_OWN = 10  # cap on amounts in own chips
_MOST_RAISES = 10  # cap on counts of raises
_MOST_HANDS = 100  # cap on the hand number

_ONE, _TEN = np.float32(1), np.float32(_MOST_OWN)
_PER_LEVEL, _PER_HAND, _PER_STREET = (_ONE / np.float32(most) for most in (MAX_LEVELS, _MOST_HANDS, NUM_STREETS - 1))

# Entries of each action in the history.
_PER_ACTION = ("seat", "street", "fold", "raise", "amount")
_SEAT, _STREET_OF, _FOLD, _RAISE, _AMOUNT = range(len(_PER_ACTION))

_AMOUNTS = ("pot", "to_call", "min_raise_to", "max_raise_to")
_POT, _TO_CALL, _MIN_RAISE, _MAX_RAISE = range(len(_AMOUNTS))


def layout(options):
    """Return the observation sections, float32. Seats are counted from the observer, clockwise."""
    n = options.num_players
    seats = tuple(f"seat_{k}" for k in range(n))
    least_blind = min(big for _, big in options.all_blinds())
    most_blinds = 1.001 * sum(options.first_stacks()) / least_blind  # all chips, and room for rounding
    by_street = tuple(f"{street}_{seat}" for street in STREETS for seat in seats)

    def flags(name, doc):
        return Section(name, n, doc, labels=seats)

    def blinds(name, size, doc, labels):
        return Section(name, size, f"{doc}, in big blinds", high=most_blinds, labels=labels)

    def own(name, size, doc, labels):
        doc = f"{doc}, in the observer's chips at the start of the hand, at most {_MOST_OWN}"
        return Section(name, size, doc, high=_MOST_OWN, labels=labels)

    return Layout(
        (
            Section("own_hand", NUM_CARDS, "the observer's cards in this hand", labels=CARD_LABELS),
            Section("board", NUM_CARDS, "the cards of the board", labels=CARD_LABELS),
            Section("last_hand", NUM_CARDS, "cards seen in the hand before: 1 on its board, (seat + 1) / (players + 1) "
                    "laid open by that seat; when the game is over, those laid open in its last hand",
                    labels=CARD_LABELS),
            Section("street", NUM_STREETS, "one-hot street", labels=STREETS),
            flags("button", "one-hot position of the button"),
            flags("small_blind", "one-hot position of the small blind, of an empty seat too"),
            flags("big_blind", "one-hot seat of the big blind"),
            flags("to_act", "one-hot seat to act"),
            flags("aggressor", "one-hot seat that made the last bet or raise of the hand"),
            flags("in_hand", "1 for each seat that was dealt in and has not folded"),
            flags("has_acted", "1 for each seat that has acted on this street"),
            flags("all_in", "1 for each seat in the hand with no chips behind"),
            flags("out", "1 for each seat that is out of the game"),
            flags("last_in_hand", "1 for each seat that had not folded at the end of the hand before"),
            Section("last_won", n, "chips won less chips lost in the hand before, in big blinds", low=-most_blinds,
                    high=most_blinds, labels=seats),
            blinds("stacks", n, "chips behind", seats),
            own("stacks_by_own", n, "chips behind", seats),
            blinds("bets", n, "chips put in on this street", seats),
            own("bets_by_own", n, "chips put in on this street", seats),
            blinds("chips_in", n, "chips put in during this hand, including antes of each seat", seats),
            blinds("amounts", len(_AMOUNTS), "the pot, and the options of the player to act (0: no raise)", _AMOUNTS),
            own("amounts_by_own", len(_AMOUNTS), "the same", _AMOUNTS),
            Section(
                "structure", 6, "small blind and ante in big blinds (at most 10), big blind in starting stacks of the "
                f"table (at most 1), level / {MAX_LEVELS}, hands until the next one / hands of a level, hand number / "
                f"{_MOST_HANDS} (at most 1)", high=10,
                labels=("small_blind", "ante", "big_blind", "level", "hands_to_level", "hand_number"),
            ),
            Section("street_raises", NUM_STREETS * n, f"bets and raises made, at most {_MOST_RAISES}",
                    high=_MOST_RAISES, labels=by_street),
            blinds("street_chips", NUM_STREETS * n, "chips put in on each street", by_street),
            Section(
                "history", HISTORY * len(_PER_ACTION), f"the last {HISTORY} actions of the hand, latest first: "
                "(seat + 1) / players, street / 3, 1 for a fold, 1 for a bet or raise, amount in big blinds (of a call "
                "what it put in, of a raise its total)", high=max(1.0, most_blinds),
                labels=tuple(f"{k}_{what}" for k in range(HISTORY) for what in _PER_ACTION),
            ),
        ),
        dtype="float32",
    )  # fmt: skip


@kernel
def observe(s, player, out):
    """Write the observation of `player` into `out`, float32 (layout.size,): own cards, shown cards, public figures.

    The factors that convert chips and seats are computed once, so that the rest multiplies instead of dividing.
    """
    n = np.int64(s.rules.num_players)
    out[:] = 0.0
    per_blind = _ONE / np.float32(s.big_blind)
    per_own = _ONE / np.float32(max(1, s.start_stacks[player]))
    per_seat = _ONE / np.float32(n)
    _observe_cards(s, player, n, out)
    start = _observe_positions(s, player, n, 3 * NUM_CARDS, out)
    start = _observe_seats(s, player, n, per_blind, per_own, start, out)
    start = _observe_amounts(s, per_blind, per_own, start, out)
    start = _observe_structure(s, n, per_blind, start, out)
    start = _observe_streets(s, player, n, per_blind, start, out)
    _observe_history(s, player, n, per_blind, per_seat, start, out)


@kernel(inline=True)
def _observe_cards(s, player, n, out):
    if s.dealt >> player & 1:
        out[s.deck[2 * player]] = 1.0
        out[s.deck[2 * player + 1]] = 1.0
    for k in range(BOARD_CARDS[s.street]):
        out[NUM_CARDS + s.deck[2 * n + k]] = 1.0
    if s.terminal:
        shown = s.shown
    else:
        shown = s.last_shown
        for k in range(s.num_last_board):
            out[2 * NUM_CARDS + s.last_board[k]] = 1.0
    while shown:
        p = lowest_card(shown)
        shown &= shown - 1
        mark = np.float32(_seat_of(p, player, n) + 1) / np.float32(n + 1)
        out[2 * NUM_CARDS + (s.deck[2 * p] if s.terminal else s.last_cards[p, 0])] = mark
        out[2 * NUM_CARDS + (s.deck[2 * p + 1] if s.terminal else s.last_cards[p, 1])] = mark


@kernel(inline=True)
def _seat_of(p, player, n):
    """Return the seat of player `p`, counted from the observer."""
    return wrap(p - player + n, n)


@kernel(inline=True)
def _observe_positions(s, player, n, start, out):
    """Write the street and the one-hot seats; return where the next section starts."""
    out[start + s.street] = 1.0
    start += NUM_STREETS
    out[start + _seat_of(s.button, player, n)] = 1.0
    out[start + n + _seat_of(s.small_blind_seat, player, n)] = 1.0
    out[start + 2 * n + _seat_of(s.big_blind_seat, player, n)] = 1.0
    if not s.terminal:
        out[start + 3 * n + _seat_of(s.current_player, player, n)] = 1.0
    if s.aggressor != NO_PLAYER:
        out[start + 4 * n + _seat_of(s.aggressor, player, n)] = 1.0
    return start + 5 * n


@kernel(inline=True)
def _observe_seats(s, player, n, per_blind, per_own, start, out):
    """Write status and chips of each seat; return where the next section starts."""
    for seat in range(n):
        p = wrap(player + seat, n)
        k = start + seat
        stack, bet = np.float32(s.stacks[p]), np.float32(s.bets[s.street, p])
        in_hand = s.in_hand >> p & 1
        out[k] = in_hand
        out[k + n] = s.acted >> p & 1
        out[k + 2 * n] = in_hand & (s.stacks[p] == 0)
        out[k + 3 * n] = 1 - (s.live >> p & 1)
        out[k + 4 * n] = s.last_in_hand >> p & 1
        out[k + 5 * n] = np.float32(s.last_won[p]) * per_blind
        out[k + 6 * n] = stack * per_blind
        out[k + 7 * n] = min(stack * per_own, _TEN)
        out[k + 8 * n] = bet * per_blind
        out[k + 9 * n] = min(bet * per_own, _TEN)
        out[k + 10 * n] = np.float32(s.chips_in[p]) * per_blind
    return start + 11 * n


@kernel(inline=True)
def _observe_amounts(s, per_blind, per_own, start, out):
    """Write the pot and the amounts of the player to act, all public; return where the next section starts."""
    _write_amount(np.int64(s.pot), per_blind, per_own, start + _POT, out)
    if not s.terminal:
        actor = np.int64(s.current_player)
        _write_amount(owed(s, actor), per_blind, per_own, start + _TO_CALL, out)
        if not raise_refused(s, actor):
            _write_amount(smallest_raise(s, actor), per_blind, per_own, start + _MIN_RAISE, out)
            _write_amount(largest_raise(s, actor), per_blind, per_own, start + _MAX_RAISE, out)
    return start + 2 * len(_AMOUNTS)


@kernel(inline=True)
def _write_amount(chips, per_blind, per_own, k, out):
    out[k] = np.float32(chips) * per_blind
    out[k + len(_AMOUNTS)] = min(np.float32(chips) * per_own, _TEN)


@kernel(inline=True)
def _observe_structure(s, n, per_blind, start, out):
    chips = np.int64(s.pot)
    for p in range(n):
        chips += s.stacks[p]
    out[start] = np.float32(s.small_blind) * per_blind
    out[start + 1] = min(np.float32(s.rules.ante) * per_blind, _TEN)
    out[start + 2] = min(np.float32(n * np.int64(s.big_blind)) / np.float32(chips), _ONE)
    out[start + 3] = np.float32(s.level) * _PER_LEVEL
    if s.hands_to_level:
        out[start + 4] = np.float32(s.hands_to_level) / np.float32(s.rules.hands_per_level)
    out[start + 5] = min(np.float32(s.hand_number) * _PER_HAND, _ONE)
    return start + 6


@kernel(inline=True)
def _observe_streets(s, player, n, per_blind, start, out):
    """Write raises and chips by street and seat, up to this street; return where the next section starts."""
    chips = start + NUM_STREETS * n
    for street in range(s.street + 1):
        for seat in range(n):
            p = wrap(player + seat, n)
            out[start + seat] = min(np.int64(s.raises[street, p]), _MOST_RAISES)
            out[chips + seat] = np.float32(s.bets[street, p]) * per_blind
        start += n
        chips += n
    return start + (2 * NUM_STREETS - s.street - 1) * n


@kernel(inline=True)
def _observe_history(s, player, n, per_blind, per_seat, start, out):
    """Write the last actions, latest first."""
    place = np.int64(s.history_next)
    for _ in range(s.num_history):
        place = wrap(place + HISTORY - 1, HISTORY)
        out[start + _SEAT] = np.float32(_seat_of(s.history_seat[place], player, n) + 1) * per_seat
        out[start + _STREET_OF] = np.float32(s.history_street[place]) * _PER_STREET
        out[start + _FOLD] = s.history_kind[place] == FOLDS
        out[start + _RAISE] = s.history_kind[place] == RAISES
        out[start + _AMOUNT] = np.float32(s.history_amount[place]) * per_blind
        start += len(_PER_ACTION)
