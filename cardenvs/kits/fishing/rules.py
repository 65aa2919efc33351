"""Kernels that fishing games share."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.kits import matches
from cardenvs.kits.cards import NUM_CARDS, count_bits
from cardenvs.kits.deck import deal_hands, next_card, shuffle_deck
from cardenvs.kits.fishing import table
from cardenvs.kits.fishing.state import MAX_HANDS, ROUND_SIZE
from cardenvs.kits.matches import NO_SIDE, goes_on, leave, pay_scores, pay_stake, pay_winner

# ---------------------------------------------------------------------------------------------------------------
# Sides


def count_sides(rules):
    """Return the number of sides: two with `teams`, else each player is one; of options, or of those in a record."""
    return 2 if rules.teams else rules.num_players


_count_sides = kernel(inline=True)(count_sides)


@kernel(inline=True)
def num_sides(s):
    """Return the number of sides."""
    return np.int64(_count_sides(s.rules))


@kernel(inline=True)
def side_of(s, player):
    """Return the side of a player."""
    return matches.side_of(player, num_sides(s))


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal_hand(s, dealer, given, log):
    """Shuffle and deal: four cards to each player, then four to the table; the player after the dealer begins."""
    s.dealer = dealer
    s.last_taker = NO_SIDE
    s.last_table = s.table
    s.table = 0
    for side in range(num_sides(s)):
        s.last_won[side] = s.won[side]
        s.won[side] = 0
        s.sweeps[side] = 0
        ev.log_set(log, table.NEW_SWEEPS, side, table.SWEEPS + side, 0)
    shuffle_deck(s, NUM_CARDS, s.num_hands, given)
    s.num_hands += 1
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, s.num_hands)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    ev.log_create(log, table.SHUFFLE, table.STOCK, NUM_CARDS)
    deal_round(s, ROUND_SIZE, table.DEALT, log)
    lay_out(s, ROUND_SIZE, table.LAID_OUT, log)
    s.current_player = wrap(dealer + 1, s.rules.num_players)


@kernel
def deal_round(s, size, kind, log):
    """Deal `size` cards to each player in turn."""
    deal_hands(s, size, kind, table.STOCK, table.HAND, log)


@kernel(inline=True)
def lay_out(s, number, kind, log):
    """Lay the next cards of the stock on the table."""
    for _ in range(number):
        card = next_card(s)
        s.table |= np.int64(1) << card
        ev.log_move(log, kind, ev.NO_PLAYER, card, table.STOCK, table.BOARD, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel
def lay_card(s, player, card, kind, log):
    """Lay a card of the hand on the table."""
    s.hands[player] ^= 1 << card
    s.table |= 1 << card
    ev.log_move(log, kind, player, card, table.HAND + player, table.BOARD, ev.EVERYBODY)


@kernel
def play_to_capture(s, player, side, card, kind, won, log):
    """Play a card that captures; it goes to the side's cards, whose pile is `won` + side."""
    s.hands[player] ^= 1 << card
    s.won[side] |= 1 << card
    ev.log_move(log, kind, player, card, table.HAND + player, won + side, ev.EVERYBODY)


@kernel
def take_card(s, player, side, card, kind, won, log):
    """Take a card of the table; it goes to the side's cards, whose pile is `won` + side."""
    s.table ^= np.int64(1) << card
    s.won[side] |= np.int64(1) << card
    ev.log_move(log, kind, player, card, table.BOARD, won + side, ev.EVERYBODY)


@kernel
def is_hand_over(s, size, kind, log):
    """Pass the turn, and deal a round of `size` cards if all hands are empty; return whether none are left to deal."""
    s.current_player = wrap(s.current_player + 1, s.rules.num_players)
    if s.hands[s.current_player]:
        return False
    if s.num_dealt == s.deck.shape[0]:
        return True
    deal_round(s, size, kind, log)
    return False


@kernel
def give_rest(s, kind, won, log):
    """Give the cards left on the table to the side that captured last, if there is one, and return them."""
    rest = s.table
    if s.last_taker == NO_SIDE or rest == 0:
        return np.int64(0)
    side = np.int64(s.last_taker)
    s.won[side] |= rest
    s.table = 0
    ev.log_move_all(log, kind, side, table.BOARD, won + side)
    return rest


@kernel
def most_of(s, cards, sides):
    """Return the most of some cards, a bit set, that a side has captured."""
    most = 0
    for side in range(sides):
        most = max(most, count_bits(s.won[side] & cards))
    return most


@kernel
def side_with_most(s, cards, sides):
    """Return the side with most of some cards, or NO_SIDE, and how many sides have most."""
    most, winner, number = most_of(s, cards, sides), NO_SIDE, 0
    for side in range(sides):
        if count_bits(s.won[side] & cards) == most:
            winner = side
            number += 1
    return winner if number == 1 and most > 0 else NO_SIDE, number


# ---------------------------------------------------------------------------------------------------------------
# The result


@kernel
def finish_hand(s, sign, log):
    """Keep the scores of a hand that is over; then pay them, end the match, or deal the next hand.

    Args:
        s: the record, with the final `scores` of the hand.
        sign: 1 if points are to be gained, -1 if they are to be avoided.
        log: for events.
    """
    for side in range(num_sides(s)):
        s.hand_scores[s.num_hands - 1, side] = s.scores[side]
    if not s.rules.match:
        pay_scores(s, sign, num_sides(s))
        return
    if goes_on(s, sign, num_sides(s), MAX_HANDS, table.WINS, table.DRAWN, log):
        ev.log_clear(log, table.CLEAR_TABLE)
        deal_hand(s, wrap(s.dealer + 1, s.rules.num_players), NO_DECK, log)


@kernel
def win_match(s, winner, log):
    """End the match: the others pay 1 to each player of the winning side."""
    ev.log_note(log, table.WINS, winner, 0)
    pay_winner(s, winner, num_sides(s))


@kernel
def lose_game(s, player, stake, log):
    """The side of `player`, who forfeits, pays `stake` to the others."""
    leave(s, player, table.FORFEITS, log)
    pay_stake(s, side_of(s, player), stake, num_sides(s))
