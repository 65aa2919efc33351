"""The table of Contract Bridge, and the kinds of event that change it."""

from cardenvs.core.events import Op, Part, Table
from cardenvs.games.bridge.state import NUM_PLAYERS
from cardenvs.kits.matches import declare_forfeit
from cardenvs.kits.tricks import card_in_trick


def faced_cards(s, player):
    """Return the hand of dummy, once it is faced."""
    return s.hands[player] if s.is_faced and player == (s.declarer + 2) % NUM_PLAYERS else 0


def cards_won(s, player):
    """Return the cards of the tricks that `player` has won, in order."""
    over = slice(0, int(s.trick))
    return s.played[:, over][:, s.winners[over] == player].T


TABLE = Table(NUM_PLAYERS)

PACK = TABLE.pile("pack", layout="none")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known=faced_cards)
TRICK = TABLE.pile("trick", per_player=True, layout="trick", tokens=card_in_trick)
TRICKS = TABLE.pile("tricks", per_player=True, layout="stack", tokens=cards_won)

DEALER = TABLE.counter("dealer", use="player", value="dealer")
BOARD = TABLE.counter("board", use="none", value="board")
VULNERABLE = TABLE.counter("vulnerable", use="none", value="vulnerable")  # bit set of sides
CONTRACT = TABLE.counter("contract", use="none", value=lambda s: s.contract + 1)  # 0, or the number of the last bid
DOUBLED = TABLE.counter("doubled", use="none", value="doubled")
DECLARER = TABLE.counter("declarer", use="none", value=lambda s: s.declarer + 1)  # 0, or the number of the player
# By side; 0 for players 2 and 3
SIDE_TRICKS = TABLE.counter("tricks_won", per_player=True, use="none", value="tricks_won")
BELOW = TABLE.counter("below_the_line", per_player=True, use="none", value="below")
GAMES = TABLE.counter("games", per_player=True, use="none", value="games")
TOTAL = TABLE.counter("total", per_player=True, use="none", value="totals")
DEAL_NUMBER = TABLE.counter("deal_number", use="none", value="num_deals")

CLEAR_TABLE = TABLE.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
NEW_DEAL = TABLE.event("new_deal", Op.SET, "Deal {value}.", opens=Part.HAND)
NEW_BOARD = TABLE.event("board", Op.SET, "Board {value}.")
IS_DEALER = TABLE.event("dealer", Op.SET, "{player} deals.")
IS_VULNERABLE = TABLE.event("vulnerable", Op.SET, "Vulnerable: {value}.")
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
NO_CONTRACT = TABLE.event("no_contract", Op.SET, "Nobody has bid.", is_detail=True)
# With phase="play" the natural bidder makes the calls, by the cards that it holds (rules.md 7.1).
CALLS = TABLE.event("call", Op.NOTE, "{player}: {value}", reveals_hidden_value=True)
BIDS = TABLE.event("bid", Op.SET, "{player}: {value}", reveals_hidden_value=True)
DOUBLES = TABLE.event("double", Op.SET, "Doubled: {value}.", is_detail=True, reveals_hidden_value=True)
DECLARES = TABLE.event("declare", Op.SET, "{player} is declarer.", reveals_hidden_value=True)
PASSED_OUT = TABLE.event("passed_out", Op.NOTE, "All four passed.", closes=Part.HAND)
FACES = TABLE.event("face", Op.REVEAL, "{player} lays down {token}.", is_detail=True)
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = TABLE.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
WINS_TRICK = TABLE.event("win_trick", Op.NOTE, "{player} wins trick {value}.", closes=Part.TRICK)
HAS_TRICKS = TABLE.event("has_tricks", Op.SET, "{player}'s side has {value:trick}.", is_detail=True)
SCORES = TABLE.event("score", Op.NOTE, "{player}'s side scores {value}.", closes=Part.HAND)
BELOW_LINE = TABLE.event("below_the_line", Op.SET, "{player}'s side has {value} below the line.", closes=Part.HAND)
WINS_GAME = TABLE.event("win_game", Op.SET, "{player}'s side has won {value:game}.", closes=Part.HAND)
HAS_TOTAL = TABLE.event("total", Op.SET, "{player}'s side has {value:point}.", closes=Part.HAND)
HONOURS = TABLE.event("honours", Op.NOTE, "{player} held honours worth {value}.", closes=Part.HAND)
FORFEITS = declare_forfeit(TABLE)
