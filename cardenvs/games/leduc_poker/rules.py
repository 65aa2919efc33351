"""Leduc poker: state, actions and rules. Paragraph numbers are those of rules.md."""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import OptionError
from cardenvs.core.events import (
    EVERYBODY,
    NO_PLAYER,
    Counter,
    EventKind,
    Op,
    Pile,
    Table,
    log_create,
    log_move,
    log_note,
    log_set,
)
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.rng import DEAL, DETERMINIZE, arrange, redeal, start_stream
from cardenvs.core.seats import wrap

MAX_PLAYERS = 10
MAX_RAISES = 4
MAX_CARDS = 2 * (MAX_PLAYERS + 1)
FIRST_RANK_TOKEN = MAX_CARDS  # tokens 0..21 are cards (rank * 2 + suit), from here on ranks without suit
MAX_DECISIONS = MAX_PLAYERS + (MAX_PLAYERS - 1) * MAX_RAISES  # in one round

FOLD, CALL, RAISE = 0, 1, 2
NUM_ACTIONS = 3

# What explain_illegal returns.
NO_SUCH_ACTION, NOTHING_OWED, TOO_MANY_RAISES = 1, 2, 3


@dataclass(frozen=True)
class LeducOptions(Options):
    """Options of Leduc poker."""

    num_players: int = option(2, low=2, high=MAX_PLAYERS, doc="players at the table; the deck has one rank more")
    ante: int = option(1, low=1, high=1000, doc="chips each player puts in before the deal")
    raise_size: tuple = option((2, 4), low=1, high=1000, length=2, doc="chips of a raise in round 1 and in round 2")
    max_raises: int = option(2, low=1, high=MAX_RAISES, doc="raises in a round, the opening bet included")
    suit_isomorphism: bool = option(False, doc="cards show their rank only; deals that differ in suit are merged")
    starting_player: int = option(0, low=0, high=MAX_PLAYERS - 1, doc="acts first in both rounds")
    allow_fold_when_no_bet: bool = option(False, doc="fold is legal when nothing is owed, too")

    def check(self):
        """Refuse options that do not fit together."""
        if len(self.raise_size) != 2:
            raise OptionError(f"option raise_size takes two integers, one a round; got {self.raise_size}")
        if self.starting_player >= self.num_players:
            raise OptionError(
                f"option starting_player is below num_players ({self.num_players}); got {self.starting_player}"
            )


STATE = record(
    rules_dtype(LeducOptions),
    MAX_PLAYERS,
    [
        ("deck", "i1", (MAX_CARDS,)),  # tokens: deck[p] is p's card, deck[n] the public one   seen by: its owner
        ("chips_in", "i4", (MAX_PLAYERS,)),  # in the pot                                       seen by: all
        ("folded", "u1", (MAX_PLAYERS,)),  # 1: out of the pot                                  seen by: all
        ("stage", "i1"),  # 0, or 1 once the public card lies                                   seen by: all
        ("num_raises", "i1"),  # in this round                                                  seen by: all
        ("num_to_act", "i1"),  # players who must still act before the round ends               seen by: all
        ("num_decisions", "i1", (2,)),  # taken in each round                                   seen by: all
        ("history", "i1", (2, MAX_DECISIONS)),  # FOLD, CALL, RAISE, by round                   seen by: all
    ],
)

TABLE = Table(
    piles=[Pile("deck"), Pile("hand", per_player=True), Pile("public")],
    counters=[Counter("chips_in", per_player=True), Counter("folded", per_player=True)],
    kinds=[
        EventKind("new_deck", Op.CREATE, "A deck of {value} cards is shuffled."),
        EventKind("ante", Op.SET, "{player} antes {value}."),
        EventKind("deal", Op.MOVE, "{player} is dealt {token}."),
        EventKind("fold", Op.SET, "{player} folds."),
        EventKind("call", Op.SET, "{player} calls and has {value} in the pot."),
        EventKind("raise", Op.SET, "{player} raises and has {value} in the pot."),
        EventKind("public_card", Op.MOVE, "The public card is {token}."),
        EventKind("win", Op.NOTE, "{player} wins, of a pot of {value} chips."),
        EventKind("forfeit", Op.NOTE, "{player} forfeits."),
        EventKind("check", Op.NOTE, "{player} checks."),
    ],
    max_players=MAX_PLAYERS,
)
_DECK, _HAND, _PUBLIC = TABLE.pile["deck"], TABLE.pile["hand"], TABLE.pile["public"]
_CHIPS_IN, _FOLDED = TABLE.counter["chips_in"], TABLE.counter["folded"]
_NEW_DECK, _ANTE, _DEAL, _FOLD, _CALL, _RAISE, _PUBLIC_CARD, _WIN, _FORFEIT, _CHECK = range(10)


@kernel(inline=True)
def rank_of(token):
    """The rank 0..n of a token, with or without suit."""
    return token >> 1 if token < FIRST_RANK_TOKEN else token - FIRST_RANK_TOKEN


@kernel(inline=True)
def owed(s, player):
    """Chips `player` must put in to call."""
    most = 0
    for p in range(s.rules.num_players):
        most = max(most, s.chips_in[p])
    return most - s.chips_in[player]


@kernel(inline=True)
def deal(s, given, log):
    """Ante and deal one card to each player (2.1)."""
    n = s.rules.num_players
    num_cards = 2 * (n + 1)
    for k in range(num_cards):
        s.deck[k] = FIRST_RANK_TOKEN + k // 2 if s.rules.suit_isomorphism else k
    start_stream(s, DEAL, 0)
    arrange(s, s.deck, num_cards, given)
    log_create(log, _NEW_DECK, _DECK, num_cards)
    for p in range(n):
        s.chips_in[p] = s.rules.ante
        log_set(log, _ANTE, p, _CHIPS_IN + p, s.rules.ante)
        log_move(log, _DEAL, p, s.deck[p], _DECK, _HAND + p, 1 << p)
    _start_round(s)


@kernel(inline=True)
def _start_round(s):
    """No raises yet, everyone still in must act, the starting player first (3.1, 3.4)."""
    n = s.rules.num_players
    s.num_raises = 0
    s.num_to_act = 0
    for p in range(n):
        s.num_to_act += 1 - s.folded[p]
    s.current_player = _next_in(s, np.int64(s.rules.starting_player))


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
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if action == FOLD and not s.rules.allow_fold_when_no_bet and owed(s, np.int64(s.current_player)) == 0:
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
    to_call = owed(s, player)
    s.num_to_act -= 1
    if action == RAISE:
        s.num_raises += 1
        s.num_to_act = -1  # everyone else who is in acts again
        for p in range(s.rules.num_players):
            s.num_to_act += 1 - s.folded[p]
        _put_in(s, player, to_call + s.rules.raise_size[s.stage], _RAISE, log)
    elif to_call > 0:
        _put_in(s, player, to_call, _CALL, log)
    else:
        log_note(log, _CHECK, player, 0)
    _pass_turn(s, player, log)


@kernel(inline=True)
def _put_in(s, player, chips, kind, log):
    s.chips_in[player] += chips
    log_set(log, kind, player, _CHIPS_IN + player, s.chips_in[player])


@kernel(inline=True)
def _leave_pot(s, player, log):
    """`player` folds; the last one in takes the pot (3.5)."""
    s.folded[player] = 1
    log_set(log, _FOLD, player, _FOLDED + player, 1)
    left = 0
    for p in range(s.rules.num_players):
        left += 1 - s.folded[p]
    if left == 1:
        _pay(s, log)
    elif player == s.current_player:
        s.num_to_act -= 1
        _pass_turn(s, player, log)


@kernel(inline=True)
def _pass_turn(s, player, log):
    """The next player acts, or the round ends (3.4)."""
    if s.num_to_act > 0:
        s.current_player = _next_in(s, player + 1)
    elif s.stage == 0:
        _deal_public_card(s, log)
        _start_round(s)
    else:
        _pay(s, log)


@kernel(inline=True)
def _deal_public_card(s, log):
    s.stage = 1
    log_move(log, _PUBLIC_CARD, NO_PLAYER, s.deck[s.rules.num_players], _DECK, _PUBLIC, EVERYBODY)


@kernel(inline=True)
def hand_strength(s, player):
    """Comparable strength at the showdown: any pair above any single card (4.1)."""
    rank = rank_of(np.int64(s.deck[player]))
    paired = s.stage == 1 and rank == rank_of(np.int64(s.deck[s.rules.num_players]))
    return rank + (MAX_PLAYERS + 1 if paired else 0)


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
            log_note(log, _WIN, p, pot)
    s.terminal = 1


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` folds and is out (5.1)."""
    s.active[player] = 0
    s.rewards[player] = -s.chips_in[player]
    log_note(log, _FORFEIT, player, 0)
    if s.folded[player]:
        return
    if player != s.current_player and _must_still_act(s, player):
        s.num_to_act -= 1
    _leave_pot(s, player, log)


@kernel(inline=True)
def _must_still_act(s, player):
    """Whether the round's remaining turns include `player`, who is in: they are the next ones in order."""
    seat = np.int64(s.current_player)
    for _ in range(s.num_to_act):
        if seat == player:
            return True
        seat = _next_in(s, seat + 1)
    return False


@kernel(inline=True)
def determinize(s, player, seed):
    """Deal anew all cards but `player`'s own and, once it lies, the public one."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    n = s.rules.num_players
    s.deck[player], s.deck[0] = s.deck[0], s.deck[player]
    s.deck[n], s.deck[1] = s.deck[1], s.deck[n]
    redeal(s, s.deck, 1 + s.stage, 2 * (n + 1))
    s.deck[n], s.deck[1] = s.deck[1], s.deck[n]
    s.deck[player], s.deck[0] = s.deck[0], s.deck[player]


def deck(options):
    """All tokens of the game."""
    cards = np.arange(2 * (options.num_players + 1), dtype=np.int16)
    return FIRST_RANK_TOKEN + cards // 2 if options.suit_isomorphism else cards


def deals(options):
    """Every deal (one card each, then the public one) with its probability; equal ones merged."""
    from collections import Counter as Multiset
    from itertools import permutations

    if options.num_players > 3:
        raise NotImplementedError(f"Leduc poker with {options.num_players} players has too many deals to enumerate")
    counts = Multiset(permutations(deck(options).tolist(), options.num_players + 1))
    total = sum(counts.values())
    return [(cards, count / total) for cards, count in counts.items()]
