"""Kernels that fishing games share."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_CARDS, count_bits
from cardenvs.core.codes import NO_DECK
from cardenvs.core.fishing import table
from cardenvs.core.fishing.state import MAX_HANDS, NO_CARD, NO_SIDE, ROUND_SIZE
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import DEAL, shuffle_rest, start_stream
from cardenvs.core.seats import wrap

# ---------------------------------------------------------------------------------------------------------------
# Sides


@kernel(inline=True)
def num_sides(s):
    """Return the number of sides: two with `teams`, else each player is one."""
    return 2 if s.rules.teams else np.int64(s.rules.num_players)


@kernel(inline=True)
def side_of(s, player):
    """Return the side of a player."""
    return player % 2 if s.rules.teams else player


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
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, s.num_hands)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    s.num_hands += 1
    s.num_dealt = 0
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, s.num_hands)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    ev.log_create(log, table.SHUFFLE, table.STOCK, NUM_CARDS)
    deal_round(s, log)
    for _ in range(ROUND_SIZE):
        card = _top(s)
        s.table |= 1 << card
        ev.log_move(log, table.LAID_OUT, ev.NO_PLAYER, card, table.STOCK, table.BOARD, ev.EVERYBODY)
    s.current_player = wrap(dealer + 1, s.rules.num_players)


@kernel
def deal_round(s, log):
    """Deal four cards to each player."""
    for p in range(s.rules.num_players):
        for _ in range(ROUND_SIZE):
            draw(s, p, table.DEALT, log)


@kernel(inline=True)
def draw(s, player, kind, log):
    """`player` gets the next card of the stock, in an event of this kind."""
    card = _top(s)
    s.hands[player] |= 1 << card
    ev.log_move(log, kind, player, card, table.STOCK, table.HAND + player, 1 << player)


@kernel(inline=True)
def _top(s):
    """Take the next card of the stock."""
    card = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = NO_CARD
    s.num_dealt += 1
    return card


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel
def lay_card(s, player, card, log):
    """Lay a card on the table."""
    s.hands[player] ^= 1 << card
    s.table |= 1 << card
    ev.log_move(log, table.TRAILS, player, card, table.HAND + player, table.BOARD, ev.EVERYBODY)


@kernel
def play_to_capture(s, player, card, log):
    """Play a card that captures; it goes to the side's cards."""
    side = side_of(s, player)
    s.hands[player] ^= 1 << card
    s.won[side] |= 1 << card
    ev.log_move(log, table.PLAYS, player, card, table.HAND + player, table.WON + side, ev.EVERYBODY)


@kernel
def give_rest(s, log):
    """Give the cards left on the table to the side that captured last, if there is one, and return them."""
    rest = s.table
    if s.last_taker == NO_SIDE or rest == 0:
        return np.int64(0)
    side = np.int64(s.last_taker)
    s.won[side] |= rest
    s.table = 0
    ev.log_event(log, table.GETS_REST, side, ev.UNKNOWN, table.BOARD, table.WON + side, 0, ev.NOBODY, ev.EVERYBODY)
    return rest


@kernel
def most_of(s, cards):
    """Return the most of some cards, a bit set, that a side has captured."""
    most = 0
    for side in range(num_sides(s)):
        most = max(most, count_bits(s.won[side] & cards))
    return most


@kernel
def side_with_most(s, cards):
    """Return the side with most of some cards, or NO_SIDE, and how many sides have most."""
    most, winner, number = most_of(s, cards), NO_SIDE, 0
    for side in range(num_sides(s)):
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
        _pay_points(s, sign)
        return
    winner = _match_winner(s, sign)
    if winner != NO_SIDE:
        win_match(s, winner, log)
    elif s.num_hands == MAX_HANDS:
        ev.log_note(log, table.DRAWN, ev.NO_PLAYER, s.num_hands)
        s.terminal = 1
    else:
        ev.log_clear(log, table.CLEAR_TABLE)
        deal_hand(s, wrap(s.dealer + 1, s.rules.num_players), NO_DECK, log)


@kernel
def _match_winner(s, sign):
    """Return the side with the best score, times `sign`, if one has reached the target and none ties; else NO_SIDE."""
    best, winner, is_over = np.int64(0), NO_SIDE, False
    for side in range(num_sides(s)):
        score = np.int64(s.scores[side])
        is_over = is_over or score >= s.rules.target
        if side == 0 or sign * score > best:
            best, winner = sign * score, side
        elif sign * score == best:
            winner = NO_SIDE
    return winner if is_over else NO_SIDE


@kernel
def win_match(s, winner, log):
    """End the match: each player of the winning side gets 1, and the others pay for it in equal parts."""
    ev.log_note(log, table.WINS, winner, 0)
    for p in range(s.rules.num_players):
        s.rewards[p] = 1 if side_of(s, p) == winner else -1 / (num_sides(s) - 1)
    s.terminal = 1


@kernel
def _pay_points(s, sign):
    """End a single hand: each player gets the side's points less the mean of the others', times `sign`."""
    sides, total = num_sides(s), np.int64(0)
    for side in range(sides):
        total += s.scores[side]
    for p in range(s.rules.num_players):
        own = np.int64(s.scores[side_of(s, p)])
        s.rewards[p] = sign * (own - (total - own) / (sides - 1))
    s.terminal = 1


@kernel
def lose_game(s, player, stake, log):
    """The side of `player`, who forfeits, pays `stake` to the others."""
    s.active[player] = 0
    ev.log_note(log, table.FORFEITS, player, 0)
    loser, sides = side_of(s, player), num_sides(s)
    for p in range(s.rules.num_players):
        s.rewards[p] = -stake if side_of(s, p) == loser else stake / (sides - 1)
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def hidden_cards(s, player):
    """Return the cards in the other hands and in the stock."""
    unseen = np.int64(0)
    for p in range(s.rules.num_players):
        if p != player:
            unseen |= s.hands[p]
    for k in range(s.num_dealt, NUM_CARDS):
        unseen |= np.int64(1) << s.deck[k]
    return unseen
