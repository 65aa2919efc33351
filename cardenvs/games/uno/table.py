"""The table of Uno, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.uno.state import MAX_PLAYERS
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.shedding import pile_of, stock_of

TABLE = Table(MAX_PLAYERS)

STOCK = TABLE.pile("draw_pile", layout="stack", tokens=stock_of, seen="nobody")
PILE = TABLE.pile("discards", ordered=True, layout="stack", tokens=pile_of)
HAND = TABLE.pile("hand", per_player=True, layout="hand")
DRAWN = TABLE.pile("drawn", per_player=True)
PASSING = TABLE.pile("passing", layout="none")  # a hand on its way to another player

COLOUR = TABLE.counter("colour", value="colour")
DIRECTION = TABLE.counter("direction", value="direction")
OWED = TABLE.counter("owed", use="none", value="owed")
DEALER = TABLE.counter("dealer", use="player", value="dealer")
ROUND = TABLE.counter("round", use="none", value="num_hands")
SCORE = TABLE.counter("score", per_player=True, value="scores")

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
NEW_ROUND = TABLE.event("round", Op.SET, "Round {value} begins.", opens=Part.HAND)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "{token} is turned up.")
GOES_BACK = TABLE.event("go_back", Op.MOVE, "{token} goes back into the draw pile.")
SHUFFLES = TABLE.event("shuffle", Op.SHUFFLE, "The draw pile is shuffled.")
NEW_COLOUR = TABLE.event("colour", Op.SET, "The colour is {value}.", is_detail=True)
NEW_DIRECTION = TABLE.event("direction", Op.SET, "Play goes to the other side.", is_detail=True)
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
PLAYS_DRAWN = TABLE.event("play_drawn", Op.MOVE, "{player} plays {token}, the card just drawn.")
JUMPS_IN = TABLE.event("jump_in", Op.MOVE, "{player} jumps in with {token}.")
NAMES = TABLE.event("name", Op.SET, "{player} names {value}.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
# How many cards are drawn shows which of them do not fit (7.2).
DRAWS_ON = TABLE.event(
    "draw_on", Op.MOVE, "{player} draws {token}, which does not fit.", reveals_hidden_value=True, is_detail=True
)
DRAWS_PLAYED = TABLE.event("draw_played", Op.MOVE, "{player} draws {token}, which is played at once.")
KEEPS = TABLE.event("keep", Op.MOVE, "{player} keeps {token}.", closes=Part.TRICK)
NO_CARDS = TABLE.event("no_cards", Op.NOTE, "There is no card for {player} to draw.", closes=Part.TRICK)
IS_SKIPPED = TABLE.event("skip", Op.NOTE, "{player} is skipped.", closes=Part.TRICK)
OWES = TABLE.event("owe", Op.SET, "{value:card} must be drawn, or added to.", is_detail=True)
CHALLENGES = TABLE.event("challenge", Op.NOTE, "{player} challenges the Wild Draw Four.")
SHOWS_HAND = TABLE.event("show_hand", Op.REVEAL, "{player} has to show {token}.", is_detail=True)
IS_GUILTY = TABLE.event("guilty", Op.NOTE, "{player} held a card of the colour.", reveals_hidden_value=True)
IS_INNOCENT = TABLE.event("innocent", Op.NOTE, "{player} held no card of the colour.", reveals_hidden_value=True)
SAYS_UNO = TABLE.event("uno", Op.NOTE, "{player} says Uno.")
IS_CAUGHT = TABLE.event("caught", Op.NOTE, "{player} is caught without having said Uno.")
SWAPS = TABLE.event("swap", Op.NOTE, "{player} swaps hands with player_{value}.")
HANDS_ON = TABLE.event("hand_on", Op.NOTE, "All hands are passed on.")
MOVES_HAND = TABLE.event("move_hand", Op.MOVE_ALL, "A hand goes to the next player.", is_detail=True)
RECEIVES = TABLE.event("receive", Op.REVEAL, "{player} receives {token}.", is_detail=True)
LIFTS_TOP = TABLE.event("lift_top", Op.MOVE, "{token} is lifted.", is_detail=True)
RECYCLES = TABLE.event("recycle", Op.MOVE_ALL, "The other discards become the draw pile.")
LAYS_TOP = TABLE.event("lay_top", Op.MOVE, "{token} stays on top.", is_detail=True)
GOES_OUT = TABLE.event("go_out", Op.NOTE, "{player} has played the last card and wins the round.", closes=Part.HAND)
NO_WINNER = TABLE.event("no_winner", Op.NOTE, "After {value:turn} the round is drawn.", closes=Part.HAND)
IS_LEFT_WITH = TABLE.event("left_with", Op.REVEAL, "{player} is left with {token}.", is_detail=True)
NEW_SCORE = TABLE.event(
    "score", Op.SET, "{player} has {value:point}.", reveals_hidden_value=True, closes=Part.HAND
)  # fmt: skip
GATHERS = TABLE.event("gather", Op.MOVE_ALL, "All cards are gathered.", is_detail=True)
WINS = TABLE.event("win", Op.NOTE, "{player} wins the match.", reveals_hidden_value=True)
DRAWN_MATCH = TABLE.event("drawn", Op.NOTE, "After {value:round} the match is over.")
FORFEITS = declare_forfeit(TABLE)
