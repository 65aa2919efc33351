"""Leduc poker: state, actions and rules. Paragraph numbers are those of rules.md."""

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
from cardenvs.kits.deck import NO_CARD, begin_world

MAX_PLAYERS = 10
MAX_RAISES = 4
MAX_DECISIONS = MAX_PLAYERS + (MAX_PLAYERS - 1) * MAX_RAISES  # in one round

FOLD, CALL, RAISE = 0, 1, 2
NUM_ACTIONS = 3

NOTHING_OWED, TOO_MANY_RAISES = 1, 2  # what explain_illegal returns


@dataclass(frozen=True)
class LeducOptions(Options):
    """Options of Leduc poker."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table; the deck has one rank more")
    ante: int = option(1, low=1, high=1000, doc="chips each player puts in before the deal")
    raise_size: tuple = option((2, 4), low=1, high=1000, min_length=2, length=2, doc="chips of a raise, by round")
    max_raises: int = option(2, low=1, high=MAX_RAISES, doc="raises in a round, the opening bet included")


STATE = record(
    rules_dtype(LeducOptions),
    MAX_PLAYERS,
    [
        ("deck", "i1", (2 * (MAX_PLAYERS + 1),)),  # ranks; deck[p] is p's card, deck[n] public seen by: its owner
        ("chips_in", "i4", (MAX_PLAYERS,)),  # in the pot                                       seen by: all
        ("folded", "u1", (MAX_PLAYERS,)),  # 1: out of the pot                                  seen by: all
        ("num_in", "i1"),  # players who have not folded                                        seen by: all
        ("stage", "i1"),  # 0, or 1 once the public card lies                                   seen by: all
        ("num_raises", "i1"),  # in this round                                                  seen by: all
        ("num_to_act", "i1"),  # players who must still act before the round ends               seen by: all
        ("num_decisions", "i1", (2,)),  # taken in each round                                   seen by: all
        ("history", "i1", (2, MAX_DECISIONS)),  # FOLD, CALL, RAISE, by round                   seen by: all
    ],
)


def _undealt(s):
    n = int(s.rules.num_players)
    return s.deck[n + int(s.stage) : 2 * (n + 1)]


TABLE = Table(MAX_PLAYERS)
DECK = TABLE.pile("deck", layout="stack", tokens=_undealt, seen="nobody")
HAND = TABLE.pile("hand", per_player=True, layout="hand", tokens="deck", seen="owner")
PUBLIC = TABLE.pile("public", tokens=lambda s: s.deck[s.rules.num_players] if s.stage else NO_CARD)
CHIPS_IN = TABLE.counter("chips_in", per_player=True, use="chips", value="chips_in")
FOLDED = TABLE.counter("folded", per_player=True, use="flag", value="folded")
NEW_DECK = TABLE.event("new_deck", Op.CREATE, "A deck of {value} cards is shuffled.")
ANTE = TABLE.event("ante", Op.SET, "{player} antes {value}.")
DEALT = TABLE.event("deal", Op.MOVE, "{player} is dealt {token}.")
FOLDS = TABLE.event("fold", Op.SET, "{player} folds.")
CALLS = TABLE.event("call", Op.SET, "{player} calls and has {value} in the pot.")
RAISES = TABLE.event("raise", Op.SET, "{player} raises and has {value} in the pot.")
PUBLIC_CARD = TABLE.event("public_card", Op.MOVE, "The public card is {token}.")
WINS = TABLE.event("win", Op.NOTE, "{player} wins from a pot of {value:chip}.")
FORFEITS = TABLE.event("forfeit", Op.SET, "{player} forfeits and has {value:chip} in the pot.")
CHECKS = TABLE.event("check", Op.NOTE, "{player} checks.")


@kernel(inline=True)
def owed(s, player):
    """Chips `player` must put in to call."""
    most = s.chips_in[player]
    for p in range(s.rules.num_players):
        if s.active[p]:  # nobody has to match what a player who left has put in
            most = max(most, s.chips_in[p])
    return most - s.chips_in[player]


@kernel(inline=True)
def deal(s, given, log):
    """Ante and deal one card to each player (2.1)."""
    n = s.rules.num_players
    num_cards = 2 * (n + 1)
    for k in range(num_cards):
        s.deck[k] = k // 2
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, num_cards, given)
    ev.log_create(log, NEW_DECK, DECK, num_cards)
    s.num_in = n
    for p in range(n):
        s.chips_in[p] = s.rules.ante
        ev.log_set(log, ANTE, p, CHIPS_IN + p, s.rules.ante)
        ev.log_move(log, DEALT, p, s.deck[p], DECK, HAND + p, 1 << p)
    _start_round(s)


@kernel(inline=True)
def _start_round(s):
    """No raises yet, everyone still in must act, player 0 first (3.1, 3.4)."""
    s.num_raises = 0
    s.num_to_act = s.num_in
    s.current_player = _next_in(s, 0)


@kernel(inline=True)
def _next_in(s, seat):
    """The first player from `seat` on, in turn, who has not folded."""
    n = s.rules.num_players
    seat = wrap(seat, n)
    while s.folded[seat]:
        seat = wrap(seat + 1, n)
    return seat


@kernel(inline=True)
def legal_actions(s, out):
    """Fold if something is owed, call, raise below the limit (3.2, 3.3)."""
    n = 0
    for action in range(NUM_ACTIONS):
        if explain_illegal(s, action) == 0:
            out[n] = action
            n += 1
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes above."""
    if action == FOLD and owed(s, np.int64(s.current_player)) == 0:
        return NOTHING_OWED
    if action == RAISE and s.num_raises >= s.rules.max_raises:
        return TOO_MANY_RAISES
    return 0


@kernel(inline=True)
def apply_action(s, action, log):
    """Fold, call or raise for the player to act (3.2)."""
    player = np.int64(s.current_player)
    s.history[s.stage, s.num_decisions[s.stage]] = action
    s.num_decisions[s.stage] += 1
    if action == FOLD:
        _leave_pot(s, player, log)
        return
    chips = owed(s, player)
    s.num_to_act -= 1
    if action == RAISE:
        s.num_raises += 1
        s.num_to_act = s.num_in - 1  # everyone else who is in acts again
        chips += s.rules.raise_size[s.stage]
    s.chips_in[player] += chips
    if chips == 0:
        ev.log_note(log, CHECKS, player, 0)
    else:
        ev.log_set(log, RAISES if action == RAISE else CALLS, player, CHIPS_IN + player, s.chips_in[player])
    _pass_turn(s, player, log)


@kernel(inline=True)
def _leave_pot(s, player, log):
    """`player` folds; the last one in takes the pot (3.5)."""
    s.folded[player] = 1
    ev.log_set(log, FOLDS, player, FOLDED + player, 1)
    s.num_in -= 1
    if s.num_in == 1:
        _pay(s, log)
    else:
        s.num_to_act -= 1
        _pass_turn(s, player, log)


@kernel(inline=True)
def _pass_turn(s, player, log):
    """The next player acts, or the round ends (3.4), and with the second the game."""
    if s.num_to_act > 0:
        s.current_player = _next_in(s, player + 1)
    elif s.stage == 0:
        s.stage = 1
        ev.log_move(log, PUBLIC_CARD, ev.NO_PLAYER, s.deck[s.rules.num_players], DECK, PUBLIC, ev.EVERYBODY)
        _start_round(s)
    else:
        _pay(s, log)


@kernel(inline=True)
def hand_strength(s, player):
    """Comparable strength at the showdown: any pair above any single card (4.1)."""
    paired = s.stage == 1 and s.deck[player] == s.deck[s.rules.num_players]
    return s.deck[player] + (MAX_PLAYERS + 1 if paired else 0)


@kernel(inline=True)
def _pay(s, log):
    """The best hands still in share the pot (3.5, 4.1)."""
    n = s.rules.num_players
    best, num_best, pot = -1, 0, 0
    for p in range(n):
        pot += s.chips_in[p]
        strength = hand_strength(s, p)
        if not s.folded[p] and strength >= best:
            num_best = num_best + 1 if strength == best else 1
            best = strength
    for p in range(n):
        if s.active[p]:  # the others have paid when they left
            s.rewards[p] = -s.chips_in[p]
        if not s.folded[p] and hand_strength(s, p) == best:
            s.rewards[p] += pot / num_best
            ev.log_note(log, WINS, p, pot)
    s.terminal = 1


def most_chips(rules):
    """The most chips that a player can put in; `rules` are options or those of a record (3.3)."""
    return rules.ante + rules.max_raises * (rules.raise_size[0] + rules.raise_size[1])


_most_chips = kernel(inline=True)(most_chips)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` puts in all that a game can cost, folds and is out (5.1)."""
    s.active[player] = 0
    s.chips_in[player] = _most_chips(s.rules)
    s.rewards[player] = -s.chips_in[player]
    ev.log_set(log, FORFEITS, player, CHIPS_IN + player, s.chips_in[player])
    _leave_pot(s, player, log)


@kernel(inline=True)
def determinize(s, player, seed):
    """Re-deal all cards but `player`'s own and, once it is dealt, the public one."""
    begin_world(s, seed)
    n = s.rules.num_players
    s.deck[player], s.deck[0] = s.deck[0], s.deck[player]
    s.deck[n], s.deck[1] = s.deck[1], s.deck[n]
    canonical_shuffle(s, s.deck, 1 + s.stage, 2 * (n + 1))
    s.deck[n], s.deck[1] = s.deck[1], s.deck[n]
    s.deck[player], s.deck[0] = s.deck[0], s.deck[player]


def deck(options):
    """Two cards of each rank (1.1)."""
    return np.arange(2 * (options.num_players + 1), dtype=np.int16) // 2


def dealt_tokens(options):
    """One card for each player and the public one (2.1, 2.2)."""
    return options.num_players + 1


num_actions = NUM_ACTIONS  # fold, call, raise


def round_decisions(options):
    """The most decisions in a round: all act once, and all others once more after each raise."""
    return options.num_players + (options.num_players - 1) * options.max_raises


def max_length(options):
    """A bound on the decisions of both rounds."""
    return 2 * round_decisions(options)


def returns(options):
    """Chips lost at most, and the same won from each of the others."""
    most = most_chips(options)
    return Returns(-most, most * (options.num_players - 1), 0, "chips")
