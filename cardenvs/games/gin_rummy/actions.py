"""Actions of gin rummy, and why one may be illegal. A card c is 0..51, as in core/cards.py.

    id         action                                        phase
    0..51      discard card c                                discard
    52         take the top card of the discard pile         first_upcard, draw
    53         draw from the stock                           draw
    54         pass                                          first_upcard, wall
    55..106    knock (55 + c), discarding c                  discard, wall
    107        big gin                                       discard, wall

and with layoff="manual" only:

    108..159   lay off card c (108 + c) on a run             layoff
    160..211   lay off card c (160 + c) on a set             layoff
    212        done                                          layoff

A card never fits on two sets. If it fits between two runs, it goes to the first; this does not change what else can be
laid off.
"""

from cardenvs.kits.cards import NUM_CARDS

DISCARD_0 = 0
TAKE_UPCARD = NUM_CARDS
DRAW_STOCK = TAKE_UPCARD + 1
PASS = DRAW_STOCK + 1
KNOCK_0 = PASS + 1
BIG_GIN = KNOCK_0 + NUM_CARDS
LAY_OFF_ON_RUN_0 = BIG_GIN + 1
LAY_OFF_ON_SET_0 = LAY_OFF_ON_RUN_0 + NUM_CARDS
DONE = LAY_OFF_ON_SET_0 + NUM_CARDS

# Codes that explain_illegal returns; their texts are in view.py.
(
    MUST_DRAW_FIRST,
    HAS_DRAWN,
    MUST_ANSWER_UPCARD,
    UPCARD_REFUSED,
    CANNOT_PASS,
    NOT_HELD,
    JUST_TAKEN,
    TOO_MUCH_DEADWOOD,
    BIG_GIN_OFF,
    NOT_ALL_MELDED,
    AT_THE_WALL,
    MUST_LAY_OFF,
    NO_KNOCK_YET,
    FITS_NO_RUN,
    FITS_NO_SET,
) = range(1, 16)


def num_actions(options):
    """Return the number of action ids."""
    return DONE + 1 if options.layoff == "manual" else BIG_GIN + 1


def max_legal(options):
    """Return the largest number of legal actions: 11 discards, 11 knocks, big gin (lay-offs: at most 2 * 10 + 1)."""
    return 23 if options.big_gin else 22
