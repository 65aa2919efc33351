"""Actions of Uno, and why one may be illegal.

    id          action                                                                         phase
    0..59       play a card: 15 * colour + symbol, symbols 0 to 9, Skip, Reverse, Draw Two,    play, drawn, stack, jump
                Wild, Wild Draw Four; of a wild card, the colour is the one named
    60          draw a card; draw what a stack has grown to                                    play, stack
    61          keep the card drawn; say nothing; do not catch; do not jump in                 drawn, say, catch, jump
    62, 63      accept a Wild Draw Four, challenge it                                          challenge
    64..67      name a colour when the first card is a Wild                                    name
    68          say Uno                                                                        say
    69          catch a player who has not said Uno                                            catch
    70 + p      swap hands with player p                                                       swap

The last ones exist with options that need them. Ids 0 to 60 are those of RLCard.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.uno.cards import COLOURED, NUM_COLOURS, NUM_KINDS, NUM_SYMBOLS, WILD

DRAW, PASS, ACCEPT, CHALLENGE, NAME_0, SAY_UNO, CATCH, SWAP_0 = 60, 61, 62, 63, 64, 68, 69, 70

# Codes that explain_illegal returns; their texts are in view.py.
(
    WRONG_PHASE, NOT_HELD, NO_MATCH, HAS_COLOUR, HAS_OTHER, MUST_PLAY, ONLY_DRAWN, NOT_ON_STACK, NOT_IDENTICAL,
    OWN_HAND, NOT_IN_GAME,
) = range(1, 12)  # fmt: skip


@kernel(inline=True)
def kind_played(action):
    """Return the kind of card that an action plays."""
    symbol = action % NUM_SYMBOLS
    return COLOURED * (action // NUM_SYMBOLS) + symbol if symbol < COLOURED else WILD + symbol - COLOURED


def num_actions(options):
    """Return the number of action ids."""
    if options.rlcard:
        return DRAW + 1
    if options.seven_zero:
        return SWAP_0 + options.num_players
    return SAY_UNO if options.uno_call == "auto" else SWAP_0


def max_legal(options):
    """Return a bound on the number of legal actions: all cards, and one more."""
    return DRAW + 1


def action_features(options):
    """Return the kind that is played and the colour in force after it, or one entry for each other action."""
    number = num_actions(options)
    features = np.zeros((number, NUM_KINDS + NUM_COLOURS + number - DRAW), np.int8)
    for action in range(DRAW):
        features[action, kind_played(action)] = features[action, NUM_KINDS + action // NUM_SYMBOLS] = 1
    for action in range(DRAW, number):
        features[action, NUM_KINDS + NUM_COLOURS + action - DRAW] = 1
    return features
