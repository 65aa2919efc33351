"""Actions of Pinnacola, and why one may be illegal.

    ids           action                                                                   phase
    0             draw from the stock                                                      draw
    1             stop: take nothing when there is no stock, which ends the hand           draw
    2..109        take a card from the row: 2 + 2f the last copy of face f, 2 + 2f + 1 the  draw
                  one before; 106..109 the same for the four jokers
    110..162      discard face f (110 + f)                                                 meld
    163..474      lay a run of natural cards: suit, lowest step, length                    use, meld
    475..539      lay a set of natural cards: rank, suits                                  use, meld
    540, 541      lay three or four jokers                                                 use, meld
    542..673      add a natural card above a run: cell, which of the runs                  use, meld
    674..805      add one below a run                                                      use, meld
    806..961      add one to a set: face, which of the sets                                use, meld
    962           add the fourth joker to three                                            use, meld
    963..1130     replace a joker in a run: cell, which of the runs                        meld
    1131..1286    replace a joker in a set: face, which of the sets                        meld
    1287..1863    with a joker: lay a run of three, lay a set, add above or below a run,   use, meld
                  add to a set

and with some options only:

    1864..1907    lay a natural card, two jokers and a natural card (wilds_per_meld=2)     use, meld
    1908..3061    as 1287..1863, with the two of spades, then of clubs (pinelle)           use, meld
    3062..3413    as 1864..1907, with other wild cards (both)                              use, meld

An id always names the same cards in the same places. Only where several melds would take the card, the last part of the
id says which: the first, second or third of them, own ones first, in the order in which they were laid (rules.md 4.7).
A run of more cards with a wild one is laid as a run of three, and cards are added to it.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.pinnacola.state import (
    JOKER,
    MIN_RUN,
    NUM_CELLS,
    NUM_FACES,
    NUM_JOKERS,
    NUM_RANKS,
    NUM_STEPS,
    NUM_SUITS,
    NUM_WILD_KINDS,
    WILD_FACES,
)
from cardenvs.kits.cards import NUM_CARDS

MOST_ALIKE = 3  # melds among which an id can choose

# What an action does
(OP_DRAW, OP_STOP, OP_TAKE, OP_DISCARD, OP_RUN, OP_SET, OP_JOKERS, OP_ABOVE, OP_BELOW, OP_TO_SET, OP_TO_JOKERS,
 OP_SWAP_RUN, OP_SWAP_SET, OP_GAP_RUN, OP_WILD_SET, OP_WILD_ABOVE, OP_WILD_BELOW, OP_WILD_TO_SET, OP_DOUBLE,
) = range(19)  # fmt: skip

STARTS = NUM_STEPS - MIN_RUN + 1  # lowest steps that a run may have
ENDS = NUM_STEPS - MIN_RUN  # steps of a suit that may be above a run, or below one
_LENGTHS = [(low, length) for low in range(STARTS) for length in range(MIN_RUN, NUM_STEPS - low + 1)]
NUM_LENGTHS = len(_LENGTHS)
RUN_LOWS, RUN_LENGTHS = (np.array(column, np.int64) for column in zip(*_LENGTHS, strict=True))
FIRST_LENGTH = np.array([_LENGTHS.index((low, MIN_RUN)) for low in range(STARTS)], np.int64)
"""The number of the pair (low, 3) among the pairs of lowest step and length."""

_MASKS = range(1 << NUM_SUITS)
SET_SUITS = np.array([mask for mask in _MASKS if mask.bit_count() >= 3], np.int64)  # of sets of natural cards
WILD_SET_SUITS = np.array([mask for mask in _MASKS if 2 <= mask.bit_count() <= 3], np.int64)  # with a wild card
NUM_SETS, NUM_WILD_SETS = len(SET_SUITS), len(WILD_SET_SUITS)

DRAW, STOP, TAKE_0 = range(3)
TAKE_JOKER_0 = TAKE_0 + 2 * NUM_CARDS
DISCARD_0 = TAKE_JOKER_0 + NUM_JOKERS
RUN_0 = DISCARD_0 + NUM_FACES
SET_0 = RUN_0 + NUM_SUITS * NUM_LENGTHS
JOKERS_0 = SET_0 + NUM_RANKS * NUM_SETS
ABOVE_0 = JOKERS_0 + 2
BELOW_0 = ABOVE_0 + NUM_SUITS * ENDS * MOST_ALIKE
TO_SET_0 = BELOW_0 + NUM_SUITS * ENDS * MOST_ALIKE
TO_JOKERS = TO_SET_0 + NUM_CARDS * MOST_ALIKE
SWAP_RUN_0 = TO_JOKERS + 1
SWAP_SET_0 = SWAP_RUN_0 + NUM_CELLS * MOST_ALIKE
WILD_0 = SWAP_SET_0 + NUM_CARDS * MOST_ALIKE
# Within the block of a kind of wild card
_GAP_RUN = 0
_WILD_SET = _GAP_RUN + NUM_SUITS * STARTS * MIN_RUN
WILD_ABOVE = _WILD_SET + NUM_RANKS * NUM_WILD_SETS
WILD_BELOW = WILD_ABOVE + NUM_SUITS * ENDS * MOST_ALIKE
WILD_TO_SET = WILD_BELOW + NUM_SUITS * ENDS * MOST_ALIKE
_BLOCK = WILD_TO_SET + NUM_RANKS * MOST_ALIKE
DOUBLE_0 = WILD_0 + _BLOCK
DOUBLE_STARTS = STARTS - 1
_DOUBLES = NUM_SUITS * DOUBLE_STARTS
PINELLE_0 = DOUBLE_0 + _DOUBLES
PINELLE_DOUBLE_0 = PINELLE_0 + 2 * _BLOCK
END_OF_IDS = PINELLE_DOUBLE_0 + (NUM_WILD_KINDS**2 - 1) * _DOUBLES

# Codes that explain_illegal returns; their texts are in view.py.
(WRONG_PHASE, NO_STOCK, STOCK_LEFT, NOT_IN_ROW, NOT_LAST, CANNOT_USE, NOT_HELD, MUST_USE, NO_ACES, NO_TWOS, NO_JOKERS,
 TOO_MANY_WILDS, NOT_IN_GAME, IS_NATURAL, NO_MELD, NO_JOKER_THERE, CANNOT_DISCARD, NO_CLOSING, FITS,
) = range(1, 20)  # fmt: skip


def num_actions(options):
    """Return the number of action ids."""
    if options.pinelle:
        return END_OF_IDS if options.wilds_per_meld == 2 else PINELLE_DOUBLE_0
    return PINELLE_0 if options.wilds_per_meld == 2 else DOUBLE_0


# ---------------------------------------------------------------------------------------------------------------
# From parts to ids


@kernel(inline=True)
def take_action(face, copy):
    """Return the id of taking a card from the row; copy 0 is the last one laid."""
    return TAKE_0 + 2 * face + copy


@kernel(inline=True)
def run_action(suit, low, length):
    """Return the id of laying a run of natural cards."""
    return RUN_0 + suit * NUM_LENGTHS + FIRST_LENGTH[low] + length - MIN_RUN


@kernel(inline=True)
def place_number(op, x):
    """Return the number of a place among those of an addition or replacement: `x` is its cell, face or rank."""
    if op in (OP_ABOVE, OP_WILD_ABOVE):
        return x - MIN_RUN * (x // NUM_STEPS) - MIN_RUN
    return x - MIN_RUN * (x // NUM_STEPS) if op in (OP_BELOW, OP_WILD_BELOW) else x


@kernel(inline=True)
def block_of(wild):
    """Return the first id of the actions with a wild card of kind `wild`."""
    return WILD_0 if wild == 0 else PINELLE_0 + (wild - 1) * _BLOCK


@kernel(inline=True)
def gap_run_action(suit, low, gap, wild):
    """Return the id of laying a run of three with a wild card at step low + gap."""
    return block_of(wild) + _GAP_RUN + (suit * STARTS + low) * MIN_RUN + gap


@kernel(inline=True)
def wild_set_action(rank, number, wild):
    """Return the id of laying a set of natural cards in WILD_SET_SUITS[number] and a wild card."""
    return block_of(wild) + _WILD_SET + rank * NUM_WILD_SETS + number


@kernel(inline=True)
def double_action(suit, low, first, second):
    """Return the id of laying natural cards at steps low and low + 3, and wild cards of two kinds between them."""
    pair = first * NUM_WILD_KINDS + second
    base = DOUBLE_0 if pair == 0 else PINELLE_DOUBLE_0 + (pair - 1) * _DOUBLES
    return base + suit * DOUBLE_STARTS + low


# ---------------------------------------------------------------------------------------------------------------
# From ids to parts


@kernel
def parts(action):
    """Return (op, x, y, wild) of an action.

    op                                     x                 y                   wild
    OP_TAKE                                face              copy
    OP_DISCARD                             face
    OP_RUN                                 lowest cell       length
    OP_SET                                 rank              bits of the suits
    OP_JOKERS                              number
    OP_ABOVE, OP_BELOW, OP_SWAP_RUN        cell              which meld
    OP_TO_SET, OP_SWAP_SET                 face              which meld
    OP_GAP_RUN                             lowest cell       step of the wild    kind
    OP_WILD_SET                            rank              bits of the suits   kind
    OP_WILD_ABOVE, OP_WILD_BELOW           cell              which meld          kind
    OP_WILD_TO_SET                         rank              which meld          kind
    OP_DOUBLE                              lowest cell       kind of the first   kind of the second
    """
    if action < RUN_0:
        if action < TAKE_0:
            return action, 0, 0, 0
        if action >= DISCARD_0:
            return OP_DISCARD, action - DISCARD_0, 0, 0
        if action >= TAKE_JOKER_0:
            return OP_TAKE, JOKER, action - TAKE_JOKER_0, 0
        return OP_TAKE, (action - TAKE_0) >> 1, (action - TAKE_0) & 1, 0
    if action < ABOVE_0:
        if action < SET_0:
            suit, number = (action - RUN_0) // NUM_LENGTHS, (action - RUN_0) % NUM_LENGTHS
            return OP_RUN, suit * NUM_STEPS + RUN_LOWS[number], RUN_LENGTHS[number], 0
        if action < JOKERS_0:
            return OP_SET, (action - SET_0) // NUM_SETS, SET_SUITS[(action - SET_0) % NUM_SETS], 0
        return OP_JOKERS, action - JOKERS_0 + 3, 0, 0
    if action < WILD_0:
        return _parts_of_addition(action)
    if DOUBLE_0 <= action < PINELLE_0 or action >= PINELLE_DOUBLE_0:
        return _parts_of_double(action)
    if action < DOUBLE_0:
        return _parts_with_wild(action - WILD_0, 0)
    return _parts_with_wild((action - PINELLE_0) % _BLOCK, 1 + (action - PINELLE_0) // _BLOCK)


@kernel(inline=True)
def _cell_and_meld(number, first_step):
    """Return the cell and the number of the meld from a number of the cells above or below runs."""
    place = number // MOST_ALIKE
    return place // ENDS * NUM_STEPS + place % ENDS + first_step, number % MOST_ALIKE


@kernel(inline=True)
def _parts_of_addition(action):
    if action < BELOW_0:
        cell, k = _cell_and_meld(action - ABOVE_0, MIN_RUN)
        return OP_ABOVE, cell, k, 0
    if action < TO_SET_0:
        cell, k = _cell_and_meld(action - BELOW_0, 0)
        return OP_BELOW, cell, k, 0
    if action < TO_JOKERS:
        return OP_TO_SET, (action - TO_SET_0) // MOST_ALIKE, (action - TO_SET_0) % MOST_ALIKE, 0
    if action == TO_JOKERS:
        return OP_TO_JOKERS, 0, 0, 0
    if action < SWAP_SET_0:
        return OP_SWAP_RUN, (action - SWAP_RUN_0) // MOST_ALIKE, (action - SWAP_RUN_0) % MOST_ALIKE, 0
    return OP_SWAP_SET, (action - SWAP_SET_0) // MOST_ALIKE, (action - SWAP_SET_0) % MOST_ALIKE, 0


@kernel(inline=True)
def _parts_with_wild(number, wild):
    if number < _WILD_SET:
        place = number // MIN_RUN
        return OP_GAP_RUN, place // STARTS * NUM_STEPS + place % STARTS, number % MIN_RUN, wild
    if number < WILD_ABOVE:
        number -= _WILD_SET
        return OP_WILD_SET, number // NUM_WILD_SETS, WILD_SET_SUITS[number % NUM_WILD_SETS], wild
    if number < WILD_BELOW:
        cell, k = _cell_and_meld(number - WILD_ABOVE, MIN_RUN)
        return OP_WILD_ABOVE, cell, k, wild
    if number < WILD_TO_SET:
        cell, k = _cell_and_meld(number - WILD_BELOW, 0)
        return OP_WILD_BELOW, cell, k, wild
    return OP_WILD_TO_SET, (number - WILD_TO_SET) // MOST_ALIKE, (number - WILD_TO_SET) % MOST_ALIKE, wild


@kernel(inline=True)
def _parts_of_double(action):
    pair, number = np.int64(0), action - DOUBLE_0
    if action >= PINELLE_DOUBLE_0:
        pair = 1 + (action - PINELLE_DOUBLE_0) // _DOUBLES
        number = (action - PINELLE_DOUBLE_0) % _DOUBLES
    cell = number // DOUBLE_STARTS * NUM_STEPS + number % DOUBLE_STARTS
    return OP_DOUBLE, cell, pair // NUM_WILD_KINDS, pair % NUM_WILD_KINDS


# ---------------------------------------------------------------------------------------------------------------
# The cards that an action lays


@kernel(inline=True)
def faces_of_run(cell, steps):
    """Return the faces at the cells cell + k, for the bits k of `steps`, and those of them that are needed twice."""
    suit = cell // NUM_STEPS
    bits = steps << cell % NUM_STEPS
    both = bits & bits >> NUM_RANKS & 1
    return ((bits | bits >> NUM_RANKS) & 8191) << NUM_RANKS * suit, both << NUM_RANKS * suit


@kernel(inline=True)
def faces_of_set(rank, suits):
    """Return the faces of a rank in the suits of a bit set."""
    bits = (suits & 1) | (suits & 2) << 12 | (suits & 4) << 24 | (suits & 8) << 36
    return bits << rank


@kernel
def cards_laid(action):
    """Return (faces, faces needed twice, jokers, twos of spades, twos of clubs) that leave the hand to be melded.

    Faces are bit sets of natural cards; twos are those that stand for another card.
    """
    op, x, y, wild = parts(action)
    faces, second = np.int64(0), np.int64(0)
    jokers, spades, clubs = np.int64(0), np.int64(0), np.int64(0)
    if op == OP_RUN:
        faces, second = faces_of_run(x, (np.int64(1) << y) - 1)
    elif op == OP_SET:
        faces = faces_of_set(x, y)
    elif op == OP_JOKERS:
        jokers = np.int64(x)
    elif op == OP_TO_JOKERS:
        jokers = np.int64(1)
    elif op in (OP_ABOVE, OP_BELOW, OP_SWAP_RUN):
        faces, second = faces_of_run(x, np.int64(1))
    elif op in (OP_TO_SET, OP_SWAP_SET):
        faces = np.int64(1) << x
    elif op == OP_GAP_RUN:
        faces, second = faces_of_run(x, np.int64(7) ^ np.int64(1) << y)
    elif op == OP_WILD_SET:
        faces = faces_of_set(x, y)
    elif op == OP_DOUBLE:
        faces, second = faces_of_run(x, np.int64(9))
        jokers += y == 0
        spades += y == 1
        clubs += y == 2
    if op >= OP_GAP_RUN:
        jokers += wild == 0
        spades += wild == 1
        clubs += wild == 2
    return faces, second, jokers, spades, clubs


def action_features(options):
    """Return what each id does, the cards that it moves, and those for which wild cards stand in runs.

    Returns:
        int8 (actions, 18 + 53 + 56), with a 19th kind of action if two wild cards may lie in a meld.
    """
    kinds = OP_DOUBLE + (options.wilds_per_meld == 2)
    features = np.zeros((num_actions(options), kinds + NUM_FACES + NUM_CELLS), np.int8)
    for action, row in enumerate(features):
        op, x, y, _ = (int(part) for part in parts(action))
        row[op] = 1
        if op in (OP_TAKE, OP_DISCARD):
            row[kinds + x] = 1
        faces, second, *wilds = (int(part) for part in cards_laid(action))
        for face in range(NUM_CARDS):
            row[kinds + face] += (faces >> face & 1) + (second >> face & 1)
        for face, number in zip(WILD_FACES, wilds, strict=True):
            row[kinds + face] += number
        cells = {
            OP_GAP_RUN: [x + y], OP_WILD_ABOVE: [x], OP_WILD_BELOW: [x], OP_DOUBLE: [x + 1, x + 2], OP_SWAP_RUN: [x],
        }.get(op, [])  # fmt: skip
        for cell in cells:
            row[kinds + NUM_FACES + cell] = 1
    return features
