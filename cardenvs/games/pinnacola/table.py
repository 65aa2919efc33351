"""The table of Pinnacola, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.pinnacola.state import MAX_MELDS, MAX_PLAYERS
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("stock", layout="stack")
ROW = TABLE.pile("row", ordered=True, layout="fan")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
MELDS = TABLE.pile("melds", per_player=True, layout="columns")  # of the side of the first player who belongs to it

SCORE = TABLE.counter("score", per_player=True)  # of a side, as its first player's
DEALER = TABLE.counter("dealer", use="player")
HAND_NUMBER = TABLE.counter("hand_number", use="none")
SHAPE, *_ = [TABLE.counter(f"meld_{m}", use="none") for m in range(MAX_MELDS)]
"""Counter SHAPE + m: what meld m is, see `melds.shape_of`; 0 if there is none."""

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "Two packs, {value} cards, are shuffled.")
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value} begins.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
TAKES = TABLE.event("take", Op.MOVE, "{player} takes {token} from the row.")
MELDS_CARD = TABLE.event("meld", Op.MOVE, "{player} lays {token}.")
SHAPES = TABLE.event("shape", Op.SET, "A meld changes.", is_detail=True)
TAKES_JOKER = TABLE.event("take_joker", Op.MOVE, "{player} takes {token} out of {source}.")
DISCARDS = TABLE.event("discard", Op.MOVE, "{player} discards {token}.", closes=Part.TRICK)
STOPS = TABLE.event("stop", Op.NOTE, "{player} takes nothing from the row, and the stock is empty.")
CLOSES = TABLE.event("close", Op.NOTE, "{player} closes.")
CLOSES_IN_MANO = TABLE.event("close_in_mano", Op.NOTE, "{player} closes in the first turn.")
NO_STOCK = TABLE.event("no_stock", Op.NOTE, "The stock is empty, and the hand is over.")
IS_PINNACOLONE = TABLE.event("pinnacolone", Op.NOTE, "A pinnacolone ends the hand.")
SHOWS = TABLE.event("show", Op.REVEAL, "{player} is left with {token}.")
MELD_POINTS = TABLE.event("meld_points", Op.NOTE, "{player} scores {value} for melds.", is_detail=True)
LEFT_POINTS = TABLE.event("left_points", Op.NOTE, "{player} loses {value} for cards in hand.", is_detail=True)
CLOSE_POINTS = TABLE.event("close_points", Op.NOTE, "{player} scores {value} for closing.", is_detail=True)
HAND_POINTS = TABLE.event("hand_points", Op.NOTE, "{player} scores {value} in this hand.", closes=Part.HAND)
NEW_SCORE = TABLE.event("score", Op.SET, "{player} has {value:point}.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "After {value:hand} the match is drawn.")
FORFEITS = declare_forfeit(TABLE)
GATHERS = TABLE.event("gather", Op.MOVE_ALL, "{source} goes back to the stock.", is_detail=True)
SHUFFLES = TABLE.event("shuffle", Op.SHUFFLE, "All cards are gathered and shuffled.")
