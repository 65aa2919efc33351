"""Rules of Euchre. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.euchre import state
from cardenvs.games.euchre.state import (
    ALONE,
    ASKED,
    CALL,
    DEFEND,
    DISCARD,
    GO_ALONE,
    HAND_SIZE,
    JOKER,
    MAX_HANDS,
    MOST_POINTS,
    NAME_JOKER,
    NO_TRUMP,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    NUM_TRICKS,
    ORDER,
    PACK,
    PASS,
    PLAY,
    PLAY_JOKER,
    TRICKS,
    TRICKS_TO_MAKE,
    TRUMP_0,
    UPCARD_AT,
    WITH_PARTNER,
    is_taken,
    next_in_hand,
    pack_size,
    partner_of,
    sits_out,
)
from cardenvs.kits.deck import NO_CARD, deal_hands, next_card, shuffle_deck
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave, pay_stake, side_of
from cardenvs.kits.tricks import NOT_HELD, clear_tricks

_playable, _explain_card, _take_turn = TRICKS.playable, TRICKS.explain, TRICKS.take_turn
_suit_of, _SUIT_SETS = PACK.suit_of, PACK.suit_sets

_DEALER = 1  # chance source
_PLAIN_CARDS = (1 << JOKER) - 1
_ALL_SUITS = (1 << NUM_SUITS) - 1


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Choose the dealer, and deal the first hand (2.1)."""
    s.dealer = s.rules.dealer
    if s.rules.dealer == NONE:
        start_stream(s, _DEALER, 0)
        s.dealer = random_below(s.rng, NUM_PLAYERS)
    s.last_laid_away = s.last_upcard = NO_CARD
    _begin_hand(s, given, log)


@kernel
def _begin_hand(s, given, log):
    """Shuffle, deal, and turn up a card (2.2); a joker is turned up before the cards are dealt (2.3)."""
    shuffle_deck(s, pack_size(s), s.num_hands, given)
    for k in range(pack_size(s), s.deck.shape[0]):
        s.deck[k] = NO_CARD
    s.num_hands += 1
    ev.log_set(log, state.NEW_HAND, ev.NO_PLAYER, state.HAND_NUMBER, s.num_hands)
    ev.log_set(log, state.DEALS, s.dealer, state.DEALER, s.dealer)
    ev.log_create(log, state.SHUFFLE, state.STOCK, pack_size(s))
    clear_tricks(s)
    s.trump, s.maker, s.laid_away, s.passes = NO_TRUMP, ev.NO_PLAYER, NO_CARD, 0
    if s.deck[UPCARD_AT] != JOKER:
        deal_hands(s, HAND_SIZE, state.DEALT, state.STOCK, state.HAND, log)
        _turn_up(s, log)
        _begin_bidding(s)
        return
    for k in range(UPCARD_AT, 0, -1):
        s.deck[k] = s.deck[k - 1]
    s.deck[0] = JOKER
    _turn_up(s, log)
    s.phase, s.current_player = NAME_JOKER, s.dealer


@kernel(inline=True)
def _turn_up(s, log):
    s.upcard = next_card(s)
    s.suit_up = _suit_of(s.upcard)
    ev.log_move(log, state.TURNS_UP, ev.NO_PLAYER, s.upcard, state.STOCK, state.TURNED_UP, ev.EVERYBODY)


@kernel(inline=True)
def _begin_bidding(s):
    s.phase, s.current_player = ORDER, wrap(s.dealer + 1, NUM_PLAYERS)


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def legal_actions(s, out):
    """List the ids that are allowed."""
    return list_bits(_allowed(s), 0, out, 0)


@kernel(inline=True)
def _allowed(s):
    """Return the actions that the player to act may choose, as a bit set."""
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        return _ids(_playable(s, player))
    if s.phase == DISCARD:
        return _ids(s.hands[player] if s.rules.discard_upcard else s.hands[player] & ~(np.int64(1) << s.upcard))
    if s.phase == ALONE or s.phase == DEFEND:
        return np.int64(1) << GO_ALONE | np.int64(1) << WITH_PARTNER
    return _bids(s, player)


@kernel(inline=True)
def _bids(s, player):
    """Return the bids that are allowed (2.3, 3.1 to 3.3)."""
    if s.phase == NAME_JOKER:
        return np.int64(_ALL_SUITS << TRUMP_0)
    up, bids = np.int64(1) << TRUMP_0 + s.suit_up, np.int64(0)
    if s.phase == CALL:
        bids = _ALL_SUITS << TRUMP_0 & ~up
    elif may_order(s, player):
        bids = up
    return bids if is_stuck(s) else bids | 1 << PASS


@kernel(inline=True)
def may_order(s, player):
    """Return whether a player may order up the upcard (3.2)."""
    return not s.rules.need_suit_to_order or s.hands[player] & _SUIT_SETS[s.suit_up] != 0


@kernel(inline=True)
def is_stuck(s):
    """Return whether the dealer must name a suit (3.3)."""
    return s.rules.stick_the_dealer and s.passes == 2 * NUM_PLAYERS - 1


@kernel(inline=True)
def _ids(cards):
    """Return the actions that play some cards or lay them away, as a bit set."""
    return cards & _PLAIN_CARDS | (cards >> JOKER & 1) << PLAY_JOKER


@kernel(inline=True)
def is_card(action):
    """Return whether an action plays a card or lays it away."""
    return action < JOKER or action == PLAY_JOKER


@kernel(inline=True)
def card_of(action):
    """Return the card of such an action."""
    return np.int64(JOKER if action == PLAY_JOKER else action)


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes of state.py."""
    if _allowed(s) >> action & 1:
        return 0
    if is_card(action) and s.phase == PLAY:
        return _explain_card(s, s.current_player, card_of(action))
    if is_card(action) and s.phase == DISCARD:
        return state.UPCARD_STAYS if card_of(action) == s.upcard else NOT_HELD
    if PASS <= action < GO_ALONE and (s.phase == ORDER or s.phase == CALL):
        return _explain_bid(s, action)
    return ASKED + s.phase


@kernel(inline=True)
def _explain_bid(s, action):
    if action == PASS:
        return state.STUCK
    if s.phase == CALL:
        return state.TURNED_DOWN
    return state.NEEDS_SUIT if action - TRUMP_0 == s.suit_up else state.ONLY_UPCARD


@kernel
def apply_action(s, action, log):
    """Bid, lay a card away, go alone or not, or play a card."""
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        _play(s, card_of(action), log)
    elif s.phase == DISCARD:
        _lay_away(s, player, card_of(action), log)
    elif s.phase == ALONE or s.phase == DEFEND:
        _decide(s, player, action == GO_ALONE, log)
    elif s.phase == NAME_JOKER:
        _name_joker(s, action - TRUMP_0, log)
    elif action == PASS:
        _pass(s, player, log)
    else:
        _make(s, player, action - TRUMP_0, log)


# ---------------------------------------------------------------------------------------------------------------
# Making trumps


@kernel(inline=True)
def _name_joker(s, suit, log):
    """The dealer names the suit of the joker, and then the cards are dealt (2.3)."""
    s.suit_up = suit
    ev.log_note(log, state.NAMES_JOKER, s.dealer, suit)
    deal_hands(s, HAND_SIZE, state.DEALT, state.STOCK, state.HAND, log)
    _begin_bidding(s)


@kernel(inline=True)
def _pass(s, player, log):
    """Four passes turn the upcard down, and eight end the hand (3.3)."""
    s.passes += 1
    s.current_player = wrap(player + 1, NUM_PLAYERS)
    ev.log_note(log, state.PASSES, player, 0)
    if s.passes == NUM_PLAYERS:
        s.phase = CALL
        ev.log_note(log, state.TURNS_DOWN, s.dealer, 0)
    elif s.passes == 2 * NUM_PLAYERS:
        ev.log_note(log, state.PASSED_OUT, ev.NO_PLAYER, 0)
        _end_hand(s, 0, 0, log)


@kernel(inline=True)
def _make(s, player, suit, log):
    """`player` makes a suit trumps (3.2, 3.3); the dealer takes the upcard if it was ordered up (3.4)."""
    s.trump, s.maker = suit, player
    ev.log_set(log, state.CALLS if s.phase == CALL else state.ORDERS, player, state.TRUMP, suit + 1)
    if s.phase == CALL:
        _ask_maker(s, log)
        return
    dealer = np.int64(s.dealer)
    s.hands[dealer] |= np.int64(1) << s.upcard
    ev.log_move(log, state.TAKES_UP, dealer, s.upcard, state.TURNED_UP, state.HAND + dealer, ev.EVERYBODY)
    s.phase, s.current_player = DISCARD, dealer


@kernel(inline=True)
def _lay_away(s, dealer, card, log):
    """The dealer lays a card face down; all know that it is not the upcard, unless that is allowed (3.4)."""
    s.hands[dealer] ^= np.int64(1) << card
    s.laid_away = card
    ev.log_move(log, state.LAYS_AWAY, dealer, card, state.HAND + dealer, state.LAID_AWAY + dealer, 1 << dealer)
    if not s.rules.discard_upcard:
        ev.log_reveal(log, state.KEEPS, dealer, s.upcard, state.HAND + dealer, 1, ev.EVERYBODY)
    _ask_maker(s, log)


@kernel
def _ask_maker(s, log):
    """The maker decides whether to play alone, unless they must (3.5)."""
    s.phase, s.current_player = ALONE, s.maker
    if s.rules.partner_assist_alone and is_taken(s) and s.maker == partner_of(s.dealer):
        _decide(s, np.int64(s.maker), True, log)


@kernel(inline=True)
def _decide(s, player, alone, log):
    """`player` plays alone or not; then defenders are asked (3.5, 3.6), or the play begins."""
    s.alone[player] = alone
    ev.log_note(log, state.GOES_ALONE if alone else state.TAKES_PARTNER, player, 0)
    first = first_defender(s)
    if s.phase == ALONE and s.rules.lone_defender:
        s.phase, s.current_player = DEFEND, first
    elif s.phase == DEFEND and player == first and not alone:
        s.current_player = partner_of(first)
    else:
        _begin_play(s)


@kernel(inline=True)
def first_defender(s):
    """Return the first defender from the dealer's left (3.6)."""
    left = wrap(s.dealer + 1, NUM_PLAYERS)
    return left if side_of(left, NUM_SIDES) != side_of(s.maker, NUM_SIDES) else wrap(left + 1, NUM_PLAYERS)


@kernel(inline=True)
def _begin_play(s):
    """The player left of the dealer leads, or left of a lone maker; the next one if that player sits out (4.1)."""
    from_maker = s.rules.alone_lead == state.LEFT_OF_MAKER and s.alone[s.maker]
    s.phase = PLAY
    s.leader = s.current_player = next_in_hand(s, np.int64(s.maker if from_maker else s.dealer))


# ---------------------------------------------------------------------------------------------------------------
# Play and score


@kernel(inline=True)
def _play(s, card, log):
    """Play a card; the last one of a trick ends it (4.2 to 4.4)."""
    winner = _take_turn(s, card, log)
    if winner == ev.NO_PLAYER:
        return
    for p in range(NUM_PLAYERS):
        if not sits_out(s, p):
            s.won[winner] |= np.int64(1) << s.played[p, s.trick - 1]
            ev.log_move_all(log, state.TAKES, p, state.TRICK + p, state.WON + winner)
    side = side_of(winner, NUM_SIDES)
    s.tricks_won[side] += 1
    ev.log_set(log, state.WINS_TRICK, winner, state.TRICKS_WON + side, s.tricks_won[side])
    if s.trick == NUM_TRICKS:
        _score(s, log)


@kernel(inline=True)
def _score(s, log):
    """Find which side scores, and what (5.1, 5.2)."""
    makers = side_of(s.maker, NUM_SIDES)
    tricks = np.int64(s.tricks_won[makers])
    if tricks >= TRICKS_TO_MAKE:
        march = 4 if s.alone[s.maker] else 2
        _end_hand(s, makers, march if tricks == NUM_TRICKS else 1, log)
        return
    ev.log_note(log, state.EUCHRED, s.maker, 0)
    defender = first_defender(s)
    points = np.int64(s.rules.alone_euchre) if s.alone[s.maker] else 2
    if s.alone[defender] or s.alone[partner_of(defender)] or (s.rules.super_euchre and tricks == 0):
        points = MOST_POINTS
    _end_hand(s, 1 - makers, points, log)


@kernel
def _end_hand(s, side, points, log):
    """`side` scores; then the game ends, or the next player deals (6.1 to 6.4)."""
    s.scores[side] += points
    s.hand_points[s.num_hands - 1, side] = points
    if points:
        ev.log_set(log, state.SCORES, side, state.SCORE + side, s.scores[side])
    if s.rules.target == NONE:
        pay_stake(s, 1 - side, points, NUM_SIDES)
    elif s.scores[side] >= s.rules.target:
        ev.log_note(log, state.WINS, side, 0)
        pay_stake(s, 1 - side, 1, NUM_SIDES)
    elif s.num_hands == MAX_HANDS:
        ev.log_note(log, state.DRAWN, ev.NO_PLAYER, MAX_HANDS)
        s.terminal = 1
    else:
        _gather(s, log)
        s.dealer = wrap(s.dealer + 1, NUM_PLAYERS)
        _begin_hand(s, NO_DECK, log)


@kernel(inline=True)
def _gather(s, log):
    """Clear the table, and keep what players know about the cards of the hand that is over."""
    s.last_upcard, s.last_laid_away, s.last_was_taken = s.upcard, s.laid_away, is_taken(s)
    ev.log_clear(log, state.CLEAR_TABLE)
    ev.log_set(log, state.NO_TRUMPS_YET, ev.NO_PLAYER, state.TRUMP, 0)
    for p in range(NUM_PLAYERS):
        s.last_won[p], s.last_hands[p] = s.won[p], s.hands[p]
        s.hands[p] = s.won[p] = s.alone[p] = 0
    for side in range(NUM_SIDES):
        s.tricks_won[side] = 0
        ev.log_set(log, state.NO_TRICKS_YET, side, state.TRICKS_WON + side, 0)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or the most that a hand can cost (6.5)."""
    leave(s, player, state.FORFEITS, log)
    stake = MOST_POINTS if s.rules.target == NONE else 1
    pay_stake(s, side_of(player, NUM_SIDES), stake, NUM_SIDES)


# ---------------------------------------------------------------------------------------------------------------
# Spaces

max_legal = HAND_SIZE + 1


def num_actions(options):
    """Return the number of ids; that of the joker is the last."""
    return PLAY_JOKER + options.joker


def deck(options):
    """Return the cards, the joker only if it is in the game."""
    return np.arange(JOKER + options.joker, dtype=np.int16)


def max_length(options):
    """Return the most decisions: in each hand the suit of the joker, eight bids (or four and a card laid away), who
    plays alone, and the cards.
    """
    hand = options.joker + 2 * NUM_PLAYERS + 1 + 2 * options.lone_defender + NUM_PLAYERS * HAND_SIZE
    return hand * _most_hands(options)


def _most_hands(options):
    """Return the most hands: each scores a point, unless everybody passes (6.4)."""
    if options.target is None:
        return 1
    return NUM_SIDES * (options.target - 1) + 1 if options.stick_the_dealer else MAX_HANDS


def returns(options):
    """Return the bounds: the points of a hand, or a match won or lost (6.1, 6.2)."""
    return win_or_loss(NUM_SIDES) if options.target else Returns(-MOST_POINTS, MOST_POINTS, 0, "points")
