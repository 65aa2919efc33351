"""Plain Whist: options, state, table and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np
from cardenvs.core import events as ev
from cardenvs.core.events import Op, Part, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import random_below, start_stream
from cardenvs.kits.cards import FULL, NUM_CARDS, SUIT_SETS
from cardenvs.kits.deck import begin_world, deal_hands, deck_fields, shuffle_deck, stock_of
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import declare_forfeit, leave, pay_sides, side_of
from cardenvs.kits.tricks import (
    ACE_HIGH,
    Ranking,
    Tricks,
    clear_tricks,
    height,
    redeal_tricks,
    suit_of,
    trick_fields,
    trump_of_record,
)

NUM_PLAYERS = 4
NUM_SIDES = 2
NUM_TRICKS = 13
BOOK = 6  # tricks that score nothing
MOST_POINTS = NUM_TRICKS - BOOK
_TRUMP = 1  # chance source


@dataclass(frozen=True)
class PlainWhistOptions(Options):
    """Options of Plain Whist."""

    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players, in two partnerships")


STATE = record(
    rules_dtype(PlainWhistOptions),
    NUM_PLAYERS,
    [
        *deck_fields(NUM_CARDS),
        *trick_fields(NUM_PLAYERS, NUM_TRICKS),
        ("trump", "i1"),  # suit                                                    seen by: all
        ("tricks_won", "i1", (NUM_SIDES,)),  #                                      seen by: all
    ],
)

TABLE = Table(NUM_PLAYERS)
DECK = TABLE.pile("deck", layout="stack", tokens=stock_of, seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner")
PLAYED = TABLE.pile("played", per_player=True, ordered=True, layout="trick", tokens="played")
TRUMP = TABLE.counter("trump", use="none", value="trump")
TRICKS_WON = TABLE.counter("tricks_won", per_player=True, value="tricks_won")  # by side; 0 for players 2 and 3
SHUFFLE = TABLE.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
NEW_TRUMP = TABLE.event("trump", Op.SET, "Suit {value} of s c d h, counted from 0, is trump.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
WINS_TRICK = TABLE.event("win_trick", Op.SET, "{player} wins the trick; the side has {value}.", closes=Part.TRICK)
FORFEITS = declare_forfeit(TABLE)


# ---------------------------------------------------------------------------------------------------------------
# Deal and play


TRICKS = Tricks(TABLE, Ranking.plain(FULL, ACE_HIGH, trump_of_record))  # (3.2)
led_suit, winner_of_trick, strength = TRICKS.led_suit, TRICKS.winner, TRICKS.ranking.strength
playable, explain_card, take_turn = TRICKS.playable, TRICKS.explain, TRICKS.take_turn


@kernel
def deal(s, given, log):
    """Deal 13 cards to each player; a suit is drawn as trump (2.1)."""
    start_stream(s, _TRUMP, 0)
    s.trump = random_below(s.rng, 4)
    shuffle_deck(s, NUM_CARDS, 0, given)
    ev.log_create(log, SHUFFLE, DECK, NUM_CARDS)
    ev.log_set(log, NEW_TRUMP, ev.NO_PLAYER, TRUMP, s.trump)
    deal_hands(s, NUM_TRICKS, DEALT, DECK, HAND, log)
    clear_tricks(s)
    s.leader = s.current_player = 0


@kernel(inline=True)
def legal_actions(s, out):
    """List the cards that may be played (3.1)."""
    return list_bits(playable(s, s.current_player), 0, out, 0)


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if a card may be played, else NOT_HELD or MUST_FOLLOW."""
    return explain_card(s, s.current_player, action)


@kernel
def apply_action(s, action, log):
    """Play a card; who wins the trick leads next, and the last trick ends the game (3.1, 3.2)."""
    winner = take_turn(s, action, log)
    if winner == ev.NO_PLAYER:
        return
    side = side_of(winner, NUM_SIDES)
    s.tricks_won[side] += 1
    ev.log_set(log, WINS_TRICK, winner, TRICKS_WON + side, s.tricks_won[side])
    if s.trick == NUM_TRICKS:
        s.terminal = 1
        if s.tricks_won[0] > BOOK:
            pay_sides(s, s.tricks_won[0] - BOOK)  # (1.2)
        else:
            pay_sides(s, BOOK - s.tricks_won[1])


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the most that can be lost (4.1)."""
    leave(s, player, FORFEITS, log)
    pay_sides(s, -MOST_POINTS if side_of(player, NUM_SIDES) == 0 else MOST_POINTS)
    s.terminal = 1


@kernel
def determinize(s, player, seed):
    """Re-deal the hands that `player` does not see; no hand gets a suit that its owner has shown not to hold (5.1)."""
    begin_world(s, seed)
    redeal_tricks(s, player, SUIT_SETS, s.deck)


# ---------------------------------------------------------------------------------------------------------------
# A policy


@kernel
def heuristic(s, legal, n, rng):
    """Win the trick as cheaply as possible, unless the partner wins it; otherwise play the lowest card."""
    player = np.int64(s.current_player)
    led = led_suit(s)
    best, cheapest = np.int64(-1), np.int64(legal[0])
    winner = winner_of_trick(s)
    to_beat = strength(s, np.int64(s.played[winner, s.trick]), led) if led >= 0 else -1
    for k in range(n):
        card = np.int64(legal[k])
        value = strength(s, card, suit_of(card) if led < 0 else led)
        if height(card) < height(cheapest):
            cheapest = card
        if value > to_beat and (best < 0 or height(card) < height(best)):
            best = card
    if led < 0:
        return cheapest
    return cheapest if best < 0 or side_of(winner, NUM_SIDES) == side_of(player, NUM_SIDES) else best


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = max_length = NUM_CARDS  # an id for each card; each is played once
max_legal = NUM_TRICKS  # a whole hand
returns = Returns(-MOST_POINTS, MOST_POINTS, 0, "points")  # a point for each trick above six (1.2)
