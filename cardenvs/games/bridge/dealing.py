"""The deal, and the beginning of an auction. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import DEAL, random_below, shuffle, shuffle_rest, start_stream
from cardenvs.games.bridge import state, table
from cardenvs.games.bridge.bank import num_deals, owner_of, tricks_in
from cardenvs.games.bridge.cards import DENOMINATION_OF_SUIT, NUM_SUITS
from cardenvs.games.bridge.state import (
    AUCTION,
    NO_BID,
    NO_TRUMP,
    NUM_BIDS,
    NUM_DENOMINATIONS,
    NUM_PLAYERS,
    NUM_RESULTS,
    NUM_SIDES,
    NUM_TRICKS,
)
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.deck import NO_CARD, put_in_order
from cardenvs.kits.tricks import SUIT_SIZE, clear_tricks

BANK = 2  # chance source


@kernel(inline=True)
def board_vulnerable(board):
    """Return the bit set of vulnerable sides: none, NS, EW, both, moved on by one after every four boards (2.1)."""
    return (board - 1 + (board - 1) // 4) & 3


@kernel
def deal_hands(s, dealer, given, log):
    """Shuffle, deal thirteen cards to each player, and open the auction (2.2, 3.1, 7.2)."""
    if s.rules.phase == state.ONLY_AUCTION and s.rules.tricks[0] < 0 and given.shape[0] == 0:
        _take_from_bank(s)
    else:
        for k in range(NUM_RESULTS):
            s.tricks[k] = s.rules.tricks[k]
        put_in_order(s.dealt, NUM_CARDS)
        start_stream(s, DEAL, s.num_deals)
        shuffle_rest(s, s.dealt, NUM_CARDS, given)
    s.num_deals += 1
    s.dealer = dealer
    ev.log_set(log, table.NEW_DEAL, ev.NO_PLAYER, table.DEAL_NUMBER, s.num_deals)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    ev.log_set(log, table.IS_VULNERABLE, ev.NO_PLAYER, table.VULNERABLE, s.vulnerable)
    ev.log_create(log, table.SHUFFLE, table.PACK, NUM_CARDS)
    for k in range(NUM_CARDS):
        p, card = k // NUM_TRICKS, np.int64(s.dealt[k])
        if k % NUM_TRICKS == 0:
            s.hands[p] = 0
        s.hands[p] |= 1 << card
        s.dealt[k] = NO_CARD
        ev.log_move(log, table.DEALT, p, card, table.PACK, table.HAND + p, 1 << p)
    _open_auction(s, log)


@kernel
def _take_from_bank(s):
    """Choose a solved deal, who gets North's cards, and which suit takes the place of which (7.2)."""
    start_stream(s, BANK, 0)
    row, turn = random_below(s.rng, num_deals()), random_below(s.rng, NUM_PLAYERS)
    for suit in range(NUM_SUITS):
        s.dealt[suit] = suit
    shuffle(s, s.dealt, 0, NUM_SUITS)
    places = np.int64(0)  # the new suit of each stored one, two bits each: `dealt` is needed for the cards
    for suit in range(NUM_SUITS):
        places |= np.int64(s.dealt[suit]) << 2 * suit
    size = np.int64(0)  # of the hands, eight bits each
    for card in range(NUM_CARDS):
        p = (owner_of(row, card) + turn) & 3
        new_suit = places >> 2 * (card // SUIT_SIZE) & 3
        s.dealt[NUM_TRICKS * p + (size >> 8 * p & 255)] = SUIT_SIZE * new_suit + card % SUIT_SIZE
        size += np.int64(1) << 8 * p
    for p in range(NUM_PLAYERS):
        declarer = (p + turn) & 3
        s.tricks[NUM_PLAYERS * NO_TRUMP + declarer] = tricks_in(row, NO_TRUMP, p)
        for suit in range(NUM_SUITS):
            denomination = np.int64(DENOMINATION_OF_SUIT[places >> 2 * suit & 3])
            number = tricks_in(row, np.int64(DENOMINATION_OF_SUIT[suit]), p)
            s.tricks[NUM_PLAYERS * denomination + declarer] = number


@kernel(inline=True)
def _open_auction(s, log):
    """Begin an auction: the dealer calls first, and nothing has been bid or played (3.1)."""
    s.phase = AUCTION
    s.num_calls = s.num_passes = s.opening_passes = 0
    for bid in range(NUM_BIDS):
        s.bidders[bid] = s.doublers[bid] = s.redoublers[bid] = ev.NO_PLAYER
    for side in range(NUM_SIDES):
        s.tricks_won[side] = 0
        for denomination in range(NUM_DENOMINATIONS):
            s.named[side, denomination] = ev.NO_PLAYER
        ev.log_set(log, table.HAS_TRICKS, side, table.SIDE_TRICKS + side, 0)
    clear_tricks(s)
    s.contract, s.doubled, s.declarer, s.is_faced = NO_BID, 0, ev.NO_PLAYER, 0
    s.leader = s.turn = s.current_player = s.dealer
    ev.log_set(log, table.NO_CONTRACT, ev.NO_PLAYER, table.CONTRACT, 0)
    ev.log_set(log, table.DOUBLES, ev.NO_PLAYER, table.DOUBLED, 0)
