"""Goofspiel: options, state, table and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np
from cardenvs.core import events as ev
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import canonical_shuffle, random_below
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.deck import begin_world, deck_fields, next_card, shuffle_deck
from cardenvs.kits.listing import list_bits

NUM_PLAYERS = 2
MAX_CARDS = 13
NO_BID = -1


@dataclass(frozen=True)
class GoofspielOptions(Options):
    """Options of Goofspiel. Two players: `num_players` is inherited."""

    num_cards: int = option(5, low=2, high=MAX_CARDS, doc="cards of each player, and prizes")


# Card k has the number k + 1.
STATE = record(
    rules_dtype(GoofspielOptions),
    NUM_PLAYERS,
    [
        *deck_fields(MAX_CARDS),  # the prizes
        ("prize", "i1"),  # turned up                                                       seen by: all
        ("hands", "i8", (NUM_PLAYERS,)),  # bit sets; a bid leaves when it is turned over   seen by: all
        ("bids", "i1", (NUM_PLAYERS,)),  # the card chosen in this round, or NO_BID         seen by: its owner
    ],
)

TABLE = Table(NUM_PLAYERS)
STOCK = TABLE.pile("prizes", layout="stack", tokens=lambda s: s.deck[int(s.num_dealt) : int(s.rules.num_cards)],
                   seen="nobody")  # fmt: skip
PRIZE = TABLE.pile("prize")
GONE = TABLE.pile("gone", layout="stack")
HAND = TABLE.counter("hand", per_player=True, use="none", value="hands")
BID = TABLE.counter("bid", per_player=True)
NEW_DECK = TABLE.event("new_deck", Op.CREATE, "{value} prizes are shuffled.")
HOLDS = TABLE.event("hold", Op.SET, "{player} has all cards.", is_detail=True)
TURNS_UP = TABLE.event("turn_up", Op.MOVE, "The prize is {token}.")
BIDS = TABLE.event("bid", Op.SET, "{player} chooses a card.")
SHOWS = TABLE.event("show", Op.SET, "{player} has bid {value}.", reveals_hidden_value=True)
PLAYS = TABLE.event("play", Op.SET, "{player} has that card no more.", is_detail=True, reveals_hidden_value=True)
CLEARS = TABLE.event("clear", Op.SET, "{player} has no bid.", is_detail=True)
WINS = TABLE.event("win", Op.NOTE, "{player} wins {value:point}.", reveals_hidden_value=True, closes=Part.TRICK)
TIES = TABLE.event("tie", Op.NOTE, "The bids are equal, and nobody wins.", reveals_hidden_value=True, closes=Part.TRICK)
TAKES_AWAY = TABLE.event("take_away", Op.MOVE, "{token} is out of the game.", is_detail=True)
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")


@kernel(inline=True)
def deal(s, given, log):
    """Give everybody all cards, shuffle the prizes, and turn up the first (1.1, 2.1)."""
    n = s.rules.num_cards
    shuffle_deck(s, n, 0, given)
    ev.log_create(log, NEW_DECK, STOCK, n)
    for p in range(NUM_PLAYERS):
        s.hands[p] = (np.int64(1) << n) - 1
        ev.log_set(log, HOLDS, p, HAND + p, s.hands[p])
    _begin_round(s, log)


@kernel(inline=True)
def _begin_round(s, log):
    """Turn up a prize; player 0 chooses first (2.1, 2.2)."""
    for p in range(NUM_PLAYERS):
        s.bids[p] = NO_BID
        ev.log_set(log, CLEARS, p, BID + p, 0)
    s.prize = next_card(s)
    ev.log_move(log, TURNS_UP, ev.NO_PLAYER, s.prize, STOCK, PRIZE, ev.EVERYBODY)
    s.current_player = 0


@kernel(inline=True)
def legal_actions(s, out):
    """List the cards in hand (2.1)."""
    return list_bits(s.hands[s.current_player], 0, out, 0)


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 1 for a card that is out of the game, else 0."""
    return 0 if s.hands[s.current_player] >> action & 1 else 1


@kernel(inline=True)
def apply_action(s, action, log):
    """Choose a card, which the other player does not see; the second choice ends the round (2.2)."""
    player = np.int64(s.current_player)
    s.bids[player] = action
    ev.log_event(log, BIDS, player, ev.UNKNOWN, BID + player, ev.NO_PLACE, action + 1, 1 << player, ev.EVERYBODY)
    if player == 0:
        s.current_player = 1
    else:
        _end_round(s, log)


@kernel(inline=True)
def _end_round(s, log):
    """Turn the bids over; the higher one wins the prize (2.3, 2.4)."""
    for p in range(NUM_PLAYERS):
        ev.log_set(log, SHOWS, p, BID + p, s.bids[p] + 1)
        s.hands[p] ^= np.int64(1) << s.bids[p]
        ev.log_set(log, PLAYS, p, HAND + p, s.hands[p])
    if s.bids[0] == s.bids[1]:
        ev.log_note(log, TIES, ev.NO_PLAYER, 0)
    else:
        _win(s, 0 if s.bids[0] > s.bids[1] else 1, s.prize + 1, log)
    ev.log_move(log, TAKES_AWAY, ev.NO_PLAYER, s.prize, PRIZE, GONE, ev.EVERYBODY)
    if s.num_dealt == s.rules.num_cards:
        s.terminal = 1
    else:
        _begin_round(s, log)


@kernel(inline=True)
def _win(s, winner, points, log):
    """`winner` gets points from the other player (3.1)."""
    s.rewards[winner], s.rewards[1 - winner] = points, -points
    ev.log_note(log, WINS, winner, points)


@kernel(inline=True)
def forfeit(s, player, log):
    """The other player gets this prize and all that are left (4.1)."""
    s.active[player] = 0
    ev.log_note(log, FORFEITS, player, 0)
    points = s.prize + 1
    for k in range(s.num_dealt, s.rules.num_cards):
        points += s.deck[k] + 1
    _win(s, 1 - player, points, log)
    s.terminal = 1


@kernel(inline=True)
def determinize(s, player, seed):
    """Shuffle the prizes that are left, and choose a card of the other player again, if there is one."""
    begin_world(s, seed)
    canonical_shuffle(s, s.deck, s.num_dealt, s.rules.num_cards)
    if player == 1 and s.bids[0] != NO_BID and s.bids[1] == NO_BID:
        s.bids[0] = _nth_card(s.hands[0], random_below(s.rng, count_bits(s.hands[0])))


@kernel(inline=True)
def _nth_card(cards, k):
    for _ in range(k):
        cards &= cards - 1
    return lowest_card(cards)


def deck(options):
    """Return all prizes (1.1)."""
    return np.arange(options.num_cards, dtype=np.int16)


def dealt_tokens(options):
    """Return the number of prizes: their order decides all chance."""
    return options.num_cards


def num_actions(options):
    """Count the cards of a player."""
    return options.num_cards


def max_length(options):
    """Two choices for each prize."""
    return NUM_PLAYERS * options.num_cards


def returns(options):
    """All prizes won or lost."""
    most = options.num_cards * (options.num_cards + 1) // 2
    return Returns(-most, most, 0, "points")
