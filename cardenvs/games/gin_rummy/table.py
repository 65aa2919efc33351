"""The table of gin rummy, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.gin_rummy.melds import MAX_MELDS
from cardenvs.games.gin_rummy.state import NUM_PLAYERS
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.matches import declare_forfeit


def stock(s):
    """Return the cards of the stock, the next one last."""
    return s.deck[NUM_CARDS - int(s.num_stock) :][::-1]


TABLE = Table(NUM_PLAYERS)

STOCK = TABLE.pile("stock", ordered=True, layout="stack", tokens=stock, seen="nobody")
DISCARD_PILE = TABLE.pile(
    "discard_pile", ordered=True, layout="fan", tokens=lambda s: s.discard_pile[: int(s.num_discards)]
)
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known="known")
MELD, *_ = [
    TABLE.pile(f"meld_{k + 1}", per_player=True, cards=lambda s, p, k=k: s.melds[p, k]) for k in range(MAX_MELDS)
]
"""Meld k of player p is pile MELD + k * NUM_PLAYERS + p."""

HAND_NUMBER = TABLE.counter("hand_number", value=lambda s: s.hand_number + 1)  # 1, 2, ...
DEALER = TABLE.counter("dealer", use="player", value="dealer")
KNOCK_LIMIT = TABLE.counter("knock_limit", value="knock_limit")
DOUBLED = TABLE.counter("doubled", use="none", value="doubled")
SCORE = TABLE.counter("score", per_player=True, value="scores")
HANDS_WON = TABLE.counter("hands_won", per_player=True, value="hands_won")

NEW_HAND = TABLE.event("new_hand", Op.SET, "Hand {value} begins.", opens=Part.HAND)
CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NEW_STOCK = TABLE.event("new_stock", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
DEAL = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
FIRST_UPCARD = TABLE.event("first_upcard", Op.MOVE, "The first upcard is {token}.")
NEW_LIMIT = TABLE.event("knock_limit", Op.SET, "The knock limit of this hand is {value}.")
NEW_DOUBLED = TABLE.event("doubled", Op.SET, "The points of this hand count twice: {value}.")
PASSES = TABLE.event("pass", Op.NOTE, "{player} passes.")
TAKE_UPCARD = TABLE.event("take_upcard", Op.MOVE, "{player} takes {token} from the discard pile.")
DRAW_STOCK = TABLE.event("draw_stock", Op.MOVE, "{player} draws {token} from the stock.")
DISCARD = TABLE.event("discard", Op.MOVE, "{player} discards {token}.")
KNOCKS = TABLE.event("knock", Op.NOTE, "{player} knocks.")
LAY_MELD = TABLE.event("lay_meld", Op.MOVE, "{player} melds {token}.")
LAY_OFF = TABLE.event("lay_off", Op.MOVE, "{player} lays off {token} on {target}.")
SHOW = TABLE.event("show", Op.REVEAL, "{player} turns up {token}.")
DEADWOOD = TABLE.event("deadwood", Op.NOTE, "{player} has {value:point} of deadwood.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins {value:point}.", closes=Part.HAND)
NO_POINTS = TABLE.event("no_points", Op.NOTE, "Nobody scores in this hand.", closes=Part.HAND)
VOID = TABLE.event("void", Op.NOTE, "The hand is void.", closes=Part.HAND)
FORFEIT = declare_forfeit(TABLE, Part.HAND)
NEW_SCORE = TABLE.event("score", Op.SET, "{player} has a score of {value}.", closes=Part.HAND)
NEW_HANDS_WON = TABLE.event("hands_won", Op.SET, "{player} has won {value:hand}.", closes=Part.HAND)
MATCH_TOTAL = TABLE.event("match_total", Op.NOTE, "With all bonuses {player} has {value:point}.")
