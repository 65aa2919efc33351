"""Effects of gin rummy: the only kernels that move cards or points. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.gin_rummy import table
from cardenvs.games.gin_rummy.melds import MAX_MELDS
from cardenvs.games.gin_rummy.state import HAND_SIZE, NO_CARD, NUM_PLAYERS
from cardenvs.kits.cards import NUM_CARDS, lowest_card


@kernel
def gather_cards(s, log):
    """Collect all cards of the last hand; what was seen of them is kept for one hand (8.2)."""
    _remember_hand(s)
    s.num_discards = 0
    s.discards = 0
    for p in range(NUM_PLAYERS):
        s.hands[p] = 0
        s.known[p] = 0
        s.discarded[p] = 0
        for k in range(MAX_MELDS):
            s.melds[p, k] = 0
    for k in range(MAX_MELDS):
        s.laid_off[k] = 0
    ev.log_clear(log, table.CLEAR_TABLE)


@kernel
def _remember_hand(s):
    s.last_laid_off = 0
    for k in range(MAX_MELDS):
        s.last_laid_off |= s.laid_off[k]
    for p in range(NUM_PLAYERS):
        s.last_hands[p] = s.hands[p]
        s.last_known[p] = s.known[p]
        s.last_melded[p] = 0
        for k in range(MAX_MELDS):
            s.last_melded[p] |= s.melds[p, k]
        s.last_melded[p] &= ~s.last_laid_off
    s.last_discards = s.discards
    s.last_knocker = s.knocker


@kernel
def announce_hand(s, dealer, log):
    """Begin a hand and set its dealer."""
    s.dealer = dealer
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, s.hand_number + 1)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)


@kernel
def deal_cards(s, log):
    """Deal the whole deck in `s.deck`: ten cards to each player in turn, one upcard, the rest is the stock (2.1)."""
    s.num_stock = NUM_CARDS
    ev.log_create(log, table.NEW_STOCK, table.STOCK, NUM_CARDS)
    for p in range(NUM_PLAYERS):
        for _ in range(HAND_SIZE):
            card = _next_of_stock(s)
            s.hands[p] |= 1 << card
            ev.log_move(log, table.DEAL, p, card, table.STOCK, table.HAND + p, 1 << p)
    upcard = _next_of_stock(s)
    _put_on_pile(s, upcard)
    ev.log_move(log, table.FIRST_UPCARD, ev.NO_PLAYER, upcard, table.STOCK, table.DISCARD_PILE, ev.EVERYBODY)


@kernel
def set_terms(s, limit, doubled, log):
    """Set the knock limit of the hand and whether its points count twice (2.3, 2.4)."""
    s.knock_limit = limit
    ev.log_set(log, table.NEW_LIMIT, ev.NO_PLAYER, table.KNOCK_LIMIT, limit)
    if s.doubled != doubled:
        s.doubled = doubled
        ev.log_set(log, table.NEW_DOUBLED, ev.NO_PLAYER, table.DOUBLED, doubled)


@kernel
def take_upcard(s, player, log):
    """Give `player` the top card of the discard pile; both see it."""
    s.num_discards -= 1
    card = np.int64(s.discard_pile[s.num_discards])
    bit = 1 << card
    s.discards ^= bit
    for p in range(NUM_PLAYERS):
        s.discarded[p] &= ~bit
    s.hands[player] |= bit
    s.known[player] |= bit
    s.taken = card
    s.num_upcard_draws += 1
    ev.log_move(log, table.TAKE_UPCARD, player, card, table.DISCARD_PILE, table.HAND + player, ev.EVERYBODY)


@kernel
def draw_from_stock(s, player, log):
    """Give `player` the top card of the stock; the opponent does not see it."""
    card = _next_of_stock(s)
    s.hands[player] |= 1 << card
    ev.log_move(log, table.DRAW_STOCK, player, card, table.STOCK, table.HAND + player, 1 << player)


@kernel
def discard(s, player, card, log):
    """Put `card` from the hand of `player` face up on the discard pile."""
    bit = 1 << card
    s.hands[player] ^= bit
    s.known[player] &= ~bit
    s.discarded[player] |= bit
    _put_on_pile(s, card)
    ev.log_move(log, table.DISCARD, player, card, table.HAND + player, table.DISCARD_PILE, ev.EVERYBODY)


@kernel
def lay_melds(s, player, log):
    """Move the melds in s.melds[player] from the hand to the table."""
    for k in range(MAX_MELDS):
        cards = s.melds[player, k]
        s.hands[player] ^= cards
        s.known[player] &= ~cards
        _log_moves(cards, table.LAY_MELD, player, _meld_pile(player, k), log)


@kernel
def lay_off_cards(s, defender, k, cards, log):
    """Move `cards`, a bit set, from the defender's hand to the knocker's meld `k`."""
    knocker = 1 - defender
    s.hands[defender] ^= cards
    s.known[defender] &= ~cards
    s.melds[knocker, k] |= cards
    s.laid_off[k] |= cards
    _log_moves(cards, table.LAY_OFF, defender, _meld_pile(knocker, k), log)


@kernel
def show_hand(s, player, log):
    """Show the rest of the hand of `player`."""
    cards = s.hands[player] & ~s.known[player]
    s.known[player] = s.hands[player]
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        ev.log_reveal(log, table.SHOW, player, card, table.HAND + player, 1, ev.EVERYBODY)


@kernel
def set_score(s, player, score, log):
    """Set the score of `player` in the match or single hand."""
    s.scores[player] = score
    ev.log_set(log, table.NEW_SCORE, player, table.SCORE + player, score)


@kernel
def set_hands_won(s, player, number, log):
    """Set the number of hands that `player` has won."""
    s.hands_won[player] = number
    ev.log_set(log, table.NEW_HANDS_WON, player, table.HANDS_WON + player, number)


@kernel
def _next_of_stock(s):
    """Take the top card off the stock and return it."""
    place = NUM_CARDS - s.num_stock
    card = np.int64(s.deck[place])
    s.deck[place] = NO_CARD
    s.num_stock -= 1
    return card


@kernel
def _put_on_pile(s, card):
    s.discard_pile[s.num_discards] = card
    s.num_discards += 1
    s.discards |= 1 << card


@kernel
def _meld_pile(player, k):
    return table.MELD + k * NUM_PLAYERS + player


@kernel
def _log_moves(cards, kind, player, pile, log):
    """Log the moves of `cards` from the hand of `player` to `pile`, where everybody sees them."""
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        ev.log_move(log, kind, player, card, table.HAND + player, pile, ev.EVERYBODY)
