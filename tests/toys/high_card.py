"""High Card: the smallest game with all that the suite looks after, to test the suite itself on.

Two players, five cards, one each, one face up, two in the stock. In turn, each keeps the card or sets it aside face
down for another: the top of the stock, which only they see, or the face-up card, which everyone sees them take. The
higher card wins STAKE chips.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.core.events import (
    EVERYBODY,
    NO_PLAYER,
    Op,
    Table,
    log_create,
    log_move,
    log_note,
    log_set,
)
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.registry import register_game
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, DETERMINIZE, canonical_shuffle, shuffle_rest, start_stream
from cardenvs.core.view import View, sees

STAKE = 1
NUM_PLAYERS = 2
NUM_CARDS = 5
NO_CARD = -1

KEEP, SWAP, TAKE = 0, 1, 2
NUM_ACTIONS = 3
NOTHING_UP = 1  # what explain_illegal returns


@dataclass(frozen=True)
class HighCardOptions(Options):
    num_players: int = option(NUM_PLAYERS, low=NUM_PLAYERS, high=NUM_PLAYERS, doc="players at the table")


FIELDS = [
    ("deck", "i1", (NUM_CARDS,)),  # NO_CARD where dealt                           seen by: nobody
    ("deck_pos", "i1"),  # deck[deck_pos:] is the stock, from its top               seen by: all
    ("hand", "i1", (NUM_PLAYERS,)),  #                                              seen by: its owner
    ("aside", "i1", (NUM_PLAYERS,)),  # or NO_CARD                                  seen by: its owner
    ("taken", "i1", (NUM_PLAYERS,)),  # the card taken from the table, or NO_CARD   seen by: all
    ("upcard", "i1"),  # or NO_CARD                                                 seen by: all
]
STATE = record(rules_dtype(HighCardOptions), NUM_PLAYERS, FIELDS)

TABLE = Table(NUM_PLAYERS)
STOCK = TABLE.pile("stock", ordered=True)
HAND = TABLE.pile("hand", per_player=True)
ASIDE = TABLE.pile("aside", per_player=True)
UPCARD = TABLE.pile("upcard")
CHANGED = TABLE.counter("changed", per_player=True)
NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
TURNED_UP = TABLE.event("turn_up", Op.MOVE, "{token} lies face up.")
KEEPS = TABLE.event("keep", Op.NOTE, "{player} keeps the card.")
SETS_ASIDE = TABLE.event("set_aside", Op.MOVE, "{player} sets {token} aside.")
COUNTS = TABLE.event("count", Op.SET, "{player} has changed {value} cards.")
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
TAKES = TABLE.event("take", Op.MOVE, "{player} takes {token}.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins {value}.")
FORFEITS = TABLE.event("forfeit", Op.NOTE, "{player} forfeits.")


@kernel(inline=True)
def deal(s, given, log):
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    log_create(log, NEW_DECK, STOCK, NUM_CARDS)
    for p in range(NUM_PLAYERS):
        s.aside[p] = NO_CARD
        s.taken[p] = NO_CARD
        s.hand[p] = s.deck[p]
        log_move(log, DEALT, p, s.hand[p], STOCK, HAND + p, 1 << p)
    s.upcard = s.deck[NUM_PLAYERS]
    log_move(log, TURNED_UP, NO_PLAYER, s.upcard, STOCK, UPCARD, EVERYBODY)
    s.deck_pos = NUM_PLAYERS + 1
    for k in range(s.deck_pos):
        s.deck[k] = NO_CARD


@kernel(inline=True)
def legal_actions(s, out):
    out[0] = KEEP
    out[1] = SWAP
    out[2] = TAKE
    return 2 if s.upcard == NO_CARD else 3


@kernel(inline=True)
def explain_illegal(s, action):
    return NOTHING_UP if action == TAKE and s.upcard == NO_CARD else 0


@kernel(inline=True)
def apply_action(s, action, log):
    player = np.int64(s.current_player)
    if action == KEEP:
        log_note(log, KEEPS, player, 0)
    else:
        s.aside[player] = s.hand[player]
        log_move(log, SETS_ASIDE, player, s.aside[player], HAND + player, ASIDE + player, 1 << player)
        log_set(log, COUNTS, player, CHANGED + player, 1)
    if action == SWAP:
        s.hand[player] = s.deck[s.deck_pos]
        s.deck[s.deck_pos] = NO_CARD
        s.deck_pos += 1
        log_move(log, DRAWS, player, s.hand[player], STOCK, HAND + player, 1 << player)
    if action == TAKE:
        s.hand[player] = s.upcard
        s.taken[player] = s.upcard
        s.upcard = NO_CARD
        log_move(log, TAKES, player, s.hand[player], UPCARD, HAND + player, EVERYBODY)
    if player == NUM_PLAYERS - 1:
        pay(s, 0 if s.hand[0] > s.hand[1] else 1, log)
    else:
        s.current_player = player + 1


@kernel(inline=True)
def pay(s, winner, log):
    s.rewards[winner] = STAKE
    s.rewards[1 - winner] = -STAKE
    s.terminal = 1
    log_note(log, WINS, winner, STAKE)


@kernel(inline=True)
def forfeit(s, player, log):
    s.active[player] = 0
    log_note(log, FORFEITS, player, 0)
    pay(s, 1 - player, log)


@kernel(inline=True)
def observe(s, player, out):
    other = 1 - player
    out[:] = 0
    out[s.hand[player]] = 1
    if s.aside[player] != NO_CARD:
        out[NUM_CARDS + s.aside[player]] = 1
    if s.upcard != NO_CARD:
        out[2 * NUM_CARDS + s.upcard] = 1
    if s.taken[other] != NO_CARD:
        out[3 * NUM_CARDS + s.taken[other]] = 1
    out[4 * NUM_CARDS] = s.aside[other] != NO_CARD
    out[4 * NUM_CARDS + 1] = player


@kernel(inline=True)
def determinize(s, player, seed):
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    other = 1 - player
    first = np.int64(s.deck_pos)  # what the other holds hidden goes before the stock, is shuffled with it, goes back
    if s.taken[other] == NO_CARD:
        first -= 1
        s.deck[first] = s.hand[other]
    if s.aside[other] != NO_CARD:
        first -= 1
        s.deck[first] = s.aside[other]
    canonical_shuffle(s, s.deck, first, NUM_CARDS)
    if s.aside[other] != NO_CARD:
        s.aside[other] = s.deck[first]
        s.deck[first] = NO_CARD
        first += 1
    if s.taken[other] == NO_CARD:
        s.hand[other] = s.deck[first]
        s.deck[first] = NO_CARD


@kernel
def greedy(s, legal, n, rng):
    """Keep a card of the upper half, else draw."""
    return KEEP if s.hand[s.current_player] > NUM_CARDS // 2 else SWAP


def layout(options):
    return Layout(
        (
            Section("own_card", NUM_CARDS, "one-hot card in hand"),
            Section("own_aside", NUM_CARDS, "one-hot card set aside, zeros if none"),
            Section("upcard", NUM_CARDS, "one-hot face-up card, zeros if taken"),
            Section("other_took", NUM_CARDS, "one-hot card that the other took from the table"),
            Section("other_changed", 1, "1 if the other has set a card aside"),
            Section("position", 1, "number of the observer"),
        )
    )


class HighCardView(View):
    def token_label(self, token):
        return f"c{token}"

    def parse_token(self, text):
        if text[:1].lower() != "c" or not text[1:].isdigit():
            raise DeckError(f"{text!r} is not a card; cards are c0 to c{NUM_CARDS - 1}")
        return int(text[1:])

    def fill_table(self, s, viewer, table):
        stock = s.deck[s.deck_pos :][::-1]  # bottom first
        table.put("stock", stock if sees(viewer, NUM_PLAYERS) else [], 0 if sees(viewer, NUM_PLAYERS) else len(stock))
        for p in range(NUM_PLAYERS):
            hand = s.hand[p] if sees(viewer, p) else s.taken[p]
            table.put("hand", [hand] if hand != NO_CARD else [], 0 if hand != NO_CARD else 1, player=p)
            aside = [s.aside[p]] if s.aside[p] != NO_CARD else []
            table.set("changed", len(aside), player=p)
            table.put("aside", aside if sees(viewer, p) else [], 0 if sees(viewer, p) else len(aside), player=p)
        table.put("upcard", [s.upcard] if s.upcard != NO_CARD else [])

    def action_label(self, s, action):
        return ("keep", "swap", "take the face-up card")[action]

    def illegal_reason(self, s, action, code):
        return "no card lies face up"

    def phase(self, s):
        return "second_turn" if s.current_player == 1 or s.terminal else "first_turn"

    def facts(self, s, player):
        return {"own_card": int(s.hand[player])}


GAME = Game(
    name="high_card_v0",
    title="High Card",
    options=HighCardOptions,
    state_dtype=STATE,
    table=TABLE,
    deal=deal,
    legal_actions=legal_actions,
    explain_illegal=explain_illegal,
    apply_action=apply_action,
    forfeit=forfeit,
    observe=observe,
    determinize=determinize,
    num_actions=lambda options: NUM_ACTIONS,
    max_legal=lambda options: NUM_ACTIONS,
    max_length=lambda options: NUM_PLAYERS,
    layout=layout,
    returns=lambda options: Returns(-STAKE, STAKE, 0, "chips"),
    deck=lambda options: np.arange(NUM_CARDS, dtype=np.int16),
    dealt_tokens=lambda options: NUM_CARDS,
    view=HighCardView(),
    phases=("first_turn", "second_turn"),
    policies={"greedy": greedy},
)
register_game(GAME.name, f"{__name__}:GAME")  # so that it pickles


def changed(name, **changes):
    """High Card under another name, with parts replaced."""
    depend_on_others = {"max_legal": None, "action_features": None, "default_opponent": "", "hidden_phases": None}
    return dataclasses.replace(GAME, name=name, **depend_on_others | changes)
