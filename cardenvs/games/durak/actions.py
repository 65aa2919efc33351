"""Actions of Durak. A card c is 0..51, as in core/cards.py.

    id         action                                                              phase
    0..51      play card c: lead it, throw it in, add it, or beat with it          all
    52         take                                                                defend
    53         pass                                                                throw_in, add

and with variant="perevodnoy" only:

    54..105    transfer with card c (54 + c)                                       defend

and with show_trump_transfer only:

    106        show the trump of the attack's rank to transfer                     defend
"""

from cardenvs.kits.cards import NUM_CARDS

PLAY_0 = 0
TAKE = NUM_CARDS
PASS = TAKE + 1
TRANSFER_0 = PASS + 1
SHOW = TRANSFER_0 + NUM_CARDS

# Codes that explain_illegal returns; their texts are in view.py.
(
    NOT_HELD,
    NO_MATCH,
    DOES_NOT_BEAT,
    MUST_LEAD,
    NOT_DEFENDING,
    MUST_DEFEND,
    NO_TRANSFERS_NOW,
    ALREADY_BEATEN,
    OTHER_RANK,
    TOO_FEW_CARDS,
    TOO_MANY_CARDS,
    NO_SUCH_TRUMP,
    SHOWN_BEFORE,
) = range(1, 14)


def num_actions(options):
    """Return the number of action ids."""
    if options.show_trump_transfer:
        return SHOW + 1
    return SHOW if options.variant == "perevodnoy" else TRANSFER_0


def max_legal(options):
    """Return the largest number of legal actions: a whole hand, one card of it as a transfer too, take, and show."""
    return int(options.deck_size) + 2
