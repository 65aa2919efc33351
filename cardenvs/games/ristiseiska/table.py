"""The table of Ristiseiska, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.ristiseiska.state import MAX_PLAYERS
from cardenvs.kits.deck import stock_of
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("stock", layout="none", tokens=stock_of, seen="nobody")
LAID = TABLE.pile("layout", layout="sets", cards="laid")
HAND = TABLE.pile("hand", per_player=True, layout="hand")

BEGS = TABLE.counter("begs", use="none", value="num_begs")
TOKEN = TABLE.counter("token", use="player", value="token")
DEALER = TABLE.counter("dealer", use="player", value="dealer")
NUM_HANDS = TABLE.counter("hands", use="none", value="num_hands")
SCORE = TABLE.counter("score", per_player=True, value="scores")

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value} begins.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
STARTS = TABLE.event("start", Op.REVEAL, "{player} holds {token} and begins.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.", closes=Part.TRICK)
ASKS = TABLE.event("beg", Op.NOTE, "{player} cannot play and begs.", closes=Part.TRICK)
PASSES = TABLE.event("pass", Op.NOTE, "{player} cannot play and passes.", closes=Part.TRICK)
GIVES = TABLE.event("give", Op.MOVE, "{player} gives {token}.")
DRAWS = TABLE.event("draw", Op.MOVE, "A card of {player} is drawn: {token}.")
KEEPS = TABLE.event("keep", Op.NOTE, "{player} keeps the last card.")
TAKES_TOKEN = TABLE.event("take_token", Op.SET, "{player} cannot play and takes the token.")
NO_TOKEN = TABLE.event("no_token", Op.SET, "Nobody has the token.", is_detail=True)
COUNTS_BEGS = TABLE.event("count", Op.SET, "Begs in a row: {value}.", is_detail=True)
STOPS = TABLE.event("stop", Op.NOTE, "{player} stops.", closes=Part.TRICK)
GOES_OUT = TABLE.event("go_out", Op.NOTE, "{player} has no cards left.")
IS_STALLED = TABLE.event("stall", Op.NOTE, "After {value:beg} in a row the hand ends.", closes=Part.HAND)
ENDS = TABLE.event("end", Op.NOTE, "The hand is over.", closes=Part.HAND)
IS_LEFT_WITH = TABLE.event("left_with", Op.REVEAL, "{player} is left with {token}.", is_detail=True)
NEW_SCORE = TABLE.event("score", Op.SET, "{player} has {value:point}.", reveals_hidden_value=True, closes=Part.HAND)
GATHERS = TABLE.event("gather", Op.MOVE_ALL, "All cards are gathered.", is_detail=True)
SHUFFLES = TABLE.event("shuffle", Op.SHUFFLE, "The cards are shuffled.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.", reveals_hidden_value=True)
FORFEITS = declare_forfeit(TABLE)
