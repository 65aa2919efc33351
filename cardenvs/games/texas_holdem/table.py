"""The table of Texas hold'em, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.texas_holdem.state import MAX_PLAYERS
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(MAX_PLAYERS)

DECK = TABLE.pile("deck", layout="stack")
BURNT = TABLE.pile("burnt", layout="none")
BOARD = TABLE.pile("board", ordered=True)
HAND = TABLE.pile("hand", per_player=True, layout="hand")

HAND_NUMBER = TABLE.counter("hand_number")
SMALL_BLIND = TABLE.counter("small_blind")
BIG_BLIND = TABLE.counter("big_blind")
BUTTON = TABLE.counter("button", use="player")
POT = TABLE.counter("pot", use="chips")
STACK = TABLE.counter("stack", per_player=True)
BET = TABLE.counter("bet", per_player=True, use="chips")  # on this street
FOLDED = TABLE.counter("folded", per_player=True, use="flag")
OUT = TABLE.counter("out", per_player=True, use="flag")

NEW_HAND = TABLE.event("hand", Op.SET, "Hand {value} begins.", opens=Part.HAND)
CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
LEVEL = TABLE.event("level", Op.NOTE, "Level {value} begins.")
NEW_SMALL = TABLE.event("small_blind", Op.SET, "The small blind is {value}.", is_detail=True)
NEW_BIG = TABLE.event("big_blind", Op.SET, "The big blind is {value}.", is_detail=True)
NEW_BUTTON = TABLE.event("button", Op.SET, "The button is at seat {value}.", is_detail=True)
NO_SMALL_BLIND = TABLE.event("no_small_blind", Op.NOTE, "Nobody posts a small blind.")
NEW_DECK = TABLE.event("new_deck", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEAL = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
BURN = TABLE.event("burn", Op.MOVE, "A card is burnt.", is_detail=True)
FLOP = TABLE.event("flop", Op.MOVE, "The flop shows {token}.")
TURN = TABLE.event("turn", Op.MOVE, "The turn is {token}.")
RIVER = TABLE.event("river", Op.MOVE, "The river is {token}.")
POST_ANTE = TABLE.event("post_ante", Op.NOTE, "{player} posts an ante of {value}.")
POST_SMALL = TABLE.event("post_small_blind", Op.SET, "{player} posts a small blind of {value}.")
POST_BIG = TABLE.event("post_big_blind", Op.SET, "{player} posts a big blind of {value}.")
FOLD = TABLE.event("fold", Op.SET, "{player} folds.")
CHECKS = TABLE.event("check", Op.NOTE, "{player} checks.")
CALLS = TABLE.event("call", Op.SET, "{player} calls, with {value} in on this street.")
BETS = TABLE.event("bet", Op.SET, "{player} bets {value}.")
RAISES = TABLE.event("raise", Op.SET, "{player} raises to {value}.")
NEW_STACK = TABLE.event("stack", Op.SET, "{player} has {value:chip} behind.", is_detail=True)
NEW_POT = TABLE.event("pot", Op.SET, "The pot is {value}.", is_detail=True)
TAKEN_IN = TABLE.event("bet_taken_in", Op.SET, "{player}'s bet is taken into the pot.", is_detail=True)
UNFOLD = TABLE.event("unfold", Op.SET, "{player} gets new cards.", is_detail=True)
UNCALLED = TABLE.event("uncalled", Op.SET, "{player} takes back what was not called and has {value} in on this street.")
SHOW = TABLE.event("show", Op.REVEAL, "{player} shows {token}.")
MUCK = TABLE.event("muck", Op.NOTE, "{player} does not show.", reveals_hidden_value=True)
SETTLE_POT = TABLE.event("settle_pot", Op.NOTE, "A pot of {value} is settled.", reveals_hidden_value=True)
ELIGIBLE = TABLE.event("eligible", Op.NOTE, "{player} plays for it.", reveals_hidden_value=True, is_detail=True)
WIN = TABLE.event("win", Op.NOTE, "{player} wins {value}.", reveals_hidden_value=True, closes=Part.HAND)
FORFEIT = declare_forfeit(TABLE)
IS_OUT = TABLE.event("out", Op.SET, "{player} is out.", closes=Part.HAND)
PLACE = TABLE.event(
    "place", Op.NOTE, "{player} finishes in place {value}.", reveals_hidden_value=True, closes=Part.HAND
)
SHARED_PLACE = TABLE.event(
    "shared_place", Op.NOTE, "{player} finishes in place {value}, and shares it.", reveals_hidden_value=True
)
POST_LATE = TABLE.event("post_late", Op.SET, "{player} comes in and posts {value}.")
POST_DEAD = TABLE.event("post_dead", Op.NOTE, "{player} posts {value} that nobody has to match.")
COMPLETES = TABLE.event("complete", Op.SET, "{player} completes to {value}.")
