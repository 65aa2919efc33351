"""Legal actions of Pinnacola; paragraph numbers are those of rules.md.

What leaves at least two cards in the hand needs no further check. Where fewer are left (4.8), or where it is not clear
that a card can be used at once, the action is tried on a copy of the state.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_copy, stack_record
from cardenvs.games.pinnacola import actions, hands, melds, state
from cardenvs.games.pinnacola.actions import MOST_ALIKE, cards_laid, parts
from cardenvs.games.pinnacola.state import JOKER, NO_CARD, NUM_RANKS, NUM_STEPS, NUM_SUITS, side_of
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.listing import list_bits

_STEPS = (1 << NUM_STEPS) - 1  # all steps of a suit
_RANKS = (1 << NUM_RANKS) - 1
_WHATEVER = 6  # cards of which a meld always leaves two
_MOST_USES = 512  # ways to use a card from a hand of fewer cards
_scratch = stack_record(packed([("ids", "i4", (_MOST_USES,))]))


@kernel
def legal_actions(s, out):
    """Write the legal actions, ascending, and return their number (4)."""
    if s.phase == state.DRAW:
        return _list_draws(s, out)
    player, n = np.int64(s.current_player), 0
    if s.phase == state.MELD:
        n = _list_discards(s, player, out, n)
        n = _list_plain_lays(s, player, NO_CARD, out, n)
        n = _list_swaps(s, player, out, n)
        n = _list_wild_lays(s, player, NO_CARD, out, n)
    else:
        n = _list_plain_lays(s, player, np.int64(s.must_use), out, n)
        n = _list_wild_lays(s, player, np.int64(s.must_use), out, n)
    return n if n else _list_hand(s, player, out, n)  # a dead end, which exists in worlds only (8.4)


@kernel
def has_action(s):
    """Return whether the player to act has a legal action in a turn, and not only the way out of a dead end (8.4)."""
    if s.phase == state.USE:
        return _has_use(s)
    player = np.int64(s.current_player)
    if s.hand_sizes[player] > 1:
        return True
    scratch = _scratch()
    n = _list_discards(s, player, scratch.ids[:], 0)
    n = _list_plain_lays(s, player, NO_CARD, scratch.ids[:], n)
    n = _list_swaps(s, player, scratch.ids[:], n)
    return _list_wild_lays(s, player, NO_CARD, scratch.ids[:], n) > 0


# ---------------------------------------------------------------------------------------------------------------
# The end of a turn


@kernel
def may_close(s, player):
    """Return whether the side has what it needs to close, and the time has come (5.2, 5.4)."""
    is_time = s.rules.close_first_round or s.num_turns >= s.rules.num_players
    return is_time and not needs_pinnacola(s, side_of(player)) and not needs_poker(s, side_of(player))


@kernel(inline=True)
def needs_pinnacola(s, side):
    """Return whether a side cannot close before it has a pinnacola (5.2)."""
    return not s.has_pinnacola[side] and s.rules.close_needs in (state.NEEDS_PINNACOLA, state.NEEDS_BOTH)


@kernel(inline=True)
def needs_poker(s, side):
    """Return whether a side cannot close before it has a poker (5.2)."""
    return not s.has_poker[side] and s.rules.close_needs in (state.NEEDS_POKER, state.NEEDS_BOTH)


@kernel
def _last_card(s, player):
    """Return the only card of a hand."""
    return np.int64(JOKER) if s.jokers[player] else lowest_card(np.int64(s.held[player]))


@kernel
def _may_hold_so_few(s, player):
    """Return whether the cards that are left, one or none, can be left (4.8)."""
    if not may_close(s, player):
        return False
    if s.hand_sizes[player] == 0:
        return s.rules.close_discard == state.OPTIONAL
    return s.rules.close_fit or not melds.fits(s, player, _last_card(s, player))


@kernel
def _leaves_enough_tried(s, player, action):
    tried = stack_copy(s)
    melds.lay(tried, player, action)
    return tried.hand_sizes[player] > 1 or _may_hold_so_few(tried, player)


@kernel(inline=True)
def _leaves_enough(s, player, action, number):
    """Return whether laying `number` cards leaves enough (4.8)."""
    return s.hand_sizes[player] - number > 1 or _leaves_enough_tried(s, player, action)


@kernel
def _list_hand(s, player, out, n):
    n = list_bits(np.int64(s.held[player]), actions.DISCARD_0, out, n)
    if s.jokers[player] > 0:
        out[n] = actions.DISCARD_0 + JOKER
        n += 1
    return n


@kernel(inline=True)
def _list_discards(s, player, out, n):
    """List the discards; the last card only to close (4.6)."""
    if s.hand_sizes[player] > 1 or _may_hold_so_few(s, player):
        n = _list_hand(s, player, out, n)
    return n


# ---------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _list_draws(s, out):
    """List the ways to begin a turn (4.1, 4.2)."""
    out[0] = actions.DRAW if state.num_stock(s) > 0 else actions.STOP
    n = 1
    player = np.int64(s.current_player)
    held, jokers = np.int64(s.held[player]), np.int64(s.jokers[player])
    one, two, wild, num_jokers, seen = np.int64(0), np.int64(0), np.int64(0), 0, np.int64(0)
    last = np.int64(s.num_row) - 1
    first = 0 if s.rules.pozzo == state.FROM_ANY else last
    if s.rules.pozzo == state.WHOLE:
        for place in range(last):
            face = np.int64(s.row[place])
            jokers += face == JOKER
            held |= np.int64(face != JOKER) << (face if face != JOKER else 0)
    for place in range(last, first - 1, -1):
        face = np.int64(s.row[place])
        number = s.hand_sizes[player] + s.num_row - hands.first_taken(s, place)
        if face == JOKER:
            jokers += 1
            if _is_usable(s, player, held, jokers, face, number, place):
                wild |= 1 << num_jokers
            num_jokers += 1
        else:
            bit = np.int64(1) << face
            held |= bit
            if _is_usable(s, player, held, jokers, face, number, place):
                if seen & bit:
                    two |= bit
                else:
                    one |= bit
            seen |= bit
    bits = one | two
    while bits:
        face = lowest_card(bits)
        bits &= bits - 1
        for copy in range(2):
            if (two if copy else one) >> face & 1:
                out[n] = actions.take_action(face, copy)
                n += 1
    return list_bits(wild, actions.TAKE_JOKER_0, out, n)


@kernel(inline=True)
def _is_usable(s, player, held, jokers, face, number, place):
    """Return whether the card at `place` of the row can be used at once by who takes it (4.2).

    Args:
        s: the record, before the card is taken.
        player: who takes it.
        held, jokers: the hand with all cards taken.
        face: the card.
        number: the size of that hand.
        place: of the card.
    """
    if number >= _WHATEVER:
        if face == JOKER:
            is_certain = _joker_is_usable(s, player, held, jokers, melds.NO_ROOM)
        else:
            is_certain = natural_is_usable(s, side_of(player), held, jokers, face)
        if is_certain or not s.rules.pinelle:
            return is_certain
    return _take_tried(s, player, place)


@kernel
def _take_tried(s, player, place):
    tried = stack_copy(s)
    hands.take_row(tried, player, place)
    return _has_use(tried)


@kernel
def _has_use(s):
    """Return whether the card that must be used can be (4.2, 4.5)."""
    scratch, player, face = _scratch(), np.int64(s.current_player), np.int64(s.must_use)
    n = _list_plain_lays(s, player, face, scratch.ids[:], 0)
    return n > 0 or _list_wild_lays(s, player, face, scratch.ids[:], n) > 0


@kernel(inline=True)
def natural_is_usable(s, side, held, jokers, face):
    """Return whether a card fits a meld of the side, or makes one with cards of a large hand and jokers."""
    suit, rank = face // NUM_RANKS, face % NUM_RANKS
    own = np.int64(1) << rank | np.int64(rank == 0) << NUM_RANKS
    if (s.above[side] | s.below[side]) >> NUM_STEPS * suit & own or s.set_faces[side] >> face & 1:
        return True
    steps = steps_of(held, suit)
    runs = steps & steps >> 1 & steps >> 2
    if (runs | runs << 1 | runs << 2) & own:
        return True
    # The other suits in which the rank is held
    others = (held >> rank & 1) + (held >> NUM_RANKS + rank & 1)
    others += (held >> 2 * NUM_RANKS + rank & 1) + (held >> 3 * NUM_RANKS + rank & 1) - 1
    if s.rules.pinelle and rank == state.TWO:
        others = 0
    if others >= 2:
        return True
    if jokers == 0 or s.rules.wilds_per_meld == 0:
        return False
    if others or (own << 1 | own << 2 | own >> 1 | own >> 2) & steps:
        return True
    return s.rules.wilds_per_meld == 2 and jokers >= 2 and ((own << 3 | own >> 3) & steps) != 0


@kernel
def _joker_is_usable(s, player, held, jokers, not_meld):
    """Return whether one of `jokers` fits a meld of the side except `not_meld`, or makes one with a large hand."""
    side = side_of(player)
    if s.rules.joker_melds and jokers >= 3:
        return True
    for m in range(np.int64(s.num_melds)):
        if s.meld_side[m] == side and m != not_meld and _takes_joker(s, m):
            return True
    if s.rules.wilds_per_meld == 0:
        return False
    for suit in range(NUM_SUITS):
        steps = steps_of(held, suit)
        if steps & (steps >> 1 | steps >> 2):
            return True
        if s.rules.wilds_per_meld == 2 and jokers >= 2 and steps & steps >> 3:
            return True
    return ranks_in(held, 2, s.rules.pinelle) != 0


@kernel(inline=True)
def _takes_joker(s, m):
    """Return whether a joker may be added to a meld."""
    if s.meld_kind[m] == state.JOKERS:
        return s.meld_size[m] == 3
    if melds.num_wilds(s, m) >= s.rules.wilds_per_meld:
        return False
    return s.meld_size[m] < state.MAX_SET if s.meld_kind[m] == state.SET else melds.may_grow(s, m)


# ---------------------------------------------------------------------------------------------------------------
# Melds of natural cards, jokers alone, and additions of natural cards


@kernel(inline=True)
def steps_of(held, suit):
    """Return the steps of a suit that are held, the ace at both ends."""
    ranks = held >> NUM_RANKS * suit & _RANKS
    return ranks | (ranks & 1) << NUM_RANKS


@kernel(inline=True)
def ranks_in(held, number, pinelle):
    """Return the ranks, as bits, that are held in two or more (`number`) suits, or in three; not those without sets."""
    a, b = held & _RANKS, held >> NUM_RANKS & _RANKS
    c, d = held >> 2 * NUM_RANKS & _RANKS, held >> 3 * NUM_RANKS & _RANKS
    ab, cd = a & b, c & d
    found = ab | cd | (a | b) & (c | d) if number == 2 else ab & (c | d) | cd & (a | b)
    return found & ~(1 << state.TWO) if pinelle else found


@kernel(inline=True)
def _suits_of(held, rank):
    """Return the suits, as bits, in which a rank is held."""
    bits = held >> rank
    return (bits & 1) | (bits >> 12 & 2) | (bits >> 24 & 4) | (bits >> 36 & 8)


@kernel
def _list_plain_lays(s, player, must, out, n):
    """List what is laid without wild cards, and jokers alone; only with the face `must`, unless it is NO_CARD."""
    side, held = side_of(player), np.int64(s.held[player])
    if must != JOKER:
        n = _list_runs(s, player, held, must, out, n)
        n = _list_sets(s, player, held, must, out, n)
    jokers = np.int64(s.jokers[player]) if must in (NO_CARD, JOKER) else 0
    if jokers >= 3 and s.rules.joker_melds:
        for number in range(3, jokers + 1):
            action = actions.JOKERS_0 + number - 3
            if _leaves_enough(s, player, action, number):
                out[n] = action
                n += 1
    if must != JOKER:
        faces = held if must == NO_CARD else np.int64(1) << must
        cells = state.cells_of(faces)
        above, below, sets = np.int64(s.above[side]), np.int64(s.below[side]), np.int64(s.set_faces[side])
        if melds.may_touch_others(s, actions.OP_ABOVE):
            above |= s.above[1 - side]
            below |= s.below[1 - side]
            sets |= s.set_faces[1 - side]
        n = _list_additions(s, player, actions.OP_ABOVE, above & cells, actions.ABOVE_0, out, n)
        n = _list_additions(s, player, actions.OP_BELOW, below & cells, actions.BELOW_0, out, n)
        n = _list_additions(s, player, actions.OP_TO_SET, sets & faces, actions.TO_SET_0, out, n)
    has_room = jokers > 0 and melds.nth_meld(s, actions.OP_TO_JOKERS, 0, 0) != melds.NO_ROOM
    if has_room and _leaves_enough(s, player, actions.TO_JOKERS, 1):
        out[n] = actions.TO_JOKERS
        n += 1
    return n


@kernel
def _list_runs(s, player, held, must, out, n):
    """List the runs of natural cards (3.1)."""
    first, last = (0, NUM_SUITS) if must == NO_CARD else (must // NUM_RANKS, must // NUM_RANKS + 1)
    for suit in range(first, last):
        steps = steps_of(held, suit)
        starts = steps & steps >> 1 & steps >> 2
        needed = np.int64(_STEPS)
        if must != NO_CARD:
            needed = np.int64(1) << must % NUM_RANKS | np.int64(must % NUM_RANKS == 0) << NUM_RANKS
        while starts:
            low = lowest_card(starts)
            starts &= starts - 1
            length = 3
            while steps >> low + length - 1 & 1:
                if ((1 << length) - 1 << low) & needed and (length < NUM_STEPS or _has_two_aces(s, player, suit)):
                    action = actions.run_action(suit, low, length)
                    if _leaves_enough(s, player, action, length):
                        out[n] = action
                        n += 1
                length += 1
    return n


@kernel(inline=True)
def _has_two_aces(s, player, suit):
    """Return whether a run may have the ace at both ends, and the hand has both (3.1)."""
    return s.rules.ace_to_ace and (s.twice[player] >> NUM_RANKS * suit & 1) == 1


@kernel
def _list_sets(s, player, held, must, out, n):
    """List the sets of natural cards (3.2)."""
    ranks, needed = ranks_in(held, 3, s.rules.pinelle), 0
    if must != NO_CARD:
        ranks &= np.int64(1) << must % NUM_RANKS
        needed = 1 << must // NUM_RANKS
    while ranks:
        rank = lowest_card(ranks)
        ranks &= ranks - 1
        suits = _suits_of(held, rank)
        for k in range(actions.NUM_SETS):
            wanted = actions.SET_SUITS[k]
            if suits & wanted == wanted and wanted & needed == needed:
                action = actions.SET_0 + rank * actions.NUM_SETS + k
                if _leaves_enough(s, player, action, count_bits(wanted)):
                    out[n] = action
                    n += 1
    return n


@kernel
def _list_additions(s, player, op, places, first, out, n):
    """List additions of kind `op` at the cells, faces or ranks of a bit set (4.4); `first` is the lowest id of them."""
    while places:
        x = lowest_card(places)
        places &= places - 1
        for k in range(MOST_ALIKE):
            if melds.nth_meld(s, op, x, k) == melds.NO_ROOM:
                break
            action = first + actions.place_number(op, x) * MOST_ALIKE + k
            if _leaves_enough(s, player, action, 1):
                out[n] = action
                n += 1
    return n


# ---------------------------------------------------------------------------------------------------------------
# Replacing jokers


@kernel
def _list_swaps(s, player, out, n):
    """List the jokers that can be replaced (4.5)."""
    side, held = side_of(player), np.int64(s.held[player])
    if s.rules.joker_replace == state.NOWHERE:
        return n
    cells, faces = np.int64(s.joker_cells[side]), np.int64(s.joker_faces[side])
    if melds.may_touch_others(s, actions.OP_SWAP_RUN):
        cells |= s.joker_cells[1 - side]
        faces |= s.joker_faces[1 - side]
    n = _list_swaps_at(s, player, actions.OP_SWAP_RUN, cells & state.cells_of(held), actions.SWAP_RUN_0, out, n)
    return _list_swaps_at(s, player, actions.OP_SWAP_SET, faces & held, actions.SWAP_SET_0, out, n)


@kernel
def _list_swaps_at(s, player, op, places, first, out, n):
    """List the jokers that can be replaced at the cells or faces of a bit set; `first` as for additions."""
    while places:
        x = lowest_card(places)
        places &= places - 1
        for k in range(MOST_ALIKE):
            m = melds.nth_meld(s, op, x, k)
            if m == melds.NO_ROOM:
                break
            action = first + x * MOST_ALIKE + k
            if _can_swap(s, player, op, x, action, m):
                out[n] = action
                n += 1
    return n


@kernel
def _can_swap(s, player, op, x, action, m):
    """Return whether the joker that replaces a card of the hand can be used at once (4.5)."""
    if s.hand_sizes[player] >= _WHATEVER:
        bit = np.int64(1) << (state.face_at(x) if op == actions.OP_SWAP_RUN else x)
        held = s.held[player] & ~bit | s.twice[player] & bit
        is_certain = _joker_is_usable(s, player, held, s.jokers[player] + 1, m)
        if is_certain or not s.rules.pinelle:
            return is_certain
    tried = stack_copy(s)
    melds.lay(tried, player, action)
    begin_use(tried, m)
    return _has_use(tried)


@kernel(inline=True)
def begin_use(s, m):
    """Let the player use the joker that has been taken out of meld `m` (4.5)."""
    s.phase = state.USE
    s.must_use = JOKER
    s.not_meld = m


# ---------------------------------------------------------------------------------------------------------------
# Melds and additions with a wild card


@kernel
def _list_wild_lays(s, player, must, out, n):
    """List what is laid with wild cards, except for jokers alone; only with the face `must`, unless it is NO_CARD."""
    if s.rules.wilds_per_meld == 0:
        return n
    kinds = state.NUM_WILD_KINDS if s.rules.pinelle else 1
    for wild in range(kinds):
        if state.num_held(s, player, state.WILD_FACES[wild]) > 0:
            n = _list_with(s, player, must, wild, out, n)
        if wild == 0:
            n = _list_doubles(s, player, must, 0, 1, out, n)
    return _list_doubles(s, player, must, 1, kinds * kinds, out, n)


@kernel
def _list_with(s, player, must, wild, out, n):
    """List what is laid with one wild card of a kind that the player holds."""
    held, side, face = np.int64(s.held[player]), side_of(player), state.WILD_FACES[wild]
    uses_wild = must in (NO_CARD, face)
    natural_cell = melds.NATURAL_CELLS[wild]
    # With a single two, it cannot be natural in the same meld.
    others = held if wild == 0 or s.twice[player] >> face & 1 else held & ~(np.int64(1) << face)
    for suit in range(NUM_SUITS):
        n = _list_gap_runs(s, player, steps_of(others, suit), suit, must, wild, out, n)
    ranks = ranks_in(others, 2, s.rules.pinelle)
    while ranks:
        rank = lowest_card(ranks)
        ranks &= ranks - 1
        suits = _suits_of(others, rank)
        needed = 0 if uses_wild else 16
        if not uses_wild and must % NUM_RANKS == rank and must != JOKER:
            needed = 1 << must // NUM_RANKS
        for k in range(actions.NUM_WILD_SETS):
            wanted = actions.WILD_SET_SUITS[k]
            if suits & wanted == wanted and wanted & needed == needed:
                action = actions.wild_set_action(rank, k, wild)
                if _leaves_enough(s, player, action, 1 + count_bits(wanted)):
                    out[n] = action
                    n += 1
    if not uses_wild:
        return n
    above, below, sets = np.int64(s.wild_above[side]), np.int64(s.wild_below[side]), np.int64(s.wild_sets[side])
    if melds.may_touch_others(s, actions.OP_WILD_ABOVE):
        above |= s.wild_above[1 - side]
        below |= s.wild_below[1 - side]
        sets |= s.wild_sets[1 - side]
    if natural_cell >= 0:
        above &= ~(np.int64(1) << natural_cell)
        below &= ~(np.int64(1) << natural_cell)
    block = actions.block_of(wild)
    n = _list_additions(s, player, actions.OP_WILD_ABOVE, above, block + actions.WILD_ABOVE, out, n)
    n = _list_additions(s, player, actions.OP_WILD_BELOW, below, block + actions.WILD_BELOW, out, n)
    return _list_additions(s, player, actions.OP_WILD_TO_SET, sets, block + actions.WILD_TO_SET, out, n)


@kernel
def _list_gap_runs(s, player, steps, suit, must, wild, out, n):
    """List the runs of two natural cards and a wild one (3.3)."""
    beside, apart = steps & steps >> 1, steps & steps >> 2
    below = steps >> 1 & steps >> 2
    starts = (beside | apart | below) & (1 << actions.STARTS) - 1
    uses_wild = must == NO_CARD or must == state.WILD_FACES[wild]
    needed = np.int64(_STEPS)
    if not uses_wild:
        if must == JOKER or must // NUM_RANKS != suit:
            return n
        needed = np.int64(1) << must % NUM_RANKS | np.int64(must % NUM_RANKS == 0) << NUM_RANKS
    while starts:
        low = lowest_card(starts)
        starts &= starts - 1
        for gap in range(3):
            if not (below if gap == 0 else apart if gap == 1 else beside) >> low & 1:
                continue
            if not (7 ^ 1 << gap) << low & needed or suit * NUM_STEPS + low + gap == melds.NATURAL_CELLS[wild]:
                continue
            action = actions.gap_run_action(suit, low, gap, wild)
            if _leaves_enough(s, player, action, 3):
                out[n] = action
                n += 1
    return n


@kernel
def _list_doubles(s, player, must, pair, end, out, n):
    """List the runs of a natural card, two wild cards, and a natural card, for pairs of kinds up to `end` (3.3)."""
    if s.rules.wilds_per_meld < 2:
        return n
    for number in range(pair, end):
        first, second = number // state.NUM_WILD_KINDS, number % state.NUM_WILD_KINDS
        for suit in range(NUM_SUITS):
            steps = steps_of(np.int64(s.held[player]), suit)
            starts = steps & steps >> 3
            while starts:
                low = lowest_card(starts)
                starts &= starts - 1
                cell = suit * NUM_STEPS + low
                if cell + 1 == melds.NATURAL_CELLS[first] or cell + 2 == melds.NATURAL_CELLS[second]:
                    continue  # a two that would be natural there
                action = actions.double_action(suit, low, first, second)
                if _can_lay(s, player, must, action):
                    out[n] = action
                    n += 1
    return n


@kernel
def _can_lay(s, player, must, action):
    """Return whether the hand has the cards of a meld, and may do without them."""
    faces, second, jokers, spades, clubs = cards_laid(action)
    if not _holds(s, player, faces, second, jokers, spades, clubs):
        return False
    if must != NO_CARD and not _uses(must, faces, jokers, spades, clubs):
        return False
    return s.hand_sizes[player] > 5 or _leaves_enough_tried(s, player, action)


# ---------------------------------------------------------------------------------------------------------------
# Reasons


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else a code of actions.py."""
    op, x, y, _ = parts(action)
    player = np.int64(s.current_player)
    if s.phase == state.DRAW:
        return _explain_draw(s, player, op, x, y)
    code = np.int64(actions.WRONG_PHASE)
    if op == actions.OP_DISCARD:
        code = _explain_discard(s, player, x)
    elif op >= actions.OP_RUN:
        code = _explain_lay(s, player, np.int64(s.must_use), action)
    if code and op == actions.OP_DISCARD and state.num_held(s, player, x) > 0 and not has_action(s):
        return 0  # a dead end (8.4)
    return code


@kernel
def _explain_draw(s, player, op, x, y):
    if op == actions.OP_DRAW:
        return 0 if state.num_stock(s) > 0 else actions.NO_STOCK
    if op == actions.OP_STOP:
        return actions.STOCK_LEFT if state.num_stock(s) > 0 else 0
    if op != actions.OP_TAKE:
        return actions.WRONG_PHASE
    place = hands.place_in_row(s, x, y)
    if place < 0:
        return actions.NOT_IN_ROW
    if s.rules.pozzo != state.FROM_ANY and place != s.num_row - 1:
        return actions.NOT_LAST
    return 0 if _take_tried(s, player, place) else actions.CANNOT_USE


@kernel
def _explain_discard(s, player, face):
    if s.phase == state.USE:
        return actions.MUST_USE
    if state.num_held(s, player, face) == 0:
        return actions.NOT_HELD
    if s.hand_sizes[player] > 1 or _may_hold_so_few(s, player):
        return 0
    return actions.FITS if may_close(s, player) else actions.NO_CLOSING


@kernel
def _explain_lay(s, player, must, action):
    """Return the code of why cards may not be laid, or a joker not be replaced, or 0 (3, 4)."""
    op, x, y, wild = parts(action)
    code = _explain_shape(s, op, x, y, wild)
    if code:
        return code
    faces, second, jokers, spades, clubs = cards_laid(action)
    if not _holds(s, player, faces, second, jokers, spades, clubs):
        return actions.NOT_HELD
    if must != NO_CARD and (melds.is_swap(op) or not _uses(must, faces, jokers, spades, clubs)):
        return actions.MUST_USE
    if op >= actions.OP_ABOVE and op != actions.OP_GAP_RUN and op != actions.OP_WILD_SET and op != actions.OP_DOUBLE:
        m = melds.nth_meld(s, op, x, y)
        if m == melds.NO_ROOM:
            return actions.NO_JOKER_THERE if melds.is_swap(op) else actions.NO_MELD
        if melds.is_swap(op):
            return 0 if _can_swap(s, player, op, x, action, m) else actions.CANNOT_USE
    return 0 if _leaves_enough_tried(s, player, action) else actions.CANNOT_DISCARD


@kernel
def _explain_shape(s, op, x, y, wild):
    """Return the code of why there is no such meld or addition with these options, or 0 (3)."""
    if op == actions.OP_RUN:
        return actions.NO_ACES if y == NUM_STEPS and not s.rules.ace_to_ace else 0
    if (op == actions.OP_SET or op == actions.OP_WILD_SET) and s.rules.pinelle and x == state.TWO:
        return actions.NO_TWOS
    if op == actions.OP_JOKERS or op == actions.OP_TO_JOKERS:
        return 0 if s.rules.joker_melds else actions.NO_JOKERS
    if melds.is_swap(op):
        return actions.NOT_IN_GAME if s.rules.joker_replace == state.NOWHERE else 0
    if op < actions.OP_GAP_RUN:
        return 0
    number = 2 if op == actions.OP_DOUBLE else 1
    if s.rules.wilds_per_meld < number:
        return actions.TOO_MANY_WILDS
    if (wild or (op == actions.OP_DOUBLE and y)) and not s.rules.pinelle:
        return actions.NOT_IN_GAME
    natural = melds.NATURAL_CELLS[wild]
    if op == actions.OP_GAP_RUN and x + y == natural:
        return actions.IS_NATURAL
    if (op == actions.OP_WILD_ABOVE or op == actions.OP_WILD_BELOW) and x == natural:
        return actions.IS_NATURAL
    if op == actions.OP_DOUBLE and (x + 2 == natural or x + 1 == melds.NATURAL_CELLS[y]):
        return actions.IS_NATURAL
    return 0


@kernel
def _holds(s, player, faces, second, jokers, spades, clubs):
    """Return whether all these cards are in a hand."""
    if faces & ~s.held[player] or second & ~s.twice[player] or jokers > s.jokers[player]:
        return False
    if spades and spades + (faces >> state.TWO_OF_SPADES & 1) > state.num_held(s, player, state.TWO_OF_SPADES):
        return False
    return not clubs or clubs + (faces >> state.TWO_OF_CLUBS & 1) <= state.num_held(s, player, state.TWO_OF_CLUBS)


@kernel(inline=True)
def _uses(face, faces, jokers, spades, clubs):
    """Return whether a face is among these cards."""
    if face == JOKER:
        return jokers > 0
    if (face == state.TWO_OF_SPADES and spades) or (face == state.TWO_OF_CLUBS and clubs):
        return True
    return (faces >> face & 1) == 1
