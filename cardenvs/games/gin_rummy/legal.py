"""Legal actions of gin rummy, and why an action is illegal. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.gin_rummy import actions, melds, state
from cardenvs.kits.listing import list_bits


@kernel
def legal_actions(s, out):
    """List the legal actions of the player to act, ascending (3, 4)."""
    if s.phase == state.DISCARD:
        return _legal_discard(s, out)
    if s.phase == state.DRAW:
        return _legal_draw(s, out)
    if s.phase == state.FIRST_UPCARD:
        out[0] = actions.TAKE_UPCARD
        out[1] = actions.PASS
        return 2
    if s.phase == state.WALL:
        return _legal_wall(s, out)
    return _legal_layoff(s, out)


@kernel
def _legal_draw(s, out):
    """List taking the upcard, unless both players have just refused it, and drawing from the stock (3.2, 3.3)."""
    if s.num_passes == state.NUM_PLAYERS:
        out[0] = actions.DRAW_STOCK
        return 1
    out[0] = actions.TAKE_UPCARD
    out[1] = actions.DRAW_STOCK
    return 2


@kernel
def _legal_discard(s, out):
    """List discards, knocks and big gin (3.3, 4.1, 4.3)."""
    cards = s.hands[s.current_player] & ~forbidden_discard(s)
    return _list_knocks(s, out, list_bits(cards, 0, out, 0))


@kernel
def _legal_wall(s, out):
    """List pass, and knocks with the last discard (3.8)."""
    out[0] = actions.PASS
    return _list_knocks(s, out, 1)


@kernel
def _list_knocks(s, out, n):
    hand = knocking_hand(s)
    n = list_bits(melds.knock_discards(hand, np.int64(s.knock_limit), forbidden_discard(s)), actions.KNOCK_0, out, n)
    if s.rules.big_gin and melds.min_deadwood(hand) == 0:
        out[n] = actions.BIG_GIN
        n += 1
    return n


@kernel
def _legal_layoff(s, out):
    """List the defender's cards that fit on the knocker's melds, and done (4.8)."""
    n = list_bits(_fitting_cards(s, False), actions.LAY_OFF_ON_RUN_0, out, 0)
    n = list_bits(_fitting_cards(s, True), actions.LAY_OFF_ON_SET_0, out, n)
    out[n] = actions.DONE
    return n + 1


@kernel
def forbidden_discard(s):
    """Return the card that may not be discarded because it was taken in this turn, as a bit set, or 0 (3.4)."""
    if s.rules.same_card_discard:
        return 0
    if s.phase == state.WALL:
        return 1 << top_discard(s)
    return 1 << s.taken if s.taken != state.NO_CARD else 0


@kernel
def knocking_hand(s):
    """Return the eleven cards of the player to act as a bit set; at the wall they include the last discard."""
    hand = s.hands[s.current_player]
    return hand | 1 << top_discard(s) if s.phase == state.WALL else hand


@kernel
def top_discard(s):
    """Return the top card of the discard pile, which must not be empty."""
    return np.int64(s.discard_pile[s.num_discards - 1])


@kernel
def has_layoffs(s):
    """Return whether the defender has a card to lay off; never against gin (4.6)."""
    return s.hands[s.knocker] != 0 and _fitting_cards(s, False) | _fitting_cards(s, True) != 0


@kernel
def _fitting_cards(s, on_set):
    """Return the defender's cards that can be laid off next on the knocker's sets or, if not `on_set`, runs."""
    cards = 0
    for k in range(melds.MAX_MELDS):
        meld = s.melds[s.knocker, k]
        if melds.is_set(meld) == on_set:
            cards |= melds.next_layoffs(meld)
    return cards & s.hands[1 - s.knocker]


# ---------------------------------------------------------------------------------------------------------------
# Why an action is not legal


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else a code of actions.py."""
    if s.phase == state.DISCARD:
        return _explain_discard(s, action)
    if s.phase == state.DRAW:
        return _explain_draw(s, action)
    if s.phase == state.FIRST_UPCARD:
        return 0 if action in (actions.TAKE_UPCARD, actions.PASS) else actions.MUST_ANSWER_UPCARD
    if s.phase == state.WALL:
        return _explain_wall(s, action)
    return _explain_layoff(s, action)


@kernel
def _explain_draw(s, action):
    if action == actions.TAKE_UPCARD and s.num_passes == state.NUM_PLAYERS:
        return actions.UPCARD_REFUSED
    if action in (actions.TAKE_UPCARD, actions.DRAW_STOCK):
        return 0
    return actions.CANNOT_PASS if action == actions.PASS else actions.MUST_DRAW_FIRST


@kernel
def _explain_discard(s, action):
    if action in (actions.TAKE_UPCARD, actions.DRAW_STOCK):
        return actions.HAS_DRAWN
    if action == actions.PASS:
        return actions.CANNOT_PASS
    if action >= actions.KNOCK_0:
        return _explain_knock(s, action)
    return _explain_card(s, s.hands[s.current_player], action)


@kernel
def _explain_wall(s, action):
    if action == actions.PASS:
        return 0
    return _explain_knock(s, action) if action >= actions.KNOCK_0 else actions.AT_THE_WALL


@kernel
def _explain_knock(s, action):
    hand = knocking_hand(s)
    if action > actions.BIG_GIN:
        return actions.NO_KNOCK_YET
    if action == actions.BIG_GIN:
        if not s.rules.big_gin:
            return actions.BIG_GIN_OFF
        return 0 if melds.min_deadwood(hand) == 0 else actions.NOT_ALL_MELDED
    card = action - actions.KNOCK_0
    code = _explain_card(s, hand, card)
    if code == 0 and melds.min_deadwood(hand ^ 1 << card) > s.knock_limit:
        return actions.TOO_MUCH_DEADWOOD
    return code


@kernel
def _explain_card(s, hand, card):
    """Return the code of why `card` cannot be discarded from `hand`, or 0."""
    bit = 1 << card
    if not hand & bit:
        return actions.NOT_HELD
    return actions.JUST_TAKEN if bit & forbidden_discard(s) else 0


@kernel
def _explain_layoff(s, action):
    if action < actions.LAY_OFF_ON_RUN_0:
        return actions.MUST_LAY_OFF
    if action == actions.DONE:
        return 0
    on_set = action >= actions.LAY_OFF_ON_SET_0
    bit = 1 << action - (actions.LAY_OFF_ON_SET_0 if on_set else actions.LAY_OFF_ON_RUN_0)
    if not s.hands[s.current_player] & bit:
        return actions.NOT_HELD
    if _fitting_cards(s, on_set) & bit:
        return 0
    return actions.FITS_NO_SET if on_set else actions.FITS_NO_RUN
