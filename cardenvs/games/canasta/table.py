"""The table of Canasta, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.canasta.state import MAX_PLAYERS, NUM_MELDS
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("stock", layout="stack")
PILE = TABLE.pile("pile", ordered=True, layout="stack")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
MELDS = TABLE.pile("melds", per_player=True, layout="columns")  # of the side of the first player who belongs to it
RED_THREES = TABLE.pile("red_threes", per_player=True)

SCORE = TABLE.counter("score", per_player=True)  # of a side, as its first player's
DEALER = TABLE.counter("dealer", use="player")
DEAL_NUMBER = TABLE.counter("deal_number", use="none")
FROZEN = TABLE.counter("frozen", use="none")
COMPOSITION, *_ = [TABLE.counter(f"meld_{m}", per_player=True, use="none") for m in range(NUM_MELDS)]
"""Counter COMPOSITION + MAX_PLAYERS * m + side: 100 * naturals + 10 * jokers + twos of meld m."""

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "Two packs with four jokers, {value} cards, are shuffled.")
NEW_DEAL = TABLE.event("new_deal", Op.SET, "Deal {value} begins.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up.")
FREEZES = TABLE.event("freeze", Op.SET, "The pile is frozen.")
UNFREEZES = TABLE.event("unfreeze", Op.SET, "The pile is no longer frozen.", is_detail=True)
# Who lays out red threes, and draws for them, depends on the hands (2.3).
LAYS_RED = TABLE.event("lay_red_three", Op.MOVE, "{player} lays {token} out.", reveals_hidden_value=True)
REPLACES = TABLE.event("replace", Op.MOVE, "{player} draws {token} for it.", reveals_hidden_value=True)
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
TAKES_TOP = TABLE.event("take_top", Op.MOVE, "{player} takes {token} from the pile and melds it.")
TAKES_PILE = TABLE.event("take_pile", Op.MOVE_ALL, "{player} takes the pile of {value:card}.")
MELDS_CARD = TABLE.event("meld", Op.MOVE, "{player} melds {token}.")
COMPOSES = TABLE.event("composition", Op.SET, "The meld of {source} has {value}.", is_detail=True)
CANASTA = TABLE.event("canasta", Op.NOTE, "{player} completes a canasta of {value}.")
DISCARDS = TABLE.event("discard", Op.MOVE, "{player} discards {token}.", closes=Part.TRICK)
ASKS = TABLE.event("ask", Op.NOTE, "{player} asks: may I go out?", reveals_hidden_value=True)
SAYS_YES = TABLE.event("yes", Op.NOTE, "{player} answers yes.")
SAYS_NO = TABLE.event("no", Op.NOTE, "{player} answers no.")
PASSES = TABLE.event("end_deal", Op.NOTE, "{player} does not take the pile, and the stock is empty.")
NO_DISCARD = TABLE.event("no_discard", Op.NOTE, "{player} has drawn the last card, a red three, and ends the deal.")
GOES_OUT = TABLE.event("go_out", Op.NOTE, "{player} goes out.")
GOES_OUT_CONCEALED = TABLE.event("go_out_concealed", Op.NOTE, "{player} goes out concealed.")
SHOWS = TABLE.event("show", Op.REVEAL, "{player} is left with {token}.")
CANASTA_POINTS = TABLE.event("canasta_points", Op.NOTE, "{player} scores {value} for canastas.", is_detail=True)
RED_POINTS = TABLE.event("red_points", Op.NOTE, "{player} scores {value} for red threes.", is_detail=True)
OUT_POINTS = TABLE.event("out_points", Op.NOTE, "{player} scores {value} for going out.", is_detail=True)
MELD_POINTS = TABLE.event("meld_points", Op.NOTE, "{player} scores {value} for cards melded.", is_detail=True)
LEFT_POINTS = TABLE.event("left_points", Op.NOTE, "{player} loses {value} for cards in hand.", is_detail=True)
DEAL_POINTS = TABLE.event("deal_points", Op.NOTE, "{player} scores {value} in this deal.", closes=Part.HAND)
NEW_SCORE = TABLE.event("score", Op.SET, "{player} has {value:point}.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "After {value:deal} the match is over.")
FORFEITS = declare_forfeit(TABLE)
GATHERS = TABLE.event("gather", Op.MOVE_ALL, "{source} goes back to the stock.", is_detail=True)
SHUFFLES = TABLE.event("shuffle", Op.SHUFFLE, "All cards are gathered and shuffled.")
