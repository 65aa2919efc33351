"""The table of fishing games. Every game's table starts with these piles, counters and kinds of event."""

import copy

from cardenvs.core.events import Op, Part, Table
from cardenvs.kits.deck import stock_of
from cardenvs.kits.fishing.state import MAX_PLAYERS
from cardenvs.kits.matches import declare_forfeit

_SHARED = Table(MAX_PLAYERS)


def declare_piles(table: Table) -> tuple[int, int, int, int]:
    """Declare stock, table, hands and captured cards as the first piles of a table, and return their ids."""
    return (
        table.pile("stock", layout="stack", tokens=stock_of, seen="nobody"),
        table.pile("table", cards="table"),
        table.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner"),
        table.pile("won", per_player=True, layout="won", cards="won"),  # by side: side k has the pile of player k
    )


def declare_counters(table: Table, sweeps: str) -> tuple[int, int, int, int]:
    """Declare hand number, dealer, sweeps and scores as the first counters of a table, and return their ids."""
    return (
        table.counter("hand_number", value="num_hands"),
        table.counter("dealer", use="player", value="dealer"),
        table.counter(sweeps, per_player=True, value="sweeps"),  # by side
        table.counter("score", per_player=True, value="scores"),  # by side
    )


STOCK, BOARD, HAND, WON = declare_piles(_SHARED)

HAND_NUMBER, DEALER, SWEEPS, SCORE = declare_counters(_SHARED, "sweeps")

CLEAR_TABLE = _SHARED.event("clear_table", Op.CLEAR, "The cards are gathered.", is_detail=True)
NEW_HAND = _SHARED.event("new_hand", Op.SET, "Hand {value}.", opens=Part.HAND)
IS_DEALER = _SHARED.event("dealer", Op.SET, "{player} deals.", is_detail=True)
NEW_SWEEPS = _SHARED.event("new_sweeps", Op.SET, "{player}'s side has {value:sweep}.", is_detail=True)
SHUFFLE = _SHARED.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
DEALT = _SHARED.event("deal", Op.MOVE, "{player} is dealt {token}.")
LAID_OUT = _SHARED.event("lay_out", Op.MOVE, "{token} is laid on the table.")
TRAILS = _SHARED.event("trail", Op.MOVE, "{player} lays {token}.")
PLAYS = _SHARED.event("play", Op.MOVE, "{player} plays {token}.")
TAKES = _SHARED.event("take", Op.MOVE, "{player} takes {token}.")
SWEEP = _SHARED.event("sweep", Op.SET, "A sweep! {player}'s side has {value}.")
NEW_SCORE = _SHARED.event("score", Op.SET, "{player}'s side has a score of {value}.", closes=Part.HAND)
GETS_REST = _SHARED.event("get_rest", Op.MOVE_ALL, "The cards left on the table go to {player}'s side.")
MOST_CARDS = _SHARED.event("most_cards", Op.NOTE, "{player}'s side has most cards.")
MOST_SPADES = _SHARED.event("most_spades", Op.NOTE, "{player}'s side has most spades.")
WINS = _SHARED.event("win", Op.NOTE, "{player}'s side wins the match.")
DRAWN = _SHARED.event("drawn", Op.NOTE, "Nobody wins after {value:hand}.")
FORFEITS = declare_forfeit(_SHARED)


def new_table():
    """Return a table with all of the above, to which a game adds its own."""
    return copy.deepcopy(_SHARED)
