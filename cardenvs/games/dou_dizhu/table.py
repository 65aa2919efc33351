"""The table of Dou Dizhu, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.dou_dizhu import plays
from cardenvs.games.dou_dizhu.cards import listed
from cardenvs.games.dou_dizhu.state import NUM_PLAYERS
from cardenvs.kits.matches import declare_forfeit

TABLE = Table(NUM_PLAYERS)


def on_table(s, player):
    """Return the last play of a player in this trick as a list of ranks."""
    return listed(plays.PLAYS[int(s.on_table[player])]) if s.on_table[player] >= 0 else []


def played_before(s, player):
    """Return what a player has played before that as a list of ranks."""
    now = int(plays.PLAYS[int(s.on_table[player])]) if s.on_table[player] >= 0 else 0
    return listed(int(s.played[player]) - now)


DECK = TABLE.pile("deck", layout="none")
EXTRA = TABLE.pile("extra")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
ON_TABLE = TABLE.pile("on_table", per_player=True, layout="trick", tokens=on_table)
PLAYED = TABLE.pile("played", per_player=True, layout="fan", tokens=played_before)

BID = TABLE.counter("bid", per_player=True, use="none", value=lambda s, p: s.bids[p] + 1)
LANDLORD = TABLE.counter("landlord", use="player", value="landlord")
DOUBLINGS = TABLE.counter("doublings", value="doublings")

NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.", opens=Part.HAND)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
IS_LEFT = TABLE.event("left_over", Op.MOVE, "{token} is left over.", is_detail=True)
FACE_UP = TABLE.event("face_up", Op.REVEAL, "{player} was dealt the card that was turned up, {token}.")
NO_BIDS = TABLE.event("no_bid", Op.SET, "{player} has not bid yet.", is_detail=True)
NO_LANDLORD = TABLE.event("no_landlord", Op.SET, "There is no landlord yet.", is_detail=True)
BIDS = TABLE.event("bid", Op.SET, "{player} bids {value}.")
PASSES_BID = TABLE.event("pass_bid", Op.SET, "{player} passes.")
ALL_PASS = TABLE.event("all_pass", Op.NOTE, "All have passed.", closes=Part.HAND)
GATHERS = TABLE.event("gather", Op.MOVE_ALL, "All cards are gathered.", is_detail=True)
SHUFFLES = TABLE.event("shuffle", Op.SHUFFLE, "The deck is shuffled.", opens=Part.HAND)
IS_LANDLORD = TABLE.event("landlord", Op.SET, "{player} is the landlord.")
TAKES = TABLE.event("take", Op.MOVE, "{player} takes {token} of the cards left over.")
LAYS_BY = TABLE.event("lay_by", Op.MOVE_ALL, "The cards of {player} are laid by.", is_detail=True)
PLAYS = TABLE.event("play", Op.NOTE, "{player} plays {value}.")
LAYS_CARD = TABLE.event("lay", Op.MOVE, "{player} lays {token} down.", is_detail=True)
PASSES = TABLE.event("pass", Op.NOTE, "{player} passes.")
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} leads again.", closes=Part.TRICK)
DOUBLES = TABLE.event("double", Op.SET, "Bombs and rockets played: {value}.", is_detail=True)
SPRING = TABLE.event("spring", Op.NOTE, "Spring: the stake is doubled.")
GOES_OUT = TABLE.event("go_out", Op.NOTE, "{player} has no cards left; the stake is {value:point}.", closes=Part.HAND)
FORFEITS = declare_forfeit(TABLE)
