"""Effects of Canasta: the only kernels that move cards. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.canasta import state, table

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def gather_cards(s, log):
    """Put all cards back into the stock and shuffle them, so that nothing seen in the last deal matters (10.2)."""
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.PILE, table.STOCK)
    for p in range(s.rules.num_players):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.STOCK)
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.RED_THREES + p, table.STOCK)
        s.hand_sizes[p] = 0
        s.has_melded[p] = 0
        for face in range(state.NUM_FACES):
            s.hands[p, face] = 0
            s.known[p, face] = 0
        for kind in range(state.NUM_KINDS):
            s.kinds[p, kind] = 0
        for red in range(2):
            s.red_threes[p, red] = 0
    for side in range(state.num_sides(s)):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.MELDS + side, table.STOCK)
        s.has_opened[side] = 0
        for face in range(state.NUM_FACES):
            s.melded[side, face] = 0
        for m in range(state.NUM_MELDS):
            if state.meld_size(s, side, m):
                s.naturals[side, m] = s.jokers[side, m] = s.twos[side, m] = 0
                _log_composition(s, side, m, log)
    ev.log_shuffle(log, table.SHUFFLES, table.STOCK)
    for place in range(s.num_pile):
        s.pile[place] = state.NO_CARD
    s.num_pile = s.pile_reds = 0
    _set_frozen(s, 0, log)


@kernel
def deal_cards(s, log):
    """Deal the shuffled deck: the hands in the order of players, a first card for the pile, the red threes (2)."""
    s.num_stock = state.DECK_SIZE
    for p in range(s.rules.num_players):
        for _ in range(state.hand_size(s)):
            _stock_to_hand(s, p, table.DEALT, log)
    while True:
        face = _next_of_stock(s)
        _put_on_pile(s, face)
        ev.log_move(log, table.TURNS_UP, ev.NO_PLAYER, face, table.STOCK, table.PILE, ev.EVERYBODY)
        kind = state.KIND_OF[face]
        if kind == state.RED_THREE:
            s.pile_reds += 1
        if kind != state.RED_THREE and kind != state.TWO and kind != state.JOKER:
            break
        _set_frozen(s, 1, log)
    for k in range(1, s.rules.num_players + 1):
        p = (s.dealer + k) % s.rules.num_players
        while s.kinds[p, state.RED_THREE] > 0:
            lay_red_threes(s, p, True, log)


@kernel
def lay_red_threes(s, player, replaced, log):
    """Lay out the red threes in the hand of `player`; each may be replaced from the stock (2.3)."""
    laid = 0
    for red in range(2):
        face = state.FACES_OF_KIND[state.RED_THREE, red]
        while s.hands[player, face] > 0:
            _leave_hand(s, player, face)
            s.red_threes[player, red] += 1
            ev.log_move(log, table.LAYS_RED, player, face, table.HAND + player, table.RED_THREES + player, ev.EVERYBODY)
            laid += 1
    for _ in range(laid):
        if replaced and s.num_stock > 0:
            _stock_to_hand(s, player, table.REPLACES, log)


@kernel
def draw_card(s, player, log):
    """Draw a card; red threes are laid out and replaced at once (3.2, 2.3)."""
    _stock_to_hand(s, player, table.DRAWS, log)
    while s.kinds[player, state.RED_THREE] > 0:
        if s.num_stock == 0:
            s.no_discard = 1
            ev.log_note(log, table.NO_DISCARD, player, 0)
        lay_red_threes(s, player, True, log)


@kernel
def _next_of_stock(s):
    """Take the top card off the stock and return it."""
    place = state.DECK_SIZE - s.num_stock
    face = np.int64(s.deck[place])
    s.deck[place] = state.NO_CARD
    s.num_stock -= 1
    return face


@kernel
def _stock_to_hand(s, player, kind, log):
    face = _next_of_stock(s)
    _enter_hand(s, player, face)
    ev.log_move(log, kind, player, face, table.STOCK, table.HAND + player, 1 << player)


@kernel
def _enter_hand(s, player, face):
    s.hands[player, face] += 1
    s.kinds[player, state.KIND_OF[face]] += 1
    s.hand_sizes[player] += 1


@kernel
def _leave_hand(s, player, face):
    """Remove a card that all see; if one of its face is known to be there, that one may have left (6.6)."""
    s.hands[player, face] -= 1
    if s.known[player, face] > 0:
        s.known[player, face] -= 1
    s.kinds[player, state.KIND_OF[face]] -= 1
    s.hand_sizes[player] -= 1


# ---------------------------------------------------------------------------------------------------------------
# The pile


@kernel
def _put_on_pile(s, face):
    s.pile[s.num_pile] = face
    s.num_pile += 1


@kernel
def _set_frozen(s, frozen, log):
    if s.pile_frozen != frozen:
        s.pile_frozen = frozen
        ev.log_set(log, table.FREEZES if frozen else table.UNFREEZES, ev.NO_PLAYER, table.FROZEN, frozen)


@kernel
def discard(s, player, face, log):
    """Discard a card; a wild card freezes the pile (3.5, 6.3)."""
    _leave_hand(s, player, face)
    _put_on_pile(s, face)
    ev.log_move(log, table.DISCARDS, player, face, table.HAND + player, table.PILE, ev.EVERYBODY)
    if state.KIND_OF[face] == state.TWO or state.KIND_OF[face] == state.JOKER:
        _set_frozen(s, 1, log)


@kernel
def take_top(s, player, log):
    """Move the top card of the pile to the side's meld of its rank; the meld is completed by `lay_cards`."""
    face = state.top_of_pile(s)
    side, rank = state.side_of(s, player), state.KIND_OF[face]
    s.num_pile -= 1
    s.pile[s.num_pile] = state.NO_CARD
    s.melded[side, face] += 1
    s.naturals[side, rank] += 1
    s.needed -= state.KIND_POINTS[rank]
    s.has_taken = 1
    ev.log_event(log, table.TAKES_TOP, player, face, table.PILE, table.MELDS + side, ev.TOP, ev.EVERYBODY, ev.EVERYBODY)


@kernel
def take_rest(s, player, log):
    """Take the rest of the pile into the hand, where all know it; its red threes are laid out (6.1)."""
    if s.num_pile:
        ev.log_event(
            log, table.TAKES_PILE, player, ev.UNKNOWN, table.PILE, table.HAND + player, s.num_pile, ev.EVERYBODY,
            ev.EVERYBODY,
        )  # fmt: skip
    for place in range(s.num_pile):
        face = np.int64(s.pile[place])
        s.pile[place] = state.NO_CARD
        _enter_hand(s, player, face)
        s.known[player, face] += 1
    s.num_pile = s.pile_reds = 0
    lay_red_threes(s, player, False, log)
    _set_frozen(s, 0, log)


# ---------------------------------------------------------------------------------------------------------------
# Melds


@kernel
def lay_cards(s, player, m, naturals, jokers, twos, log):
    """Lay cards from the hand of `player` on meld `m` of the side, cards that others know first (6.6)."""
    side = state.side_of(s, player)
    before = state.meld_size(s, side, m) >= state.CANASTA_SIZE
    kind = state.BLACK_THREE if m == state.BLACK_MELD else m
    if m != state.WILD_MELD:
        _lay_of_kind(s, player, side, kind, naturals, log)
    _lay_of_kind(s, player, side, state.JOKER, jokers, log)
    _lay_of_kind(s, player, side, state.TWO, twos, log)
    s.naturals[side, m] += naturals
    s.jokers[side, m] += jokers
    s.twos[side, m] += twos
    points = jokers * state.KIND_POINTS[state.JOKER] + twos * state.KIND_POINTS[state.TWO]
    if m != state.WILD_MELD:
        points += naturals * state.KIND_POINTS[kind]
    s.needed -= points
    s.has_opened[side] = 1
    s.has_melded[player] = 1
    s.has_laid = 1
    s.first_meld = m + 1
    if s.old_melds >> m & 1:
        s.is_concealed = 0
    _log_composition(s, side, m, log)
    if not before and state.meld_size(s, side, m) >= state.CANASTA_SIZE:
        ev.log_note(log, table.CANASTA, player, m)


@kernel
def _lay_of_kind(s, player, side, kind, number, log):
    """Lay cards of a kind: known ones first, then ascending, so that no more than needed is shown."""
    for is_known in range(1, -1, -1):
        for k in range(state.NUM_OF_KIND[kind]):
            face = state.FACES_OF_KIND[kind, k]
            while number > 0 and (s.known[player, face] if is_known else s.hands[player, face]) > 0:
                _leave_hand(s, player, face)
                s.melded[side, face] += 1
                number -= 1
                ev.log_move(log, table.MELDS_CARD, player, face, table.HAND + player, table.MELDS + side, ev.EVERYBODY)


@kernel
def _log_composition(s, side, m, log):
    value = 100 * s.naturals[side, m] + 10 * s.jokers[side, m] + s.twos[side, m]
    ev.log_set(log, table.COMPOSES, side, table.COMPOSITION + state.MAX_PLAYERS * m + side, value)


@kernel
def show_hand(s, player, log):
    """Show what is left in the hand of `player` at the end of a deal (9.1)."""
    for face in range(state.NUM_FACES):
        if s.hands[player, face] > 0 and s.known[player, face] < s.hands[player, face]:
            number = np.int64(s.hands[player, face])
            s.known[player, face] = number
            ev.log_reveal(log, table.SHOWS, player, face, table.HAND + player, number, ev.EVERYBODY)
