"""Rules of Scopa: the course of a game. Paragraph numbers are those of rules.md.

What a card takes is in captures.py, the points of a hand in scoring.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_ITALIAN, count_bits, lowest_card
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.redeal import redeal_hands
from cardenvs.core.rng import DEAL, DETERMINIZE, shuffle_rest, start_stream
from cardenvs.core.rules import Returns, win_or_loss
from cardenvs.core.seats import wrap
from cardenvs.games.scopa import scoring, state, table
from cardenvs.games.scopa.captures import capture, num_captures, same_rank, takes_all
from cardenvs.games.scopa.state import NO_CARD, NO_SIDE, SLOTS, SUIT_SIZE

_ALL_CARDS = (1 << NUM_ITALIAN) - 1
_KING = 9  # rank


# ---------------------------------------------------------------------------------------------------------------
# Sides


@kernel(inline=True)
def num_sides(s):
    """Return the number of sides (1.1)."""
    return 3 if s.rules.num_players == 3 else 2


@kernel(inline=True)
def side_of(s, player):
    """Return the side of a player."""
    return player if s.rules.num_players == 3 else player % 2


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
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, s.num_hands)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    for side in range(num_sides(s)):
        s.last_won[side] = s.won[side]
        s.won[side] = 0
        s.scope[side] = 0
        ev.log_set(log, table.NO_SCOPE, side, table.SCOPE + side, 0)
    s.last_table = s.table
    _deal_cards(s, given, log)
    for _ in range(state.MAX_DEALS - 1):
        kings = count_bits(s.table & same_rank(_KING))
        if not s.rules.redeal_kings or kings < 3:
            break
        ev.log_note(log, table.VOID, ev.NO_PLAYER, kings)
        ev.log_clear(log, table.CLEAR_TABLE)
        _deal_cards(s, NO_DECK, log)
    s.current_player = wrap(dealer + 1, s.rules.num_players)


@kernel
def _deal_cards(s, given, log):
    """Shuffle, deal the hands in the order of players, then the table (2.1, 2.3)."""
    for card in range(NUM_ITALIAN):
        s.deck[card] = card
    start_stream(s, DEAL, s.num_shuffles)
    s.num_shuffles += 1
    shuffle_rest(s, s.deck, NUM_ITALIAN, given)
    s.num_dealt = 0
    ev.log_create(log, table.SHUFFLE, table.STOCK, NUM_ITALIAN)
    size, on_table = state.ROUND_SIZE, state.TABLE_SIZE
    if s.rules.scopone == state.SCOPONE_NINE:
        size = 9
    elif s.rules.scopone == state.SCOPONE_TEN:
        size, on_table = 10, 0
    for p in range(s.rules.num_players):
        s.hands[p] = 0
    _deal_round(s, size, log)
    s.table = 0
    for _ in range(on_table):
        card = _top(s)
        s.table |= 1 << card
        ev.log_move(log, table.LAID_OUT, ev.NO_PLAYER, card, table.STOCK, table.BOARD, ev.EVERYBODY)


@kernel
def _deal_round(s, size, log):
    """Deal `size` cards to each player (2.1, 2.2)."""
    for p in range(s.rules.num_players):
        for _ in range(size):
            card = _top(s)
            s.hands[p] |= 1 << card
            ev.log_move(log, table.DEALT, p, card, table.STOCK, table.HAND + p, 1 << p)


@kernel(inline=True)
def _top(s):
    """Take the next card of the stock."""
    card = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = NO_CARD
    s.num_dealt += 1
    return card


# ---------------------------------------------------------------------------------------------------------------
# Legal actions


@kernel(inline=True)
def legal_actions(s, out):
    """Every capture of every card in hand; the card itself if it takes nothing (3.1 to 3.3)."""
    hand, n = s.hands[s.current_player], 0
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        for k in range(max(num_captures(s, card), 1)):
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


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel(inline=True)
def apply_action(s, action, log):
    """Play a card, and deal again or score when all have been played."""
    player, card = np.int64(s.current_player), action // SLOTS
    if num_captures(s, card):
        _take(s, player, card, capture(s, card, action % SLOTS), log)
    else:
        s.hands[player] ^= 1 << card
        s.table |= 1 << card
        ev.log_move(log, table.LAYS, player, card, table.HAND + player, table.BOARD, ev.EVERYBODY)
    s.current_player = wrap(player + 1, s.rules.num_players)
    if s.hands[s.current_player] == 0:  # then all are empty
        if s.num_dealt < NUM_ITALIAN:
            _deal_round(s, state.ROUND_SIZE, log)
        else:
            _end_hand(s, log)


@kernel
def _take(s, player, card, taken, log):
    """Take cards to the player's side (3.4), perhaps all of them (3.5)."""
    side = side_of(s, player)
    clears = taken == s.table and not takes_all(s, card)
    s.hands[player] ^= 1 << card
    s.table ^= taken
    s.won[side] |= taken | 1 << card
    s.last_taker = side
    ev.log_move(log, table.PLAYS, player, card, table.HAND + player, table.WON + side, ev.EVERYBODY)
    while taken:
        ev.log_move(log, table.TAKES, player, lowest_card(taken), table.BOARD, table.WON + side, ev.EVERYBODY)
        taken &= taken - 1
    if clears and (s.rules.last_card_scopa or not _is_last_card(s)):
        s.scope[side] += 1
        ev.log_set(log, table.SCOPA, side, table.SCOPE + side, s.scope[side])


@kernel(inline=True)
def _is_last_card(s):
    """Whether all cards of the hand have been played."""
    cards = np.int64(0)
    for p in range(s.rules.num_players):
        cards |= s.hands[p]
    return cards == 0 and s.num_dealt == NUM_ITALIAN


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """The last taker gets the rest (3.6); score, then deal again or end the game (5)."""
    if s.last_taker != NO_SIDE and s.table:
        s.won[s.last_taker] |= s.table
        s.table = 0
        target = table.WON + s.last_taker
        ev.log_event(log, table.GETS_REST, s.last_taker, ev.UNKNOWN, table.BOARD, target, 0, ev.NOBODY, ev.EVERYBODY)
    _score_hand(s, log)
    for side in range(num_sides(s)):
        s.scores[side] += s.hand_points[s.num_hands - 1, side]
        ev.log_set(log, table.NEW_SCORE, side, table.SCORE + side, s.scores[side])
    if s.rules.target == NONE:
        _pay_points(s)
        return
    winner = _match_winner(s)
    if winner != NO_SIDE:
        ev.log_note(log, table.WINS, winner, 0)
        _pay_match(s, winner)
    elif s.num_hands == state.MAX_HANDS:
        ev.log_note(log, table.DRAWN, ev.NO_PLAYER, s.num_hands)
        s.terminal = 1
    else:
        ev.log_clear(log, table.CLEAR_TABLE)
        _deal_hand(s, wrap(s.dealer + 1, s.rules.num_players), NO_DECK, log)


@kernel(inline=True)
def _score_hand(s, log):
    """Enter the points of the hand (4)."""
    for side in range(num_sides(s)):
        s.hand_points[s.num_hands - 1, side] = s.scope[side]
    _give_point(s, scoring.most_cards(s), table.MOST_CARDS, log)
    _give_point(s, scoring.most_diamonds(s), table.MOST_DIAMONDS, log)
    _give_point(s, scoring.best_primiera(s), table.PRIMIERA, log)
    for side in range(num_sides(s)):
        if s.won[side] & scoring.SETTEBELLO:
            _give_point(s, side, table.SETTEBELLO, log)
        if s.rules.rebello and s.won[side] & scoring.KING_OF_DIAMONDS:
            _give_point(s, side, table.REBELLO, log)
        length = scoring.napola(s.won[side])
        if s.rules.napola and length:
            s.hand_points[s.num_hands - 1, side] += length
            ev.log_note(log, table.NAPOLA, side, length)


@kernel(inline=True)
def _give_point(s, side, kind, log):
    """Give a side a point, unless nobody has earned it."""
    if side != NO_SIDE:
        s.hand_points[s.num_hands - 1, side] += 1
        ev.log_note(log, kind, side, 1)


@kernel(inline=True)
def _match_winner(s):
    """Return the side that has won the match, or NO_SIDE (5.3)."""
    best, winner = np.int64(s.rules.target - 1), NO_SIDE
    for side in range(num_sides(s)):
        if s.scores[side] > best:
            best, winner = np.int64(s.scores[side]), side
        elif s.scores[side] == best:
            winner = NO_SIDE
    return winner


@kernel(inline=True)
def _pay_match(s, winner):
    """Each player of the winning side gets 1, the others pay for it in equal parts (5.1)."""
    for p in range(s.rules.num_players):
        s.rewards[p] = 1 if side_of(s, p) == winner else -1 / (num_sides(s) - 1)
    s.terminal = 1


@kernel(inline=True)
def _pay_points(s):
    """Each player gets the side's points less the mean of the others' (5.2)."""
    sides, total = num_sides(s), 0
    for side in range(sides):
        total += s.scores[side]
    for p in range(s.rules.num_players):
        own = np.int64(s.scores[side_of(s, p)])
        s.rewards[p] = own - (total - own) / (sides - 1)
    s.terminal = 1


def most_points(rules):
    """Return a bound on the points of all sides in a hand; `rules` are options or those of a record (4).

    After a scopa the table is empty, so the next card is laid: at most every other card takes all.
    """
    return 4 + (1 if rules.rebello else 0) + (SUIT_SIZE if rules.napola else 0) + NUM_ITALIAN // 2


_most_points = kernel(inline=True)(most_points)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or the most that a hand can cost (6.1)."""
    s.active[player] = 0
    ev.log_note(log, table.FORFEITS, player, 0)
    loser, sides = side_of(s, player), num_sides(s)
    stake = _most_points(s.rules) / (sides - 1) if s.rules.target == NONE else 1.0
    for p in range(s.rules.num_players):
        s.rewards[p] = -stake if side_of(s, p) == loser else stake / (sides - 1)
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see: in the other hands and in the stock."""
    seen = s.hands[player] | s.table
    for side in range(num_sides(s)):
        seen |= s.won[side]
    return _ALL_CARDS & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    redeal_hands(s, player, hidden_cards(s, player), NUM_ITALIAN)


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def num_actions(options):
    """Return the number of ids: 25 outcomes for each card."""
    return NUM_ITALIAN * SLOTS


def max_legal(options):
    """Return the length of the longest list: no table gives a card more than 25 outcomes."""
    return {"none": state.ROUND_SIZE, "nine": 9, "ten": 10}[options.scopone] * SLOTS


def max_length(options):
    """Return a bound on the decisions: all cards, in the most hands of a match."""
    return NUM_ITALIAN * (1 if options.target is None else state.MAX_HANDS)


def returns(options):
    """Return the bounds: a match won or lost, or all points of a hand, won by one side or by the others (5.2)."""
    sides = 3 if options.num_players == 3 else 2
    if options.target is not None:
        return win_or_loss(sides, low=-1)
    most = most_points(options)
    return Returns(-most / (sides - 1), most, 0, "points")
