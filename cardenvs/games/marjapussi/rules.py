"""Rules of Marjapussi. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.marjapussi import state
from cardenvs.games.marjapussi.cards import TRICKS, led_suit, points_of
from cardenvs.games.marjapussi.marriages import (
    answer,
    answers,
    ask,
    calls,
    declare_own,
    explain_call,
    may_call,
    open_suits,
    set_trump,
    show_marriages,
)
from cardenvs.games.marjapussi.scoring import score_hand
from cardenvs.games.marjapussi.state import (
    ACES,
    ANSWER,
    MARKS,
    MAX_TRICKS,
    NAME_0,
    NO_TARGET,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    OWN_0,
    PACK,
    WHOLE,
)
from cardenvs.kits.deck import NO_CARD, deal_hands
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave, pay_sides, pay_winner, side_of
from cardenvs.kits.tricks import clear_tricks

_SPADES = PACK.suit_sets[PACK.suits.index("s")]
_playable, _explain_card = TRICKS.playable, TRICKS.explain
_take_turn, _gather = TRICKS.take_turn, TRICKS.gather


@kernel(inline=True)
def hand_size(s):
    """The cards of each player, and the tricks of a hand (2.1)."""
    return MAX_TRICKS - s.rules.pack


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand (2.1)."""
    s.dealer = s.rules.dealer
    _deal_hand(s, given, log)


@kernel
def _deal_hand(s, given, log):
    """Deal all cards; the player after the dealer leads (2.1, 2.2)."""
    size = NUM_PLAYERS * hand_size(s)
    for k in range(NUM_CARDS):
        s.deck[k] = NUM_CARDS - size + k if k < size else NO_CARD
    start_stream(s, DEAL, s.num_hands)
    shuffle_rest(s, s.deck, size, given)
    s.num_hands += 1
    s.num_dealt = 0
    ev.log_set(log, state.NEW_HAND, ev.NO_PLAYER, state.HAND_NUMBER, s.num_hands)
    ev.log_set(log, state.IS_DEALER, s.dealer, state.DEALER, s.dealer)
    ev.log_create(log, state.SHUFFLE, state.DECK, size)
    deal_hands(s, hand_size(s), state.DEALT, state.DECK, state.HAND, log)
    set_trump(s, -1, log)
    for side in range(NUM_SIDES):
        _set_points(s, side, 0, log)
        s.declared[side] = s.bonus[side] = 0
        if s.bagged[side]:
            ev.log_note(log, state.IN_BAG, side, 0)
    clear_tricks(s)
    for p in range(NUM_PLAYERS):
        s.won[p] = s.lacks[p] = 0
        s.pairs[p] = s.halves[p] = s.no_pairs[p] = s.some_pair[p] = s.silent[p] = 0
        s.shown_pairs[p] = s.shown_no_pairs[p] = 0
    s.num_calls = 0
    s.leader = s.current_player = wrap(s.dealer + 1, NUM_PLAYERS)
    show_marriages(s, log)


@kernel(inline=True)
def _set_points(s, side, points, log):
    s.points[side] = points
    ev.log_set(log, state.HAS_POINTS, side, state.POINTS + side, points)


# ---------------------------------------------------------------------------------------------------------------
# What is legal, and why not


@kernel
def playable(s):
    """The cards that the player to act may play, as a bit set (3)."""
    cards = _playable(s, s.current_player)
    if s.trick == 0 and s.rules.first_lead != state.ANY_LEAD and led_suit(s) < 0:
        if cards & ACES:
            return cards & ACES
        if s.rules.first_lead == state.LEAD_ACE_OR_SPADE and cards & _SPADES:
            return cards & _SPADES
    return cards


@kernel(inline=True)
def legal_actions(s, out):
    """Cards and calls, or answers."""
    return list_bits(answers(s) if s.phase == ANSWER else playable(s) | calls(s), 0, out, 0)


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if s.phase == ANSWER:
        if action < NAME_0:
            return state.MUST_NAME
        return 0 if answers(s) >> action & 1 else state.NOT_HIS
    if action >= NAME_0:
        return state.NOT_ASKED
    if action >= OWN_0:
        return explain_call(s, action)
    code = _explain_card(s, s.current_player, action)
    if code or playable(s) >> action & 1:
        return code
    return state.LEADS_ACE if playable(s) & ACES else state.LEADS_SPADE


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(s, action, log):
    """Play a card, call, or answer."""
    if action < OWN_0:
        _play(s, action, log)
    elif action < WHOLE:
        s.num_calls += 1
        declare_own(s, action - OWN_0, log)
    elif action < NAME_0:
        s.num_calls += 1
        ask(s, action, log)
    else:
        answer(s, action - NAME_0, log)


# ---------------------------------------------------------------------------------------------------------------
# Tricks


@kernel(inline=True)
def _play(s, card, log):
    """Play a card; the last one of a trick ends it (3)."""
    if led_suit(s) < 0:
        _note_lead(s, np.int64(s.current_player), card)
    winner = _take_turn(s, card, log)
    if winner != ev.NO_PLAYER:
        _end_trick(s, winner, log)


@kernel(inline=True)
def _note_lead(s, player, card):
    """Note what a lead shows: no call though one was possible; no ace or spade where one must be led (3.2, 8.2)."""
    if may_call(s):
        s.silent[player] |= open_suits(s)
    if s.trick == 0 and s.rules.first_lead != state.ANY_LEAD and not ACES >> card & 1:
        s.lacks[player] |= ACES
        if s.rules.first_lead == state.LEAD_ACE_OR_SPADE and not _SPADES >> card & 1:
            s.lacks[player] |= _SPADES


@kernel(inline=True)
def _end_trick(s, winner, log):
    """The winner takes the cards and leads, or the hand is over (3.4, 5)."""
    points = np.int64(0)
    for p in range(NUM_PLAYERS):
        card = np.int64(s.played[p, s.trick - 1])
        points += points_of(s, card)
        s.won[winner] |= np.int64(1) << card
    _gather(s, winner, log)
    ev.log_note(log, state.WINS_TRICK, winner, points)
    side = side_of(winner, NUM_SIDES)
    _set_points(s, side, s.points[side] + points, log)
    s.num_calls = 0
    if s.trick == hand_size(s):
        _end_hand(s, side, log)
    else:
        show_marriages(s, log)


# ---------------------------------------------------------------------------------------------------------------
# Score


@kernel
def _end_hand(s, last, log):
    """Score a hand whose last trick side `last` has won; deal the next one, or end the match (6, 7)."""
    score_hand(s, last, log)
    if s.terminal:
        return
    if s.rules.match_target == NO_TARGET:
        pay_sides(s, np.int64(s.scores[0]) - s.scores[1])
        s.terminal = 1
    elif s.num_hands == state.MAX_HANDS:
        ev.log_note(log, state.DRAWN, ev.NO_PLAYER, s.num_hands)
        s.terminal = 1
    else:
        _deal_next(s, log)


@kernel(inline=True)
def _deal_next(s, log):
    """Note who is in the bag, and let the next player deal (2.1, 7.3)."""
    for side in range(NUM_SIDES):
        s.bagged[side] = s.rules.bag and not (s.won[side] | s.won[side + NUM_SIDES])
    for p in range(NUM_PLAYERS):
        s.last_played[p] = s.cards_played[p]
    s.dealer = wrap(s.dealer + 1, NUM_PLAYERS)
    ev.log_clear(log, state.CLEAR_TABLE)
    _deal_hand(s, NO_DECK, log)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or all marks or game points of the hand (9.1)."""
    leave(s, player, state.FORFEITS, log)
    winner = 1 - side_of(player, NUM_SIDES)
    if s.rules.match_target != NO_TARGET:
        ev.log_note(log, state.WINS, winner, 0)
        pay_winner(s, winner, NUM_SIDES)
    else:
        most = state.MOST_MARKS if s.rules.scoring == MARKS else state.MOST_GAME_POINTS
        pay_sides(s, most if winner == 0 else -most)
        s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = NUM_ACTIONS
max_legal = MAX_TRICKS + 1 + NUM_SUITS  # a hand, a whole marriage, and one call for each suit, own or half


def deck(options):
    """The cards of the pack (1.2)."""
    size = int(options.pack)
    return np.arange(NUM_CARDS - size, NUM_CARDS, dtype=np.int16)


def max_length(options):
    """All cards, all calls, and an answer to be chosen for each suit, in the most hands of a match."""
    size = int(options.pack)
    hands = 1 if options.match_target is None else state.MAX_HANDS
    return hands * (size + size // NUM_PLAYERS * options.calls_per_lead + NUM_SUITS)


def returns(options):
    """A match won or lost, or the difference of what a hand scores: one side at most 7 marks or 2 game points."""
    if options.match_target is not None:
        return win_or_loss(NUM_SIDES)
    most = state.MOST_MARKS if options.scoring == "marks" else state.MOST_GAME_POINTS
    return Returns(-most, most, 0, "marks" if options.scoring == "marks" else "game points")
