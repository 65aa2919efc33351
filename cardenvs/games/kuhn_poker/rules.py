"""Kuhn poker: state, actions and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import Op, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, canonical_shuffle, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.kits.deck import begin_world

MAX_PLAYERS = 10
NO_BETTOR = -1

PASS, BET = 0, 1  # actions; facing a bet they are fold and call
NUM_ACTIONS = 2
MOST_CHIPS = 2  # that a player can put in, and puts in by forfeiting (4.1)


@dataclass(frozen=True)
class KuhnOptions(Options):
    """Options of Kuhn poker."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table; the deck has one card more")


STATE = record(
    rules_dtype(KuhnOptions),
    MAX_PLAYERS,
    [
        ("deck", "i1", (MAX_PLAYERS + 1,)),  # deck[p] is player p's card       seen by: its owner
        ("chips_in", "i1", (MAX_PLAYERS,)),  # 1 or 2, in the pot               seen by: all
        ("bettor", "i1"),  # who bet first, or NO_BETTOR                        seen by: all
        ("num_decisions", "i1"),  # 0..2n-1                                     seen by: all
        ("bet_bits", "i4"),  # bit k: decision k was a bet                      seen by: all
    ],
)

TABLE = Table(MAX_PLAYERS)
DECK = TABLE.pile("deck", layout="stack", tokens=lambda s: s.deck[s.rules.num_players], seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", tokens="deck", seen="owner")
CHIPS_IN = TABLE.counter("chips_in", per_player=True, use="chips", value="chips_in")
NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
ANTE = TABLE.event("ante", Op.SET, "{player} antes {value}.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
# The same events after a bet are a fold and a call, so their sentences hold for both.
PASSES = TABLE.event("pass", Op.NOTE, "{player} puts in nothing.")
BETS = TABLE.event("bet", Op.SET, "{player} puts in a chip and has {value:chip} in the pot.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins the pot of {value:chip}.")
FORFEITS = TABLE.event("forfeit", Op.SET, "{player} forfeits and has {value:chip} in the pot.")

_BET_COUNTS_FIRST = MAX_PLAYERS + 1  # above every rank


@kernel(inline=True)
def deal(s, given, log):
    """Ante and deal one card to each player (2.1)."""
    n = s.rules.num_players
    s.bettor = NO_BETTOR
    for card in range(n + 1):
        s.deck[card] = card
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, n + 1, given)
    ev.log_create(log, NEW_DECK, DECK, n + 1)
    for p in range(n):
        s.chips_in[p] = 1
        ev.log_set(log, ANTE, p, CHIPS_IN + p, 1)
        ev.log_move(log, DEALT, p, s.deck[p], DECK, HAND + p, 1 << p)


@kernel(inline=True)
def legal_actions(s, out):
    """Pass and bet, always (3.1)."""
    out[0] = PASS
    out[1] = BET
    return 2


@kernel(inline=True)
def apply_action(s, action, log):
    """Pass or bet for the player to act (3.1 to 3.3)."""
    player = np.int64(s.current_player)
    s.chips_in[player] = max(s.chips_in[player], 1 + action)
    s.bet_bits |= action << s.num_decisions
    s.num_decisions += 1
    if action == BET:
        ev.log_set(log, BETS, player, CHIPS_IN + player, 2)
        if s.bettor == NO_BETTOR:
            s.bettor = player
    else:
        ev.log_note(log, PASSES, player, 0)
    _next_turn(s, player, log)


@kernel(inline=True)
def _next_turn(s, player, log):
    """Give the turn to the next player who has one, or go to the showdown (3.2, 3.3)."""
    n = s.rules.num_players
    last = n if s.bettor == NO_BETTOR else s.bettor + n  # the seat after the last one to act, counted on past n
    seat = player + 1 if s.bettor == NO_BETTOR or player >= s.bettor else player + 1 + n
    while seat < last and not s.active[wrap(seat, n)]:
        seat += 1
    if seat < last:
        s.current_player = wrap(seat, n)
    else:
        _showdown(s, log)


@kernel(inline=True)
def _showdown(s, log):
    """The highest card of those who put in the second chip, or else of all, takes the pot (3.2 to 3.4, 4.1)."""
    winner, best = 0, -1
    for p in range(s.rules.num_players):
        strength = s.deck[p] + _BET_COUNTS_FIRST * (s.chips_in[p] - 1)
        if s.active[p] and strength > best:
            winner, best = p, strength
    _take_pot(s, winner, log)


@kernel(inline=True)
def _take_pot(s, winner, log):
    pot = 0
    for p in range(s.rules.num_players):
        pot += s.chips_in[p]
        if s.active[p]:  # the others have paid when they left
            s.rewards[p] = -s.chips_in[p]
    s.rewards[winner] += pot
    s.terminal = 1
    ev.log_note(log, WINS, winner, pot)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` puts in all that a game can cost and leaves it (4.1)."""
    s.active[player] = 0
    s.chips_in[player] = MOST_CHIPS
    s.rewards[player] = -MOST_CHIPS
    ev.log_set(log, FORFEITS, player, CHIPS_IN + player, MOST_CHIPS)
    left = 0
    last_left = 0
    for p in range(s.rules.num_players):
        if s.active[p]:
            left += 1
            last_left = p
    if left == 1:
        _take_pot(s, last_left, log)
    else:
        _next_turn(s, player, log)


@kernel(inline=True)
def determinize(s, player, seed):
    """Re-deal the cards that `player` does not hold."""
    begin_world(s, seed)
    n = s.rules.num_players
    s.deck[player], s.deck[0] = s.deck[0], s.deck[player]
    canonical_shuffle(s, s.deck, 1, n + 1)
    s.deck[player], s.deck[0] = s.deck[0], s.deck[player]


def deck(options):
    """All cards of the game (1.1)."""
    return np.arange(options.num_players + 1, dtype=np.int16)


def dealt_tokens(options):
    """One card for each player (2.1)."""
    return options.num_players


num_actions = NUM_ACTIONS  # pass and bet


def max_length(options):
    """All pass but the last player, who bets; then all others act once more."""
    return 2 * options.num_players - 1


def returns(options):
    """A player loses two chips at most, and wins two from each of the others (4.1)."""
    return Returns(-MOST_CHIPS, MOST_CHIPS * (options.num_players - 1), 0, "chips")
