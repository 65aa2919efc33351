"""Marriages: what may be called and answered, and what this shows. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.marjapussi import state
from cardenvs.games.marjapussi.cards import both_of, king_and_queen, led_suit, one_of, partner_of
from cardenvs.games.marjapussi.scoring import score
from cardenvs.games.marjapussi.state import (
    ANSWER,
    HALF_0,
    KING,
    MARKS,
    NAME_0,
    NUM_SIDES,
    NUM_SUITS,
    OWN_0,
    PLAY,
    QUEEN,
    WHOLE,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.matches import side_of


@kernel(inline=True)
def open_suits(s):
    """The suits whose marriage nobody has declared and whose king and queen nobody has played (4.1, 4.5)."""
    hidden = s.hands[0] | s.hands[1] | s.hands[2] | s.hands[3]
    return both_of(hidden) & ~np.int64(s.declared[0] | s.declared[1])


@kernel(inline=True)
def may_call(s):
    """Whether the player to act may call now, if there is something to call (4.2, 7.3)."""
    return (
        led_suit(s) < 0
        and (s.trick > 0 or s.rules.declare_first_lead)
        and s.num_calls < s.rules.calls_per_lead
        and not s.bagged[side_of(s.current_player, NUM_SIDES)]
    )


@kernel(inline=True)
def may_ask(s, own):
    """Whether the options allow a question, of a player who could declare the marriages `own` (4.4, 4.6)."""
    asks = s.rules.ask == state.ASK_WHOLE or s.rules.ask == state.ASK_BOTH
    return asks and not (s.rules.ask_only_without_own and own)


@kernel
def calls(s):
    """The calls of the player to act, as a bit set of actions (4.2 to 4.7)."""
    if not may_call(s):
        return np.int64(0)
    possible, hand = open_suits(s), s.hands[s.current_player]
    own = possible & both_of(hand)
    found = own
    if s.rules.ask == state.ASK_OPEN:
        found |= possible & both_of(s.hands[partner_of(s.current_player)])
    found <<= OWN_0
    if possible and may_ask(s, own):
        found |= np.int64(1) << WHOLE
        if s.rules.ask == state.ASK_BOTH:
            found |= (possible & one_of(hand)) << HALF_0
    return found


@kernel(inline=True)
def answers(s):
    """The answers of a player who must choose one of their marriages, as a bit set of actions (4.4)."""
    return (open_suits(s) & both_of(s.hands[s.current_player])) << NAME_0


@kernel
def explain_call(s, action):
    """0 if a call is legal, else one of the codes of state.py."""
    if calls(s) >> action & 1:
        return 0
    if led_suit(s) >= 0:
        return state.ONLY_LEADER
    if s.bagged[side_of(s.current_player, NUM_SIDES)]:
        return state.IN_THE_BAG
    if s.trick == 0 and not s.rules.declare_first_lead:
        return state.NO_TRICK_YET
    if s.num_calls >= s.rules.calls_per_lead:
        return state.HAS_CALLED
    possible = open_suits(s)
    if action >= WHOLE:
        if not may_ask(s, np.int64(0)) or (action >= HALF_0 and s.rules.ask != state.ASK_BOTH):
            return state.NO_SUCH_CALL
        if not may_ask(s, possible & both_of(s.hands[s.current_player])):
            return state.HAS_OWN
    suit = action - OWN_0 if action < WHOLE else action - HALF_0
    if action == WHOLE or not possible >> suit & 1:
        return state.SUIT_IS_GONE
    return state.NO_MARRIAGE if action < WHOLE else state.NO_HALF


# ---------------------------------------------------------------------------------------------------------------
# Calls and answers


@kernel(inline=True)
def declare_own(s, suit, log):
    """Declare a marriage held, or with ask=open one that the partner holds (4.4, 4.7)."""
    player = np.int64(s.current_player)
    owner = player if both_of(s.hands[player]) >> suit & 1 else partner_of(player)
    ev.log_note(log, state.DECLARES, owner, suit)
    _place_marriage(s, owner, suit, log)
    _declare(s, side_of(player, NUM_SIDES), suit, log)


@kernel(inline=True)
def ask(s, action, log):
    """Ask the partner, who tells the truth (4.4). Note what the question and the answer show (8.4 to 8.7)."""
    player = np.int64(s.current_player)
    possible = open_suits(s)
    s.silent[player] |= possible
    if s.rules.ask_only_without_own:
        s.no_pairs[player] |= possible
    if action == WHOLE:
        _ask_whole(s, player, possible, log)
    else:
        _ask_half(s, player, action - HALF_0, log)


@kernel(inline=True)
def _ask_whole(s, player, possible, log):
    partner = partner_of(player)
    found = possible & both_of(s.hands[partner])
    ev.log_note(log, state.ASKS_WHOLE, player, 0)
    if found & (found - 1):
        ev.log_note(log, state.CHOOSES, partner, 0)
        s.phase = ANSWER
        s.current_player = partner
        return
    s.no_pairs[partner] |= possible & ~found
    if found:
        _answer_whole(s, partner, lowest_card(found), log)
    else:
        ev.log_note(log, state.ANSWERS_NO, partner, 0)


@kernel(inline=True)
def _ask_half(s, player, suit, log):
    partner = partner_of(player)
    ev.log_note(log, state.ASKS_HALF, player, suit)
    s.halves[player] |= 1 << suit
    if one_of(s.hands[partner]) >> suit & 1:
        s.halves[partner] |= 1 << suit
        ev.log_note(log, state.ANSWERS_YES, partner, suit)
        _declare(s, side_of(player, NUM_SIDES), suit, log)
    else:  # the asker holds one of the two, so the partner has neither
        s.lacks[partner] |= king_and_queen(suit)
        ev.log_note(log, state.ANSWERS_NO, partner, 0)


@kernel(inline=True)
def answer(s, suit, log):
    """The partner has chosen one of several marriages, so there is another one (4.4, 8.5)."""
    partner = np.int64(s.current_player)
    s.phase = PLAY
    s.current_player = s.leader
    _answer_whole(s, partner, suit, log)
    s.some_pair[partner] = open_suits(s)


@kernel(inline=True)
def _answer_whole(s, partner, suit, log):
    ev.log_note(log, state.ANSWERS_YES, partner, suit)
    _place_marriage(s, partner, suit, log)
    _declare(s, side_of(partner, NUM_SIDES), suit, log)


@kernel(inline=True)
def _place_marriage(s, owner, suit, log):
    """Let all know who holds a marriage (8.3). It settles which pair of `some_pair` there is."""
    s.pairs[owner] |= 1 << suit
    s.some_pair[owner] = 0
    for rank in (QUEEN, KING):
        ev.log_reveal(log, state.SHOWS, owner, rank * NUM_SUITS + suit, state.HAND + owner, 1, ev.EVERYBODY)


@kernel(inline=True)
def _declare(s, side, suit, log):
    """A side declares a marriage: the first makes trumps; score it (4.3, 7.1, 7.2)."""
    is_first = not (s.declared[0] | s.declared[1])
    s.declared[side] |= 1 << suit
    if is_first or s.rules.trump_change:
        set_trump(s, suit, log)
    if s.rules.scoring == MARKS:
        score(s, side, 2 if is_first else 1, state.SCORES_MARRIAGE, log)
    else:
        s.bonus[side] += s.rules.marriage_points[0 if is_first else 1]


@kernel(inline=True)
def set_trump(s, suit, log):
    """Make a suit trumps, or none with -1."""
    s.trump = suit
    ev.log_set(log, state.TRUMPS, ev.NO_PLAYER, state.TRUMP, suit + 1)


@kernel(inline=True)
def show_marriages(s, log):
    """With ask=open, the player who may call sees which marriages the partner holds (4.7, 8.8)."""
    player = np.int64(s.current_player)
    possible = open_suits(s)
    if s.rules.ask != state.ASK_OPEN or not may_call(s) or not possible:
        return
    if s.shown_pairs[player] | s.shown_no_pairs[player]:  # marriages that are still open were seen then
        return
    s.shown_pairs[player] = possible & both_of(s.hands[partner_of(player)])
    s.shown_no_pairs[player] = possible & ~np.int64(s.shown_pairs[player])
    audience = 1 << player
    shown = s.shown_pairs[player]
    ev.log_event(log, state.SEES, player, ev.UNKNOWN, ev.NO_PLACE, ev.NO_PLACE, shown, audience, audience)
