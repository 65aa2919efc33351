"""The table of Katko, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.katko.state import MAX_PLAYERS

TABLE = Table(MAX_PLAYERS)

REST = TABLE.pile("rest", layout="stack")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
SET_ASIDE = TABLE.pile("set_aside", per_player=True, layout="fan")
PLAYED = TABLE.pile("played", per_player=True, ordered=True)
GONE = TABLE.pile("gone", layout="stack")

DEALER = TABLE.counter("dealer", use="player")
SCORE = TABLE.counter("score", per_player=True)

NEW_DEAL = TABLE.event("new_deal", Op.SET, "Deal {value}.")
DEAL_NUMBER = TABLE.counter("deal_number")
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.")
PUT_AWAY = TABLE.event("put_away", Op.MOVE_ALL, "The cards of the last deal are put away.", is_detail=True)
PUT_HAND_AWAY = TABLE.event("put_hand_away", Op.MOVE, "{player} puts {token} away.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
SETS_ASIDE = TABLE.event("set_aside", Op.MOVE, "{player} sets {token} aside.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
KEEPS = TABLE.event("keep", Op.NOTE, "{player} exchanges no more.")
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} wins trick {value}.", closes=Part.TRICK)
SCORES = TABLE.event("score", Op.SET, "{player} has a score of {value}.", closes=Part.HAND)
POKER_HAND = TABLE.event("poker_hand", Op.NOTE, "{player} had the best poker hand.", closes=Part.HAND)
NO_POKER_HAND = TABLE.event("no_poker_hand", Op.NOTE, "No poker hand was better than all others.", closes=Part.HAND)
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.")
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")
