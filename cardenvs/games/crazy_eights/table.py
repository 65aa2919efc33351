"""The table of Crazy Eights, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.crazy_eights.state import MAX_PLAYERS
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.shedding import pile_of, stock_of

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("stock", layout="stack", tokens=stock_of, seen="nobody")
PILE = TABLE.pile("discards", ordered=True, layout="stack", tokens=pile_of)
HAND = TABLE.pile("hand", per_player=True, layout="hand")
LIFTED = TABLE.pile("lifted", layout="none")  # the top card, while the others become the stock

SUIT = TABLE.counter("suit", value="suit")
DIRECTION = TABLE.counter("direction", value="direction")
OWED = TABLE.counter("owed", use="none", value="owed")
DEALER = TABLE.counter("dealer", use="player", value="dealer")
NUM_HANDS = TABLE.counter("hands", use="none", value="num_hands")
SCORE = TABLE.counter("score", per_player=True, value="scores")

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value} begins.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up.")
GOES_BACK = TABLE.event("go_back", Op.MOVE, "{token} goes back into the stock.")
SHUFFLES = TABLE.event("shuffle", Op.SHUFFLE, "The stock is shuffled.")
NEW_SUIT = TABLE.event("suit", Op.SET, "The suit is {value}.", is_detail=True)
NEW_DIRECTION = TABLE.event("direction", Op.SET, "Play goes to the other side.", is_detail=True)
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
NAMES = TABLE.event("name", Op.SET, "{player} names {value}.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
PASSES = TABLE.event("pass", Op.NOTE, "{player} passes.", closes=Part.TRICK)
IS_SKIPPED = TABLE.event("skip", Op.NOTE, "{player} is skipped.", closes=Part.TRICK)
OWES = TABLE.event("owe", Op.SET, "{value:card} must be drawn.", is_detail=True)
LIFTS_TOP = TABLE.event("lift_top", Op.MOVE, "{token} is lifted.", is_detail=True)
RECYCLES = TABLE.event("recycle", Op.MOVE_ALL, "The other discards become the stock.")
LAYS_TOP = TABLE.event("lay_top", Op.MOVE, "{token} stays on top.", is_detail=True)
GOES_OUT = TABLE.event("go_out", Op.NOTE, "{player} has played the last card.", closes=Part.HAND)
IS_BLOCKED = TABLE.event("block", Op.NOTE, "After {value:pass} the hand is blocked.", closes=Part.HAND)
IS_LONG = TABLE.event("long", Op.NOTE, "After {value:card} the hand ends.", closes=Part.HAND)
IS_LEFT_WITH = TABLE.event("left_with", Op.REVEAL, "{player} is left with {token}.", is_detail=True)
NEW_SCORE = TABLE.event("score", Op.SET, "{player} has {value:point}.", reveals_hidden_value=True, closes=Part.HAND)
GATHERS = TABLE.event("gather", Op.MOVE_ALL, "All cards are gathered.", is_detail=True)
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.", reveals_hidden_value=True)
DRAWN_MATCH = TABLE.event("drawn", Op.NOTE, "After {value:hand} the match is drawn.")
FORFEITS = declare_forfeit(TABLE)
