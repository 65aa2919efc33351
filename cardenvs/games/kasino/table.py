"""The table of Kasino, and the kinds of event that change it."""

from cardenvs.core.events import Op, Table
from cardenvs.games.kasino.state import MAX_PLAYERS

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("stock")
BOARD = TABLE.pile("table")
HAND = TABLE.pile("hand", per_player=True)
WON = TABLE.pile("won", per_player=True)  # by side: the sides are numbered like their first players

HAND_NUMBER = TABLE.counter("hand_number")
DEALER = TABLE.counter("dealer")
SWEEPS = TABLE.counter("sweeps", per_player=True)  # by side
SCORE = TABLE.counter("score", per_player=True)  # by side

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value}.")
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.", is_detail=True)
NEW_SWEEPS = TABLE.event("new_sweeps", Op.SET, "{player}'s side has {value} sweeps.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
LAID_OUT = TABLE.event("lay_out", Op.MOVE, "{token} is laid on the table.")
TRAILS = TABLE.event("trail", Op.MOVE, "{player} lays {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = TABLE.event("take", Op.MOVE, "{player} takes {token}.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
SWEEP = TABLE.event("sweep", Op.SET, "A sweep! {player}'s side has {value}.")
SWEEPS_CANCEL = TABLE.event("sweeps_cancel", Op.NOTE, "Every side has a sweep: {value} of each counts no more.")
NEW_SCORE = TABLE.event("score", Op.SET, "{player}'s side has a score of {value}.")
GETS_REST = TABLE.event("get_rest", Op.MOVE_ALL, "The cards left on the table go to {player}'s side.")
MOST_CARDS = TABLE.event("most_cards", Op.NOTE, "{player}'s side has most cards.")
MOST_SPADES = TABLE.event("most_spades", Op.NOTE, "{player}'s side has most spades.")
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = TABLE.event("drawn", Op.NOTE, "Nobody wins after {value} hands.")
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")
