"""Legal actions of Uno, and why an action is illegal. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.uno import actions, state
from cardenvs.games.uno.cards import (
    COLOUR_SETS,
    COLOURED,
    DRAW_TWO,
    MATCHING,
    NUM_COLOURS,
    NUM_SYMBOLS,
    SYMBOL_SETS,
    WILD_BIT,
    WILD_FOUR_BIT,
    WILD_FOUR_SYMBOL,
)
from cardenvs.kits.listing import list_bits

_OF_COLOUR = (1 << COLOURED) - 1


@kernel(inline=True)
def matching(s):
    """Return the coloured cards that match the card on top, as a bit set (4.1)."""
    return MATCHING[s.colour, s.symbol]


@kernel(inline=True)
def top_kinds(s):
    """Return the kind of the last card as a bit set, if it is coloured, else nothing."""
    return SYMBOL_SETS[s.symbol] & COLOUR_SETS[s.colour]


@kernel(inline=True)
def playable(s, player):
    """Return the cards that `player` may play in an ordinary turn, as a bit set of the hand and the card just drawn."""
    held = s.held[player]
    if s.drawn != state.NO_CARD:
        held |= np.int64(1) << s.drawn
    cards = held & (matching(s) | WILD_BIT)
    if held & WILD_FOUR_BIT and _may_play_wild_four(s, held, cards):
        cards |= WILD_FOUR_BIT
    return cards


@kernel(inline=True)
def _may_play_wild_four(s, held, others):
    """Return whether Wild Draw Four may be played; `others` are the other cards that may be (4.6, 8.2)."""
    if s.rules.rlcard:
        return others == 0
    return state.may_challenge(s) or held & COLOUR_SETS[s.colour] == 0


@kernel(inline=True)
def stackable(s):
    """Return the cards that may be added to a stack (7.1)."""
    if s.symbol == WILD_FOUR_SYMBOL:
        return WILD_FOUR_BIT
    return SYMBOL_SETS[DRAW_TWO] | (WILD_FOUR_BIT if s.rules.stacking == state.ANY_STACKS else np.int64(0))


@kernel(inline=True)
def cards_to_play(s):
    """Return the cards that the player to act may play now, as a bit set."""
    player = s.current_player
    if s.phase == state.PLAY:
        return playable(s, player)
    if s.phase == state.DRAWN:
        return playable(s, player) & np.int64(1) << s.drawn
    if s.phase == state.STACK:
        return s.held[player] & stackable(s)
    if s.phase == state.JUMP:
        return s.held[player] & top_kinds(s)
    return np.int64(0)


@kernel(inline=True)
def may_draw(s, cards):
    """Return whether a player who may play `cards` may draw instead (4.2, 7.3, 8.2)."""
    return cards == 0 or not (s.rules.forced_play or s.rules.rlcard)


@kernel
def legal_actions(s, out):
    """List the legal actions of the player to act, ascending."""
    cards = cards_to_play(s)
    n = _list_plays(cards, out)
    if s.phase == state.PLAY or s.phase == state.STACK:
        if s.phase == state.STACK or may_draw(s, cards):
            out[n] = actions.DRAW
            n += 1
    elif s.phase == state.CHALLENGE:
        out[n] = actions.ACCEPT
        out[n + 1] = actions.CHALLENGE
        n += 2
    elif s.phase == state.NAME:
        for colour in range(NUM_COLOURS):
            out[n] = actions.NAME_0 + colour
            n += 1
    elif s.phase == state.SWAP:
        for p in range(s.rules.num_players):
            if p != s.current_player:
                out[n] = actions.SWAP_0 + p
                n += 1
    else:
        out[n] = actions.PASS
        n += 1
        if s.phase == state.SAY or s.phase == state.CATCH:
            out[n] = actions.SAY_UNO if s.phase == state.SAY else actions.CATCH
            n += 1
    return n


@kernel(inline=True)
def _list_plays(cards, out):
    """List the actions that play a bit set of cards."""
    wilds = cards >> NUM_COLOURS * COLOURED
    plays = np.int64(0)
    for colour in range(NUM_COLOURS):
        of_colour = cards >> COLOURED * colour & _OF_COLOUR | wilds << COLOURED
        plays |= of_colour << NUM_SYMBOLS * colour
    return list_bits(plays, 0, out, 0)


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else why not, as a code of actions.py."""
    phase = s.phase
    if action < actions.DRAW:
        return _explain_play(s, actions.kind_played(action))
    if action == actions.DRAW:
        if phase == state.STACK or (phase == state.PLAY and may_draw(s, playable(s, s.current_player))):
            return 0
        return actions.MUST_PLAY if phase == state.PLAY else actions.WRONG_PHASE
    if action == actions.PASS:
        passes = phase == state.DRAWN or phase == state.SAY or phase == state.CATCH or phase == state.JUMP
        return 0 if passes else actions.WRONG_PHASE
    if action < actions.NAME_0:
        return 0 if phase == state.CHALLENGE else actions.WRONG_PHASE
    if action < actions.SAY_UNO:
        return 0 if phase == state.NAME else actions.WRONG_PHASE
    return _explain_house_rule(s, action)


@kernel
def _explain_house_rule(s, action):
    if action >= actions.SWAP_0:
        if s.phase != state.SWAP:
            return actions.WRONG_PHASE
        return actions.OWN_HAND if action - actions.SWAP_0 == s.current_player else 0
    if s.rules.uno_call == state.AUTO_CALL:
        return actions.NOT_IN_GAME
    wanted = state.SAY if action == actions.SAY_UNO else state.CATCH
    return 0 if s.phase == wanted else actions.WRONG_PHASE


@kernel
def _explain_play(s, kind):
    bit = np.int64(1) << kind
    phase, player = s.phase, s.current_player
    if cards_to_play(s) & bit:
        return 0
    if phase != state.PLAY and phase != state.DRAWN and phase != state.STACK and phase != state.JUMP:
        return actions.WRONG_PHASE
    if phase == state.DRAWN and kind != s.drawn:
        return actions.ONLY_DRAWN
    if phase != state.DRAWN and not s.held[player] & bit:
        return actions.NOT_HELD
    if phase == state.STACK:
        return actions.NOT_ON_STACK
    if phase == state.JUMP:
        return actions.NOT_IDENTICAL
    if bit == WILD_FOUR_BIT:
        return actions.HAS_OTHER if s.rules.rlcard else actions.HAS_COLOUR
    return actions.NO_MATCH
