"""The observation of Texas hold'em."""

import numpy as np

from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem.legal import largest_raise, owed, raise_refused, smallest_raise
from cardenvs.games.texas_holdem.limit import bet_size, is_capped
from cardenvs.games.texas_holdem.state import (
    BOARD_CARDS,
    FOLDS,
    HISTORY,
    LIMIT,
    MAX_LEVELS,
    NUM_STREETS,
    RAISES,
    STATE,
    STREETS,
)
from cardenvs.kits.cards import CARD_LABELS, lowest_card
from cardenvs.kits.sections import Observation, one_hot, only, together, written

_MOST_OWN = 10  # cap on amounts in own chips
_MOST_RAISES = 10  # cap on counts of raises
_MOST_HANDS = 100  # cap on the hand number

_ONE, _TEN = np.float32(1), np.float32(_MOST_OWN)
_PER_LEVEL, _PER_HAND, _PER_STREET = (_ONE / np.float32(most) for most in (MAX_LEVELS, _MOST_HANDS, NUM_STREETS - 1))

_PER_ACTION = ("seat", "street", "fold", "raise", "amount")  # entries of each action in the history
_AMOUNTS = ("pot", "to_call", "min_raise_to", "max_raise_to")
_STRUCTURE = ("small_blind", "ante", "big_blind", "level", "hands_to_level", "hand_number")


@kernel(inline=True)
def _write_hand(s, p, out, at):
    if s.dealt >> p & 1:
        out[at + s.deck[2 * p]] = 1.0
        out[at + s.deck[2 * p + 1]] = 1.0


@kernel(inline=True)
def _write_board(s, p, out, at):
    n = np.int64(s.rules.num_players)
    for k in range(BOARD_CARDS[s.street]):
        out[at + s.deck[2 * n + k]] = 1.0


@kernel(inline=True)
def _write_last_hand(s, player, out, at):
    n = np.int64(s.rules.num_players)
    if s.terminal:
        shown = s.shown
    else:
        shown = s.last_shown
        for k in range(s.num_last_board):
            out[at + s.last_board[k]] = 1.0
    while shown:
        p = lowest_card(shown)
        shown &= shown - 1
        mark = np.float32(_seat_of(p, player, n) + 1) / np.float32(n + 1)
        out[at + (s.deck[2 * p] if s.terminal else s.last_cards[p, 0])] = mark
        out[at + (s.deck[2 * p + 1] if s.terminal else s.last_cards[p, 1])] = mark


@kernel(inline=True)
def _seat_of(p, player, n):
    """Return the seat of player `p`, counted from the observer; unsigned, as the places in the observation are."""
    return np.uint64(wrap(p - player + n, n))


@kernel(inline=True)
def _write_seats(
    s, player, out, button, small_blind, big_blind, to_act, aggressor, in_hand, has_acted, all_in, gone, last_in_hand,
    last_won, stacks, stacks_by_own, bets, bets_by_own, chips_in,
):  # fmt: skip
    n, (per_blind, per_own) = np.int64(s.rules.num_players), _factors(s, player)
    out[button + _seat_of(s.button, player, n)] = 1.0
    out[small_blind + _seat_of(s.small_blind_seat, player, n)] = 1.0
    out[big_blind + _seat_of(s.big_blind_seat, player, n)] = 1.0
    if not s.terminal:
        out[to_act + _seat_of(s.current_player, player, n)] = 1.0
    if s.aggressor != NO_PLAYER:
        out[aggressor + _seat_of(s.aggressor, player, n)] = 1.0
    for k in range(n):
        p, seat = wrap(player + k, n), np.uint64(k)
        stack, bet = np.float32(s.stacks[p]), np.float32(s.bets[s.street, p])
        is_in = s.in_hand >> p & 1
        out[in_hand + seat] = is_in
        out[has_acted + seat] = s.acted >> p & 1
        out[all_in + seat] = is_in & (s.stacks[p] == 0)
        out[gone + seat] = 1 - (s.live >> p & 1)
        out[last_in_hand + seat] = s.last_in_hand >> p & 1
        out[last_won + seat] = np.float32(s.last_won[p]) * per_blind
        out[stacks + seat] = stack * per_blind
        out[stacks_by_own + seat] = min(stack * per_own, _TEN)
        out[bets + seat] = bet * per_blind
        out[bets_by_own + seat] = min(bet * per_own, _TEN)
        out[chips_in + seat] = np.float32(s.chips_in[p]) * per_blind


@kernel(inline=True)
def _factors(s, player):
    """Return the factors from chips to big blinds and to the observer's chips. A division takes longer."""
    return _ONE / np.float32(s.big_blind), _ONE / np.float32(max(1, s.start_stacks[player]))


@kernel(inline=True)
def _write_amounts(s, player, out, amounts, by_own):
    """Write the pot and the amounts of the player to act, all public."""
    per_blind, per_own = _factors(s, player)
    chips = np.int64(s.pot), np.int64(0), np.int64(0), np.int64(0)
    if not s.terminal:
        actor = np.int64(s.current_player)
        chips = chips[0], owed(s, actor), chips[2], chips[3]
        if not raise_refused(s, actor):
            chips = chips[0], chips[1], smallest_raise(s, actor), largest_raise(s, actor)
    for k in range(len(chips)):
        out[amounts + k] = np.float32(chips[k]) * per_blind
        out[by_own + k] = min(np.float32(chips[k]) * per_own, _TEN)


@kernel(inline=True)
def _write_structure(s, p, out, at):
    n, per_blind = np.int64(s.rules.num_players), _ONE / np.float32(s.big_blind)
    chips = np.int64(s.pot)
    for seat in range(n):
        chips += s.stacks[seat]
    out[at] = np.float32(s.small_blind) * per_blind
    out[at + 1] = min(np.float32(s.rules.ante) * per_blind, _TEN)
    out[at + 2] = min(np.float32(n * np.int64(s.big_blind)) / np.float32(chips), _ONE)
    out[at + 3] = np.float32(s.level) * _PER_LEVEL
    if s.hands_to_level:
        out[at + 4] = np.float32(s.hands_to_level) / np.float32(s.rules.hands_per_level)
    out[at + 5] = min(np.float32(s.hand_number) * _PER_HAND, _ONE)


@kernel(inline=True)
def _write_streets(s, player, out, raises, chips):
    """Write raises and chips by street and seat, up to this street."""
    n, per_blind = np.int64(s.rules.num_players), _ONE / np.float32(s.big_blind)
    for street in range(s.street + 1):
        for k in range(n):
            p, seat = wrap(player + k, n), np.uint64(k)
            out[raises + seat] = min(np.int64(s.raises[street, p]), _MOST_RAISES)
            out[chips + seat] = np.float32(s.bets[street, p]) * per_blind
        raises += np.uint64(n)
        chips += np.uint64(n)


@kernel(inline=True)
def _write_history(s, player, out, at):
    n, per_blind = np.int64(s.rules.num_players), _ONE / np.float32(s.big_blind)
    per_seat = _ONE / np.float32(n)
    place = np.int64(s.history_next)
    for _ in range(s.num_history):
        place = wrap(place + HISTORY - 1, HISTORY)
        out[at] = np.float32(_seat_of(s.history_seat[place], player, n) + 1) * per_seat
        out[at + 1] = np.float32(s.history_street[place]) * _PER_STREET
        out[at + 2] = s.history_kind[place] == FOLDS
        out[at + 3] = s.history_kind[place] == RAISES
        out[at + 4] = np.float32(s.history_amount[place]) * per_blind
        at += len(_PER_ACTION)


@kernel(inline=True)
def _write_limit(s, p, out, at):
    out[at] = min(np.int64(s.num_bets), _MOST_RAISES)
    out[at + 1] = is_capped(s)
    out[at + 2] = np.float32(s.last_raise) / np.float32(bet_size(s))


@kernel(inline=True)
def _has_limit(rules):
    return rules.betting == LIMIT


def _most_blinds(options):
    """Return all chips in big blinds, and room for rounding."""
    return 1.001 * sum(options.first_stacks()) / min(big for _, big in options.all_blinds())


def _by_seat(name, doc, high=1, low=0):
    return written(name, lambda n: [f"seat_{k}" for k in range(n)], doc, high=high, low=low, size="num_players")


def _by_street(name, doc, high):
    def labels(size):
        return [f"{street}_seat_{k}" for street in STREETS for k in range(size // NUM_STREETS)]

    return written(name, labels, doc, high=high, size=lambda options: NUM_STREETS * options.num_players)


_BLINDS = "in big blinds"
_OWN = f"in the observer's chips at the start of the hand, at most {_MOST_OWN}"
OBSERVATION = Observation(
    STATE,
    written("own_hand", CARD_LABELS, "the observer's cards in this hand", _write_hand),
    written("board", CARD_LABELS, "the cards of the board", _write_board),
    written("last_hand", CARD_LABELS, "cards seen in the hand before: 1 on its board, (seat + 1) / (players + 1) laid "
            "open by that seat; when the game is over, those laid open in its last hand", _write_last_hand),
    one_hot("street", STREETS, "one-hot street", "street"),
    *together(
        _write_seats,
        _by_seat("button", "one-hot position of the button"),
        _by_seat("small_blind", "one-hot position of the small blind, of an empty seat too"),
        _by_seat("big_blind", "one-hot seat of the big blind"),
        _by_seat("to_act", "one-hot seat to act"),
        _by_seat("aggressor", "one-hot seat that made the last bet or raise of the hand"),
        _by_seat("in_hand", "1 for each seat that was dealt in and has not folded"),
        _by_seat("has_acted", "1 for each seat that has acted on this street"),
        _by_seat("all_in", "1 for each seat in the hand with no chips behind"),
        _by_seat("out", "1 for each seat that is out of the game"),
        _by_seat("last_in_hand", "1 for each seat that had not folded at the end of the hand before"),
        _by_seat("last_won", "chips won less chips lost in the hand before, in big blinds", _most_blinds,
                 lambda options: -_most_blinds(options)),
        _by_seat("stacks", f"chips behind, {_BLINDS}", _most_blinds),
        _by_seat("stacks_by_own", f"chips behind, {_OWN}", _MOST_OWN),
        _by_seat("bets", f"chips put in on this street, {_BLINDS}", _most_blinds),
        _by_seat("bets_by_own", f"chips put in on this street, {_OWN}", _MOST_OWN),
        _by_seat("chips_in", f"chips put in during this hand, including antes of each seat, {_BLINDS}", _most_blinds),
    ),
    *together(
        _write_amounts,
        written("amounts", _AMOUNTS, f"the pot, and the options of the player to act (0: no raise), {_BLINDS}",
                high=_most_blinds),
        written("amounts_by_own", _AMOUNTS, f"the same, {_OWN}", high=_MOST_OWN),
    ),
    written("structure", _STRUCTURE, "small blind and ante in big blinds (at most 10), big blind in starting stacks of "
            f"the table (at most 1), level / {MAX_LEVELS}, hands until the next one / hands of a level, hand number / "
            f"{_MOST_HANDS} (at most 1)", _write_structure, high=10),
    *together(
        _write_streets,
        _by_street("street_raises", f"bets and raises made, at most {_MOST_RAISES}", _MOST_RAISES),
        _by_street("street_chips", f"chips put in on each street, {_BLINDS}", _most_blinds),
    ),
    written("history", tuple(f"{k}_{what}" for k in range(HISTORY) for what in _PER_ACTION),
            f"the last {HISTORY} actions of the hand, latest first: (seat + 1) / players, street / 3, 1 for a fold, "
            "1 for a bet or raise, amount in big blinds (of a call what it put in, of a raise its total)",
            _write_history, high=lambda options: max(1.0, _most_blinds(options))),
    *only(
        lambda options: options.betting == "limit",
        written("limit", ("bets", "capped", "next"), "bets and raises of the street that count, at most "
                f"{_MOST_RAISES}; 1 if there may be no more; what the next one adds, as a share of a bet (less than 1 "
                "if it completes a short all-in)", _write_limit, high=_MOST_RAISES),
        rules=_has_limit,
    ),
    dtype="float32",
)  # fmt: skip
layout, observe = OBSERVATION.layout, OBSERVATION.observe
