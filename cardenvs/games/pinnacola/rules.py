"""Rules of Pinnacola: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, melds in melds.py, and what moves cards in effects.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, canonical_shuffle, shuffle, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.pinnacola import actions, effects, hands, legal, melds, state, table
from cardenvs.games.pinnacola.actions import parts
from cardenvs.games.pinnacola.state import NO_CARD, NUM_SIDES, side_of
from cardenvs.kits.deck import begin_world
from cardenvs.kits.matches import goes_on, leave, pay_scores, pay_stake, pay_winner

_WORLDS = 500  # tried, when another player must be able to go on (8.4)
_NOBODY = -1

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first time; the last player is the dealer (2.1)."""
    ev.log_create(log, table.NEW_DECK, table.STOCK, state.num_cards(s))
    s.dealer = s.rules.num_players - 1
    for place in range(state.DECK_SIZE):
        s.row[place] = NO_CARD
    _lay_out_deck(s)
    shuffle_rest(s, s.deck, state.num_cards(s), given)
    _begin_hand(s, log)


@kernel
def _lay_out_deck(s):
    """Put the cards of the game into `deck` in order, to be shuffled from the stream of the next hand."""
    place = 0
    for face in range(state.NUM_FACES):
        for _ in range(state.copies_of(s, face)):
            s.deck[place] = face
            place += 1
    for k in range(place, state.DECK_SIZE):
        s.deck[k] = NO_CARD
    start_stream(s, DEAL, np.int64(s.num_hands))


@kernel
def _begin_hand(s, log):
    """Deal the shuffled deck, and let the player after the dealer begin (2)."""
    s.num_hands += 1
    s.num_turns = 0
    dealer = np.int64(s.dealer)
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, np.int64(s.num_hands))
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    effects.deal_cards(s, log)
    _begin_turn(s, wrap(dealer + 1, np.int64(s.rules.num_players)))


@kernel(inline=True)
def _begin_turn(s, player):
    """Let `player` draw (4.1)."""
    s.current_player = player
    s.phase = state.DRAW
    s.must_use = NO_CARD
    s.not_meld = melds.NO_ROOM


# ---------------------------------------------------------------------------------------------------------------
# The turn


@kernel
def apply_action(s, action, log):
    """Make one step of a turn (4)."""
    player = np.int64(s.current_player)
    op, x, y, _ = parts(action)
    if op == actions.OP_DRAW:
        effects.draw_card(s, player, table.DRAWS, log)
        s.phase = state.MELD
    elif op == actions.OP_TAKE:
        effects.take_row(s, player, hands.place_in_row(s, x, y), log)
    elif op == actions.OP_STOP:
        ev.log_note(log, table.STOPS, player, 0)
        _end_hand(s, _NOBODY, log)
    elif op == actions.OP_DISCARD:
        effects.discard(s, player, x, log)
        _end_turn(s, player, log)
    else:
        m = effects.lay_cards(s, player, action, log)
        if melds.is_swap(op):
            legal.begin_use(s, m)
        else:
            s.phase = state.MELD
            s.must_use = NO_CARD
            s.not_meld = melds.NO_ROOM
            if s.hand_sizes[player] == 0:
                _close(s, player, log)


@kernel
def _end_turn(s, player, log):
    """After the discard, go on with the next player, or end the hand (5)."""
    if s.hand_sizes[player] == 0:
        _close(s, player, log)
        return
    s.num_turns += 1
    if s.rules.pinnacolone_ends and (s.has_pinnacolone[0] or s.has_pinnacolone[1]):
        ev.log_note(log, table.IS_PINNACOLONE, ev.NO_PLAYER, 0)
        _end_hand(s, _NOBODY, log)
    elif state.num_stock(s) == 0 and s.rules.stock_end == state.STOCK_ENDS:
        ev.log_note(log, table.NO_STOCK, ev.NO_PLAYER, 0)
        _end_hand(s, _NOBODY, log)
    else:
        _begin_turn(s, wrap(player + 1, np.int64(s.rules.num_players)))


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel(inline=True)
def _is_in_mano(s):
    """Return whether a player who closes now does so in the first turn of theirs (6.4)."""
    return s.rules.in_mano and s.num_turns < s.rules.num_players


@kernel
def _close(s, player, log):
    ev.log_note(log, table.CLOSES_IN_MANO if _is_in_mano(s) else table.CLOSES, player, 0)
    _end_hand(s, player, log)


@kernel
def _end_hand(s, closer, log):
    """Show the hands, score, and deal again or end the game (6, 7)."""
    for p in range(np.int64(s.rules.num_players)):
        effects.show_hand(s, p, log)
    for side in range(NUM_SIDES):
        s.scores[side] += _score_side(s, side, closer, log)
        ev.log_set(log, table.NEW_SCORE, side, table.SCORE + side, np.int64(s.scores[side]))
    if s.rules.target == NONE:
        pay_scores(s, 1, NUM_SIDES)
    elif goes_on(s, 1, NUM_SIDES, state.MAX_HANDS, table.WINS, table.DRAWN, log):
        effects.gather_cards(s, log)
        s.dealer = wrap(np.int64(s.dealer) + 1, np.int64(s.rules.num_players))
        _lay_out_deck(s)
        shuffle(s, s.deck, np.int64(0), state.num_cards(s))
        _begin_hand(s, log)


@kernel
def _score_side(s, side, closer, log):
    """Return the score of a side, and log its parts (6.3, 6.4)."""
    melded, left = np.int64(s.points[side]), np.int64(0)
    for p in range(np.int64(s.rules.num_players)):
        if side_of(p) == side:
            left += melds.hand_points(s, p)
    score = melded - left
    _log_points(log, table.MELD_POINTS, side, melded)
    _log_points(log, table.LEFT_POINTS, side, left)
    if closer != _NOBODY and side_of(closer) == side:
        bonus = np.int64(s.rules.close_bonus)
        if _is_in_mano(s):
            bonus = score + 4 * bonus  # twice the bonus, and then everything twice
        _log_points(log, table.CLOSE_POINTS, side, bonus)
        score += bonus
    ev.log_note(log, table.HAND_POINTS, side, score)
    return score


@kernel(inline=True)
def _log_points(log, kind, side, points):
    if points:
        ev.log_note(log, kind, side, points)


@kernel
def forfeit(s, player, log):
    """End the game: the side of `player` loses the most that a hand can cost, or the match (7.4)."""
    leave(s, player, table.FORFEITS, log)
    if s.rules.target == NONE:
        pay_stake(s, side_of(player), _most_points(s.rules), NUM_SIDES)
    else:
        pay_winner(s, 1 - side_of(player), NUM_SIDES)


def most_points(rules):
    """Return the most by which a side can be ahead in a hand; `rules` are options or those of a record (7.4).

    No card is worth more in a meld than in a pinnacolone, 600 for 13 cards, except that four jokers are worth 600: all
    104 other cards are eight of these, 5400 with the jokers. Cards in the other side's hands cost at most 1080, the
    values of all cards. Who closes gets the bonus. Closing in the first turn, a side has melded few cards, and twice
    its points are less than that.
    """
    return 8 * 600 + 600 + 1080 + rules.close_bonus


_most_points = kernel(inline=True)(most_points)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Deal again what `player` cannot know: the stock, and the cards of others that nobody has seen.

    If another player must go on in a way that needs certain cards, deals in which that is impossible are dropped (8.4).
    """
    begin_world(s, seed)
    for _ in range(_WORLDS):
        _deal_world(s, player)
        if s.terminal or s.current_player == player or s.phase == state.DRAW or legal.has_action(s):
            return


@kernel
def _deal_world(s, player):
    """Deal the hidden cards; `deck` below the stock has room for those of the hands, as they have left it."""
    first, end = np.int64(s.num_dealt), np.int64(s.num_dealt + state.num_stock(s))
    for p in range(np.int64(s.rules.num_players)):
        if p != player:
            for face in range(state.NUM_FACES):
                for _ in range(state.num_held(s, p, face) - state.num_known(s, p, face)):
                    first -= 1
                    s.deck[first] = face
            s.held[p], s.twice[p], s.jokers[p] = s.known_held[p], s.known_twice[p], s.known_jokers[p]
    canonical_shuffle(s, s.deck, first, end)
    for p in range(np.int64(s.rules.num_players)):
        if p != player:
            size = np.int64(s.hand_sizes[p])
            number = size
            for face in range(state.NUM_FACES):
                number -= state.num_known(s, p, face)
            for _ in range(number):
                hands.enter_hand(s, p, np.int64(s.deck[first]))
                s.deck[first] = NO_CARD
                first += 1
            s.hand_sizes[p] = size


# ---------------------------------------------------------------------------------------------------------------
# Sizes


def max_length(options):
    """Return a bound on the number of actions.

    A turn takes a card off the stock, or puts one on the table for good: at most 216 turns, each with a draw and a
    discard. Other actions put a card on the table, or replace a joker, after which one is put there. One action stops.
    """
    in_hand = 2 * 2 * state.DECK_SIZE + 2 * state.DECK_SIZE + 1
    return in_hand * (1 if options.target is None else state.MAX_HANDS)


def returns(options):
    """Return the bounds on the points of a side less the other's, or those of a match."""
    if options.target is not None:
        return win_or_loss(2)
    most = most_points(options)
    return Returns(-most, most, 0, "points")
