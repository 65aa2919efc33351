"""Rules of Scopa: the course of a game. Paragraph numbers are those of rules.md.

What a card takes is in captures.py, the points of a hand in scoring.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.seats import wrap
from cardenvs.games.scopa import scoring, state
from cardenvs.games.scopa.captures import capture, list_captures, num_captures, same_rank, takes_all
from cardenvs.games.scopa.state import NUM_CARDS, SLOTS, SUIT_SIZE
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.deck import hidden_in_hands_and_deck, shuffle_deck
from cardenvs.kits.fishing import rules as fishing
from cardenvs.kits.fishing.captures import new_captures
from cardenvs.kits.matches import NO_SIDE, count_sides, goes_on, leave, num_sides, pay_scores, pay_stake, side_of
from cardenvs.kits.redeal import redeal_unseen

_KING = 9  # rank
_CARDS_AT_ONCE = np.array(list(state.CARDS_AT_ONCE.values()))

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand; the last player is the dealer (2.1)."""
    _deal_hand(s, s.rules.num_players - 1, given, log)


@kernel
def _deal_hand(s, dealer, given, log):
    """Begin a hand: shuffle and deal until the deal is not void (2.1, 2.4, 7.1)."""
    s.dealer = dealer
    s.num_hands += 1
    s.last_taker = NO_SIDE
    ev.log_set(log, state.NEW_HAND, ev.NO_PLAYER, state.HAND_NUMBER, s.num_hands)
    ev.log_set(log, state.IS_DEALER, dealer, state.DEALER, dealer)
    for side in range(num_sides(s)):
        s.last_won[side] = s.won[side]
        s.won[side] = 0
        s.sweeps[side] = 0
        ev.log_set(log, state.NO_SCOPE, side, state.SCOPE + side, 0)
    s.last_table = s.table
    _deal_cards(s, given, log)
    for _ in range(state.MAX_DEALS - 1):
        kings = count_bits(s.table & same_rank(_KING))
        if not s.rules.redeal_kings or kings < 3:
            break
        ev.log_note(log, state.VOID, ev.NO_PLAYER, kings)
        ev.log_clear(log, state.CLEAR_TABLE)
        _deal_cards(s, NO_DECK, log)
    s.current_player = wrap(dealer + 1, s.rules.num_players)


@kernel
def _deal_cards(s, given, log):
    """Shuffle, deal the hands in the order of players, then the table (2.1, 2.3)."""
    shuffle_deck(s, NUM_CARDS, s.num_shuffles, given)
    s.num_shuffles += 1
    ev.log_create(log, state.SHUFFLE, state.STOCK, NUM_CARDS)
    for p in range(s.rules.num_players):
        s.hands[p] = 0
    fishing.deal_round(s, _CARDS_AT_ONCE[s.rules.scopone], state.DEALT, log)
    s.table = 0
    if s.rules.scopone != state.SCOPONE_TEN:
        fishing.lay_out(s, state.TABLE_SIZE, state.LAID_OUT, log)


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel(inline=True)
def legal_actions(s, out):
    """Every capture of every card in hand; the card itself if it takes nothing (3.1 to 3.3)."""
    hand, n, found = s.hands[s.current_player], 0, new_captures()
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        list_captures(s, card, found)
        for k in range(max(found.number, 1)):
            out[n] = card * SLOTS + k
            n += 1
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    card = action // SLOTS
    if not s.hands[s.current_player] >> card & 1:
        return state.NOT_HELD
    return 0 if action % SLOTS < max(num_captures(s, card), 1) else state.NO_SUCH_CAPTURE


@kernel(inline=True)
def apply_action(s, action, log):
    """Play a card, and deal again or score when all have been played."""
    player, card = np.int64(s.current_player), action // SLOTS
    taken = capture(s, card, action % SLOTS)
    if taken:
        _take(s, player, card, taken, log)
    else:
        fishing.lay_card(s, player, card, state.LAYS, log)
    if fishing.is_hand_over(s, state.ROUND_SIZE, state.DEALT, log):
        _end_hand(s, log)


@kernel
def _take(s, player, card, taken, log):
    """Take cards to the player's side (3.4), perhaps all of them (3.5)."""
    side = side_of(player, num_sides(s))
    clears = taken == s.table and not takes_all(s, card)
    fishing.play_to_capture(s, player, side, card, state.PLAYS, state.WON, log)
    s.last_taker = side
    while taken:
        fishing.take_card(s, player, side, lowest_card(taken), state.TAKES, state.WON, log)
        taken &= taken - 1
    is_last = hidden_in_hands_and_deck(s, ev.NO_PLAYER) == 0  # no card is left in any hand, or to be dealt
    if clears and (s.rules.last_card_scopa or not is_last):
        s.sweeps[side] += 1
        ev.log_set(log, state.SCOPA, side, state.SCOPE + side, s.sweeps[side])


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """The last taker gets the rest (3.6); score, then deal again or end the game (5)."""
    fishing.give_rest(s, state.GETS_REST, state.WON, log)
    _score_hand(s, log)
    for side in range(num_sides(s)):
        s.scores[side] += s.hand_points[s.num_hands - 1, side]
        ev.log_set(log, state.NEW_SCORE, side, state.SCORE + side, s.scores[side])
    if s.rules.target == NONE:
        pay_scores(s, 1, num_sides(s))  # (5.2)
    elif goes_on(s, 1, num_sides(s), state.MAX_HANDS, state.WINS, state.DRAWN, log):  # (5.1, 5.3)
        ev.log_clear(log, state.CLEAR_TABLE)
        _deal_hand(s, wrap(s.dealer + 1, s.rules.num_players), NO_DECK, log)


@kernel(inline=True)
def _score_hand(s, log):
    """Enter the points of the hand (4)."""
    for side in range(num_sides(s)):
        s.hand_points[s.num_hands - 1, side] = s.sweeps[side]
    most_cards, _ = fishing.side_with_most(s, scoring.ALL_CARDS, num_sides(s))
    most_diamonds, _ = fishing.side_with_most(s, scoring.DIAMONDS, num_sides(s))
    _give_point(s, most_cards, state.MOST_CARDS, log)
    _give_point(s, most_diamonds, state.MOST_DIAMONDS, log)
    _give_point(s, scoring.best_primiera(s), state.PRIMIERA, log)
    for side in range(num_sides(s)):
        if s.won[side] & scoring.SETTEBELLO:
            _give_point(s, side, state.SETTEBELLO, log)
        if s.rules.rebello and s.won[side] & scoring.KING_OF_DIAMONDS:
            _give_point(s, side, state.REBELLO, log)
        length = scoring.napola(s.won[side])
        if s.rules.napola and length:
            s.hand_points[s.num_hands - 1, side] += length
            ev.log_note(log, state.NAPOLA, side, length)


@kernel(inline=True)
def _give_point(s, side, kind, log):
    """Give a side a point, unless nobody has earned it."""
    if side != NO_SIDE:
        s.hand_points[s.num_hands - 1, side] += 1
        ev.log_note(log, kind, side, 1)


def most_points(rules):
    """Return a bound on the points of all sides in a hand; `rules` are options or those of a record (4).

    After a scopa the table is empty, so the next card is laid: at most every other card takes all.
    """
    return 4 + (1 if rules.rebello else 0) + (SUIT_SIZE if rules.napola else 0) + NUM_CARDS // 2


_most_points = kernel(inline=True)(most_points)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or the most that a hand can cost (6.1)."""
    leave(s, player, state.FORFEITS, log)
    sides = num_sides(s)
    stake = _most_points(s.rules) / (sides - 1) if s.rules.target == NONE else 1.0
    pay_stake(s, side_of(player, sides), stake, sides)


determinize = redeal_unseen


# ---------------------------------------------------------------------------------------------------------------
# Spaces

num_actions = NUM_CARDS * SLOTS  # up to 25 outcomes of each card


def max_legal(options):
    """Return the length of the longest list: no table gives a card more than 25 outcomes."""
    return state.CARDS_AT_ONCE[options.scopone] * SLOTS


def max_length(options):
    """Return a bound on the decisions: all cards, in the most hands of a match."""
    return NUM_CARDS * (1 if options.target is None else state.MAX_HANDS)


def returns(options):
    """Return the bounds: a match won or lost, or all points of a hand, won by one side or by the others (5.2)."""
    sides = count_sides(options)
    if options.target is not None:
        return win_or_loss(sides, low=-1)
    most = most_points(options)
    return Returns(-most / (sides - 1), most, 0, "points")
