"""High Card: options, state, actions and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

from cardenvs.core import events as ev
from cardenvs.core.events import Op, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, DETERMINIZE, canonical_shuffle, shuffle_rest, start_stream

NUM_PLAYERS = 2
NUM_CARDS = 13  # one suit; card id = rank: 0 the deuce, 12 the ace
NOT_SWAPPED = -1

KEEP, SWAP = 0, 1  # actions
NUM_ACTIONS = 2

SWAP_BELOW = 7  # the heuristic swaps a card below the nine


@dataclass(frozen=True)
class HighCardOptions(Options):
    """Options of High Card. Two players: `num_players` is inherited."""

    stake: int = option(1, low=1, high=100, doc="points that the winner gets from the loser")


STATE = record(
    rules_dtype(HighCardOptions),
    NUM_PLAYERS,
    [
        ("deck", "i1", (NUM_CARDS,)),  # dealing order: deck[p] is p's first card; undealt from num_dealt on
        ("drawn_at", "i1", (NUM_PLAYERS,)),  # index in deck of the card that p drew, or NOT_SWAPPED
        ("num_dealt", "i1"),  # 2..4                                              seen by: all
    ],
)  # seen by: a card's owner sees it, nobody else does; who has swapped is public

TABLE = Table(NUM_PLAYERS)
DECK = TABLE.pile("deck", layout="stack")
HAND = TABLE.pile("hand", per_player=True, layout="hand")
ASIDE = TABLE.pile("aside", per_player=True)
NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
KEEPS = TABLE.event("keep", Op.NOTE, "{player} keeps the card.")
SETS_ASIDE = TABLE.event("set_aside", Op.MOVE, "{player} sets {token} aside.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins.", reveals_hidden_value=True)
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")


# ---------------------------------------------------------------------------------------------------------------
# Dealing


@kernel(inline=True)
def deal(s, given, log):
    """Deal one card to each player (2.1)."""
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    ev.log_create(log, NEW_DECK, DECK, NUM_CARDS)
    for p in range(NUM_PLAYERS):
        s.drawn_at[p] = NOT_SWAPPED
        ev.log_move(log, DEALT, p, s.deck[p], DECK, HAND + p, 1 << p)
    s.num_dealt = NUM_PLAYERS
    s.current_player = 0


# ---------------------------------------------------------------------------------------------------------------
# Acting


@kernel(inline=True)
def legal_actions(s, out):
    """Keep and swap, always (2.2)."""
    out[0] = KEEP
    out[1] = SWAP
    return 2


@kernel(inline=True)
def apply_action(s, action, log):
    """Keep or swap for the player to act; after player 1 the cards are compared (2.2, 3.1)."""
    player = s.current_player
    if action == SWAP:
        _swap(s, player, log)
    else:
        ev.log_note(log, KEEPS, player, 0)
    if player == 0:
        s.current_player = 1
    else:
        _win(s, 0 if held(s, 0) > held(s, 1) else 1, log)


@kernel(inline=True)
def held(s, player):
    """The card in `player`'s hand."""
    return s.deck[player] if s.drawn_at[player] == NOT_SWAPPED else s.deck[s.drawn_at[player]]


@kernel(inline=True)
def _swap(s, player, log):
    """Set the old card aside and draw the top one (2.2). All see the moves, only the owner the cards."""
    ev.log_move(log, SETS_ASIDE, player, s.deck[player], HAND + player, ASIDE + player, 1 << player)
    s.drawn_at[player] = s.num_dealt
    s.num_dealt += 1
    ev.log_move(log, DRAWS, player, held(s, player), DECK, HAND + player, 1 << player)


@kernel(inline=True)
def _win(s, winner, log):
    """`winner` gets the stake and the game is over (1.2, 3.2)."""
    s.rewards[winner] = s.rules.stake
    s.rewards[1 - winner] = -s.rules.stake
    s.terminal = 1
    ev.log_note(log, WINS, winner, 0)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` has lost (4.1)."""
    s.active[player] = 0
    ev.log_note(log, FORFEITS, player, 0)
    _win(s, 1 - player, log)


# ---------------------------------------------------------------------------------------------------------------
# Search and policies


@kernel(inline=True)
def determinize(s, player, seed):
    """Re-deal every card but those that `player` has held, which stay where they are in the deck."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    drawn = s.drawn_at[player]
    num_known = 1 if drawn == NOT_SWAPPED else 2
    s.deck[0], s.deck[player] = s.deck[player], s.deck[0]
    if num_known == 2:
        s.deck[1], s.deck[drawn] = s.deck[drawn], s.deck[1]
    canonical_shuffle(s, s.deck, num_known, NUM_CARDS)
    if num_known == 2:
        s.deck[1], s.deck[drawn] = s.deck[drawn], s.deck[1]
    s.deck[0], s.deck[player] = s.deck[player], s.deck[0]


@kernel
def heuristic(s, legal, n, rng):
    """Swap a low card. Reads no more than the player to act may know."""
    return SWAP if held(s, s.current_player) < SWAP_BELOW else KEEP


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = NUM_ACTIONS  # keep and swap
max_length = NUM_PLAYERS  # one action each


def returns(options):
    """The stake, won or lost."""
    return Returns(-options.stake, options.stake, 0, "points")
