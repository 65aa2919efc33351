"""The table of Scopa, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.scopa.state import MAX_PLAYERS

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("stock", layout="stack")
BOARD = TABLE.pile("table")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
WON = TABLE.pile("won", per_player=True, layout="fan")  # by side: the sides are numbered like their first players

HAND_NUMBER = TABLE.counter("hand_number")
DEALER = TABLE.counter("dealer", use="player")
SCOPE = TABLE.counter("scope", per_player=True)  # by side
SCORE = TABLE.counter("score", per_player=True)  # by side

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NO_SCOPE = TABLE.event("no_scope", Op.SET, "{player}'s side has no scopa.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.")
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
LAID_OUT = TABLE.event("lay_out", Op.MOVE, "{token} is laid on the table.")
VOID = TABLE.event("void", Op.NOTE, "{value} kings on the table: the deal is void.")
LAYS = TABLE.event("lay", Op.MOVE, "{player} lays {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = TABLE.event("take", Op.MOVE, "{player} takes {token}.")
SCOPA = TABLE.event("scopa", Op.SET, "Scopa! {player}'s side has {value}.")
GETS_REST = TABLE.event("get_rest", Op.MOVE_ALL, "The cards left on the table go to {player}'s side.")
MOST_CARDS = TABLE.event("most_cards", Op.NOTE, "{player}'s side has most cards: 1 point.")
MOST_DIAMONDS = TABLE.event("most_diamonds", Op.NOTE, "{player}'s side has most diamonds: 1 point.")
SETTEBELLO = TABLE.event("settebello", Op.NOTE, "{player}'s side has the settebello: 1 point.")
PRIMIERA = TABLE.event("primiera", Op.NOTE, "{player}'s side has the best primiera: 1 point.")
REBELLO = TABLE.event("rebello", Op.NOTE, "{player}'s side has the king of diamonds: 1 point.")
NAPOLA = TABLE.event("napola", Op.NOTE, "{player}'s side has a napola: {value:point}.")
NEW_SCORE = TABLE.event("score", Op.SET, "{player}'s side has a score of {value}.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "Nobody wins after {value:hand}.")
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")
