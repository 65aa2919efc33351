"""Legal actions of Canasta. Whether a turn can be completed is in completion.py; paragraph numbers are rules.md's."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.scratch import stack_copy
from cardenvs.games.canasta import actions, state
from cardenvs.games.canasta.actions import cards_laid, lay_action, lay_wild_action
from cardenvs.games.canasta.completion import can_complete, can_go_out, is_exempt, lay_on_trial, wild_room


@kernel
def legal_actions(s, out):
    """Write the legal actions, ascending, and return their number (3)."""
    if s.phase == state.DRAW:
        return _list_draws(s, out)
    if s.phase == state.ANSWER:
        out[0] = actions.YES
        out[1] = actions.NO
        return 2
    n = _list_turn(s, out)
    return n if n else _list_way_out(s, out)


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else a code of actions.py."""
    code = _explain(s, action)
    if code and s.phase != state.DRAW and s.phase != state.ANSWER and _is_way_out(s, action):
        return 0 if is_dead_end(s) else code
    return code


@kernel
def _explain(s, action):
    if action >= actions.LAY_WILD_0 and not s.rules.wild_only_melds:
        return actions.NOT_IN_GAME
    if s.phase == state.DRAW:
        return _explain_draw(s, action)
    if s.phase == state.ANSWER:
        return 0 if action == actions.YES or action == actions.NO else actions.WRONG_PHASE
    if action >= actions.LAY_0:
        return explain_lay(s, action)
    if s.phase == state.TAKE:
        ends_turn = action >= actions.DONE and action != actions.YES and action != actions.NO
        return actions.TOO_LOW if ends_turn else actions.WRONG_PHASE
    if action >= actions.DISCARD_0:
        face = action - actions.DISCARD_0
        return _explain_end(s, True) if s.hands[s.current_player, face] > 0 else actions.NOT_HELD
    if action == actions.DONE:
        return _explain_end(s, False)
    if action == actions.ASK:
        return 0 if _may_ask(s) else actions.NO_ASKING
    return actions.WRONG_PHASE


# ---------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _list_draws(s, out):
    n = 0
    if s.num_stock > 0:
        out[n] = actions.DRAW
        n += 1
    for action in range(actions.TAKE_WITH_PAIR, actions.TAKE_BY_ADDING + 1):
        if explain_take(s, action) == 0:
            out[n] = action
            n += 1
    if s.num_stock == 0 and not _must_take(s):
        out[n] = actions.END_DEAL
        n += 1
    return n


@kernel
def _explain_draw(s, action):
    if action == actions.DRAW:
        return 0 if s.num_stock > 0 else actions.NO_STOCK
    if action == actions.END_DEAL:
        if s.num_stock > 0:
            return actions.STOCK_LEFT
        return actions.MUST_TAKE if _must_take(s) else 0
    return explain_take(s, action) if action <= actions.TAKE_BY_ADDING else actions.WRONG_PHASE


@kernel
def _must_take(s):
    """Whether the player must take the pile because there is no stock (8.2)."""
    return s.rules.forced_take_on_empty_stock and explain_take(s, actions.TAKE_BY_ADDING) == 0


@kernel
def explain_take(s, action):
    """Return the code of why the pile may not be taken in a certain way, or 0 (6)."""
    p, top = np.int64(s.current_player), state.top_of_pile(s)
    side = state.side_of(s, p)
    if top == state.NO_CARD:
        return actions.NO_PILE
    rank = state.KIND_OF[top]
    if rank >= state.NUM_RANKS:
        return actions.BLOCKED
    if s.num_pile == 1 and s.hand_sizes[p] == 1:
        return actions.LAST_CARD
    frozen = s.pile_frozen or not s.has_opened[side]
    has_meld = s.naturals[side, rank] > 0
    if action == actions.TAKE_BY_ADDING:
        if not has_meld:
            return actions.HAS_NO_MELD
        if frozen:
            return actions.FROZEN
    elif has_meld and not frozen:
        return actions.HAS_MELD
    elif action != actions.TAKE_WITH_PAIR and frozen:
        return actions.FROZEN
    naturals, jokers, twos = cards_for(action)
    if s.kinds[p, rank] < naturals or s.kinds[p, state.JOKER] < jokers or s.kinds[p, state.TWO] < twos:
        return actions.NOT_HELD
    if jokers + twos > wild_room(s, naturals + 1):
        return actions.TOO_MANY_WILDS
    return 0 if _can_take(s, p, side, rank, naturals, jokers, twos) else actions.CANNOT_BE_COMPLETED


@kernel(inline=True)
def cards_for(action):
    """Return the naturals, jokers and twos from the hand with which a way of taking the pile melds its top card."""
    naturals = 2 if action == actions.TAKE_WITH_PAIR else 0 if action == actions.TAKE_BY_ADDING else 1
    return naturals, (1 if action == actions.TAKE_WITH_JOKER else 0), (1 if action == actions.TAKE_WITH_TWO else 0)


@kernel
def _can_take(s, player, side, rank, naturals, jokers, twos):
    """Whether the turn can be completed after the pile is taken so."""
    gain = s.num_pile - 1 - s.pile_reds
    needed = s.needed - state.KIND_POINTS[rank] * (naturals + 1)
    if needed <= 0 and s.hand_sizes[player] - naturals - jokers - twos + gain >= 2:
        return True
    rest = np.int64(state.RED_THREE)
    if needed <= 0 and gain == 1:  # gain is at most 1 here, or there would be two cards to hold
        for place in range(s.num_pile - 1):
            if state.KIND_OF[s.pile[place]] != state.RED_THREE:
                rest = state.KIND_OF[s.pile[place]]
    tried = stack_copy(s)
    lay_on_trial(tried, player, rank, naturals, jokers, twos)
    tried.naturals[side, rank] += 1
    tried.needed -= state.KIND_POINTS[rank]
    tried.num_pile -= 1
    tried.phase = state.TAKE if needed > 0 else state.MELD
    tried.has_taken = tried.has_laid = 1
    if rest != state.RED_THREE:
        tried.kinds[player, rest] += 1
        tried.hand_sizes[player] += 1
    return can_complete(tried, player)


# ---------------------------------------------------------------------------------------------------------------
# Melding and the end of a turn


@kernel
def _list_turn(s, out):
    n = 0
    p = np.int64(s.current_player)
    if s.phase == state.MELD:
        if _explain_end(s, False) == 0:
            out[n] = actions.DONE
            n += 1
        if _may_ask(s):
            out[n] = actions.ASK
            n += 1
        if _explain_end(s, True) == 0:
            for face in range(state.NUM_FACES):
                if s.hands[p, face] > 0:
                    out[n] = actions.DISCARD_0 + face
                    n += 1
    if _is_hopeless(s, p):
        return n
    for rank in range(s.first_meld, state.NUM_RANKS):
        n = _list_lays(s, p, rank, out, n)
    if s.kinds[p, state.BLACK_THREE] >= 3 and s.first_meld <= state.BLACK_MELD and s.phase == state.MELD:
        for number in range(3, s.kinds[p, state.BLACK_THREE] + 1):
            if completes(s, p, np.int64(state.BLACK_MELD), number, 0, 0):
                out[n] = actions.LAY_BLACK_0 + number - 3
                n += 1
    if s.rules.wild_only_melds and s.first_meld <= state.WILD_MELD:
        n = _list_wild_lays(s, p, out, n)
    return n


@kernel
def _is_hopeless(s, player):
    """Whether no initial meld is possible, which is soon found (5.1)."""
    if s.needed <= 0:
        return False
    tried = stack_copy(s)
    tried.has_laid = 1
    return not can_complete(tried, player)


@kernel
def _list_lays(s, player, rank, out, n):
    """List the ways to lay cards on the meld of a rank."""
    side = state.side_of(s, player)
    held, old, wilds = np.int64(s.kinds[player, rank]), np.int64(s.naturals[side, rank]), state.wilds_in(s, side, rank)
    jokers, twos = np.int64(s.kinds[player, state.JOKER]), np.int64(s.kinds[player, state.TWO])
    if old == 0 and held < 2:
        return n
    for k in range(0 if old > 0 else 2, held + 1):
        room = wild_room(s, old + k) - wilds
        for pair in range(actions.NUM_WILD_PAIRS):
            j, t = actions.JOKERS_OF[pair], actions.TWOS_OF[pair]
            if j > jokers or t > twos or j + t > room or k + j + t == 0 or old + wilds + k + j + t < 3:
                continue
            if completes(s, player, rank, k, j, t):
                out[n] = lay_action(rank, k, j, t)
                n += 1
    return n


@kernel
def _list_wild_lays(s, player, out, n):
    """List the ways to lay cards on the meld of wild cards (4.6)."""
    alone = state.meld_size(s, state.side_of(s, player), state.WILD_MELD)
    for j in range(s.kinds[player, state.JOKER] + 1):
        for t in range(s.kinds[player, state.TWO] + 1):
            if j + t > 0 and alone + j + t >= 3 and completes(s, player, np.int64(state.WILD_MELD), 0, j, t):
                out[n] = lay_wild_action(j, t)
                n += 1
    return n


@kernel
def completes(s, player, m, naturals, jokers, twos):
    """Whether the turn can be completed after these cards are laid on meld `m`, which they fit."""
    left = s.hand_sizes[player] - naturals - jokers - twos
    if s.needed <= 0 and left >= 2 and s.answer != state.MUST_GO_OUT and m != state.BLACK_MELD:
        return True
    return ends_after(s, player, m, naturals, jokers, twos, m == state.BLACK_MELD)


@kernel
def ends_after(s, player, m, naturals, jokers, twos, by_going_out):
    """Whether the turn can be completed after these cards, or only by going out."""
    tried = stack_copy(s)
    lay_on_trial(tried, player, m, naturals, jokers, twos)
    tried.first_meld = m + 1
    tried.has_laid = 1
    return can_go_out(tried, player) if by_going_out else can_complete(tried, player)


@kernel
def explain_lay(s, action):
    """Return the code of why cards may not be laid, or 0 (4, 5)."""
    m, naturals, jokers, twos = cards_laid(action)
    p = np.int64(s.current_player)
    side = state.side_of(s, p)
    held = 0 if m == state.WILD_MELD else np.int64(s.kinds[p, state.BLACK_THREE if m == state.BLACK_MELD else m])
    if naturals > held or jokers > s.kinds[p, state.JOKER] or twos > s.kinds[p, state.TWO]:
        return actions.NOT_HELD
    if m < s.first_meld:
        return actions.OUT_OF_ORDER
    if m < state.NUM_RANKS and s.naturals[side, m] == 0 and naturals < 2:
        return actions.TOO_FEW_NATURALS
    if state.meld_size(s, side, m) + naturals + jokers + twos < 3:
        return actions.TOO_FEW_CARDS
    if m < state.NUM_RANKS and jokers + twos > wild_room(s, s.naturals[side, m] + naturals) - state.wilds_in(
        s, side, m
    ):
        return actions.TOO_MANY_WILDS
    if m == state.BLACK_MELD and s.phase == state.TAKE:
        return actions.ONLY_GOING_OUT
    if completes(s, p, m, naturals, jokers, twos):
        return 0
    return actions.ONLY_GOING_OUT if m == state.BLACK_MELD else actions.CANNOT_BE_COMPLETED


@kernel
def _explain_end(s, by_discard):
    """Return the code of why the turn may not end, with or without a discard, or 0 (3.4, 3.5)."""
    if by_discard and s.no_discard:
        return actions.NO_DISCARD
    if not by_discard and not s.no_discard:
        return actions.MUST_DISCARD
    p = np.int64(s.current_player)
    if by_discard and s.hand_sizes[p] == 1:
        return 0 if _may_go_out(s, p) else actions.ONLY_GOING_OUT
    if s.answer == state.MUST_GO_OUT:
        return actions.CANNOT_BE_COMPLETED
    return actions.TOO_LOW if s.has_laid and s.needed > 0 else 0


@kernel
def _may_go_out(s, player):
    """Whether `player`, who holds the last card, may go out now (7.1)."""
    if s.answer == state.MAY_NOT_GO_OUT or (s.needed > 0 and not is_exempt(s, player)):
        return False
    return state.num_canastas(s, state.side_of(s, player)) >= state.canastas_to_go_out(s)


@kernel
def _may_ask(s):
    """Whether the player may ask the partner: before melding, and able to go out (7.5)."""
    if not s.rules.ask_partner or s.has_laid or s.answer != state.FREE or s.phase != state.MELD:
        return False
    return can_go_out(s, np.int64(s.current_player))


# ---------------------------------------------------------------------------------------------------------------
# Dead ends, which exist only in worlds that are sampled for other players (12.2)


@kernel
def _is_way_out(s, action):
    if s.no_discard:
        return action == actions.DONE
    face = action - actions.DISCARD_0
    return 0 <= face < state.NUM_FACES and s.hands[s.current_player, face] > 0


@kernel
def _list_way_out(s, out):
    if s.no_discard:
        out[0] = actions.DONE
        return 1
    n = 0
    for face in range(state.NUM_FACES):
        if s.hands[s.current_player, face] > 0:
            out[n] = actions.DISCARD_0 + face
            n += 1
    return n


@kernel
def is_dead_end(s):
    """Whether the turn of the player to act, who is melding, cannot be completed."""
    p = np.int64(s.current_player)
    if s.answer == state.MUST_GO_OUT or s.has_laid:
        return not can_complete(s, p)
    return False
